"""A source that is written while it is read hands over what it has, and tells when nothing more is at hand."""

import gzip
import json
import os
import threading
from time import monotonic

import pytest

from hmxgraph.ingest.batch import readings
from hmxgraph.ingest.sources import Delivery, Lull, deliveries
from tests.unit.ingest.making import document

DOCUMENTS = [document(event_id=f"e{number}", sequence=number) for number in range(3)]
LINES = [json.dumps(document).encode() + b"\n" for document in DOCUMENTS]


@pytest.fixture
def pipe():
    """An open pipe: the end to read, as a file, and what writes to the other."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        yield source, target


def test_lines_come_before_the_writer_ends(pipe):
    """Each line is handed over when it is there; then a lull is told, as often as somebody may want to stop."""
    source, target = pipe
    coming = deliveries(source)
    target.write(LINES[0] + LINES[1][:10])
    assert json.loads(next(coming).payload) == DOCUMENTS[0]
    assert [next(coming), next(coming)] == [Lull(), Lull()]
    target.write(LINES[1][10:])
    assert json.loads(next(coming).payload) == DOCUMENTS[1]
    target.close()
    assert list(coming) == []


def test_before_the_first_line_there_is_a_lull(pipe):
    """A pipe that nobody has written to keeps nobody in its reading."""
    assert next(deliveries(pipe[0])) == Lull()


@pytest.mark.parametrize("data", [b"".join(LINES), json.dumps(DOCUMENTS).encode()], ids=["lines", "array"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_whatever_comes_byte_by_byte(pipe, data, pack):
    """A writer that dawdles changes nothing of what is read."""
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
    reading = next(reading for reading in readings(deliveries(source)) if reading.deliveries)
    stop.set()
    thread.join()
    assert (reading.lull, monotonic() - began < 2) == (True, True)


def test_a_file_has_no_lull(tmp_path):
    """What lies on disk is read by the chunk."""
    (tmp_path / "events.ndjson").write_bytes(b"".join(LINES) * 1000)
    assert {type(delivery) for delivery in deliveries(tmp_path / "events.ndjson")} == {Delivery}


def test_what_was_handed_over_is_read_before_the_error():
    """A source that raises, or is interrupted, gives all that it had."""
    for error in (RuntimeError, KeyboardInterrupt):

        def broken(error=error):
            yield from DOCUMENTS
            raise error

        coming = readings(deliveries(broken()))
        assert [delivery.payload for delivery in next(coming).deliveries] == DOCUMENTS
        with pytest.raises(error):
            next(coming)
