"""Real questions to a running server, on the loopback interface and past any proxy."""

import json
import socket
from base64 import b64encode
from http.client import HTTPConnection, HTTPException

from hmxgraph.engine.ports import HOST

_BOLT_HELLO = bytes.fromhex("6060b017") + bytes.fromhex("00000405") + bytes.fromhex("00000404") + bytes(8)
_SECONDS = 2


def speaks_bolt(port: int) -> bool:
    """Whether a Bolt server agrees on a protocol version (Bolt handshake, version 4.4 or 5.4)."""
    try:
        with socket.create_connection((HOST, port), _SECONDS) as connection:
            connection.sendall(_BOLT_HELLO)
            answer = connection.recv(4)
    except OSError:
        return False
    return len(answer) == 4 and any(answer)


def login(port: int, user: str, password: str) -> int | None:
    """The HTTP status of an empty, authenticated transaction: 200 ready, 401 refused; None where nobody answers."""
    token = b64encode(f"{user}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
    status, _ = _ask(port, "POST", "/db/neo4j/tx/commit", '{"statements":[]}', headers)
    return status


def version(port: int) -> str:
    """The version that the server states, empty where it states none."""
    status, body = _ask(port, "GET", "/", None, {"Accept": "application/json"})
    return str(json.loads(body)["neo4j_version"]) if status == 200 else ""


def _ask(port: int, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int | None, bytes]:
    connection = HTTPConnection(HOST, port, timeout=_SECONDS * 5)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, HTTPException):
        return None, b""
    finally:
        connection.close()
