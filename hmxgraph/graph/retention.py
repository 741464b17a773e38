"""Forgetting: selected events are erased page by page, and knowledge without other evidence is deprecated."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from hmxgraph.compiler.reconcile import COMPILER, FORGOTTEN, hashed_lineage
from hmxgraph.graph import _entities, memories
from hmxgraph.graph.artifacts import BLANK, deprecate
from hmxgraph.graph.compilations import LINEAGES
from hmxgraph.graph.conflicts import settle
from hmxgraph.graph.fingerprint_imports import import_event, withdraw
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, model_key, read, state, write
from hmxgraph.graph.records import stored_record
from hmxgraph.ingest.prepare import NAMING, named_user_key
from hmxgraph.protocol.canonical import canonical_text, indexable
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.protocol.reports import ErasedEvent, ForgetCriteria, ForgetReport
from hmxgraph.records.events import PLAIN_STATUSES, TASK_SESSION, digests_containing, erased_form

# Task records erased with their events: their text is removed, their place in task and thread stays.


class _ErasedRecords(NamedTuple):
    """The ids of the erased records, and the keys of the entities that nothing mentions any more."""

    records: tuple[str, ...]
    entities: tuple[str, ...]


def _reported_records(tenancy: Tenancy, event_keys: Sequence[str]) -> Plan[list[TaskRecord]]:
    """The records that these events report, without erased ones; their tasks are locked in the order of all writers."""
    rows = yield bind("tasks/lock_reported", tenant_id=tenancy.tenant_id, batch={"event_keys": list(event_keys)})
    return [stored_record(row) for row in rows]


def _erase_records(tenancy: Tenancy, records: Sequence[TaskRecord], at_us: int) -> Plan[_ErasedRecords]:
    """Erase *records*, with everything that only they state about tasks, runs and named things."""
    if not records:
        return _ErasedRecords((), ())
    documents = {tenancy.node_key(record.artifact_id): erased_form(record).to_json() for record in records}
    rows = yield bind(
        "tasks/erase",
        tenant_id=tenancy.tenant_id,
        batch={"keys": sorted(documents), "documents": documents},
        plain_statuses=list(PLAIN_STATUSES),
        at_us=at_us,
    )
    return _ErasedRecords(tuple(rows[0]["records"]), tuple(rows[0]["entities"]))


def _drop_digests(tenancy: Tenancy, records: Sequence[TaskRecord]) -> Plan[None]:
    """Delete the digests that may repeat *records*; the tenant is locked already."""
    if not records:
        return
    names = {name for record in records for name in digests_containing(record.task_id, record.project_id)}
    keys = sorted(tenancy.node_key(record.artifact_id) for record in records)
    batch = {"digest_keys": sorted(name.digest_key for name in names), "record_keys": keys}
    yield bind("tasks/drop_digests", tenant_id=tenancy.tenant_id, batch=batch)


def _drop_chosen_digests(tenancy: Tenancy, chosen: Row) -> Plan[None]:
    """Delete the digests that meet all given criteria: written in a session, by an agent, before a time."""
    if not (yield from state(tenancy))["state_version"]:  # nothing was ever stored: do not create the tenant
        return
    yield from bump(tenancy, 0)
    session_id = chosen["session_id"] or ""
    task_id = session_id.removeprefix(TASK_SESSION) if session_id.startswith(TASK_SESSION) else None
    criteria = {"session_id": chosen["session_id"], "task_id": task_id, "agent_id": chosen["agent_id"]}
    indexable_criteria = {name: value and indexable(value) for name, value in criteria.items()}
    batch = indexable_criteria | {"before_us": chosen["before_us"]}
    yield bind("tasks/drop_chosen_digests", tenant_id=tenancy.tenant_id, chosen=batch)


# Forgetting: each page of events is erased, and knowledge without other evidence deprecated, in one transaction.
#
# Compiled artifacts repeat the words of their sessions: they are blanked in the same commit, and the next compilation
# makes them again from what is left. Artifacts that people recorded keep their words.

# Events per transaction.
PAGE = 1_000
REASON = "all evidence was erased"
_BEFORE_ALL = (-(2**63), "")
# The fields of a report for what is lost, by kind.
_FIELDS = {
    "record": "records",
    "artifact": "artifacts",
    "memory": "memories",
    "relation": "relations",
    "entity": "entities",
}


@dataclass(slots=True)
class _Totals:
    """The totals of all pages."""

    events: dict[str, ErasedEvent] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)
    shared_sessions: list[str] = field(default_factory=list)
    lost_ids: dict[str, set[str]] = field(default_factory=dict)  # by kind

    def add(self, page: Sequence[Row]) -> None:
        self.events |= {row["key"]: ErasedEvent(row["event_id"], row["event_hash"]) for row in page}
        self.sessions |= {row["session_key"] for row in page}

    def lose(self, kind: str, ids: Iterable[str]) -> None:
        self.lost_ids.setdefault(kind, set()).update(ids)

    def report(self, tenancy: Tenancy, chosen: ForgetCriteria, *, dry_run: bool, remaining: int) -> ForgetReport:
        lost = {name: tuple(sorted(self.lost_ids.get(kind, ()))) for kind, name in _FIELDS.items()}
        return ForgetReport(
            tenancy.tenant_id,
            chosen.criteria,
            dry_run,
            tuple(self.events.values()),
            len(self.sessions),
            tuple(sorted(self.shared_sessions)),
            remaining=remaining,
            **lost,
        )


def forget(tenancy: Tenancy, chosen: ForgetCriteria, *, dry_run: bool = False) -> Procedure[ForgetReport]:
    """Erase the selected events, 1,000 per transaction, and report them with everything that is lost with them.

    Memories, entities, relations and artifacts without other evidence are deprecated; artifacts compiled from the
    sessions of these events are deprecated and blanked, whatever evidence remains.

    An erased event keeps its key, ids, hash, type and place in the session, so that ingesting it again is a duplicate.
    Task records reported by erased events are erased, too, and digests that may contain them are deleted. An import
    selected by its fingerprint is withdrawn. A dry run writes nothing and reports what would be erased.
    """
    totals = _Totals()
    criteria = yield from read(partial(_criteria, tenancy, chosen))
    if dry_run:
        yield from _preview(tenancy, criteria, totals)
        yield from _find_shared_sessions(tenancy, criteria, totals)
        return totals.report(tenancy, chosen, dry_run=True, remaining=len(totals.events))
    after = _BEFORE_ALL
    while page := (yield from read(partial(_page, tenancy, criteria, after))):
        totals.add(page)
        lost = yield from write(partial(_erase, tenancy, page, chosen.fingerprint))
        for kind, ids in lost.items():
            totals.lose(kind, ids)
        after = _end(page)
    fingerprint_only = chosen.criteria.keys() <= {"fingerprint", "now_us"}
    if chosen.fingerprint is not None and fingerprint_only and not totals.events:  # its event was erased before
        withdrawn = yield from write(partial(withdraw, tenancy, chosen.fingerprint))
        totals.lose("artifact", withdrawn.deprecated_ids)
    yield from write(partial(_unlearn, tenancy))
    yield from _drop_matching_digests(tenancy, chosen, criteria)
    yield from _find_shared_sessions(tenancy, criteria, totals)
    left = yield from _remaining(tenancy, criteria)
    return totals.report(tenancy, chosen, dry_run=False, remaining=left)


def _preview(tenancy: Tenancy, criteria: Row, totals: _Totals) -> Procedure[None]:
    """Add to *totals* the events that would be erased, and the knowledge that would be lost with them."""
    after = _BEFORE_ALL
    chosen_evidence: Counter[tuple[str, str]] = Counter()
    while page := (yield from read(partial(_page, tenancy, criteria, after))):
        totals.add(page)
        compiled = yield from read(partial(_compiled_from, tenancy, page))
        totals.lose("artifact", _living_ids(compiled))
        for row in (yield from read(partial(_dependents, tenancy, page))):
            chosen_evidence[row["kind"], row["id"]] += row["chosen"]
            if chosen_evidence[row["kind"], row["id"]] == row["live"]:
                totals.lose(row["kind"], [row["id"]])
        after = _end(page)


def _find_shared_sessions(tenancy: Tenancy, criteria: Row, totals: _Totals) -> Procedure[None]:
    """If a user's events are selected, add to *totals* the sessions of these events in which others spoke as well."""
    if criteria["naming"] is None:
        return
    keys = sorted(totals.sessions)
    for start in range(0, len(keys), PAGE):
        batch = {"session_keys": keys[start : start + PAGE]}
        plan = partial(_shared_sessions, tenancy, batch, criteria["naming"])
        totals.shared_sessions += yield from read(plan)


def _shared_sessions(tenancy: Tenancy, batch: Row, names: Sequence[str]) -> Plan[list[str]]:
    rows = yield bind("retention/shared_sessions", tenant_id=tenancy.tenant_id, batch=batch, naming=list(names))
    return [row["session_id"] for row in rows]


def _remaining(tenancy: Tenancy, criteria: Row) -> Procedure[int]:
    """Number of selected events with content, counted page by page."""
    count = 0
    after = _BEFORE_ALL
    while page := (yield from read(partial(_page, tenancy, criteria, after))):
        count += len(page)
        after = _end(page)
    return count


def _page(tenancy: Tenancy, criteria: Row, after: tuple[int, str]) -> Plan[list[Row]]:
    rows = yield bind(
        _selection(criteria),
        tenant_id=tenancy.tenant_id,
        chosen=criteria,
        after=after[0],
        after_key=after[1],
        limit=PAGE,
    )
    return rows


def _selection(criteria: Row) -> str:
    """The statement that reads the least for these criteria."""
    if criteria["event_keys"] is not None:
        return "retention/select_events"
    if criteria["session_key"] is not None:
        return "retention/select_session"
    if criteria["user_keys"] is not None:
        return "retention/select_user"
    return "retention/select" if criteria["expired_us"] is None else "retention/select_expired"


def _end(page: Sequence[Row]) -> tuple[int, str]:
    """The position after which the next page starts."""
    return page[-1]["place"], page[-1]["key"]


def _criteria(tenancy: Tenancy, chosen: ForgetCriteria) -> Plan[Row]:
    """The criteria as parameters; ages are measured from the logical time, or ``now_us`` if that is later."""
    event_keys = None if chosen.event_ids is None else [tenancy.node_key(name) for name in chosen.event_ids]
    if chosen.fingerprint is not None:
        imported = yield from import_event(tenancy, chosen.fingerprint)
        event_keys = [imported] if event_keys is None or imported in event_keys else []
    now_us = max((yield from state(tenancy))["logical_us"] or 0, chosen.now_us or 0)
    before = [chosen.before_us, None if chosen.older_than_us is None else now_us - chosen.older_than_us]
    return {
        "event_keys": event_keys,
        "session_key": None if chosen.session_id is None else tenancy.node_key(chosen.session_id),
        "agent_id": chosen.agent_id,
        "source": chosen.source,
        "naming": None if chosen.user_id is None else list(naming(chosen.user_id)),
        "user_keys": None if chosen.user_id is None else _user_keys(tenancy, chosen.user_id),
        "before_us": min((time_us for time_us in before if time_us is not None), default=None),
        "expired_us": now_us if chosen.expired else None,
    }


def _user_keys(tenancy: Tenancy, user_id: str) -> list[str]:
    """The key of events that name the user, and the key of events that name too many users to index each."""
    return [named_user_key(tenancy.tenant_id, user_id), tenancy.scope]


def naming(user_id: str) -> Iterator[str]:
    """The strings to look for in an event's JSON, in lower case: an event that contains one names the user *user_id*.

    >>> next(naming("Ann"))
    '"user_id":"ann"'
    """
    value = canonical_text(user_id)
    yield from (f'"{name}":{value}'.lower() for name in NAMING)


def _dependents(tenancy: Tenancy, page: Sequence[Row]) -> Plan[list[Row]]:
    rows = yield bind("retention/dependents", batch={"event_keys": _keys(page)}, **_compiler_parameters(tenancy))
    return rows


def _compiled_from(tenancy: Tenancy, page: Sequence[Row]) -> Plan[list[Row]]:
    """Artifacts compiled from the sessions of a page, with the other versions of their chains."""
    session_keys = [session["key"] for session in _sessions(page)]
    rows = yield bind("retention/compiled_from", batch={"session_keys": session_keys}, **_compiler_parameters(tenancy))
    return rows


def _compiler_parameters(tenancy: Tenancy) -> Row:
    """The parameters that distinguish compiled artifacts from those that people recorded."""
    return {"tenant_id": tenancy.tenant_id, "compiler": COMPILER, "lineages": LINEAGES}


def _living_ids(compiled: Sequence[Row]) -> list[str]:
    return [row["artifact_id"] for row in compiled if row["living"]]


def _erase(tenancy: Tenancy, page: Sequence[Row], fingerprint: str | None) -> Plan[dict[str, list[str]]]:
    """Erase a page, and withdraw the import of *fingerprint*, if given; return the ids of what was lost, by kind."""
    yield bind("retention/lock_compiler", tenant_id=tenancy.tenant_id, model_key=model_key(tenancy))
    tenant = yield from state(tenancy)
    records = yield from _reported_records(tenancy, _keys(page))
    sessions = _sessions(page)
    yield bind("retention/lock_sessions", tenant_id=tenancy.tenant_id, batch={"sessions": sessions})
    erased = yield bind("retention/erase", tenant_id=tenancy.tenant_id, batch={"event_keys": _keys(page)})
    keys = _keys(erased)
    yield bind("retention/lock_entities", tenant_id=tenancy.tenant_id, batch={"event_keys": keys})
    erases_latest = any(row["time_us"] >= tenant["logical_us"] for row in page)
    at_us = (yield from _latest(tenancy)) if erases_latest else tenant["logical_us"]
    erased_records = yield from _erase_records(tenancy, records, at_us)
    lost = yield from _forget_knowledge(tenancy, keys, at_us)
    lost["record"] = list(erased_records.records)
    lost["entity"] += erased_records.entities
    lost["artifact"] = yield from _forget_artifacts(tenancy, page, keys, at_us)
    version = yield from bump(tenancy, at_us)
    if erases_latest:
        yield from _rewind(tenancy)
    session_keys = [session["key"] for session in sessions]
    yield bind(
        "retention/stamp",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        version=version,
        batch={"session_keys": session_keys},
    )
    yield from _drop_digests(tenancy, records)
    if fingerprint is not None:
        lost["artifact"] += (yield from withdraw(tenancy, fingerprint)).deprecated_ids
    return lost


def _latest(tenancy: Tenancy) -> Plan[int]:
    """The latest time that is left, as defined in ``retention/latest``; 0 if there is none."""
    rows = yield bind("retention/latest", tenant_id=tenancy.tenant_id)
    latest_us: int | None = rows[0]["latest_us"]
    return latest_us or 0


def _rewind(tenancy: Tenancy) -> Plan[None]:
    """Set the logical clock back to the latest time left; the tenant is locked already."""
    latest_us = yield from _latest(tenancy)
    yield bind("retention/rewind", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, latest_us=latest_us)


def _drop_matching_digests(tenancy: Tenancy, chosen: ForgetCriteria, criteria: Row) -> Procedure[None]:
    """Delete the digests that meet the criteria; none if a criterion applies only to events, such as their source."""
    event_criteria = (chosen.event_ids, chosen.source, chosen.user_id, chosen.fingerprint)
    if chosen.expired or any(criterion is not None for criterion in event_criteria):
        return
    shared = {"session_id": chosen.session_id, "agent_id": chosen.agent_id, "before_us": criteria["before_us"]}
    yield from write(partial(_drop_chosen_digests, tenancy, shared))


def _unlearn(tenancy: Tenancy) -> Plan[None]:
    """Delete the compiler's model if no event is left to build it from; otherwise the next compilation rebuilds it."""
    yield bind("retention/drop_model", tenant_id=tenancy.tenant_id, model_key=model_key(tenancy))


def _forget_knowledge(tenancy: Tenancy, event_keys: list[str], at_us: int) -> Plan[dict[str, list[str]]]:
    """Deprecate memories, entities and relations without other evidence, and return their ids by kind.

    Memories come first, so that entities that only they mention lose their names.
    """
    memory_ids = yield from memories.forget(tenancy, event_keys, at_us)
    forgotten = yield from _entities.forget(tenancy, event_keys, at_us)
    return {"memory": memory_ids, "entity": list(forgotten.entities), "relation": list(forgotten.relations)}


def _sessions(page: Sequence[Row]) -> list[Row]:
    orders: dict[str, list[list[int]]] = {}
    for row in page:
        orders.setdefault(row["session_key"], []).append([row["sequence"], row["time_us"]])
    return [{"key": key, "orders": orders[key]} for key in sorted(orders)]


def _forget_artifacts(tenancy: Tenancy, page: Sequence[Row], event_keys: list[str], at_us: int) -> Plan[list[str]]:
    """Deprecate and blank the artifacts compiled from the sessions of *page*, and deprecate others without evidence.

    Return the ids of those that were drafts or active until then.
    """
    evidenced = yield bind("retention/artifacts_of", tenant_id=tenancy.tenant_id, batch={"event_keys": event_keys})
    compiled = yield from _compiled_from(tenancy, page)
    keys = sorted({row["key"] for row in (*evidenced, *compiled)})
    if not keys:
        return []
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=keys)
    citing = [row["key"] for row in compiled if row["cites_session"]]
    yield from deprecate(tenancy, citing, FORGOTTEN, at_us)
    yield from _blank(tenancy, compiled)
    rows = yield bind("retention/unsupported", tenant_id=tenancy.tenant_id, batch={"artifact_keys": keys})
    unsupported = [row["key"] for row in rows]
    yield from deprecate(tenancy, unsupported, REASON, at_us)
    yield from settle(tenancy, citing + unsupported, at_us)
    yield bind("retention/blank_conflicts", tenant_id=tenancy.tenant_id, batch={"artifact_keys": citing + unsupported})
    return [*_living_ids(compiled), *(row["artifact_id"] for row in rows)]


def _blank(tenancy: Tenancy, compiled: Sequence[Row]) -> Plan[None]:
    """Blank the compiled artifacts that cite the sessions, and hash the words in the lineage keys of all versions."""
    rows = [
        {"key": row["key"], "cites_session": row["cites_session"], "lineage_key": hashed_lineage(row["lineage_key"])}
        for row in compiled
        if row["lineage_key"].startswith(LINEAGES)
    ]
    if rows:
        yield bind(
            "retention/blank_artifacts", tenant_id=tenancy.tenant_id, batch={"artifacts": rows}, blank=dict(BLANK)
        )


def _keys(page: Sequence[Row]) -> list[str]:
    return [row["key"] for row in page]
