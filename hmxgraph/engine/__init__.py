"""A local Neo4j: jars by lock file, a Java, one process per data home (DESIGN 1); stands alone."""

from hmxgraph.engine._lifecycle import ensure, logs, status, stop
from hmxgraph.engine.server import Listener, Server, Status, Step

__all__ = ["Listener", "Server", "Status", "Step", "ensure", "logs", "status", "stop"]
