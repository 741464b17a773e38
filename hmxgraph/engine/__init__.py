"""A local Neo4j: jars by lock file, a Java, one process per data home (DESIGN 1); stands alone."""

from hmxgraph.engine.lifecycle import ensure, logs, status, stop
from hmxgraph.engine.progress import Listener, Step
from hmxgraph.engine.server import Server, Status

__all__ = ["Listener", "Server", "Status", "Step", "ensure", "logs", "status", "stop"]
