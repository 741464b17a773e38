"""Batches are prepared one at a time in a process, and whoever reads or fails keeps nobody waiting."""

import json
import os
import threading

import pytest

from hmxgraph.errors import IngestRefused
from hmxgraph.graph._events import extracted
from hmxgraph.graph.ingesting import prepared
from hmxgraph.ingest.intake import Intake
from hmxgraph.ingest.sources import deliveries
from hmxgraph.protocol.reports import Tally
from tests.unit.ingest.making import document, words


def batches(source, count=words, **choices):
    """The batches of *source*, ready to be written."""
    return prepared(deliveries(source), Intake(Tally("acme"), count, **choices), size=10, parts=1)


def documents(number, session_id="s1"):
    """So many documents of one session."""
    return [document(event_id=f"{session_id}-{n}", session_id=session_id, sequence=n) for n in range(number)]


def test_what_is_in_a_batch_is_found_before_it_is_sent():
    """Each batch brings what the rules find in its events."""
    made = list(batches(documents(25)))
    assert [len(batch.events) for batch in made] == [10, 10, 5]
    assert [batch.extracted for batch in made] == [extracted(batch.events) for batch in made]


def test_one_prepares_at_a_time():
    """However many threads ingest, never are two of them preparing events."""
    at_work, most = [], []

    def count(text):
        at_work.append(text)
        most.append(len(at_work))
        threading.Event().wait(0.001)
        at_work.pop()
        return words(text)

    threads = [
        threading.Thread(target=lambda name=name: list(batches(documents(20, name), count)))
        for name in ("s1", "s2", "s3")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (60, 1)


def test_a_source_may_wait_for_another_ingest():
    """While a source is read nothing is held: one that reads another to its end first gets it."""

    def source():
        thread = threading.Thread(target=lambda: done.extend(batches(documents(30, "inner"))))
        thread.start()
        thread.join(timeout=60)
        yield from documents(3, f"outer-{len(done)}")

    done = []
    (batch,) = batches(source())
    assert {event.event.session_id for event in batch.events} == {"outer-3"}


def test_an_error_ends_the_turn():
    """A strict ingest that meets a bad line, and a source that breaks, leave the turn to the next."""

    def broken():
        yield document()
        raise ConnectionError

    with pytest.raises(IngestRefused):
        list(batches([b"{"], on_error="raise"))
    with pytest.raises(ConnectionError):
        list(batches(broken()))
    assert len(list(batches(documents(15)))) == 2


def test_a_batch_not_taken_holds_nothing():
    """Whoever stops after the first batch keeps nobody waiting."""
    first = next(batches(documents(30)))
    assert len(first.events) == 10
    assert len(list(batches(documents(30)))) == 3


def test_what_came_before_an_error_is_prepared():
    """A source that raises has what it handed over made into batches first."""

    def broken():
        yield from documents(25)
        raise ConnectionError

    made = batches(broken())
    assert [len(next(made).events) for _ in range(3)] == [10, 10, 5]
    with pytest.raises(ConnectionError):
        next(made)


def test_a_lull_hands_over_what_there_is():
    """Events of an open pipe are a batch when no more of them come; where there is none, None says so."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        made = batches(source)
        assert next(made) is None
        target.write(b"".join(json.dumps(value).encode() + b"\n" for value in documents(3)))
        assert len(next(made).events) == 3
        assert [next(made), next(made)] == [None, None]
