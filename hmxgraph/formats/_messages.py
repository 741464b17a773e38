"""Messages with a role, as OpenAI, Anthropic, LangChain, Gemini and OpenTelemetry write them, and plain messages.

All have the same parts under slightly different names: a role, and text or a list of blocks. Calls are blocks or in a
separate field; results are blocks or separate messages. One reader handles all forms, so that a log may mix them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from hmxgraph.formats._calls import Answer, Calls, answer_draft, call_draft
from hmxgraph.formats._drafts import REASONING, Draft, Frame, Reading
from hmxgraph.formats._harness_text import passages
from hmxgraph.formats._parts import contents
from hmxgraph.formats._values import listed, mapping, name, present, text
from hmxgraph.formats.conversion import JsonObject
from hmxgraph.protocol.events import ASSISTANT, OPERATOR, TOOL, USER

Message: TypeAlias = Mapping[str, Any]

# The role of a message by the names that producers give it.
ROLES = {
    **dict.fromkeys(("user", "human", "customer", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "model", "gpt", "bot", "agent", "chatbot", "aimessage", "aimessagechunk"), "assistant"
    ),
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
    **dict.fromkeys(("tool", "function", "ipython", "toolmessage", "functionmessage"), "tool"),
}
# Who wrote a message, by its role. The text of a tool becomes an observation, not a message.
_ORIGINS = {"user": USER, "assistant": ASSISTANT, "system": OPERATOR}
# Types of blocks that are calls.
_CALL_BLOCKS = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "function_call", "server_tool_call"}
)
# Types of blocks that are results.
_RESULT_BLOCKS = frozenset(
    {
        "tool_result",
        "tool_call_response",
        "function_response",
        "mcp_tool_result",
        "server_tool_call_response",
        "server_tool_result",
    }
)
# Fields that mark results without a type, as Gemini writes them.
_RESULT_FIELDS = frozenset({"function_response", "functionResponse"})
# Types of blocks that hold a model's reasoning.
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_content"})


def role_of(message: Message) -> str:
    """The role of a message: user, assistant, system or tool; "" if it has no known role.

    >>> role_of({"role": "developer"}), role_of({"type": "ai"}), role_of({"from": "human"}), role_of({})
    ('system', 'assistant', 'user', '')
    """
    for field in ("role", "type", "from", "author"):
        if role := ROLES.get(name(message.get(field)).lower()):
            return role
    return ""


def is_message(value: Any) -> bool:
    """Whether *value* is a message with a role, and with content or calls.

    >>> is_message({"role": "user", "content": "hi"}), is_message({"role": "user"}), is_message("hi")
    (True, False, False)
    """
    content_fields = ("content", "parts", "value", "text", "tool_calls", "function_call")
    return (
        isinstance(value, Mapping)
        and bool(role_of(value))
        and any(value.get(field) is not None for field in content_fields)
    )


def message_reading(message: Message, frame: Frame, calls: Calls) -> Reading:
    """The drafts of one message, and the reason for each part that is left out."""
    role = role_of(message)
    if not role:
        return Reading(left_out=(f"message of unknown role {name(message.get('role'))[:40]!r}",))
    blocks = _blocks(message)
    if role == "tool" and not any(map(_is_result, blocks)):
        return Reading((answer_draft(calls, "0", _tool_message(message)),))
    reader = _BlockReader(role, _author(message, role), frame, calls)
    reader.read(blocks)
    for call in _separate_calls(message):
        reader.call(*call)
    return Reading(tuple(reader.drafts), tuple(reader.left_out))


def _is_result(block: Any) -> bool:
    """Whether a block is the result of a call."""
    fields = mapping(block)
    kind = name(fields.get("type"))
    return kind in _RESULT_BLOCKS or kind.endswith("_tool_result") or bool(_RESULT_FIELDS & fields.keys())


class _BlockReader:
    """Collects the drafts of one message block by block; consecutive texts and attachments are one draft."""

    def __init__(self, role: str, author: JsonObject, frame: Frame, calls: Calls) -> None:
        self.drafts: list[Draft] = []
        self.left_out: list[str] = []
        self._role, self._author, self._frame, self._calls = role, author, frame, calls
        self._message_blocks: list[Any] = []
        self._call_ids: set[str] = set()

    def read(self, blocks: list[Any]) -> None:
        """Read the blocks in order."""
        for block in blocks:
            kind = name(mapping(block).get("type"))
            read_block = self._method_for(kind, mapping(block))
            if read_block is None:
                self._message_blocks.append(block)
            else:
                self._add_message()
                read_block(mapping(block))
        self._add_message()

    def call(self, call_id: str, tool: str, arguments: Any) -> None:
        """Add one call, but only once: it may occur both inside and outside the blocks."""
        if call_id and call_id in self._call_ids:
            return
        self._call_ids.add(call_id)
        self.drafts.append(call_draft(self._calls, self._frame, self._part(), (call_id, tool, arguments)))

    def _method_for(self, kind: str, block: Message) -> Callable[[Message], None] | None:
        """The method that reads a call, a result or a thought; None for text and attachments."""
        if kind in _CALL_BLOCKS or "function_call" in block or "functionCall" in block:
            return self._call_block
        if _is_result(block):
            return self._result_block
        return self._thought if kind in _THOUGHTS else None

    def _call_block(self, block: Message) -> None:
        inner = mapping(block.get("function_call", block.get("functionCall"))) or block
        fields = ("input", "arguments", "args")
        arguments = next((inner[field] for field in fields if inner.get(field) is not None), None)
        self.call(name(inner.get("id")) or name(inner.get("call_id")), name(inner.get("name")), arguments)

    def _result_block(self, block: Message) -> None:
        inner = mapping(block.get("function_response", block.get("functionResponse"))) or block
        fields = ("content", "response", "result", "output")
        value = next((inner[field] for field in fields if inner.get(field) is not None), "")
        call_id = name(inner.get("tool_use_id")) or name(inner.get("tool_call_id")) or name(inner.get("id"))
        flag = inner.get("is_error")
        success = not flag if isinstance(flag, bool) else None
        silent_success = block is inner and inner.get("type") == "tool_result"  # Anthropic flags only failures
        answer = Answer(call_id, value, name(inner.get("name")), success, silent_success=silent_success)
        self.drafts.append(answer_draft(self._calls, self._part(), answer))

    def _thought(self, block: Message) -> None:
        thought = next(
            (block[field] for field in ("thinking", "reasoning", "text", "content") if text(block.get(field))), ""
        )
        if not thought:
            thought = "\n".join(
                filter(None, (text(mapping(part).get("text")) for part in listed(block.get("summary"))))
            )
        if thought:
            self.drafts.append(Draft(REASONING, {"text": thought}, ASSISTANT, self._part(), source="assistant"))
        else:
            self.left_out.append("hidden reasoning")

    def _add_message(self) -> None:
        """Append the drafts for the text and attachments since the last call, result or thought.

        These are usually one message. In the user role, they are one draft per passage; in the tool role, where a text
        may stand beside the results, an observation.
        """
        pending = contents(self._message_blocks)
        self._message_blocks = []
        if not pending.text.strip() and not pending.attachments:
            return
        if self._role == "user":
            self.drafts += self._of_user(pending.text, list(pending.attachments))
            return
        if self._role == "tool":
            self.drafts.append(Draft("observation", pending.fields(), TOOL, self._part(), source="tool"))
            return
        content = {"role": self._role, **pending.fields()}
        self.drafts.append(
            Draft("message", content, _ORIGINS[self._role], self._part(), source=self._role, metadata=self._author)
        )

    def _of_user(self, user_text: str, attachments: list[JsonObject]) -> Iterator[Draft]:
        """The user's words and attachments, separated from text that the harness added."""
        sections = list(passages(user_text))
        start = len(self.drafts)
        if len(sections) == 1 and sections[0].origin == USER and not sections[0].wrapper:
            yield self._user_message(user_text, attachments, start)
            return
        for number, passage in enumerate(sections, start):
            if passage.origin == USER:
                yield self._user_message(passage.text, attachments, number)
                attachments = []
            else:
                metadata = {"harness_kind": passage.wrapper}
                content = {"text": passage.text}
                yield Draft("observation", content, passage.origin, str(number), source="harness", metadata=metadata)
        if attachments:
            yield self._user_message("", attachments, start + len(sections))

    def _user_message(self, user_text: str, attachments: list[JsonObject], number: int) -> Draft:
        content = {"role": "user", "text": user_text} | present(attachments=attachments)
        return Draft("message", content, USER, str(number), source="user", metadata=self._author)

    def _part(self) -> str:
        return str(len(self.drafts))


def _blocks(message: Message) -> list[Any]:
    """The blocks of a message: those of its content, with ``reasoning_content`` before and the refusal and audio after.

    A content that is just text is one block.
    """
    content = next(
        (message[field] for field in ("content", "parts", "value", "text") if message.get(field) is not None), None
    )
    if isinstance(content, Mapping):
        content = content.get("parts", [content])
    blocks = [content] if isinstance(content, str) else [*listed(content)]
    thought, refusal, audio = (message.get(field) for field in ("reasoning_content", "refusal", "audio"))
    thoughts = [{"type": "thinking", "text": thought}] if text(thought) else []
    refusals = [{"type": "refusal", "text": refusal}] if text(refusal) else []
    return [*thoughts, *blocks, *refusals, *([{"type": "audio", **mapping(audio)}] if audio else [])]


def _separate_calls(message: Message) -> Iterator[tuple[str, str, Any]]:
    """Calls in fields of their own: those of OpenAI and LangChain, and OpenAI's older single ``function_call``."""
    for call in listed(message.get("tool_calls")) + listed(message.get("invalid_tool_calls")):
        fields = mapping(call)
        function = mapping(fields.get("function")) or mapping(fields.get("custom")) or fields
        tool = name(function.get("name")) or name(fields.get("function"))
        arguments = next(
            (function[field] for field in ("arguments", "args", "input") if function.get(field) is not None), None
        )
        yield name(fields.get("id")), tool, arguments
    if old := mapping(message.get("function_call")):
        yield "", name(old.get("name")), old.get("arguments")


def _tool_message(message: Message) -> Answer:
    """The result in a message of the tool role; an error flag, an error or ``status`` shows how the call ended."""
    status, error = message.get("status"), message.get("error")
    success = {"success": True, "error": False}.get(status) if isinstance(status, str) else None
    flag = next((message[field] for field in ("is_error", "isError") if isinstance(message.get(field), bool)), None)
    if flag is not None or error:
        success = not (flag or error)
    value = message.get("content", message.get("value", message.get("parts", ""))) or error or ""
    call_id = name(message.get("tool_call_id")) or name(message.get("call_id"))
    return Answer(call_id, value, name(message.get("name")), success)


def _author(message: Message, role: str) -> JsonObject:
    """The speaker that a message may name, as in group conversations; a user's name is also the ``user_name``.

    >>> _author({"name": "mia"}, "user"), _author({"name": "planner"}, "assistant"), _author({}, "user")
    ({'author': 'mia', 'user_name': 'mia'}, {'author': 'planner'}, {})
    """
    author = message.get("name")
    return present(author=author, user_name=author if role == "user" else None) if isinstance(author, str) else {}
