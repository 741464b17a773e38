"""Artifacts read: one, a page, a chain, a head; each as of any time."""

from hmxgraph.errors import NotFound, UnknownChoice
from hmxgraph.graph.plan import Plan, Procedure, Row, read
from hmxgraph.graph.plans.tenants import state
from hmxgraph.graph.rows.artifacts import ALWAYS, stored_artifact
from hmxgraph.graph.rows.cursors import check_limit, cursor, place
from hmxgraph.graph.rows.lifecycle import ArtifactFilter, ArtifactPage, Chain
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.artifacts import STATUSES, Artifact
from hmxgraph.text.terms import terms

ANY = ArtifactFilter()


def artifact(tenancy: Tenancy, artifact_id: str, *, as_of_us: int | None = None) -> Procedure[Artifact]:
    """The artifact with this id, whatever its status and scope.

    Raises:
        NotFound: there is none, or there was none by then.

    """
    return (yield from read(lambda: _artifact(tenancy, artifact_id, as_of_us)))


def artifacts(
    tenancy: Tenancy,
    wanted: ArtifactFilter = ANY,
    *,
    as_of_us: int | None = None,
    after: str | None = None,
    limit: int = 50,
) -> Procedure[ArtifactPage]:
    """A page of artifacts, newest first, of those that apply to the reader (HMX-A 6).

    Raises:
        UnknownChoice: there is no such status.
        InvalidRequest: *limit* is no size of a page.
        NotFound: *after* is no cursor.

    """
    if wanted.status is not None and wanted.status not in STATUSES:
        raise UnknownChoice("status", wanted.status, STATUSES)
    check_limit(limit)
    return (yield from read(lambda: _page(tenancy, wanted, as_of_us, after, limit)))


def chain(tenancy: Tenancy, artifact_id: str, *, as_of_us: int | None = None) -> Procedure[Chain]:
    """All versions of the artifact's chain that were recorded by then, oldest first (HMX-A 7).

    Raises:
        NotFound: there is no such artifact, or there was none by then.

    """
    return (yield from read(lambda: _chain(tenancy, artifact_id, as_of_us)))


def head(tenancy: Tenancy, artifact_id: str, *, as_of_us: int | None = None) -> Procedure[Artifact]:
    """The newest version of the artifact's chain; does not read the others.

    Raises:
        NotFound: there is no such artifact, or there was none by then.

    """
    return (yield from read(lambda: _head(tenancy, artifact_id, as_of_us)))


def node(tenancy: Tenancy, artifact_id: str, as_of_us: int | None = None) -> Plan[Row]:
    """The properties of an artifact's node, as they are now.

    Raises:
        NotFound: there is none, or there was none by then.

    """
    rows = yield bind("artifacts/get", tenant_id=tenancy.tenant_id, key=tenancy.node_key(artifact_id))
    if not rows or (as_of_us is not None and rows[0]["artifact"]["status_times"][0] > as_of_us):
        raise NotFound("artifact", artifact_id, tenancy.tenant_id)
    properties: Row = rows[0]["artifact"]
    return properties


def value(properties: Row, as_of_us: int | None = None) -> Artifact:
    """The artifact of a node that was visible by then."""
    found = stored_artifact(properties, as_of_us)
    assert found is not None
    return found


def _artifact(tenancy: Tenancy, artifact_id: str, as_of_us: int | None) -> Plan[Artifact]:
    properties = yield from node(tenancy, artifact_id, as_of_us)
    return value(properties, as_of_us)


def _page(
    tenancy: Tenancy, wanted: ArtifactFilter, as_of_us: int | None, after: str | None, limit: int
) -> Plan[ArtifactPage]:
    after_us, after_id = place(after)
    tenant = yield from state(tenancy)
    moment_us = ALWAYS if as_of_us is None else as_of_us
    rows = yield bind(
        "artifacts/list",
        tenant_id=tenancy.tenant_id,
        as_of_us=moment_us,
        moment_us=(tenant["logical_us"] or 0) if as_of_us is None else as_of_us,
        until_us=moment_us if after_us is None else min(moment_us, after_us),
        after_us=after_us,
        after_id=after_id,
        limit=limit + 1,
        **_criteria(wanted),
    )
    found = tuple(value(row["artifact"], as_of_us) for row in rows[:limit])
    last = rows[limit - 1]["artifact"] if len(rows) > limit else None
    return ArtifactPage(found, cursor(last["recorded_us"], last["artifact_id"]) if last else None)


def _criteria(wanted: ArtifactFilter) -> Row:
    return {
        "status": wanted.status,
        "artifact_type": wanted.artifact_type,
        "tags": list(wanted.tags),
        "terms": sorted(set(terms(wanted.text or ""))),
        "agent_id": wanted.agent_id,
        "situation": list(wanted.situation),
        "compiled_by": wanted.compiled_by,
    }


def _chain(tenancy: Tenancy, artifact_id: str, as_of_us: int | None) -> Plan[Chain]:
    properties = yield from node(tenancy, artifact_id, as_of_us)
    rows = yield bind("artifacts/chain", **_range(tenancy, properties, as_of_us))
    return Chain(artifact_id, tuple(value(row["artifact"], as_of_us) for row in rows))


def _head(tenancy: Tenancy, artifact_id: str, as_of_us: int | None) -> Plan[Artifact]:
    properties = yield from node(tenancy, artifact_id, as_of_us)
    rows = yield bind("artifacts/head", **_range(tenancy, properties, as_of_us))
    return value(rows[0]["artifact"], as_of_us)


def _range(tenancy: Tenancy, properties: Row, as_of_us: int | None) -> Row:
    return {
        "tenant_id": tenancy.tenant_id,
        "chain_key": properties["chain_key"],
        "as_of_us": ALWAYS if as_of_us is None else as_of_us,
    }
