"""Task records forgotten with the events that tell them: their text goes, their place in task and thread stays."""

from collections.abc import Sequence
from typing import NamedTuple

from hmxgraph.graph.plan import Plan, Row
from hmxgraph.graph.plans.tenants import bump
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.tasks.erasing import PLAIN_STATUSES, digests_telling, place_of


class ErasedRecords(NamedTuple):
    """The ids of the records that were erased, and the keys of the entities that nothing mentions any more."""

    records: tuple[str, ...]
    entities: tuple[str, ...]


def told(tenancy: Tenancy, event_keys: Sequence[str]) -> Plan[list[Row]]:
    """The records that these events tell, their tasks locked: the first locks of all that a writer takes."""
    rows = yield bind("tasks/lock_told", tenant_id=tenancy.tenant_id, batch={"event_keys": list(event_keys)})
    return rows


def erase(tenancy: Tenancy, rows: Sequence[Row], at_us: int) -> Plan[ErasedRecords]:
    """The records of *rows* erased, with what only they told of tasks, runs, data sets, contributors and entities."""
    if not rows:
        return ErasedRecords((), ())
    documents = {row["key"]: place_of(tenancy.tenant_id, **_place(row)).to_json() for row in rows}
    found = yield bind(
        "tasks/erase",
        tenant_id=tenancy.tenant_id,
        batch={"keys": sorted(documents), "documents": documents},
        plain_statuses=list(PLAIN_STATUSES),
        at_us=at_us,
    )
    return ErasedRecords(tuple(found[0]["records"]), tuple(found[0]["entities"]))


def drop_digests(tenancy: Tenancy, rows: Sequence[Row]) -> Plan[None]:
    """Delete the digests that may tell of the records of *rows*; the tenant is locked before."""
    if not rows:
        return
    names = {name for row in rows for name in digests_telling(row["task_id"], row["project_id"])}
    batch = {"digest_keys": sorted(name.digest_key for name in names), "record_keys": [row["key"] for row in rows]}
    yield bind("tasks/drop_digests", tenant_id=tenancy.tenant_id, batch=batch)


def drop_chosen_digests(tenancy: Tenancy, chosen: Row, at_us: int) -> Plan[None]:
    """Delete the digests that were written in a session, by an agent, or before a time."""
    yield from bump(tenancy, at_us)
    yield bind("tasks/drop_chosen_digests", tenant_id=tenancy.tenant_id, chosen=chosen)


def _place(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in {"key", "project_id"}}
