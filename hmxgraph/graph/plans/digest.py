"""The shape of the entity graph: counted in Cypher, its depth walked over arrays."""

from collections.abc import Sequence
from functools import partial

from hmxgraph.fingerprint.measures.depth import max_depth
from hmxgraph.fingerprint.measures.digest import MeasuredDigest, digest_of
from hmxgraph.graph.plan import Plan, Procedure, read
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy


def digest(tenancy: Tenancy, as_of_us: int | None = None) -> Procedure[MeasuredDigest]:
    """The fields of HMX-F 5 over active relations between active entities, known at *as_of_us* or now.

    The best connected entities come first, ties by name; all in one read transaction of two statements.
    """
    return (yield from read(partial(graph_digest, tenancy, as_of_us)))


def graph_digest(
    tenancy: Tenancy, as_of_us: int | None = None, named_types: Sequence[str] | None = None
) -> Plan[MeasuredDigest]:
    """The digest as part of a transaction; *named_types* are the entity types whose names may be told (None: all)."""
    bound = {"tenant_id": tenancy.tenant_id, "as_of_us": as_of_us}
    entities = yield bind("digest/entities", **bound)
    types = None if named_types is None else sorted(named_types)
    shape = (yield bind("digest/shape", types=types, **bound))[0]
    depth = max_depth([(source, targets) for source, *targets in shape["links"]])
    return digest_of(entities, shape["relations"], shape["connected"], depth)
