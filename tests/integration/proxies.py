"""A TCP proxy between client and server that can cut, silence, slow down or refuse connections at any moment."""

import select
import socket
import threading
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from urllib.parse import urlsplit

_PIECE = 1 << 16


class Proxy:
    """Forwards to one address; ``fault`` is applied to all traffic from now on.

    ``None``: nothing. ``silent``: data is held back. ``slow``: 2 KB every 20 ms. ``refused``: open connections are
    reset and new ones refused. ``cut_request`` and ``cut_answer``: the next chunk in that direction is cut in half,
    then the connection is reset, once.
    """

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self.fault: str | None = None
        self._target = (parts.hostname, parts.port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._stopped = False
        self.uri = f"bolt://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def connections(self) -> int:
        """The number of open sockets."""
        return len(self._open)

    def stop(self) -> None:
        """Close all connections."""
        self._stopped = True
        self._listening.close()
        for each in list(self._open):
            _reset(each)

    def _accept(self) -> None:
        while not self._stopped:
            with suppress(OSError):
                if not select.select([self._listening], [], [], 0.05)[0]:
                    continue
                client, _ = self._listening.accept()
                if self.fault == "refused":
                    _reset(client)
                    continue
                server = socket.create_connection(self._target)
                self._open |= {client, server}
                for pair in ((client, server, "cut_request"), (server, client, "cut_answer")):
                    threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, cut: str) -> None:
        try:
            while not self._stopped and self.fault != "refused":
                if not select.select([source], [], [], 0.02)[0]:
                    continue
                while self.fault == "silent" and not self._stopped:
                    sleep(0.02)
                data = source.recv(_PIECE)
                if not data:
                    break
                if self.fault == cut:
                    self.fault = None
                    sink.sendall(data[: len(data) // 2])
                    break
                self._send(sink, data)
        except (OSError, ValueError):
            pass
        finally:
            self._open -= {source, sink}
            _reset(source)
            _reset(sink)

    def _send(self, sink: socket.socket, data: bytes) -> None:
        while data and self.fault == "slow":
            sink.sendall(data[:2048])
            data = data[2048:]
            sleep(0.02)
        sink.sendall(data)


@contextmanager
def proxied(uri):
    """A proxy in front of the server at *uri*."""
    proxy = Proxy(uri)
    try:
        yield proxy
    finally:
        proxy.stop()


def until(condition, seconds=60):
    """Wait until *condition* holds; fail after *seconds*."""
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, f"it did not happen within {seconds} s"
        sleep(0.05)


def _reset(each: socket.socket) -> None:
    """Close the socket with a TCP reset instead of an orderly end."""
    with suppress(OSError):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        each.close()
