"""Precision of packs: of one person's beliefs, a pack shows those that a question calls for, and little else."""

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import hmxgraph
from hmxgraph.graph.driver import Address
from tests.shared_data import shared

pytestmark = pytest.mark.bench
BUDGET = 512
PRECISION, RECALL = 0.80, 0.95
# The memory kind for each type in the data set.
KINDS = {"preference": "preference", "decision": "fact", "entity": "fact", "open_question": "goal", "relation": "fact"}
STRANGER = "b-other-user-leak-check"


def test_beliefs(address: Address) -> None:
    """With scopes, aliases, pins and successors given, packs show what each case expects, and little else.

    Pinned beliefs of the scope are in every pack by request, so they are not counted as wrong.
    """
    beliefs, cases = (
        json.loads(shared("data", "precision", f"{name}.json").read_bytes()) for name in ("beliefs", "cases")
    )
    with hmxgraph.connect(
        address.uri, user=address.user, password=address.password, tenant_id=f"precision-{uuid.uuid4()}"
    ) as graph:
        ids = _remembered(graph, {belief["_id"]: belief for belief in beliefs})
        counts = [_counted(graph, case, ids, beliefs) for case in cases]
    right, wrong, missed, superseded = (sum(column) for column in zip(*counts, strict=True))
    precision, recall = right / (right + wrong), right / (right + missed)
    print(f"\nbeliefs, {len(cases)} cases at {BUDGET} tokens: precision {precision:.2f}, recall {recall:.2f}")
    assert (precision >= PRECISION, recall >= RECALL, superseded) == (True, True, 0)


def _remembered(graph: hmxgraph.KnowledgeGraph, beliefs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Remember all *beliefs*, each after the one it replaces; return their names by memory id."""
    replaced = {belief["superseded_by"]: name for name, belief in beliefs.items() if belief["superseded_by"]}
    made: dict[str, str] = {}

    def remember(name: str) -> None:
        if name in made:
            return
        if name in replaced:
            remember(replaced[name])
        belief = beliefs[name]
        memory = graph.remember(
            belief["content"],
            kind=KINDS[belief["type"]],
            scope=belief["scope"],
            aliases=belief["aliases"],
            pinned=belief["pinned"],
            expires=belief.get("resolved_at"),
            supersedes=made.get(replaced.get(name, "")),
            user_id="stranger" if name == STRANGER else belief["user_id"],
        )
        made[name] = memory.memory_id

    for name in beliefs:
        remember(name)
    return {memory_id: name for name, memory_id in made.items()}


def _counted(
    graph: hmxgraph.KnowledgeGraph, case: Mapping[str, Any], ids: Mapping[str, str], beliefs: list[dict[str, Any]]
) -> tuple[int, int, int, int]:
    """Return the numbers of right, wrong, missed and superseded entries."""
    pack = graph.pack(case["query"], budget=BUDGET, scope=case["scope"], user_id="test-user")
    shown = {ids.get(entry.source_id, entry.source_id) for entry in pack.entries}
    expected = set(_wanted(case["expect"]))
    pinned = {belief["_id"] for belief in beliefs if belief["pinned"] and {*belief["scope"]} & {*case["scope"]}}
    over = {belief["_id"] for belief in beliefs if belief["superseded_by"]}
    return len(shown & expected), len(shown - expected - pinned), len(expected - shown), len(shown & over)


def _wanted(expected: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for part in expected.values():
        yield from part.get("mustInclude", ())
        yield from part.get("shouldOnlyInclude", ())
