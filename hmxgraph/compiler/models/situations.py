"""A situation as the features by which next actions are foreseen."""

from collections import Counter
from collections.abc import Iterator

from hmxgraph.compiler.sessions.summary import SessionSummary, Situation, Step

_MOST_ALIKE = 4
_LONGEST_POSITION = 8
START = "^"


class Track:
    """The actions taken so far, as far as they tell what comes next."""

    def __init__(self, agent_id: str = "") -> None:
        self._agent = agent_id
        self._last = (START, START, START)
        self._counts: Counter[str] = Counter()
        self._length = 0

    def add(self, action: str) -> None:
        """Note that *action* was taken."""
        self._last = (*self._last[1:], action)
        self._counts[action] += 1
        self._length += 1

    def features(self, now: Situation) -> list[str]:
        """The features of *now* after these actions; those of texts begin with "w:", "s:" or "r:"."""
        return [*self.bare_features(now), *_worded("w", now.heard), *_worded("s", now.said), *_worded("r", now.seen)]

    def bare_features(self, now: Situation) -> list[str]:
        """The features that tell nothing of what was said."""
        third, second, first = self._last
        since = f"{now.since}{'+' if now.pending else ''}"
        found = [
            "always",
            f"at={min(self._length, _LONGEST_POSITION)}",
            f"since={since}",
            f"1={first}",
            f"2={second}",
            f"12={second}>{first}",
            f"123={third}>{second}>{first}",
            f"1s={first}|{since}",
            f"12s={second}>{first}|{since}",
            f"agent={self._agent}",
            f"agent1={self._agent}|{first}",
            f"agent1s={self._agent}|{first}|{since}",
        ]
        if now.failure:
            found += ["failed", f"failed={now.failure}", f"failed1={now.failure}|{first}", f"after failed={first}"]
            # Agents differ in what they do about a failure more than in anything else.
            found += [f"agent failed={self._agent}", f"agent failed1={self._agent}|{first}"]
        for action in sorted(self._counts):
            found += [f"used={action}", f"times={action}|{min(self._counts[action], _MOST_ALIKE)}"]
        return found


def positions(summary: SessionSummary) -> Iterator[tuple[Track, Step]]:
    """Each step of a session with what went before it; one track is used throughout."""
    track = Track(summary.agent_id)
    for step in summary.steps:
        yield track, step
        track.add(step.action)


def track_of(summary: SessionSummary) -> Track:
    """The track of a session up to where it stands."""
    track = Track(summary.agent_id)
    for step in summary.steps:
        track.add(step.action)
    return track


def is_worded(feature: str) -> bool:
    """Whether *feature* tells what was said or seen."""
    return feature[1:2] == ":"


def _worded(kind: str, text: str) -> list[str]:
    return [f"{kind}:{term}" for term in text.split()]
