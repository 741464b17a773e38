"""Ingest on the real server: each event is stored once, linked and counted; a replay writes nothing."""

import gzip
import itertools
import json
import threading

import pytest

import hmxgraph
from hmxgraph.errors import IngestRefused, PackError
from tests.integration.ingested import Ingested
from tests.shared_data import shared
from tests.unit.ingest.making import document


@pytest.fixture
def stored(connection, tenant_id):
    """The stored nodes and relationships of the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def made(tenant_id):
    """Factory for event documents of the test's tenant."""

    def make(event_id, sequence=0, **fields):
        return document(tenant_id=tenant_id, event_id=event_id, sequence=sequence, **fields)

    return make


def test_events_are_stored_with_everything(graph, stored, made, tenant_id):
    """An event's node has the wire fields, canonical JSON, hash, text, terms, tokens and the version of its commit."""
    graph.ingest([made("e1", tags=["a"], source="user", trace_id="t")])
    event = stored.event("e1")
    assert event["content"] == '{"role":"user","text":"Deploy the staging environment"}'
    assert (event["text"], event["token_count"]) == ("Deploy the staging environment", 7)
    assert json.loads(event["recall_row"])[2:6] == ["user", "", "deploy stage environ", event["sequence"]]
    assert (event["recorded_version"], event["trace_id"], event["tags"]) == (1, "t", ["a"])
    assert (event["salience"], event["salience_origin"], event["speaker"]) == (0.8, "engine", "user")
    assert event["tenant_id"] == tenant_id
    assert graph.health()["event_count"] == 1


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"on_error": "rasie"}, "unknown on_error 'rasie'; choose one of report, raise"),
        ({"batch_size": 0}, "invalid batch_size 0: expected a positive number; give 1 or more"),
        ({"batch_size": -1}, "batch_size"),
        ({"writers": 0}, "invalid writers 0: expected a positive number"),
        ({"writers": "2"}, "invalid writers '2': expected a positive number"),
        ({"window_seconds": -1.0}, "window_seconds"),
        ({"window_seconds": "1"}, "window_seconds"),
        ({"window_seconds": float("nan")}, "window_seconds"),
    ],
)
def test_unknown_options_are_refused(graph, stored, made, option, said):
    """A misspelt or impossible option raises one clear error, and nothing is stored."""
    with pytest.raises(PackError, match=said):
        graph.ingest([made("e1")], **option)
    assert stored.picture()["e"] == []


def test_replay_writes_nothing(graph, stored, made):
    """Re-ingested events are duplicates, found by one read per batch; state version and graph stay unchanged."""
    events = [made(f"e{n}", n) for n in range(5)]
    graph.ingest(events)
    before, version = stored.picture(), graph.health()["state_version"]
    lines = []
    graph.trace(lines.append)
    report = graph.ingest(reversed(events))
    assert (report.accepted, report.duplicates) == (0, 5)
    assert [line.split()[0] for line in lines] == ["events/known", "retention/due"]
    assert (stored.picture(), graph.health()["state_version"]) == (before, version)


def test_an_id_with_another_body_is_a_conflict(graph, stored, made):
    """The stored event stays; the report names the line, the id and both hashes of each conflict."""
    graph.ingest([made("e1")])
    before = stored.event("e1")
    report = graph.ingest([made("e2", 1), made("e1", metadata={"other": 1}), made("e1", session_id="elsewhere")])
    assert (report.accepted, report.conflicts, report.lines) == (1, 2, 3)
    assert [(conflict.line, conflict.event_id) for conflict in report.conflicting] == [(2, "e1"), (3, "e1")]
    assert {conflict.stored_hash for conflict in report.conflicting} == {before["event_hash"]}
    assert stored.event("e1") == before


def test_repeats_within_a_batch_are_judged_by_what_is_stored(graph, made):
    """When one batch repeats an id, copies equal to the stored event are duplicates and all others conflicts."""
    graph.ingest([made("e1")])
    other = made("e1", metadata={"other": 1})
    report = graph.ingest([other, other, made("e1"), made("e2", 1), made("e2", 1), made("e2", 2)])
    assert (report.accepted, report.duplicates, report.conflicts) == (1, 2, 3)
    assert [conflict.line for conflict in report.conflicting] == [1, 2, 6]


@pytest.mark.parametrize("calls", [1, 2])
def test_undated_messages_with_an_id_and_other_text_are_conflicts(graph, calls):
    """An undated message is a duplicate only if its text is that of the message with its id, at whatever time."""
    messages = [{"role": "user", "content": text, "id": "m1"} for text in ("hello", "bye")]
    parts = [messages] if calls == 1 else [[messages[0]], messages]
    reports = [graph.ingest(part, format="messages", session_id="s") for part in parts]
    assert [report.accepted for report in reports] == [1, 0][:calls]
    assert (reports[-1].duplicates, reports[-1].conflicts) == (calls - 1, 1)


@pytest.mark.parametrize("times", ["none", "different"])
def test_the_same_words_said_twice_are_two_events(graph, times):
    """Messages without an id that say the same are stored each; ingesting them again stores nothing."""
    fields = [{} if times == "none" else {"timestamp": f"2026-01-01T00:00:0{n}Z"} for n in range(3)]
    messages = [{"role": "user", "content": "yes"} | each for each in fields]
    reports = [graph.ingest(messages, format="messages", session_id="s") for _ in range(2)]
    assert [(report.accepted, report.duplicates, report.conflicts) for report in reports] == [(3, 0, 0), (0, 3, 0)]


def test_the_chain_is_the_order_however_events_arrive(graph, stored, made):
    """Events that arrive late or out of order are chained by sequence, time and id; late ones are counted."""
    for sequences in ([5], [9], [7], [1, 6, 12], [0, 2, 8, 13]):
        report = graph.ingest([made(f"e{n:02}", n) for n in sequences])
    ids = [f"e{n:02}" for n in (0, 1, 2, 5, 6, 7, 8, 9, 12, 13)]
    assert stored.links("NEXT") == sorted(("NEXT", a, b) for a, b in itertools.pairwise(ids))
    assert report.late == 3
    assert (stored.session("s1")["head_id"], stored.session("s1")["tail_id"]) == ("e00", "e13")


def test_equal_sequences_are_ordered_by_time_then_id(graph, stored, made):
    """Ties of the sequence number are broken by the timestamp, then by the id in code point order."""
    late = "2026-03-14T04:00:00+00:00"
    odd = ["a", "\ufffd", "\U0001f600"]
    for event in (made("z"), made("b", timestamp=late), *(made(name) for name in reversed(odd))):
        graph.ingest([event])
    ids = ["a", "z", "\ufffd", "\U0001f600", "b"]
    assert stored.links("NEXT") == sorted(("NEXT", a, b) for a, b in itertools.pairwise(ids))


def test_links_within_and_beyond_a_batch(graph, stored, made):
    """Causes, correlations, answers and feedback are linked; the same ids in another session are conflicts."""
    events = [
        made("call", 0, event_type="tool_call", content={"tool_name": "x", "arguments": {}, "call_id": "c1"}),
        made(
            "result", 1, event_type="tool_result", content={"tool_name": "x", "call_id": "c1"},
            parent_event_id="call", correlation_id="call",
        ),
        made("fb", 2, event_type="feedback", content={"signal": "positive", "target_event_id": "result"}),
    ]  # fmt: skip
    expected = [
        ("ABOUT", "fb", "result"),
        ("ANSWERS", "result", "call"),
        ("CAUSED_BY", "result", "call"),
        ("CORRELATES_WITH", "result", "call"),
        ("NEXT", "call", "result"),
        ("NEXT", "result", "fb"),
    ]
    graph.ingest(events)
    assert stored.links() == expected
    other = [dict(event, session_id="again", event_id=event["event_id"]) for event in events]
    assert graph.ingest(other).conflicts == 3


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_dangling_ends_are_linked_when_they_arrive(graph, stored, made, order):
    """Whichever end arrives first, even across sessions, the links are the same and no link stays pending."""
    events = [
        made("call", 0, event_type="tool_call", content={"tool_name": "x", "arguments": {}, "call_id": "c1"}),
        made("result", 1, event_type="tool_result", content={"tool_name": "x", "call_id": "c1"}, correlation_id="call"),
        made(
            "fb", 2, event_type="feedback", content={"signal": "negative", "target_event_id": "result"},
            parent_event_id="call", session_id="other",
        ),
    ]  # fmt: skip
    for place in order:
        graph.ingest([events[place]])
    assert stored.links() == [
        ("ABOUT", "fb", "result"),
        ("ANSWERS", "result", "call"),
        ("CAUSED_BY", "fb", "call"),
        ("CORRELATES_WITH", "result", "call"),
        ("NEXT", "call", "result"),
    ]
    assert stored.picture()["w"] == []


def test_a_result_answers_the_nearest_call_before_it(graph, stored, made):
    """If several calls share a call id, a result answers the last call before it."""
    content = {"tool_name": "x", "call_id": "c1"}
    graph.ingest([made(f"call{n}", n, event_type="tool_call", content=content) for n in (0, 2, 9)])
    graph.ingest([made("result", 5, event_type="tool_result", content=content)])
    assert stored.links("ANSWERS") == [("ANSWERS", "result", "call2")]


def test_sessions_are_counted(graph, stored, made):
    """A session holds its first and last time, its number of events and the signal of its last feedback."""
    graph.ingest([made("a", 1, timestamp="2026-03-14T05:00:00Z"), made("b", 2)])
    graph.ingest([made("f1", 9, event_type="feedback", content={"signal": "positive"})])
    graph.ingest([made("f0", 8, event_type="feedback", content={"signal": "negative"})])
    session = stored.session("s1")
    assert (session["event_count"], session["outcome"], session["changed_version"]) == (4, "positive", 3)
    assert session["last_us"] - session["first_us"] == 2 * 3600 * 1_000_000


def test_salience_knows_what_is_new_and_what_repeats(graph, stored, made):
    """A tenant's first event of its kind is more salient, an exact repeat within a session less, across batches."""
    call = {"tool_name": "x", "arguments": {"a": 1}}
    for number in range(3):
        graph.ingest([made(f"c{number}", number, event_type="tool_call", content=call)])
    graph.ingest([made("other", session_id="s2", event_type="tool_call", content=call)])
    assert [stored.event(name)["salience"] for name in ("c0", "c1", "c2", "other")] == [0.9, 0.6, 0.6, 0.8]


def test_tenants_are_apart(address, graph, made, tenant_id):
    """The same ids in another tenant are other events; foreign events are rejected, or moved with a warning."""
    graph.ingest([made("e1"), made("e2", 1, parent_event_id="e1")])
    with hmxgraph.connect(
        address.uri, user=address.user, password=address.password, tenant_id=f"{tenant_id}-b"
    ) as other:
        foreign = [made("e1"), made("e2", 1, parent_event_id="e1")]
        refused = other.ingest(foreign)
        assert (refused.accepted, len(refused.rejected), other.health()["event_count"]) == (0, 2, 0)
        report = other.ingest(foreign, rehome=True)
        assert (report.accepted, report.rehomed, report.sessions) == (2, 2, 1)
        assert len(report.warnings) == 1
        assert other.health()["event_count"] == 2


def test_bad_lines_are_named_and_can_be_mended(graph, made, tmp_path):
    """Good lines are stored; bad ones are in the report and in the rejects file, which can be fixed and re-ingested."""
    path, rejects = tmp_path / "events.ndjson.gz", tmp_path / "rejects.ndjson"
    lines = [json.dumps(made("e1")), "{broken", json.dumps(made("e2", -1)), json.dumps(made("e3", 3))]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    report = graph.ingest(path, rejects=rejects)
    assert (report.accepted, [rejection.line for rejection in report.rejected]) == (2, [2, 3])
    assert report.rejected[1].event_id == "e2"
    mended = rejects.read_text().replace('"sequence":-1', '"sequence":1')
    again = tmp_path / "mended.ndjson"
    again.write_text(mended)
    assert (graph.ingest(again).accepted, graph.ingest(path).duplicates) == (1, 2)


def test_strict_ingest_stops_at_the_first_bad_line(graph, made):
    """With on_error="raise", only the full batches before the bad line are stored."""
    source = [made("e1"), made("e2", 1), {"no": "event"}, made("e3", 3)]
    with pytest.raises(IngestRefused, match="source:3"):
        graph.ingest(source, on_error="raise", batch_size=2)
    assert graph.health()["event_count"] == 2


def test_strict_ingest_refuses_conflicts(graph, made):
    """With on_error="raise", an id with another body is an error, and its batch is not stored."""
    graph.ingest([made("e1")])
    with pytest.raises(IngestRefused, match="'e1'"):
        graph.ingest([made("e2", 1), made("e1", 5)], on_error="raise")
    assert graph.health()["event_count"] == 1


def test_strict_ingest_refuses_two_events_with_one_id(graph, made):
    """Two events of one batch with one id are an error that does not claim that either is stored."""
    with pytest.raises(IngestRefused, match="'e1' has another body than the stored or earlier event"):
        graph.ingest([made("e1"), made("e1", 5)], on_error="raise")
    assert graph.health()["event_count"] == 0


def test_strict_ingest_refuses_a_conflict_that_another_writer_makes_meanwhile(address, graph, made):
    """A conflict found only after the session is locked still raises, and nothing of the batch is stored."""
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=graph.tenant_id, **login) as other:
        written = []

        def meanwhile(line):
            if not written and line.startswith("events/"):
                written.append(line)
                other.ingest([made("e1")])

        stop = graph.trace(meanwhile)
        with pytest.raises(IngestRefused, match="'e1'"):
            graph.ingest([made("e2", 1), made("e1", 5)], on_error="raise")
        stop()
    assert (len(written), graph.health()["event_count"]) == (1, 1)


def test_concurrent_writers_of_the_same_events_store_each_once(address, stored, made, tenant_id):
    """Eight writers ingest the same events in different batches at once: each is stored once, without an error."""
    events = [made(f"e{n:03}", n % 40, session_id=f"s{n // 40}") for n in range(200)]
    reports, errors = [], []

    def write(number):
        try:
            with hmxgraph.connect(
                address.uri, user=address.user, password=address.password, tenant_id=tenant_id
            ) as graph:
                rotated = events[number * 25 :] + events[: number * 25]
                reports.append(graph.ingest(rotated, batch_size=7 + number))
        except Exception as error:  # noqa: BLE001 - reported by the test
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sum(report.accepted for report in reports) == 200
    assert sum(report.lines for report in reports) == 8 * 200
    ids = [f"e{n:03}" for n in range(200)]
    chains = [("NEXT", a, b) for a, b in itertools.pairwise(ids) if int(a[1:]) // 40 == int(b[1:]) // 40]
    assert stored.links("NEXT") == chains
    assert [row["session"]["event_count"] for row in stored.picture()["s"]] == [40] * 5


def test_concurrent_writers_with_parents_in_each_others_batch_are_linked(address, stored, made, tenant_id):
    """Events of different sessions that have each other's events as parents are linked, whoever commits first."""
    number = 60

    def write(session, other, ahead):
        with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
            for n in range(number):
                graph.ingest([made(f"{session}{n}", n, session_id=session, parent_event_id=f"{other}{n + ahead}")])

    threads = [threading.Thread(target=write, args=names) for names in (("a", "b", 0), ("b", "a", 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored.links("CAUSED_BY")) == 2 * number - 1


def test_writers_that_close_a_loop_together_are_refused_once(address, tenant_id, made):
    """If two racing writers name each other's events as parents, the event committed last is rejected."""
    number, accepted = 60, []

    def write(session, other):
        with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
            for n in range(number):
                event = made(f"{session}{n}", n, session_id=session, parent_event_id=f"{other}{n}")
                accepted.append(graph.ingest([event]).accepted)

    threads = [threading.Thread(target=write, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(accepted), sum(accepted)) == (2 * number, number)


def test_conversations_load_whole(graph):
    """Every event of the sample conversation is accepted, and stored only once."""
    path = shared("data", "conversations", "conv-26.ndjson.gz")
    report = graph.ingest(path, rehome=True)
    assert (report.accepted, report.rejected, report.late) == (419, (), 0)
    assert graph.ingest(path, rehome=True).duplicates == 419
