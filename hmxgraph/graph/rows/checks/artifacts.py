"""Stored artifacts against their hashes, history, chain and evidence; conflicts against their sides."""

from collections.abc import Collection, Iterator
from itertools import pairwise

from hmxgraph.compiler.reconcile import COMPILER
from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.artifacts import dedup_key, tampering
from hmxgraph.graph.rows.checks.findings import Finding
from hmxgraph.graph.rows.compilation import LINEAGES
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.artifacts import LEGAL_TRANSITIONS, LIVING

_HOLDS = {"Artifact": LIVING, "Memory": ("promoted", "tentative")}


def artifact_findings(tenancy: Tenancy, row: Row, present: Collection[str]) -> Iterator[Finding]:
    """What is wrong with one row of ``verify/artifacts``; *present* are the keys of stored events and memories."""
    artifact = row["artifact"]
    name = artifact["artifact_id"]
    for check in tampering(artifact):
        yield Finding(check, "artifact", name, "changed in the database", "as recorded")
    if artifact["key"] != tenancy.node_key(name):
        yield Finding("key", "artifact", name, artifact["key"], tenancy.node_key(name))
    if row["strangers"]:
        yield Finding("tenant", "artifact", name, f"{row['strangers']} links to other tenants", "none")
    if row["erased"] and _compiled(artifact) and not artifact.get("erased"):
        yield Finding("erased", "artifact", name, f"words of {row['erased']} erased events", "no words")
    yield from _history_findings(artifact)
    yield from _dedup_findings(tenancy, artifact)
    yield from _older_findings(tenancy, artifact, row["older"])
    yield from _newer_findings(artifact, row["newer"])
    yield from _evidence_findings(tenancy, row, present)


def evidence_keys(tenancy: Tenancy, artifact: Row) -> tuple[dict[str, str], dict[str, str]]:
    """The keys of the events and of the memories that an artifact names, with their ids."""
    events = {tenancy.node_key(event_id): event_id for event_id in artifact["source_events"]}
    memories = {tenancy.node_key(memory_id): memory_id for memory_id in artifact["source_memory_ids"]}
    return events, memories


def conflict_findings(row: Row) -> Iterator[Finding]:
    """What is wrong with one row of ``verify/conflicts``."""
    conflict, sides = row["conflict"], row["sides"]
    name, names = conflict["conflict_id"], [side["side_id"] for side in sides]
    resolved = conflict["status"] == "resolved"
    if len(sides) < 2:
        yield Finding("sides", "conflict", name, f"{len(sides)} sides", "2 or more")
    if resolved is not (conflict.get("resolved_us") is not None):
        yield Finding("status", "conflict", name, conflict["status"], "resolved with a time, or open without")
    if not conflict.get("relations") and conflict.get("kept_id") not in {None, *names}:
        yield Finding("kept_id", "conflict", name, conflict["kept_id"], f"one of {', '.join(names)}")
    holding = [side for side in sides if side["label"] not in _HOLDS or side["status"] in _HOLDS[side["label"]]]
    if not resolved and len(holding) < 2:
        yield Finding("status", "conflict", name, "open", "resolved: a side no longer holds")


def _compiled(artifact: Row) -> bool:
    return bool(artifact.get("agent_id") == COMPILER and artifact["lineage_key"].startswith(LINEAGES))


def _history_findings(artifact: Row) -> Iterator[Finding]:
    name, times, values = artifact["artifact_id"], artifact["status_times"], artifact["status_values"]
    if not len(times) == len(values) == len(artifact["status_reasons"]) or values[-1:] != [artifact["status"]]:
        yield Finding(
            "transition", "artifact", name, f"{artifact['status']} after {values}", "a history that ends in it"
        )
    if times != sorted(times):
        yield Finding("transition", "artifact", name, f"times {times}", "times that do not fall")
    for before, after in pairwise(values):
        if after not in LEGAL_TRANSITIONS.get(before, ()):
            yield Finding("transition", "artifact", name, f"{before} to {after}", "one of the five of HMX-A 5")


def _dedup_findings(tenancy: Tenancy, artifact: Row) -> Iterator[Finding]:
    expected = dedup_key(tenancy, artifact) if artifact["status"] in LIVING else None
    if artifact.get("dedup_key") != expected:
        found = artifact.get("dedup_key") or "none"
        yield Finding("dedup_key", "artifact", artifact["artifact_id"], found, expected or "none")


def _older_findings(tenancy: Tenancy, artifact: Row, older: list[Row]) -> Iterator[Finding]:
    """Where the artifact stands on what it supersedes: one edge, next version, same type and chain (HMX-A 7)."""
    name, supersedes = artifact["artifact_id"], artifact.get("supersedes")
    if [old["artifact_id"] for old in older] != ([supersedes] if supersedes else []):
        found = ", ".join(old["artifact_id"] for old in older) or "nothing"
        yield Finding("chain", "artifact", name, f"supersedes {found}", f"supersedes {supersedes or 'nothing'}")
        return
    if artifact.get("supersedes_key") != (tenancy.node_key(supersedes) if supersedes else None):
        yield Finding("chain", "artifact", name, "another supersedes_key", "the key of its predecessor")
    first = {"version": 0, "chain_key": artifact["key"], "artifact_type": artifact["artifact_type"]}
    old = older[0] if older else first
    if artifact["version"] != old["version"] + 1:
        yield Finding("chain", "artifact", name, f"version {artifact['version']}", f"version {old['version'] + 1}")
    for field in ("chain_key", "artifact_type"):
        if artifact[field] != old[field]:
            yield Finding("chain", "artifact", name, f"{field} {artifact[field]}", f"{field} {old[field]}")
    if older and (old["status"], old.get("superseded_by")) != ("superseded", name):
        found = f"{old['artifact_id']} {old['status']} by {old.get('superseded_by')}"
        yield Finding("chain", "artifact", name, found, f"{old['artifact_id']} superseded by {name}")


def _newer_findings(artifact: Row, newer: list[str]) -> Iterator[Finding]:
    """Whether what supersedes the artifact is what it says."""
    superseded_by = artifact.get("superseded_by")
    if newer != ([superseded_by] if superseded_by else []) or (artifact["status"] == "superseded") is not bool(newer):
        found = f"{artifact['status']}, superseded by {', '.join(sorted(newer)) or 'nothing'}"
        expected = f"superseded by {superseded_by}" if superseded_by else "a status other than superseded, no successor"
        yield Finding("chain", "artifact", artifact["artifact_id"], found, expected)


def _evidence_findings(tenancy: Tenancy, row: Row, present: Collection[str]) -> Iterator[Finding]:
    events, memories = evidence_keys(tenancy, row["artifact"])
    links = (("EVIDENCED_BY", events, row["evidence_keys"]), ("DERIVED_FROM", memories, row["memory_keys"]))
    for link, named, linked in links:
        for key in sorted(named.keys() - set(linked), key=named.__getitem__):
            found = "stored, not linked" if key in present else "not stored"
            expected = f"{link} to {named[key]}"
            yield Finding("evidence", "artifact", row["artifact"]["artifact_id"], found, expected, "missing")
