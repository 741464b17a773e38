"""The two ports of the local server: those asked for, else those of the last start, else free ones."""

import socket
from typing import NamedTuple

from hmxgraph.engine import refusals
from hmxgraph.engine.settings import Settings

HOST = "127.0.0.1"


class Ports(NamedTuple):
    """Where the server listens."""

    bolt: int
    http: int


def choose(settings: Settings, last: Ports | None) -> Ports:
    """Ports that are free at this moment.

    Raises:
        PortTaken: one that the user asked for is in use, or is asked for twice.

    """
    wanted_bolt = _pinned(settings.bolt_port, "HMXGRAPH_BOLT_PORT")
    wanted_http = _pinned(settings.http_port, "HMXGRAPH_HTTP_PORT")
    if wanted_bolt and wanted_bolt == wanted_http:
        raise refusals.one_port_for_two(wanted_bolt)
    bolt = wanted_bolt or _again(last and last.bolt, wanted_http)
    http = wanted_http or _again(last and last.http, bolt)
    fresh = _fresh(2)
    return Ports(bolt or fresh[0], http or fresh[1])


def is_pinned(settings: Settings) -> bool:
    """Whether the user asked for both ports, so that no others may be tried."""
    return settings.bolt_port is not None and settings.http_port is not None


def is_free(port: int) -> bool:
    """Whether nobody listens on *port*."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: closed connections do not count
        return probe.connect_ex((HOST, port)) != 0 and _binds(port)


def _binds(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _pinned(port: int | None, variable: str) -> int | None:
    if port is not None and not is_free(port):
        raise refusals.port_taken(port, variable)
    return port


def _again(port: int | None, other: int | None) -> int | None:
    """The port of the last start, unless it is taken, or is now the *other* one."""
    return port if port is not None and port != other and is_free(port) else None


def _fresh(count: int) -> list[int]:
    """Ports given by the system, distinct because they are held together."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((HOST, 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
