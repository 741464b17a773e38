"""What a claim rests on: records for it, records against it, and digests as mere hints (memd: Trust Boundary)."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.matching import coverage
from hmxgraph.tasks.projections import record_text
from hmxgraph.text.opposition import opposed

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
