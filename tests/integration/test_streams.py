"""Streams over the network: every message is stored and acknowledged after its commit; failures lose none."""

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
    """The stored nodes and relationships of the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def messages(tenant_id):
    """Events as text; two are out of order, one is repeated, one is malformed."""
    texts = [json.dumps(document(tenant_id=tenant_id, event_id=f"e{n:02}", sequence=n)) for n in range(NUMBER)]
    texts[3], texts[5] = texts[5], texts[3]
    return [*texts, texts[0], "{broken"]


@pytest.fixture
def opened(address, tenant_id):
    """Opens the asynchronous face for the test's tenant."""

    @asynccontextmanager
    async def connect():
        async with hmxgraph.connect_async(
            address.uri, user=address.user, password=address.password, tenant_id=tenant_id
        ) as graph:
            yield graph

    return connect


def check(report, stored):
    """Check that everything arrived in order, with one duplicate and one rejection."""
    assert (report.accepted, report.duplicates, len(report.rejected), report.late) == (NUMBER, 1, 1, 0)
    ids = [f"e{n:02}" for n in range(NUMBER)]
    assert stored.links("NEXT") == [("NEXT", a, b) for a, b in itertools.pairwise(ids)]


class Recorded:
    """An in-memory stream that records what was acknowledged and whether it was stored by then."""

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
        """Note that the stream was closed."""
        self.closed = True


def test_acknowledged_after_the_commit(opened, stored, messages):
    """Each message, even a rejected one, is acknowledged once, after its event is in the graph."""

    async def run():
        stream = Recorded(messages, stored)
        async with opened() as graph:
            return stream, await graph.ingest(stream, batch_size=7)

    stream, report = asyncio.run(run())
    check(report, stored)
    assert sorted(stream.acknowledged) == list(range(len(messages)))
    assert (stream.early, stream.closed) == ([], True)


def test_what_came_before_a_failure_is_stored(opened, stored, messages):
    """If a stream breaks off, everything delivered is stored and acknowledged before the error is raised."""

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
    """The asynchronous face reads asynchronous iterables and every source of the synchronous face."""

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
    """Lines are stored while the pipe is still open, and the ingest can be cancelled."""

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
    """On both faces everything an iterable yields before raising is stored, then its error is raised."""

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
    """The synchronous face refuses an asynchronous source, and the error names ``connect_async``."""

    async def arriving():
        yield messages[0]

    with pytest.raises(IngestRefused, match="connect_async"):
        graph.ingest(arriving())


def test_latecomers_wait_in_the_window(opened, stored, tenant_id):
    """An event that arrives after the reordering window is counted as late, and still linked in order."""

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
    """Each event is one data field; a dropped connection resumes after the last id received."""

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
    """Reconnects wait as long as the sender asks, or else half a second, doubled each time."""

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
    """Each frame is one event; the stream ends with the connection."""
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
    """The error names the address without login, and the client library logs no traceback."""

    async def run():
        async with opened() as graph:
            await graph.ingest(open_stream(url.format(free_port()), idle_seconds=1))

    with pytest.raises(IngestRefused, match=r"127\.0\.0\.1") as refused:
        asyncio.run(run())
    assert "secret" not in str(refused.value)
    assert [record.name for record in caplog.records if record.exc_info] == []


def test_a_refused_request_shows_no_login(opened):
    """An error quoted from the client library contains neither login nor query string."""

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
    """An unknown scheme is refused, listing the known ones."""
    with pytest.raises(IngestRefused, match="kafka"):
        open_stream("gopher://host/events")


@pytest.mark.parametrize(
    "url", ["http://[host/", "redis://host:port/key", "kafka://host:port/topic", "http://host:port/", "ws://host:port/"]
)
def test_no_address_is_one_clear_error(opened, url):
    """An invalid address raises an error that names it, not a bare Python error."""

    async def run():
        async with opened() as graph:
            await graph.ingest(open_stream(url, idle_seconds=1))

    with pytest.raises(IngestRefused, match="host"):
        asyncio.run(run())


def test_redis(opened, stored, messages, tmp_path):
    """Entries are acknowledged after the commit; those received but not stored are read again, once each."""
    from redis.asyncio import Redis  # noqa: PLC0415 - only with the extra

    port = free_port()
    url = f"redis://:secret@127.0.0.1:{port}"

    async def run():
        client = Redis.from_url(url)
        for message in messages:
            await client.xadd("events", {"event": message})
        await client.xgroup_create("events", "hmxgraph", id="0")
        await client.xreadgroup("hmxgraph", "hmxgraph", {"events": ">"}, count=10)  # a reader that dies with ten
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
    """A stream disables the client's default socket timeout; the URL can set one."""
    stream = open_stream("redis://127.0.0.1/events")
    assert stream._client.connection_pool.connection_kwargs["socket_timeout"] is None
    stream = open_stream("redis://127.0.0.1/events?db=2&group=g&socket_timeout=5&health_check_interval=7")
    given = stream._client.connection_pool.connection_kwargs
    assert (given["db"], given["socket_timeout"], given["health_check_interval"]) == (2, 5.0, 7)
    assert "group" not in given


def test_a_silent_redis_is_waited_for(messages, tmp_path):
    """A silence longer than the socket timeout does not end the stream."""
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
    """If the server is lost before the acknowledgement, events stay stored and the error names the server."""
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
    """Messages are acknowledged after the commit, so that nothing is pending for the durable consumer."""
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
    """Offsets are committed after the events, so that the group resumes after them."""
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
