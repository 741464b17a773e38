"""Live recording: messages and events of running agents, appended by any number of processes."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from functools import partial
from itertools import pairwise

import pytest

import hmxgraph
from hmxgraph.errors import InvalidRequest
from tests.integration.ingested import Ingested, statements
from tests.unit.ingest.making import document

WRITER = """
import sys, hmxgraph
uri, user, password, database, tenant, number, count = sys.argv[1:]
with hmxgraph.connect(uri, user=user, password=password, database=database, tenant_id=tenant) as graph:
    for n in range(int(count)):
        text = f"step {n} of process {number}"
        receipt = graph.append("message", {"role": "assistant", "text": text}, session_id="shared")
        print(receipt.status, receipt.event_id)
"""


@pytest.fixture
def stored(connection, tenant_id):
    """The stored nodes and relationships of the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.mark.parametrize(
    "text", ["Deploy staging with kubectl", "Always run the tests before you push", "I live in Berlin"]
)
def test_one_message_takes_four_statements(graph, text):
    """A message takes at most four statements, whether or not it yields a memory."""
    content = {"role": "user", "text": text}
    receipt, sent = statements(graph, lambda: graph.append("message", content, session_id="s"))
    assert receipt.status == "stored"
    assert len(sent) <= 4
    message = {"role": "user", "content": f"{text} again"}
    report, sent = statements(graph, lambda: graph.record(message, session_id="s"))
    assert report.stored == 1
    assert len(sent) <= 4


def test_events_of_one_time_keep_their_order(graph):
    """Events that are given one time keep the order of arrival, also before later events; a repetition is known."""
    append = partial(graph.append, "message", session_id="s", at="2026-10-01T09:00:00Z")
    said = [{"role": "user", "text": text} for text in "abcdef"]
    for content in said[:3]:
        append(content)
    append({"role": "user", "text": "later"}, at="2026-10-01T10:00:00Z", idempotency_key="later")
    append(said[3], idempotency_key="d")
    event = {"event_type": "message", "session_id": "s", "at": "2026-10-01T09:00:00Z"}
    graph.append_all([{**event, "content": content} for content in said[4:]])
    story = [row["text"] for row in graph.query("explore/session_story", session_id="s")]
    assert story == [*"abcdef", "later"]
    assert append(said[3], idempotency_key="d").status == "duplicate"
    assert append(said[4], idempotency_key="d").status == "rejected"
    assert append(said[3], idempotency_key="d", at="2026-10-01T09:00:01Z").status == "rejected"
    assert graph.verify().findings == ()


@pytest.mark.slow
def test_eight_processes_append_to_one_session(address, graph, stored):
    """Eight processes append to one session: every event is stored once, and the chain does not fork."""
    where = (address.uri, address.user, address.password, address.database, graph.tenant_id)
    command = [sys.executable, "-c", WRITER, *where]
    processes = [
        subprocess.Popen([*command, str(number), "6"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for number in range(8)
    ]
    outputs = [process.communicate(timeout=250) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, outputs
    lines = [line.split() for out, _ in outputs for line in out.splitlines()]
    assert Counter(status for status, _ in lines) == {"stored": 48}
    assert len({event_id for _, event_id in lines}) == 48
    links = stored.links("NEXT")
    assert len(links) == 47
    assert max(Counter(source for _, source, _ in links).values()) == 1
    assert max(Counter(target for _, _, target in links).values()) == 1
    assert stored.session("shared")["event_count"] == 48
    assert graph.verify().ok


def test_an_idempotency_key(graph, stored):
    """The same event under the same key is a duplicate; another event under that key is rejected."""
    said = [
        graph.append("message", {"role": "user", "text": text}, session_id="s", idempotency_key="k")
        for text in ("hello", "hello", "bye")
    ]
    assert [receipt.status for receipt in said] == ["stored", "duplicate", "rejected"]
    assert "another body" in said[2].reason
    assert json.loads(stored.event(said[0].event_id)["content"])["text"] == "hello"
    assert stored.session("s")["event_count"] == 1


def test_two_items_of_one_call_with_the_same_id(graph, stored):
    """Of several items with the same id, the first is stored; the others are duplicates, or rejected if they differ."""
    texts = ("hello", "hello", "bye")
    events = [document(event_id="e1", session_id="s", content={"role": "user", "text": text}) for text in texts]
    report = graph.record(events, session_id="s")
    assert [receipt.status for receipt in report.receipts] == ["stored", "duplicate", "rejected"]
    assert json.loads(stored.event("e1")["content"])["text"] == "hello"
    assert report.receipts[2].reason == "'e1' is stored with another body; give it an id or key of its own"


def test_messages_with_the_same_id_and_other_text(graph):
    """A message with the id of another one is not taken for its repetition."""
    messages = [{"role": "user", "content": text, "id": "m1"} for text in ("hello", "hello", "bye")]
    report = graph.record(messages, session_id="s")
    assert [receipt.status for receipt in report.receipts] == ["stored", "duplicate", "rejected"]


def test_a_rejected_message_is_rejected_again(graph):
    """A message rejected for its id is rejected again, in the same call and the next, until it has an id of its own."""
    graph.record({"role": "user", "content": "hello", "id": "m1"}, session_id="s")
    answer = {"role": "assistant", "content": "hi", "id": "m2"}
    bye = {"role": "user", "content": "bye", "id": "m1"}
    with graph.session("s") as session:  # it has not read the first message
        for record in (partial(graph.record, session_id="s"), session.record):
            for messages in ([bye, answer, bye], [bye], [[{**bye, "id": "m1"}]]):
                report = record(messages)
                rejected = [receipt for receipt in report.receipts if receipt.status == "rejected"]
                assert len(rejected) == sum(message != answer for message in messages)
                assert {receipt.reason[:7] for receipt in rejected} == {"'s/m1#0"}
    assert graph.record([{**bye, "id": "m3"}, answer], session_id="s").receipts[0].status == "stored"


def test_a_rejected_conversation_is_stored_when_it_is_corrected(graph, stored):
    """Nothing is stored of a conversation with a rejected message; repeated, it is rejected, then stored whole."""
    graph.record({"role": "user", "content": "hello", "id": "m1"}, session_id="s")
    first, bye = {"role": "user", "content": "Deploy staging"}, {"role": "user", "content": "bye", "id": "m1"}
    for _ in range(2):
        report = graph.record({"messages": [first, bye]}, session_id="s")
        assert [receipt.status for receipt in report.receipts] == ["rejected"]
        assert stored.session("s")["event_count"] == 1
    (receipt,) = graph.record({"messages": [first, {**bye, "id": "m2"}]}, session_id="s").receipts
    assert (receipt.status, len(receipt.event_ids)) == ("stored", 2)
    assert graph.record({"messages": [first, {**bye, "id": "m2"}]}, session_id="s").receipts[0].status == "skipped"
    assert stored.session("s")["event_count"] == 3


def test_an_id_of_a_rejected_item(graph, stored):
    """The id of an event of a rejected item may be used again for the same event, but not for another in the call."""
    graph.record({"role": "user", "content": "hello", "id": "m1"}, session_id="s")
    bye, new = ({"role": "user", "content": "bye", "id": name} for name in ("m1", "m2"))
    report = graph.record([[new, bye], {**new, "content": "other"}, new], session_id="s")
    assert [receipt.status for receipt in report.receipts] == ["rejected", "rejected", "stored"]
    assert json.loads(stored.event("s/m2#0")["content"])["text"] == "bye"
    assert stored.session("s")["event_count"] == 2


def test_the_calls_of_a_partly_rejected_record_are_answered(graph, stored):
    """If one message of a call is rejected, the results of the others' tool calls are still paired with them."""
    graph.record({"role": "user", "content": "hello", "id": "m1"}, session_id="s")
    function = {"name": "search", "arguments": "{}"}
    asked = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]}
    graph.record([{"role": "user", "content": "bye", "id": "m1"}, asked], session_id="s")
    report = graph.record({"role": "tool", "tool_call_id": "c1", "content": "found"}, session_id="s")
    assert json.loads(stored.event(report.receipts[0].event_id)["content"])["tool_name"] == "search"


def test_events_of_another_session_are_rejected(graph):
    """An event that names another session is rejected by name, and the rest is stored."""
    events = [document(event_id="e1", session_id="t"), document(event_id="e2", session_id="s")]
    report = graph.record(events, session_id="s")
    assert [receipt.status for receipt in report.receipts] == ["rejected", "stored"]
    assert "$.session_id: found 't', expected 's'" in report.receipts[0].reason


def test_a_key_used_for_another_statement(graph):
    """Remembering the same text under the same key with other options is refused, and stores nothing."""
    graph.remember("Ann likes tea", idempotency_key="k")
    with pytest.raises(InvalidRequest, match="idempotency_key"):
        graph.remember_all(["Bo likes tea", {"text": "Ann likes tea", "scope": "x"}], idempotency_key="k")
    assert [memory.text for memory in graph.memories()[0]] == ["Ann likes tea"]


def test_appended_events_keep_their_order(graph, stored):
    """An appended event follows everything in its session, even events with later timestamps."""
    graph.append("message", {"role": "user", "text": "later"}, session_id="s", at="2100-01-01T00:00:00Z")
    ids = [graph.append("message", {"role": "user", "text": str(n)}, session_id="s").event_id for n in range(3)]
    assert {link[1:] for link in stored.links("NEXT")} >= set(pairwise(ids))
    assert stored.session("s")["tail_id"] == ids[-1]


LONG = 10**5_000  # Python converts no integer of so many digits to text


def endless():
    """A value that contains itself, twice."""
    value = {}
    value |= {"a": value, "b": [value]}
    return value


@pytest.mark.parametrize("value", [LONG, {LONG: [LONG]}, endless()], ids=["long", "long key", "endless"])
def test_any_python_value_is_stored(graph, value):
    """Numbers of any length and values that contain themselves are stored as text, wherever they are."""
    assert graph.append("tool_result", {"result": value}, session_id="s", metadata={"x": value}).status == "stored"
    calls = [{"id": LONG, "function": {"name": "f", "arguments": value}}]
    asked = {"role": "assistant", "content": None, "tool_calls": calls, "id": LONG}
    result = {"role": "tool", "tool_call_id": LONG, "content": "done", "x": value}
    assert not graph.record([asked, result], session_id="s").rejected


@pytest.mark.parametrize(
    "call",
    [
        lambda graph, bad: graph.append("message", {}, session_id="s", idempotency_key=bad),
        lambda graph, bad: graph.record([], session_id="s", idempotency_key=bad),
        lambda graph, bad: graph.forget(event_id=[bad]),
        lambda graph, bad: graph.forget(session_id=bad),
        lambda graph, bad: graph.resolve(bad, keep="x"),
        lambda graph, bad: graph.artifact(bad),
        lambda graph, bad: graph.memory.delete(bad),
    ],
)
@pytest.mark.parametrize("bad", [LONG, 7, "\ud800"], ids=["long", "number", "surrogate"])
def test_ids_that_are_no_text(graph, call, bad):
    """An id or key that is not text, or not valid Unicode, is refused as an argument."""
    with pytest.raises(InvalidRequest, match=r"invalid \w+ "):
        call(graph, bad)


def test_any_json_is_stored_with_a_warning(graph):
    """Values beyond strict JSON are stored as text, with a warning."""
    receipt = graph.append("tool_result", {"tool_name": "t", "result": 2**70}, session_id="s")
    assert (receipt.status, receipt.warnings) == ("stored", ("an integer beyond 2^53-1 is kept as text",))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda graph: graph.append("message", "hi", session_id="s"), "give a dict"),
        (lambda graph: graph.append("message", {}, session_id="s", agent="a"), "choose from agent_id"),
        (lambda graph: graph.record("hi", session_id="s"), "as dicts"),
        (lambda graph: graph.record([{"a": 1}], session_id="s"), "nearest"),
        (lambda graph: graph.record([{"role": "user", "content": "hi"}], session_id=["s"]), "session_id"),
        (lambda graph: graph.record([{"role": "user", "content": "hi"}], session_id=""), "give each session an id"),
        (lambda graph: graph.append("message", {"text": "hi"}, session_id=""), "give each session an id"),
    ],
)
def test_what_cannot_be_recorded_is_an_error(graph, call, words):
    """The error says what is wrong and what to do instead."""
    with pytest.raises(InvalidRequest, match=words):
        call(graph)


def test_an_impossible_event_is_rejected(graph):
    """An invalid event is rejected, and the receipt names the fault."""
    receipt = graph.append("", {"text": "x"}, session_id="s")
    assert receipt.status == "rejected"
    assert "event_type" in receipt.reason


def test_a_session_records_its_tools(graph, stored):
    """Tool calls are recorded with arguments, outcome and duration; so is the exception that ends a session."""

    def work():
        with graph.session(agent_id="builder") as session:

            @session.tool
            def divide(a, b=2):
                return a / b

            assert divide(6) == 3
            session.append("message", {"role": "assistant", "text": "half of it"})
            divide(1, b=0)

    with pytest.raises(ZeroDivisionError):
        work()
    rows = stored.rows(
        "MATCH (e:Event {tenant_id: $tenant_id}) RETURN e.event_type AS type, e.content AS content, e.agent_id AS agent"
        " ORDER BY e.sequence"
    )
    assert {row["agent"] for row in rows} == {"builder"}
    contents = [json.loads(row["content"]) for row in rows]
    types = [row["type"] for row in rows]
    assert types == ["tool_call", "tool_result", "message", "tool_call", "tool_result", "error"]
    assert (contents[0]["arguments"], contents[1]["result"], contents[1]["success"]) == ({"a": 6}, 3, True)
    assert contents[4]["error"] == "ZeroDivisionError: division by zero"
    assert contents[4]["duration_ms"] >= 0
    assert contents[5]["error_type"] == "ZeroDivisionError"
    assert len(stored.links("ANSWERS")) == 2


def test_a_session_records_a_long_failure(graph, stored):
    """An exception longer than an event may be is recorded truncated."""

    def work():
        with graph.session() as session:

            @session.tool
            def fail():
                raise ValueError("row " * 200_000)

            fail()

    with pytest.raises(ValueError, match="row"):
        work()
    rows = stored.rows("MATCH (e:Event {tenant_id: $tenant_id}) RETURN e.content AS content ORDER BY e.sequence")
    _, result, error = (json.loads(row["content"]) for row in rows)
    assert result["error"].startswith("ValueError: row row")
    assert error["message"].startswith("row row")


def test_the_asynchronous_face_records_too(address, tenant_id):
    """The asynchronous face wraps awaited tools and records events."""

    async def run():
        where = {"user": address.user, "password": address.password, "database": address.database}
        async with (
            hmxgraph.connect_async(address.uri, tenant_id=tenant_id, **where) as graph,
            graph.session("s") as session,
        ):

            @session.tool
            async def double(number):
                return number * 2

            assert await double(4) == 8
            return await session.append("message", {"role": "assistant", "text": "eight"})

    assert asyncio.run(run()).status == "stored"


def test_messages_are_recorded_as_an_agent_holds_them(graph, stored):
    """Calls are paired with results across ``record`` calls; repeats under the same key are duplicates."""
    call = {"id": "c9", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
    asked = [
        {"role": "user", "content": "List the files"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    result_message = {"role": "tool", "tool_call_id": "c9", "content": "a.py"}
    first = graph.record(asked, session_id="s", idempotency_key="turn 1")
    second = graph.record(result_message, session_id="s", idempotency_key="turn 2")
    again = graph.record(asked, session_id="s", idempotency_key="turn 1")
    assert (first.stored, second.stored, again.stored, again.duplicates) == (2, 1, 0, 2)
    result = json.loads(stored.event(second.receipts[0].event_id)["content"])
    assert (result["tool_name"], result["result"]) == ("ls", "a.py")
    assert len(stored.links("ANSWERS")) == 1
    assert stored.session("s")["event_count"] == 3
