"""Download, start and stop a local Neo4j server.

There is at most one server process per data home, the folder with its database and logs.
"""

from pathlib import Path

from hmxgraph.engine import _data_home, _settings
from hmxgraph.engine._dumps import dump, load
from hmxgraph.engine._lifecycle import died, ensure, logs, reachable, runs, status, stop
from hmxgraph.engine._process import browser_style, style_command
from hmxgraph.engine.server import Listener, Server, Status, Step

__all__ = [
    "Listener",
    "Server",
    "Status",
    "Step",
    "browser_style",
    "data_home",
    "died",
    "dump",
    "ensure",
    "load",
    "logs",
    "reachable",
    "runs",
    "state_file",
    "status",
    "stop",
    "style_command",
]


def data_home() -> Path:
    """The folder with the local server's database, password, configuration and logs.

    Raises:
        EngineError: an environment variable has an invalid value.

    """
    return _settings.read().home


def state_file() -> Path:
    """The file with the address and login of the local server, written once it is up.

    Raises:
        EngineError: an environment variable has an invalid value.

    """
    return _data_home.state_file(data_home())
