"""Compiling the real graph: incremental equals full, repeating changes nothing, and forgetting takes effect."""

import random

import pytest

from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.sessions import summarise
from hmxgraph.errors import InvalidRequest, NotFound
from hmxgraph.graph.plan import Tenancy, ask, bind, read
from hmxgraph.protocol.canonical import content_hash
from tests.session_makers import Script, deployment, order_session, repaired_deployment

pytestmark = pytest.mark.server


def world(tenant, numbers=range(3)):
    """Deployments, some of them repaired, and orders that are cancelled or returned."""
    sessions = [deployment(f"d{n}", tenant=tenant) for n in numbers]
    sessions += [repaired_deployment(f"r{n}", tenant=tenant) for n in numbers]
    sessions += [
        order_session(f"{change}{n}", change, tenant=tenant) for n in numbers for change in ("cancel", "return")
    ]
    return [event for events in sessions for event in events]


def stored(graph, status="active"):
    """(type, title, content hash, version) of each artifact with the given status."""
    artifacts = graph.artifacts(status=status, limit=500).artifacts
    return sorted(
        (artifact.artifact_type, artifact.title, artifact.content_hash, artifact.version) for artifact in artifacts
    )


def titles(graph):
    """The titles of the active artifacts."""
    return {title for _, title, *_ in stored(graph)}


def test_compile_stores_what_sessions_teach(graph, tenant_id):
    """Compiling stores artifacts with evidence, all hashes and links hold, and the report counts what was created."""
    graph.ingest(world(tenant_id))
    report = graph.compile()
    assert report.created["task_schema"] == 3
    assert (report.sessions, report.summarised, report.dry_run) == (12, 12, False)
    assert graph.verify().findings == ()
    artifact = graph.artifacts(artifact_type="task_schema").artifacts[0]
    assert artifact.source_events
    assert artifact.metadata["profile"] == report.profile


def test_dry_run_writes_nothing(graph, tenant_id):
    """A dry run reports the same as the run after it and stores nothing."""
    graph.ingest(world(tenant_id))
    preview = graph.compile(dry_run=True)
    assert stored(graph) == []
    assert graph.compile().created == preview.created


def test_only_the_latest_sessions_are_learned_from(graph, tenant_id):
    """Artifacts that only sessions beyond max_sessions support are retired; a wider profile brings them back."""
    graph.ingest(event for n in range(3) for event in deployment(f"old{n}", tenant=tenant_id))
    graph.ingest(event for n in range(3) for event in order_session(f"new{n}", "cancel", tenant=tenant_id))
    everything = graph.compile()
    before = titles(graph)
    latest = CompilerProfile(max_sessions=3)
    tried, done = graph.compile(profile=latest, dry_run=True), graph.compile(profile=latest)
    kept = titles(graph)
    assert tried.changes == done.changes
    assert [(report.sessions, report.older) for report in (everything, tried, done)] == [
        (6, False),
        (3, True),
        (3, True),
    ]
    assert kept < before
    assert any("order" in title for title in kept)
    assert not any("staging" in title for title in kept)
    assert not graph.compile(profile=latest, full=True).changed
    graph.compile()
    assert titles(graph) == before


def test_twice_changes_nothing(graph, tenant_id):
    """A second run reads and writes nothing; a full run reads everything and writes nothing."""
    graph.ingest(world(tenant_id))
    graph.compile()
    before = stored(graph)
    again = graph.compile()
    assert (again.changed, again.summarised) == (False, 0)
    full = graph.compile(full=True)
    assert (full.changed, full.summarised) == (False, 12)
    assert stored(graph) == before


def test_incremental_gives_the_same_as_full(graph, tenant_id):
    """An incremental run reads only changed sessions, and a full run after it changes nothing."""
    graph.ingest(world(tenant_id))
    graph.compile()
    graph.ingest([*repaired_deployment("new", tenant=tenant_id), *order_session("more", "cancel", tenant=tenant_id)])
    report = graph.compile()
    assert report.summarised == 2
    before = stored(graph)
    assert graph.compile(full=True).changed is False
    assert stored(graph) == before
    assert graph.verify().findings == ()


def test_new_versions_supersede(graph, tenant_id):
    """A schema that gains sessions gets a new version that supersedes the previous one."""
    graph.ingest([event for n in range(3) for event in deployment(f"d{n}", tenant=tenant_id)])
    graph.compile()
    (first,) = graph.artifacts(artifact_type="task_schema").artifacts
    graph.ingest([event for n in range(8) for event in deployment(f"e{n}", tenant=tenant_id)])
    graph.compile()
    (second,) = graph.artifacts(artifact_type="task_schema", status="active").artifacts
    assert (second.version, second.supersedes) == (2, first.artifact_id)
    assert [version.artifact_id for version in graph.chain(second.artifact_id).versions] == [
        first.artifact_id,
        second.artifact_id,
    ]


def test_a_draft_becomes_active_with_two_more_sessions(graph, tenant_id):
    """One session produces drafts; two more like it make them active."""
    graph.ingest(deployment("d1", tenant=tenant_id))
    graph.compile()
    assert stored(graph) == []
    assert stored(graph, "draft") != []
    graph.ingest(deployment("d2", tenant=tenant_id) + deployment("d3", tenant=tenant_id))
    graph.compile()
    assert stored(graph) != []
    assert graph.verify().findings == ()


def test_forgotten_sessions_teach_nothing(graph, tenant_id):
    """Artifacts that no longer have enough evidence after an erasure are not active after the next compilation."""
    graph.ingest([event for n in range(3) for event in deployment(f"d{n}", tenant=tenant_id)])
    graph.compile()
    assert stored(graph) != []
    graph.forget(session_id="d0")
    graph.compile()
    assert stored(graph) == []
    assert graph.compile(full=True).changed is False


def test_archived_artifacts_stay_archived(graph, tenant_id):
    """An artifact that somebody archived is not compiled again."""
    graph.ingest(world(tenant_id))
    graph.compile()
    schema = graph.artifacts(artifact_type="task_schema").artifacts[0]
    graph.transition(schema.artifact_id, "archived")
    report = graph.compile(full=True)
    assert report.skipped == {"task_schema": 1}
    assert (schema.artifact_type, schema.title, schema.content_hash, schema.version) not in stored(graph)


def test_ids_are_equal_on_replay(graph, tenant_id):
    """A compilation stores artifacts under the ids that a dry run planned, and nothing is planned after it."""
    graph.ingest(world(tenant_id))
    planned_ids = sorted(change.artifact_id for change in graph.compile(dry_run=True).changes)
    graph.compile()
    assert sorted(change.artifact_id for change in graph.compile(dry_run=True, full=True).changes) == []
    assert {artifact.artifact_id for artifact in graph.artifacts(limit=500).artifacts} <= set(planned_ids)


def test_empty_tenant(graph):
    """An empty tenant compiles to an empty report and gets no suggestions."""
    report = graph.compile()
    assert (report.sessions, report.changed) == (0, False)
    assert graph.suggest(events=Script("s").user("Hello").events).tools == ()


def test_one_event(graph, tenant_id):
    """A single event is a session without steps: it is counted, but nothing is learned from it."""
    graph.ingest(Script("s", tenant=tenant_id).user("Hello").events)
    report = graph.compile()
    assert (report.sessions, report.events, report.without_outcome, report.changed) == (1, 1, 1, False)
    assert graph.compile(full=True).changed is False


def test_sessions_without_outcome(graph, tenant_id):
    """If no outcome is known, the report says so, and procedures but no causal patterns are learned."""
    for name in ("s1", "s2", "s3"):
        script = Script(name, tenant=tenant_id).user("Cancel my order")
        script.add("tool_call", {"tool_name": "find_user", "arguments": {}})
        script.add("tool_call", {"tool_name": "cancel_order", "arguments": {}})
        graph.ingest(script.events)
    report = graph.compile()
    assert (report.sessions, report.without_outcome) == (3, 3)
    assert {change.artifact_type for change in report.changes} >= {"task_schema"}
    assert not [change for change in report.changes if change.artifact_type == "causal_pattern"]


def test_events_out_of_order(graph, tenant_id):
    """Events that arrive out of order, with a compilation in between, give the same artifacts as ordered sessions."""
    events = world(tenant_id)
    mixed = random.Random(5).sample(events, len(events))
    graph.ingest(mixed[: len(mixed) // 2])
    graph.compile()
    graph.ingest(mixed[len(mixed) // 2 :])
    graph.compile()
    expected = compile_summaries(
        summarise(event for event in events if event.session_id == name)
        for name in {event.session_id for event in events}
    )
    valid = [draft for draft in expected.drafts if draft.validated(DEFAULT_PROFILE)]
    stored_artifacts = {
        (artifact.artifact_type, artifact.title, artifact.content_hash)
        for artifact in graph.artifacts(limit=500).artifacts
    }
    assert stored_artifacts == {(draft.artifact_type, draft.title, content_hash(draft.content)) for draft in valid}


def test_incremental_after_forgetting_gives_the_same_as_full(graph, tenant_id):
    """After an erasure, an incremental compilation gives the same result as a full one."""
    graph.ingest(world(tenant_id))
    graph.compile()
    graph.forget(session_id="r1")
    graph.forget(event_id="cancel2/5")
    assert graph.compile().summarised == 2
    before = stored(graph)
    assert graph.compile(full=True).changed is False
    assert stored(graph) == before
    assert graph.verify().findings == ()


def test_forgetting_everything_takes_the_model(graph, tenant_id):
    """Erasing an event removes the suggestion model until the next compilation; erasing all removes it for good."""
    graph.ingest(world(tenant_id))
    graph.compile()
    running = Script("now", tenant=tenant_id).user("Please cancel my order").events
    assert graph.suggest(events=running).tools
    graph.forget(session_id="d0")
    assert graph.suggest(events=running).tools == ()
    graph.compile()
    assert graph.suggest(events=running).tools
    graph.forget(before="2100-01-01T00:00:00Z")
    assert graph.suggest(events=running).tools == ()
    assert models(graph) == []
    report = graph.compile()
    assert (report.sessions, models(graph), stored(graph)) == (0, [], [])


def models(graph):
    """The tenant's stored suggestion models."""
    names = {"tenant_id": graph.tenant_id, "model_key": Tenancy.of(graph.tenant_id).node_key("compiler-model")}
    return graph._perform(read(lambda: ask(bind("compiler/model", **names))))


def test_long_session_is_read_in_pages(graph, tenant_id):
    """All events of a session that is longer than a page are read."""
    script = Script("long", tenant=tenant_id).user("Watch the queue")
    for number in range(900):
        script.call("get_queue_length", {"length": number}, queue="orders")
    graph.ingest(script.feedback("positive").events)
    report = graph.compile()
    assert (report.sessions, report.events) == (1, len(script.events))


def test_suggestions_are_equal_for_stored_and_given_sessions(graph, tenant_id):
    """A session gets the same suggestion whether its events are passed in or already stored."""
    graph.ingest(world(tenant_id))
    graph.compile()
    running = Script("now", tenant=tenant_id).user("Please cancel my order").call("find_user_by_email", email="a@b.de")
    suggestion = graph.suggest(events=running.events)
    assert suggestion.tools[0].tool == "get_order_details"
    assert suggestion.artifact_id in suggestion.tools[0].artifact_ids
    graph.ingest(running.events)
    assert graph.suggest(session_id="now") == suggestion


def test_a_request_unlike_any_session_gets_no_procedure(graph, tenant_id):
    """A request that shares no word with any session gets no procedure, either suggested or in a pack."""
    graph.ingest(world(tenant_id))
    graph.compile()
    asked = "Write a poem about cats"
    assert graph.suggest(events=Script("now", tenant=tenant_id).user(asked).events).tools == ()
    schemas = {artifact.artifact_id for artifact in graph.artifacts(artifact_type="task_schema").artifacts}
    assert schemas.isdisjoint(entry.source_id for entry in graph.pack(asked).entries)
    assert not schemas.isdisjoint(entry.source_id for entry in graph.pack("Deploy the staging environment").entries)


def test_suggest_needs_one_session(graph):
    """``suggest`` refuses an unknown session id and a call with neither session id nor events."""
    with pytest.raises(NotFound):
        graph.suggest(session_id="nobody")
    with pytest.raises(InvalidRequest, match="session_id"):
        graph.suggest()
