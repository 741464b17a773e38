"""The changes of a compilation in the graph: old heads leave, new ones come, counts rise, in one transaction."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from hmxgraph.compiler.reconcile import Change
from hmxgraph.graph.plan import Plan, Row
from hmxgraph.graph.plans.conflicts import settle
from hmxgraph.graph.rows.artifacts import dedup_key
from hmxgraph.graph.rows.compilation import (
    change_keys,
    count_rows,
    leaving_keys,
    new_rows,
    successor_rows,
    transition_rows,
)
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.text.tokens import counter

_AT_ONCE = 200
_WRITES = frozenset({"created", "updated", "counted", "activated", "deprecated"})
TWIN = "another artifact says the same"


def store_changes(tenancy: Tenancy, planned: Sequence[Change], at_us: int) -> Plan[tuple[tuple[Change, ...], bool]]:
    """The changes as they were made, and whether any was: one whose content somebody else recorded is left alone."""
    changes = yield from _without_twins(tenancy, planned)
    writing = [change for change in changes if change.deed in _WRITES]
    if not writing:
        return tuple(changes), False
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=change_keys(tenancy, writing))
    leaving = leaving_keys(tenancy, writing)
    yield bind("compiler/release", tenant_id=tenancy.tenant_id, keys=leaving)
    yield from _each(tenancy, "artifacts/transition", "changes", transition_rows(tenancy, writing, at_us))
    yield from _each(tenancy, "artifacts/supersede", "successions", successor_rows(tenancy, writing, counter(), at_us))
    yield from _each(tenancy, "artifacts/create", "artifacts", new_rows(tenancy, writing, counter(), at_us))
    yield from _each(tenancy, "compiler/count", "counts", count_rows(tenancy, writing, at_us))
    yield from settle(tenancy, leaving, at_us)
    return tuple(changes), True


def _each(tenancy: Tenancy, name: str, parameter: str, rows: Iterable[Row]) -> Plan[None]:
    for batch in _batches(rows):
        yield bind(name, tenant_id=tenancy.tenant_id, **{parameter: batch})


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _AT_ONCE)):
        yield batch


def _without_twins(tenancy: Tenancy, planned: Sequence[Change]) -> Plan[list[Change]]:
    """The changes without those that would store what a living artifact, not about to leave, says already."""
    coming = {
        dedup_key(tenancy, {"artifact_type": one.artifact_type, "content_hash": one.artifact.content_hash}): one
        for one in planned
        if one.artifact is not None
    }
    if not coming:
        return list(planned)
    rows = yield bind("compiler/twins", tenant_id=tenancy.tenant_id, dedup_keys=sorted(coming))
    leaving = set(leaving_keys(tenancy, planned))
    taken = {id(coming[row["dedup_key"]]) for row in rows if row["key"] not in leaving}
    return [_left(change) if id(change) in taken else change for change in planned]


def _left(change: Change) -> Change:
    return Change("left", change.artifact_type, change.title, TWIN, change.head)
