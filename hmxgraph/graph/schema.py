"""Bring a database to this release's schema: each step of ``cypher/schema/`` once, in order, recorded in the graph."""

from functools import partial

from hmxgraph.errors import NewerStore
from hmxgraph.graph.plan import Plan, Procedure, Work, ask, bind, query_names, read, write


def migrate() -> Procedure[tuple[str, ...]]:
    """The names of the steps applied now; none where the database is up to date.

    Every step says ``IF NOT EXISTS``, so clients that migrate at the same time do no harm to each other; who meets
    another at the same step is refused, and finds it done when it is run again (:func:`translation.lost_race`).

    Whatever a release derives otherwise than those before it comes with a step, if only one of names: two releases at
    one database would undo each other's work with each compilation.

    Raises:
        NewerStore: the database has been through a step that comes after all of this release.

    """
    steps = query_names("schema")
    applied = yield from read(_applied)
    if later := sorted(step for step in applied if step > steps[-1]):
        raise NewerStore(tuple(later))
    missing = tuple(step for step in steps if step not in applied)
    for step in missing:
        yield Work("schema", partial(ask, bind(step)))
    if missing:
        yield Work("schema", partial(ask, bind("schema_steps/await")))
    for step in missing:
        yield from write(partial(ask, bind("schema_steps/record", name=step, position=steps.index(step))))
    return missing


def _applied() -> Plan[frozenset[str]]:
    rows = yield bind("schema_steps/applied")
    return frozenset(row["name"] for row in rows)
