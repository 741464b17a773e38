"""Libraries of records: revisions stay in, list and digest agree, rejections are excluded, digests cannot be forged."""

import pytest

from hmxgraph import TaskError

LIBRARIES = ("find_failures", "find_decisions", "find_evidence", "find_highlights")


@pytest.fixture
def task_id(graph):
    """A started task."""
    return graph.tasks.start("Find the leak", agent_id="ana", project_id="p").task_id


def ids(views):
    """The ids of records, in order."""
    return [view.artifact_id for view in views]


def test_a_revision_stays_in_the_library_of_what_it_replaces(graph, task_id):
    """Revised evidence is still evidence, a revised decision a decision, a revised failure a failure."""
    run = graph.tasks.run_start(task_id, command="make", why_chosen="fast", inputs=["src"], agent_id="ana").artifact_id
    replaced = {
        "find_evidence": graph.tasks.add_evidence(task_id, summary="It leaks 5 MB", agent_id="ana"),
        "find_decisions": graph.records.decision(task_id, summary="Use valgrind", agent_id="ana"),
        "find_failures": graph.tasks.run_finish(
            task_id, run_id=run, status="failed", summary="no disk", agent_id="ana"
        ),
    }
    for find, receipt in replaced.items():
        revised = graph.records.revision(
            receipt.artifact_id, summary=f"{find}, better", supersedes=True, agent_id="ana"
        )
        again = graph.records.revision(revised.artifact_id, summary=f"{find}, best", supersedes=True, agent_id="ana")
        library = getattr(graph.records, find)()
        assert ids(library) == [again.artifact_id]
        assert f"{find}, best" in library.digest.record.summary
        assert again.projections[0].kind == receipt.projections[0].kind


def test_list_and_digest_follow_one_rule(graph, task_id):
    """Each library lists exactly the records its digest cites, in the order of the digest's lines."""
    for place in range(4):
        seen = graph.tasks.add_evidence(task_id, summary=f"seen {place}", agent_id="ana").artifact_id
        graph.records.decision(task_id, summary=f"decide {place}", agent_id="ana")
        if place:
            supports = place > 1
            graph.records.verification(seen, summary=f"again {place}", supports_claim=supports, agent_id="bo")
    graph.tasks.finish(task_id, what_worked=["tiles"], what_failed=["rows"], agent_id="ana")
    for find in LIBRARIES:
        library = getattr(graph.records, find)(project_id="p")
        assert len(library)
        assert set(library.digest.record.related_artifact_ids) == set(ids(library))
        cited = [line.rpartition("(")[2].rstrip(")") for line in library.digest.record.summary.splitlines()]
        assert cited == ids(library)


def test_rejections_are_no_highlights(graph, task_id):
    """Rejected records and verifications that reject a record, even verified ones, are not highlights."""
    seen = graph.tasks.add_evidence(task_id, summary="tiles are fast", validation=["rerun"], agent_id="ana").artifact_id
    assert ids(graph.records.find_highlights()) == [seen]
    no = graph.records.verification(seen, summary="tiles are slow", supports_claim=False, agent_id="bo").artifact_id
    graph.records.verification(no, summary="slow here, too", supports_claim=True, agent_id="cy")
    assert graph.records.get(no).trust_tier == "verified_record"
    for query in ("", "tiles"):
        assert ids(graph.records.find_highlights(query)) == []


def test_digests_are_found_by_kind_and_role(graph, task_id):
    """Filters that name digests find each one once, even after a refresh; other filters return records only."""
    graph.tasks.add_evidence(task_id, summary="tiles are fast", agent_id="ana")
    for _ in range(2):
        graph.memory.compact(project_id="p", force_digest_rebuild=True)
    (brief,) = graph.records.search(artifact_role="project_brief")
    assert "tiles are fast" in brief.view.text
    roles = [hit.view.record.artifact_role for hit in graph.records.search(artifact_kind="digest")]
    assert sorted(roles) == ["evidence_library", "project_brief"]
    assert {hit.view.artifact_kind for hit in graph.records.search(project_id="p")} == {"task_start", "evidence"}


def test_a_digest_is_not_to_be_forged(graph, task_id):
    """No agent can write a digest, give a record the role of one, or reply to one."""
    with pytest.raises(TaskError, match="digests are composed by the engine"):
        graph.records.create("digest", task_id=task_id, summary="POISON", artifact_role="project_brief")
    with pytest.raises(TaskError, match="artifact_role 'project_brief' is only for digests"):
        graph.tasks.add_evidence(task_id, summary="POISON", artifact_role="project_brief")
    digest = graph.tasks.resume(task_id).digest.artifact_id
    for reply in (graph.records.review, graph.records.revision, graph.records.verification):
        with pytest.raises(TaskError, match="is a digest, which only repeats its sources"):
            reply(digest, summary="POISON", supports_claim=True, agent_id="bo")
    with pytest.raises(TaskError, match="is a digest"):
        graph.tasks.add_evidence(task_id, summary="POISON", reply_to_artifact_id=digest)
