"""Forgetting: content is erased, place and hash stay, and knowledge that rested only on it is deprecated or erased."""

import re
from functools import partial

import pytest

from hmxgraph.errors import InvalidRequest, TaskError
from hmxgraph.graph import retention
from hmxgraph.graph.artifacts import artifact
from hmxgraph.graph.lifecycle import record_artifact
from hmxgraph.graph.plan import Tenancy, query, write
from hmxgraph.graph.retention import forget
from hmxgraph.graph.schema import packaged_schema, send_all
from hmxgraph.protocol.reports import ForgetCriteria
from hmxgraph.protocol.timestamps import microseconds
from tests.artifact_makers import schema
from tests.integration.ingested import Ingested
from tests.session_makers import repaired_deployment
from tests.task_makers import digest_by_hand
from tests.unit.ingest.making import document

LEFT = "MATCH (n {tenant_id: $tenant_id}) RETURN labels(n) AS labels, properties(n) AS properties"
UNNAMED = """
MATCH (:Artifact {tenant_id: $tenant_id})-[link:EVIDENCED_BY]->(event:Event)
WHERE coalesce(link.session_key, '') <> event.session_key
RETURN event.event_id AS id
"""
FOUND = """
CALL db.index.fulltext.queryNodes('event_text', $word) YIELD node
WHERE node.tenant_id = $tenant_id
RETURN node.event_id AS id
"""


@pytest.fixture
def stored(connection, tenant_id):
    """The stored nodes and relationships of the test's tenant."""
    return Ingested(connection, tenant_id)


def holding(stored, word):
    """The labels of the tenant's nodes that still hold *word* in any property."""
    return [row["labels"] for row in stored.rows(LEFT) if word.lower() in str(row["properties"]).lower()]


@pytest.fixture
def forgetting(connection, tenant_id):
    """Runs ``forget`` with the given criteria."""

    def run(*, dry_run=False, **criteria):
        return connection.perform(forget(Tenancy.of(tenant_id), ForgetCriteria(**criteria), dry_run=dry_run))

    return run


@pytest.fixture
def events(tenant_id):
    """Two sessions of three events each; every text contains a unique word."""
    return [
        document(
            tenant_id=tenant_id,
            event_id=f"{session}{n}",
            session_id=session,
            sequence=n,
            agent_id=f"agent-{session}",
            source=f"source-{n}",
            timestamp=f"2026-03-1{n}T00:00:00Z",
            content={"role": "user", "text": f"zebra{session}{n} runs"},
            **({"ttl_seconds": 60} if n == 1 else {}),
        )
        for session in ("a", "b")
        for n in range(3)
    ]


def test_content_goes_place_and_hash_stay(graph, stored, forgetting, events):
    """An erased event keeps id, hash, type and order; its content is gone and cannot be found."""
    graph.ingest(events)
    before, links = stored.event("a1"), stored.links()
    report = forgetting(event_ids=("a1",))
    after = stored.event("a1")
    assert (report.events, report.remaining, report.sessions) == ((("a1", before["event_hash"]),), 0, 1)
    assert after["erased"] is True
    assert {"event_hash", "sequence", "time_us", "key"} <= after.keys()
    assert not {"content", "text", "search_text", "agent_id", "source", "metadata", "salience"} & after.keys()
    assert holding(stored, "zebraa1") == []
    assert stored.rows(FOUND, word="zebraa1") == []
    assert len(stored.rows(FOUND, word="zebraa2")) == 1
    assert stored.links() == links


def test_replay_does_not_bring_it_back(graph, stored, forgetting, events):
    """Re-ingesting an erased event is a duplicate; another body under its id is a conflict."""
    graph.ingest(events)
    forgetting(session_id="a")
    report = graph.ingest([*events, dict(events[0], metadata={"other": 1})])
    assert (report.accepted, report.duplicates, report.conflicts) == (0, 6, 1)
    assert stored.event("a0")["erased"] is True


@pytest.mark.parametrize(
    ("criteria", "gone"),
    [
        ({"event_ids": ("a0", "b2", "unknown")}, {"a0", "b2"}),
        ({"session_id": "b"}, {"b0", "b1", "b2"}),
        ({"agent_id": "agent-a"}, {"a0", "a1", "a2"}),
        ({"source": "source-2"}, {"a2", "b2"}),
        ({"before_us": 1773187200000000}, {"a0", "b0"}),
        ({"older_than_us": 24 * 3600 * 1_000_000}, {"a0", "b0"}),
        ({"older_than_us": 24 * 3600 * 1_000_000, "before_us": 1773273600000000}, {"a0", "b0"}),
        ({"older_than_us": 1, "before_us": 1773187200000000}, {"a0", "b0"}),
        ({"expired": True}, {"a1", "b1"}),
        ({"session_id": "a", "source": "source-1"}, {"a1"}),
        ({"session_id": "a", "expired": True}, {"a1"}),
        ({"agent_id": "agent-a", "expired": True}, {"a1"}),
        ({"source": "source-2", "expired": True}, set()),
        ({"session_id": "b", "before_us": 1773187200000000, "agent_id": "agent-b"}, {"b0"}),
        ({"event_ids": ("a0", "a2", "b2"), "session_id": "a", "source": "source-2"}, {"a2"}),
        ({"event_ids": ()}, set()),
    ],
)
@pytest.mark.parametrize("page", [2, 1_000])
def test_each_criterion(graph, monkeypatch, forgetting, events, criteria, gone, page):
    """Events are selected by id, session, agent, source, age and expiry; criteria combine, whatever the page size."""
    monkeypatch.setattr(retention, "PAGE", page)
    graph.ingest(events)
    dry = forgetting(dry_run=True, **criteria)
    report = forgetting(**criteria)
    assert {event.event_id for event in report.events} == gone == {event.event_id for event in dry.events}
    assert (dry.remaining, report.remaining) == (len(gone), 0)
    assert forgetting(**criteria).events == ()


@pytest.mark.parametrize("criteria", [{"session_id": "a"}, {"agent_id": "agent-a"}, {"event_ids": ("n0", "n1", "n2")}])
def test_what_came_meanwhile_is_counted(graph, connection, monkeypatch, forgetting, events, criteria):
    """Matching events stored during a forget are all counted as remaining, even beyond one page."""
    monkeypatch.setattr(retention, "PAGE", 2)
    late = [dict(events[0], event_id=f"n{place}", sequence=5 + place) for place in range(3)]

    def ingest_late(line):
        if line.startswith("retention/drop_model"):
            graph.ingest(late)

    graph.ingest(events)
    connection.listen(ingest_late)
    assert forgetting(**criteria).remaining == 3


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("retention/select", {"PartialTop", "NodeIndexSeek(tenant_id, time_us)"}),
        ("retention/select_expired", {"PartialTop", "NodeIndexSeek(tenant_id, expires_us)"}),
        ("retention/select_events", {"Top", "NodeUniqueIndexSeek(key)"}),
        ("retention/select_session", {"PartialTop", "NodeIndexSeek(session_key, sequence)"}),
        ("retention/select_user", {"PartialTop", "DirectedRelationshipIndexSeek(user_key, time_us)"}),
    ],
)
def test_what_is_chosen_is_looked_for_where_it_is(connection, name, operators):
    """Named events are read by key; those of a session or tenant come in index order, page by page."""
    criteria = dict.fromkeys(("before_us", "expired_us", "agent_id", "source", "session_key"))
    chosen = criteria | {"event_keys": ["k"], "user_keys": ["k"]}
    given = {"tenant_id": "t", "chosen": chosen, "after": 0, "after_key": "", "limit": 10}
    plan = connection._driver.execute_query("EXPLAIN " + query(name).text, given).summary.plan
    assert operators <= set(planned(plan))


def planned(plan):
    """The operators of a plan, seeks with the properties of their index."""
    operator = plan["operatorType"].removesuffix("@neo4j")
    details = plan["args"].get("Details", "") if "Seek" in operator else ""
    index = re.search(r":(?:Event|NAMES_USER)(\([^)]*\))", details)
    yield operator + (index.group(1) if index else "")
    for child in plan.get("children", ()):
        yield from planned(child)


def test_ttl_runs_by_the_logical_clock(graph, forgetting, events):
    """Events expire by the tenant's logical clock, not by the wall clock."""
    graph.ingest([events[1]])
    assert forgetting(expired=True).events == ()
    graph.ingest([dict(events[2], timestamp="2026-03-11T00:01:00Z")])
    assert [event.event_id for event in forgetting(expired=True).events] == ["a1"]


def test_a_wrong_time_goes_with_its_event(graph, forgetting, events):
    """An event dated in the far future is stored with a warning and never moves the tenant's clock."""
    graph.ingest(events)
    now_us = graph.health()["logical_us"]
    report = graph.ingest([dict(events[2], event_id="z", timestamp="9999-12-31T23:59:59Z", ttl_seconds=60)])
    assert "(first: 'z', 9999-12-31T23:59:59Z)" in report.warnings[0]
    assert graph.health()["logical_us"] == now_us
    forgetting(event_ids=("z",))
    assert graph.health()["logical_us"] == now_us
    assert graph.verify().findings == ()


def test_the_clock_stays_with_what_people_recorded(graph, forgetting, events):
    """After a forget, the clock stays at the last recorded decision, so that it still holds."""
    graph.ingest([*events, dict(events[2], event_id="z", timestamp="2026-03-25T00:00:00Z")])
    graph.record_artifact(schema("kept", step="kept"))
    graph.transition("kept", "deprecated", at="2026-03-20T00:00:00Z")
    forgetting(event_ids=("z",))
    assert graph.health()["logical_us"] == microseconds("2026-03-20T00:00:00Z")
    assert graph.artifact("kept").status == "deprecated"


def test_an_emptied_tenant_starts_over(graph, forgetting, events):
    """After everything was erased, the next memory is dated now, not by erased events."""
    graph.ingest([dict(events[2], timestamp="9999-12-31T23:59:59Z")])
    forgetting(session_id="a")
    assert graph.remember("The port is 80").first_at < "9999"
    assert graph.verify().findings == ()


def test_artifacts_without_evidence_are_deprecated(graph, connection, forgetting, events, tenant_id):
    """An artifact that loses its last evidence is deprecated; one that keeps some stays active."""
    tenancy = Tenancy.of(tenant_id)
    graph.ingest(events)
    for name, sources in (("alone", ["a0", "a1"]), ("shared", ["a0", "b0"]), ("other", ["b1"])):
        connection.perform(record_artifact(tenancy, schema(name, step=name, source_events=sources)))
    dry = forgetting(dry_run=True, session_id="a")
    report = forgetting(session_id="a")
    assert dry.artifacts == report.artifacts == ("alone",)
    statuses = {name: connection.perform(artifact(tenancy, name)).status for name in ("alone", "shared", "other")}
    assert statuses == {"alone": "deprecated", "shared": "active", "other": "active"}
    assert forgetting(dry_run=True, session_id="b").artifacts == ("other", "shared")
    assert forgetting(session_id="b").artifacts == ("other", "shared")


def test_knowledge_from_erased_events_alone_is_forgotten(graph, stored, forgetting, tenant_id):
    """Memories, entities and relations that rest only on erased events are erased; others stay."""
    texts = {
        "a": "Always verify the rollout with kubectl. I prefer Quokkabox.",
        "b": "Always verify the rollout with kubectl.",
    }
    graph.ingest(
        document(tenant_id=tenant_id, event_id=name, session_id=name, content={"role": "user", "text": text})
        for name, text in texts.items()
    )
    dry = forgetting(dry_run=True, session_id="a")
    report = forgetting(session_id="a")
    assert report.memories == dry.memories
    assert report.entities == dry.entities
    assert report.relations == dry.relations
    assert report.memories
    assert report.entities
    assert holding(stored, "Quokkabox") == []
    assert holding(stored, "verify the rollout")
    forgetting(session_id="b")
    assert holding(stored, "verify the rollout") == []


def test_a_dry_run_writes_nothing(graph, stored, forgetting, events):
    """A dry run reports what would be erased and leaves state version and events unchanged."""
    graph.ingest(events)
    before, version = stored.event("a0"), graph.health()["state_version"]
    assert len(forgetting(dry_run=True, session_id="a").events) == 3
    assert (stored.event("a0"), graph.health()["state_version"]) == (before, version)


def test_nothing_chosen_is_refused():
    """Forgetting without any criterion, which would erase everything, is refused."""
    with pytest.raises(InvalidRequest, match="session_id"):
        ForgetCriteria()


def test_sessions_are_marked_as_changed(graph, stored, forgetting, events):
    """A session that lost events is marked for recompilation; an outcome from erased feedback is removed."""
    feedback = dict(events[0], event_id="f", sequence=9, event_type="feedback", content={"signal": "positive"})
    graph.ingest([*events, feedback])
    assert stored.session("a")["outcome"] == "positive"
    forgetting(event_ids=("f",))
    session = stored.session("a")
    assert "outcome" not in session
    assert session["changed_version"] == graph.health()["state_version"]
    assert session["event_count"] == 4


FULL_RECORD = {
    "agent_id": "zebra ana",
    "project_id": "savannah",
    "status": "zebra status",
    "artifact_role": "zebra role",
    "challenge_id": "zebra challenge",
    "relation_kind": "zebra relation",
    "tool_name": "zebra tool",
    "requested_action": "zebra request",
    "verification_status": "zebra verdict",
    "motivation": "zebra motive",
    "blockers": ["zebra blocker"],
    "what_worked": ["zebra win"],
    "what_failed": ["zebra failure"],
    "validation": ["zebra check"],
    "followups": ["zebra next"],
    "parameters": {"zebra": "setting"},
    "metrics": {"zebra": 1},
    "tags": ["event:zebra"],
    "dataset_refs": [{"name": "zebra data", "version": "zebra 2", "description": "zebra soil"}, {"name": "shared"}],
    "entity_refs": [{"name": "Zebra", "entity_type": "organism", "role": "zebra subject"}],
    "contributors": [{"contributor_id": "bo", "display_name": "Zebra Bo", "contribution": "zebra sampling"}],
    "provenance": {"path": "zebra/path"},
}


def write_zebras(graph, task_id):
    """Write a task whose records say "zebra" in every field, and one record in another session."""
    tasks, records = graph.tasks, graph.records
    tasks.start("Find the zebra", task_id=task_id, **FULL_RECORD)
    run = tasks.run_start(task_id, command="zebra run", why_chosen="zebra", inputs=["zebra"], **FULL_RECORD)
    tasks.run_finish(task_id, run_id=run.artifact_id, **FULL_RECORD | {"summary": "zebra ran"})
    seen = tasks.add_evidence(task_id, summary="zebra seen", artifact_id="seen", **FULL_RECORD)
    records.review(seen.artifact_id, summary="zebra review", **FULL_RECORD)
    records.revision(seen.artifact_id, summary="zebra revision", **FULL_RECORD)
    records.verification(seen.artifact_id, summary="zebra verified", supports_claim=True, **FULL_RECORD)
    records.decision(task_id, summary="zebra decided", **FULL_RECORD)
    digest_by_hand(graph, task_id, summary="zebra told", artifact_role="project_brief", digest_key="mine")
    other = {"dataset_refs": [{"name": "shared"}], "contributors": [{"contributor_id": "bo"}], "session_id": "other"}
    tasks.add_evidence(task_id, summary="a lion", artifact_id="lion", **other)
    tasks.finish(task_id, **FULL_RECORD | {"summary": "zebra end"})


def read_everything(graph, task_id):
    """Compose every digest, so that each could hold text that is erased later."""
    graph.tasks.resume(task_id)
    for project_id in ("savannah", None):
        graph.memory.compact(project_id=project_id, force_digest_rebuild=True)


@pytest.mark.parametrize("criteria", [{"session_id": "task:safari"}, {"before": "9999-01-01T00:00:00Z"}])
def test_no_text_of_an_erased_record_is_left_anywhere(graph, stored, criteria):
    """Records are erased with their events: no node and no relationship of the tenant keeps their words."""
    write_zebras(graph, "safari")
    read_everything(graph, "safari")
    relationships = "MATCH ({tenant_id: $tenant_id})-[r]->() RETURN type(r) AS labels, properties(r) AS properties"
    dry = graph.forget(dry_run=True, **criteria)
    report = graph.forget(**criteria)
    assert (dry.records, set(dry.entities)) == (report.records, set(report.entities))
    assert len(report.records) == (10 if "before" in criteria else 9)
    assert holding(stored, "zebra") == []
    assert [row for row in stored.rows(relationships) if "zebra" in str(row).lower()] == []
    assert graph.records.search("zebra", include_hidden=True).hits == ()
    read_everything(graph, "safari")
    assert holding(stored, "zebra") == []
    assert bool(holding(stored, "savannah")) == ("session_id" in criteria)
    assert [finding for finding in graph.verify().findings if finding.level == "wrong"] == []


def test_an_erased_record_keeps_its_place(graph, stored):
    """Id, kind, thread and hash stay, the thread keeps its length, and a replay restores nothing."""
    write_zebras(graph, "safari")
    before = graph.records.list_thread("safari")
    hashed = "MATCH (r:TaskRecord {tenant_id: $tenant_id, artifact_id: 'seen'}) RETURN r.record_hash AS hash"
    ((row,)) = stored.rows(hashed)
    graph.forget(session_id="task:safari")
    after = graph.records.list_thread("safari")
    assert [view.artifact_id for view in after] == [view.artifact_id for view in before]
    assert {view.hidden_reason for view in after if view.artifact_id != "lion"} == {"erased"}
    assert stored.rows(hashed) == [row]
    assert graph.records.get("lion").text == "a lion"
    again = graph.tasks.add_evidence("safari", summary="zebra seen", artifact_id="seen", **FULL_RECORD)
    assert (again.created, again.projections) == (False, ())
    assert holding(stored, "zebra") == []
    with pytest.raises(TaskError, match="record 'seen' was erased"):
        graph.records.verification("seen", summary="late", supports_claim=True, agent_id="cy")


def test_a_countersignature_goes_with_its_author(graph):
    """Erasing the verifier's events returns the verified record to its earlier trust."""
    task_id = graph.tasks.start("Find the leak", agent_id="ana").task_id
    seen = graph.tasks.add_evidence(task_id, summary="the buffer leaks", agent_id="ana").artifact_id
    graph.records.verification(seen, summary="reproduced", supports_claim=True, agent_id="bo")
    assert graph.records.get(seen).trust_tier == "verified_record"
    assert len(graph.forget(agent_id="bo").records) == 1
    view = graph.records.get(seen)
    assert (view.trust_tier, view.verified_by, view.text) == ("canonical_record", (), "the buffer leaks")
    assert graph.tasks.resume(task_id).validation == ()


def _named(graph, number, metadata, session_id="s"):
    content = {"role": "user", "text": "Label peanuts"}
    return document(
        tenant_id=graph.tenant_id, event_id=f"e{number}", session_id=session_id, content=content, metadata=metadata
    )


def test_every_event_that_names_a_user_is_found(graph, stored):
    """A user is found under each field, at any depth, however capitalised, and among any number of users."""
    named = [
        {"user_id": "Ann"},
        {"userId": "ANN"},
        {"customer_id": "ann"},
        {"caller": [{"User_Name": "aNN"}], "user_id": "bob"},
        {"people": [{"user_id": f"u{number}"} for number in range(50)] + [{"user_id": "ann"}]},
    ]
    others = [{"user_id": "Annie"}, {"name": "ann"}, {"user_id": ["ann"]}, {"user_id": 'ann"'}, {}]
    graph.ingest(_named(graph, number, metadata) for number, metadata in enumerate(named + others))
    assert {event.event_id for event in graph.forget(user_id="ann", dry_run=True).events} == {f"e{n}" for n in range(5)}
    report = graph.forget(user_id="ann", before="2000-01-01T00:00:00Z")
    assert (report.events, report.remaining) == ((), 0)
    report = graph.forget(user_id="ann")
    assert (len(report.events), report.remaining) == (5, 0)
    assert not stored.rows("MATCH (e:Event {tenant_id: $tenant_id, erased: true})-[:NAMES_USER]->() RETURN e.key")
    assert [event.event_id for event in graph.forget(user_id="Bob", dry_run=True).events] == []
    assert [event.event_id for event in graph.forget(user_id='ANN"').events] == ["e8"]


def test_the_report_names_the_sessions_in_which_others_spoke(graph, monkeypatch):
    """Named are a user's sessions with answers or other users' words; not those of other users, nor of memories."""
    monkeypatch.setattr(retention, "PAGE", 2)
    speakers = {"a": ("Ann", ""), "b": ("Ann", "Bob"), "c": ("", "Ann"), "alone": ("Ann", "ann"), "d": ("Bob", "")}
    spoken = [(session, user and {"user_id": user}) for session, users in speakers.items() for user in users]
    graph.ingest(_named(graph, number, user or {}, session) for number, (session, user) in enumerate(spoken))
    graph.remember("Ann wants no peanuts", user_id="Ann", kind="preference")
    graph.remember("The kitchen closes at ten")
    for dry_run in (True, False):
        report = graph.forget(user_id="ann", dry_run=dry_run)
        assert (report.sessions, report.shared_sessions) == (5, ("a", "b", "c"))
    assert graph.forget(session_id="a").shared_sessions == ()


def test_users_of_an_older_release_are_found_after_the_upgrade(graph, connection, stored):
    """The upgrade links the events that name a user, which an older release did not."""
    graph.ingest(_named(graph, number, {"user_id": name}) for number, name in enumerate(("Ann", "bob", "Ann")))
    graph.remember("Ann wants no peanuts", user_id="Ann", kind="preference")
    graph.forget(event_id="e2")
    stored.rows("MATCH (:Event {tenant_id: $tenant_id})-[named:NAMES_USER]->() DELETE named")
    assert graph.forget(user_id="ann", dry_run=True).events == ()
    [upgrade] = [step for step in packaged_schema().upgrades if step.version == 27]
    connection.perform(write(partial(send_all, upgrade.statements)))
    assert len(graph.forget(user_id="ann").events) == 2
    assert [event.event_id for event in graph.forget(user_id="bob").events] == ["e1"]


def test_what_was_compiled_before_an_upgrade_is_forgotten(graph, connection, stored, forgetting, tenant_id):
    """The schema upgrade adds the session to older evidence links, so that forgetting finds them."""
    graph.ingest(line for number in range(2) for line in repaired_deployment(f"d{number}", tenant=tenant_id))
    graph.compile()
    assert stored.rows(UNNAMED) == []
    stored.rows("MATCH (:Artifact {tenant_id: $tenant_id})-[link:EVIDENCED_BY]->() REMOVE link.session_key")
    assert stored.rows(UNNAMED)
    [upgrade] = [step for step in packaged_schema().upgrades if step.version == 9]
    connection.perform(write(partial(send_all, upgrade.statements)))
    assert stored.rows(UNNAMED) == []
    assert forgetting(session_id="d0").artifacts
