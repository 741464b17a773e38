"""What a record says for or against the one it replies to, and under whose name (memd: Trust Boundary; DESIGN 6)."""

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


def contradicts_itself(artifact_kind: str, supports_claim: bool | None, verification_status: str | None) -> bool:  # noqa: FBT001 - the wire's fields
    """Whether what a judgement says of the claim is undone by its own status.

    >>> contradicts_itself("verification", True, "rejected"), contradicts_itself("verification", True, "pending")
    (True, False)
    """
    if artifact_kind not in COUNTERSIGNING or supports_claim is None:
        return False
    return _word(verification_status) in (REJECTED if supports_claim else CONFIRMED)


def _word(verification_status: str | None) -> str:
    return (verification_status or "").strip().lower()
