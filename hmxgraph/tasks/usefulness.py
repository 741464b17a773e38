"""How useful a memory proved to be, from feedback and outcomes, and what that does to its rank."""

# What feedback and outcomes count as: for the memory, or against it.
SIGNALS = {"positive": (1, 0), "negative": (0, 1), "correction": (0, 1)}
OUTCOMES = {"success": (1, 0), "failure": (0, 1), "mixed": (1, 1)}


def usefulness(useful: int, useless: int) -> float:
    """The chance that a memory helps, by the rule of succession: 0.5 before anything is known.

    >>> usefulness(0, 0), usefulness(2, 0)
    (0.5, 0.75)
    """
    return (useful + 1) / (useful + useless + 2)


def weighed(score: float, useful: int, useless: int) -> float:
    """*score* raised or lowered by at most a quarter.

    >>> weighed(0.8, 0, 0), weighed(0.8, 0, 98)
    (0.8, 0.604)
    """
    return round(score * (0.75 + 0.5 * usefulness(useful, useless)), 6)


def hidden_reason(status: str, *, superseded: bool, deleted: bool, over: bool, begun: bool = True) -> str | None:
    """Why a memory is not shown; None where it is. What ended it counts from when it was *over*.

    >>> hidden_reason("deprecated", superseded=True, deleted=False, over=True)
    'superseded'
    >>> hidden_reason("deprecated", superseded=True, deleted=False, over=False)
    >>> hidden_reason("promoted", superseded=False, deleted=False, over=False, begun=False)
    'later'
    """
    if not begun:
        return "later"
    if not over:
        return None
    if deleted:
        return "deleted"
    if superseded:
        return "superseded"
    return status if status in {"contradicted", "deprecated"} else "expired"


def grounded_tier(tiers: list[str]) -> str:
    """The trust tier of a memory: that of the best record that rests on the same events, else a mere candidate.

    >>> grounded_tier([]), grounded_tier(["canonical_record", "verified_record"])
    ('semantic_candidate', 'verified_record')
    """
    for tier in ("verified_record", "canonical_record", "compiled_digest_hint"):
        if tier in tiers:
            return tier
    return "semantic_candidate"
