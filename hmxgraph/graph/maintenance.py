"""Maintenance of the memory: statistics, refreshed digests, and clean-up that can be previewed."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from hmxgraph.errors import UnknownChoice
from hmxgraph.graph.metering import Meter
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, ask, bind, bump, read, state, write
from hmxgraph.graph.record_digests import refresh
from hmxgraph.graph.records import task_key, write_fields
from hmxgraph.protocol.canonical import indexable
from hmxgraph.protocol.memories import DreamReport, Report
from hmxgraph.protocol.parsing import checked_integer
from hmxgraph.protocol.records import DIGEST_ROLES, MODES
from hmxgraph.records.digests import WIDE_ROLES, DigestName, digest_name, mode_of
from hmxgraph.records.maintenance import BLOCKED, DigestState, Dream, dream

# The task that maintenance reports belong to.
TASK = "memory-maintenance"
GOAL = "Keep the memory tidy"
_FOLLOWUP = "dream again when work has been recorded"
# Fields that the caller decides, such as times: those of the record that starts the task, and those of the report.
Drafts = tuple[Mapping[str, Any], Mapping[str, Any]]


def stats(tenancy: Tenancy, project_id: str | None) -> Procedure[Report]:
    """Counts by kind: of memories in force and of all others (``deleted``), of visible and of hidden task records.

    The memd specification, which defines the names of the fields, calls memories chunks.
    """
    return (yield from read(lambda: _stats(tenancy, project_id)))


def health(
    tenancy: Tenancy, project_id: str | None, *, include_examples: bool, duplicate_limit: int, meter: Meter
) -> Procedure[Report]:
    """Duplicates, index coverage, sizes, latencies; *duplicate_limit* limits the examples, not the counts.

    Raises:
        InvalidRequest: *duplicate_limit* is not a whole number, or below 0.

    """
    checked_integer("duplicate_limit", duplicate_limit, "a number of examples", 0)
    measurements = yield from read(lambda: _health(tenancy, project_id, duplicate_limit if include_examples else 0))
    scope: dict[str, Any] = {"tenant_id": tenancy.tenant_id, "project_id": project_id, "aliases": []}
    return Report({"scope": scope} | measurements | {"latency_ms": meter.latencies()})


def metrics(tenancy: Tenancy, meter: Meter) -> Procedure[Report]:
    """Latencies, tokens and rejections counted by *meter*, indexes that are not online, and the number of events."""
    offline = yield from read(lambda: ask(bind("health/indexes_not_online")))
    tenant = yield from read(lambda: state(tenancy))
    return Report(
        {
            "latency_ms": meter.latencies(),
            "token_usage": meter.token_usage(),
            "rejections": dict(sorted(meter.rejections.items())),
            "index": {"offline": [dict(row) for row in offline], "events": tenant["event_count"]},
            "cache": {"tiers": [], "reason": "the database's page cache is the only one"},
        }
    )


def compact(
    tenancy: Tenancy, project_id: str | None, digest_modes: Sequence[str] | None, *, force: bool
) -> Procedure[Report]:
    """Refresh the digests of a project or tenant: those that *digest_modes* (modes or roles) names, by default all.

    The default leaves out the digests of single tasks.

    Raises:
        UnknownChoice: no such mode or role.

    """
    roles = WIDE_ROLES if digest_modes is None else tuple(_role(name) for name in digest_modes)
    names = [digest_name(role, project_id=project_id) for role in roles]
    digests = yield from refresh(tenancy, names, force=force)
    return Report({"digests": [view.document() for view in digests]})


def dream_of(tenancy: Tenancy, project_id: str | None, *, dry_run: bool, drafts: Drafts) -> Procedure[DreamReport]:
    """Do the maintenance that is due, or only list it with *dry_run*; a second run changes nothing.

    *drafts* are the fields that the caller decides of the records to be written: the start of the maintenance task, and
    the report.
    """
    maintenance, at_us, has_task = yield from read(lambda: _dream(tenancy, project_id))
    reported = tuple(dict(finding) for finding in maintenance.reported)
    if dry_run or maintenance.idle:
        return DreamReport(dry_run, tuple(maintenance.actions()), reported, BLOCKED)
    if maintenance.retire:
        yield from write(partial(_retire, tenancy, [finding.key for finding in maintenance.retire], at_us))
    yield from refresh(tenancy, maintenance.refresh, force=False)
    report_id = yield from _report(tenancy, maintenance, drafts, has_task=has_task)
    return DreamReport(dry_run, tuple(maintenance.actions()), reported, BLOCKED, report_id)


def _stats(tenancy: Tenancy, project_id: str | None) -> Plan[Report]:
    memories = yield bind("memory_operations/stats", tenant_id=tenancy.tenant_id, project_id=project_id)
    records = yield bind("memory_operations/record_stats", **_of_records(tenancy, project_id))
    active = {row["kind"]: row["active"] for row in memories}
    deleted = {row["kind"]: row["deleted"] for row in memories}
    return Report(
        {
            "active_chunks": sum(active.values()),
            "deleted_chunks": sum(deleted.values()),
            "total_chunks": sum(active.values()) + sum(deleted.values()),
            "active_by_type": active,
            "deleted_by_type": deleted,
            "all_by_type": {kind: active[kind] + deleted[kind] for kind in active},
            "records": {row["kind"]: {"active": row["active"], "hidden": row["hidden"]} for row in records},
        }
    )


def _health(tenancy: Tenancy, project_id: str | None, examples: int) -> Plan[dict[str, Any]]:
    where = {"tenant_id": tenancy.tenant_id, "project_id": project_id}
    groups = yield bind("memory_operations/duplicates", **where)
    records = yield bind("memory_operations/duplicate_records", **_of_records(tenancy, project_id))
    sizes = yield bind("memory_operations/payloads", **where)
    payloads = dict(sizes[0])
    coverage = {"searchable": payloads.pop("searchable"), "total": payloads.pop("total")}
    return {
        "duplicates": _duplicates(groups, "memory_ids", examples),
        "duplicate_records": _duplicates(records, "artifact_ids", examples),
        "index_coverage": coverage,
        "payload_characters": payloads,
    }


def _of_records(tenancy: Tenancy, project_id: str | None) -> dict[str, str | None]:
    """The parameters that select the records of a project; a long project id is shortened as in the index."""
    return {"tenant_id": tenancy.tenant_id, "project_id": None if project_id is None else indexable(project_id)}


def _duplicates(groups: Sequence[Row], ids: str, examples: int) -> dict[str, Any]:
    surplus = [(len(row[ids]) - 1, len(row["text"].encode())) for row in groups]
    statistics: dict[str, Any] = {
        "groups": len(groups),
        "rows": sum(len(row[ids]) for row in groups),
        "bytes": sum(copies * size for copies, size in surplus),
    }
    return statistics | ({"examples": [dict(row) for row in groups[:examples]]} if examples else {})


def _role(name: str) -> str:
    """The digest role called *name*, or the role of the mode called *name*."""
    if name in DIGEST_ROLES:
        return name
    if name not in MODES or (role := mode_of(name).role) is None:
        raise UnknownChoice("digest mode", name, (*MODES[1:], *DIGEST_ROLES))
    return role


def _dream(tenancy: Tenancy, project_id: str | None) -> Plan[tuple[Dream, int, bool]]:
    where = {"tenant_id": tenancy.tenant_id, "project_id": project_id}
    tenant = yield from state(tenancy)
    now_us: int = tenant["logical_us"] or 0
    digests = yield bind("memory_operations/digests", **_of_records(tenancy, project_id))
    memories = yield bind("memory_operations/duplicates", **where)
    records = yield bind("memory_operations/duplicate_records", **_of_records(tenancy, project_id))
    expired = yield bind("memory_operations/expired", **where, at_us=now_us)
    task_rows = yield bind("tasks/get", tenant_id=tenancy.tenant_id, task_key=task_key(tenancy, TASK))
    reported = [
        *({"finding": "duplicate_memory", "ids": row["memory_ids"]} for row in memories),
        *({"finding": "duplicate_record", "ids": row["artifact_ids"]} for row in records),
        *({"finding": "expired_memory", "ids": [row["memory_id"]]} for row in expired),
    ]
    return dream(tenancy.tenant_id, [_digest_state(row) for row in digests], reported), now_us, bool(task_rows)


def _digest_state(row: Row) -> DigestState:
    role, _, scope = (row["digest_key"] or "").partition(":")
    name = DigestName(row["artifact_role"], scope if role == row["artifact_role"] else row["scope_id"])
    return DigestState(row["key"], row["artifact_id"], name, row["stale"], row["source_updated_at_ms"])


def _retire(tenancy: Tenancy, keys: Sequence[str], at_us: int) -> Plan[None]:
    batch = {"keys": sorted(keys)}
    rows = yield bind("memory_operations/retire", tenant_id=tenancy.tenant_id, batch=batch, at_us=at_us)
    if rows:
        yield from bump(tenancy, at_us)


def _report(tenancy: Tenancy, maintenance: Dream, drafts: Drafts, *, has_task: bool) -> Procedure[str]:
    """Write the report on what was done, with links to the digests concerned, and return its id."""
    start, report = drafts
    if not has_task:
        yield from write_fields(tenancy, {**start, "task_id": TASK, "goal": GOAL, "artifact_role": "maintenance"})
    digest_ids = {digest.artifact_id for digest in maintenance.retire}
    digest_ids |= {name.artifact_id(tenancy.tenant_id) for name in maintenance.refresh}
    words = f"Retired {len(maintenance.retire)} duplicate digests, refreshed {len(maintenance.refresh)} stale ones"
    outcome_fields = {
        "summary": words,
        "artifact_role": "dream_report",
        "related_artifact_ids": sorted(digest_ids),
        "followups": [_FOLLOWUP],
    }
    outputs = _lines(maintenance)
    receipt = yield from write_fields(tenancy, {**report, **outcome_fields, "task_id": TASK, "outputs": outputs})
    return receipt.artifact_id


def _lines(maintenance: Dream) -> list[str]:
    return [" ".join(str(part) for part in action.values()) for action in maintenance.actions()]
