"""The program of the warm process (``adapters.warm``), which answers agent hooks and read-only commands.

It keeps a graph open, so that they need no new connection. ``hmxgraph serve`` is also a warm process. If that is not
running, ``hmxgraph server start`` or the first hook starts this module as a program.
"""

import gc
import io
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hmxgraph import engine
from hmxgraph.adapters.claude_code import Hooks
from hmxgraph.adapters.warm import Message, Warm, state_file
from hmxgraph.api.graph import KnowledgeGraph, connect
from hmxgraph.cli import app, one_line_errors
from hmxgraph.cli._commands import ClientTenant
from hmxgraph.cli._console import shown_at_terminal
from hmxgraph.cli._terminal import using_open_graphs
from hmxgraph.errors import HmxGraphError
from hmxgraph.server.tenants import Tenants

_log = logging.getLogger(__name__)
# Timeout in seconds of the first pack, for which a Neo4j server that has just started must plan its statements.
_PLANNING_SECONDS = 120.0


class Resident:
    """Answers hooks and commands for all tenants in the database of *graph*.

    *folder* stores how far the hooks have read each transcript.
    """

    def __init__(self, graph: KnowledgeGraph, folder: Path) -> None:
        self._tenants = Tenants(graph)
        self._folder = folder
        self._output_lock = threading.Lock()  # commands run one at a time, because they share the standard output
        # Not set while a Neo4j server that has just started plans its statements (see `answer`).
        self._statements_planned = threading.Event()
        self._statements_planned.set()

    def answer(self, message: Mapping[str, Any]) -> tuple[Message, Callable[[], object] | None]:
        """The answer to a hook or a command, and the task to run after it was sent, if there is one.

        An empty *message* means that the Neo4j server has just started. Packs and hooks then wait until the server has
        planned their statements: it would plan a statement again for each client that sends it in the meantime.
        """
        if not message:
            self._statements_planned.clear()
            return {"text": ""}, self.warm_up
        tenant = str(message.get("tenant") or "default")
        if isinstance(arguments := message.get("command"), list):
            if arguments[:1] == ["pack"]:
                self._statements_planned.wait(_PLANNING_SECONDS)
            return self._command([str(argument) for argument in arguments], tenant, message.get("terminal")), None
        self._statements_planned.wait(_PLANNING_SECONDS)
        graph = self._tenants.graph(tenant)
        text, follow_up = Hooks(graph, self._folder).answer(message)
        return {"text": text}, follow_up

    def warm_up(self) -> None:
        """Let the Neo4j server plan the statements of a pack, which takes seconds, before a client needs one."""
        try:
            with self._tenants.root.timeout(_PLANNING_SECONDS):
                self._tenants.root.pack("git push fails")
        except HmxGraphError as error:
            _log.warning("not warmed up: %s", error)
        finally:
            self._statements_planned.set()
        gc.collect()
        gc.freeze()  # exclude all objects loaded so far from garbage collection: saves 3 to 8 % of a pack's time

    def close(self) -> None:
        """Close all graphs."""
        self._tenants.close()

    def _command(self, arguments: list[str], tenant: str, terminal: Mapping[str, Any] | None) -> Message:
        """Run a command, and return its exit code and output; *terminal* describes the client's terminal, if any."""
        printed: list[tuple[str, str]] = []
        streams = redirect_stdout(_RecordedStream("out", printed)), redirect_stderr(_RecordedStream("err", printed))
        client_terminal, code = shown_at_terminal(**terminal) if terminal else nullcontext(), 0
        with self._output_lock, client_terminal, streams[0], streams[1], using_open_graphs(self._tenants.graph):
            try:
                with one_line_errors():
                    app(arguments, prog_name="hmxgraph", obj=ClientTenant(tenant))
            except SystemExit as exit_request:
                code = exit_request.code if isinstance(exit_request.code, int) else int(exit_request.code is not None)
        return {"code": code, "printed": printed}


class _RecordedStream(io.StringIO):
    """A stream that records its texts in *printed*.

    Two streams share this list, so that the order of their texts is known.
    """

    def __init__(self, name: str, printed: list[tuple[str, str]]) -> None:
        super().__init__()
        self._name, self._printed = name, printed

    def write(self, text: str) -> int:
        """Record *text*."""
        self._printed.append((self._name, text))
        return len(text)


@contextmanager
def resident(graph: KnowledgeGraph) -> Iterator[Warm | None]:
    """Answer hooks and commands during the block; yields None if another warm process is already running."""
    file = state_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = FileLock(file.with_suffix(".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield None
        return
    answering_resident = Resident(graph, file.parent)
    warm = Warm(answering_resident.answer)
    _, warm_up = answering_resident.answer({})
    assert warm_up is not None
    try:
        with warm.listening(file):
            threading.Thread(target=warm_up, daemon=True).start()
            yield warm
    finally:
        lock.release()
        answering_resident.close()


def _server_stopped() -> bool:
    """Whether this process uses the local server, and that has ended."""
    return not (os.environ.get("HMXGRAPH_URI") or engine.runs())


def main() -> None:
    """Answer the message on standard input, then others, until there was none for an hour or the server stops."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the state file is removed
    try:
        first_message = json.loads(sys.stdin.buffer.read())
    except ValueError:
        first_message = {}  # the hook timed out while writing its message; the next hook ingests the same transcript
    if not first_message and _server_stopped():
        return  # the server was stopped right after its start
    with connect() as graph, resident(graph) as warm:
        if warm is not None:
            if first_message:
                warm.handle(first_message)
            warm.wait_until_idle(_server_stopped)


if __name__ == "__main__":
    main()
