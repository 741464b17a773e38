"""A warm process keeps a graph open and answers hooks and commands on a local port.

Clients save the cost of connecting. ``hmxgraph serve`` is such a process; if none runs, ``hmxgraph server start`` or
the first hook starts one (``hmxgraph.cli.resident``).

To start fast, this module imports only the standard library, platformdirs and ``hmxgraph`` itself: an agent waits for
the client. The address and key of the process are in a private file in the data home. Messages are JSON over an
authenticated connection.
"""

import json
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from shutil import get_terminal_size
from time import monotonic, sleep, time
from typing import Any

import hmxgraph

Message = dict[str, Any]
# Commands that the warm process may run: they only read, never prompt and, without ``--html``, write no file.
READ_COMMANDS = frozenset({"pack", "suggest", "explain", "query", "digest", "health"})
# ``HMXGRAPH_...`` settings that select the database and how it is read. A warm process answers only clients with the
# same settings.
_SETTINGS = ("URI", "USER", "DATABASE", "SINGLE_USER", "MASK_SECRETS", "TIMEOUT", "TRUSTED_KEYS", "EMBED")
# A process started by a hook or ``hmxgraph server start`` ends after this many seconds without a message.
_IDLE_SECONDS = 3_600.0
# Seconds between checks whether the process should end.
_CHECK_SECONDS = 5.0
# Seconds after which another process may be started if the first one has not answered yet.
_STARTING_SECONDS = 20.0
# Maximum number of seconds that a command waits for a starting warm process. If the command connected by itself, the
# database would plan the same statements twice.
_LONGEST_START_SECONDS = 60.0
# Seconds between two reads of the state file while a command waits for a process that is starting.
_POLL_SECONDS = 0.05
# Timeout of each receive during authentication, in seconds.
_HANDSHAKE = 5
# Seconds to wait for an answer: a server that has just started needs less to plan its statements.
_ANSWER_SECONDS = 150.0
# The shell prints the process id and exits at once, so that the process is not our child: it outlives us and leaves no
# zombie.
_DETACHED = 'exec 3<&0 4>&1 >>"$1" 2>&1; shift; "$@" <&3 3<&- 4>&- & echo $! >&4'
# The exit code if nobody reads the output: shells report it for a program ended by SIGPIPE (128 + 13).
_SIGPIPE_EXIT_CODE = 141


def state_file() -> Path:
    """The file with the address and key of the warm process for this data home, these settings and this version."""
    if not (home := os.environ.get("HMXGRAPH_HOME")):
        import platformdirs  # noqa: PLC0415 - only needed for the default

        home = platformdirs.user_data_dir("hmxgraph", appauthor=False)
    identity = "\0".join([hmxgraph.__version__, *(os.environ.get(f"HMXGRAPH_{name}", "") for name in _SETTINGS)])
    return Path(home) / "warm" / f"{sha256(identity.encode()).hexdigest()[:24]}.json"


def ask(message: Mapping[str, Any], *, patience: float = 0.0) -> Message | None:
    """Send *message* to the warm process; returns its answer, or None if no process runs or answers.

    If the process is still starting, waits until *patience* seconds after its start.
    """
    try:
        while "port" not in (state := _running()) and time() - state_file().stat().st_mtime < patience:
            sleep(_POLL_SECONDS)
        with Client(("127.0.0.1", state["port"])) as connection:
            _authenticate(connection, bytes.fromhex(state["key"]), answering=True)
            connection.send_bytes(json.dumps(message).encode())
            if not connection.poll(_ANSWER_SECONDS):
                return None
            answer: Message = json.loads(connection.recv_bytes())
    except (OSError, EOFError, ValueError, KeyError, TypeError, AuthenticationError):
        return None
    return answer


def _running() -> Message:
    """The contents of the state file: the process id and, once the process has started, its port and key.

    Raises:
        OSError: there is no such file, or its process has ended (checked on POSIX only); another may have its port now.
        ValueError: the file is not JSON.

    """
    state: Message = json.loads(state_file().read_bytes())
    if os.name == "posix":
        os.kill(state["pid"], 0)
    return state


def _authenticate(connection: "Connection[Any, Any]", key: bytes, *, answering: bool) -> None:
    """Check that both sides have *key*; the side with *answering* is challenged first.

    A timeout guards against a suspended process, and against a client that connects but sends nothing.

    Raises:
        AuthenticationError: the other side has another key.
        OSError: the other side did not respond in time.

    """
    if os.name == "posix":
        with socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as shared:
            shared.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", _HANDSHAKE, 0))
    if answering:
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
    else:
        deliver_challenge(connection, key)
        answer_challenge(connection, key)


def start(message: Mapping[str, Any]) -> None:
    """Start a warm process, unless one is starting already; it outlives this one, and handles *message* first.

    Raises:
        OSError: it could not be started.

    """
    import subprocess  # noqa: PLC0415 - rarely needed, and an agent waits

    log = _log_beside(state_file())
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if log.exists() and time() - log.stat().st_mtime < _STARTING_SECONDS:
        return
    log.touch()
    started = subprocess.run(  # noqa: S603 - our own program
        ["/bin/sh", "-c", _DETACHED, "sh", str(log), sys.executable, "-m", "hmxgraph.cli.resident"],
        input=json.dumps(message).encode(),
        stdout=subprocess.PIPE,
        start_new_session=True,
        check=False,
    )
    if started.returncode:
        raise OSError(f"the warm process could not be started; see {log}")
    _announce(int(started.stdout))


def _log_beside(file: Path) -> Path:
    return file.with_suffix(".log")


def _announce(pid: int) -> None:
    """Write to the state file that the process *pid* is starting, unless it or another one is already in the file."""
    file = state_file()
    try:
        _running()
    except (OSError, ValueError, KeyError, TypeError):
        _write_private(file, json.dumps({"pid": pid}))


# Commands.


def run_in_warm_process(arguments: Sequence[str]) -> int | None:
    """Run a command in the warm process and print its output.

    Returns the exit code, or None if the command must run in this process.
    """
    if sys.stdout is None or sys.stderr is None:  # closed by the parent process
        return None
    at_terminal = sys.stdout.isatty()
    if not only_reads(arguments) or sys.stderr.isatty() != at_terminal:
        return None
    tenant = os.environ.get("HMXGRAPH_TENANT") or "default"
    message: Message = {"command": list(arguments), "tenant": tenant}
    answer = ask(message | {"terminal": _terminal()} if at_terminal else message, patience=_LONGEST_START_SECONDS)
    if answer is None or "code" not in answer:
        return None
    return _print(answer["printed"]) or int(answer["code"])


def _terminal() -> Message:
    """The width of this terminal, and its colours by the names that the library rich uses."""
    kind = os.environ.get("TERM", "").lower()
    colors = "256" if kind.endswith("-256color") else "standard"
    if os.environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        colors = "truecolor"
    return {
        "columns": get_terminal_size().columns,
        "colors": None if kind in {"", "dumb", "unknown"} else colors,
        "no_color": bool(os.environ.get("NO_COLOR")),
    }


def only_reads(arguments: Sequence[str]) -> bool:
    """Whether a command writes neither to the database nor to files, so that the warm process may run it.

    Help is excluded, because it is fast without the warm process.

    >>> only_reads(["pack", "git push fails"]), only_reads(["pack", "x", "--html=x.html"]), only_reads(["forget"])
    (True, False, False)
    """
    excluded = any(argument.startswith(("--html", "--help")) for argument in arguments)
    return bool(arguments) and arguments[0] in READ_COMMANDS and not excluded


def _print(printed: Sequence[tuple[str, str]]) -> int:
    """Print texts in order, each to its stream; returns 0, or an exit code if that fails."""
    streams = {"out": sys.stdout, "err": sys.stderr}
    for stream in streams.values():
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        for name, text in printed:
            streams[name].write(text)
            streams[name].flush()
    except OSError as error:
        # The interpreter flushes standard output again on exit, which must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return _SIGPIPE_EXIT_CODE
        sys.stderr.write(f"error: cannot write the output: {error.strerror}\n")
        return 1
    return 0


# The warm process itself.

Answer = Callable[[Mapping[str, Any]], tuple[Mapping[str, Any], Callable[[], object] | None]]


class Warm:
    """Answers messages by calling *answer*, which returns the reply and, optionally, a task to run after sending it."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._last_message = monotonic()
        self._busy = threading.Lock()  # follow-up tasks run one at a time
        self._closing = threading.Event()

    @contextmanager
    def listening(self, file: Path) -> Iterator[None]:
        """Answer clients during the block, then wait for a running follow-up task; *file* gets the address and key."""
        from secrets import token_bytes  # noqa: PLC0415 - clients do not need it, and an agent waits for them

        key = token_bytes(32)
        with Listener(("127.0.0.1", 0)) as listener:
            _write_private(file, json.dumps({"port": listener.address[1], "key": key.hex(), "pid": os.getpid()}))
            threading.Thread(target=self._accept, args=(listener, key), daemon=True).start()
            try:
                yield
            finally:
                self._closing.set()
                file.unlink(missing_ok=True)
                with suppress(FileNotFoundError):  # `hmxgraph serve` has no log
                    os.utime(_log_beside(file), (0, 0))  # another process may start at once
        with self._busy:
            pass

    def wait_until_idle(self, is_over: Callable[[], bool]) -> None:
        """Return after an hour without messages, when *is_over* returns true, or when the process stops listening."""
        while monotonic() - self._last_message < _IDLE_SECONDS and not self._closing.wait(_CHECK_SECONDS):
            if is_over():
                return

    def handle(
        self, message: Mapping[str, Any], send: Callable[[Mapping[str, Any]], object] = lambda _answer: None
    ) -> None:
        """Pass the answer to one message to *send*, then run the follow-up task of the message."""
        self._last_message = monotonic()
        answer, follow_up = self._answer(message)
        with suppress(OSError):  # the client may have given up; the follow-up still runs
            send(answer)
        if follow_up is not None:
            with self._busy:
                follow_up()
        self._last_message = monotonic()

    def _accept(self, listener: Listener, key: bytes) -> None:
        while not self._closing.is_set():
            try:
                connection = listener.accept()
            except OSError:
                continue  # the client gave up, or the listener was closed
            threading.Thread(target=self._converse, args=(connection, key), daemon=True).start()

    def _converse(self, connection: "Connection[Any, Any]", key: bytes) -> None:
        """Answer one client, unless it gives up, stays silent, lacks the key or does not send JSON."""
        with connection:
            try:
                _authenticate(connection, key, answering=False)
                message = json.loads(connection.recv_bytes())
            except (EOFError, OSError, ValueError, AuthenticationError):
                return
            self.handle(message, lambda answer: connection.send_bytes(json.dumps(answer).encode()))


def _write_private(file: Path, text: str) -> None:
    """Write *file* atomically, readable only by its owner."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
    temporary.replace(file)
