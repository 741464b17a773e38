"""A warm process for hooks: it keeps a tenant's graph open and answers on a local port; short programs ask it.

Only the standard library and platformdirs are imported here, because an agent waits for the program that asks. Address
and key of the process are in a private file of the data home. Messages are JSON over an authenticated connection.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any

Message = dict[str, Any]
# Seconds without a question after which the process ends.
_IDLE = 3_600.0
_LOOK = 30.0


def state_file(tenant: str) -> Path:
    """The file with address and key of the warm process for *tenant*."""
    if not (home := os.environ.get("HMXGRAPH_HOME")):
        import platformdirs  # noqa: PLC0415 - only where the default is needed

        home = platformdirs.user_data_dir("hmxgraph", appauthor=False)
    place = "\0".join([tenant, os.environ.get("HMXGRAPH_URI", ""), os.environ.get("HMXGRAPH_DATABASE", "")])
    return Path(home) / "hooks" / f"{sha256(place.encode()).hexdigest()[:24]}.json"


def asked(tenant: str, message: Message) -> str | None:
    """The answer of the warm process; None if none runs, in which case one is started with *message* as its first."""
    try:
        state = json.loads(state_file(tenant).read_bytes())
        with Client(("127.0.0.1", state["port"]), authkey=bytes.fromhex(state["key"])) as connection:
            connection.send_bytes(json.dumps(message).encode())
            return connection.recv_bytes().decode()
    except (OSError, EOFError, ValueError, KeyError, AuthenticationError):
        _start(tenant, message)
        return None


def _start(tenant: str, message: Message) -> None:
    """Start a warm process that outlives this one and begins with *message*."""
    log = state_file(tenant).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    command = [sys.executable, "-m", "hmxgraph", "hook", "--listen", "--tenant", tenant]
    with log.open("ab") as file:
        process = subprocess.Popen(  # noqa: S603 - this program itself
            command, stdin=subprocess.PIPE, stdout=file, stderr=file, start_new_session=True
        )
    if process.stdin is not None:
        with process.stdin as pipe:
            pipe.write(json.dumps(message).encode())


class Warm:
    """Answers questions with *answer* until none came for an hour.

    *answer* gets a message and returns the text to send, and what is left to do after it was sent, if anything.
    """

    def __init__(self, answer: Callable[[Mapping[str, Any]], tuple[str, Callable[[], object] | None]]) -> None:
        self._answer = answer
        self._last = monotonic()
        self._busy = threading.Lock()  # what is left to do is done one after the other
        self._closing = threading.Event()

    def serve(self, file: Path) -> None:
        """Listen, and write the address to *file*; returns when idle for an hour."""
        key = token_hex(32)
        with Listener(("127.0.0.1", 0), authkey=bytes.fromhex(key)) as listener:
            _write_private(file, json.dumps({"port": listener.address[1], "key": key, "pid": os.getpid()}))
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            while monotonic() - self._last < _IDLE and not self._closing.wait(_LOOK):
                pass
            self._closing.set()
            file.unlink(missing_ok=True)
        with self._busy:
            return  # what was left to do is done

    def handle(self, message: Mapping[str, Any], send: Callable[[str], object] = len) -> None:
        """Answer one message, then do what is left to do."""
        self._last = monotonic()
        text, rest = self._answer(message)
        send(text)
        if rest is not None:
            with self._busy:
                rest()
        self._last = monotonic()

    def _accept(self, listener: Listener) -> None:
        while not self._closing.is_set():
            try:
                connection = listener.accept()
            except (OSError, EOFError, AuthenticationError):
                continue  # a client that gave up or has no key; also the end, when the listener is closed
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: "Connection[Any, Any]") -> None:
        with connection:
            message = json.loads(connection.recv_bytes())
            self.handle(message, lambda text: connection.send_bytes(text.encode()))


def _write_private(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = file.with_name(f".{file.name}.{token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
    temporary.replace(file)
