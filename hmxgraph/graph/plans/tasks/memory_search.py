"""Semantic memories found and read: what is over, superseded or deleted stays hidden unless asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hmxgraph.errors import NotFound, UnknownChoice
from hmxgraph.extraction.memories.remembering import KINDS
from hmxgraph.graph.lucene import term_query
from hmxgraph.graph.plan import Plan, Procedure, Row, read
from hmxgraph.graph.plans.tasks.digests import digest
from hmxgraph.graph.plans.tasks.records import views
from hmxgraph.graph.plans.tenants import state
from hmxgraph.graph.rows.tasks.memory_results import MemoryHit, MemoryResult, MemoryView, memory_view
from hmxgraph.graph.rows.tasks.results import RecordView
from hmxgraph.graph.rows.tasks.shaping import shaped
from hmxgraph.graph.rows.tasks.wanted import Shape, checked_limit
from hmxgraph.graph.statement import Statement, bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.tasks.digest_names import digest_name
from hmxgraph.tasks.modes import mode_of
from hmxgraph.tasks.usefulness import weighed
from hmxgraph.text.asked import checked_text
from hmxgraph.text.terms import terms

# Artifacts and what is hidden stand in the same full-text index, so more is asked for than is shown: so many, and as
# long as too few of them are shown so many times more, up to a limit that keeps a search of a large tenant short.
LEAST_POOL = 60
POOL = 4
WIDER = 8
MOST_LOOKED_AT = 30_720
SIBLINGS = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """A search for memories: words, kind, project, mode, and the time as of which they hold (None: logical now)."""

    query: str
    kind: str | None = None
    project_id: str | None = None
    mode: str = "generic"
    limit: int = 20
    include_hidden: bool = False
    as_of_us: int | None = None
    shape: Shape = field(default_factory=Shape)

    def checked(self) -> "Asked":
        """The same search, if it can be asked.

        Raises:
            UnknownChoice: no such kind or mode.
            InvalidRequest: no words to look for, or a limit outside 1..500.

        """
        checked_text("query", self.query, "say in words what to look for")
        mode_of(self.mode)
        checked_limit(self.limit)
        if self.kind is not None and self.kind not in KINDS:
            raise UnknownChoice("kind", self.kind, KINDS)
        return self


def search(tenancy: Tenancy, asked: Asked) -> Procedure[MemoryResult]:
    """The memories that *asked* describes, best first; a mode adds its digest, fresh.

    Raises:
        UnknownChoice: no such kind or mode.

    """
    role = mode_of(asked.checked().mode).role
    hits = yield from read(lambda: _search(tenancy, asked))
    shown, budgeted = shaped(hits, asked.shape)
    view = None
    if role is not None and role != "task_resume":
        view = yield from digest(tenancy, digest_name(role, project_id=asked.project_id))
    return MemoryResult(shown, asked.mode, view, *budgeted)


def memory(tenancy: Tenancy, memory_id: str) -> Procedure[MemoryView]:
    """The memory with this id, hidden or not, with its evidence.

    Raises:
        NotFound: there is none.

    """
    return (yield from read(lambda: memory_by_id(tenancy, memory_id)))


def memory_by_id(tenancy: Tenancy, memory_id: str) -> Plan[MemoryView]:
    """The memory with this id, as a plan.

    Raises:
        NotFound: there is none.

    """
    key = tenancy.node_key(checked_text("memory_id", memory_id))
    rows = yield bind("memory_operations/get", tenant_id=tenancy.tenant_id, key=key)
    if not rows:
        raise NotFound("memory", memory_id, tenancy.tenant_id)
    now_us = yield from _now(tenancy, None)
    records = yield from views(tenancy, rows[0]["record_keys"])
    return memory_view(rows[0], records, now_us)


def _search(tenancy: Tenancy, asked: Asked) -> Plan[tuple[MemoryHit, ...]]:
    now_us = yield from _now(tenancy, asked.as_of_us)
    shown: list[MemoryHit] = []
    limit, more = max(LEAST_POOL, POOL * asked.limit), True
    while more and len(shown) < asked.limit:
        [row] = yield _question(tenancy, asked, limit)
        hits = yield from _hits(tenancy, row["memories"], now_us)
        shown = [hit for hit in hits if asked.include_hidden or hit.view.hidden_reason is None]
        more = limit <= row["looked_at"] and limit < MOST_LOOKED_AT
        limit = min(limit * WIDER, MOST_LOOKED_AT)
    chosen = sorted(shown, key=lambda hit: (-hit.score, hit.memory_id))[: asked.limit]
    if asked.shape.expand_event_siblings:
        chosen = yield from _with_siblings(tenancy, chosen)
    return tuple(chosen)


def _question(tenancy: Tenancy, asked: Asked, limit: int) -> Statement:
    return bind(
        "memory_operations/search",
        tenant_id=tenancy.tenant_id,
        question=term_query(tenancy.scope, terms(asked.query)),
        kind=asked.kind,
        project_id=asked.project_id,
        limit=limit,
    )


def _hits(tenancy: Tenancy, rows: Sequence[Row], now_us: int) -> Plan[list[MemoryHit]]:
    known = yield from _records(tenancy, rows)
    best = max((row["score"] for row in rows), default=1.0) or 1.0
    return [_hit(row, known, best, now_us) for row in rows]


def _now(tenancy: Tenancy, as_of_us: int | None) -> Plan[int]:
    """The time as of which memories hold: the one asked for, else the tenant's logical now."""
    if as_of_us is not None:
        return as_of_us
    tenant = yield from state(tenancy)
    return tenant["logical_us"] or 0


def _records(tenancy: Tenancy, rows: Sequence[Row]) -> Plan[dict[str, RecordView]]:
    keys = sorted({key for row in rows for key in row["record_keys"]})
    found = (yield from views(tenancy, keys)) if keys else ()
    return {tenancy.node_key(view.artifact_id): view for view in found}


def _hit(row: Row, known: dict[str, RecordView], best: float, now_us: int) -> MemoryHit:
    memory = row["memory"]
    view = memory_view(row, [known[key] for key in row["record_keys"] if key in known], now_us)
    score = weighed(row["score"] / best, memory.get("useful", 0), memory.get("useless", 0))
    return MemoryHit(view, score, view.text)


def _with_siblings(tenancy: Tenancy, hits: Sequence[MemoryHit]) -> Plan[list[MemoryHit]]:
    keys = [tenancy.node_key(hit.memory_id) for hit in hits]
    rows = yield bind("memory_operations/siblings", tenant_id=tenancy.tenant_id, batch={"keys": keys}, limit=SIBLINGS)
    found = {row["key"]: tuple(row["siblings"]) for row in rows}
    return [replace(hit, expanded_siblings=found.get(key, ())) for key, hit in zip(keys, hits, strict=True)]
