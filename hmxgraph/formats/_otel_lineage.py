"""The context of a span in its trace: its conversation and agent, and which contents the spans below it also hold.

Only some spans of a trace name their conversation, and several spans may hold the same contents: the span of an agent,
its framework's span of a model call, and inside it the span of the provider's client.
"""

from collections.abc import Iterator
from typing import TypeAlias

from hmxgraph.formats._otel_contents import Ending
from hmxgraph.formats._spans import Span
from hmxgraph.formats._values import name
from hmxgraph.formats.conversion import JsonObject

_CONVERSATION_ATTRIBUTE = "gen_ai.conversation.id"
_SESSION_ATTRIBUTES = (
    "session.id",
    "gcp.vertex.agent.session_id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
)
_AGENT_ATTRIBUTES = ("gen_ai.agent.name", "gen_ai.agent.id", "agent.name", "llm.agent.name", "traceloop.entity.name")
# Maximum number of earlier spans or traces in each table: the spans of a trace are written close together.
_MOST_REMEMBERED = 5_000
# Maximum number of spans on the path from a span to the root of its trace.
_LONGEST_PATH = 100

# The fields stored for a span: the key of its parent, its kind, conversation, session, agent and tool.
_Entry: TypeAlias = list[str]
_PARENT, _KIND, _CONVERSATION_ID, _SESSION_ID, _AGENT_NAME, _TOOL = range(6)

# The kinds of contents that a span may hold: a model's prompt, its answer, its failure.
ASKED, ANSWERED, FAILED = "asked", "answered", "failed"


def key_of(span: Span) -> str:
    """The key of a span, unique among all traces."""
    return f"{span.trace_id}-{span.span_id}"


class Lineage:
    """The spans read so far; kept in *carried*, which the caller stores to resume.

    Tables by trace:

    - ``_traces``: the conversation ids and the session ids that its spans name
    - ``_homes``: the session in which its events were stored while no span named one

    Tables by span:

    - ``_spans``: its entry
    - ``_below``: the kinds of contents of the spans below it
    - ``_own``: the kinds of its own contents and, once ``pass_up`` has noted them, of those below it
    - ``_converted``: whether its contents became events
    - ``_endings``: how its call ended, according to a span below it
    """

    def __init__(self, carried: JsonObject) -> None:
        self._spans: dict[str, _Entry] = carried.setdefault("spans", {})
        self._traces: dict[str, list[list[str]]] = carried.setdefault("traces", {})
        self._homes: dict[str, str] = carried.setdefault("homes", {})
        self._below: dict[str, list[str]] = carried.setdefault("below", {})
        self._own: dict[str, list[str]] = carried.setdefault("own", {})
        self._converted: dict[str, bool] = carried.setdefault("read", {})
        self._endings: dict[str, list[bool | str | None]] = carried.setdefault("endings", {})

    def add(self, span: Span, kind: str, tool: str) -> None:
        """Note a span; if it was noted before, only its missing fields are added."""
        entry = [
            self._parent(span),
            kind,
            name(span.first(_CONVERSATION_ATTRIBUTE)),
            name(span.first(*_SESSION_ATTRIBUTES)),
            name(span.first(*_AGENT_ATTRIBUTES)),
            tool,
        ]
        known = self._spans.get(key_of(span), [""] * len(entry))
        self._spans[key_of(span)] = [old or new for old, new in zip(known, entry, strict=True)]
        ids = self._traces.get(span.trace_id, [[], []])
        new_ids = [
            [*known_ids, *({entry[field]} - {"", *known_ids})]
            for known_ids, field in zip(ids, (_CONVERSATION_ID, _SESSION_ID), strict=True)
        ]
        self._traces[span.trace_id] = new_ids

    def _parent(self, span: Span) -> str:
        """The key of the span's parent; "" if it has none, or if the span is itself an ancestor of that parent."""
        own_key, parent_key = key_of(span), f"{span.trace_id}-{span.parent_id}"
        ancestor = parent_key if span.parent_id else ""
        for _ in range(_LONGEST_PATH):
            if ancestor in {"", own_key}:
                break
            ancestor = self._spans.get(ancestor, [""])[_PARENT]
        return "" if ancestor == own_key or not span.parent_id else parent_key

    # Conversation and agent.

    def session(self, span: Span) -> str:
        """The conversation of a span: the first of these that exists, "" if none does.

        - the session in which events of the trace were stored before its conversation was known, unless the trace has
          several conversation ids or, if no conversation id applies, several session ids
        - the conversation id of the span or of the nearest span above it
        - the session id of the span itself
        - the only conversation id of the trace
        - the session id of the nearest span above it
        - the only session id of the trace

        At each level, a conversation id precedes a session id, which may be that of the program around the agent.
        """
        home = self._homes.get(span.trace_id, "")
        path = list(self._path(span))
        ids = self._traces.get(span.trace_id, [[], []])
        for field, in_trace in zip((_CONVERSATION_ID, _SESSION_ID), ids, strict=True):
            home = home if len(in_trace) < 2 else ""
            if nearest := next((entry[field] for entry in path if entry[field]), ""):
                return home or nearest
            if len(in_trace) == 1 and not (path and path[0][_SESSION_ID]):
                return home or in_trace[0]
        return home

    def settle_in(self, span: Span, session_id: str) -> None:
        """Note that events of the trace are stored in *session_id*, unless the trace names a session for this span."""
        if span.trace_id not in self._homes and not self.session(span):
            self._homes[span.trace_id] = session_id

    def agent(self, span: Span) -> str:
        """The agent of a span: its own or that of the nearest span above it; "" if none names one."""
        return next((entry[_AGENT_NAME] for entry in self._path(span) if entry[_AGENT_NAME]), "")

    def forget(self) -> None:
        """Forget the oldest spans and traces if there are too many."""
        tables: tuple[JsonObject, ...] = (
            self._spans,
            self._traces,
            self._homes,
            self._below,
            self._own,
            self._converted,
            self._endings,
        )
        for table in tables:
            for key in list(table)[: max(0, len(table) - _MOST_REMEMBERED)]:
                del table[key]

    # Which contents are above and below a span.

    def is_below_tool(self, span: Span) -> bool:
        """Whether a tool called the model or agent of a span, so that an agent wrote its prompts."""
        return any(entry[_KIND] == "tool" for entry in self._above(span))

    def is_inside_call(self, span: Span, tool: str) -> bool:
        """Whether a span is a part of a call to the same tool, as an MCP server's span is of its client's."""
        for entry in self._above(span):
            if entry[_KIND] in {"model", "agent"}:
                return False
            if entry[_KIND] == "tool":
                return entry[_TOOL] == tool
        return False

    def has_below(self, span: Span, content: str) -> bool:
        """Whether a span below this one holds that content."""
        return content in self._below.get(key_of(span), ())

    def hold(self, span: Span, content: str) -> None:
        """Note that *span* holds *content*, for itself and for the spans above it up to the nearest tool span."""
        own_contents = self._own.get(key_of(span), [])
        self._own[key_of(span)] = own_contents if content in own_contents else [*own_contents, content]
        for key in self._keys_above(span):
            contents = self._below.get(key, [])
            if content not in contents:
                self._below[key] = [*contents, content]
            if self._is_tool(key):
                return

    def pass_up(self, span: Span) -> None:
        """Note the contents of this span and of those below it for the spans above, as ``hold`` does.

        A span below may have been read first, when the path from it to the root was still unknown.
        """
        key = key_of(span)
        below = () if self._is_tool(key) else self._below.get(key, ())
        for content in (*below, *self._own.get(key, ())):
            self.hold(span, content)

    def mark_converted(self, span: Span) -> None:
        """Note that the contents of a span became events."""
        self._converted[key_of(span)] = True

    def is_inside_converted(self, span: Span) -> bool:
        """Whether the contents of a span above this one, up to the nearest tool, became events."""
        for key in self._keys_above(span):
            if self._is_tool(key):
                return False
            if key in self._converted:
                return True
        return False

    def _is_tool(self, key: str) -> bool:
        return key in self._spans and self._spans[key][_KIND] == "tool"

    # How calls ended.

    def note_ending(self, span: Span, ending: Ending) -> None:
        """Note how the call in the parent of *span* ended."""
        if span.parent_id and ending.success is not None:
            self._endings[f"{span.trace_id}-{span.parent_id}"] = [ending.success, ending.error]

    def ending(self, span: Span) -> Ending | None:
        """How the call in *span* ended, according to a span below it; None if none says so."""
        outcome = self._endings.get(key_of(span))
        return Ending(outcome[0] is True, str(outcome[1] or "")) if outcome else None

    # The path from a span to the root of its trace. If the trace has a loop, the path ends before it repeats a span.

    def _path(self, span: Span) -> Iterator[_Entry]:
        own_entry = self._spans.get(key_of(span))
        if own_entry:
            yield own_entry
        yield from self._above(span)

    def _above(self, span: Span) -> Iterator[_Entry]:
        return (self._spans[key] for key in self._keys_above(span) if key in self._spans)

    def _keys_above(self, span: Span) -> Iterator[str]:
        visited = {key_of(span)}
        key = self._spans.get(key_of(span), [""])[_PARENT]
        while key and key not in visited and len(visited) < _LONGEST_PATH:
            yield key
            visited.add(key)
            key = self._spans.get(key, [""])[_PARENT]
