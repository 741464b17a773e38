"""Task records forgotten with the events that tell them: their text goes, their place in task and thread stays."""

from collections.abc import Sequence
from typing import NamedTuple

from hmxgraph.graph.plan import Plan, Row
from hmxgraph.graph.plans.tenants import bump
from hmxgraph.graph.rows.tasks.records import stored_record
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import indexable
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.erasing import PLAIN_STATUSES, digests_telling, place_of
from hmxgraph.tasks.events import TASK_SESSION


class ErasedRecords(NamedTuple):
    """The ids of the records that were erased, and the keys of the entities that nothing mentions any more."""

    records: tuple[str, ...]
    entities: tuple[str, ...]


def told(tenancy: Tenancy, event_keys: Sequence[str]) -> Plan[list[TaskRecord]]:
    """The records that these events tell, their tasks locked: the first locks of all that a writer takes."""
    rows = yield bind("tasks/lock_told", tenant_id=tenancy.tenant_id, batch={"event_keys": list(event_keys)})
    return [stored_record(row) for row in rows]


def erase(tenancy: Tenancy, records: Sequence[TaskRecord], at_us: int) -> Plan[ErasedRecords]:
    """*records* erased, with what only they told of tasks, runs, data sets, contributors and entities."""
    if not records:
        return ErasedRecords((), ())
    documents = {tenancy.node_key(record.artifact_id): place_of(record).to_json() for record in records}
    found = yield bind(
        "tasks/erase",
        tenant_id=tenancy.tenant_id,
        batch={"keys": sorted(documents), "documents": documents},
        plain_statuses=list(PLAIN_STATUSES),
        at_us=at_us,
    )
    return ErasedRecords(tuple(found[0]["records"]), tuple(found[0]["entities"]))


def drop_digests(tenancy: Tenancy, records: Sequence[TaskRecord]) -> Plan[None]:
    """Delete the digests that may tell of *records*; the tenant is locked before."""
    if not records:
        return
    names = {name for record in records for name in digests_telling(record.task_id, record.project_id)}
    keys = sorted(tenancy.node_key(record.artifact_id) for record in records)
    batch = {"digest_keys": sorted(name.digest_key for name in names), "record_keys": keys}
    yield bind("tasks/drop_digests", tenant_id=tenancy.tenant_id, batch=batch)


def drop_chosen_digests(tenancy: Tenancy, chosen: Row, at_us: int) -> Plan[None]:
    """Delete the digests that were written in a session, by an agent, or before a time."""
    yield from bump(tenancy, at_us)
    session_id = chosen["session_id"] or ""
    task_id = session_id.removeprefix(TASK_SESSION) if session_id.startswith(TASK_SESSION) else None
    found = {"session_id": chosen["session_id"], "task_id": task_id, "agent_id": chosen["agent_id"]}
    asked = {name: value and indexable(value) for name, value in found.items()}
    batch = asked | {"before_us": chosen["before_us"]}
    yield bind("tasks/drop_chosen_digests", tenant_id=tenancy.tenant_id, chosen=batch)
