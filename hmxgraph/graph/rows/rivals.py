"""Which artifacts and policies contradict each other: rules over their contents, no clock and no guess."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.conflicts import Side, conflict_row
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.text.opposition import differs, opposed
from hmxgraph.text.tokens import TokenCounter
from hmxgraph.text.validity import Validity, overlap


def opposing_artifacts(tenancy: Tenancy, claims: Iterable[Row], count_tokens: TokenCounter) -> Iterator[Row]:
    """The conflicts between each claim and its rivals: one condition, overlapping validity, answers that differ.

    Decision policies each name the one decision for their condition, so any other answer opposes; causal patterns
    may each have many effects, so only the opposite effect does.
    """
    for row in claims:
        for rival in row["rivals"]:
            if reason := _disagreement(row["claim"], rival):
                kind = "opposing_recommendations" if rival["artifact_type"] == "decision_policy" else "opposing_effects"
                sides = [_artifact_side(row["claim"]), _artifact_side(rival)]
                at_us = max(row["claim"]["status_times"][-1], rival["status_times"][-1])
                yield conflict_row(tenancy, kind, sides, reason, at_us, count_tokens)


def opposing_policies(
    tenancy: Tenancy, claims: Iterable[Row], policies: Sequence[Row], count_tokens: TokenCounter
) -> Iterator[Row]:
    """The conflicts between decision policies and policies that were said or written down: one forbids the other."""
    for claim in (row["claim"] for row in claims if row["claim"]["artifact_type"] == "decision_policy"):
        answer = _answer(claim)
        for policy in policies:
            if opposed(answer, policy["text"]):
                sides = [_artifact_side(claim), Side("memory", policy["memory_id"], policy["text"], policy["key"])]
                reason = f"the policy {policy['text']!r} forbids the recommendation {answer!r}"
                at_us = max(claim["status_times"][-1], policy["first_us"])
                yield conflict_row(tenancy, "policy_against_recommendation", sides, reason, at_us, count_tokens)


def _disagreement(one: Row, other: Row) -> str | None:
    if not overlap(_validity(one), _validity(other)):
        return None
    left, right = sorted((one, other), key=lambda row: str(row["artifact_id"]))
    first, second = _answer(left), _answer(right)
    wrong = differs if one["artifact_type"] == "decision_policy" else opposed
    if not (first and second and wrong(first, second)):
        return None
    question = _text(parse_json(left["content"]), "condition") or _text(parse_json(left["content"]), "cause")
    return f"for {question!r} one says {first!r}, the other {second!r}"


def _answer(row: Row) -> str:
    name = "recommendation" if row["artifact_type"] == "decision_policy" else "effect"
    return _text(parse_json(row["content"]), name)


def _artifact_side(row: Row) -> Side:
    return Side("artifact", row["artifact_id"], f"{row['title']}: {_answer(row)}", row["key"])


def _validity(row: Row) -> Validity:
    return Validity(
        _tuple(row.get("valid_tenants")),
        _tuple(row.get("valid_agents")),
        _tuple(row.get("valid_tags")),
        row.get("valid_from_us"),
        row.get("valid_to_us"),
    )


def _tuple(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _text(content: Any, name: str) -> str:
    return str(content.get(name) or "")
