"""Task records found: exact filters resolved by the index first, what remains ranked, what is shown shaped."""

from collections.abc import Sequence

from hmxgraph.graph.lucene import record_query
from hmxgraph.graph.plan import Plan, Procedure, Row, read
from hmxgraph.graph.plans.tasks.records import views
from hmxgraph.graph.rows.tasks.results import Hit, RecordView, SearchResult
from hmxgraph.graph.rows.tasks.shaping import shaped
from hmxgraph.graph.rows.tasks.wanted import HIDDEN, Anchor, Wanted
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import indexable
from hmxgraph.protocol.tags import ConversationTags
from hmxgraph.tasks.facets import facet, facet_token
from hmxgraph.tasks.matching import best_projection
from hmxgraph.tasks.modes import lifted
from hmxgraph.tasks.projections import Projection

# Candidates per hit asked for, and the least number of them.
POOL = 3
LEAST_POOL = 60
# The newest records looked at before the index is asked, and the most it is asked for: fewer than that are all.
RECENT = 300
COUNTED = 3_000
EVERYTHING = 2**31 - 1
SIBLINGS = 8


def search(tenancy: Tenancy, wanted: Wanted) -> Procedure[SearchResult]:
    """The records that *wanted* describes, best first; newest first where it has no words."""
    return (yield from read(lambda: _search(tenancy, wanted)))


def hits_of(tenancy: Tenancy, wanted: Wanted) -> Plan[tuple[Hit, ...]]:
    """The hits of a search, not yet shaped."""
    scores = yield from (_ranked(tenancy, wanted) if wanted.query.strip() else _newest(tenancy, wanted))
    found = yield from views(tenancy, list(scores))
    ordered = {view.artifact_id: score for view, score in zip(found, _kept(tenancy, scores, found), strict=True)}
    return tuple(_hit(wanted.query, view, ordered[view.artifact_id]) for view in found)


def keys_of(tenancy: Tenancy, wanted: Wanted) -> Plan[list[str]]:
    """The keys of the newest records that answer to the filters, newest first; words are not looked at.

    One filter alone is answered by its own index of time. Of several, the most selective one's newest records are
    looked through; what few records answer to is found by the full-text index, which intersects; and what many answered
    to long ago, further along the index of time.
    """
    anchor = wanted.anchored()
    rows = yield from _window(tenancy, wanted, anchor, EVERYTHING if anchor.alone else RECENT)
    if anchor.alone or len(rows) >= wanted.limit:
        return [row["key"] for row in rows]
    rows = yield bind(
        "tasks/matching",
        tenant_id=tenancy.tenant_id,
        question=wanted.question(tenancy),
        batch=_facets(wanted),
        include_hidden=wanted.include_hidden,
        window_limit=COUNTED,
        limit=wanted.limit,
    )
    if rows and rows[0]["total"] >= COUNTED:
        rows = yield from _window(tenancy, wanted, anchor, EVERYTHING)
    return [row["key"] for row in rows]


def _search(tenancy: Tenancy, wanted: Wanted) -> Plan[SearchResult]:
    hits = yield from hits_of(tenancy, wanted)
    if wanted.shape.expand_event_siblings:
        hits = yield from _with_siblings(tenancy, hits)
    shown, budgeted = shaped(hits, wanted.shape)
    return SearchResult(shown, wanted.mode, *budgeted)


def _ranked(tenancy: Tenancy, wanted: Wanted) -> Plan[dict[str, float]]:
    """The scores of the best records, by key, best first: words in [0, 1], raised by what the mode prefers."""
    rows = yield bind(
        "tasks/search",
        tenant_id=tenancy.tenant_id,
        question=wanted.question(tenancy),
        batch=_facets(wanted),
        include_hidden=wanted.include_hidden,
        limit=max(LEAST_POOL, POOL * wanted.limit),
    )
    best = max((row["score"] for row in rows), default=1.0) or 1.0
    scored = [(lifted(wanted.preferences, row["score"] / best, _carried(row)), row) for row in rows]
    scored.sort(key=lambda pair: (-pair[0], -pair[1]["created_us"], pair[1]["key"]))
    return {row["key"]: score for score, row in scored[: wanted.limit]}


def _newest(tenancy: Tenancy, wanted: Wanted) -> Plan[dict[str, float]]:
    keys = yield from keys_of(tenancy, wanted)
    return dict.fromkeys(keys, 1.0)


def _window(tenancy: Tenancy, wanted: Wanted, anchor: Anchor, window: int) -> Plan[list[Row]]:
    rows = yield bind(
        anchor.statement,
        tenant_id=tenancy.tenant_id,
        batch=_facets(wanted),
        include_hidden=wanted.include_hidden,
        before_us=wanted.before_us,
        window_limit=window,
        limit=wanted.limit,
        **({} if anchor.value is None else {"anchor": anchor.value}),
    )
    return rows


def _facets(wanted: Wanted) -> Row:
    return {"facets": list(wanted.facets), "any_facets": list(wanted.alternatives)}


def _carried(row: Row) -> list[str]:
    """The facets of a candidate that modes look at."""
    role = row["artifact_role"]
    return [
        facet("artifact_kind", row["artifact_kind"]),
        *([facet("artifact_role", role)] if role else []),
        *(facet("projection", kind) for kind in row["projection_kinds"]),
    ]


def _kept(tenancy: Tenancy, scores: dict[str, float], found: Sequence[RecordView]) -> list[float]:
    return [scores[tenancy.node_key(view.artifact_id)] for view in found]


def _hit(query: str, view: RecordView, score: float) -> Hit:
    parts = [Projection(part.kind, part.text) for part in view.projections]
    matched = best_projection(query, parts)
    return Hit(view, score, matched.kind, matched.text)


def _with_siblings(tenancy: Tenancy, hits: Sequence[Hit]) -> Plan[tuple[Hit, ...]]:
    tagged = {hit.artifact_id: tag for hit in hits if (tag := _event_tag(hit))}
    asked = sorted({(tagged[hit.artifact_id], _project(hit)) for hit in hits if hit.artifact_id in tagged})
    rows = yield bind(
        "tasks/siblings",
        tenant_id=tenancy.tenant_id,
        batch={"tags": [_sibling_question(tenancy, *one, place) for place, one in enumerate(asked)]},
        window_limit=COUNTED,
        limit=SIBLINGS + 1,
    )
    found = {asked[row["place"]]: row["siblings"] for row in rows}
    return tuple(_expanded(hit, found.get((tagged.get(hit.artifact_id, ""), _project(hit)), [])) for hit in hits)


def _sibling_question(tenancy: Tenancy, tag: str, project: str, place: int) -> Row:
    chosen = [facet("tag", tag), *([facet("project_id", project)] if project else [])]
    question = record_query(tenancy.scope, [], map(facet_token, chosen), without=[HIDDEN])
    return {"place": place, "tag": tag, "project_id": indexable(project), "question": question}


def _event_tag(hit: Hit) -> str | None:
    event_id = ConversationTags.read(hit.view.record.tags or ()).event_id
    return None if event_id is None else f"event:{event_id}"


def _project(hit: Hit) -> str:
    return hit.view.record.project_id or ""


def _expanded(hit: Hit, siblings: Sequence[Row]) -> Hit:
    others = tuple(one for one in siblings if one["artifact_id"] != hit.artifact_id)[:SIBLINGS]
    return Hit(hit.view, hit.score, hit.matched_kind, hit.matched_text, others)
