"""Claude Code's hooks: a pack for a prompt, known remedies for a failed tool, and the transcript ingested as it grows.

``hmxgraph install claude-code`` puts ``hmxgraph hook EVENT`` into the settings of Claude Code. That command waits at
most 0.3 seconds (``--within``) for the warm process (``warm``) that runs this module, prints nothing without an answer,
and always succeeds: memory never blocks or fails the agent.
"""

import json
import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.api.watching import Positions, Watch
from hmxgraph.errors import HmxGraphError
from hmxgraph.text.terms import terms

_log = logging.getLogger(__name__)
# Tokens of the pack for a prompt, and of the pack for a failed tool.
_PROMPT_BUDGET, _FAILURE_BUDGET = 1_200, 600
# The sections of the pack for a failed tool.
_FAILURE_SECTIONS = ("procedures", "constraints", "episodes")
# Maximum characters of the error and of the tool's input in the query. A longer error is cut in the middle, because its
# cause is usually at one of the ends.
_LONGEST_ERROR, _LONGEST_INPUT = 1_500, 300
# An error and an entry of the pack match if they share at least this many terms, and more than this fraction of the
# terms of the shorter one.
_MIN_SHARED_TERMS, _MIN_SHARE = 3, 0.5


class Hooks:
    """Answers the hooks of Claude Code from *graph*; *folder* stores how far each transcript was read."""

    def __init__(self, graph: KnowledgeGraph, folder: Path) -> None:
        self._graph = graph
        self._folder = folder

    def answer(self, message: Mapping[str, Any]) -> tuple[str, Callable[[], object] | None]:
        """The output of one hook as JSON text ("" for none), and a task to run after it was sent, if there is one."""
        event, hook_input = str(message.get("event")), message.get("input")
        user = str(message.get("user") or "") or None
        if not isinstance(hook_input, Mapping):
            return "", None
        try:
            text = self._context(event, hook_input, user)
        except HmxGraphError as error:
            _log.warning("%s stays silent: %s", event, error)
            text = ""
        paths = _transcripts(event, hook_input)
        return hook_output(event, text), (lambda: self.ingest(paths, user)) if paths else None

    def ingest(self, paths: list[Path], user_id: str | None = None) -> int:
        """Store the new events in the transcripts of *user_id*; if there are any, compile.

        Returns the number of new events.
        """
        stored = 0
        for path in paths:
            try:
                stored += self._ingest(path, user_id) if path.exists() else 0
            except (HmxGraphError, OSError) as error:
                _log.warning("%s is read again next time: %s", path.name, error)
        try:
            if stored:
                self._graph.compile()
        except HmxGraphError as error:
            _log.warning("not compiled: %s", error)
        return stored

    def _context(self, event: str, hook_input: Mapping[str, Any], user: str | None) -> str:
        """The pack for a hook, or "". Its markers let ingestion remove it when the transcript is read."""
        session = hook_input.get("session_id")
        if event == "UserPromptSubmit" and (prompt := str(hook_input.get("prompt") or "").strip()):
            return self._graph.pack(prompt, budget=_PROMPT_BUDGET, session_id=session, user_id=user).prompt
        if event == "PostToolUseFailure" and hook_input.get("is_interrupt") is not True:
            failure = failure_of(hook_input)
            pack = self._graph.pack(failure, budget=_FAILURE_BUDGET, sections=_FAILURE_SECTIONS, user_id=user)
            error = str(hook_input.get("error") or "")
            return pack.prompt if any(same_failure(error, entry.content) for entry in pack.entries) else ""
        return ""

    def _ingest(self, path: Path, user_id: str | None) -> int:
        name = sha256(f"{path}\0{self._graph.tenant_id}".encode()).hexdigest()[:32]
        positions = Positions(self._folder / f"{name}.sqlite")
        try:
            watch = Watch(self._graph, path, positions, format="claude-code", user_id=user_id)
            stored = watch.step()
            while watch.progress.behind:
                stored += watch.step()
        finally:
            positions.close()
        return stored


def failure_of(hook_input: Mapping[str, Any]) -> str:
    """The query for a failed tool call: the name of the tool, the error and the input.

    >>> failure_of({"tool_name": "Bash", "tool_input": {"command": "make up"}, "error": "port in use"})
    'Bash failed: port in use (make up)'
    """
    tool_input = hook_input.get("tool_input")
    words = " ".join(str(value) for value in tool_input.values()) if isinstance(tool_input, Mapping) else ""
    error = str(hook_input.get("error") or "").strip()
    half = _LONGEST_ERROR // 2
    shown = error if len(error) <= _LONGEST_ERROR else f"{error[:half]} {error[-half:]}"
    failure = f"{hook_input.get('tool_name') or 'tool'} failed: {shown}"
    return f"{failure} ({words[:_LONGEST_INPUT]})" if words else failure


def same_failure(error: str, content: str) -> bool:
    """Whether *content* is about *error*: they share most terms of the shorter, at least three (or all of *error*).

    After a failure, knowledge about that failure helps an agent; anything else distracts it.

    >>> same_failure("tcp connect: connection refused", "Bash failed: tcp connect (db:5432): connection refused")
    True
    >>> same_failure("Module not found: react", "user: Rename the cart module")
    False
    """
    error_terms, content_terms = set(terms(error)), set(terms(content))
    shared, shorter = len(error_terms & content_terms), min(len(error_terms), len(content_terms))
    return shared >= min(_MIN_SHARED_TERMS, len(error_terms)) > 0 and shared > _MIN_SHARE * shorter


def hook_output(event: str, text: str) -> str:
    """The JSON that Claude Code reads from a hook, with *text* for the model; "" if there is no text.

    >>> hook_output("Stop", "")
    ''
    >>> hook_output("UserPromptSubmit", "known")
    '{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "known"}}'
    """
    output = {"hookEventName": event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output}) if text else ""


def _transcripts(event: str, hook_input: Mapping[str, Any]) -> list[Path]:
    """The transcripts to ingest after this hook, if it marks the end of a turn, a compaction or a session."""
    if event not in {"Stop", "SubagentStop", "PreCompact", "SessionEnd"}:
        return []
    paths = (hook_input.get(name) for name in ("transcript_path", "agent_transcript_path"))
    return [Path(path).expanduser() for path in paths if isinstance(path, str) and path]
