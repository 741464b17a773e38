"""A process that answers like Neo4j as far as the engine asks: the Bolt handshake and an HTTP login."""

import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread


class Bolt(BaseRequestHandler):
    """Agrees to Bolt 5.4."""

    def handle(self) -> None:
        """Answer the handshake."""
        self.request.recv(20)
        self.request.sendall(bytes([0, 0, 4, 5]))


class Web(BaseHTTPRequestHandler):
    """Accepts, or refuses, every login."""

    def do_POST(self) -> None:
        """A transaction."""
        self._answer(401 if "--refuse" in sys.argv else 200, b"{}")

    def do_GET(self) -> None:
        """The discovery document."""
        self._answer(200, b'{"neo4j_version": "5.99.0"}')

    def _answer(self, status: int, body: bytes) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve on the ports that the configuration names."""
    home = next(word for word in sys.argv if word.startswith("--home-dir=")).partition("=")[2]
    conf = Path(home, "conf", "neo4j.conf").read_text()
    bolt, http = (int(re.search(rf"server\.{name}\.listen_address=:(\d+)", conf)[1]) for name in ("bolt", "http"))
    ThreadingTCPServer.allow_reuse_address = True
    Thread(target=ThreadingTCPServer(("127.0.0.1", bolt), Bolt).serve_forever, daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", http), Web).serve_forever()


if __name__ == "__main__":
    main()
