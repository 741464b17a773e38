"""A source that is written while it is read yields what is ready, and reports pauses."""

import gzip
import json
import os
import threading
from time import monotonic

import pytest

from hmxgraph.ingest.batch import delivery_groups
from hmxgraph.ingest.sources import Delivery, Lull, deliveries
from tests.unit.ingest.making import document

DOCUMENTS = [document(event_id=f"e{number}", sequence=number) for number in range(3)]
LINES = [json.dumps(document).encode() + b"\n" for document in DOCUMENTS]


@pytest.fixture
def pipe():
    """An open pipe: the reading end as a file, and a function that writes to the other end."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        yield source, target


def test_lines_come_before_the_writer_ends(pipe):
    """Each line is yielded when it arrives; then pauses are reported repeatedly, so that readers can stop."""
    source, target = pipe
    coming = deliveries(source)
    target.write(LINES[0] + LINES[1][:10])
    assert json.loads(next(coming).payload) == DOCUMENTS[0]
    assert [next(coming), next(coming)] == [Lull(), Lull()]
    target.write(LINES[1][10:])
    assert json.loads(next(coming).payload) == DOCUMENTS[1]
    target.close()
    assert list(coming) == []


@pytest.mark.parametrize(
    ("begin", "between", "end"), [(b"[", b",", b"]"), (b"", b"", b"")], ids=["an array", "objects over lines"]
)
def test_a_pause_within_a_document_is_reported(pipe, begin, between, end):
    """The events of an array, or of objects over several lines, need not wait for the end of a pause either."""
    source, target = pipe
    printed = [json.dumps(document, indent=1).encode() + between for document in DOCUMENTS]
    coming = deliveries(source)
    target.write(begin + printed[0] + printed[1][:40])
    assert json.loads(next(coming).payload) == DOCUMENTS[0]
    unreported = threading.Timer(5, target.close)  # a source that reports no pause would be read for ever
    unreported.start()
    assert [next(coming), next(coming)] == [Lull(), Lull()]
    unreported.cancel()
    target.write(printed[1][40:] + printed[2].removesuffix(between) + end)
    target.close()
    rest = [arrival.payload for arrival in coming if arrival != Lull()]
    assert [json.loads(payload) for payload in rest] == DOCUMENTS[1:]


def test_before_the_first_line_there_is_a_lull(pipe):
    """A pipe that nobody has written to does not block its reader."""
    assert next(deliveries(pipe[0])) == Lull()


@pytest.mark.parametrize("data", [b"".join(LINES), json.dumps(DOCUMENTS).encode()], ids=["lines", "array"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_whatever_comes_byte_by_byte(pipe, data, pack):
    """A slow writer does not change what is read."""
    source, target = pipe

    def dawdle():
        for byte in pack(data):
            target.write(bytes([byte]))
        target.close()

    threading.Thread(target=dawdle).start()
    documents = [json.loads(delivery.payload) for delivery in deliveries(source) if isinstance(delivery, Delivery)]
    assert documents == DOCUMENTS


def test_a_slow_writer_waits_no_longer_than_a_batch_may_take(pipe):
    """Lines that come one by one, none of them late enough for a lull, do not add up to a whole batch first."""
    source, target = pipe
    began, stop = monotonic(), threading.Event()

    def trickle():
        while not stop.wait(0.004):
            target.write(LINES[0])

    thread = threading.Thread(target=trickle)
    thread.start()
    group = next(group for group in delivery_groups(deliveries(source)) if group.deliveries)
    stop.set()
    thread.join()
    assert (group.lull, monotonic() - began < 2) == (True, True)


def test_a_file_has_no_lull(tmp_path):
    """Files on disk are read in chunks."""
    (tmp_path / "events.ndjson").write_bytes(b"".join(LINES) * 1000)
    assert {type(delivery) for delivery in deliveries(tmp_path / "events.ndjson")} == {Delivery}


def test_what_was_handed_over_is_read_before_the_error():
    """A source that raises, or is interrupted, still yields everything read before."""
    for error in (RuntimeError, KeyboardInterrupt):

        def broken(error=error):
            yield from DOCUMENTS
            raise error

        coming = delivery_groups(deliveries(broken()))
        assert [delivery.payload for delivery in next(coming).deliveries] == DOCUMENTS
        with pytest.raises(error):
            next(coming)
