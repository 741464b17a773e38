"""The server process: a listening socket, uvicorn, and a graceful shutdown."""

import signal
import socket
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import NoReturn

import uvicorn

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.server.app import Limits, MountFactory, application
from hmxgraph.server.observing import log_as_json

# When the server is stopped, requests in progress have this long to finish.
_GRACE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Settings:
    """The address, certificate and limits of a server."""

    host: str = "127.0.0.1"
    port: int = 8787
    certificate: Path | None = None
    private_key: Path | None = None
    limits: Limits = field(default_factory=Limits)


def listening(settings: Settings) -> socket.socket:
    """A socket that listens at the address of *settings*; port 0 selects a free port.

    Raises:
        OSError: the address is in use, or does not belong to this machine.

    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    return socket.create_server((settings.host, settings.port), family=family, backlog=1024)


def address_of(settings: Settings, listener: socket.socket) -> str:
    """The base URL for clients."""
    scheme = "https" if settings.certificate else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{listener.getsockname()[1]}/v1"


def run(graph: KnowledgeGraph, settings: Settings, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT.

    Requests in progress have 60 seconds to finish. Then the usage counters are stored and the graph is closed. Events
    are stored before they are acknowledged, so even a server that is killed loses no acknowledged event.
    """
    config = uvicorn.Config(
        application(graph, settings.limits, _mcp()),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.private_key,
    )
    log_as_json()
    # After the shutdown, uvicorn raises SIGTERM again. Without this handler, the exit status would be that of a killed
    # process.
    signal.signal(signal.SIGTERM, _exit_with_success)
    uvicorn.Server(config).run(sockets=[listener])


def has_mcp() -> bool:
    """Whether MCP can be served: ``mcp`` is installed, and not in version 1, which some frameworks need."""
    return find_spec("mcp") is not None and find_spec("mcp.server.mcpserver") is not None


def _mcp() -> MountFactory | None:
    if not has_mcp():
        return None
    from hmxgraph.server.mcp_http import mcp_mount  # noqa: PLC0415 - needs the extra

    return mcp_mount


def _exit_with_success(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)
