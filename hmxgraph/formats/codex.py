"""Codex rollouts: ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl``.

The first line, the header, describes the session. The other lines are items of OpenAI's Responses API, settings of
turns, and reports of the program, many of which repeat an item. Each is an envelope with a type and a payload; early
versions wrote the items without an envelope.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, TypeAlias

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Calls
from hmxgraph.formats._drafts import Draft, Frame, Place, Reading, frame_of, not_an_object, outcome, skipped
from hmxgraph.formats._items import is_item, item_reading
from hmxgraph.formats._messages import is_message
from hmxgraph.formats._values import derived_id, mapping, name, present, session_of, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import AGENT, HARNESS, OPERATOR, USER

AGENT_NAME = "codex"
_SOURCE = f"harness:{AGENT_NAME}"
Line: TypeAlias = Mapping[str, Any]
_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
# The id of a session in the name of its file.
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Types of reports that repeat an item.
_REPEATING_REPORTS = frozenset({"user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"})


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects that are lines of a rollout.

    >>> recognise([{"type": "session_meta", "payload": {"id": "s"}, "timestamp": "2026-01-01T00:00:00Z"}]).score
    1.0
    """
    lines = [value for value in sample if isinstance(value, Mapping)]
    if not lines:
        return Match(0.0, ("type", "payload"))
    first = lines[0]
    # Early versions: a header without a type, then items without an envelope.
    early = "instructions" in first and "id" in first and "timestamp" in first and "type" not in first
    foreign = [line for line in lines if not (_fits(line) or (early and (line is first or _has_no_envelope(line))))]
    absent = {
        "a known type": not all(map(_has_type, foreign)),
        "payload": not all(map(_has_payload, foreign)),
        "a session_meta line": not early and all(line.get("type") != "session_meta" for line in lines),
    }
    missing = tuple(feature for feature, is_absent in absent.items() if is_absent and foreign)
    return Match(round(1 - len(foreign) / len(lines), 2), missing)


def _fits(line: Line) -> bool:
    return _has_type(line) and _has_payload(line)


def _has_type(line: Line) -> bool:
    return name(line.get("type")) in _TYPES


def _has_payload(line: Line) -> bool:
    return isinstance(line.get("payload"), Mapping)


def _has_no_envelope(line: Line) -> bool:
    return is_item(line) or is_message(line) or line.get("record_type") == "state"


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per line."""
    rollout = _Rollout(origin)
    for record in records:
        if isinstance(record.value, Mapping):
            yield rollout.outcome(record, record.value)
        else:
            yield not_an_object(record)


class _Rollout:
    """Reads a rollout line by line, and remembers the header and the latest settings of the session."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._calls = Calls(origin.carried)
        self._session: JsonObject = origin.carried.setdefault("session", {})

    def outcome(self, record: Record, line: Line) -> Outcome:
        """The outcome of the line."""
        kind, payload = name(line.get("type")), mapping(line.get("payload"))
        if kind == "session_meta" or ("instructions" in line and "payload" not in line):
            return self._read_header(record, payload or line)
        if kind == "turn_context":
            self._session |= present(model=name(payload.get("model")), cwd=name(payload.get("cwd")))
            return Outcome(record, skipped="settings of a turn")
        if line.get("record_type") == "state":
            return Outcome(record, skipped="state of the program")
        if kind not in _TYPES and not _has_no_envelope(line):
            line_type = f"a line of type {kind[:40]!r}"
            return Outcome(
                record, fault=Fault("$.type", "Codex rollout", line_type, "one of " + ", ".join(sorted(_TYPES)))
            )
        # A header after this line begins another session. Directly after the first header, it would belong to the
        # session from which this one was forked.
        self._session.pop("begins", None)
        frame = self._frame(record, line, payload or line)
        if isinstance(frame, Fault):
            return Outcome(record, fault=frame)
        return outcome(record, frame, self._reading(kind, payload or line, frame), self._origin.carried)

    def _read_header(self, record: Record, meta: Line) -> Outcome:
        """Remember what the header says about the session; skip a second header directly after it.

        The second one belongs to the session from which this one was forked.
        """
        if self._session.get("begins") is True:
            return Outcome(record, skipped="header of the session that this one was forked from")
        git = mapping(meta.get("git"))
        self._session.clear()
        self._session |= present(
            id=name(meta.get("id")),
            cwd=name(meta.get("cwd")),
            git_branch=name(git.get("branch")),
            version=name(meta.get("cli_version")),
            parent=self._parent(meta),
            begins=True,
        )
        return Outcome(record, skipped="header of the session")

    @staticmethod
    def _parent(meta: Line) -> str:
        """The session that started this one as a sub-agent: "unknown" if unnamed, "" if this is not a sub-agent."""
        spawned = mapping(mapping(meta.get("source")).get("subagent"))
        inner = mapping(spawned.get("thread_spawn"))
        return name(inner.get("parent_thread_id")) or ("unknown" if "subagent" in mapping(meta.get("source")) else "")

    def _frame(self, record: Record, line: Line, payload: Line) -> Frame | Fault:
        header = self._session
        session = name(header.get("id")) or self._session_without_header(record)
        time = line.get("timestamp", payload.get("timestamp"))
        identity = (
            session,
            time,
            payload.get("type"),
            payload.get("call_id"),
            payload.get("content", payload.get("message")),
        )
        metadata = present(
            format="codex",
            cwd=header.get("cwd"),
            git_branch=header.get("git_branch"),
            version=header.get("version"),
            model=header.get("model"),
            parent_session_id=header.get("parent"),
        )
        own_id = derived_id(*identity, payload.get("output")) if time and session else ""
        place = Place(
            0 if time else record.line,
            session,
            own_id,
            time,
            self._origin.agent_id or AGENT_NAME,
            metadata,
            in_order=True,
        )
        return frame_of(record, self._origin, place, identity)

    def _session_without_header(self, record: Record) -> str:
        """The session if no header was read: the caller's, else the id in the file name, else one from the path."""
        match = _UUID.search(PurePath(record.source).name)
        return match.group() if match and not self._origin.session_id else session_of(record, self._origin)

    def _reading(self, kind: str, payload: Line, frame: Frame) -> Reading:
        if kind == "compacted":
            summary = text(payload.get("message"))
            return Reading((_note(summary, "compaction_summary"),)) if summary.strip() else skipped("compacted context")
        if kind == "world_state":
            return skipped("state of the program")
        if kind == "event_msg":
            return _program_report(payload)
        reading = item_reading(payload, frame, self._calls)
        return replace(reading, drafts=tuple(self._with_author(draft) for draft in reading.drafts))

    def _with_author(self, draft: Draft) -> Draft:
        """*draft* with its real author: a sub-agent's prompts are by another agent, system prompts by Codex."""
        if self._session.get("parent") and draft.event_type == "message" and draft.origin == USER:
            return replace(
                draft, origin=AGENT, source=f"agent:{AGENT_NAME}", metadata={**draft.metadata, "author": AGENT_NAME}
            )
        if draft.event_type == "message" and draft.origin == OPERATOR:
            return replace(_note(text(draft.content.get("text")), "instructions"), part=draft.part)
        return replace(draft, source=_SOURCE) if draft.origin == HARNESS else draft


def _program_report(payload: Line) -> Reading:
    """Errors, warnings and interruptions that the program reports; its other reports are skipped."""
    kind = name(payload.get("type"))
    if kind in _REPEATING_REPORTS:
        return skipped("repeats an item of the conversation")
    report = text(payload.get("message")) or text(payload.get("reason"))
    if kind in {"error", "stream_error"} and report:
        return Reading((Draft("error", {"error_type": "CodexError", "message": report}, HARNESS, source=_SOURCE),))
    if kind in {"turn_aborted", "warning"} and report:
        return Reading((_note(f"{kind.replace('_', ' ')}: {report}", kind),))
    return skipped(f"report of the program: {kind[:40]}")


def _note(note: str, kind: str) -> Draft:
    return Draft("observation", {"text": note.strip()}, HARNESS, source=_SOURCE, metadata={"harness_kind": kind})


CODEX = Format("codex", "Codex rollouts", recognise, convert)
