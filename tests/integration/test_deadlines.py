"""Calls end in time whatever happens to the database, and their errors say what was stored."""

import asyncio
import pickle
import signal
import threading
from contextlib import contextmanager
from functools import partial
from time import monotonic, sleep

import psutil
import pytest

import hmxgraph
from hmxgraph import engine
from hmxgraph.api.graph import Login, settling_check
from hmxgraph.errors import DeadlineExceeded, InvalidRequest, LocalServerDied, StorageUnavailable
from hmxgraph.graph.connection import ConnectionTerms
from hmxgraph.graph.deadlines import Patience
from hmxgraph.protocol.memories import Memories
from tests.integration.proxies import proxied
from tests.unit.ingest.making import document

# Seconds that a call may exceed its deadline on a busy machine.
SLACK = 5


@pytest.fixture
def proxy(address):
    """A proxy in front of the server."""
    with proxied(address.uri) as proxy:
        yield proxy


@pytest.fixture
def connect(address, tenant_id, proxy):
    """Opens the tenant's graph through the proxy."""

    def connect(**options):
        login = {"user": address.user, "password": address.password, "database": address.database}
        return hmxgraph.connect(proxy.uri, tenant_id=tenant_id, **login, **options)

    return connect


@pytest.fixture
def connect_async(address, tenant_id, proxy):
    """Opens the tenant's asynchronous graph through the proxy."""
    login = {"user": address.user, "password": address.password, "database": address.database}
    return lambda **options: hmxgraph.connect_async(proxy.uri, tenant_id=tenant_id, **login, **options)


@contextmanager
def within(seconds):
    """Fail if the block takes more than *seconds*, plus some slack."""
    began = monotonic()
    yield
    assert monotonic() - began < seconds + SLACK


def said(graph):
    """The texts of all memories."""
    return [memory.text for memory in graph.memories()[0]]


def observed(graph):
    """The number of events that support each memory."""
    return [len(memory.event_ids) for memory in graph.memories()[0]]


@pytest.mark.parametrize("fault", ["silent", "refused"])
def test_a_read_ends_in_time(connect, proxy, fault):
    """A read from a silent or unreachable server fails in time; afterwards the same graph works again."""
    with connect() as graph:
        proxy.fault = fault
        with within(2), graph.timeout(2), pytest.raises(StorageUnavailable) as failed:
            graph.pack("anything")
        assert isinstance(failed.value, DeadlineExceeded) is (fault == "silent")
        assert failed.value.outcome == "not stored"
        proxy.fault = None
        assert graph.pack("anything").entries == ()


@pytest.mark.parametrize("fault", ["silent", "refused"])
def test_a_write_that_was_not_sent_says_so(connect, proxy, fault):
    """If a write was not sent, the error says that nothing was stored, and repeating the call stores it once."""
    with connect() as graph:
        proxy.fault = fault
        with within(2), graph.timeout(2), pytest.raises(StorageUnavailable, match="this step wrote nothing") as failed:
            graph.remember("The build is green")
        assert failed.value.outcome == "not stored"
        proxy.fault = None
        graph.remember("The build is green")
        assert observed(graph) == [1]


@pytest.mark.parametrize("in_session", [False, True])
def test_messages_that_were_not_stored_are_stored_by_the_repeated_call(connect, proxy, in_session):
    """Messages of a call that failed do not count as read: the repeated call stores them."""
    messages = [{"role": "user", "content": "hello", "id": "m1"}, {"role": "assistant", "content": "hi", "id": "m2"}]
    conversation = [{"messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]}]
    with connect() as graph, graph.session(session_id="s") as session:
        record = session.record if in_session else partial(graph.record, session_id="s")
        for said in (messages, conversation):
            proxy.fault = "silent"
            with within(2), graph.timeout(2), pytest.raises(DeadlineExceeded):
                record(said)
            proxy.fault = None
            assert {receipt.status for receipt in record(said).receipts} == {"stored"}
        assert graph.health()["event_count"] == 4


def test_a_commit_without_an_answer_is_unknown(connect, proxy):
    """If a commit gets no answer, the error says that the outcome is unknown, and a repeat stores nothing twice."""
    with connect() as graph:
        stop = graph.trace(lambda line: setattr(proxy, "fault", "silent" if _last(line) else proxy.fault))
        with within(2), graph.timeout(2), pytest.raises(DeadlineExceeded, match="is unknown") as failed:
            graph.append("message", {"role": "user", "text": "hi"}, session_id="s", idempotency_key="k")
        assert failed.value.outcome == "unknown"
        stop()
        proxy.fault = None
        again = graph.append("message", {"role": "user", "text": "hi"}, session_id="s", idempotency_key="k")
        assert again.status in {"stored", "duplicate"}
        assert graph.health()["event_count"] == 1


@pytest.mark.parametrize("fault", ["cut_request", "cut_answer"])
@pytest.mark.parametrize("at", ["begin", "commit"])
def test_a_connection_that_is_cut_is_no_error(connect, proxy, fault, at):
    """If the connection is cut, the transaction runs again without storing anything twice."""
    with connect() as graph:
        graph.health()
        cut = iter([fault])
        if at == "begin":
            proxy.fault = next(cut)
        graph.trace(lambda line: setattr(proxy, "fault", next(cut, None) if _last(line) else proxy.fault))
        graph.remember("The build is green")
        assert (proxy.fault, next(cut, "used")) == (None, "used")
        assert observed(graph) == [1]


@pytest.mark.parametrize(
    "operation",
    [
        lambda memory, _, key: memory.add(f"Bo runs the build {key}", idempotency_key=key),
        lambda memory, old_id, key: memory.supersede(old_id, f"Bo runs it {key}", idempotency_key=key),
        lambda memory, old_id, key: memory.feedback(old_id, "positive", idempotency_key=key),
        lambda memory, old_id, key: memory.record_outcome([old_id], "success", idempotency_key=key),
    ],
    ids=["add", "supersede", "feedback", "outcome"],
)
def test_an_operation_on_memories_whose_answer_is_lost(connect, proxy, operation):
    """If the commit of an operation on memories is not answered, it is done once, also if the call is repeated."""

    def counts(result):
        (memory,) = result if isinstance(result, Memories) else (result,)
        return {name: value for name, value in memory.properties.items() if type(value) is int and "_us" not in name}

    with connect() as graph:
        sent = []
        memory_id = graph.remember("Ann runs the tests").memory_id
        stop = graph.trace(sent.append)
        undisturbed = operation(graph.memory, memory_id, "first")
        stop()
        last = len(sent)
        memory_id, before = graph.remember("Ann runs the build").memory_id, graph.health()["event_count"]
        sent.clear()

        def cut(line):
            sent.append(line)
            proxy.fault = "cut_answer" if len(sent) == last else None

        graph.trace(cut)
        results = [operation(graph.memory, memory_id, "second") for _ in range(2)]
        assert results[0] == results[1]
        assert counts(results[1]) == counts(undisturbed)
        assert graph.health()["event_count"] == before + 1


def test_a_memory_with_a_key_is_one_observation(connect):
    """Calls with the same idempotency key count as one observation; a call without it counts as another."""
    with connect() as graph:
        for _ in range(2):
            graph.remember("The build is green", idempotency_key="k")
        assert observed(graph) == [1]
        graph.remember("The build is green")
        assert observed(graph) == [2]


def test_a_silence_shorter_than_the_deadline_is_waited_for(connect, proxy):
    """A call waits for a server that pauses for less than the deadline."""
    with connect() as graph:
        proxy.fault = "silent"
        threading.Timer(1.5, lambda: setattr(proxy, "fault", None)).start()
        graph.remember("The build is green")
        assert said(graph) == ["The build is green"]


def test_an_ingest_says_what_it_stored_before(connect, proxy, tenant_id):
    """If a batch fails, the error counts the lines stored before it, and repeating the call stores the rest."""
    events = [document(tenant_id=tenant_id, event_id=f"e{n}", sequence=n) for n in range(40)]

    def source():
        for number, event in enumerate(events):
            if number == 30:
                sleep(1)
                proxy.fault = "silent"
            yield event

    with connect() as graph:
        with within(6), graph.timeout(5), pytest.raises(StorageUnavailable) as failed:
            graph.ingest(source(), batch_size=10)
        stored = int(failed.value.stored.split()[0])
        proxy.fault = None
        report = graph.ingest(events)
        assert stored in {10, 20, 30}
        assert report.duplicates >= stored
        assert report.accepted + report.duplicates == 40


@pytest.mark.slow
def test_the_asynchronous_face_ends_in_time(connect_async, proxy):
    """Asynchronous reads and writes also end in time, and report the same outcomes as synchronous ones."""

    async def story():
        async with connect_async() as graph:
            proxy.fault = "silent"
            outcomes = []
            for call in (graph.pack("anything"), graph.remember("The build is green")):
                with within(2), graph.timeout(2), pytest.raises(DeadlineExceeded) as failed:
                    await call
                outcomes.append(failed.value.outcome)
            proxy.fault = "refused"
            with within(1), graph.timeout(1), pytest.raises(StorageUnavailable):
                await graph.health()
            proxy.fault = None
            await graph.remember("The build is green")
            return outcomes, [len(memory.event_ids) for memory in (await graph.memories())[0]]

    assert asyncio.run(story()) == (["not stored", "not stored"], [1])


def test_nobody_connects_for_ever(connect, connect_async, proxy):
    """Connecting to a silent or unreachable server fails within the timeout."""

    async def opened():
        await connect_async(timeout=1)

    for fault in ("silent", "refused"):
        proxy.fault = fault
        with within(1), pytest.raises(StorageUnavailable):
            connect(timeout=1)
        with within(1), pytest.raises(StorageUnavailable):
            asyncio.run(opened())


@pytest.mark.parametrize("seconds", [0, -1, "5", float("nan")])
def test_no_time_to_wait_is_refused(connect, seconds):
    """An invalid timeout is refused, both on connect and for a block of calls."""
    with pytest.raises(InvalidRequest, match="timeout"):
        connect(timeout=seconds)
    with connect() as graph, pytest.raises(InvalidRequest, match="timeout"), graph.timeout(seconds):
        pass


def test_the_command_line_ends_in_time(run, proxy, monkeypatch):
    """A command that times out prints one line that says what happened and how to allow more time."""
    monkeypatch.setenv("HMXGRAPH_URI", proxy.uri)
    assert run("health", "--timeout", 60)[0] == 0
    proxy.fault = "silent"
    with within(1):
        code, _, err = run("pack", "anything", "--timeout", 1)
    assert (code, len(err.splitlines())) == (1, 1)
    assert "did not answer in time" in err
    assert "--timeout" in err
    assert run("pack", "anything", "--timeout", 0)[0] == 2


def test_defaults():
    """Reads get 15 seconds, writes 60 and whole-tenant reads 600, unless the caller sets a timeout."""
    seconds = [Patience(mode, None).seconds for mode in ("read", "write", "schema")]
    assert (*seconds, Patience("read", None, whole=True).seconds) == (15, 60, 600, 600)
    assert Patience("read", 4, whole=True).seconds == 4


def test_a_server_that_has_just_started_has_more_time():
    """A newly started server gets more time to plan statements, unless the caller sets a timeout."""
    seconds = [ConnectionTerms(settling=lambda: True).patience(mode).seconds for mode in ("read", "write", "schema")]
    assert seconds == [120, 120, 600]
    assert ConnectionTerms(settling=lambda: False).patience("read").seconds == 15
    assert ConnectionTerms(4, settling=lambda: True).patience("read").seconds == 4


def test_only_a_local_server_tells_whether_it_has_just_started(tmp_path, monkeypatch):
    """Only a local server can be recognised as newly started; for a remote server there is no such check."""
    monkeypatch.setenv("HMXGRAPH_HOME", str(tmp_path))
    is_settling = settling_check(Login(), environment={})
    assert not is_settling()
    monkeypatch.setattr("hmxgraph.graph.deadlines.time", lambda: 0.0)
    (tmp_path / "server.json").write_text("{}")
    assert is_settling()
    assert settling_check(Login(uri="bolt://elsewhere"), environment={}) is None


def test_errors_survive_a_process_border():
    """A pickled error keeps its message, outcome and count of stored lines."""
    error = DeadlineExceeded("bolt://a:1", "no answer", "unknown", "3 lines before this batch are stored")
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert (str(copied), copied.outcome, copied.stored) == (str(error), error.outcome, error.stored)
    assert isinstance(copied, TimeoutError)


@pytest.mark.slow
def test_a_local_server_that_died_is_started_again(local):
    """If the local server is killed, sync and async graphs restart it, lose no data and store nothing twice."""

    async def story():
        async with hmxgraph.connect_async() as graph:
            await graph.remember("The build is green")
            _kill(engine.status().pid)
            await graph.remember("The test is red")
            return {memory.text: len(memory.event_ids) for memory in (await graph.memories())[0]}

    with hmxgraph.connect() as graph:
        graph.remember("The roof is blue")
        _kill(local.pid)
        graph.remember("The roof is blue")
        assert observed(graph) == [2]
        assert graph.verify().ok
    assert asyncio.run(story()) == {"The roof is blue": 2, "The build is green": 1, "The test is red": 1}


@pytest.mark.slow
def test_a_local_server_that_was_stopped_is_noticed_at_once(local):
    """A local server that was stopped stays stopped, and the error says how to start it."""
    with hmxgraph.connect() as graph:
        engine.stop()
        with within(2), pytest.raises(LocalServerDied, match="hmxgraph server start"):
            graph.remember("The build is green")
        engine.ensure()
        graph.remember("The build is green")
        assert observed(graph) == [1]


@pytest.mark.slow
def test_a_frozen_server(local):
    """A call waits for a server frozen for less than the deadline, and fails in time if it stays frozen."""
    server = psutil.Process(local.pid)
    with hmxgraph.connect() as graph:
        server.send_signal(signal.SIGSTOP)
        threading.Timer(2, lambda: server.send_signal(signal.SIGCONT)).start()
        graph.remember("The build is green")
        server.send_signal(signal.SIGSTOP)
        with within(2), graph.timeout(2), pytest.raises(DeadlineExceeded):
            graph.remember("The test is red")
        with within(1), pytest.raises(StorageUnavailable):
            hmxgraph.connect(timeout=1)
        server.send_signal(signal.SIGCONT)
        graph.remember("The test is red")
        assert sorted(observed(graph)) == [1, 1]


def _last(line):
    """Whether a traced statement is the last one of a writing transaction."""
    return line.startswith("events/settle")


def _kill(pid):
    process = psutil.Process(pid)
    process.kill()
    process.wait(20)
