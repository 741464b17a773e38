"""OpenTelemetry traces of generative AI: the GenAI conventions, OpenInference, OpenLLMetry's earlier attributes.

Each model call repeats the conversation so far, and a tool call may appear three times: in the model's answer, in a
span of its own and in the next model call. Each message, call and result is stored only once.

``_otel_exports`` reads export formats, such as Jaeger's. ``_otel_contents`` reads the contents of a span.
``_otel_lineage`` knows the spans above and below a span. ``_otel_repeats`` distinguishes new parts of a conversation
from repeated ones.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Answer, Calls, answer_draft, call_draft
from hmxgraph.formats._drafts import RANKS, Draft, Frame, Place, Reading, frame_of, joined, not_an_object
from hmxgraph.formats._messages import Message, message_reading, role_of
from hmxgraph.formats._otel_contents import (
    SpanMessages,
    ToolSpan,
    ending_of,
    error_text,
    exception,
    is_recap,
    kind_of,
    span_messages,
    tool_of,
)
from hmxgraph.formats._otel_exports import Export, exported, is_like_trace
from hmxgraph.formats._otel_lineage import ANSWERED, ASKED, FAILED, Lineage, key_of
from hmxgraph.formats._otel_repeats import Prompt, Repeats, call_of, call_part, result_part, words_part
from hmxgraph.formats._spans import Span, indexed_list, json_or_text
from hmxgraph.formats._values import Moment, derived_id, fields_of, listed, mapping, name, present, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import AGENT, TOOL, USER

_USER_ATTRIBUTES = ("user.id", "enduser.id", "langfuse.user.id", "traceloop.association.properties.user_id")
_MODEL_ATTRIBUTES = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
# Labels with which evaluations mark good and bad work.
_GOOD = frozenset({"pass", "passed", "correct", "positive", "good", "relevant", "factual", "true", "yes"})
_BAD = frozenset({"fail", "failed", "incorrect", "negative", "bad", "irrelevant", "hallucinated", "false", "no"})
# The beginnings of attribute names by which a trace of generative AI is recognised.
_ATTRIBUTE_PREFIXES = ("gen_ai.", "openinference.", "llm.", "traceloop.", "input.value", "gcp.vertex.agent.")
_NEEDED_ATTRIBUTES = "gen_ai.* or openinference.* attributes"
# The score of an unsupported trace: above any other format's near miss, but too low to be recognised.
_TRACE_NOT_UNDERSTOOD = 0.46
# Ids and numbers in span names: "fetch 17" and "fetch 18" are spans of one kind.
_IDS = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]*|\d+")

FramedReading: TypeAlias = tuple[Frame, Reading]


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects that are traces, reduced if no span in them has attributes of generative AI.

    >>> recognise([{"resourceSpans": []}]).missing
    ('gen_ai.* or openinference.* attributes',)
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    exports = [export for export in map(exported, records) if export is not None]
    if not exports:
        like_trace = any(map(is_like_trace, records))
        return Match(_TRACE_NOT_UNDERSTOOD if like_trace else 0.0, ("resourceSpans", _NEEDED_ATTRIBUTES))
    score = len(exports) / len(records)
    if any(_is_recognised(span) for export in exports for span in export.spans):
        return Match(round(score, 2))
    return Match(
        round(score * 0.6, 2), (_NEEDED_ATTRIBUTES,)
    )  # recognised if all objects are traces and no format fits better


def _is_recognised(span: Span) -> bool:
    return any(key.startswith(_ATTRIBUTE_PREFIXES) for key in span.attributes) or span.name.startswith("claude_code.")


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record; spans without content to remember are reported as left out."""
    traces = _Traces(origin)
    if isinstance(records, Sequence) and len(records) > 1:
        # Exporters write spans in the order in which they end: the root comes last, and it may name the conversation.
        traces.look_ahead(records)
    for record in records:
        if not isinstance(record.value, Mapping):
            yield not_an_object(record)
            continue
        export = exported(record.value)
        if export is None:
            yield Outcome(record, fault=Fault("$", "OTLP JSON", fields_of(record.value), "resourceSpans, or a span"))
        else:
            yield traces.outcome(record, export)


@dataclass(frozen=True, slots=True)
class _Scene:
    """A span that is being converted, and what is known about it: its record, session, agent and messages.

    ``metadata`` is for all events of the span. ``prompts_by_agent`` means that an agent wrote the prompts in the span,
    not the user.
    """

    record: Record
    span: Span
    kind: str
    messages: SpanMessages
    session_id: str
    metadata: JsonObject
    agent_id: str
    prompt: Prompt
    prompts_by_agent: bool


class _NoPlaceError(Exception):
    """Raised if neither the span nor the caller states the session and time of the span's events."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class _Traces:
    """Converts traces; remembers the messages and calls of each session, and which calls still lack a result.

    For each session, ``_results`` holds the time and the highest sequence of its latest results (``_note_results``).
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._calls = Calls(origin.carried)
        self._repeats = Repeats(origin.carried)
        self._lineage = Lineage(origin.carried)
        self._results: dict[str, list[int]] = origin.carried.setdefault("settled", {})

    def look_ahead(self, records: Iterable[Record]) -> None:
        """Note the spans in *records* and the conversations that they name, before any record is converted."""
        for record in records:
            export = exported(record.value) if isinstance(record.value, Mapping) else None
            self._note(export.spans if export else ())

    def _note(self, spans: Iterable[Span]) -> None:
        """Add *spans* to the lineage, so that it knows the spans above and below a span before that is converted."""
        for span in spans:
            kind = kind_of(span)
            self._lineage.add(span, kind, tool_of(span).tool if kind == "tool" else "")

    def outcome(self, record: Record, export: Export) -> Outcome:
        """The outcome of a record: the events of all its spans."""
        self._note(export.spans)
        scenes = [self._scene(record, span) for span in export.spans]
        for scene in scenes:
            self._note_contents(scene)
        scenes.sort(key=_reading_order)
        readings: list[FramedReading] = []
        try:
            for scene in scenes:
                span_readings = list(self._span(scene))
                if any(reading.drafts for _, reading in span_readings):
                    self._lineage.settle_in(scene.span, scene.session_id)
                readings += span_readings
        except _NoPlaceError as refused:
            return Outcome(record, fault=refused.fault)
        self._lineage.forget()
        left_out = [*export.left_out, *(reason for _, reading in readings for reason in reading.left_out)]
        outcome = joined(record, readings, self._origin.carried)
        if outcome.events:
            return replace(outcome, left_out=(*outcome.left_out, *export.left_out))
        return replace(outcome, skipped=_counted(left_out)) if outcome.skipped is not None else outcome

    def _note_contents(self, scene: _Scene) -> None:
        """Note the span's contents and outcome for the spans above it, so that nothing is converted twice."""
        span, is_failure = scene.span, scene.kind == "model" and scene.span.failed
        self._lineage.pass_up(span)
        if scene.kind == "ending":
            self._lineage.note_ending(span, ending_of(span))
        for content, holds in (
            (ASKED, scene.messages.inputs),
            (ANSWERED, scene.messages.outputs),
            (FAILED, is_failure),
        ):
            if holds:
                self._lineage.hold(span, content)

    def _scene(self, record: Record, span: Span) -> _Scene:
        kind = kind_of(span)
        session_id = self._lineage.session(span) or self._origin.session_id or span.trace_id
        agent_id = self._lineage.agent(span) or self._origin.agent_id or name(span.resource.get("service.name"))
        messages = span_messages(span, kind) if kind in {"model", "agent"} else SpanMessages()
        prompts_by_agent = self._lineage.is_below_tool(span)
        return _Scene(
            record, span, kind, messages, session_id, _metadata(span), agent_id, Prompt(session_id), prompts_by_agent
        )

    def _span(self, scene: _Scene) -> Iterator[FramedReading]:
        if scene.span.name and not self._repeats.is_new(f"span/{key_of(scene.span)}"):
            yield self._left_out(scene, "copy of a span")
        elif scene.kind in {"model", "agent"}:
            yield from self._conversation(scene)
        elif scene.kind == "tool":
            yield from self._tool(scene)
        else:
            yield self._frame(scene, ""), _other_reading(scene.span, scene.kind)

    # A model call or an agent: the new messages of its input, and its answer.

    def _conversation(self, scene: _Scene) -> Iterator[FramedReading]:
        span, messages = scene.span, scene.messages
        inputs = () if self._lineage.has_below(span, ASKED) else messages.inputs
        outputs = () if self._lineage.has_below(span, ANSWERED) else messages.outputs
        repeats_outer = self._lineage.is_inside_converted(span)
        # A model's prompt repeats the conversation from its start, so an equal chain of messages is a repetition. An
        # agent's prompt is only one turn: its chain starts with the key of the span, so that the same prompt in another
        # span counts as another message.
        chain = key_of(span) if scene.kind == "agent" else ""
        for number, message in enumerate([*inputs, *outputs]):
            if role_of(message) == "system":
                yield self._left_out(scene, "system prompt")
                continue
            chain = derived_id(chain, role_of(message), _content_key(message))
            late = number >= len(inputs)
            yield from self._message(scene, message, chain, late=late, answer=late and not repeats_outer)
        if inputs or outputs:
            self._lineage.mark_converted(span)
        elif messages:
            yield self._left_out(scene, f"span of kind {scene.kind}: its contents are in the spans inside it")
        elif scene.kind == "agent":
            yield self._left_out(scene, _reason(span, _stated_kind(span)))
        elif not span.failed:
            yield self._left_out(scene, f"{_label(span)}: content was not recorded")
        if scene.kind == "model" and span.failed and not self._lineage.has_below(span, FAILED):
            yield self._failure(scene)
        yield self._frame(scene, ""), Reading(tuple(_evaluations(span, whole=False)))

    def _message(
        self, scene: _Scene, message: Message, chain: str, *, late: bool, answer: bool
    ) -> Iterator[FramedReading]:
        """The new parts of a message, if any.

        *chain* is a hash of the message and all before it. A *late* message belongs to the end of its span. All parts
        of an *answer* are new.
        """
        if role_of(message) == "user" and is_recap(message):
            yield self._left_out(scene, "account of earlier messages")
            return
        own_id = derived_id(scene.session_id, chain)
        if self._repeats.repeat_message(scene.prompt, own_id) or (late and self._repeats.has(own_id)):
            return
        frame = self._frame(scene, own_id, late=late)
        if not late:  # a message of the input may be older than the span
            frame = replace(frame, metadata=frame.metadata | {"undated": True})
        reading = message_reading(message, frame, self._calls)
        first = len(scene.prompt.sequence)
        drafts = [self._new_draft(scene, frame, draft, answer=answer) for draft in reading.drafts]
        self._repeats.remember_message(own_id, scene.prompt.sequence[first:])
        new = tuple(draft for draft in drafts if draft is not None)
        if not new and reading.drafts:
            return
        if self._repeats.is_new(own_id):
            self._note_results(scene, frame, new, late=late)
            yield frame, replace(reading, drafts=new)

    def _new_draft(self, scene: _Scene, frame: Frame, draft: Draft, *, answer: bool) -> Draft | None:
        """*draft*, with author and call id corrected; None if it repeats a part of the conversation."""
        if draft.event_type == "tool_call":
            return self._new_call(scene, frame, draft, answer=answer)
        if draft.event_type == "tool_result":
            return self._new_result(scene, draft)
        is_prompt = draft.event_type == "message" and draft.origin == USER
        part = words_part(draft)
        # An agent's prompt that is new in its trace is a new turn, even if the user said the same words before.
        is_turn = self._repeats.is_new(f"{scene.span.trace_id}/heard/{part}") and scene.kind == "agent" and is_prompt
        if not self._repeats.is_new_part(scene.prompt, part, answer=answer or is_turn):
            return None
        by_agent = scene.prompts_by_agent or self._repeats.is_passed_on(
            scene.span.trace_id, text(draft.content.get("text"))
        )
        return replace(draft, origin=AGENT) if is_prompt and by_agent else draft

    def _new_call(self, scene: _Scene, frame: Frame, draft: Draft, *, answer: bool) -> Draft | None:
        """*draft* with a call id; None if the conversation has the call already."""
        call_id, tool, arguments = call_of(draft)
        is_known = bool(call_id) and self._repeats.is_known_call(scene.session_id, call_id)
        part = call_part(tool, arguments)
        is_known = is_known or (answer and self._repeats.claim(scene.session_id, call_id, part))
        is_new = self._repeats.is_new_part(scene.prompt, part, answer=answer and not is_known)
        if is_known or not is_new:
            self._repeats.repeat_call(scene.prompt, call_id, part)
            self._remember_again(scene, call_id)
            return None
        event_id = frame.event_id(draft.part)
        if not call_id:
            call_id = event_id
            self._calls.remember(call_id, tool, event_id)
            draft = replace(draft, content=draft.content | {"call_id": call_id})
        self._repeats.add_call(scene.session_id, (call_id, tool, arguments), event_id, of_model=True)
        self._repeats.pass_on(scene.span.trace_id, mapping(arguments))
        return draft

    def _remember_again(self, scene: _Scene, call_id: str) -> None:
        """Link the call id to the stored call again: reading its repetition has overwritten the link."""
        tool, event_id = self._repeats.call_event(scene.session_id, call_id)
        if event_id:
            self._calls.remember(call_id, tool, event_id)
        else:
            self._calls.take(call_id)

    def _new_result(self, scene: _Scene, draft: Draft) -> Draft | None:
        """*draft* with the id of its call; None if that call already has a result.

        Also None if the call is unknown and the result is not new.
        """
        stated_id = name(draft.content.get("call_id"))
        call_id = self._repeats.call_id(scene.session_id, stated_id)
        tool = text(draft.content.get("tool_name"))
        is_new = self._repeats.is_new_part(scene.prompt, result_part(draft.content.get("result")), answer=False)
        if is_new:
            call_id = self._repeats.answer(scene.session_id, tool, call_id)
        if call_id and not self._repeats.is_new(f"{scene.session_id}/result/{call_id}"):
            return None
        if not is_new and not self._repeats.is_known_call(scene.session_id, call_id):
            return None
        call_tool, event_id = self._repeats.call_event(scene.session_id, call_id)
        tool = tool or call_tool
        content = draft.content | present(call_id=call_id, tool_name=tool)
        source = f"tool:{tool}" if tool else draft.source
        return replace(draft, content=content, parent_event_id=draft.parent_event_id or event_id or None, source=source)

    # A tool call in a span of its own.

    def _tool(self, scene: _Scene) -> Iterator[FramedReading]:
        span = scene.span
        call = tool_of(span).with_ending(self._lineage.ending(span))
        if self._lineage.is_inside_call(span, call.tool):
            yield self._left_out(scene, "span of a part of a tool call")
            return
        call_id, is_known = self._match_call(scene, call)
        frame = self._frame(scene, key_of(span))
        own_call_id = call_id or span.span_id
        if not is_known:
            self._repeats.is_new_part(scene.prompt, call_part(call.tool, call.arguments), answer=True)
            draft = call_draft(self._calls, frame, "0", (own_call_id, call.tool, call.arguments))
            self._repeats.add_call(scene.session_id, call_of(draft), frame.event_id("0"), of_model=False)
            self._repeats.pass_on(span.trace_id, mapping(draft.content["arguments"]))
            yield frame, Reading((draft,))
        if not self._is_new_result(scene, call, own_call_id):
            return
        value = "" if call.result is None else call.result
        answer = Answer(own_call_id, value, call.tool, call.success, present(duration_ms=span.duration_ms))
        result = answer_draft(self._calls, "1", answer)
        self._repeats.is_new_part(scene.prompt, result_part(result.content["result"]), answer=True)
        at_end = self._frame(scene, key_of(span), late=True)
        self._note_results(scene, at_end, (result,), late=True)
        yield at_end, Reading((result,))

    def _match_call(self, scene: _Scene, call: ToolSpan) -> tuple[str, bool]:
        """The id of a tool span's call, and whether the conversation has the call already.

        A framework may give the span another id, or none. Then the span belongs to one of the model's calls to the same
        tool that still lack a span; ``Repeats.take_waiting`` chooses which.
        """
        call_id = self._repeats.call_id(scene.session_id, call.call_id)
        if call_id and self._repeats.is_known_call(scene.session_id, call_id):
            self._repeats.settle(scene.session_id, call_id)
            return call_id, True
        waiting = self._repeats.take_waiting(
            scene.session_id, (call.tool, call.arguments), exact=bool(call_id), answered=call.result is None
        )
        if waiting:
            self._repeats.name_call(scene.session_id, call_id, waiting)
            return waiting, True
        return call_id, False

    def _is_new_result(self, scene: _Scene, call: ToolSpan, call_id: str) -> bool:
        """Whether the conversation lacks the result of a tool span.

        The result is noted only if the span records it; otherwise the next prompt may still contain it.
        """
        key = f"{scene.session_id}/result/{call_id}"
        return self._repeats.is_new(key) if call.result is not None else not self._repeats.has(key)

    def _failure(self, scene: _Scene) -> FramedReading:
        frame = self._frame(scene, key_of(scene.span), late=True)
        kind = name(scene.span.first("error.type")) or exception(scene.span).get("exception.type") or "ModelError"
        error = {"error_type": kind, "message": error_text(scene.span)}
        model = frame.metadata.get("model", "")
        return frame, Reading((Draft("error", error, TOOL, "error", source=f"model:{model}"),))

    # Frames.

    def _frame(self, scene: _Scene, own_id: str, *, late: bool = False) -> Frame:
        span = scene.span
        at: Moment | None = (span.end if late else None) or span.start
        time = at.timestamp if at else None
        place = Place(0, scene.session_id, own_id or key_of(span), time, scene.agent_id, scene.metadata)
        frame = frame_of(scene.record, self._origin, place)
        if isinstance(frame, Fault):
            raise _NoPlaceError(frame)
        return replace(frame, trace_id=span.trace_id or None, time=self._after_results(scene, frame.time))

    def _after_results(self, scene: _Scene, at: Moment) -> Moment:
        """*at*, moved if necessary so that it sorts after the results that ended before the span began.

        Results sort some microseconds after their time, and a local model may answer sooner than that.
        """
        end_us, last_sequence = self._results.get(scene.session_id, (0, 0))
        start = scene.span.start
        return replace(at, us=last_sequence + 1) if start and end_us <= start.us and at.us <= last_sequence else at

    def _note_results(self, scene: _Scene, frame: Frame, drafts: Sequence[Draft], *, late: bool) -> None:
        """Note when the session's latest results ended and how late they sort, for ``_after_results``."""
        if any(draft.event_type == "tool_result" for draft in drafts):
            at = (scene.span.end if late else None) or scene.span.start
            last_sequence = frame.time.us + RANKS["tool_result"] + len(drafts)
            if at and last_sequence > self._results.get(scene.session_id, [0, 0])[1]:
                self._results[scene.session_id] = [at.us, last_sequence]

    def _left_out(self, scene: _Scene, reason: str) -> FramedReading:
        return self._frame(scene, ""), Reading(left_out=(reason,))


def _reading_order(scene: _Scene) -> int:
    """The rank of a span in the reading order: spans that may lack contents come after those that have them.

    An agent's span adds what its model calls lack, and a prompt may have the result that a tool's span lacks.
    """
    lacks_result = scene.kind == "tool" and tool_of(scene.span).result is None
    return 2 if scene.kind == "agent" else 1 if lacks_result else 0


def _counted(reasons: Sequence[str]) -> str:
    """Why a record has no events: each reason, with the number of times that it applies.

    >>> _counted(["span of kind CHAIN", "system prompt", "span of kind CHAIN"])
    'span of kind CHAIN (2 times); system prompt'
    """
    counted = [f"{reason} ({count} times)" if count > 1 else reason for reason, count in Counter(reasons).items()]
    return "; ".join(counted) or "nothing in it"


# The contents of a span.


def _content_key(message: Message) -> str:
    """A key for the contents of a message; fields that instrumentation may change between repetitions are ignored."""
    content = message.get("content", message.get("parts"))
    parts = [mapping(part) for part in listed(content)]
    texts = (
        content
        if isinstance(content, str)
        else [(part.get("content"), part.get("text"), part.get("id")) for part in parts]
    )
    ids = [mapping(call).get("id") for call in listed(message.get("tool_calls"))]
    return repr((texts, ids, message.get("tool_call_id")))


def _metadata(span: Span) -> JsonObject:
    return present(
        format="opentelemetry",
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        model=name(span.first(*_MODEL_ATTRIBUTES)),
        user_id=name(span.first(*_USER_ATTRIBUTES)),
    )


def _other_reading(span: Span, kind: str) -> Reading:
    """The passages of a retrieval, or the evaluations in any other span."""
    if kind == "retrieval":
        return _retrieval(span)
    drafts = tuple(_evaluations(span, whole=kind == "evaluation"))
    if drafts:
        return Reading(drafts)
    return Reading(left_out=(_reason(span, kind),))


def _reason(span: Span, kind: str) -> str:
    """The reason why a span has no events, which includes its kind or name."""
    if kind == "ending":
        return "ending of a tool call, read with the call"
    return f"span of kind {kind[:40]}" if kind else _label(span)


def _stated_kind(span: Span) -> str:
    """The kind that an agent span states by its convention; "" for a harness's own spans, which state none."""
    return name(span.first("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind"))


def _label(span: Span) -> str:
    """The name of a span, with ``*`` in place of ids and numbers.

    Left-out spans are counted by name, so spans of one kind must have one name.
    """
    return f"span {_IDS.sub('*', span.name)[:60]!r}"


def _retrieval(span: Span) -> Reading:
    query = span.first("gen_ai.retrieval.query.text", "input.value")
    listed_documents = json_or_text(span.first("gen_ai.retrieval.documents"))
    documents = (
        listed_documents
        if isinstance(listed_documents, list)
        else [mapping(part).get("document") for part in indexed_list(span.attributes, "retrieval.documents")]
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
    """Feedback from the evaluation events of a span; if it has none and *whole* is set, from the span's attributes."""
    results = [event.attributes for event in span.events if event.name == "gen_ai.evaluation.result"]
    for number, attributes in enumerate([*results, span.attributes] if whole and not results else results):
        label = name(attributes.get("gen_ai.evaluation.score.label", attributes.get("eval.label"))).lower()
        score = attributes.get("gen_ai.evaluation.score.value", attributes.get("eval.score"))
        good = True if label in _GOOD else False if label in _BAD else None
        if good is None and isinstance(score, int | float) and 0 <= score <= 1:
            good = score >= 0.5
        if good is not None:
            comment = name(attributes.get("gen_ai.evaluation.explanation", attributes.get("eval.explanation")))
            criterion = name(attributes.get("gen_ai.evaluation.name"))
            content = {"signal": "positive" if good else "negative"} | present(comment=comment, criterion=criterion)
            yield Draft("feedback", content, TOOL, str(number), source="evaluator")


OPENTELEMETRY = Format("opentelemetry", "OpenTelemetry traces of generative AI", recognise, convert)
