"""The saved queries on the demo's graph, extended with what the demo lacks: each returns something."""

import json
import os

import pytest
from neo4j.graph import Node, Relationship

import hmxgraph
from hmxgraph.demo import events_file
from hmxgraph.extraction.entities import normalise
from hmxgraph.graph.plan import query, query_names
from tests.artifact_makers import policy, schema
from tests.session_makers import Script
from tests.unit.ingest.making import document

NAMES = query_names("explore")
PICTURES = [name for name in NAMES if "picture" in query(name).description]
# What people type, and the entity they mean.
SPELLINGS = [
    ("Kubectl", "kubectl", "tool"),
    ("the KUBECTL's", "kubectl", "tool"),
    ("kubectlerror", "KubectlError", "error_type"),
    ("#Staging", "staging", "tag"),
    ("./shop/Tax.py", "shop/tax.py", "file"),
    ("Direct alter-table!", "direct ALTER TABLE", "concept"),
]


@pytest.fixture(scope="module")
def demo(address):
    """The demo's graph plus a chain, a conflict, a thread, an export and an erased session."""
    tenant = f"saved-queries-{os.getpid()}-{os.urandom(4).hex()}"
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant) as graph:
        graph.ingest(events_file(), rehome=True)
        graph.ingest([document(tenant_id=tenant, event_id="embedded", session_id="s", embeddings=[1.0, 0.0])])
        graph.compile()
        graph.record_artifact(schema("first"))
        graph.supersede("first", schema("second", second=5, step="Apply, then watch"))
        for artifact in (policy("p1", "Use an online migration"), policy("p2", "Lock the table", second=5)):
            graph.record_artifact(artifact)
        started = graph.tasks.start("Find the leak", agent_id="ana")
        graph.records.review(started.artifact_id, summary="seen", supports_claim=True, agent_id="bo")
        graph.export_fingerprint(tier="compact")
        graph.forget(session_id="deploy-000")
        yield graph


@pytest.fixture(scope="module")
def starting_values(demo):
    """The parameter values suggested by ``explore/parameters``, plus an embedding, which nobody types."""
    return {**demo.query("explore/parameters").rows[0], "embedding": [1.0, 0.2]}


@pytest.fixture
def examples(starting_values):
    """The parameters of a query apart from its tenant."""

    def examples(name):
        needed = query(name).parameters - {"tenant_id", "tenant_key", "scope"}
        return {parameter: starting_values[parameter] for parameter in needed}

    return examples


@pytest.mark.parametrize("name", NAMES)
def test_saved_query_shows_something(demo, examples, name):
    """Every saved query returns rows with its declared columns for the suggested values."""
    result = demo.query(name, **examples(name))
    assert result.columns == query(name).row
    assert len(result)
    assert json.dumps(result.document())
    assert result.table().row_count == len(result)
    assert "{'" not in result._repr_html_()


def test_the_depth_is_that_of_the_digest(demo):
    """The pure Cypher query computes the same depth as the digest."""
    (row,) = demo.query("explore/max_depth").rows
    assert row["max_depth"] == demo.digest().max_depth > 1


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_drawn(demo, examples, name):
    """``draw`` draws the nodes of the rows, and the relationships between them."""
    drawing = demo.draw(name, **examples(name))
    ids = {node.node_id for node in drawing.nodes}
    assert len(ids) == len(drawing)
    assert drawing.edges
    assert all({edge.source_id, edge.target_id} <= ids for edge in drawing.edges)


def test_table_is_not_drawn(demo):
    """Drawing a query without nodes is refused, and the error says what a query must return."""
    with pytest.raises(hmxgraph.HmxGraphError, match="returns nodes"):
        demo.draw("explore/active_knowledge")


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_have_nodes_and_relationships(demo, address, connection, examples, name):
    """A query meant as a picture returns nodes and relationships, as Neo4j Browser needs."""
    given = {"tenant_id": demo.tenant_id, **examples(name)}
    rows = connection._driver.execute_query(query(name).text, given, database_=address.database).records
    values = [value for row in rows for value in row.values()]
    assert any(isinstance(value, Node) for value in values)
    assert any(isinstance(value, Relationship) for value in values)


@pytest.mark.parametrize(("typed", "name", "entity_type"), SPELLINGS)
def test_an_entity_is_found_as_people_type_it(demo, typed, name, entity_type):
    """Capitals, articles, possessives, punctuation and leading marks do not prevent a match."""
    assert normalise(entity_type, name)
    plain = demo.query("explore/mentions", name=name)
    assert len(plain)
    assert demo.query("explore/mentions", name=typed).rows == plain.rows


@pytest.mark.parametrize(("name", "given"), [("errors_and_tools", {}), ("neighbourhood", {"name": "KubectlError"})])
def test_relations_read_in_their_direction(demo, name, given):
    """A tool raises an error, not the other way round, whichever end the query starts from."""
    rows = demo.query(f"explore/{name}", **given)
    raised = [(row["source"], row["target"]) for row in rows if row["relation"].get("relation_type") == "raises"]
    assert ("kubectl", "KubectlError") in [(source["name"], target["name"]) for source, target in raised]
    assert {target["type"] for _, target in raised} == {"error_type"}


def test_the_session_to_start_with_has_a_story(graph, tenant_id):
    """The suggested session is one with several events, not the latest statement remembered by hand."""
    graph.ingest([document(tenant_id=tenant_id, event_id=f"e{n}", session_id="s", sequence=n) for n in range(2)])
    for said in ("Never deploy on Friday", "Always verify the rollout"):
        graph.remember(said, kind="policy")
        sessions = [row["session_id"] for row in graph.query("explore/sessions").rows]
        assert (len(sessions), graph.query("explore/parameters").rows[0]["session_id"]) == (2, "s")


def test_what_tidied_the_memory_is_no_work_to_start_with(graph):
    """The suggested task is one agents worked on, not later maintenance of the memory."""
    started = graph.tasks.start("Move billing to the new ledger", agent_id="ana")
    graph.tasks.resume(started.task_id)
    graph.tasks.progress(started.task_id, summary="Schema drafted", next_step="Migrate a copy", agent_id="ana")
    assert graph.memory.dream(dry_run=False).report_id
    values = graph.query("explore/parameters").rows[0]
    assert values["thread_id"] == started.task_id
    assert values["session_id"] == f"task:{started.task_id}"


def test_the_artifact_to_start_with_is_no_crowd(graph, tenant_id):
    """The suggested artifact is one whose evidence is small enough to be drawn."""
    graph.ingest([document(tenant_id=tenant_id, event_id=f"e{n}", session_id="s", sequence=n) for n in range(70)])
    for name, most in (("crowd", 70), ("picture", 60), ("single", 1)):
        graph.record_artifact(schema(name, step=name, source_events=[f"e{n}" for n in range(most)]))
    assert graph.query("explore/parameters").rows[0]["artifact_id"] == "picture"


def test_starting_values_of_an_empty_tenant(graph):
    """An empty tenant still gets a value for each parameter."""
    values = graph.query("explore/parameters").rows[0]
    assert (values["tenant_id"], values["source_ids"], values["session_id"]) == (graph.tenant_id, [], "")


def test_tools_are_judged_by_their_results_not_by_words_in_them(graph, tenant_id):
    """A result fails only by its own success flag, not by flags or words inside its content."""
    results = [
        {"success": False, "result": {"success": True, "note": "partial"}},
        {"success": False, "error": {"success": True}},
        {"success": False, "result": "a -> b"},
        {"success": False},
        {"success": True, "result": {"success": False, "note": "probe failed: once"}},
        {"result": {"exit_code": 0}},
    ]
    graph.ingest(
        document(
            tenant_id=tenant_id,
            event_id=f"e{number}",
            sequence=number,
            event_type="tool_result",
            content={"tool_name": "probe", "call_id": f"c{number}", **content},
        )
        for number, content in enumerate(results)
    )
    assert graph.query("explore/tools").rows == ({"name": "probe", "calls": 6, "success_rate": 0.333},)


def test_what_followed_upon_a_failure_is_drawn_after_it(graph, tenant_id):
    """Commands have no separate results, so the picture links a failed command to the command after it."""
    for number in range(2):
        script = Script(f"s{number}", tenant=tenant_id).user("Push it").add("command_exec", {"command": "git add ."})
        script.add("command_exec", {"command": "git push", "exit_code": 1, "stderr": "rejected: non-fast-forward"})
        script.add("command_exec", {"command": "git pull --rebase", "exit_code": 0})
        graph.ingest(script.add("command_exec", {"command": "git push", "exit_code": 0}).events)
    graph.compile()
    drawn = {
        (row["event"]["event_id"], row["other"]["event_id"])
        for row in graph.query("explore/failures_picture").rows
        if row["other"]
    }
    assert {("s0/2", "s0/3"), ("s1/2", "s1/3")} <= drawn


def test_commands_tests_and_requests_count_as_tools(graph, tenant_id):
    """Commands and tests count under their programs; events that name neither program nor tool under their type."""
    actions = [
        ("command_exec", {"command": "cd /srv && git push", "exit_code": 1}),
        ("command_exec", {"command": "git push", "exit_code": 0}),
        ("test_run", {"command": "pytest -q | tee log", "passed": 3, "failed": 1}),
        ("test_run", {"passed": 3, "failed": 0}),
        ("api_result", {"url": "https://shop.example/orders", "status_code": 503}),
        ("observation", {"text": "git push is slow today"}),
    ]
    graph.ingest(
        document(tenant_id=tenant_id, event_id=f"e{number}", sequence=number, event_type=kind, content=content)
        for number, (kind, content) in enumerate(actions)
    )
    assert [tuple(row.values()) for row in graph.query("explore/tools").rows] == [
        ("git push", 2, 0.5),
        ("api_result", 1, 0.0),
        ("pytest", 1, 0.0),
        ("tee", 1, 0.0),
        ("test_run", 1, 1.0),
    ]


def test_failed_results_count_as_errors(graph, tenant_id):
    """A failed result is listed and tied to its tool; one with an error event of its own is listed as that event."""
    script = Script("s", tenant=tenant_id).user("Book a slot").call("find_slots")
    for number in (5, 5, 6):
        script.add("tool_call", {"tool_name": "book", "call_id": f"c{len(script.events)}", "arguments": {}})
        script.add("tool_result", script.events[-1].content | {"success": False, "error": f"SLOT_TAKEN: slot {number}"})
    script.add("command_exec", {"command": "git push", "exit_code": 1}).call("grip", error="item slipped")
    script.add("command_exec", {"command": "make", "exit_code": 2})
    script.add("error", {"error_type": "BuildError", "message": "no rule"}, parent_event_id=script.events[-1].event_id)
    graph.ingest(script.events)
    texts = [row["text"] for row in graph.query("explore/error_events")]
    assert [text.split()[:2] for text in texts] == [
        ["BuildError:", "no"],
        ["ToolError:", "Error:"],
        ["$", "git"],
        *[["book", "failed:"]] * 3,
    ]
    rows = graph.query("explore/errors_and_tools").rows
    failures = [(row["source"]["text"], row["target"]["name"]) for row in rows if row["relation"]["type"] == "MENTIONS"]
    assert sorted(name for _, name in failures) == ["book", "book", "git push"]


def test_erased_memories_are_not_listed(graph, tenant_id):
    """A memory whose evidence was erased leaves no blank row."""
    graph.remember("Staging runs three nodes")
    graph.ingest(
        Script("s", tenant=tenant_id).add("message", {"role": "system", "text": "Never deploy on Friday."}).events
    )
    listed = [row["text"] for row in graph.query("explore/memories")]
    assert len(listed) == 2
    graph.forget(session_id="s")
    assert [row["text"] for row in graph.query("explore/memories")] == ["Staging runs three nodes"]
