"""Memories, entities, relations and task records against what they count and what was hashed."""

from collections.abc import Iterator

from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.checks.findings import Finding
from hmxgraph.graph.rows.conflicts import relation_id
from hmxgraph.graph.rows.entities import evidence_mark
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.canonical import sha256_hex


def memory_findings(tenancy: Tenancy, row: Row) -> Iterator[Finding]:
    """What is wrong with one row of ``verify/memories``."""
    memory = row["memory"]
    name = memory["memory_id"]
    if memory["key"] != tenancy.node_key(name):
        yield Finding("key", "memory", name, memory["key"], tenancy.node_key(name))
    if memory["observation_count"] not in {None, row["live"]}:
        found = str(memory["observation_count"])
        yield Finding("observation_count", "memory", name, found, f"{row['live']} events that still have their content")
    if row["older"] != ([memory["supersedes_key"]] if memory.get("supersedes_key") else []):
        expected = "the one of its supersedes_key" if memory.get("supersedes_key") else "none"
        yield Finding("chain", "memory", name, f"{len(row['older'])} memories superseded", expected)
    if len(row["newer"]) > 1:
        yield Finding("chain", "memory", name, f"{len(row['newer'])} successors", "one at most")


def entity_findings(row: Row) -> Iterator[Finding]:
    """What is wrong with one row of ``verify/entities``: the entity and the relations that begin at it."""
    if row["counted"] not in {None, row["mentioned"]}:
        yield Finding("mention_count", "entity", row["key"], str(row["counted"]), f"{row['mentioned']} mentions")
    marks = dict(row["marks"])
    for relation_type, target_key, counted in row["relations"]:
        times = marks.get(evidence_mark(relation_type, target_key), 0)
        if counted not in {None, times}:
            name = relation_id(row["key"], relation_type, target_key)
            yield Finding("evidence_count", "relation", name, str(counted), f"{times} mentions")


def task_record_findings(tenancy: Tenancy, row: Row) -> Iterator[Finding]:
    """What is wrong with one row of ``verify/task_records``."""
    name = row["artifact_id"]
    # An erased record keeps the hash of what it was.
    if not row["erased"] and (computed := sha256_hex((row["document"] or "").encode())) != row["record_hash"]:
        yield Finding("record_hash", "task_record", name, computed, str(row["record_hash"]))
    if row["key"] != tenancy.node_key(name):
        yield Finding("key", "task_record", name, row["key"], tenancy.node_key(name))
