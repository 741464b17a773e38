"""Several events or task records in one call: the same graph as call by call, in few statements."""

import asyncio
import json
from itertools import count

import pytest

import hmxgraph
from hmxgraph.api import _base
from hmxgraph.errors import InvalidDocument, InvalidRequest, TaskError, UnknownChoice
from tests.integration.ingested import statements

AT = "2026-03-14T03:{:02}:00.000Z"
# What tells how many transactions wrote the graph.
VERSIONS = ("state_version", "changed_version", "recorded_version")
NODES = "MATCH (n {tenant_id: $tenant_id}) RETURN labels(n) AS labels, properties(n) AS properties"
LINKS = """
MATCH (a {tenant_id: $tenant_id})-[link]->(b)
RETURN type(link) AS type, a.key AS source, b.key AS target, properties(link) AS properties
"""


@pytest.fixture
def written(graph, monkeypatch):
    """Performs calls on an empty tenant at a fixed time, and returns what they return and the whole graph, in order."""
    driver = graph._connection._driver

    def perform(*calls):
        driver.execute_query("MATCH (n {tenant_id: $tenant_id}) DETACH DELETE n", tenant_id=graph.tenant_id)
        monkeypatch.setattr(_base, "time_ns", count(1_700_000_000_000_000_000, 1_000_000).__next__)
        results = [call() for call in calls]
        rows = []
        for text in (NODES, LINKS):
            for record in driver.execute_query(text, tenant_id=graph.tenant_id).records:
                row = record.data()
                for name in VERSIONS:
                    row["properties"].pop(name, None)
                rows.append(json.dumps(row, sort_keys=True))
        return results, sorted(rows)

    return perform


def message(text, **options):
    """A message to append."""
    return {"event_type": "message", "content": {"role": "user", "text": text}, **options}


EVENTS = [
    message("I live in Berlin", session_id="s", user_id="ann"),
    {"event_type": "tool_call", "content": {"tool_name": "ls", "call_id": "c", "arguments": {}}, "session_id": "t"},
    message("Always run the tests before you push", session_id="s", agent_id="ben", metadata={"channel": "chat"}),
    {"event_type": "tool_result", "content": {"tool_name": "ls", "call_id": "c", "result": "x"}, "session_id": "t"},
    message("I live in Paris", session_id="s", user_id="ann"),
    message("Said at a given time", session_id="s", at="2023-11-14T22:13:20.010500Z"),
    {"event_type": "", "content": {}, "session_id": "s"},
    message("I live in Paris", session_id="u", idempotency_key="k"),
    message("I live in Paris", session_id="u", idempotency_key="k"),
    message("I live in Rome", session_id="u", idempotency_key="k"),
]
EVENTS = [{"idempotency_key": f"k{number}", **event} for number, event in enumerate(EVENTS)]


def test_events_as_one_by_one(graph, written):
    """Events appended together give the graph, the receipts and the duplicates of single calls."""
    one_by_one, graph_of_singles = written(*(lambda event=event: graph.append(**event) for event in EVENTS))
    (together,), graph_of_all = written(lambda: graph.append_all(EVENTS))
    assert graph_of_all == graph_of_singles
    assert [receipt.position for receipt in together] == list(range(len(EVENTS)))
    assert [(receipt.status, receipt.event_ids, receipt.reason) for receipt in together] == [
        (receipt.status, receipt.event_ids, receipt.reason) for receipt in one_by_one
    ]
    assert [receipt.status for receipt in together].count("rejected") == 2
    assert {receipt.status for receipt in graph.append_all(EVENTS)} == {"duplicate", "rejected"}


def record(kind, artifact_id, minute, **fields):
    """A record to create at this minute."""
    return {"artifact_kind": kind, "artifact_id": artifact_id, "at": AT.format(minute), **fields}


NAMES = {
    "dataset_refs": [{"name": "genomes", "version": "1", "description": "all"}],
    "entity_refs": [{"name": "Soil", "entity_type": "organism"}, {"name": "soil", "entity_type": "organism"}],
    "contributors": [{"contributor_id": "dan", "display_name": "Dan", "role": "helper"}],
    "challenge_id": "leaks",
}
RUN = {"command": "make", "why_chosen": "fast", "inputs": ["src"]}
RECORDS = [
    record("task_start", "r0", 0, task_id="t", goal="Find the leak", project_id="p", agent_id="ana"),
    record("task_start", "r1", 1, task_id="u", goal="Read the logs", parent_task_id="t"),
    record("run_start", "r2", 2, task_id="t", **RUN, tool_name="make", agent_id="ana"),
    record("task_progress", "r3", 3, task_id="u", summary="Claimed", artifact_role="claim", agent_id="bo",
           parameters={"lease_seconds": 600}),
    record("run_finish", "r4", 4, task_id="t", status="failed", summary="no space left", agent_id="ana"),
    record("evidence", "r5", 5, task_id="t", summary="The buffer leaks", agent_id="ana", **NAMES),
    record("verification", "r6", 6, reply_to_artifact_id="r5", summary="Seen too", supports_claim=True, agent_id="bo"),
    record("revision", "r7", 7, reply_to_artifact_id="r5", summary="The second buffer leaks", agent_id="ana",
           relation_kind="supersedes", related_artifact_ids=["r0", "r6"], **NAMES),
    record("task_progress", "r8", 8, task_id="t", summary="Bisected", followups=["Fix it"], agent_id="ana"),
    record("task_progress", "r9", 8, task_id="t", summary="Tests run in Docker", followups=["Fix it"], session_id="s"),
    record("run_start", "r10", 9, task_id="t", **RUN),
    record("task_finish", "r11", 10, task_id="t", status="completed", what_worked=["valgrind"]),
    record("evidence", "r5", 5, task_id="t", summary="The buffer leaks", agent_id="ana", **NAMES),
]  # fmt: skip


def test_records_as_one_by_one(graph, written):
    """Records created together, each on those before it, give the graph and the receipts of single calls."""
    one_by_one, graph_of_singles = written(*(lambda each=each: graph.records.create(**each) for each in RECORDS))
    (together,), graph_of_all = written(lambda: graph.records.create_all(RECORDS))
    assert graph_of_all == graph_of_singles
    assert list(together) == one_by_one
    assert [receipt.created for receipt in together] == [True] * 12 + [False]
    assert not any(receipt.created for receipt in graph.records.create_all(RECORDS))


def test_checkpoints_as_one_by_one(graph, written):
    """Checkpoints recorded together, all at the same time, give the graph of single calls: their order decides."""
    steps = [
        {"summary": f"Step {number}", "next_step": "Go on", "followups": ["Test"], "artifact_id": f"c{number}"}
        for number in range(4)
    ]

    def start():
        graph.tasks.start("Find the leak", task_id="t", artifact_id="start")

    _, graph_of_singles = written(
        start, *(lambda step=step: graph.tasks.progress("t", at=AT.format(5), **step) for step in steps)
    )
    _, graph_of_all = written(start, lambda: graph.tasks.progress_all(steps, task_id="t", at=AT.format(5)))
    assert graph_of_all == graph_of_singles


def test_statements_do_not_depend_on_the_number(graph):
    """A call takes as many statements for thirty items as for three."""

    def events(number):
        return [message(f"Deploy {name}.yaml", session_id=f"s{name % 4}") for name in range(number)]

    def steps(number):
        return [{"summary": f"Step {name}", "next_step": "Go on", "task_id": f"t{name % 2}"} for name in range(number)]

    graph.append_all(events(4))
    graph.records.create_all({"artifact_kind": "task_start", "task_id": f"t{name}", "goal": "x"} for name in (0, 1))
    for call, most in ((lambda n: graph.append_all(events(n)), 4), (lambda n: graph.tasks.progress_all(steps(n)), 7)):
        few, many = (len(statements(graph, lambda n=n, call=call: call(n))[1]) for n in (3, 30))
        assert few == many <= most


def test_errors_name_the_item(graph):
    """An error names the item that it is about, and nothing of the call is stored."""
    ok = message("Hello", session_id="s")
    for events, error, words in (
        ([ok, 7], InvalidRequest, r"events\[1\] 7: expected a mapping"),
        ([ok, {**ok, "usr_id": "x"}], InvalidRequest, r"events\[1\].usr_id"),
        ([ok, {**ok, "content": None}], InvalidRequest, r"events\[1\].content"),
        ({"event_type": "message"}, InvalidRequest, "events .*: expected a list"),
    ):
        with pytest.raises(error, match=words):
            graph.append_all(events)
    graph.tasks.start("Find the leak", task_id="t", artifact_id="r0")
    ok = record("evidence", "r1", 1, task_id="t", summary="It leaks")
    for records, error, words in (
        ([ok, record("evidence", "r2", 2, task_id="t")], TaskError, r"records\[1\]: evidence: summary is missing"),
        (
            [ok, record("evidence", "r2", 2, task_id="u", summary="x")],
            TaskError,
            r"records\[1\]: evidence: there is no",
        ),
        ([ok, {**ok, "summary": "Another"}], TaskError, r"records\[1\]: evidence: 'r1' is stored with another summary"),
        ([ok, record("wrong", "r2", 2, task_id="t")], InvalidDocument, r"records\[1\]: "),
        ([ok, record("wrong", "r2", 2)], UnknownChoice, r"unknown records\[1\].kind 'wrong'"),
        ([ok, record("review", "r2", 2, reply_to_artifact_id="r9", summary="x")], TaskError, r"records\[1\]: reply"),
        ([ok, {**ok, "sumary": "x"}], InvalidRequest, r"records\[1\].sumary .*did you mean summary"),
        ([ok, {"summary": "x"}], InvalidRequest, r"records\[1\].artifact_kind \(missing\)"),
        (
            [record("task_start", f"s{a}", a, task_id=f"l{a}", goal="x", parent_task_id=f"l{1 - a}") for a in (0, 1)],
            TaskError,
            r"records\[1\]: task_start: task 'l1' would be part of itself",
        ),
    ):
        with pytest.raises(error, match=words):
            graph.records.create_all(records)
    with pytest.raises(InvalidRequest, match=r"checkpoints\[0\].next .*did you mean next_step"):
        graph.tasks.progress_all([{"summary": "x", "next": "y"}], task_id="t")
    with pytest.raises(InvalidRequest, match=r"memories\[1\].scop "):
        graph.remember_all(["Lunch is at noon", {"text": "Tea is at four", "scop": "x"}])
    assert len(graph.tasks.get("t").records) == 1
    assert graph.health()["event_count"] == 1


def test_nothing_to_write(graph):
    """An empty list stores nothing and returns nothing."""
    assert graph.append_all([]) == graph.records.create_all([]) == graph.tasks.progress_all([]) == ()
    assert graph.health()["state_version"] == 0


def test_async_and_sessions(address, graph):
    """The asynchronous calls do the same; a session's call knows its session and agent."""

    async def write():
        login = {"user": address.user, "password": address.password, "database": address.database}
        async with hmxgraph.connect_async(address.uri, tenant_id=graph.tenant_id, **login) as other:
            await other.tasks.start("Find the leak", task_id="t")
            steps = await other.tasks.progress_all([{"summary": "x", "next_step": "y"}], task_id="t")
            more = await other.records.create_all([record("evidence", "r", 1, summary="It leaks")], task_id="t")
            async with other.session("s", agent_id="ann") as session:
                receipts = await session.append_all([message("Hello"), message("Bye")])
            return *steps, *more, *receipts, *await other.append_all([message("Again")], session_id="s")

    assert len(asyncio.run(write())) == 5
    driver = graph._connection._driver
    rows = driver.execute_query(
        "MATCH (e:Event {tenant_id: $t, session_id: 's'}) RETURN e.agent_id AS agent ORDER BY e.sequence",
        t=graph.tenant_id,
    ).records
    assert [row["agent"] for row in rows] == ["ann", "ann", "unsigned"]
