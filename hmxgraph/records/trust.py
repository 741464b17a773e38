"""Trust in a record: verdicts of its replies, derived at read time, and the records that ground a claim."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.protocol.records import TaskRecord
from hmxgraph.records.search import coverage, record_text
from hmxgraph.text.comparison import opposed

# What a record says for or against the one it replies to, and under whose name (memd: Trust Boundary; DESIGN 6).

COUNTERSIGNING = frozenset({"review", "revision", "verification", "decision"})
# Words of verification_status that speak against a claim, and words that speak for it.
REJECTED = frozenset({"rejected", "refuted", "failed", "contradicted", "invalid"})
CONFIRMED = frozenset({"verified", "confirmed", "passed", "supported", "valid", "accepted", "approved"})
_JUDGING = frozenset({"review", "verification"})


def signature(agent_id: str | None) -> str | None:
    """The name under which a record stands: blanks around it make no other agent, and blanks alone are no name.

    >>> signature("ana "), signature(" "), signature(None)
    ('ana', None, None)
    """
    return (agent_id or "").strip() or None


def rejects(artifact_kind: str, supports_claim: bool | None, verification_status: str | None) -> bool:  # noqa: FBT001 - the wire's fields
    """Whether a record is a verification that came out against the claim.

    >>> rejects("verification", False, None), rejects("verification", None, "Refuted"), rejects("review", False, None)
    (True, True, False)
    """
    if artifact_kind != "verification":
        return False
    return supports_claim is False or _word(verification_status) in REJECTED


def countersigns(artifact_kind: str, supports_claim: bool | None, verification_status: str | None) -> bool:  # noqa: FBT001 - the wire's fields
    """Whether a record puts its author's name under the claim.

    >>> countersigns("decision", True, None), countersigns("evidence", True, None)
    (True, False)
    """
    if artifact_kind not in COUNTERSIGNING or supports_claim is not True:
        return False
    return not rejects(artifact_kind, supports_claim, verification_status)


def judges(artifact_kind: str, supports_claim: bool | None) -> bool:  # noqa: FBT001 - the wire's field
    """Whether a record is its author's judgement of another: what only its author takes back.

    >>> judges("review", None), judges("decision", True), judges("decision", None), judges("evidence", True)
    (True, True, False, False)
    """
    return artifact_kind in _JUDGING or (artifact_kind in COUNTERSIGNING and supports_claim is True)


def _word(verification_status: str | None) -> str:
    return (verification_status or "").strip().lower()


# How far a record is trusted: derived from replies at read time, never from what it says of itself (DESIGN 6).


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


# What a task's record so far says, as far as the next step depends on it.

OPEN = "open"
# Kinds that only the life of a task produces; the others are said about it, before or after its end.
STEPS = frozenset({"task_start", "task_progress", "run_start", "run_finish", "evidence", "task_finish"})


@dataclass(frozen=True, slots=True)
class Parent:
    """The record that is replied to: what it is, whose, where, what it says of another, and what took its place."""

    artifact_id: str
    artifact_kind: str
    task_id: str
    thread_id: str | None = None
    project_id: str | None = None
    agent_id: str | None = None
    supports_claim: bool | None = None
    superseded_by: str | None = None
    erased: bool = False


# What a claim rests on: records for it, records against it, and digests as mere hints (memd: Trust Boundary).

Part: TypeAlias = Literal["supporting", "conflicting", "hint", "unrelated"]
# Share of the claim's terms that a record must have to be about it.
ABOUT = 0.5
_CLAIMS = ("goal", "summary", "why_chosen")


class Grounds(NamedTuple):
    """One record beside a claim."""

    part: Part
    trust_tier: str


def part_of(claim: str, record: TaskRecord, *, rejected: bool) -> Part:
    """What *record* is to *claim*: about it and for it, about it and against it, a digest's hint, or unrelated.

    A record is against the claim where it says the opposite, speaks against what it replies to, or was itself
    rejected by another agent's verification.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="evidence", task_id="t", tenant_id="a",
    ...     timestamp_created=0, summary="Never retry the import without a lock")
    >>> part_of("Retry the import without a lock", record, rejected=False)
    'conflicting'
    """
    if coverage(claim, record_text(record)) < ABOUT:
        return "unrelated"
    if record.artifact_kind == "digest":
        return "hint"
    against = rejected or record.supports_claim is False or any(opposed(claim, said) for said in _said(record))
    return "conflicting" if against else "supporting"


def grounding_status(grounds: Sequence[Grounds]) -> str:
    """In one word how well a claim is grounded: by what supports it, what conflicts, and how far both are trusted.

    >>> grounding_status([Grounds("supporting", "verified_record")])
    'verified'
    >>> grounding_status([Grounds("hint", "compiled_digest_hint")])
    'hint_only'
    """
    parts = {ground.part for ground in grounds}
    if {"supporting", "conflicting"} <= parts:
        return "contested"
    if "conflicting" in parts:
        return "contradicted"
    if "supporting" in parts:
        verified = any(one.part == "supporting" and one.trust_tier == "verified_record" for one in grounds)
        return "verified" if verified else "grounded"
    return "hint_only" if "hint" in parts else "ungrounded"


def _said(record: TaskRecord) -> list[str]:
    return [value for name in _CLAIMS if (value := getattr(record, name))]
