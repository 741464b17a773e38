"""Draft artifacts: what the compiler learned, before it has an artifact id and a version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any

from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.protocol.artifacts import ArtifactType
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.document import KB

_MOST_TAGS = 64
# Maximum words in the scope of a policy.
MOST_SCOPE_WORDS = 6
# Bytes that evidence ids may take of the 512 KB that HMX-A 12 allows an artifact; ids have no maximum length.
_MOST_EVIDENCE_BYTES = 128 * KB


@dataclass(frozen=True, slots=True)
class Observations:
    """The support of something learned: the distinct sessions that show it, the observations, and their successes.

    The caller decides what an observation is, usually a session or a call with a known outcome. For a causal pattern,
    ``successes`` counts the sessions with the effect, even if the effect is a failure.
    """

    sessions: int
    count: int
    successes: int

    @classmethod
    def of_sessions(cls, examples: Sequence[SessionSummary], judged: Iterable[SessionSummary]) -> "Observations":
        """The support of what was learned from *examples*, judged by the known outcomes of the sessions *judged*."""
        outcomes = [session.succeeded for session in judged if session.went_well is not None]
        return cls(len(examples), len(outcomes), sum(outcomes))

    @property
    def success_rate(self) -> float:
        """Successes divided by observations; 0.0 without observations."""
        return round(self.successes / self.count, 4) if self.count else 0.0

    @property
    def confidence(self) -> float:
        """Laplace's estimate of the success rate, reduced while observations are few.

        >>> Observations(sessions=3, count=3, successes=3).confidence
        0.6
        """
        return round((self.successes + 1) / (self.count + 2) * self.count / (self.count + 1), 4)


@dataclass(frozen=True, slots=True)
class ArtifactDraft:
    """One artifact that the compiler learned.

    ``lineage_key`` identifies the learned pattern through all versions of the artifact. ``keywords`` are search words
    beyond those in its text; ``qualifiers`` can be added to its title to distinguish it from another artifact. The
    stored artifact keeps the status "draft" if ``useful`` is False (following it is not known to help) or ``proposed``
    is True (it relies on untrusted sources, and too few sessions or sources support it).
    """

    artifact_type: ArtifactType
    lineage_key: str
    title: str
    summary: str
    content: Mapping[str, Any]
    seen: Observations
    source_events: tuple[str, ...]
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()
    metadata: Mapping[str, Any] | None = None
    useful: bool = True
    proposed: bool = False

    def validated(self, profile: CompilerProfile) -> bool:
        """Whether the artifact may become active: useful, not only proposed, and with enough sessions and observations.

        If it recommends a procedure, that must have worked at least once.
        """
        enough = self.useful and not self.proposed and min(self.seen.sessions, self.seen.count) >= profile.min_support
        return enough and (self.seen.successes > 0 or not self._recommends)

    @property
    def _recommends(self) -> bool:
        """Whether the artifact recommends a procedure.

        Playbooks and causal patterns do not: they stay valid even if the sessions that show them fail.
        """
        return self.artifact_type in {"task_schema", "decision_policy", "strategy_template"}

    def contradicted(self, profile: CompilerProfile) -> bool:
        """Whether the artifact recommends a procedure that nearly always failed."""
        return (
            self._recommends
            and self.seen.count >= profile.contradicted_after
            and self.seen.success_rate < profile.contradicted_below
        )


def evidence(trails: Iterable[Sequence[str]], most: int) -> tuple[str, ...]:
    """At most *most* distinct event ids, in order, taken as evenly as possible from the *trails*.

    A trail holds the event ids of a session, or of a part of one. Ids that would make the artifact too large are
    omitted.

    >>> evidence([["a1", "a2", "a3"], ["b1"]], 3)
    ('a1', 'a2', 'b1')
    >>> evidence([["a1", "s", "a2"], ["s", "b1"]], 4), evidence([[]], 4)
    (('a1', 's', 'a2', 'b1'), ())
    """
    distinct = [list(dict.fromkeys(event_id for event_id in ids if event_id)) for ids in trails]
    interleaved = filter(None, chain.from_iterable(zip_longest(*distinct)))
    chosen = set(islice(dict.fromkeys(interleaved), most))
    return tuple(_within_size(dict.fromkeys(event_id for ids in distinct for event_id in ids if event_id in chosen)))


def _within_size(event_ids: Iterable[str]) -> Iterator[str]:
    """Yield the ids that fit into ``_MOST_EVIDENCE_BYTES`` together."""
    bytes_left = _MOST_EVIDENCE_BYTES
    for event_id in event_ids:
        size = len(canonical_bytes(event_id)) + 1
        if size <= bytes_left:
            bytes_left -= size
            yield event_id


def trail(summary: SessionSummary, steps: Iterable[int] | None = None) -> list[str]:
    """The ids of the events of a session's request, outcome and *steps*, given by index (all steps if None)."""
    indexes = range(len(summary.steps)) if steps is None else [index for index in steps if index >= 0]
    ids = [summary.request_event_id, summary.outcome_event_id, *(summary.steps[index].event_id for index in indexes)]
    return [event_id for event_id in ids if event_id]


def tags(words: Iterable[str]) -> tuple[str, ...]:
    """The distinct *words* in lower case, in order, at most as many as HMX-A 12 allows as tags."""
    return tuple(dict.fromkeys(word.lower() for word in words if word))[:_MOST_TAGS]
