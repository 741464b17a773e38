"""Digests refreshed and read: kept as records with a stable identity, composed anew once a source made them stale."""

from collections.abc import Sequence
from functools import partial

from hmxgraph.graph.plan import Plan, Procedure, read, write
from hmxgraph.graph.plans.tasks.records import views
from hmxgraph.graph.plans.tasks.search import keys_of
from hmxgraph.graph.plans.tenants import bump
from hmxgraph.graph.rows.tasks.records import record_properties, task_key
from hmxgraph.graph.rows.tasks.results import RecordView
from hmxgraph.graph.rows.tasks.wanted import Wanted
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import indexable
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.digest_names import DigestName
from hmxgraph.tasks.digests import Source, compose, sources_wanted
from hmxgraph.tasks.facets import facet
from hmxgraph.text.tokens import counter

# Records that a digest looks at, the newest of those it is about.
SOURCES = 500


def digest(tenancy: Tenancy, name: DigestName, *, force: bool = False) -> Procedure[RecordView | None]:
    """The digest *name*, fresh: composed now if it is stale, missing or *force* says so; None without sources."""
    key = _key(tenancy, name)
    found = yield from read(lambda: views(tenancy, [key]))
    if found and not found[0].stale and not force:
        return found[0]
    yield from write(partial(_refresh, tenancy, name))
    found = yield from read(lambda: views(tenancy, [key]))
    return found[0] if found else None


def refreshed(tenancy: Tenancy, names: Sequence[DigestName], *, force: bool) -> Procedure[tuple[RecordView, ...]]:
    """Each of the digests *names* that has sources, fresh."""
    found: list[RecordView] = []
    for name in names:
        view = yield from digest(tenancy, name, force=force)
        if view is not None:
            found.append(view)
    return tuple(found)


def sources(tenancy: Tenancy, name: DigestName) -> Plan[tuple[RecordView, ...]]:
    """The records that a digest is about, oldest first; superseded and retired ones are left out."""
    keys = yield from (_of_task(tenancy, name.scope) if name.role == "task_resume" else _wide(tenancy, name))
    return (yield from views(tenancy, keys))


def as_sources(found: Sequence[RecordView]) -> list[Source]:
    """Records as a digest sees them."""
    return [Source(view.record, view.trust_tier, bool(view.rejected_by)) for view in found]


def _refresh(tenancy: Tenancy, name: DigestName) -> Plan[TaskRecord | None]:
    """Compose the digest under the locks that its writers take, in their order: the task's, then the tenant's."""
    task = task_key(tenancy, name.scope) if name.role == "task_resume" else ""
    yield bind("tasks/lock", tenant_id=tenancy.tenant_id, task_key=task)
    yield from bump(tenancy, 0)
    found = yield from sources(tenancy, name)
    composed = compose(name, tenancy.tenant_id, as_sources(found))
    if composed is None:
        yield bind("tasks/drop_digest", tenant_id=tenancy.tenant_id, key=_key(tenancy, name))
        return None
    properties = record_properties(tenancy, composed, 0, counter())
    cited = [tenancy.node_key(one) for one in composed.related_artifact_ids or ()]
    written = {"digest": properties, "source_keys": sorted(cited)}
    yield bind("tasks/compose_digest", tenant_id=tenancy.tenant_id, task_key=task, batch=written)
    return composed


def _of_task(tenancy: Tenancy, task_id: str) -> Plan[list[str]]:
    rows = yield bind(
        "tasks/of_task", tenant_id=tenancy.tenant_id, task_id=indexable(task_id), include_hidden=False, limit=SOURCES
    )
    return [row["key"] for row in rows]


def _wide(tenancy: Tenancy, name: DigestName) -> Plan[list[str]]:
    project = (facet("project_id", name.project_id),) if name.project_id else ()
    keys = yield from keys_of(tenancy, Wanted(facets=project, any_facets=sources_wanted(name.role), limit=SOURCES))
    return keys[::-1]


def _key(tenancy: Tenancy, name: DigestName) -> str:
    return tenancy.node_key(name.artifact_id(tenancy.tenant_id))
