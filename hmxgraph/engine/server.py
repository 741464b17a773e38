"""The values that the engine answers with."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Server:
    """A running local server and how to log in."""

    uri: str
    http_uri: str
    browser_uri: str
    user: str
    password: str = field(repr=False)
    pid: int
    home: Path
    version: str

    @property
    def bolt_port(self) -> int:
        """The port in ``uri``."""
        return int(self.uri.rpartition(":")[2])

    def document(self) -> dict[str, Any]:
        """All fields as JSON values, the password among them."""
        return {**asdict(self), "home": str(self.home)}


@dataclass(frozen=True, slots=True)
class Status:
    """What there is in a data home at this moment."""

    state: Literal["running", "unresponsive", "stopped"]
    home: Path
    server: Server | None = None
    pid: int | None = None
    resident_bytes: int = 0
    uptime_seconds: int = 0

    @property
    def healthy(self) -> bool:
        """Whether the server answers."""
        return self.state == "running"

    def document(self) -> dict[str, Any]:
        """The status as JSON values, without the password."""
        server = {k: v for k, v in self.server.document().items() if k != "password"} if self.server else None
        process = {"pid": self.pid, "resident_bytes": self.resident_bytes, "uptime_seconds": self.uptime_seconds}
        return {"state": self.state, "home": str(self.home), "server": server, **process}
