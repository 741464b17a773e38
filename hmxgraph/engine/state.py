"""The state file: what every process needs to use the running server, readable by its owner only."""

import json
from pathlib import Path

from hmxgraph.engine.files import write_private
from hmxgraph.engine.server import Server


def save(server: Server) -> None:
    """Store *server* in its data home (mode 0600, whole or not at all)."""
    write_private(_path(server.home), json.dumps(server.document(), indent=1) + "\n")


def load(home: Path) -> Server | None:
    """The server that the state file names; None where it is missing, cut, or of another release.

    Nothing depends on it: a lost state is found again from the process and its configuration.
    """
    try:
        document = json.loads(_path(home).read_bytes())
        return Server(**{**document, "home": home})
    except (OSError, ValueError, TypeError):
        return None


def clear(home: Path) -> None:
    """Forget the state of a server that is gone."""
    _path(home).unlink(missing_ok=True)


def _path(home: Path) -> Path:
    return home / "server.json"
