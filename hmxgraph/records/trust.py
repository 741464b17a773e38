"""Trust in task records, derived from their replies at each read and never stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Verdicts: whether a reply countersigns or rejects its parent, the record it replies to (memd: Trust Boundary).

COUNTERSIGNING = frozenset({"review", "revision", "verification", "decision"})
# Values of verification_status that reject the parent's claim, and values that confirm it.
REJECTED = frozenset({"rejected", "refuted", "failed", "contradicted", "invalid"})
CONFIRMED = frozenset({"verified", "confirmed", "passed", "supported", "valid", "accepted", "approved"})
# Kinds of records that always judge another one.
_JUDGING = frozenset({"review", "verification"})


def agent_key(agent_id: str | None) -> str | None:
    """The key by which agent names are compared, regardless of case and white space; None for a blank name.

    >>> agent_key("Ana "), agent_key(" "), agent_key(None)
    ('ana', None, None)
    """
    return "".join((agent_id or "").split()).casefold() or None


def rejects(artifact_kind: str, supports_claim: bool | None, verification_status: str | None) -> bool:  # noqa: FBT001 - the wire's fields
    """Whether a record is a verification that rejects its parent.

    >>> rejects("verification", False, None), rejects("verification", None, "Refuted"), rejects("review", False, None)
    (True, True, False)
    """
    if artifact_kind != "verification":
        return False
    return supports_claim is False or _word(verification_status) in REJECTED


def countersigns(artifact_kind: str, supports_claim: bool | None, verification_status: str | None) -> bool:  # noqa: FBT001 - the wire's fields
    """Whether a record countersigns its parent.

    >>> countersigns("decision", True, None), countersigns("evidence", True, None)
    (True, False)
    """
    if artifact_kind not in COUNTERSIGNING or supports_claim is not True:
        return False
    return not rejects(artifact_kind, supports_claim, verification_status)


def judges(artifact_kind: str, supports_claim: bool | None) -> bool:  # noqa: FBT001 - the wire's field
    """Whether a record judges another one: a review, a verification, or another reply that supports the claim.

    Only its author may supersede it.

    >>> judges("review", None), judges("decision", True), judges("decision", None), judges("evidence", True)
    (True, True, False, False)
    """
    return artifact_kind in _JUDGING or (artifact_kind in COUNTERSIGNING and supports_claim is True)


def _word(verification_status: str | None) -> str:
    return (verification_status or "").strip().lower()


# Trust tiers: derived from replies at read time, never from what a record states about itself.


@dataclass(frozen=True, slots=True)
class Reply:
    """The fields of a reply on which trust depends."""

    artifact_id: str
    artifact_kind: str
    agent_id: str | None
    supports_claim: bool | None
    verification_status: str | None
    created_us: int

    @property
    def countersigns(self) -> bool:
        """Whether it countersigns its parent."""
        return countersigns(self.artifact_kind, self.supports_claim, self.verification_status)

    @property
    def rejects(self) -> bool:
        """Whether it is a verification that rejects its parent."""
        return rejects(self.artifact_kind, self.supports_claim, self.verification_status)

    @property
    def is_verdict(self) -> bool:
        """Whether it countersigns or rejects its parent."""
        return self.countersigns or self.rejects


def verdicts(agent_id: str | None, replies: Iterable[Reply]) -> tuple[Reply, ...]:
    """The latest verdict of each *other* agent about a record of *agent_id*, oldest first.

    Unsigned replies do not count, and a record without a known author can be neither countersigned nor rejected.
    """
    author = agent_key(agent_id)
    if author is None:
        return ()
    last: dict[str, Reply] = {}
    for reply in sorted(replies, key=lambda reply: (reply.created_us, reply.artifact_id)):
        signer = agent_key(reply.agent_id)
        if reply.is_verdict and signer is not None and signer != author:
            last[signer] = reply
    return tuple(sorted(last.values(), key=lambda reply: (reply.created_us, reply.artifact_id)))


def tier(artifact_kind: str, agent_id: str | None, replies: Sequence[Reply]) -> str:
    """The trust tier of a record of *agent_id*: digests are hints; countersigned records are verified unless rejected.

    >>> signed = Reply("v1", "verification", "bo", True, None, 5)
    >>> tier("evidence", "ana", [signed]), tier("evidence", "bo", [signed]), tier("digest", "ana", [signed])
    ('verified_record', 'canonical_record', 'compiled_digest_hint')
    >>> tier("evidence", "ana", [signed, Reply("v2", "verification", "cy", False, None, 6)])
    'canonical_record'
    """
    if artifact_kind == "digest":
        return "compiled_digest_hint"
    latest = verdicts(agent_id, replies)
    verified = any(verdict.countersigns for verdict in latest) and not any(verdict.rejects for verdict in latest)
    return "verified_record" if verified else "canonical_record"


def promotion(stated: str | None, artifact_kind: str, trust_tier: str) -> str:
    """The effective promotion state; only the trust tier can make it ``verified``.

    >>> promotion(None, "evidence", "verified_record"), promotion("raw", "evidence", "canonical_record")
    ('verified', 'raw')
    """
    if artifact_kind == "digest":
        return "summarized"
    if trust_tier == "verified_record":
        return "verified"
    return stated if stated in {"raw", "canonical"} else "canonical"


def rejecting_agents(agent_id: str | None, replies: Sequence[Reply]) -> tuple[str, ...]:
    """The names of the agents whose latest verdict rejects a record of *agent_id*, sorted.

    >>> rejecting_agents("ana", [Reply("v1", "verification", "bo", False, None, 5)])
    ('bo',)
    """
    return tuple(sorted({verdict.agent_id or "" for verdict in verdicts(agent_id, replies) if verdict.rejects}))


# What decides whether a step is allowed: whether its task is open, and the record that the step replies to.

OPEN = "open"
# Kinds of records that a finished task no longer accepts; reviews, revisions, verifications and decisions may follow.
STEPS = frozenset({"task_start", "task_progress", "run_start", "run_finish", "evidence", "task_finish"})


@dataclass(frozen=True, slots=True)
class Parent:
    """The fields of a record on which replies to it depend."""

    artifact_id: str
    artifact_kind: str
    task_id: str
    thread_id: str | None = None
    project_id: str | None = None
    agent_id: str | None = None
    supports_claim: bool | None = None
    superseded_by: str | None = None
    erased: bool = False
    projection_kinds: tuple[str, ...] = ()
