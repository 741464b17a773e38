"""Claude Code transcripts for tests, line by line as the program writes them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path


class Transcript:
    """A transcript file that grows while its session runs; each step is a second."""

    def __init__(self, folder: Path, session: str, began: str) -> None:
        self.path = folder / f"{session}.jsonl"
        self._session = session
        self._at = datetime.fromisoformat(began).astimezone(UTC)
        self._lines = 0

    def user(self, text: str) -> "Transcript":
        """A user message."""
        return self._write("user", {"role": "user", "content": text})

    def says(self, text: str) -> "Transcript":
        """A model message."""
        return self._write("assistant", {"role": "assistant", "content": [{"type": "text", "text": text}]})

    def bash(self, command: str, output: str, *, failed: bool = False) -> "Transcript":
        """A shell call and its result."""
        call_id = f"toolu_{self._session}_{self._lines}"
        use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}
        self._write("assistant", {"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": call_id, "content": output, "is_error": failed}
        return self._write("user", {"role": "user", "content": [result]})

    def _write(self, kind: str, message: dict) -> "Transcript":
        self._lines += 1
        self._at += timedelta(seconds=1)
        line = {
            "type": kind,
            "uuid": f"{self._session}-{self._lines}",
            "sessionId": self._session,
            "timestamp": self._at.isoformat().replace("+00:00", "Z"),
            "cwd": "/home/ana/shop",
            "version": "2.1.39",
            "isSidechain": False,
            "message": message,
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return self
