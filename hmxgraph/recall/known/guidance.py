"""What the compiler's model foresees for a request, as far as a pack follows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from hmxgraph.recall.known.values import KnownArtifact

# What is left of the relevance of knowledge about actions that nobody would take for the request.
BESIDE_THE_POINT = 0.25
# Artifacts that tell a way from beginning to end.
WAYS = frozenset({"task_schema", "strategy_template"})


@dataclass(frozen=True, slots=True)
class Guidance:
    """The procedure that leads, by id, and the actions worth expecting of all that are ``known``.

    ``done`` are the actions of the running session so far, oldest first; ``failure`` is the key of the failure that it
    stands before, empty where nothing failed last. Without a model nothing leads.
    """

    lead: str | None = None
    expected: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    done: tuple[str, ...] = ()
    failure: str = ""

    def leads(self, artifact: KnownArtifact) -> bool:
        """Whether *artifact* is the procedure to follow, or answers the failure that the session stands before."""
        return artifact.artifact_id == self.lead or self.answers(artifact)

    def answers(self, artifact: KnownArtifact) -> bool:
        """Whether *artifact* tells what to do about the failure that the session stands before."""
        return bool(self.failure) and artifact.failure == self.failure

    def fitting(self, artifact_type: str, actions: Sequence[str]) -> float:
        """How far knowledge about *actions* is to the point, in (0, 1]: of a whole way all count, else the first.

        >>> guidance = Guidance("s1", frozenset({"look_up", "refund"}), frozenset({"look_up", "refund", "cancel"}))
        >>> guidance.fitting("task_schema", ["look_up", "cancel"]), guidance.fitting("decision_policy", ["cancel"])
        (0.3333333333333333, 0.25)

        """
        told = [name for name in actions if name in self.known]
        if self.lead is None or not told:
            return 1.0
        if artifact_type in WAYS:
            return len(self.expected & set(told)) / len(self.expected | set(told))
        return 1.0 if told[0] in self.expected else BESIDE_THE_POINT


NO_GUIDANCE = Guidance()
