"""Grounding: how well stored records support a claim, judged from records about it, their replies and their parents."""

from collections.abc import Sequence
from dataclasses import replace

from hmxgraph.errors import NotFound
from hmxgraph.graph.plan import Plan, Procedure, Tenancy, bind, read
from hmxgraph.graph.record_search import checked_limit, hits_of, search_of
from hmxgraph.graph.records import views
from hmxgraph.protocol.parsing import checked_text
from hmxgraph.protocol.record_results import Grounding, Hit, RecordView
from hmxgraph.recall.question import LONGEST_QUESTION
from hmxgraph.records.grounding import GROUNDING, Case, Grounds, Relation, grounding_status
from hmxgraph.records.search import best_projection, facet, record_text

# Maximum number of records found for a claim.
_MOST_CANDIDATES = 60
# Maximum number of further records that are linked to these.
_MOST_LINKED = 300
# Facets of the kinds of records that are read: those that ground a claim, digests (as hints), and the starts of runs
# and tasks, which state what the run or the evidence was about.
_KINDS = tuple(sorted(facet("artifact_kind", kind) for kind in (*GROUNDING, "digest", "run_start", "task_start")))


def find_related(
    tenancy: Tenancy, claim: str, *, project_id: str | None = None, limit: int = 20
) -> Procedure[Grounding]:
    """How well *claim* (a text, or a record's id) is grounded: records for it, against it, and hints.

    Each of the three lists has at most *limit* hits.

    Raises:
        NotFound: *claim* is empty.
        InvalidRequest: *claim* is not valid text, or *limit* is outside 1..500.

    """
    claim = checked_text("claim", claim, "give a statement, or the id of a record")[:LONGEST_QUESTION]
    checked_limit(limit)
    if not claim.strip():
        raise NotFound("claim", claim, hint="give a statement, or the id of a record")
    return (yield from read(lambda: _related(tenancy, claim, project_id, limit)))


def _related(tenancy: Tenancy, claim: str, project_id: str | None, limit: int) -> Plan[Grounding]:
    claim_records = yield from views(tenancy, [tenancy.node_key(claim)])
    text = record_text(claim_records[0].record) if claim_records else claim
    criteria = replace(search_of(text, {"project_id": project_id}, limit=_MOST_CANDIDATES), any_facets=_KINDS)
    hits = yield from hits_of(tenancy, criteria)
    linked = yield from _linked(tenancy, [*claim_records, *(hit.view for hit in hits)])
    scored = {hit.artifact_id: hit for hit in hits}
    case = Case(claim, {view.artifact_id: view for view in (*claim_records, *(hit.view for hit in hits), *linked)})
    related: list[tuple[Relation, Hit]] = [
        (case.relation(view), scored.get(artifact_id) or _hit(criteria.query, view))
        for artifact_id, view in case.records.items()
        if artifact_id != claim
    ]
    status = grounding_status([Grounds(relation, hit.trust_tier) for relation, hit in related])
    supporting, conflicting, hints = (
        _hits_of(related, relation)[:limit] for relation in ("supporting", "conflicting", "hint")
    )
    return Grounding(status, supporting, conflicting, hints)


def _linked(tenancy: Tenancy, candidates: Sequence[RecordView]) -> Plan[tuple[RecordView, ...]]:
    """The records that *candidates* reply to, the replies to *candidates*, and records of the same tasks.

    If a candidate starts a task with a hypothesis, these are the task's evidence and the replies to that evidence; if
    it is evidence that supports or opposes a claim, the start of its task.
    """
    starts = [view for view in candidates if view.artifact_kind == "task_start" and view.record.hypothesis]
    claim_evidence = [
        view for view in candidates if view.artifact_kind == "evidence" and view.record.supports_claim is not None
    ]
    groups = {"keys": candidates, "start_keys": starts, "testing_keys": claim_evidence}
    batch = {name: sorted({tenancy.node_key(view.artifact_id) for view in group}) for name, group in groups.items()}
    rows = yield bind("tasks/linked", tenant_id=tenancy.tenant_id, batch=batch, limit=_MOST_LINKED)
    return (yield from views(tenancy, [row["key"] for row in rows]))


def _hit(text: str, view: RecordView) -> Hit:
    """The hit for a record that was reached by a link, not found by the search: its score is 0."""
    matched = best_projection(text, view.projections)
    return Hit(view, 0.0, matched.kind, matched.text)


def _hits_of(related: Sequence[tuple[Relation, Hit]], name: str) -> tuple[Hit, ...]:
    """The hits in one relation to the claim, verified ones first."""
    hits = [hit for relation, hit in related if relation == name]
    return tuple(sorted(hits, key=lambda hit: hit.trust_tier != "verified_record"))
