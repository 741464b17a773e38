"""OpenTelemetry traces of generative AI: the GenAI conventions, OpenInference, and OpenLLMetry's earlier attributes.

Each model call repeats the conversation so far, and each tool call appears three times: in the model's answer, in its
own span and in the next model call. A message is identified by everything before it and a call by its id, so each
becomes exactly one event.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Answer, Calls, answer_draft, call_draft
from hmxgraph.formats._drafts import Draft, Frame, Place, Reading, frame_of, joined, not_an_object
from hmxgraph.formats._messages import Message, message_reading, role_of
from hmxgraph.formats._spans import Span, json_or_text, spans_in, tree
from hmxgraph.formats._values import Moment, derived_id, listed, mapping, name, present, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import TOOL

_SESSION = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
)
_USER = ("user.id", "enduser.id", "langfuse.user.id", "traceloop.association.properties.user_id")
_AGENT = ("gen_ai.agent.name", "gen_ai.agent.id", "agent.name", "llm.agent.name", "traceloop.entity.name")
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_KINDS = {
    **dict.fromkeys(("chat", "generate_content", "text_completion", "LLM"), "model"),
    **dict.fromkeys(("execute_tool", "TOOL", "tool"), "tool"),
    **dict.fromkeys(("retrieval", "RETRIEVER"), "retrieval"),
    **dict.fromkeys(("EVALUATOR", "evaluate"), "evaluation"),
}
_GOOD = frozenset({"pass", "passed", "correct", "positive", "good", "relevant", "factual", "true", "yes"})
_BAD = frozenset({"fail", "failed", "incorrect", "negative", "bad", "irrelevant", "hallucinated", "false", "no"})
_MOST_SEEN = 50_000
_RECOGNISED = ("gen_ai.", "openinference.", "llm.", "traceloop.", "input.value")


def recognise(sample: Sequence[Any]) -> Match:
    """How many records are traces, and whether any span in them is of a model, a tool or an agent.

    >>> recognise([{"resourceSpans": []}]).missing
    ('gen_ai.* or openinference.* attributes',)
    """
    span_lists = [spans_in(value) for value in sample if isinstance(value, Mapping)]
    traces = [spans for spans in span_lists if spans is not None]
    if not traces:
        return Match(0.0, ("resourceSpans", "gen_ai.* or openinference.* attributes"))
    has_recognised_spans = any(
        key.startswith(_RECOGNISED) for spans in traces for span in spans for key in span.attributes
    )
    score = len(traces) / len(span_lists)
    return Match(
        round(score * (1.0 if has_recognised_spans else 0.6), 2),
        () if has_recognised_spans else ("gen_ai.* or openinference.* attributes",),
    )


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record; spans without content to remember are reported as left out."""
    traces = _Traces(origin)
    for record in records:
        if not isinstance(record.value, Mapping):
            yield not_an_object(record)
            continue
        spans = spans_in(record.value)
        if spans is None:
            fields = f"fields {', '.join(map(str, record.value))[:80]}"
            yield Outcome(record, fault=Fault("$", "OTLP JSON", fields, "resourceSpans, or a span"))
        else:
            yield traces.outcome(record, spans)


@dataclass(frozen=True, slots=True)
class _Scene:
    """A span being converted, with its record, its session and what its events share."""

    record: Record
    span: Span
    session_id: str
    metadata: JsonObject
    agent_id: str


class _Traces:
    """Tracks the messages and calls read from each session, and calls still without a result."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._calls = Calls(origin.carried)
        self._seen: dict[str, bool] = origin.carried.setdefault("seen", {})
        self._waiting: list[list[str]] = origin.carried.setdefault("waiting", [])

    def outcome(self, record: Record, spans: list[Span]) -> Outcome:
        """The events of all spans of a record."""
        readings: list[tuple[Frame, Reading]] = []
        for span in spans:
            for made in self._span(record, span):
                if isinstance(made, Fault):
                    return Outcome(record, fault=made)
                readings.append(made)
        return joined(record, readings, self._origin.carried)

    def _span(self, record: Record, span: Span) -> Iterator[tuple[Frame, Reading] | Fault]:
        kind = _kind(span)
        scene = _Scene(record, span, self._session(span), _metadata(span), self._agent(span))
        if kind == "model":
            yield from self._model(scene)
        elif kind == "tool":
            yield from self._tool(scene)
        else:
            frame = self._frame(scene, "")
            if isinstance(frame, Fault):
                yield frame
            else:
                yield frame, _other(span, kind)

    # A model call: the new messages of its input, and its answer.

    def _model(self, scene: _Scene) -> Iterator[tuple[Frame, Reading] | Fault]:
        inputs, outputs = messages_of(scene.span)
        before = ""
        for number, message in enumerate([*inputs, *outputs]):
            if role_of(message) == "system":
                yield from self._left_out(scene, "system prompt")
                continue
            before = derived_id(before, role_of(message), _content_key(message))
            late = number >= len(inputs)
            yield from self._message(scene, message, before, late=late)
        if not inputs and not outputs and not scene.span.failed:
            yield from self._left_out(scene, f"span {scene.span.name[:60]!r}: content was not recorded")
        if scene.span.failed:
            yield from self._failure(scene)

    def _message(
        self, scene: _Scene, message: Message, before: str, *, late: bool
    ) -> Iterator[tuple[Frame, Reading] | Fault]:
        if self._repeats(scene, message):
            return
        own_id = derived_id(scene.session_id, before)
        if not self._new(own_id):
            return
        frame = self._frame(scene, own_id, late=late)
        if isinstance(frame, Fault):
            yield frame
            return
        if not late:
            frame = replace(frame, metadata=frame.metadata | {"undated": True})
        reading = message_reading(message, frame, self._calls)
        for draft in reading.drafts:
            if draft.event_type == "tool_call":
                self._wait(scene, draft)
        yield frame, reading

    def _repeats(self, scene: _Scene, message: Message) -> bool:
        """Whether the result was read from the tool's own span already; results are identified by their call ids."""
        if role_of(message) != "tool":
            return False
        parts = [mapping(part) for part in listed(message.get("parts"))]
        ids = [name(message.get("tool_call_id")), *(name(part.get("id")) for part in parts)]
        known = [call_id for call_id in ids if call_id]
        unread = [self._new(f"{scene.session_id}/result/{call_id}") for call_id in known]
        return bool(known) and not any(unread)

    # A tool call in a span of its own.

    def _tool(self, scene: _Scene) -> Iterator[tuple[Frame, Reading] | Fault]:
        span = scene.span
        tool = (
            name(span.first("gen_ai.tool.name", "tool.name", "tool_call.function.name", "traceloop.entity.name"))
            or span.name
        )
        given = json_or_text(
            span.first(
                "gen_ai.tool.call.arguments",
                "tool.parameters",
                "tool_call.function.arguments",
                "input.value",
                "traceloop.entity.input",
            )
        )
        returned = json_or_text(span.first("gen_ai.tool.call.result", "output.value", "traceloop.entity.output"))
        call_id = name(span.first("gen_ai.tool.call.id", "tool_call.id", "tool.id")) or self._take_pending(scene, tool)
        frame = self._frame(scene, f"{span.trace_id}-{span.span_id}")
        if isinstance(frame, Fault):
            yield frame
            return
        known = bool(call_id) and not self._new(f"{scene.session_id}/call/{call_id}")
        own_call = call_id or span.span_id
        if not known:
            yield frame, Reading((call_draft(self._calls, frame, "0", (own_call, tool, given)),))
        if call_id and not self._new(f"{scene.session_id}/result/{call_id}"):
            return
        value = _error_text(span) if span.failed else "" if returned is None else returned
        success = False if span.failed else None if returned is None and span.status == "" else True
        answer = Answer(own_call, value, tool, success, present(duration_ms=span.duration_ms))
        at_end = self._frame(scene, f"{span.trace_id}-{span.span_id}", late=True)
        if not isinstance(at_end, Fault):
            yield at_end, Reading((answer_draft(self._calls, "1", answer),))

    def _wait(self, scene: _Scene, draft: Draft) -> None:
        """Remember a call from a model's answer, because the tool's own span often lacks the call id."""
        call_id = text(draft.content.get("call_id"))
        if call_id and self._new(f"{scene.session_id}/call/{call_id}"):
            self._waiting.append([scene.session_id, text(draft.content.get("tool_name")), call_id])
            del self._waiting[:-1000]

    def _take_pending(self, scene: _Scene, tool: str) -> str:
        """Take out the id of the oldest pending call to *tool* in the session; empty if there is none."""
        for waiting in self._waiting:
            if waiting[:2] == [scene.session_id, tool]:
                self._waiting.remove(waiting)
                return waiting[2]
        return ""

    def _failure(self, scene: _Scene) -> Iterator[tuple[Frame, Reading] | Fault]:
        frame = self._frame(scene, f"{scene.span.trace_id}-{scene.span.span_id}", late=True)
        if isinstance(frame, Fault):
            yield frame
            return
        kind = name(scene.span.first("error.type")) or _exception(scene.span).get("exception.type") or "ModelError"
        error = {"error_type": kind, "message": _error_text(scene.span)}
        yield frame, Reading((Draft("error", error, TOOL, "error", source=f"model:{frame.metadata.get('model', '')}"),))

    # Frames.

    def _frame(self, scene: _Scene, own_id: str, *, late: bool = False) -> Frame | Fault:
        span = scene.span
        at: Moment | None = (span.end if late else None) or span.start
        time = at.timestamp if at else None
        place = Place(
            0, scene.session_id, own_id or f"{span.trace_id}-{span.span_id}", time, scene.agent_id, scene.metadata
        )
        frame = frame_of(scene.record, self._origin, place)
        return frame if isinstance(frame, Fault) else replace(frame, trace_id=span.trace_id or None)

    def _left_out(self, scene: _Scene, reason: str) -> Iterator[tuple[Frame, Reading] | Fault]:
        frame = self._frame(scene, "")
        yield frame if isinstance(frame, Fault) else (frame, Reading(left_out=(reason,)))

    def _session(self, span: Span) -> str:
        return name(span.first(*_SESSION)) or self._origin.session_id or span.trace_id

    def _agent(self, span: Span) -> str:
        return name(span.first(*_AGENT)) or self._origin.agent_id or name(span.resource.get("service.name"))

    def _new(self, key: str) -> bool:
        """Whether this is the first time that *key* is read."""
        if key in self._seen:
            return False
        self._seen[key] = True
        if len(self._seen) > _MOST_SEEN:
            del self._seen[next(iter(self._seen))]
        return True


# The contents of a span.


def _kind(span: Span) -> str:
    """The kind of a span: model, tool, retrieval or evaluation, else the kind that the span itself states."""
    stated = span.first("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "llm.request.type")
    return _KINDS.get(name(stated), name(stated) or ("model" if "llm.model_name" in span.attributes else ""))


def messages_of(span: Span) -> tuple[list[Message], list[Message]]:
    """The input and output messages of a model call."""
    stated = dict(span.attributes)
    for event in span.events:
        stated |= {key: value for key, value in event.attributes.items() if key.startswith("gen_ai.")}
    inputs = listed(json_or_text(stated.get("gen_ai.input.messages")))
    outputs = listed(json_or_text(stated.get("gen_ai.output.messages")))
    if not inputs and not outputs:
        inputs = [_of_openinference(part) for part in tree(stated, "llm.input_messages")]
        outputs = [_of_openinference(part) for part in tree(stated, "llm.output_messages")]
    if not inputs and not outputs:
        inputs, outputs = tree(stated, "gen_ai.prompt"), tree(stated, "gen_ai.completion")
    return [mapping(part) for part in inputs], [{"role": "assistant", **mapping(part)} for part in outputs]


def _of_openinference(part: Any) -> JsonObject:
    """A message from OpenInference's flat attributes, in the shape of the other conventions."""
    message = mapping(mapping(part).get("message"))
    blocks = [mapping(mapping(block).get("message_content")) for block in listed(message.get("contents"))]
    calls = [mapping(mapping(call).get("tool_call")) for call in listed(message.get("tool_calls"))]
    return present(
        role=name(message.get("role")),
        content=message.get("content") or [_block(block) for block in blocks],
        tool_calls=[dict(call) for call in calls],
        tool_call_id=name(message.get("tool_call_id")),
        name=name(message.get("name")),
    )


def _block(block: Mapping[str, Any]) -> JsonObject:
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    url = mapping(mapping(block.get("image")).get("image")).get("url")
    return {"type": name(block.get("type")) or "image", **present(url=url)}


def _content_key(message: Message) -> str:
    """What tells messages at one point of a conversation apart, without instrumentation fields."""
    content = message.get("content", message.get("parts"))
    parts = [mapping(part) for part in listed(content)]
    words = (
        content
        if isinstance(content, str)
        else [(part.get("content"), part.get("text"), part.get("id")) for part in parts]
    )
    ids = [mapping(call).get("id") for call in listed(message.get("tool_calls"))]
    return repr((words, ids, message.get("tool_call_id")))


def _metadata(span: Span) -> JsonObject:
    return present(
        format="opentelemetry",
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        model=name(span.first(*_MODEL)),
        user_id=name(span.first(*_USER)),
    )


def _other(span: Span, kind: str) -> Reading:
    """Retrievals and evaluations; other spans have no text of their own."""
    if kind == "retrieval":
        return _retrieval(span)
    drafts = tuple(_evaluations(span, whole=kind == "evaluation"))
    if drafts:
        return Reading(drafts)
    return Reading(left_out=(f"span of kind {kind[:40]}" if kind else "span of no model, tool or retrieval",))


def _retrieval(span: Span) -> Reading:
    query = span.first("gen_ai.retrieval.query.text", "input.value")
    listed_documents = json_or_text(span.first("gen_ai.retrieval.documents"))
    documents = (
        listed_documents
        if isinstance(listed_documents, list)
        else [mapping(part).get("document") for part in tree(span.attributes, "retrieval.documents")]
    )
    texts = [part if isinstance(part, str) else _document_text(mapping(part)) for part in documents]
    passages = "\n\n".join(filter(None, texts)) or text(span.first("output.value"))
    if not passages:
        return Reading(left_out=("retrieval without documents",))
    content = present(title=text(query)) | {"text": passages}
    return Reading((Draft("observation", content, TOOL, source="tool:retrieval"),))


def _document_text(document: Mapping[str, Any]) -> str:
    return next(
        (text(document[field]) for field in ("content", "text", "page_content") if text(document.get(field))), ""
    )


def _evaluations(span: Span, *, whole: bool) -> Iterator[Draft]:
    """Judgements of a model's work, from events of its span or from evaluation spans."""
    results = [event.attributes for event in span.events if event.name == "gen_ai.evaluation.result"]
    for number, stated in enumerate([*results, span.attributes] if whole and not results else results):
        label = name(stated.get("gen_ai.evaluation.score.label", stated.get("eval.label"))).lower()
        score = stated.get("gen_ai.evaluation.score.value", stated.get("eval.score"))
        good = True if label in _GOOD else False if label in _BAD else None
        if good is None and isinstance(score, int | float) and 0 <= score <= 1:
            good = score >= 0.5
        if good is not None:
            comment = name(stated.get("gen_ai.evaluation.explanation", stated.get("eval.explanation")))
            criterion = name(stated.get("gen_ai.evaluation.name"))
            content = {"signal": "positive" if good else "negative"} | present(comment=comment, criterion=criterion)
            yield Draft("feedback", content, TOOL, str(number), source="evaluator")


def _exception(span: Span) -> JsonObject:
    return next((event.attributes for event in span.events if event.name == "exception"), {})


def _error_text(span: Span) -> str:
    raised = _exception(span)
    return span.status or text(raised.get("exception.message")) or name(span.first("error.type")) or "failed"


OPENTELEMETRY = Format("opentelemetry", "OpenTelemetry traces of generative AI", recognise, convert)
