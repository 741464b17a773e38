"""What is measured of each system: recall, passages among the best five, precision, rate, time, isolation."""

import statistics
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from benchmarks.data import Beliefs, Corpus, Item
from benchmarks.neo4j_systems import Hmxgraph
from benchmarks.systems import System, words

Figures: TypeAlias = dict[str, Any]
Make: TypeAlias = Callable[[], System]
CONVERSATION_BUDGETS = (512, 1024, 2048, 4096)
CHAT_BUDGETS = (1024, 2048, 4096, 8192)
BEST = 5
PRECISION_BUDGET = 512
# For which length of list a ranked system is judged on beliefs: the one that suits it best.
LENGTHS = range(1, 11)


def recall(make: Make, corpora: Sequence[Corpus], budgets: Sequence[int], cost: Callable[[str], int]) -> Figures:
    """Mean share of a question's gold items within each budget; items stored a second; milliseconds of a query.

    A first memory, which is not counted, warms everything.
    """
    smallest = min(corpora, key=lambda corpus: len(corpus.items))
    warm = Corpus(smallest.name, smallest.items[:100], smallest.questions[:5])
    _recalled(make(), warm, budgets, cost)
    shares: list[list[float]] = []
    latencies: list[float] = []
    stored, took = 0, 0.0
    for corpus in corpora:
        rows, times, seconds = _recalled(make(), corpus, budgets, cost)
        shares, latencies = shares + rows, latencies + times
        stored, took = stored + len(corpus.items), took + seconds
    means = [round(100 * statistics.fmean(column), 1) for column in zip(*shares, strict=True)]
    p50, p99 = np.percentile(latencies, [50, 99])
    return {
        "questions": len(shares),
        "recall": dict(zip(map(str, budgets), means, strict=True)),
        "items_per_second": round(stored / took, 1),
        "p50_ms": round(float(p50), 2),
        "p99_ms": round(float(p99), 2),
    }


def _recalled(
    system: System, corpus: Corpus, budgets: Sequence[int], cost: Callable[[str], int]
) -> tuple[list[list[float]], list[float], float]:
    """The shares and milliseconds of each question, and the seconds of storing."""
    costs = {item.item_id: cost(item.line) + 1 for item in corpus.items}
    system.begin(corpus.name)
    try:
        began = time.perf_counter()
        system.store(corpus.items)
        seconds = time.perf_counter() - began
        system.settle()
        shares, latencies = [], []
        for question in corpus.questions:
            began = time.perf_counter()
            ranked = system.search(question.text)
            latencies.append(1000 * (time.perf_counter() - began))
            within = [system.within(question.text, budget, costs, ranked) for budget in budgets]
            shares.append([len(question.gold & ids) / len(question.gold) for ids in within])
    finally:
        system.end()
    return shares, latencies, seconds


def best_five(make: Make, corpus: Corpus) -> Figures:
    """Mean share of a question's supporting passages among the five best."""
    system = make()
    system.begin(corpus.name)
    try:
        system.store(corpus.items)
        system.settle()
        shares = [len(q.gold & set(system.search(q.text)[:BEST])) / len(q.gold) for q in corpus.questions]
    finally:
        system.end()
    return {"questions": len(shares), "recall_at_5": round(100 * statistics.fmean(shares), 1)}


def isolation(make: Make, corpora: Sequence[Corpus]) -> Figures:
    """Two memories in one store: in how many answers about the first stands an item of the second."""
    first, second = corpora[:2]
    mine, other = make(), make()
    if not mine.apart:
        return {"by": "", "foreign": None}
    mine.begin(first.name)
    other.begin(second.name, empty=False)
    try:
        mine.store(first.items)
        other.store(second.items)
        mine.settle()
        foreign = {item.item_id for item in second.items} - {item.item_id for item in first.items}
        hits = [bool(foreign & set(mine.search(question.text))) for question in first.questions]
    finally:
        mine.end()
        other.end()
    return {"by": mine.apart, "questions": len(hits), "foreign": sum(hits)}


def precision(make: Make, data: Beliefs) -> Figures:
    """Precision and recall of the beliefs that come back for each case.

    hmxgraph answers with a pack of 512 tokens and is given scopes, aliases, pins and successors, which it has
    parameters for. Of a ranked list the caller has removed replaced beliefs, those of other users and other scopes; it
    is cut at the length, the same for all cases, that gives the best F1. Pinned beliefs count neither for nor against.
    """
    if issubclass(make().__class__, Hmxgraph):
        shown = _packed(make(), data)
        return _scored(data, shown) | {"cut": f"{PRECISION_BUDGET} tokens"}
    ranked = _ranked(make(), data)
    scored = [_scored(data, [set(ids[:length]) for ids in ranked]) | {"cut": f"best {length}"} for length in LENGTHS]
    return max(scored, key=lambda figures: figures["f1"])


def _ranked(system: System, data: Beliefs) -> list[list[str]]:
    live = {each["_id"]: each for each in data.beliefs if not each["superseded_by"] and each["user_id"] == "test-user"}
    items = [belief_item(each) for each in live.values()]
    system.begin("beliefs")
    try:
        system.store(items)
        system.settle()
        # One case asks nothing; that is an error in several of the systems.
        answers = [system.search(case["query"]) if words(case["query"]) else [] for case in data.cases]
    finally:
        system.end()
    pinned = {name for name, each in live.items() if each["pinned"]}
    scopes = [{name for name, each in live.items() if {*each["scope"]} & {*case["scope"]}} for case in data.cases]
    return [
        [name for name in dict.fromkeys(ids) if name in scope and name not in pinned]
        for ids, scope in zip(answers, scopes, strict=True)
    ]


def belief_item(belief: dict[str, Any]) -> Item:
    """A belief as an item to keep."""
    at = datetime.fromisoformat(belief["created_at"])
    return Item(belief["_id"], "beliefs", "user", belief["content"], at, {})


_KINDS = {"preference": "preference", "decision": "fact", "entity": "fact", "open_question": "goal", "relation": "fact"}


def _packed(system: Any, data: Beliefs) -> list[set[str]]:
    """What packs show; each belief is remembered after the one that it replaces."""
    beliefs = {each["_id"]: each for each in data.beliefs}
    replaced = {each["superseded_by"]: name for name, each in beliefs.items() if each["superseded_by"]}
    system.begin("beliefs")
    graph, made = system._graph, {}  # noqa: SLF001 - beliefs need what the common interface has no word for

    def remember(name: str) -> None:
        if name in replaced and replaced[name] not in made:
            remember(replaced[name])
        belief = beliefs[name]
        made[name] = graph.remember(
            belief["content"],
            kind=_KINDS[belief["type"]],
            scope=belief["scope"],
            aliases=belief["aliases"],
            pinned=belief["pinned"],
            expires=belief.get("resolved_at"),
            supersedes=made.get(replaced.get(name, "")),
            user_id=belief["user_id"],
        ).memory_id

    try:
        for name in beliefs:
            if name not in made:
                remember(name)
        names = {memory_id: name for name, memory_id in made.items()}
        pinned = {name for name, each in beliefs.items() if each["pinned"]}
        options = {"budget": PRECISION_BUDGET, "user_id": "test-user"}
        packs = [graph.pack(case["query"], scope=case["scope"], **options) for case in data.cases]
        return [{names.get(e.source_id, e.source_id) for e in pack.entries} - pinned for pack in packs]
    finally:
        system.end()


def _scored(data: Beliefs, shown: Sequence[set[str]]) -> Figures:
    pinned = {each["_id"] for each in data.beliefs if each["pinned"]}
    expected = [data.expected(case) - pinned for case in data.cases]
    right = sum(len(ids & gold) for ids, gold in zip(shown, expected, strict=True))
    given, asked = sum(map(len, shown)), sum(map(len, expected))
    precise, complete = right / given if given else 0.0, right / asked
    f1 = 2 * precise * complete / (precise + complete) if right else 0.0
    return {
        "cases": len(data.cases),
        "precision": round(precise, 3),
        "recall": round(complete, 3),
        "f1": round(f1, 3),
    }
