"""Batches are prepared one at a time in a process, without a lock while a source is read or after an error."""

import json
import os
import threading

import pytest

from hmxgraph.errors import IngestRefused
from hmxgraph.graph._events import extractions_of
from hmxgraph.graph.ingesting import prepared
from hmxgraph.ingest.intake import Intake
from hmxgraph.ingest.sources import deliveries
from hmxgraph.protocol.reports import Tally
from tests.unit.ingest.making import document, words


def batches(source, count=words, **choices):
    """The batches of *source*, ready to be written."""
    return prepared(deliveries(source), Intake(Tally("acme"), count, **choices), size=10, parts=1)


def documents(number, session_id="s1"):
    """*number* documents of one session, each with words of its own, which are counted only once."""
    return [
        document(
            event_id=f"{session_id}-{n}",
            session_id=session_id,
            sequence=n,
            content={"role": "user", "text": f"Restart {session_id} number {n}"},
        )
        for n in range(number)
    ]


def test_what_is_in_a_batch_is_found_before_it_is_sent():
    """Each batch contains the extractions from its events."""
    made = list(batches(documents(25)))
    assert [len(batch.events) for batch in made] == [10, 10, 5]
    assert [batch.extracted for batch in made] == [extractions_of(batch.events) for batch in made]


def test_one_prepares_at_a_time():
    """However many threads ingest, no two of them prepare events at the same time."""
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
    """No lock is held while a source is read, so a source may itself ingest another one."""

    def source():
        thread = threading.Thread(target=lambda: done.extend(batches(documents(30, "inner"))))
        thread.start()
        thread.join(timeout=60)
        yield from documents(3, f"outer-{len(done)}")

    done = []
    (batch,) = batches(source())
    assert {event.event.session_id for event in batch.events} == {"outer-3"}


def test_an_error_ends_the_turn():
    """A strict ingest that meets a bad line, and a source that raises, release the lock."""

    def broken():
        yield document()
        raise ConnectionError

    with pytest.raises(IngestRefused):
        list(batches([b"{"], on_error="raise"))
    with pytest.raises(ConnectionError):
        list(batches(broken()))
    assert len(list(batches(documents(15)))) == 2


def test_a_batch_not_taken_holds_nothing():
    """A consumer that stops after the first batch holds no lock."""
    first = next(batches(documents(30)))
    assert len(first.events) == 10
    assert len(list(batches(documents(30)))) == 3


def test_what_came_before_an_error_is_prepared():
    """If a source raises, what it delivered before is prepared as batches first."""

    def broken():
        yield from documents(25)
        raise ConnectionError

    made = batches(broken())
    assert [len(next(made).events) for _ in range(3)] == [10, 10, 5]
    with pytest.raises(ConnectionError):
        next(made)


def test_a_lull_hands_over_what_there_is():
    """When an open pipe has nothing more ready, its events so far are a batch, followed by None."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        made = batches(source)
        assert next(made) is None
        target.write(b"".join(json.dumps(value).encode() + b"\n" for value in documents(3)))
        assert len(next(made).events) == 3
        assert [next(made), next(made)] == [None, None]
