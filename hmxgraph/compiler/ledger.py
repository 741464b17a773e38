"""The sessions to compile from: all of them bare, and the latest in full."""

import heapq
from collections.abc import Iterable
from dataclasses import replace

from hmxgraph.compiler.sessions.summary import SessionSummary, Situation

_BLANK = Situation()


class Ledger:
    """Takes sessions in any order; what was said in them is kept for the latest only, as many as habits need."""

    def __init__(self, positions: int, summaries: Iterable[SessionSummary] = ()) -> None:
        self._positions = positions
        self._bare: dict[str, SessionSummary] = {}
        self._latest: list[tuple[int, str, int]] = []
        self._full: dict[str, SessionSummary] = {}
        self._total = 0
        for summary in summaries:
            self.add(summary)

    def add(self, summary: SessionSummary) -> None:
        """Enter one session; each session is entered once, and one whose events are all erased is none."""
        if not summary.event_count:
            return
        self._bare[summary.session_id] = _bare(summary)
        self._full[summary.session_id] = summary
        heapq.heappush(self._latest, (summary.last_us, summary.session_id, len(summary.steps)))
        self._total += len(summary.steps)
        # The oldest gives way as long as the others alone fill the measure, so the order of entry does not matter.
        while self._latest and self._total - self._latest[0][2] >= self._positions:
            _, session_id, steps = heapq.heappop(self._latest)
            self._total -= steps
            del self._full[session_id]

    def sessions(self) -> list[SessionSummary]:
        """All sessions by id, without what was said at each step."""
        return [self._bare[session_id] for session_id in sorted(self._bare)]

    def recent(self) -> list[SessionSummary]:
        """The latest sessions by id, in full."""
        return [self._full[session_id] for session_id in sorted(self._full)]


def _bare(summary: SessionSummary) -> SessionSummary:
    steps = tuple(
        replace(step, situation=Situation(step.situation.since, failure=step.situation.failure))
        for step in summary.steps
    )
    return replace(summary, steps=steps, ahead=_BLANK)
