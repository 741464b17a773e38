"""The local server: what is missing, and the way out."""

from hmxgraph.errors.base import HmxGraphError


class EngineError(HmxGraphError, RuntimeError):
    """The local server could not be fetched, started, reached or stopped; the message ends with the way out."""

    def __init__(self, reason: str, way_out: str) -> None:
        super().__init__(reason, way_out)
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.reason}; {self.way_out}"


class JavaMissing(EngineError):
    """No Java that this Neo4j runs on."""


class JarsUnavailable(EngineError):
    """The jars are not in the cache and could not be fetched."""


class JarDamaged(EngineError):
    """A jar whose bytes differ from the lock file."""


class NotEnoughMemory(EngineError):
    """Heap and page cache do not fit this machine."""


class PortTaken(EngineError):
    """Another program listens on the port."""


class PasswordLost(EngineError):
    """A database whose password is not, or no longer, in the data home."""


class ServerDied(EngineError):
    """The server ended while starting; carries its last words."""

    def __init__(self, reason: str, way_out: str, last_words: str) -> None:
        super().__init__(reason, way_out)
        self.args = (reason, way_out, last_words)
        self.last_words = last_words

    def __str__(self) -> str:
        return f"{self.reason}:\n{self.last_words}\n{self.way_out}"


class ServerUnresponsive(EngineError):
    """A process that neither answers nor ends."""
