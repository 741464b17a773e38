"""How many of an agent's suggested procedures survive export and import of a full fingerprint."""

import gzip
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hmxgraph
from hmxgraph.fingerprint.diff import knowledge_in
from hmxgraph.graph.driver import Address
from hmxgraph.protocol.fingerprints import Envelope

SETS = ("policy_set", "task_schema_set", "playbook_set")
TOP = 3


@dataclass(frozen=True)
class Share:
    """The top procedures of the original agent and of the restored one, query by query."""

    tops: list[tuple[list[str], list[str]]]

    def lines(self) -> str:
        """The figures in two lines: for queries that the original answers, and for those that both answer."""
        asked = [(original, restored) for original, restored in self.tops if original]
        return f"original answers: {_figures(asked)}\nboth answer: {_figures([pair for pair in asked if pair[1]])}"


def _figures(pairs: list[tuple[list[str], list[str]]]) -> str:
    expected = sum(len(original) for original, _ in pairs)
    shared = sum(len(set(original) & set(restored)) for original, restored in pairs)
    first = sum(original[:1] == restored[:1] for original, restored in pairs)
    among = sum(original[0] in restored for original, restored in pairs)
    return (
        f"{len(pairs)} queries, {shared} of {expected} of the top {TOP} ({shared / max(expected, 1):.1%}), "
        f"same first {first}, first among the top {TOP} {among}"
    )


def measured(address: Address, events: Path, limit: int) -> Share:
    """The share for the first requests of up to *limit* sessions in a file of events."""
    origin, copy = (f"bench-restore-{uuid.uuid4()}" for _ in range(2))
    with gzip.open(events, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) | {"tenant_id": origin} for line in file]
    with _open(address, origin) as original, _open(address, copy) as restored:
        original.ingest(lines)
        original.compile()
        envelope = original.export_fingerprint(tier="full")
        for artifact_id in restored.import_fingerprint(envelope).created_ids:
            restored.transition(artifact_id, "active")
        again = restored.export_fingerprint(tier="full")
        names = _knowledge(envelope), _knowledge(again)
        queries = list(_queries(lines))[:limit]
        return Share([(_top(original, query, names[0]), _top(restored, query, names[1])) for query in queries])


def _open(address: Address, tenant_id: str) -> hmxgraph.KnowledgeGraph:
    return hmxgraph.connect(
        address.uri, tenant_id=tenant_id, user=address.user, password=address.password, database=address.database
    )


def _knowledge(envelope: Envelope) -> dict[str, str]:
    """The statement of each exported artifact by id; it is the same for original and copy."""
    sets = envelope.fingerprint["artifact_summaries"]
    return {
        summary["artifact_id"]: json.dumps(knowledge_in(summary), sort_keys=True)
        for name in SETS
        for summary in sets[name]
    }


def _queries(lines: list[dict]) -> Iterator[str]:
    """The first user message of each session."""
    seen = set()
    for line in lines:
        content = line["content"]
        if line["event_type"] == "message" and content.get("role") == "user" and line["session_id"] not in seen:
            seen.add(line["session_id"])
            yield content["text"]


def _top(graph: hmxgraph.KnowledgeGraph, query: str, names: dict[str, str]) -> list[str]:
    """The statements of the best procedures for a query, limited to exported ones."""
    entries = [entry for entry in graph.pack(query, budget=4096).entries if entry.section == "procedures"]
    ranked = sorted(entries, key=lambda entry: entry.rank)
    return [names[entry.source_id] for entry in ranked if entry.source_id in names][:TOP]
