"""Streams over the wire: every message stored, acknowledged after its commit, and none lost when it fails."""

import asyncio
import itertools
import json
import os
from contextlib import asynccontextmanager
from time import monotonic

import pytest

import hmxgraph
from hmxgraph.errors import IngestRefused
from hmxgraph.ingest.sources import Delivery
from hmxgraph.ingest.streams.sse import SseStream
from hmxgraph.ingest.streams.stream import open_stream
from tests.integration.brokers import kafka
from tests.integration.ingested import Ingested
from tests.integration.servers import free_port, program
from tests.unit.ingest.making import document

pytestmark = pytest.mark.slow
NUMBER = 30


@pytest.fixture
def stored(connection, tenant_id):
    """The bare look at the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def messages(tenant_id):
    """Events as texts; some overtake others, one comes twice, one is broken."""
    texts = [json.dumps(document(tenant_id=tenant_id, event_id=f"e{n:02}", sequence=n)) for n in range(NUMBER)]
    texts[3], texts[5] = texts[5], texts[3]
    return [*texts, texts[0], "{broken"]


@pytest.fixture
def opened(address, tenant_id):
    """The asynchronous face of the test's tenant."""

    @asynccontextmanager
    async def connect():
        async with hmxgraph.connect_async(
            address.uri, user=address.user, password=address.password, tenant_id=tenant_id
        ) as graph:
            yield graph

    return connect


def check(report, stored):
    """Everything arrived, in order; the repeat and the broken one are accounted for."""
    assert (report.accepted, report.duplicates, len(report.rejected), report.late) == (NUMBER, 1, 1, 0)
    ids = [f"e{n:02}" for n in range(NUMBER)]
    assert stored.links("NEXT") == [("NEXT", a, b) for a, b in itertools.pairwise(ids)]


class Recorded:
    """A stream in memory that remembers what was acknowledged, and what was stored by then."""

    def __init__(self, messages, stored, fail_at=None):
        self.messages, self.stored, self.fail_at = messages, stored, fail_at
        self.acknowledged, self.early, self.closed = [], [], False

    async def __aiter__(self):
        for number, message in enumerate(self.messages):
            if number == self.fail_at:
                raise IngestRefused("memory", "broke off")
            yield Delivery(message, number + 1, "memory", number)

    async def acknowledge(self, receipts):
        """Note the receipts, and those whose events are not stored yet."""
        ids = {row["event_id"] for row in self.stored.picture()["e"]}
        for receipt in receipts:
            event = json.loads(self.messages[receipt]) if self.messages[receipt] != "{broken" else None
            self.early += [receipt] if event and event["event_id"] not in ids else []
        self.acknowledged += receipts

    async def close(self):
        """Note that nobody will acknowledge any more."""
        self.closed = True


def test_acknowledged_after_the_commit(opened, stored, messages):
    """Each message is acknowledged once, and only when its event is in the graph; refused ones too."""

    async def run():
        stream = Recorded(messages, stored)
        async with opened() as graph:
            return stream, await graph.ingest(stream, batch_size=7)

    stream, report = asyncio.run(run())
    check(report, stored)
    assert sorted(stream.acknowledged) == list(range(len(messages)))
    assert (stream.early, stream.closed) == ([], True)


def test_what_came_before_a_failure_is_stored(opened, stored, messages):
    """A stream that breaks off raises, after all that it delivered was stored and acknowledged."""

    async def run(stream):
        async with opened() as graph:
            await graph.ingest(stream)

    stream = Recorded(messages, stored, fail_at=20)
    with pytest.raises(IngestRefused, match="broke off"):
        asyncio.run(run(stream))
    assert len(stored.picture()["e"]) == 20
    assert sorted(stream.acknowledged) == list(range(20))
    assert stream.closed


def test_asynchronous_iterables_and_plain_sources(opened, stored, messages):
    """The asynchronous face reads asynchronous iterables and everything that the plain face reads."""

    async def arriving():
        for message in messages:
            yield message

    async def run():
        async with opened() as graph:
            return await graph.ingest(arriving()), await graph.ingest(messages)

    streamed, again = asyncio.run(run())
    check(streamed, stored)
    assert (again.accepted, again.duplicates) == (0, NUMBER + 1)


def test_an_open_pipe_is_stored_and_left(opened, stored, messages):
    """What came through a pipe is stored while it is open; the ingest can be cancelled, and the loop ends."""

    async def run():
        async with opened() as graph:
            settled, loop = asyncio.Event(), asyncio.get_running_loop()
            on_progress = lambda _: loop.call_soon_threadsafe(settled.set)  # noqa: E731
            waiting = asyncio.create_task(graph.ingest(source, progress=on_progress))
            await asyncio.wait_for(settled.wait(), 60)
            waiting.cancel()
            await asyncio.wait({waiting})
            return waiting.cancelled()

    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        target.write("\n".join(messages[:7]).encode() + b"\n")
        assert asyncio.run(run())
    assert len(stored.picture()["e"]) == 7


@pytest.mark.parametrize("face", ["plain", "asynchronous"])
def test_an_iterable_that_raises_loses_nothing(opened, graph, stored, messages, face):
    """Everything that it handed over is stored, then its error is raised; by either face."""

    def broken():
        yield from messages[:20]
        raise ConnectionError

    async def run():
        async with opened() as awaitable:
            await awaitable.ingest(broken(), batch_size=8)

    with pytest.raises(ConnectionError):
        asyncio.run(run()) if face == "asynchronous" else graph.ingest(broken(), batch_size=8)
    assert len(stored.picture()["e"]) == 20


def test_the_plain_face_refuses_asynchronous_sources(graph, messages):
    """An asynchronous source needs the asynchronous face; the error says so."""

    async def arriving():
        yield messages[0]

    with pytest.raises(IngestRefused, match="connect_async"):
        graph.ingest(arriving())


def test_latecomers_wait_in_the_window(opened, stored, tenant_id):
    """An event that overtook another waits for it, at most as long as the window; then it is late, and linked right."""

    async def arriving():
        for number in (0, 2):
            yield document(tenant_id=tenant_id, event_id=f"e{number}", sequence=number)
        await asyncio.sleep(0.5)
        yield document(tenant_id=tenant_id, event_id="e1", sequence=1)

    async def run(seconds):
        async with opened() as graph:
            return await graph.ingest(arriving(), window_seconds=seconds)

    assert asyncio.run(run(0.05)).late == 1
    assert stored.links("NEXT") == [("NEXT", "e0", "e1"), ("NEXT", "e1", "e2")]


def test_server_sent_events(opened, stored, messages):
    """Each event is one data field; a dropped connection goes on after the last id received."""

    async def serve(reader, writer):
        request = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        begin = int(request.split("last-event-id:")[1].split()[0]) + 1 if "last-event-id" in request else 0
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        end = 12 if begin == 0 else len(messages)
        for number in range(begin, end):
            data = f"id: {number}\ndata: {messages[number]}\n\n".encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        writer.write(b"0\r\n\r\n" if end == len(messages) else b"")
        await writer.drain()
        writer.close()

    async def run():
        port = free_port()
        async with await asyncio.start_server(serve, "127.0.0.1", port), opened() as graph:
            stream = open_stream(f"http://ana:secret@127.0.0.1:{port}/events?key=secret")
            return stream, await graph.ingest(stream), f"http://127.0.0.1:{port}/events"

    stream, report, source_url = asyncio.run(run())
    check(report, stored)
    assert report.rejected[0].source == source_url
    assert stream.last_stored == str(len(messages) - 1)


@pytest.mark.parametrize(("said", "silence"), [("", 0.5 + 1), ("retry: 200\n\n", 0.2 + 0.2)])
def test_a_dropped_connection_is_given_time(tenant_id, said, silence):
    """Before it is made again there is the pause that the sender asks for, else half a second that doubles."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        event = said.encode() + b"data: " + json.dumps(document(tenant_id=tenant_id)).encode() + b"\n\n"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        await writer.drain()
        writer.close()

    async def run():
        port = free_port()
        messages = aiter(SseStream(f"http://127.0.0.1:{port}/", reconnects=2))
        async with await asyncio.start_server(serve, "127.0.0.1", port):
            await anext(messages)
        began = monotonic()
        with pytest.raises(IngestRefused):
            await anext(messages)
        return monotonic() - began

    assert silence <= asyncio.run(run()) < silence + 1


def test_websocket(opened, stored, messages):
    """Each frame is one event; the end of the connection is the end of the stream."""
    from websockets.asyncio.server import serve  # noqa: PLC0415 - only with the extra

    async def talk(socket):
        for message in messages:
            await socket.send(message)

    async def run():
        port = free_port()
        async with serve(talk, "127.0.0.1", port), opened() as graph:
            report = await graph.ingest(open_stream(f"ws://ana:secret@127.0.0.1:{port}/?key=secret"))
            return report, f"ws://127.0.0.1:{port}/"

    report, source_url = asyncio.run(run())
    check(report, stored)
    assert report.rejected[0].source == source_url


@pytest.mark.parametrize(
    "url",
    [
        "http://ana:secret@127.0.0.1:{}/?key=secret",
        "ws://ana:secret@127.0.0.1:{}/?key=secret",
        "redis://ana:secret@127.0.0.1:{}/key",
        "nats://ana:secret@127.0.0.1:{}/s/x",
        "kafka://127.0.0.1:{}/topic",
        "kafka://ana:secret@127.0.0.1:{}/topic",
    ],
)
def test_an_unreachable_server_is_one_clear_error(opened, url, caplog):
    """The error has the address, but no login and no traceback of the client library."""

    async def run():
        async with opened() as graph:
            await graph.ingest(open_stream(url.format(free_port()), idle_seconds=1))

    with pytest.raises(IngestRefused, match=r"127\.0\.0\.1") as refused:
        asyncio.run(run())
    assert "secret" not in str(refused.value)
    assert [record.name for record in caplog.records if record.exc_info] == []


def test_a_refused_request_shows_no_login(opened):
    """The address in the client library's message is shown without login and query too."""

    async def refuse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def run():
        port = free_port()
        async with await asyncio.start_server(refuse, "127.0.0.1", port), opened() as graph:
            await graph.ingest(open_stream(f"http://ana:secret@127.0.0.1:{port}/events?key=secret"))

    with pytest.raises(IngestRefused, match="401") as refused:
        asyncio.run(run())
    assert "secret" not in str(refused.value)


def test_unknown_streams_are_refused():
    """A scheme that we do not know is refused with the list of those that we do."""
    with pytest.raises(IngestRefused, match="kafka"):
        open_stream("gopher://host/events")


@pytest.mark.parametrize(
    "url", ["http://[host/", "redis://host:port/key", "kafka://host:port/topic", "http://host:port/", "ws://host:port/"]
)
def test_no_address_is_one_clear_error(opened, url):
    """An address that cannot be read is refused with the address, not with an error of Python."""

    async def run():
        async with opened() as graph:
            await graph.ingest(open_stream(url, idle_seconds=1))

    with pytest.raises(IngestRefused, match="host"):
        asyncio.run(run())


def test_redis(opened, stored, messages, tmp_path):
    """Entries are acknowledged after the commit; those received but not stored come again, each once."""
    from redis.asyncio import Redis  # noqa: PLC0415 - only with the extra

    port = free_port()
    url = f"redis://:secret@127.0.0.1:{port}"

    async def run():
        client = Redis.from_url(url)
        for message in messages:
            await client.xadd("events", {"event": message})
        await client.xgroup_create("events", "hmxgraph", id="0")
        await client.xreadgroup("hmxgraph", "hmxgraph", {"events": ">"}, count=10)  # a reader that died with ten
        async with opened() as graph:
            report = await graph.ingest(open_stream(f"{url}/events", idle_seconds=0.3))
            again = await graph.ingest(open_stream(f"{url}/events", idle_seconds=0.3))
        pending = await client.xpending("events", "hmxgraph")
        await client.aclose()
        return report, again, pending

    words = ("--port", str(port), "--save", "", "--dir", str(tmp_path), "--requirepass", "secret")
    with program("redis-server", *words, port=port):
        report, again, pending = asyncio.run(run())
    check(report, stored)
    assert report.rejected[0].source == f"redis://127.0.0.1:{port}/0/events"
    assert (again.lines, pending["pending"]) == (0, 0)


def test_a_redis_connection_has_patience():
    """The client's own default for the silence of a connection, of a few seconds, does not hold for a stream."""
    stream = open_stream("redis://127.0.0.1/events")
    assert stream._client.connection_pool.connection_kwargs["socket_timeout"] is None
    stream = open_stream("redis://127.0.0.1/events?db=2&group=g&socket_timeout=5&health_check_interval=7")
    given = stream._client.connection_pool.connection_kwargs
    assert (given["db"], given["socket_timeout"], given["health_check_interval"]) == (2, 5.0, 7)
    assert "group" not in given


def test_a_silent_redis_is_waited_for(messages, tmp_path):
    """A silence longer than the connection's patience, which a URL may name, does not end the stream."""
    from redis.asyncio import Redis  # noqa: PLC0415 - only with the extra

    port = free_port()

    async def run():
        stream = open_stream(f"redis://127.0.0.1:{port}/events?socket_timeout=0.6")
        coming = asyncio.ensure_future(anext(aiter(stream)))
        done, _ = await asyncio.wait({coming}, timeout=1.0)
        assert not done
        async with Redis.from_url(f"redis://127.0.0.1:{port}") as client:
            await client.xadd("events", {"event": messages[0]})
        delivery = await coming
        await stream.close()
        return delivery.payload

    with program("redis-server", "--port", str(port), "--save", "", "--dir", str(tmp_path), port=port):
        assert asyncio.run(run()).decode() == messages[0]


def test_a_server_lost_before_the_acknowledgement_is_reported(opened, stored, messages, tmp_path):
    """What was received is stored, and one clear error names the lost server."""
    from redis.asyncio import Redis  # noqa: PLC0415 - only with the extra

    port = free_port()
    url = f"redis://127.0.0.1:{port}"

    async def run(process):
        async with Redis.from_url(url) as client:
            for message in messages:
                await client.xadd("events", {"event": message})
        stream = open_stream(f"{url}/events", idle_seconds=0.3)
        acknowledge = stream.acknowledge

        async def too_late(receipts):
            process.kill()
            process.wait()
            await acknowledge(receipts)

        stream.acknowledge = too_late
        async with opened() as graph:
            await graph.ingest(stream)

    with (
        program("redis-server", "--port", str(port), "--save", "", "--dir", str(tmp_path), port=port) as process,
        pytest.raises(IngestRefused, match=f"127.0.0.1:{port}"),
    ):
        asyncio.run(run(process))
    assert len(stored.picture()["e"]) == NUMBER


def test_jetstream(opened, stored, messages, tmp_path):
    """Messages are acknowledged after the commit, so that the durable consumer has none left."""
    import nats  # noqa: PLC0415 - only with the extra

    port = free_port()
    server = f"nats://ana:secret@127.0.0.1:{port}"

    async def run():
        connection = await nats.connect(server)
        context = connection.jetstream()
        await context.add_stream(name="hmx", subjects=["events"])
        for message in messages:
            await context.publish("events", message.encode())
        async with opened() as graph:
            report = await graph.ingest(open_stream(f"{server}/hmx/events", idle_seconds=1))
        consumer = await context.consumer_info("hmx", "hmxgraph")
        await connection.close()
        return report, consumer

    with program("nats-server", "-js", "-p", str(port), "-sd", str(tmp_path), port=port):
        report, consumer = asyncio.run(run())
    check(report, stored)
    assert (consumer.num_ack_pending, consumer.num_pending) == (0, 0)


def test_kafka(opened, stored, messages, tenant_id, tmp_path):
    """Offsets are committed after the events, so that the group goes on behind them."""
    from aiokafka import AIOKafkaProducer  # noqa: PLC0415 - only with the extra

    topic = "".join(sign if sign.isalnum() else "-" for sign in tenant_id)

    async def run(servers):
        url = f"kafka://{servers}/{topic}?group={topic}"
        async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
            for message in messages:
                await producer.send_and_wait(topic, message.encode())
        async with opened() as graph:
            report = await graph.ingest(open_stream(url, idle_seconds=10))
            return report, await graph.ingest(open_stream(url, idle_seconds=10))

    with kafka(tmp_path) as servers:
        report, again = asyncio.run(run(servers))
    check(report, stored)
    assert again.lines == 0
