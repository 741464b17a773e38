"""``search`` of ``hmxgraph task`` and ``hmxgraph record``: one command under both names."""

from hmxgraph.cli.tasks.fields import (
    Budget,
    Compact,
    Hidden,
    Limit,
    Mode,
    Query,
    Siblings,
    Where,
    filters_of,
    show_hits,
)
from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, opened


def search(
    query: Query = "",
    where: Where = None,
    mode: Mode = "generic",
    limit: Limit = 20,
    hidden: Hidden = False,
    compact: Compact = False,
    budget: Budget = None,
    siblings: Siblings = False,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Search records by words and exact filters."""
    with opened(tenant) as graph:
        found = graph.records.search(
            query,
            mode=mode,
            limit=limit,
            include_hidden=hidden,
            compact=compact,
            token_budget=budget,
            expand_event_siblings=siblings,
            **filters_of(where),
        )
        emit(found.document(), as_json, lambda: show_hits(found))
