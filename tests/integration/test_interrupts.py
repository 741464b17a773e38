"""Ctrl-C during a driver call: the call ends at once, and the graph stays usable."""

import signal
import threading
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from time import monotonic

import pytest

from hmxgraph.graph.plan import ask, bind, read
from tests.session_makers import deployment, repaired_deployment

pytestmark = pytest.mark.server
INTERRUPTS = 150


@pytest.fixture(autouse=True)
def as_in_a_program():
    """Install Python's default SIGINT handler, which may be off when tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def interrupted(seconds):
    """Send SIGINT after this number of seconds unless the block has ended by then."""
    ended, lock = [], threading.Lock()

    def interrupt():
        with lock:
            if not ended:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield
    finally:
        with lock:
            ended.append(True)


def test_an_interrupt_ends_what_the_server_does(connection):
    """An interrupted call ends at once, and the server stops the query."""
    asked = bind("schema_version/get")
    slow = replace(asked, query=replace(asked.query, text="UNWIND range(1, 100000000000) AS n RETURN count(n) AS slow"))
    began = monotonic()
    with pytest.raises(KeyboardInterrupt), interrupted(0.5):
        connection.perform(read(lambda: ask(slow)))
    assert monotonic() - began < 10
    show = replace(
        asked, query=replace(asked.query, text="SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery AS text")
    )
    while any(row["text"] == slow.text for row in connection.perform(read(lambda: ask(show)))):
        assert monotonic() - began < 60
    assert connection.perform(read(lambda: ask(asked)))


@pytest.mark.slow
def test_interrupts_at_any_moment(graph, tenant_id):
    """Whenever a call is interrupted, it raises KeyboardInterrupt, and later calls answer as before."""
    graph.ingest([*deployment("d1", tenant=tenant_id), *repaired_deployment("r1", tenant=tenant_id)])
    graph.compile()
    ask_for = (graph.digest, graph.memories, graph.artifacts, graph.health)
    answers = [call() for call in ask_for]
    moments, broken_in = Random(1), 0
    for number in range(INTERRUPTS):
        call = ask_for[number % len(ask_for)]
        try:
            with interrupted(moments.random() * 0.02):
                call()
        except KeyboardInterrupt:
            broken_in += 1
        assert [call() for call in ask_for] == answers
    assert broken_in > INTERRUPTS / 10
