"""Work of outside (untrusted) sources: it needs independent support and never affects lessons from own work."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hmxgraph.compiler._drafts import ArtifactDraft
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.protocol.trust import TrustPolicy

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Outside:
    """The outside origins of sessions and of decisions, by session id and event id."""

    sessions: Mapping[str, str]
    decisions: Mapping[str, str]

    @classmethod
    def of(cls, summaries: Iterable[SessionSummary], trust: TrustPolicy) -> "Outside":
        """The sessions and decisions of *summaries* that come from outside under *trust*."""
        sessions, decisions = {}, {}
        for summary in summaries:
            if origin := _origin(summary, trust):
                sessions[summary.session_id] = origin
            for decision in summary.decisions:
                if origin := trust.outside(decision.source, summary.agent_id, decision.origin or None, decides=True):
                    decisions[decision.event_id] = origin
        return cls(sessions, decisions)

    def __bool__(self) -> bool:
        return bool(self.sessions or self.decisions)

    def own(self, summaries: Iterable[SessionSummary]) -> list[SessionSummary]:
        """The sessions of the agent's own work, without decisions from outside."""
        return [self._own_part(summary) for summary in summaries if summary.session_id not in self.sessions]

    def _own_part(self, summary: SessionSummary) -> SessionSummary:
        own = tuple(decision for decision in summary.decisions if decision.event_id not in self.decisions)
        return summary if len(own) == len(summary.decisions) else replace(summary, decisions=own)

    def proposals(
        self, drafts: Iterable[ArtifactDraft], summaries: Sequence[SessionSummary], trust: TrustPolicy
    ) -> Iterator[ArtifactDraft]:
        """*drafts*, which need outside work, marked as proposed unless enough sessions and origins support them."""
        by_event = {
            event_id: (summary.session_id, self._origin_of(event_id, summary))
            for summary in summaries
            for event_id in _event_ids(summary)
        }
        for draft in drafts:
            support = {by_event[event_id] for event_id in draft.source_events if event_id in by_event}
            sessions, origins = {session for session, _ in support}, {origin for _, origin in support}
            proposed = len(sessions) < trust.sessions or len(origins) < trust.origins
            provenance = {"untrusted_sources": sorted(filter(None, origins))[:_MOST_NAMED], "in_force": not proposed}
            yield replace(draft, proposed=proposed, metadata={**(draft.metadata or {}), "trust": provenance})

    def notes(self) -> Iterator[str]:
        """One sentence that names the untrusted sources and how to trust them; nothing if there are none."""
        if self:
            sources = sorted({*self.sessions.values(), *self.decisions.values()})
            named = ", ".join(sources[:3]) + (", ..." if len(sources) > 3 else "")
            yield (
                f"Artifacts that need untrusted sources ({named}) stay drafts until enough sessions and sources "
                "support them; name the sources in connect(trust=TrustPolicy(trusted=(...))) to learn from them."
            )

    def _origin_of(self, event_id: str, summary: SessionSummary) -> str:
        return self.decisions.get(event_id) or self.sessions.get(summary.session_id, "")


def _origin(summary: SessionSummary, trust: TrustPolicy) -> str:
    """The main outside source of a session, if such sources did most of its work; else empty."""
    origins: Counter[str] = Counter()
    for source, origin, count in summary.sources:
        origins[trust.outside(source, summary.agent_id, origin or None)] += count
    own = origins.pop("", 0)
    if origins.total() <= own:
        return ""
    return min(origins, key=lambda name: (-origins[name], name))


def _event_ids(summary: SessionSummary) -> Iterator[str]:
    yield from (summary.request_event_id, summary.outcome_event_id)
    for part in (summary.steps, summary.failures, summary.decisions):
        yield from (entry.event_id for entry in part)
