"""Tasks as a whole: resumes, digests and libraries of records."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

from hmxgraph.errors import NotFound
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, read, write
from hmxgraph.graph.record_search import MOST_HITS, SearchCriteria, checked_limit, hits_of, keys_of, search_of
from hmxgraph.graph.records import LONGEST_THREAD, facet_rows, record_properties, task_key, views
from hmxgraph.protocol.canonical import indexable
from hmxgraph.protocol.parsing import checked_text
from hmxgraph.protocol.record_results import Library, RecordView, Resume, TaskEntry, TaskView
from hmxgraph.protocol.timestamps import iso
from hmxgraph.records.digests import DigestName, belongs, compose, digest_name, entries, source_facets
from hmxgraph.records.handoff import account
from hmxgraph.records.search import facet
from hmxgraph.records.trust import agent_key
from hmxgraph.text.terms import counter

# A task as the next agent sees it.


def _resume_of(task_id: str, digest: RecordView | None, records: Sequence[RecordView]) -> Resume:
    """The resume made from the task's records, with the stored *digest*."""
    task_account = account(records)
    return Resume(
        **{field.name: getattr(task_account, field.name) for field in fields(task_account)},
        task_id=task_id,
        sources=tuple(view.artifact_id for view in records),
        verified=tuple(view.artifact_id for view in records if view.trust_tier == "verified_record"),
        digest=digest,
        source_updated_at_ms=digest.record.source_updated_at_ms if digest else None,
    )


def _task_view(row: Row, records: Sequence[RecordView]) -> TaskView:
    """The task in a row of ``tasks/get``."""
    task = row["task"]
    names = ("goal", "project_id", "thread_id", "agent_id", "assignee", "record_count")
    properties = {name: task[name] for name in names if name in task} | _times(task)
    runs = sorted(row["runs"], key=lambda run: (run["started_us"], run["run_id"]))
    return TaskView(
        task["task_id"],
        task["status"],
        properties,
        tuple(_run(run) for run in runs),
        tuple(records),
        row["parent_task_id"],
    )


def _run(run: Row) -> dict[str, Any]:
    names = ("run_id", "status", "tool_name", "command", "agent_id")
    return {name: run[name] for name in names if name in run} | _times(run)


_TIMES = {
    "started_us": "started_at",
    "finished_us": "finished_at",
    "updated_us": "updated_at",
    "lease_until_us": "lease_until",
}


def _times(node: Row) -> dict[str, str]:
    return {shown: iso(node[stored]) for stored, shown in _TIMES.items() if stored in node}


# Digests: records with a stable id, composed again when they are read after a source has changed.

# A digest is made from at most this many records, the newest.
_MOST_SOURCES = 500


def digest(tenancy: Tenancy, name: DigestName, *, force: bool = False) -> Procedure[RecordView | None]:
    """The up-to-date digest *name*: composed now if stale or missing, or on *force*; None if it would be empty."""
    key = _key(tenancy, name)
    stored_digests = yield from read(lambda: views(tenancy, [key]))
    if stored_digests and not stored_digests[0].stale and not force:
        return stored_digests[0]
    yield from write(partial(_refresh, tenancy, name))
    stored_digests = yield from read(lambda: views(tenancy, [key]))
    return stored_digests[0] if stored_digests else None


def refresh(tenancy: Tenancy, names: Sequence[DigestName], *, force: bool) -> Procedure[tuple[RecordView, ...]]:
    """The up-to-date digests *names*, without those that would be empty."""
    digests: list[RecordView] = []
    for name in names:
        view = yield from digest(tenancy, name, force=force)
        if view is not None:
            digests.append(view)
    return tuple(digests)


def sources(tenancy: Tenancy, name: DigestName) -> Plan[tuple[RecordView, ...]]:
    """The newest records that a digest may draw on, oldest first; superseded and erased ones are left out."""
    keys = yield from (_of_task(tenancy, name.scope) if name.role == "task_resume" else _wide(tenancy, name))
    return (yield from views(tenancy, keys))


def _refresh(tenancy: Tenancy, name: DigestName) -> Plan[None]:
    """Compose the digest under the locks that writers of its sources take, in the same order: task (if any), tenant."""
    task = task_key(tenancy, name.scope) if name.role == "task_resume" else ""
    yield bind("tasks/lock", tenant_id=tenancy.tenant_id, batch={"task_keys": [task]})
    yield from bump(tenancy, 0)
    records = yield from sources(tenancy, name)
    composed = compose(name, tenancy.tenant_id, records)
    if composed is None:
        yield bind("tasks/drop_digest", tenant_id=tenancy.tenant_id, key=_key(tenancy, name))
        return
    properties = record_properties(tenancy, composed, 0, counter())
    source_keys = [tenancy.node_key(source_id) for source_id in composed.related_artifact_ids or ()]
    # Link only kind and role, so that an index lookup by another facet, such as the project, returns no digest.
    facets = [
        row for row in facet_rows(tenancy, composed) if row["properties"]["name"] in {"artifact_kind", "artifact_role"}
    ]
    batch = {"digest": properties, "source_keys": sorted(source_keys), "facets": facets}
    yield bind("tasks/compose_digest", tenant_id=tenancy.tenant_id, task_key=task, batch=batch)


def _of_task(tenancy: Tenancy, task_id: str) -> Plan[list[str]]:
    rows = yield bind(
        "tasks/of_task",
        tenant_id=tenancy.tenant_id,
        task_id=indexable(task_id),
        include_hidden=False,
        limit=_MOST_SOURCES,
    )
    return [row["key"] for row in rows]


def _wide(tenancy: Tenancy, name: DigestName) -> Plan[list[str]]:
    """The keys of the sources of a digest about a project or the whole tenant, oldest first."""
    project = (facet("project_id", name.project_id),) if name.project_id else ()
    keys = yield from keys_of(
        tenancy, SearchCriteria(facets=project, any_facets=source_facets(name.role), limit=_MOST_SOURCES)
    )
    return keys[::-1]


def _key(tenancy: Tenancy, name: DigestName) -> str:
    return tenancy.node_key(name.artifact_id(tenancy.tenant_id))


# Libraries of failures, decisions, evidence and highlights: records, their digest, and compiled artifacts.

# Maximum number of compiled artifacts shown with a library.
_MOST_COMPILED = 10
# Types of the compiled artifacts that are shown with each library.
_COMPILED_TYPES: Mapping[str, tuple[str, ...]] = {
    "failure_library": ("failure_playbook",),
    "decision_library": ("decision_policy",),
    "evidence_library": ("causal_pattern",),
    "highlight_library": ("strategy_template", "task_schema"),
}


def library(
    tenancy: Tenancy, role: str, query: str = "", *, project_id: str | None = None, limit: int = 20
) -> Procedure[Library]:
    """The entries of a library (with *query*, only those that match), its up-to-date digest, and compiled artifacts.

    Without *query*, the digest shows the first entries of the same list, in the same order.

    Raises:
        InvalidRequest: the query or the project is not text, or *limit* is outside 1..500.

    """
    criteria = search_of(query, {"project_id": project_id}, limit=limit)
    name = digest_name(role, project_id=project_id)
    view = yield from digest(tenancy, name)
    entry_criteria = replace(criteria, any_facets=source_facets(role), limit=MOST_HITS)
    matching, compiled = yield from read(lambda: _library(tenancy, name, entry_criteria))
    return Library(role, matching[:limit], view, tuple(compiled))


def _library(
    tenancy: Tenancy, name: DigestName, criteria: SearchCriteria
) -> Plan[tuple[tuple[RecordView, ...], list[Row]]]:
    if criteria.query.strip():
        hits = yield from hits_of(tenancy, criteria)
        library_entries = [hit.view for hit in hits if belongs(name.role, hit.view)]
    else:
        library_entries = entries(name.role, (yield from sources(tenancy, name)))
    types = list(_COMPILED_TYPES.get(name.role, ()))
    compiled = yield bind("tasks/compiled", tenant_id=tenancy.tenant_id, batch={"types": types}, limit=_MOST_COMPILED)
    return tuple(library_entries), compiled


# A task with its runs and records, and what the next agent needs to continue it.


def task(tenancy: Tenancy, task_id: str) -> Procedure[TaskView]:
    """The task with its runs and its latest records, oldest first; hidden records are included, digests are not.

    Raises:
        NotFound: there is no such task.
        InvalidRequest: an id that is not valid text.

    """
    checked_text("task_id", task_id)
    return (yield from read(lambda: _task(tenancy, task_id)))


def board(
    tenancy: Tenancy, filters: Mapping[str, str | None], *, at_us: int, limit: int
) -> Procedure[tuple[TaskEntry, ...]]:
    """The tasks that meet *filters* (project, status, assignee), the last changed first.

    An assignee holds a task until the lease, if there is one, ends: *at_us* decides which leases have ended.

    Raises:
        InvalidRequest: a value that is not valid text, or a limit outside 1..500.

    """
    checked_limit(limit)
    criteria = {name: None if value is None else checked_text(name, value) for name, value in filters.items()}
    criteria["assignee"] = agent_key(criteria["assignee"])
    return (yield from read(lambda: _board(tenancy, criteria, at_us, limit)))


def resume(tenancy: Tenancy, task_id: str) -> Procedure[Resume]:
    """The account of a task for the next agent: summary, blockers, successes, failures, follow-ups, runs, sources.

    The task's digest is refreshed first if it is stale.

    Raises:
        NotFound: there is no such task.
        InvalidRequest: an id that is not valid text.

    """
    name = DigestName("task_resume", checked_text("task_id", task_id))
    yield from read(lambda: _started(tenancy, task_id))
    view = yield from digest(tenancy, name)
    records = yield from read(lambda: sources(tenancy, name))
    return _resume_of(task_id, view, records)


def _started(tenancy: Tenancy, task_id: str) -> Plan[Row]:
    """The row of ``tasks/get`` for a task that has started; a task that was only named as a parent has not.

    Raises:
        NotFound: there is no such task.

    """
    rows = yield bind("tasks/get", tenant_id=tenancy.tenant_id, task_key=task_key(tenancy, task_id))
    if not rows or rows[0]["task"].get("status") is None:
        raise NotFound("task", task_id, tenancy.tenant_id)
    return rows[0]


def _task(tenancy: Tenancy, task_id: str) -> Plan[TaskView]:
    started = yield from _started(tenancy, task_id)
    keys = yield bind(
        "tasks/of_task",
        tenant_id=tenancy.tenant_id,
        task_id=indexable(task_id),
        include_hidden=True,
        limit=LONGEST_THREAD,
    )
    return _task_view(started, (yield from views(tenancy, [row["key"] for row in keys])))


def _board(tenancy: Tenancy, criteria: Mapping[str, str | None], at_us: int, limit: int) -> Plan[tuple[TaskEntry, ...]]:
    rows = yield bind("tasks/list", tenant_id=tenancy.tenant_id, chosen=dict(criteria), at_us=at_us, limit=limit)
    return tuple(_entry(row["task"], at_us) for row in rows)


def _entry(task: Row, at_us: int) -> TaskEntry:
    lease_us = task.get("lease_until_us")
    lease_valid = lease_us is None or lease_us > at_us
    times = _times(task)
    return TaskEntry(
        task["task_id"],
        task["status"],
        task.get("goal", ""),
        task.get("project_id"),
        task.get("assignee") if lease_valid else None,
        iso(lease_us) if lease_us is not None and lease_valid else None,
        task.get("record_count", 0),
        times.get("started_at"),
        times.get("updated_at"),
    )
