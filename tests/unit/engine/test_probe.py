import socket
from threading import Thread

import pytest

from hmxgraph.engine._process import login, speaks_bolt, version


@pytest.fixture
def answering():
    """Return a port that answers every connection with these bytes."""
    listeners = []

    def serve(answer: bytes) -> int:
        listener = socket.create_server(("127.0.0.1", 0))

        def once() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(100):
                    pass  # leaving words unread would cut the answer off

        thread = Thread(target=once)
        thread.start()
        listeners.append((listener, thread))
        return listener.getsockname()[1]

    yield serve
    for listener, thread in listeners:
        thread.join()
        listener.close()


def test_bolt_is_recognised(answering):
    """A server that agrees on a version speaks Bolt."""
    assert speaks_bolt(answering(bytes([0, 0, 4, 5])))


@pytest.mark.parametrize("answer", [b"", bytes(4), b"HT"])
def test_others_are_not_taken_for_bolt(answering, answer):
    """Silence, a refusal of all versions and half an answer are not Bolt."""
    assert not speaks_bolt(answering(answer))


def test_nobody_there(unused_ports):
    """If nothing listens, every probe returns an empty result."""
    assert not speaks_bolt(unused_ports[0])
    assert login(unused_ports[0], "neo4j", "secret") is None
    assert version(unused_ports[0]) == ""


@pytest.mark.parametrize("body", [b"hello", b"{}", b"[1]"])
def test_another_web_server_reports_no_version(answering, body):
    """The version is empty, whatever the server answers."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    assert version(answering(answer)) == ""


def test_what_is_no_web_server(answering):
    """Garbage in place of HTTP gives no login status."""
    assert login(answering(b"\x00\x01garbage\r\n\r\n"), "neo4j", "secret") is None


def test_proxies_are_passed_by(answering, monkeypatch):
    """Probes of this machine ignore a proxy in the environment."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert login(answering(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"), "neo4j", "secret") == 401
