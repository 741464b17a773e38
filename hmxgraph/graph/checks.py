"""Verification of what is stored: hashes, chains, transitions, links and counters.

Names such as ``verify/events`` are Cypher statements: ``cypher/verify/events.cypher``. HMX-E and HMX-A are the parts of
the HMX-1.0 standard about events and artifacts.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from hmxgraph.compiler.reconcile import COMPILER
from hmxgraph.errors import InvalidDocument
from hmxgraph.graph._conflict_rows import relation_id
from hmxgraph.graph._entities import evidence_mark
from hmxgraph.graph._events import recall_row
from hmxgraph.graph.artifacts import dedup_key, evidence_keys, is_linked, tampering
from hmxgraph.graph.compilations import LINEAGES
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, read
from hmxgraph.ingest.prepare import event_document, traits
from hmxgraph.protocol.artifacts import LEGAL_TRANSITIONS, LIVE_STATUSES
from hmxgraph.protocol.canonical import content_hash, sha256_hex
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.reports import Finding, VerifyReport

# Checks of artifacts against their hashes, history, chain and evidence, and of conflicts against their sides.

# The statuses in which a side of a conflict is in force, by label; sides with other labels always are.
_STATUSES_IN_FORCE = {"Artifact": LIVE_STATUSES, "Memory": ("promoted", "tentative")}


def _artifact_findings(tenancy: Tenancy, row: Row, present: Collection[str]) -> Iterator[Finding]:
    """Findings in one row of ``verify/artifacts``; *present* has the keys of stored events and memories."""
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


def _conflict_findings(row: Row) -> Iterator[Finding]:
    """Findings in one row of ``verify/conflicts``."""
    conflict, sides = row["conflict"], row["sides"]
    name, names = conflict["conflict_id"], [side["side_id"] for side in sides]
    resolved = conflict["status"] == "resolved"
    if len(sides) < 2:
        yield Finding("sides", "conflict", name, f"{len(sides)} sides", "2 or more")
    if resolved is not (conflict.get("resolved_us") is not None):
        yield Finding("status", "conflict", name, conflict["status"], "resolved with a time, or open without")
    if not conflict.get("relations") and conflict.get("kept_id") not in {None, *names}:
        yield Finding("kept_id", "conflict", name, conflict["kept_id"], f"one of {', '.join(names)}")
    in_force = [side for side in sides if _is_in_force(side)]
    if not resolved and len(in_force) < 2:
        yield Finding("status", "conflict", name, "open", "resolved: a side no longer holds")


def _is_in_force(side: Row) -> bool:
    statuses = _STATUSES_IN_FORCE.get(side["label"])
    return statuses is None or side["status"] in statuses


def _compiled(artifact: Row) -> bool:
    return bool(artifact.get("agent_id") == COMPILER and artifact["lineage_key"].startswith(LINEAGES))


def _history_findings(artifact: Row) -> Iterator[Finding]:
    name, times, values = artifact["artifact_id"], artifact["status_times"], artifact["status_values"]
    if not len(times) == len(values) == len(artifact["status_reasons"]) or values[-1:] != [artifact["status"]]:
        status_and_history = f"status {artifact['status']}, history {values}"
        yield Finding("transition", "artifact", name, status_and_history, "a history that ends in this status")
    if times != sorted(times):
        yield Finding("transition", "artifact", name, f"times {times}", "times in ascending order")
    for before, after in pairwise(values):
        if after not in LEGAL_TRANSITIONS.get(before, ()):
            yield Finding("transition", "artifact", name, f"{before} to {after}", "a transition of HMX-A 5")


def _dedup_findings(tenancy: Tenancy, artifact: Row) -> Iterator[Finding]:
    expected = dedup_key(tenancy, artifact) if artifact["status"] in LIVE_STATUSES else None
    # A proposed successor with the same content as its predecessor leaves the key to the predecessor.
    if artifact.get("dedup_key") != expected and not (_proposed(artifact) and artifact.get("dedup_key") is None):
        stored_key = artifact.get("dedup_key") or "none"
        yield Finding("dedup_key", "artifact", artifact["artifact_id"], stored_key, expected or "none")


def _proposed(artifact: Row) -> bool:
    """Whether the artifact is a successor that never came into force, and so is not part of a chain."""
    never_active = "active" not in artifact["status_values"]
    return bool(artifact.get("supersedes")) and never_active and not is_linked(artifact)


def _older_findings(tenancy: Tenancy, artifact: Row, older: list[Row]) -> Iterator[Finding]:
    """Findings unless the artifact follows its predecessor: one edge, next version, same type and chain (HMX-A 7)."""
    name, supersedes = artifact["artifact_id"], None if _proposed(artifact) else artifact.get("supersedes")
    if [old["artifact_id"] for old in older] != ([supersedes] if supersedes else []):
        predecessors = ", ".join(old["artifact_id"] for old in older) or "nothing"
        yield Finding("chain", "artifact", name, f"supersedes {predecessors}", f"supersedes {supersedes or 'nothing'}")
        return
    if artifact.get("supersedes_key") != (tenancy.node_key(supersedes) if supersedes else None):
        yield Finding("chain", "artifact", name, "another supersedes_key", "the key of its predecessor")
    first = {"version": 0, "chain_key": artifact["key"], "artifact_type": artifact["artifact_type"]}
    if _proposed(artifact):
        first["version"] = artifact["version"] - 1
    old = older[0] if older else first
    if artifact["version"] != old["version"] + 1:
        yield Finding("chain", "artifact", name, f"version {artifact['version']}", f"version {old['version'] + 1}")
    for field in ("chain_key", "artifact_type"):
        if artifact[field] != old[field]:
            yield Finding("chain", "artifact", name, f"{field} {artifact[field]}", f"{field} {old[field]}")
    if older and (old["status"], old.get("superseded_by")) != ("superseded", name):
        predecessors = f"{old['artifact_id']} {old['status']} by {old.get('superseded_by')}"
        yield Finding("chain", "artifact", name, predecessors, f"{old['artifact_id']} superseded by {name}")


def _newer_findings(artifact: Row, newer: list[str]) -> Iterator[Finding]:
    """A finding unless the artifact's status and ``superseded_by`` agree with its actual successor, or with none."""
    superseded_by = artifact.get("superseded_by")
    if newer != ([superseded_by] if superseded_by else []) or (artifact["status"] == "superseded") is not bool(newer):
        succession = f"{artifact['status']}, superseded by {', '.join(sorted(newer)) or 'nothing'}"
        expected = f"superseded by {superseded_by}" if superseded_by else "a status other than superseded, no successor"
        yield Finding("chain", "artifact", artifact["artifact_id"], succession, expected)


def _evidence_findings(tenancy: Tenancy, row: Row, present: Collection[str]) -> Iterator[Finding]:
    events, memories = evidence_keys(tenancy, row["artifact"])
    links = (("EVIDENCED_BY", events, row["evidence_keys"]), ("DERIVED_FROM", memories, row["memory_keys"]))
    for link, named, linked in links:
        for key in sorted(named.keys() - set(linked), key=named.__getitem__):
            evidence_state = "stored, not linked" if key in present else "not stored"
            expected = f"{link} to {named[key]}"
            yield Finding("evidence", "artifact", row["artifact"]["artifact_id"], evidence_state, expected, "missing")


# Checks of events against their hashes and links, and of sessions and tenants against their counters.


# Properties that can be derived again from a stored event. Its text cannot: the text has the fields of the content in
# their original order, which the stored content, in canonical form, has lost. ``recall_row`` has its own check.
_TRAITS = ("title", "speaker", "label", "failed")
_LINK_FIELDS = (("CAUSED_BY", "parent_event_id"), ("CORRELATES_WITH", "correlation_id"))


def _event_findings(row: Row) -> Iterator[Finding]:
    """Findings in one row of ``verify/events``; of an erased event, only session and order are checked."""
    event = row["event"]
    event_id = event["event_id"]
    if not row["in_session"]:
        yield Finding("session", "event", event_id, "no session", event["session_id"])
    if row["out_of_order"]:
        yield Finding("order", "event", event_id, "followed by an earlier event", "sequence, timestamp, event_id")
    if event.get("erased"):
        return
    if (computed := _hash(event)) != event["event_hash"]:
        yield Finding("event_hash", "event", event_id, computed, str(event["event_hash"]))
    else:
        yield from _derived_findings(event, row["derived"])
    if (stored_row := row["derived"]["recall_row"]) != (expected := _recall_row(event | row["derived"])):
        yield Finding("recall_row", "event", event_id, str(stored_row), str(expected))
    yield from _link_findings(row)


def _session_findings(row: Row) -> Iterator[Finding]:
    """Findings in one row of ``verify/sessions``."""
    if row["counted"] != row["stored"]:
        yield Finding("event_count", "session", row["session_id"], str(row["counted"]), f"{row['stored']} events")
    if row["links"] != max(row["stored"] - 1, 0):
        expected = f"{max(row['stored'] - 1, 0)} NEXT links"
        yield Finding("order", "session", row["session_id"], str(row["links"]), expected)


def _tenant_findings(tenant_id: str, row: Row) -> Iterator[Finding]:
    """Findings in the row of ``verify/tenant``."""
    if row["counted"] != row["stored"]:
        yield Finding("event_count", "tenant", tenant_id, str(row["counted"]), f"{row['stored']} events")
    if row["latest_us"] is not None and row["logical_us"] < row["latest_us"]:
        expected = f"{row['latest_us']} or later, the time of an event"
        yield Finding("logical_us", "tenant", tenant_id, str(row["logical_us"]), expected)


def _hash(event: Row) -> str:
    try:
        return content_hash(event_document(event))
    except (ValueError, KeyError) as error:
        return f"unreadable: {error}"


def _derived_findings(event: Row, stored: Row) -> Iterator[Finding]:
    """Fields that this release derives differently: changed by hand, or stored by a release with other rules."""
    try:
        derived = traits(Event.parse(event_document(event)))
    except InvalidDocument as error:
        yield Finding("document", "event", event["event_id"], str(error), "an event of HMX-E")
        return
    for name in _TRAITS:
        if (stored_value := stored[name]) != (expected := derived.get(name)):
            yield Finding("derived", "event", event["event_id"], f"{name}: {stored_value}", f"{name}: {expected}")


def _recall_row(properties: Row) -> str | None:
    try:
        return recall_row({name: value for name, value in properties.items() if value is not None})
    except KeyError as error:
        return f"unreadable: no {error}"


def _link_findings(row: Row) -> Iterator[Finding]:
    event = row["event"]
    for link, name in _LINK_FIELDS:
        other_id = event.get(name)
        if other_id is None or other_id == event["event_id"] or link in row["linked"]:
            continue
        if link in row["awaited"]:
            yield Finding(name, "event", event["event_id"], "not stored", other_id, "missing")
        else:
            yield Finding(name, "event", event["event_id"], "no link", f"{link} to {other_id}")


# Checks of memories, entities, relations and task records against their counters and hashes.


def _memory_findings(tenancy: Tenancy, row: Row) -> Iterator[Finding]:
    """Findings in one row of ``verify/memories``."""
    memory = row["memory"]
    name = memory["memory_id"]
    if memory["key"] != tenancy.node_key(name):
        yield Finding("key", "memory", name, memory["key"], tenancy.node_key(name))
    if memory["observation_count"] not in {None, row["live"]}:
        observation_count = str(memory["observation_count"])
        yield Finding(
            "observation_count",
            "memory",
            name,
            observation_count,
            f"{row['live']} events that still have their content",
        )
    if row["older"] != ([memory["supersedes_key"]] if memory.get("supersedes_key") else []):
        expected = "the memory of its supersedes_key" if memory.get("supersedes_key") else "none"
        yield Finding("chain", "memory", name, f"{len(row['older'])} memories superseded", expected)
    if len(row["newer"]) > 1:
        yield Finding("chain", "memory", name, f"{len(row['newer'])} successors", "at most one")


def _entity_findings(row: Row) -> Iterator[Finding]:
    """Findings in one row of ``verify/entities``: the entity and the relations that start at it."""
    if row["counted"] not in {None, row["mentioned"]}:
        yield Finding("mention_count", "entity", row["key"], str(row["counted"]), f"{row['mentioned']} mentions")
    marks = dict(row["marks"])
    for relation_type, target_key, counted in row["relations"]:
        times = marks.get(evidence_mark(relation_type, target_key), 0)
        if counted not in {None, times}:
            name = relation_id(row["key"], relation_type, target_key)
            yield Finding("evidence_count", "relation", name, str(counted), f"{times} mentions")


def _task_record_findings(tenancy: Tenancy, row: Row) -> Iterator[Finding]:
    """Findings in one row of ``verify/task_records``."""
    name = row["artifact_id"]
    # An erased record keeps the hash of its former text.
    if not row["erased"] and (computed := sha256_hex((row["document"] or "").encode())) != row["record_hash"]:
        yield Finding("record_hash", "task_record", name, computed, str(row["record_hash"]))
    if row["key"] != tenancy.node_key(name):
        yield Finding("key", "task_record", name, row["key"], tenancy.node_key(name))


# Recheck what is stored, page by page: hashes, chains, transitions, links and counters. Repairs nothing.

# Records per transaction.
PAGE = 1_000
BEFORE_FIRST = -(2**63)


class Page(NamedTuple):
    """The result of checking a page of events: their number, findings, and the last one's time and key.

    ``after`` is None on the last page.
    """

    event_count: int
    findings: tuple[Finding, ...]
    after: tuple[int, str] | None


Check: TypeAlias = Callable[[list[str]], Plan[tuple[Finding, ...]]]


def verify(tenancy: Tenancy) -> Procedure[VerifyReport]:
    """Everything in the tenant that differs from what was recorded, read in small transactions.

    Concurrent writes may be seen half done: if writers were busy, verify again before acting on a finding.
    """
    findings = list((yield from read(lambda: _tenant(tenancy))))
    checked: Counter[str] = Counter()
    after: tuple[int, str] | None = (BEFORE_FIRST, "")
    while after is not None:
        page = yield from read(partial(_events, tenancy, after))
        checked["events"] += page.event_count
        findings += page.findings
        after = page.after
    keys = yield from read(lambda: _keys(tenancy))
    for kind, check in _checks(tenancy).items():
        checked[kind] = len(keys[kind])
        for first in range(0, len(keys[kind]), PAGE):
            findings += yield from read(partial(check, keys[kind][first : first + PAGE]))
    return VerifyReport(tenancy.tenant_id, checked, tuple(findings))


def _checks(tenancy: Tenancy) -> dict[str, Check]:
    """The check of a page of records, by kind."""
    return {
        "sessions": partial(_each, tenancy, "verify/sessions", _session_findings),
        "entities": partial(_each, tenancy, "verify/entities", _entity_findings),
        "memories": partial(_each, tenancy, "verify/memories", partial(_memory_findings, tenancy)),
        "artifacts": partial(_artifacts, tenancy),
        "conflicts": partial(_each, tenancy, "verify/conflicts", _conflict_findings),
        "task_records": partial(_each, tenancy, "verify/task_records", partial(_task_record_findings, tenancy)),
    }


def _keys(tenancy: Tenancy) -> Plan[dict[str, list[str]]]:
    rows = yield bind("verify/keys", tenant_id=tenancy.tenant_id)
    keys: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        keys[row["kind"]].append(row["key"])
    return keys


def _tenant(tenancy: Tenancy) -> Plan[tuple[Finding, ...]]:
    rows = yield bind("verify/tenant", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)
    return tuple(finding for row in rows for finding in _tenant_findings(tenancy.tenant_id, row))


def _each(
    tenancy: Tenancy, name: str, check: Callable[[Row], Iterable[Finding]], keys: list[str]
) -> Plan[tuple[Finding, ...]]:
    """The findings of a page of records, each checked by itself."""
    rows = yield bind(name, tenant_id=tenancy.tenant_id, keys=keys)
    return tuple(finding for row in rows for finding in check(row))


def _events(tenancy: Tenancy, after: tuple[int, str]) -> Plan[Page]:
    after_us, after_key = after
    rows = yield bind("verify/events", tenant_id=tenancy.tenant_id, after_us=after_us, after_key=after_key, limit=PAGE)
    findings = tuple(finding for row in rows for finding in _event_findings(row))
    return Page(len(rows), findings, (rows[-1]["time_us"], rows[-1]["key"]) if len(rows) == PAGE else None)


def _artifacts(tenancy: Tenancy, keys: list[str]) -> Plan[tuple[Finding, ...]]:
    rows = yield bind("verify/artifacts", tenant_id=tenancy.tenant_id, keys=keys)
    evidence = [evidence_keys(tenancy, row["artifact"]) for row in rows]
    present_rows = yield bind(
        "verify/present",
        tenant_id=tenancy.tenant_id,
        event_keys=sorted({key for events, _ in evidence for key in events}),
        memory_keys=sorted({key for _, memories in evidence for key in memories}),
    )
    present = {*present_rows[0]["events"], *present_rows[0]["memories"]}
    return tuple(finding for row in rows for finding in _artifact_findings(tenancy, row, present))
