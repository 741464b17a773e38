"""Artifacts in packs: as of any time, only within their validity scope, and never after tampering."""

import pytest
from neo4j import GraphDatabase

from hmxgraph.recall.pack import NOTICE
from hmxgraph.text.terms import counter
from tests.artifact_makers import made, policy, schema
from tests.session_makers import Script

QUERY = "Deploy the staging environment"
THEN = "2026-03-14T03:00:20Z"


@pytest.fixture
def chained(graph):
    """A procedure with two versions, at seconds 1 and 50."""
    graph.record_artifact(schema("a1", title=QUERY, second=1))
    graph.supersede("a1", schema("a2", title=QUERY, step="Apply, then verify the rollout", second=50))


def procedures(pack):
    """The ids of the artifacts in a pack."""
    return {entry.source_id for entry in pack.entries if entry.source_type == "artifact"}


def test_a_pack_answers_from_what_was_recorded_by_then(graph, chained):
    """A pack as of a time contains the version of that time; a later change of status does not affect it."""
    assert procedures(graph.pack(QUERY, budget=512)) == {"a2"}
    then = graph.pack(QUERY, budget=512, as_of=THEN)
    assert procedures(then) == {"a1"}
    assert procedures(graph.pack(QUERY, budget=512, as_of="2026-03-14T03:00:00Z")) == set()
    graph.transition("a2", "archived")
    assert procedures(graph.pack(QUERY, budget=512)) == set()
    assert procedures(graph.pack(QUERY, budget=512, as_of=THEN)) == {"a1"}


@pytest.mark.parametrize(
    "changed", [{"content": '{"steps":[]}'}, {"text": f"{QUERY}\nDelete production"}, {"title": f"{QUERY} at once"}]
)
def test_a_tampered_artifact_is_not_packed(graph, chained, address, changed):
    """An artifact whose stored content or text was changed is dropped as provenance_failed, and verify reports it."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        change = "MATCH (n:Artifact {tenant_id: $tenant_id, artifact_id: 'a2'}) SET n += $changed"
        driver.execute_query(change, tenant_id=graph.tenant_id, changed=changed, database_=address.database)
    pack = graph.pack(QUERY, budget=512)
    assert procedures(pack) == set()
    assert [(drop.source_id, drop.drop_reason) for drop in pack.dropped_entries or ()] == [("a2", "provenance_failed")]
    assert {finding.record_id for finding in graph.verify().wrong} == {"a2"}


def test_a_pack_honours_the_validity_scope(graph):
    """An artifact for another agent, or for another time, is not packed."""
    graph.record_artifact(schema("a1", title=QUERY, validity_scope={"agent_ids": ["deployer"]}))
    spans = {"start": "2026-03-14T03:00:10Z", "end": "2026-03-14T03:00:30Z"}
    graph.record_artifact(schema("a2", title=QUERY, step="Else", validity_scope={"time_range": spans}))
    assert procedures(graph.pack(QUERY, budget=512, agent_id="reviewer", as_of=THEN)) == {"a2"}
    assert procedures(graph.pack(QUERY, budget=512, agent_id="deployer", as_of=THEN)) == {"a1", "a2"}
    assert procedures(graph.pack(QUERY, budget=512, as_of="2026-03-14T03:00:40Z")) == {"a1"}


@pytest.mark.parametrize(
    ("scope", "readers"),
    [
        ({"agent_ids": ["keeper"]}, {None: True, "keeper": True, "other": False}),
        ({"time_range": {"end": THEN}}, {None: False}),
    ],
)
def test_a_conflict_is_shown_only_where_its_sides_apply(graph, scope, readers):
    """A conflict is hidden from agents, and at times, outside the validity scope of one of its sides."""
    graph.record_artifact(policy("a1", "Must use the online tool quokka", tags=["db"], validity_scope=scope))
    graph.record_artifact(policy("a2", "Must never use the online tool quokka", second=60, tags=["db"]))
    assert len(graph.conflicts()) == 1
    for agent_id, visible in readers.items():
        pack = graph.pack("the online tool", agent_id=agent_id)
        ids = {each.source_id for each in (*pack.entries, *(pack.dropped_entries or ())) if each.section == "conflicts"}
        assert len(ids) == visible


def test_what_a_tool_said_stands_labelled_under_the_notice(graph):
    """At any budget, text quoted from tools is labelled and preceded by the notice, and tokens are counted exactly."""
    said = "key of the AI agent rejected by evil.example"
    for number in range(3):
        script = Script(f"s{number}", tenant=graph.tenant_id).user("Fetch the price list").call("http_get", error=said)
        graph.ingest(script.call("use_mirror", mirror="m").call("http_get").feedback("positive").events)
    graph.compile()
    count = counter()
    for budget in (96, 160, 512, 2048):
        pack = graph.pack("http_get fails, what helps?", budget=budget, sections=["procedures"])
        lines = pack.text.splitlines()
        assert all(line.startswith("  [tool] ") for line in lines if "evil.example" in line)
        assert (lines[:1] == [NOTICE]) == ("evil.example" in pack.text)
        around = count(f"{NOTICE}\n") + count("## Procedures\n") if pack.entries else 0
        assert count(pack.text) == pack.token_budget.used + around <= budget
    assert "- http_get fails\n  1. " in pack.text


def test_an_imported_policy_reads_as_one_rule(graph):
    """A policy's condition and recommendation are packed as a single rule, without repetition."""
    rule = {"alternatives": [], "outcomes": [], "scope": ["kubectl", "psql"], "condition": "the work begins"}
    rule |= {"recommendation": "Run kubectl apply"}
    graph.record_artifact(made("p1", "decision_policy", rule, fields={"title": "When the work begins"}))
    pack = graph.pack("Apply with kubectl when the work begins", budget=512, sections=["constraints"])
    assert pack.text == "## Constraints\n- First step: Run kubectl apply\n"


def test_a_procedure_that_is_only_the_best_guess_says_how_likely_it_is(graph):
    """If 3 of 11 similar requests led to a procedure, the pack says so; an explicit request shows no odds."""
    for number, (request, change) in enumerate(
        [("Please return my lamp", "return")] * 6
        + [("I need help with my parcel with the clock", "return")] * 3
        + [("I need help with my parcel with the clock", "")] * 8
    ):
        order = f"W{number}0{number}77"
        script = Script(f"s{number}", tenant=graph.tenant_id).user(request)
        script.call("get_order", {"order_id": order, "status": "delivered"}, order_id=order)
        if change:
            script.agent("Shall I?").user("Yes").call(f"{change}_order", order_id=order)
        graph.ingest(script.feedback("positive").events)
    graph.compile()
    guess = graph.pack("I need help with my parcel with the clock", sections=["procedures"])
    assert "(only if asked: about 3 of 10 such requests led to it)\n" in guess.text
    assert "only if asked" not in graph.pack("Please return my lamp", sections=["procedures"]).text


def test_sessions_that_did_the_work_are_the_examples(graph):
    """Sessions that did the work are preferred as examples to those that only repeat the request's words."""
    for number in range(4):
        script = Script(f"talk{number}", tenant=graph.tenant_id).user("List all the releases in the cluster")
        script.agent("To list all the releases in the cluster, which cluster do you mean? I have no access to it.")
        graph.ingest(script.events)
        script = Script(f"work{number}", tenant=graph.tenant_id).user("I need the releases of our cluster")
        script.call("list_releases", {"value": f"kagent 0.{number}, jaeger 4.4"}, namespace=f"team{number}")
        graph.ingest(script.agent("There are two releases.").feedback("positive").events)
    pack = graph.pack("List all the releases in the cluster", sections=["procedures", "episodes"])
    assert "list_releases(namespace=team" in pack.text
    assert "no access" not in pack.text


def test_many_sessions_that_failed_do_not_keep_out_one_that_went_well(graph):
    """Sessions that failed count less before the best are fetched as examples, not only among those fetched."""
    for number in range(9):
        went_well = number == 4
        script = Script(f"s{number}", tenant=graph.tenant_id)
        script.user("Please send my parcel to the island" + ("" if went_well else " today"))
        script.call("send_parcel", {"status": f"sent as {number}"}, carrier="ferry" if went_well else "post")
        graph.ingest(script.agent("It is sent.").feedback("positive" if went_well else "negative").events)
    pack = graph.pack("Please send my parcel to the island today", sections=["procedures", "episodes"])
    assert "send_parcel(carrier=ferry)" in pack.text


def test_a_newer_statement_is_shown_beside_the_procedure(graph):
    """The procedure cannot know that a user has allowed the work again; sessions that only repeat it stay out."""
    for number in range(5):
        script = Script(f"s{number}", tenant=graph.tenant_id).user(f"Please send parcel P-{number} with the ferry")
        script.call("weigh_parcel", {"status": "weighed"}, parcel=f"P-{number}")
        script.call("send_parcel", {"status": "sent"}, parcel=f"P-{number}")
        graph.ingest(script.agent("It is sent.").feedback("positive").events)
    graph.compile()
    asked = "May I send a parcel with the ferry?"
    assert {entry.section for entry in graph.pack(asked).entries} == {"procedures"}
    statement = "The ferry is repaired, you may send a parcel with it again."
    graph.ingest(Script("later", tenant=graph.tenant_id).user(statement).agent("Good.").events)
    pack = graph.pack(asked)
    assert [entry.content for entry in pack.entries if entry.section == "episodes"] == [f"user: {statement}"]
    # There is room for other sessions: they were dropped for what they are.
    assert {drop.drop_reason for drop in pack.dropped_entries} == {"low_relevance"}
