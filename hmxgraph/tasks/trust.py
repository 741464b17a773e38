"""How far a record is trusted: derived from replies at read time, never from what it says of itself (DESIGN 6)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hmxgraph.tasks.verdicts import countersigns, rejects, signature


@dataclass(frozen=True, slots=True)
class Reply:
    """A record that replies to another, as far as trust depends on it."""

    artifact_id: str
    artifact_kind: str
    agent_id: str | None
    supports_claim: bool | None
    verification_status: str | None
    created_us: int

    @property
    def countersigns(self) -> bool:
        """Whether it puts its author's name under the claim."""
        return countersigns(self.artifact_kind, self.supports_claim, self.verification_status)

    @property
    def rejects(self) -> bool:
        """Whether it is a verification that came out against the claim."""
        return rejects(self.artifact_kind, self.supports_claim, self.verification_status)

    @property
    def speaks(self) -> bool:
        """Whether it says anything about trust at all."""
        return self.countersigns or self.rejects


def verdicts(agent_id: str | None, replies: Iterable[Reply]) -> tuple[Reply, ...]:
    """The last word of each *other* agent about a record of *agent_id*, oldest first.

    Unsigned replies count for nothing, and nobody can countersign a record whose author is not known.
    """
    author = signature(agent_id)
    if author is None:
        return ()
    last: dict[str, Reply] = {}
    for reply in sorted(replies, key=lambda one: (one.created_us, one.artifact_id)):
        signed = signature(reply.agent_id)
        if reply.speaks and signed is not None and signed != author:
            last[signed] = reply
    return tuple(sorted(last.values(), key=lambda one: (one.created_us, one.artifact_id)))


def tier(artifact_kind: str, agent_id: str | None, replies: Sequence[Reply]) -> str:
    """The trust tier of a record: digests are hints, countersigned records verified unless rejected.

    >>> signed = Reply("v1", "verification", "bo", True, None, 5)
    >>> tier("evidence", "ana", [signed]), tier("evidence", "bo", [signed]), tier("digest", "ana", [signed])
    ('verified_record', 'canonical_record', 'compiled_digest_hint')
    >>> tier("evidence", "ana", [signed, Reply("v2", "verification", "cy", False, None, 6)])
    'canonical_record'
    """
    if artifact_kind == "digest":
        return "compiled_digest_hint"
    words = verdicts(agent_id, replies)
    verified = any(word.countersigns for word in words) and not any(word.rejects for word in words)
    return "verified_record" if verified else "canonical_record"


def promotion(stated: str | None, artifact_kind: str, trust_tier: str) -> str:
    """The promotion state that holds: verified follows from the tier and from nothing else.

    >>> promotion(None, "evidence", "verified_record"), promotion("raw", "evidence", "canonical_record")
    ('verified', 'raw')
    """
    if artifact_kind == "digest":
        return "summarized"
    if trust_tier == "verified_record":
        return "verified"
    return stated if stated in {"raw", "canonical"} else "canonical"


def rejected(agent_id: str | None, replies: Sequence[Reply]) -> bool:
    """Whether another agent's standing verification came out against the record."""
    return any(word.rejects for word in verdicts(agent_id, replies))
