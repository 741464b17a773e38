"""Tasks on the real server: steps, nodes and relationships, events, resuming."""

import pytest

from hmxgraph.errors import InvalidDocument, InvalidRequest, NotFound, TaskError
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.records.events import events_of
from tests.integration.ingested import statements
from tests.task_makers import memory_of

AT = "2026-03-14T03:00:{:02d}Z"
PICTURE = """
MATCH (record:TaskRecord {key: $key})-[edge]->(other)
RETURN type(edge) AS type, labels(other)[0] AS label, properties(other) AS other, properties(edge) AS edge
"""


def rows(connection, text, **parameters):
    """The rows of a query written in this test."""
    driver = connection._driver
    return [dict(record) for record in driver.execute_query(text, parameters, database_="neo4j").records]


def run(tasks, task_id, **fields):
    """Start a run."""
    given = {"command": "make check", "why_chosen": "fast", "inputs": ["src"], "tool_name": "make"} | fields
    return tasks.run_start(task_id, **given)


def test_each_write_returns_task_record_and_projections(tasks):
    """Each step returns the task id, the record id and the projections made."""
    started = tasks.start("Find the leak", agent_id="ana")
    finished = tasks.finish(started.task_id, what_worked=["valgrind"], what_failed=["asan"], validation=["rerun"])
    assert [part.kind for part in started.projections] == ["task_goal"]
    assert [part.kind for part in finished.projections] == ["task_summary", "worked", "failed", "validation"]
    assert finished.task_id == started.task_id
    assert finished.document()["artifact_id"] == finished.artifact_id


def test_impossible_steps_are_refused_with_the_way_out(tasks, records):
    """Each impossible step raises its own error that says what to do instead."""
    open_task = tasks.start("Find the leak").task_id
    for step, message in (
        (lambda: tasks.finish("nowhere"), "task_finish: there is no task 'nowhere', and .*; start it first"),
        (lambda: tasks.add_evidence("nowhere", summary="x"), "evidence: there is no task 'nowhere'"),
        (lambda: tasks.progress(open_task, summary="x"), "give the next step"),
        (lambda: tasks.run_start(open_task, why_chosen="w", inputs=["i"]), "command is missing"),
        (lambda: tasks.run_start(open_task, command="c", inputs=["i"]), "why_chosen is missing"),
        (lambda: tasks.run_start(open_task, command="c", why_chosen="w"), "inputs is missing"),
        (lambda: tasks.run_finish(open_task, status="completed"), "no run of task .* is open"),
        (lambda: tasks.start(""), "goal is missing"),
        (lambda: tasks.start("Again", task_id=open_task), "was started before"),
        (lambda: records.review("nowhere", summary="x"), "there is no record 'nowhere' to reply to"),
        (lambda: records.create("decision", summary="x"), "task_id is missing"),
    ):
        with pytest.raises(TaskError, match=message):
            step()
    assert [view.artifact_kind for view in tasks.get(open_task).records] == ["task_start"]


def test_an_invalid_record_names_every_fault(records):
    """An unknown kind and a confidence above 1 are reported together."""
    with pytest.raises(InvalidDocument, match=r"artifact_kind.*confidence|confidence.*artifact_kind"):
        records.create("opinion", task_id="t", confidence=2.0)


def test_a_step_given_again_is_answered_as_before(tasks):
    """The same record under the same id writes nothing; another body under that id is refused."""
    task_id = tasks.start("Find the leak").task_id
    first = tasks.add_evidence(task_id, summary="seen", at=AT.format(1), artifact_id="e1")
    again = tasks.add_evidence(task_id, summary="seen", at=AT.format(1), artifact_id="e1")
    assert (first.created, again.created, again.projections) == (True, False, first.projections)
    assert len(tasks.get(task_id).records) == 2
    with pytest.raises(TaskError, match="'e1' is stored with another summary"):
        tasks.add_evidence(task_id, summary="not seen", at=AT.format(1), artifact_id="e1")


def test_a_step_given_again_without_a_time_is_answered_as_before(tasks, records):
    """A retry that omits the time, or the id of the task to start, still counts as the same record."""
    task_id = tasks.start("Find the leak", artifact_id="s1").task_id
    again = tasks.start("Find the leak", artifact_id="s1")
    assert (again.task_id, again.created) == (task_id, False)
    for step in (
        lambda **fields: tasks.add_evidence(task_id, summary="seen", artifact_id="e1", **fields),
        lambda **fields: records.review("e1", summary="fine", artifact_id="v1", **fields),
    ):
        first, second = step(), step()
        assert (first.created, second.created, second.projections) == (True, False, first.projections)
        with pytest.raises(TaskError, match="is stored with another timestamp_created"):
            step(at=AT.format(1))
    with pytest.raises(TaskError, match="'e1' is stored with another summary"):
        tasks.add_evidence(task_id, summary="not seen", artifact_id="e1")
    assert len(tasks.get(task_id).records) == 3


@pytest.mark.parametrize("status", ["open", " Open"])
def test_what_is_ended_is_not_open(tasks, records, status):
    """Finishing a task or run with status "open" is refused, and both stay open."""
    task_id = tasks.start("Find the leak").task_id
    run_id = run(tasks, task_id).artifact_id
    for end in (
        lambda: tasks.run_finish(task_id, run_id=run_id, status=status),
        lambda: tasks.finish(task_id, status=status),
        lambda: records.create("task_finish", task_id=task_id, status=status),
    ):
        with pytest.raises(TaskError, match=r"_finish: status '.*' is not final; write status="):
            end()
    view = tasks.get(task_id)
    assert (view.status, [each["status"] for each in view.runs], len(view.records)) == ("open", ["open"], 2)
    tasks.run_finish(task_id, status="failed")
    tasks.finish(task_id)
    assert tasks.get(task_id).status == "completed"


def test_a_text_is_no_list_of_texts(tasks, records):
    """A string where a list is expected is refused, never split into characters; None and tuples are accepted."""
    task_id = tasks.start("Find the leak").task_id
    with pytest.raises(InvalidRequest, match=r"inputs 'src/main.c': expected a list of texts; write inputs="):
        run(tasks, task_id, inputs="src/main.c")
    with pytest.raises(InvalidRequest, match="followups 'abc': expected a list of texts"):
        tasks.progress(task_id, summary="s", followups="abc")
    with pytest.raises(InvalidDocument, match=r"[$].inputs: found 'abc', expected an array"):
        records.create("run_start", task_id=task_id, command="c", why_chosen="w", inputs="abc")
    with pytest.raises(TaskError, match="inputs is missing"):
        run(tasks, task_id, inputs=None)
    first_id = tasks.progress(task_id, summary="s", next_step="n", followups=None).artifact_id
    second_id = tasks.progress(task_id, summary="s", next_step="n", followups=("abc",)).artifact_id
    assert [records.get(name).record.followups for name in (first_id, second_id)] == [("n",), ("n", "abc")]


def test_what_is_said_elsewhere_is_no_field(tasks):
    """Fields that callers may not set are refused, and the error says where they come from."""
    task_id = tasks.start("Find the leak").task_id
    for field, way_out in (
        ("tenant_id", "the connection sets it"),
        ("timestamp_created", "pass the time as at="),
        ("artifact_kind", "the method sets it"),
    ):
        with pytest.raises(InvalidRequest, match=f"{field} 'x': expected a field that callers may set; {way_out}"):
            tasks.add_evidence(task_id, summary="s", **{field: "x"})


def test_runs_end_once_and_a_finish_abandons_what_is_open(tasks):
    """A run ends once, by id or as the only open one; finishing the task abandons open runs."""
    task_id = tasks.start("Find the leak").task_id
    first_run, second_run = run(tasks, task_id).artifact_id, run(tasks, task_id).artifact_id
    with pytest.raises(TaskError, match=r"2 runs of task .* are open"):
        tasks.run_finish(task_id, status="completed")
    tasks.run_finish(task_id, run_id=first_run, status="failed", summary="out of memory")
    with pytest.raises(TaskError, match="is finished"):
        tasks.run_finish(task_id, run_id=first_run, status="completed")
    tasks.finish(task_id)
    assert {each["run_id"]: each["status"] for each in tasks.get(task_id).runs} == {
        first_run: "failed",
        second_run: "abandoned",
    }
    with pytest.raises(TaskError, match=r"is finished .completed."):
        run(tasks, task_id)


def test_a_record_is_linked_to_everything_it_names(graph, connection, tasks):
    """A record is linked to its task, event, data sets, challenge, contributors, entities and related records."""
    first = tasks.start("Find the leak", agent_id="ana")
    tasks.start("Parse", parent_task_id=first.task_id, task_id="child")
    written = tasks.add_evidence(
        "child",
        summary="seen",
        agent_id="ana",
        challenge_id="c1",
        dataset_refs=[{"name": "soil", "version": "2"}],
        entity_refs=[{"name": "parser", "entity_type": "concept", "role": "subject"}],
        contributors=[{"contributor_id": "bo", "role": "sampling"}],
        related_artifact_ids=[first.artifact_id],
        reply_to_artifact_id=first.artifact_id,
    )
    key = graph._tenancy.node_key(written.artifact_id)
    neighbours = rows(connection, PICTURE, key=key)
    edges = sorted((row["type"], row["label"]) for row in neighbours if row["label"] != "Facet")
    filters = {row["other"]["name"] for row in neighbours if row["type"] == "HAS_FACET"}
    assert {"artifact_kind", "task_id", "agent_id", "challenge_id", "dataset_version", "entity_type"} <= filters
    assert edges == [
        ("CONTRIBUTED_BY", "Contributor"),
        ("CONTRIBUTED_BY", "Contributor"),
        ("EVIDENCED_BY", "Event"),
        ("MENTIONS", "Entity"),
        ("ON_TASK", "Task"),
        ("PART_OF", "Challenge"),
        ("RELATED_TO", "TaskRecord"),
        ("REPLIES_TO", "TaskRecord"),
        ("USES_DATASET", "Dataset"),
    ]
    assert {row["edge"]["tenant_id"] for row in neighbours} == {graph.tenant_id}
    assert all(row["other"]["tenant_id"] == graph.tenant_id for row in neighbours)
    assert tasks.get("child").parent_task_id == first.task_id


def test_every_record_has_its_events(graph, connection, tasks):
    """A task's records are one session of events in order; results answer calls, failures add error events."""
    task_id = tasks.start("Find the leak", agent_id="ana", at=AT.format(1)).task_id
    run_id = run(tasks, task_id, at=AT.format(2), agent_id="ana").artifact_id
    tasks.run_finish(task_id, run_id=run_id, status="failed", summary="no space left", at=AT.format(3))
    tasks.finish(task_id, status="failed", at=AT.format(4))
    event_rows = rows(
        connection,
        "MATCH (e:Event {tenant_id: $t, session_id: $s}) OPTIONAL MATCH (e)-[:ANSWERS]->(c:Event) "
        "RETURN e.event_type AS type, c.event_type AS answers, e.sequence AS at ORDER BY at",
        t=graph.tenant_id,
        s=f"task:{task_id}",
    )
    assert [(row["type"], row["answers"]) for row in event_rows] == [
        ("message", None),
        ("tool_call", None),
        ("tool_result", "tool_call"),
        ("error", None),
        ("state_change", None),
        ("error", None),
    ]


def test_resume_gives_the_next_agent_the_current_state(tasks, records):
    """Resume returns the goal, the state of work, verified evidence, recent runs and the source records."""
    task_id = tasks.start("Find the leak", agent_id="ana", project_id="p").task_id
    run(tasks, task_id, agent_id="ana")
    tasks.run_finish(task_id, status="failed", summary="out of memory", agent_id="ana")
    tasks.progress(task_id, summary="narrowed down", next_step="bisect", blockers=["no access"], agent_id="ana")
    seen = tasks.add_evidence(task_id, summary="the buffer leaks", agent_id="ana").artifact_id
    records.verification(seen, summary="reproduced", supports_claim=True, agent_id="bo")
    resume = tasks.resume(task_id)
    assert (resume.status, resume.goal, resume.summary) == ("open", "Find the leak", "narrowed down")
    assert resume.evidence == ("the buffer leaks [verified by bo]",)
    assert (resume.blockers, resume.followups, resume.what_failed) == (("no access",), ("bisect",), ("out of memory",))
    assert resume.validation == ("confirmed by bo: reproduced",)
    assert resume.recent_runs == ("make check -> failed",)
    assert resume.verified == (seen,)
    assert len(resume.sources) == 6
    assert resume.digest is not None
    assert (resume.digest.trust_tier, resume.digest.promotion_state) == ("compiled_digest_hint", "summarized")
    assert resume.digest.record.task_id == task_id


def test_a_digest_keeps_its_identity_and_follows_its_sources(tasks, records):
    """A stale digest is refreshed on read under the same id; an up-to-date one stays untouched."""
    task_id = tasks.start("Find the leak", at=AT.format(1)).task_id
    first = tasks.resume(task_id).digest
    assert tasks.resume(task_id).digest == first
    tasks.progress(task_id, summary="half way", next_step="go on", at=AT.format(9))
    assert records.get(first.artifact_id).stale
    second = tasks.resume(task_id).digest
    assert second.artifact_id == first.artifact_id
    assert second.record.source_updated_at_ms - first.record.source_updated_at_ms == 8_000
    assert not records.get(first.artifact_id).stale


def test_a_digest_without_sources_is_gone(graph, tasks, records):
    """When the last source of a library is rejected, maintenance removes its digest."""
    memory = memory_of(graph)
    task_id = tasks.start("Find the leak", agent_id="ana").task_id
    old = tasks.add_evidence(task_id, summary="Tiles work", what_worked=["tiles"], agent_id="ana").artifact_id
    digest = records.find_highlights().digest.artifact_id
    records.verification(old, summary="They do not", supports_claim=False, agent_id="bo")
    assert records.get(digest).stale
    memory.dream(dry_run=False)
    assert records.find_highlights().digest is None
    assert memory.dream(dry_run=False).actions == ()
    with pytest.raises(NotFound):
        records.get(digest)


def test_unknown_tasks_are_not_found(tasks):
    """Getting or resuming an unknown task raises ``NotFound``."""
    for ask in (tasks.get, tasks.resume):
        with pytest.raises(NotFound, match="no task 'nowhere'"):
            ask("nowhere")


def test_a_whole_story_of_two_agents_and_a_third(graph, tasks, records):
    """A full story: runs, failure, evidence, review, countersignature, rejection, resume, decision, dream, finish."""
    memory = memory_of(graph)
    task_id = tasks.start("Speed up the soil pipeline", agent_id="ana", project_id="soil", at=AT.format(0)).task_id
    run(tasks, task_id, agent_id="ana", command="pipeline --threads 64", at=AT.format(1))
    tasks.run_finish(task_id, status="failed", summary="Out of memory at 64 threads", agent_id="ana", at=AT.format(2))
    run(tasks, task_id, agent_id="ana", command="pipeline --threads 16", at=AT.format(3))
    tasks.run_finish(task_id, status="completed", what_worked=["16 threads"], agent_id="ana", at=AT.format(4))
    claim = tasks.add_evidence(
        task_id,
        summary="The pipeline runs twice as fast with 16 threads",
        supports_claim=True,
        agent_id="ana",
        at=AT.format(5),
    ).artifact_id

    records.review(claim, summary="Numbers look right, method unclear", agent_id="bo", at=AT.format(6))
    records.verification(claim, summary="I ran it again", supports_claim=True, agent_id="ana", at=AT.format(7))
    assert records.get(claim).trust_tier == "canonical_record"
    signed = records.verification(
        claim, summary="Reproduced twice", supports_claim=True, agent_id="bo", at=AT.format(8)
    )
    verified = records.get(claim)
    assert (verified.trust_tier, verified.promotion_state) == ("verified_record", "verified")
    assert verified.verified_by == (signed.artifact_id,)
    assert records.find_related("The pipeline runs twice as fast with 16 threads").grounding_status == "verified"

    records.verification(claim, summary="Not on our cluster", supports_claim=False, agent_id="cy", at=AT.format(9))
    fallen = records.get(claim)
    assert (fallen.trust_tier, fallen.promotion_state) == ("canonical_record", "canonical")
    related = records.find_related(claim)
    assert related.grounding_status == "contested"
    assert signed.artifact_id in {hit.artifact_id for hit in related.supporting}

    resume = tasks.resume(task_id)
    assert resume.what_failed == ("Out of memory at 64 threads",)
    assert resume.recent_runs[0] == "pipeline --threads 16 -> completed"
    assert resume.rejected == ("The pipeline runs twice as fast with 16 threads (rejected: Not on our cluster by cy)",)
    assert [view.record.summary for view in records.find_failures(project_id="soil")] == ["Out of memory at 64 threads"]
    thread = records.list_thread(task_id)
    assert [view.record.agent_id for view in thread][-4:] == ["bo", "ana", "bo", "cy"]

    records.decision(
        task_id, summary="Keep 16 threads", why_chosen="one of two sites", agent_id="dee", at=AT.format(10)
    )
    before = records.search("threads", include_hidden=True).document()
    planned = memory.dream(project_id="soil")
    assert planned.dry_run
    assert {action["action"] for action in planned.actions} == {"refresh_digest"}
    assert records.search("threads", include_hidden=True).document() == before
    done = memory.dream(project_id="soil", dry_run=False, at=AT.format(11))
    report = records.get(done.report_id)
    assert report.record.artifact_role == "dream_report"
    assert set(report.record.related_artifact_ids) == {
        view.artifact_id for view in map(records.get, report.record.related_artifact_ids)
    }
    assert done.actions == planned.actions
    assert memory.dream(project_id="soil", dry_run=False).actions == ()
    tasks.finish(task_id, what_worked=["16 threads"], agent_id="dee", at=AT.format(12))
    assert tasks.resume(task_id).status == "completed"


def test_the_compiler_learns_from_task_work(graph, tasks, records):
    """A repaired failure becomes a playbook in the failure library, a repeated decision becomes a policy."""
    for _ in range(4):
        task_id = tasks.start("Assemble the soil genome", agent_id="ana").task_id
        for tool, status in (("spades", "failed"), ("subsample_reads", "completed"), ("spades", "completed")):
            run(tasks, task_id, command=tool, tool_name=tool, agent_id="ana")
            tasks.run_finish(task_id, status=status, summary=f"{tool}: {status}, out of memory or not", agent_id="ana")
        records.decision(task_id, summary="Use spades", scientific_question="Which assembler for soil?", agent_id="ana")
        tasks.finish(task_id, what_worked=["fewer reads"], agent_id="ana")
    graph.compile()
    (playbook,) = records.find_failures().artifacts
    (policy,) = records.find_decisions().artifacts
    assert (playbook["artifact_type"], policy["artifact_type"]) == ("failure_playbook", "decision_policy")
    assert playbook["from_task_work"]
    assert policy["from_task_work"]


def test_a_step_costs_few_statements(graph):
    """A checkpoint is seven statements: its task and session are read once, under their locks."""
    task_id = graph.tasks.start("Find the leak", agent_id="ana").task_id
    _, sent = statements(graph, lambda: graph.tasks.progress(task_id, summary="Bisected", next_step="Fix it"))
    assert len(sent) == 7, sent


def test_a_record_whose_events_are_stored_already_raises_the_version(graph):
    """A restored event log has the events of records that are written again: readers must learn of the record."""
    fields = {"artifact_id": "r-1", "agent_id": "ana", "goal": "Find the leak"}
    record = TaskRecord(
        artifact_kind="task_start", task_id="t-1", tenant_id=graph.tenant_id, timestamp_created=1, **fields
    )
    assert graph.ingest([event.document() for event in events_of(record, 0)]).accepted == 1
    before = graph.health()["state_version"]
    graph.records.create("task_start", task_id="t-1", at="1970-01-01T00:00:00.001Z", **fields)
    assert graph.health()["state_version"] == before + 1
    assert graph.verify().ok
