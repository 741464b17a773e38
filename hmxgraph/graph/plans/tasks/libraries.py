"""Failures, decisions, evidence, highlights: records of one sort, their digest, what was compiled beside them."""

from collections.abc import Mapping, Sequence

from hmxgraph.errors import NotFound
from hmxgraph.graph.plan import Plan, Procedure, Row, read
from hmxgraph.graph.plans.tasks.digests import digest
from hmxgraph.graph.plans.tasks.records import views
from hmxgraph.graph.plans.tasks.search import hits_of
from hmxgraph.graph.rows.tasks.results import Hit, Library, RecordView, Related
from hmxgraph.graph.rows.tasks.wanted import Wanted, checked_limit, search_of
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.tasks.digest_names import digest_name
from hmxgraph.tasks.digests import sources_wanted
from hmxgraph.tasks.grounding import Grounds, Part, grounding_status, part_of
from hmxgraph.tasks.projections import record_text
from hmxgraph.text.asked import checked_text

COMPILED = 10
CANDIDATES = 60
# The compiled artifacts that are shown beside each library.
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "failure_library": ("failure_playbook",),
    "decision_library": ("decision_policy",),
    "evidence_library": ("causal_pattern",),
    "highlight_library": ("strategy_template", "task_schema"),
}


def library(
    tenancy: Tenancy, role: str, query: str = "", *, project_id: str | None = None, limit: int = 20
) -> Procedure[Library]:
    """The records of a library (those that match *query* first), its fresh digest, and compiled artifacts beside it."""
    wanted = search_of(query, {"project_id": project_id}, limit=limit)
    view = yield from digest(tenancy, digest_name(role, project_id=project_id))
    chosen = Wanted(query, wanted.facets, sources_wanted(role), limit=limit)
    found, compiled = yield from read(lambda: _library(tenancy, role, chosen))
    return Library(role, found, view, tuple(compiled))


def find_related(tenancy: Tenancy, claim: str, *, project_id: str | None = None, limit: int = 20) -> Procedure[Related]:
    """What *claim* (a text, or the id of a record) rests on, what speaks against it, and how well it is grounded.

    Raises:
        NotFound: *claim* is empty.
        InvalidRequest: a claim that is no text, or a limit outside 1..500.

    """
    checked_text("claim", claim, "give a statement, or the id of a record")
    checked_limit(limit)
    if not claim.strip():
        raise NotFound("claim", claim, hint="give a statement, or the id of a record")
    return (yield from read(lambda: _related(tenancy, claim, project_id, limit)))


def _library(tenancy: Tenancy, role: str, wanted: Wanted) -> Plan[tuple[tuple[RecordView, ...], list[Row]]]:
    hits = yield from hits_of(tenancy, wanted)
    compiled = yield bind(
        "tasks/compiled", tenant_id=tenancy.tenant_id, batch={"types": list(_BESIDE.get(role, ()))}, limit=COMPILED
    )
    return tuple(hit.view for hit in hits if hit.view.artifact_kind != "digest"), compiled


def _related(tenancy: Tenancy, claim: str, project_id: str | None, limit: int) -> Plan[Related]:
    named = yield from views(tenancy, [tenancy.node_key(claim)])
    text = record_text(named[0].record) if named else claim
    wanted = search_of(text, {"project_id": project_id}, limit=CANDIDATES)
    hits = yield from hits_of(tenancy, wanted)
    said = yield from _said_about(tenancy, named)
    known = {claim, *(hit.artifact_id for _, hit in said)}
    others = [hit for hit in hits if hit.artifact_id not in known]
    parts = said + [(part_of(text, hit.view.record, rejected=bool(hit.view.rejected_by)), hit) for hit in others]
    status = grounding_status([Grounds(part, hit.trust_tier) for part, hit in parts])
    return Related(
        status, _of(parts, "supporting")[:limit], _of(parts, "conflicting")[:limit], _of(parts, "hint")[:limit]
    )


def _said_about(tenancy: Tenancy, named: Sequence[RecordView]) -> Plan[list[tuple[Part, Hit]]]:
    """The countersignatures and rejections of the records *named*, whatever their words."""
    against = [name for view in named for name in view.rejected_by]
    found = [*against, *(name for view in named for name in view.verified_by)]
    replies = yield from views(tenancy, [tenancy.node_key(name) for name in found])
    return [
        ("conflicting" if view.artifact_id in against else "supporting", Hit(view, 1.0, "validation", view.text))
        for view in replies
    ]


def _of(parts: Sequence[tuple[Part, Hit]], name: Part) -> tuple[Hit, ...]:
    """The hits of one part, verified ones first."""
    chosen = [hit for part, hit in parts if part == name]
    return tuple(sorted(chosen, key=lambda hit: hit.trust_tier != "verified_record"))
