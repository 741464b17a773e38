"""Claude Code transcripts: ``~/.claude/projects/<folder>/<session>.jsonl``; sub-agents in ``<session>/subagents/``.

Each line is a JSON object. The set of line types is internal to Claude Code and grows: types with information about the
work are read, other known types are skipped with a reason, and unknown types are skipped and reported by name. A
content block is usually one event with the id ``<uuid>#<block>``. A sub-agent is a separate session,
``<session>/<agent>``, so that its steps do not mix with those of the session that started it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Calls
from hmxgraph.formats._drafts import (
    REASONING,
    Draft,
    Frame,
    Reading,
    common_metadata,
    not_an_object,
    numbered,
    outcome,
    skipped,
)
from hmxgraph.formats._endings import exit_code
from hmxgraph.formats._harness_text import passages, without_escapes, without_reminders
from hmxgraph.formats._parts import arguments, attachment, block_text, contents
from hmxgraph.formats._values import Moment, derived_id, listed, mapping, moment, name, present, session_of, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import AGENT, ASSISTANT, HARNESS, TOOL, USER
from hmxgraph.protocol.timestamps import iso

AGENT_NAME = "claude-code"
Line: TypeAlias = Mapping[str, Any]

# Line types without information about the work, with the reason shown in the report.
_BOOKKEEPING = {
    "file-history-snapshot": "backup of files",
    "summary": "title of a conversation",
    "custom-title": "title of a conversation",
    "ai-title": "title of a conversation",
    "agent-name": "name of an agent",
    "agent-color": "setting of the program",
    "agent-setting": "setting of the program",
    "tag": "label of a conversation",
    "mode": "setting of the program",
    "permission-mode": "setting of the program",
    "last-prompt": "copy of the last prompt",
    "pr-link": "link to a pull request",
    "worktree-state": "setting of the program",
    "content-replacement": "copy of a long result",
    "stream_event": "fragment of a message; the complete one follows",
    "result": "statistics of a run",
}
# Fields that may hold the text of an attachment; the first one with text is used.
_ATTACHMENT_TEXT_FIELDS = ("content", "stdout", "stderr", "blockingError", "message", "snippet")
# Attachments whose text is kept; all others except queued prompts are skipped.
_ATTACHMENT_KINDS = frozenset(
    {
        "hook_additional_context", "hook_success", "hook_blocking_error", "hook_non_blocking_error",
        "hook_system_message", "hook_stopped_continuation", "hook_error_during_execution", "diagnostics",
        "edited_text_file", "task_status",
    }
)  # fmt: skip
# Types of progress reports, with the reason why they are skipped.
_PROGRESS = {
    "hook_progress": "start of a hook",
    "bash_progress": "interim output of a command; its result follows",
    "mcp_progress": "progress of a tool; its result follows",
    "waiting_for_task": "wait for a task",
}
# Subtypes of system lines, with the reason why they are skipped unless they report errors of hooks.
_SYSTEM_NOISE = {
    "stop_hook_summary": "statistics of a turn",
    "turn_duration": "statistics of a turn",
    "compact_boundary": "start of a compaction; its summary follows",
}
_SOURCE = f"harness:{AGENT_NAME}"
# Results of calls that the user declined begin with one of these.
_DECLINED_PREFIXES = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
)
# In the result of a declined call, the user's reason, if any, follows these words.
_REASON = "the user said:\n"
# Results of cancelled calls begin with one of these.
_CANCELLED_PREFIXES = ("Sibling tool call errored", "[Request interrupted by user", "Cancelled: ")
# The tool Read puts a number before each line of a file.
_LINE_NUMBER = re.compile(r"^ *\d+(?:→|\t)", re.MULTILINE)
# A compaction replaces a long context by a summary. The id of the agent that writes the summary begins with this.
_COMPACTION_AGENT = "acompact"
# A queued prompt is remembered until another line repeats it: maximum number of those.
_MOST_QUEUED = 50


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects with a line type and session of Claude Code; some types name a message, not a session.

    >>> recognise([{"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "hi"}}]).score
    1.0
    """
    lines = [value for value in sample if isinstance(value, Mapping)]
    if not lines:
        return Match(0.0, ("type", "sessionId", "uuid"))
    fitting = sum(_fits(line) for line in lines) / len(lines)
    messages = [line for line in lines if name(line.get("type")) in {"user", "assistant"}]
    missing = tuple(
        field
        for field in ("type", "sessionId", "uuid", "message")
        if not any(field in line for line in messages or lines)
    )
    return Match(round(fitting, 2), () if fitting == 1.0 else missing)


def _fits(line: Line) -> bool:
    kind = name(line.get("type"))
    if kind in {"user", "assistant"}:
        return isinstance(line.get("message"), Mapping) and ("sessionId" in line or "session_id" in line)
    if kind in {"system", "progress", "attachment", "queue-operation"}:
        return "sessionId" in line or "session_id" in line
    return kind in _BOOKKEEPING and ("sessionId" in line or "messageId" in line or "leafUuid" in line)


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per line."""
    transcript = _Transcript(origin)
    for record in records:
        yield transcript.outcome(record)


class _Transcript:
    """Reads a transcript line by line; ``origin.carried`` keeps the calls without a result and the queued prompts."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._calls = Calls(origin.carried)
        self._queued: dict[str, str] = origin.carried.setdefault("queued", {})

    def outcome(self, record: Record) -> Outcome:
        """The outcome of the line."""
        line = record.value
        if not isinstance(line, Mapping):
            return not_an_object(record)
        kind = line.get("type")
        if not isinstance(kind, str):
            return Outcome(record, fault=Fault("$.type", "Claude Code transcript", repr(kind), "the type of the line"))
        if original := mapping(line.get("forkedFrom")):
            return Outcome(record, skipped=f"copied from session {name(original.get('sessionId'))}")
        read = _READERS.get(kind)
        if read is None:
            return Outcome(record, skipped=_BOOKKEEPING.get(kind, f"unknown line type {kind[:60]!r}"))
        frame = self._frame(record, line)
        if isinstance(frame, Fault):
            return Outcome(record, fault=frame)
        return outcome(record, frame, read(self, line, frame), self._origin.carried)

    def _frame(self, record: Record, line: Line) -> Frame | Fault:
        session = name(line.get("sessionId")) or name(line.get("session_id")) or session_of(record, self._origin)
        if not session:
            return Fault("$.sessionId", "Claude Code transcript", "no session", "the id of the session")
        own_time = moment(line.get("timestamp"))
        if own_time is None and self._origin.time_us is None:
            return Fault(
                "$.timestamp", "HMX-E 6.3", repr(line.get("timestamp"))[:80], "an ISO 8601 time with an offset"
            )
        time = own_time or Moment(iso(self._origin.time_us or 0), (self._origin.time_us or 0) + record.line * 1000)
        agent, sub_agent = self._origin.agent_id or AGENT_NAME, _sub_agent(line)
        message = mapping(line.get("message"))
        metadata = common_metadata(self._origin, undated=own_time is None) | present(
            format="claude-code",
            cwd=name(line.get("cwd")),
            git_branch=name(line.get("gitBranch")),
            version=name(line.get("version")),
            model=name(message.get("model")),
            message_id=name(message.get("id")),
            parent_session_id=session if sub_agent else None,
        )
        return Frame(
            name(line.get("uuid"))
            or derived_id(session, time.timestamp, line.get("type"), line.get("content", record.line)),
            f"{session}/{sub_agent}" if sub_agent else session,
            f"{agent}/{sub_agent}" if sub_agent else agent,
            time,
            metadata,
        )

    # One reader for each type of line.

    def user(self, line: Line, _frame: Frame) -> Reading:
        """A line in the user role: text of the user or the harness, and results of tools."""
        content = mapping(line.get("message")).get("content", line.get("content"))
        blocks = content if isinstance(content, list) else [{"type": "text", "text": text(content)}]
        whole = "\n".join(filter(None, map(block_text, blocks)))
        if (queued_event_id := self._queued.pop(whole, None)) is not None:
            blocks = [
                block for block in blocks if block_text(block) is None
            ]  # the event of the queued prompt has the text
            if not blocks:
                return Reading(part_of=queued_event_id)
        reason = "prompt for a compaction" if _is_compaction_prompt(line) else "nothing but markup"
        drafts: list[Draft] = []
        left_out: list[str] = []
        for number, block in enumerate(blocks):
            block_drafts = list(self._user_block(mapping(block), line))
            drafts += numbered(block_drafts, number)
            left_out += [] if block_drafts else [reason]
        return Reading(tuple(drafts), tuple(left_out))

    def assistant(self, line: Line, frame: Frame) -> Reading:
        """Text, thoughts and calls of the model."""
        content = mapping(line.get("message")).get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": text(content)}]
        if _is_compaction(line):
            return skipped("summary written for a compaction; the session contains it")
        drafts: list[Draft] = []
        left_out: list[str] = []
        for number, block in enumerate(blocks):
            draft_or_reason = self._assistant_block(mapping(block), line, frame.event_id(str(number)))
            if isinstance(draft_or_reason, str):
                left_out.append(draft_or_reason)
            else:
                drafts.append(replace(draft_or_reason, part=str(number)))
        return Reading(tuple(drafts), tuple(left_out))

    def progress(self, line: Line, _frame: Frame) -> Reading:
        """Interim reports; those of a sub-agent repeat messages that its own transcript contains."""
        data = mapping(line.get("data"))
        kind = name(data.get("type"))
        if kind == "agent_progress" and (uuid := name(mapping(data.get("message")).get("uuid"))):
            return Reading(part_of=f"{uuid}#0")
        return skipped(_PROGRESS.get(kind, f"progress report {kind[:60]}".strip()))

    def system(self, line: Line, _frame: Frame) -> Reading:
        """Notes and errors of the program itself, and local commands."""
        subtype, message_text = name(line.get("subtype")), text(line.get("content"))
        if subtype in _SYSTEM_NOISE:
            errors = "\n".join(map(str, listed(line.get("hookErrors"))))
            return Reading((_note(errors, "hook_error"),)) if errors else skipped(_SYSTEM_NOISE[subtype])
        if subtype == "api_error":
            return Reading((Draft("error", _api_error(line), HARNESS, source=_SOURCE),))
        if subtype == "local_command":
            return Reading(tuple(numbered(_from_passages(message_text, line))))
        if message_text.strip():
            return Reading((_note(without_escapes(message_text), subtype or "system"),))
        return skipped(f"system line {subtype[:60]!r} without text")

    def attachment(self, line: Line, _frame: Frame) -> Reading:
        """What the harness attached to a prompt: queued prompts and text such as hook output; others are skipped."""
        attached = mapping(line.get("attachment"))
        kind = name(attached.get("type"))
        if kind == "queued_command":
            return self._queued_prompt(attached, line)
        if kind in _ATTACHMENT_KINDS:
            texts = (_joined(attached.get(field)) for field in _ATTACHMENT_TEXT_FIELDS)
            if words := next(filter(None, texts), ""):
                label = name(attached.get("hookName")) or name(attached.get("filename"))
                return Reading((_note(f"{label}: {words}" if label else words, kind),))
        return skipped(f"attachment {kind[:60]!r} of the harness")

    def queue(self, line: Line, frame: Frame) -> Reading:
        """A prompt that the user typed while the agent worked; it does not always appear in another line."""
        message_text = text(line.get("content"))
        if line.get("operation") != "enqueue" or not message_text.strip():
            return skipped("change of the prompt queue")
        reading = Reading(tuple(numbered(_from_passages(message_text, line))))
        if reading.drafts:
            self._remember(message_text, frame.event_id("0"))
        return reading

    # Blocks.

    def _user_block(self, block: Line, line: Line) -> Iterator[Draft]:
        if block.get("type") == "tool_result":
            yield from self._tool_result(block, line)
        elif (message_text := block_text(block)) is not None:
            yield from _from_passages(message_text, line)
        elif block:
            yield _only_attachments([attachment(block)])

    def _assistant_block(self, block: Line, line: Line, event_id: str) -> Draft | str:
        kind = name(block.get("type"))
        message_text = block_text(block)
        if message_text is not None:
            return _model_text(message_text, line)
        if kind in {"thinking", "redacted_thinking"}:
            thought = text(block.get("thinking")).strip()
            return Draft(REASONING, {"text": thought}, ASSISTANT, source="assistant") if thought else "hidden reasoning"
        if kind in {"tool_use", "server_tool_use", "mcp_tool_use"}:
            call_id, tool = name(block.get("id")), name(block.get("name")) or "unknown"
            self._calls.remember(call_id, tool, event_id)
            call = {"tool_name": tool, "arguments": arguments(block.get("input"))} | present(call_id=call_id)
            return Draft("tool_call", call, ASSISTANT, source="assistant")
        if kind.endswith("_tool_result"):
            return next(self._tool_result({**block, "type": "tool_result"}, line))
        content = {"role": "assistant", "text": "", "attachments": [attachment(block)]}
        return Draft("message", content, ASSISTANT, source="assistant")

    def _tool_result(self, block: Line, line: Line) -> Iterator[Draft]:
        call_id = name(block.get("tool_use_id"))
        tool, call_event = self._calls.take(call_id)
        shown_result = contents(block.get("content"))
        words, reminders = without_reminders(without_escapes(shown_result.text))
        words = _LINE_NUMBER.sub("", words) if tool == "Read" and _LINE_NUMBER.match(words) else words
        details = mapping(line.get("toolUseResult"))
        content: JsonObject = present(tool_name=tool, call_id=call_id) | {"result": _plain_error(words)}
        content |= _result_ending(words, block, details)
        content |= present(attachments=list(shown_result.attachments), duration_ms=_duration_ms(details))
        metadata = present(
            agent_session_id=_started_session(line, details),
            declined_by="user" if words.startswith(_DECLINED_PREFIXES) else None,
        )
        yield Draft(
            "tool_result",
            content,
            TOOL,
            source=f"tool:{tool}" if tool else "tool",
            metadata=metadata,
            parent_event_id=call_event,
        )
        yield from _answers(words, details)
        yield from (_note(reminder, "system-reminder") for reminder in reminders)

    # Prompts that were queued.

    def _queued_prompt(self, attached: Line, line: Line) -> Reading:
        prompt = contents(attached.get("prompt"))
        images = [_only_attachments(prompt.attachments)] if prompt.attachments else []
        if (queued_event_id := self._queued.pop(prompt.text, None)) is not None:
            return Reading(tuple(images)) if images else Reading(part_of=queued_event_id)
        author = name(mapping(attached.get("origin")).get("kind")) or "human"
        if author != "human" or attached.get("isMeta") is True:
            is_empty = not prompt.text.strip()
            return skipped("empty queued prompt") if is_empty else Reading((_note(prompt.text, "queued_command"),))
        return Reading(tuple(numbered([*_from_passages(prompt.text, line), *images])))

    def _remember(self, message_text: str, event_id: str) -> None:
        self._queued[message_text] = event_id
        if len(self._queued) > _MOST_QUEUED:
            del self._queued[next(iter(self._queued))]


_READERS: dict[str, Callable[[_Transcript, Line, Frame], Reading]] = {
    "user": _Transcript.user,
    "assistant": _Transcript.assistant,
    "progress": _Transcript.progress,
    "system": _Transcript.system,
    "attachment": _Transcript.attachment,
    "queue-operation": _Transcript.queue,
}


# The author of a text in the user role.


def _from_passages(message_text: str, line: Line) -> Iterator[Draft]:
    """The drafts of a text in the user role; none for the prompt of a compaction.

    Summaries and meta lines are by the harness. In other texts, tags show which passages are by the harness or by an
    agent. Passages without tags are by the user or, in a sub-agent's transcript, by the agent that started it.
    """
    if _is_compaction_prompt(line):
        return
    if line.get("isCompactSummary") is True:
        yield _note(message_text, "compaction_summary", title="Summary of the conversation so far")
        return
    for passage in passages(message_text):
        if line.get("isMeta") is True or passage.kind == "observation":
            yield _note(passage.text, passage.wrapper or "meta")
        elif passage.kind == "command_exec":
            yield Draft("command_exec", {"command": passage.text}, passage.origin, source="user")
        elif _sub_agent(line) or passage.origin == AGENT:
            content = {"role": "user", "text": passage.text}
            yield Draft("message", content, AGENT, source=f"agent:{AGENT_NAME}", metadata={"author": AGENT_NAME})
        else:
            yield Draft("message", {"role": "user", "text": passage.text}, USER, source="user")


def _only_attachments(attachments: Sequence[JsonObject]) -> Draft:
    """A message of the user with nothing but attachments."""
    return Draft("message", {"role": "user", "text": "", "attachments": list(attachments)}, USER, source="user")


def _note(message_text: str, kind: str, title: str = "") -> Draft:
    """Text of the harness as an observation, so that it counts as evidence, but never as a rule."""
    return Draft(
        "observation",
        present(title=title) | {"text": message_text.strip()},
        HARNESS,
        source=_SOURCE,
        metadata={"harness_kind": kind},
    )


def _answers(words: str, details: Line) -> Iterator[Draft]:
    """What the user stated through a tool: answers to questions, and the reason for declining a call."""
    if words.startswith(_DECLINED_PREFIXES) and _REASON in words:
        yield Draft("message", {"role": "user", "text": words.partition(_REASON)[2].strip()}, USER, source="user")
    questions = {
        name(mapping(question).get("question")): mapping(question) for question in listed(details.get("questions"))
    }
    for question, answer in mapping(details.get("answers")).items():
        if isinstance(answer, str) and answer.strip():
            options = listed(questions.get(question, {}).get("options"))
            labels = [name(mapping(option).get("label")) for option in options]
            decision = {
                "question": question,
                "chosen_option": answer,
                "alternatives": [label for label in labels if label],
            }
            yield Draft("decision", decision, USER, source="user")
            yield Draft(
                "message", {"role": "user", "text": answer}, USER, source="user", metadata={"answers": question}
            )


def _is_compaction(line: Line) -> bool:
    return name(line.get("agentId")).startswith(_COMPACTION_AGENT)


def _is_compaction_prompt(line: Line) -> bool:
    """Whether the line asks for the summary of a compaction; meta lines of a compaction are reminders instead."""
    return _is_compaction(line) and line.get("isMeta") is not True


def _sub_agent(line: Line) -> str:
    """The id of the sub-agent to whose transcript the line belongs; "" if there is none, or if it is a compaction."""
    if line.get("isSidechain") is not True or _is_compaction(line):
        return ""
    return name(line.get("agentId")) or "sidechain"


def _model_text(message_text: str, line: Line) -> Draft | str:
    """The model's text, or an API error that was written in its place; if the text is blank, a reason to skip it."""
    if not message_text.strip():
        return "empty text"
    if line.get("isApiErrorMessage") is True:
        return Draft("error", {"error_type": "APIError", "message": message_text}, HARNESS, source=_SOURCE)
    return Draft("message", {"role": "assistant", "text": without_escapes(message_text)}, ASSISTANT, source="assistant")


# How a call ended.


def _result_ending(words: str, block: Line, details: Line) -> JsonObject:
    """``success`` and ``exit_code`` of a call, from its result.

    Both are absent if the call was declined, cancelled or interrupted, or asked about a background task that is still
    running.
    """
    plain = _plain_error(words)
    if (
        words.startswith(_DECLINED_PREFIXES)
        or plain.startswith(_CANCELLED_PREFIXES)
        or details.get("interrupted") is True
    ):
        return {}
    code = exit_code(words)
    # For a call that asks about a failed background task, Claude Code sets no error flag, but puts the exit code of the
    # task in a tag. An exit code without that tag may be quoted output, so it does not count as a failure by itself.
    failed = block.get("is_error") is True or (code not in {None, 0} and "<exit_code>" in words)
    if _task_state(details) == "running":
        return {}
    return {"success": not failed} | present(exit_code=code)


def _task_state(details: Line) -> str:
    """The state of the background task that a call asked about."""
    return name(mapping(details.get("task")).get("status"))


def _plain_error(words: str) -> str:
    return words.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")


def _duration_ms(details: Line) -> Any:
    value = details.get("totalDurationMs", details.get("durationMs"))
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _started_session(line: Line, details: Line) -> str | None:
    """The session of the sub-agent whose result this is; None for another result."""
    agent, session = name(details.get("agentId")), name(line.get("sessionId"))
    return f"{session}/{agent}" if agent and session and "status" in details else None


def _api_error(line: Line) -> JsonObject:
    error = mapping(line.get("error"))
    message = text(error.get("message")) or text(mapping(mapping(error.get("error")).get("error")).get("message"))
    status = error.get("status")
    words = message or text(line.get("content")) or "the model could not be reached"
    return {"error_type": "APIError", "message": words, "recoverable": True} | present(status=status)


def _joined(value: Any) -> str:
    """The text in a field of an attachment: a string, a list of strings, or an object with either of them."""
    if isinstance(value, Mapping):
        value = value.get("blockingError", value.get("content"))
    words = value if isinstance(value, str) else "\n".join(part for part in listed(value) if isinstance(part, str))
    return without_escapes(words).strip()


CLAUDE_CODE = Format("claude-code", "Claude Code transcripts", recognise, convert)
