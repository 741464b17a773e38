"""What the API classes share: base classes, conversion and checks of arguments, tracing spans."""

import inspect
import warnings
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import cache, wraps
from inspect import isawaitable
from time import time_ns
from types import FunctionType
from typing import Any, TypeAlias, TypedDict, TypeVar, get_args
from uuid import uuid4

import hmxgraph
from hmxgraph.errors import EmbedderError, GraphError, GraphNotOpen, InvalidRequest, InvalidTime
from hmxgraph.graph import clock
from hmxgraph.graph.connection import AsyncConnection, Connection
from hmxgraph.graph.embeddings import embed_new
from hmxgraph.graph.ingesting import IngestOptions, in_thread, ingest, ingest_async
from hmxgraph.graph.plan import Procedure, Tenancy
from hmxgraph.graph.record_search import SearchCriteria, Shape, search_of
from hmxgraph.ingest.sources import Source
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import Envelope, Fingerprint
from hmxgraph.protocol.lifecycle import ArtifactFilter
from hmxgraph.protocol.parsing import checked_flag, checked_list, quoted
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.protocol.reports import IngestReport
from hmxgraph.protocol.timestamps import is_representable, microseconds
from hmxgraph.recall.question import PackRequest
from hmxgraph.records.events import UNSIGNED, MemoryOperation
from hmxgraph.text.terms import TokenCounter

# Times: ISO 8601 text or datetime to microseconds.

Moment: TypeAlias = str | datetime


def as_us(moment: Moment | None) -> int | None:
    """UTC microseconds of an ISO 8601 text or an aware datetime; None stays None.

    Raises:
        InvalidTime: the text is not an ISO 8601 time with an offset, the datetime is naive, the time in UTC is outside
            the years 1 to 9999, or the value is of another type.

    >>> as_us("1970-01-01T00:00:01Z")
    1000000

    """
    if moment is None:
        return None
    if isinstance(moment, str):
        return _checked_us(microseconds(moment), moment)
    text = _aware(moment).isoformat()
    return _checked_us(microseconds(text), text)


def _aware(moment: object) -> datetime:
    if not isinstance(moment, datetime):
        raise InvalidTime(str(moment), f"is of type {type(moment).__name__}, neither text nor a datetime")
    if moment.tzinfo is None:
        raise InvalidTime(moment.isoformat(), "has no offset: give the datetime a time zone")
    return moment


def _checked_us(us: int, text: str) -> int:
    """*us*, if Python can format it: documents may have times outside Python's years 1 to 9999."""
    if not is_representable(us):
        raise InvalidTime(text, "is outside the years 1 to 9999")
    return us


# Documents: a value, or the mapping or JSON text it is parsed from.


def as_artifact(source: Artifact | Mapping[str, Any] | str | bytes) -> Artifact:
    """*source* as an artifact.

    Raises:
        MalformedJson: it is text, but not strict JSON.
        InvalidDocument: it violates HMX-A; every fault is listed.

    """
    return source if isinstance(source, Artifact) else Artifact.parse(source)


def as_event(source: Event | Mapping[str, Any] | str | bytes) -> Event:
    """*source* as an event.

    Raises:
        MalformedJson: it is text, but not strict JSON.
        InvalidDocument: it violates HMX-E; every fault is listed.

    """
    return source if isinstance(source, Event) else Event.parse(source)


# Keyword arguments for listing artifacts, and for packs.


class ArtifactFilters(TypedDict, total=False):
    """Which artifacts to list; see :class:`hmxgraph.protocol.lifecycle.ArtifactFilter`."""

    status: str | None
    artifact_type: str | None
    tags: Sequence[str]
    text: str | None
    agent_id: str | None
    situation: Sequence[str]
    compiled_by: str | None


def artifact_filter(filters: ArtifactFilters) -> ArtifactFilter:
    """The filter value of these keyword arguments.

    Raises:
        InvalidRequest: a filter is unknown, or *tags* or *situation* is not a list.

    >>> artifact_filter({"tags": ["staging"]}).tags
    ('staging',)

    """
    refuse_unknown(filters, ArtifactFilters, "artifacts")
    tags, situation = (tuple(checked_list(name, filters.get(name))) for name in ("tags", "situation"))
    fields: dict[str, Any] = {**filters, "tags": tags, "situation": situation}
    return ArtifactFilter(**fields)


class PackOptions(TypedDict, total=False):
    """The options of a context pack; see :class:`hmxgraph.recall.question.PackRequest`."""

    budget: int
    strategy: str
    as_of: Moment | None
    session_id: str | None
    agent_id: str | None
    user_id: str | None
    sections: Sequence[str]
    min_confidence: float
    encoding: str | TokenCounter
    scope: str | Sequence[str] | None
    fingerprint: Fingerprint | Envelope | Mapping[str, Any] | None


def refuse_unknown(options: Mapping[str, Any], known: type, method: str) -> None:
    """Refuse options that are not keys of the typed dict *known*, so that no misspelt option is ignored.

    Raises:
        InvalidRequest: an option is unknown; the error names it, and the options that *method* takes.

    >>> refuse_unknown({"bugdet": 512}, PackOptions, "pack")
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: invalid bugdet 512: expected an option of pack(); choose from budget, strategy, ...
    """
    for name in sorted(options.keys() - known.__annotations__.keys()):
        choices = ", ".join(known.__annotations__)
        raise InvalidRequest(name, quoted(options[name]), f"an option of {method}()", f"choose from {choices}")


def flag(options: Mapping[str, Any], name: str) -> bool:
    """The flag *name* of *options*; False if it is missing or None.

    Raises:
        InvalidRequest: it is not None, True or False.

    >>> flag({"pinned": True}, "pinned"), flag({"pinned": None}, "pinned"), flag({}, "pinned")
    (True, False, False)
    """
    value = options.get(name)
    return value is not None and checked_flag(name, value)


def pack_request(query: str, options: PackOptions) -> PackRequest:
    """The validated request for a pack.

    Raises:
        InvalidRequest: an option is unknown, or has a value of the wrong type or size.
        BudgetTooSmall: the budget is below one token.
        UnknownChoice: the strategy, section or encoding is unknown, or the confidence is outside [0, 1].
        InvalidTime: *as_of* is not a valid time.

    >>> pack_request("Deploy", {"budget": 512, "sections": ["episodes"]}).budget
    512

    """
    refuse_unknown(options, PackOptions, "pack")
    fields: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    fields["as_of_us"] = as_us(fields.pop("as_of", None))
    fields["priors"] = _priors(fields.pop("fingerprint", None))
    scope = fields.pop("scope", None)
    fields["scopes"] = (scope,) if isinstance(scope, str) else tuple(checked_list("scope", scope))
    return PackRequest(query, **fields)


def _priors(source: Fingerprint | Envelope | Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The context priors (hints for packs) of a fingerprint, which may be inside an envelope.

    A mapping that is neither a fingerprint nor an envelope is taken as the priors themselves.
    """
    document: object = source.document() if isinstance(source, Fingerprint | Envelope) else source
    if document is None:
        return None
    if not isinstance(document, Mapping):
        kind = type(document).__name__
        raise InvalidRequest("fingerprint", f"of type {kind}", "a fingerprint", "give it, its envelope or its document")
    for name in ("fingerprint", "context_priors"):
        inner = document.get(name)
        document = inner if isinstance(inner, Mapping) else document
    return document


# The fields of task records, with new ids and the current time.


class StepFields(TypedDict, total=False):
    """The optional fields of all records except claims, releases and reopenings.

    See `hmxgraph.protocol.records.TaskRecord`.
    """

    artifact_id: str
    parent_task_id: str
    project_id: str
    agent_id: str
    session_id: str
    artifact_role: str
    challenge_id: str
    thread_id: str
    relation_kind: str
    motivation: str
    hypothesis: str
    scientific_question: str
    method_summary: str
    evidence_kind: str
    blockers: Sequence[str]
    what_worked: Sequence[str]
    what_failed: Sequence[str]
    validation: Sequence[str]
    uncertainty: Sequence[str]
    followups: Sequence[str]
    expected_outputs: Sequence[str]
    related_artifact_ids: Sequence[str]
    contributors: Sequence[Mapping[str, Any]]
    dataset_refs: Sequence[Mapping[str, Any]]
    entity_refs: Sequence[Mapping[str, Any]]
    tool_name: str
    tool_version: str
    parameters: Any
    outputs: Sequence[str]
    metrics: Any
    confidence: float
    requested_action: str
    verification_status: str
    promotion_state: str
    digest_key: str
    source_updated_at_ms: int
    compute_budget: Any
    cost_actual: Any
    data_access_level: str
    policy_tags: Sequence[str]
    allowed_tools: Sequence[str]
    approval_state: str
    provenance: Mapping[str, Any]
    timestamp_observed: int | str
    tags: Sequence[str]


class BoardFields(TypedDict, total=False):
    """The optional fields of a claim, a release or a reopening."""

    artifact_id: str
    session_id: str


class DecisionFields(StepFields, total=False):
    """The optional fields of a decision."""

    goal: str
    status: str
    why_chosen: str
    supports_claim: bool
    reply_to_artifact_id: str


class RecordFields(DecisionFields, total=False):
    """All fields of a record (memd: Canonical Artifact Envelope) except its kind, task, tenant and time."""

    summary: str
    command: str
    inputs: Sequence[str]


class _RecordFilters(TypedDict, total=False):
    """The eighteen exact filters of a search; a hit matches all that are given."""

    task_id: str | None
    artifact_kind: str | None
    status: str | None
    challenge_id: str | None
    thread_id: str | None
    reply_to_artifact_id: str | None
    artifact_role: str | None
    dataset_name: str | None
    dataset_version: str | None
    entity_name: str | None
    entity_type: str | None
    tool_name: str | None
    project_id: str | None
    agent_id: str | None
    session_id: str | None
    requested_action: str | None
    verification_status: str | None
    relation_kind: str | None


class RecordSearch(_RecordFilters, total=False):
    """The optional arguments of a record search: exact filters, and the shape of the result."""

    compact: bool
    token_budget: int | None
    expand_event_siblings: bool


def search_request(
    query: str, options: Mapping[str, Any], *, mode: str, limit: int, include_hidden: bool
) -> SearchCriteria:
    """The validated search for records; *options* are the exact filters and the shape of the result.

    Raises:
        UnknownChoice: an unknown filter or mode.
        InvalidRequest: an invalid limit, budget or filter value.

    >>> search_request("leak", {"task_id": "t", "compact": True}, mode="generic", limit=5, include_hidden=False).facets
    ('task_id=t',)
    """
    shape = Shape(**{name: options[name] for name in Shape.__slots__ if name in options})
    filters = {name: value for name, value in options.items() if name not in Shape.__slots__}
    return search_of(query, filters, mode=mode, limit=limit, include_hidden=include_hidden, shape=shape)


# Fields that callers cannot set, with the reason or the alternative.
_SET_ELSEWHERE = {
    "artifact_kind": "the method sets it",
    "tenant_id": "the connection sets it (hmxgraph.connect(tenant_id=...))",
    "timestamp_created": "pass the time as at=...",
}


def new_record(kind: str, at: Moment | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The wire fields of a new record of *kind*, created at *at* or now.

    The record, and a task that it starts, get fresh ids unless *fields* has their ids.

    Raises:
        InvalidRequest: *fields* has a field that callers cannot set; the error names it.

    >>> new_record("task_start", "2026-03-14T03:00:00Z", {"goal": "x", "task_id": "t", "artifact_id": "r"})
    {'goal': 'x', 'task_id': 't', 'artifact_id': 'r', 'artifact_kind': 'task_start', 'timestamp_created': 1773457200000}
    """
    for name in sorted(fields.keys() & _SET_ELSEWHERE.keys()):
        raise InvalidRequest(name, f"{fields[name]!r:.60}", "a field that callers may set", _SET_ELSEWHERE[name])
    json_values = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    record = {name: value for name, value in json_values.items() if value is not None}
    record.setdefault("artifact_id", str(uuid4()))
    if kind == "task_start":
        record.setdefault("task_id", str(uuid4()))
    return record | {"artifact_kind": kind, "timestamp_created": now_us(at) // 1_000}


def generated_fields(kind: str, at: Moment | None, fields: Mapping[str, Any]) -> frozenset[str]:
    """The fields, other than the record's id, that `new_record` generates; they differ when a call is repeated.

    >>> sorted(generated_fields("task_start", None, {"goal": "x"})), generated_fields("evidence", "2026-03-14", {})
    (['task_id', 'timestamp_created'], frozenset())
    """
    generated = {"timestamp_created": at is None, "task_id": kind == "task_start" and fields.get("task_id") is None}
    return frozenset(name for name, is_generated in generated.items() if is_generated)


def operation(agent_id: str | None, at: Moment | None, event_id: str | None = None) -> MemoryOperation:
    """An operation on memories: its agent, its time (*at*, else now), and the id of the event that reports it.

    >>> operation("ana", "1970-01-01T00:00:01Z", "e1")
    MemoryOperation(agent_id='ana', at_us=1000000, event_id='e1')
    """
    return MemoryOperation(agent_id or UNSIGNED, now_us(at), event_id or str(uuid4()))


def now_us(at: Moment | None = None) -> int:
    """UTC microseconds of *at*, or of now."""
    us = as_us(at)
    return time_ns() // 1_000 if us is None else us


# Several items in one call: each is a mapping of the arguments that the method for a single item takes.


def named_items(
    name: str, items: Iterable[Any], defaults: Mapping[str, Any], *, text: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each of *items*, with the name that errors use for it; *defaults* are the arguments that an item may leave out.

    If *text*, the name of an argument, is given, an item may be just a text, the value of this argument.

    Raises:
        InvalidRequest: *items* is not a list of such items.

    >>> list(named_items("memories", ["Tea is at four", {"text": "Use Biome"}], {"kind": "goal"}, text="text"))[1]
    ('memories[1]', {'kind': 'goal', 'text': 'Use Biome'})
    """
    kind, way_out = ("text or mapping", 'write ["...", {...}]') if text else ("mapping", "write [{...}, {...}]")
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidRequest(name, quoted(items), f"a list, each item a {kind}", way_out)
    for position, item in enumerate(items):
        item_name = f"{name}[{position}]"
        if not isinstance(item, Mapping | str if text else Mapping):
            raise InvalidRequest(item_name, quoted(item), f"a {kind}", way_out)
        yield item_name, {**defaults, **({text: item} if isinstance(item, str) else item)}


# Wrong arguments of any kind are refused with InvalidRequest, whose message says what to write instead.

# Names that callers use by mistake, and the arguments that they may mean.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "agent": ("agent_id",),
    "author": ("agent_id",),
    "budget": ("token_budget",),
    "claim": ("summary",),
    "description": ("summary", "goal"),
    "duration": ("lease",),
    "failed": ("what_failed",),
    "filter": ("kind",),
    "k": ("limit",),
    "lease_seconds": ("lease",),
    "max_results": ("limit",),
    "message": ("summary", "comment"),
    "n": ("limit",),
    "name": ("goal", "task_id"),
    "next": ("next_step",),
    "note": ("summary", "comment"),
    "outcome": ("status",),
    "owner": ("assignee", "agent_id"),
    "project": ("project_id",),
    "reason": ("why_chosen", "reason", "summary"),
    "reply_to_artifact_id": ("reply_to", "run_id"),
    "result": ("summary", "outcome"),
    "run": ("run_id",),
    "session": ("session_id",),
    "siblings": ("expand_event_siblings",),
    "supports": ("supports_claim",),
    "task": ("task_id",),
    "text": ("summary", "query"),
    "thread": ("thread_id",),
    "title": ("goal", "summary"),
    "tokens": ("token_budget",),
    "tool": ("tool_name",),
    "top_k": ("limit",),
    "why": ("why_chosen",),
    "worked": ("what_worked",),
}
# Maximum number of argument names that an error lists.
_LISTED_NAMES = 12


class NamedArguments:
    """Base of classes whose public methods refuse wrong arguments with InvalidRequest, never with a TypeError."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            if isinstance(member, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _with_argument_check(member))


def _with_argument_check(function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, preceded by a check of its arguments."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def checked_async(self: Any, /, *args: Any, **named: Any) -> Any:
            check_arguments(function, args, named)
            return await function(self, *args, **named)

        return checked_async

    @wraps(function)
    def checked(self: Any, /, *args: Any, **named: Any) -> Any:
        check_arguments(function, args, named)
        return function(self, *args, **named)

    return checked


def check_arguments(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Refuse a call of the method *function* with wrong arguments.

    Raises:
        InvalidRequest: an argument is unknown, missing, given twice, not accepted by position, or not a Boolean where
            one is required; the message names it and says what to write instead.

    """
    signature = _signature_of(function)
    if len(args) > len(signature.positional):
        most = len(signature.positional)
        expected = f"at most {most} positional argument{'' if most == 1 else 's'} of {function.__name__}()"
        way_out = f"give it by name, such as {signature.keyword_only[0]}=..." if signature.keyword_only else "omit it"
        raise InvalidRequest(f"argument {most + 1}", f"{args[most]!r:.60}", expected, way_out)
    positional_names = signature.positional[: len(args)]
    for name in named:
        if name in positional_names:
            way_out = "it is given by position and by name: omit one"
            raise InvalidRequest(name, f"{named[name]!r:.60}", "one value", way_out)
        if name not in signature.names or _is_misnamed(name, signature):
            raise _unknown_argument(name, named[name], signature)
    for name in signature.required:
        if name not in positional_names and name not in named:
            raise InvalidRequest(name, "(missing)", f"an argument of {function.__name__}()", f"give it ({name}=...)")
    for name, value in (*zip(positional_names, args, strict=True), *named.items()):
        if name in signature.flags and (value is not None or name not in signature.nullable):
            checked_flag(name, value)


@dataclass(frozen=True, slots=True)
class _Signature:
    """The arguments of a method: its own parameters, and the *fields* that its ``**fields`` accepts.

    *flags* are the Boolean parameters, *nullable* the flags that may also be None.
    """

    method: str
    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    required: tuple[str, ...]
    fields: frozenset[str]
    flags: frozenset[str]
    nullable: frozenset[str]

    @property
    def own(self) -> tuple[str, ...]:
        """The parameters of the method, without ``**fields``."""
        return self.positional + self.keyword_only

    @property
    def names(self) -> frozenset[str]:
        """Every argument name that the method accepts."""
        return self.fields.union(self.own)


@cache
def _signature_of(function: Callable[..., Any]) -> _Signature:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    keyword_fields = [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    flags = {parameter.name: parameter.annotation for parameter in named if _is_flag(parameter.annotation)}
    return _Signature(
        function.__name__,
        tuple(parameter.name for parameter in named if parameter.kind is not parameter.KEYWORD_ONLY),
        tuple(parameter.name for parameter in named if parameter.kind is parameter.KEYWORD_ONLY),
        tuple(parameter.name for parameter in named if parameter.default is parameter.empty),
        frozenset(name for parameter in keyword_fields for name in _accepted_fields(parameter.annotation)),
        frozenset(flags),
        frozenset(name for name, annotation in flags.items() if annotation is not bool),
    )


def _is_flag(annotation: Any) -> bool:
    return annotation is bool or annotation == (bool | None)


def _accepted_fields(annotation: Any) -> Iterable[str]:
    """The names that ``**fields: Unpack[...]`` accepts: the keys of the typed dict.

    If these include all `StepFields`, any field of a `TaskRecord` is accepted; `new_record` refuses those that callers
    cannot set.
    """
    keys = frozenset(get_args(annotation)[0].__annotations__)
    return keys.union(TaskRecord.model_fields) if keys >= frozenset(StepFields.__annotations__) else keys


def _is_misnamed(name: str, signature: _Signature) -> bool:
    """Whether *name* is ``reply_to_artifact_id`` in a method that calls it ``reply_to`` or ``run_id``."""
    return (
        name not in signature.own and name == "reply_to_artifact_id" and bool({"reply_to", "run_id"} & {*signature.own})
    )


def _unknown_argument(name: str, value: Any, signature: _Signature) -> InvalidRequest:
    """The error for an argument that the method lacks: it says which one was probably meant, or lists them."""
    synonyms = [synonym for synonym in _OTHER_NAMES.get(name, ()) if synonym in signature.names and synonym != name]
    closest = synonyms[:1] or get_close_matches(name, sorted(signature.names - {name}), 1, 0.7)
    choices = ", ".join([*signature.own, *sorted(signature.fields - {*signature.own})][:_LISTED_NAMES])
    more = ", ..." if len(signature.names) > _LISTED_NAMES else ""
    way_out = f"did you mean {closest[0]}=...?" if closest else f"choose from {choices}{more}"
    return InvalidRequest(name, f"{value!r:.60}", f"an argument of {signature.method}()", way_out)


# If opentelemetry-api is installed, the calls below create spans, so that an agent's traces show its use of memory.
#
# A span records the method, the duration and the type of an error, but no text of a query, event or memory.

# The calls that have a span. The key is the name of a procedure, or ``ingest``; the value is the name of the operation
# in OpenTelemetry's conventions, and the public method.
_CALLS = {
    "pack": ("search_memory", "pack"),
    "suggest_for_session": ("search_memory", "suggest"),
    "suggest_for_events": ("search_memory", "suggest"),
    "record": ("update_memory", "record"),
    "append_all": ("update_memory", "append"),
    "ingest": ("update_memory", "ingest"),
    "remember": ("update_memory", "remember"),
    "compile_tenant": ("update_memory", "compile"),
}
_is_untraced: ContextVar[bool] = ContextVar("is_untraced", default=False)


@contextmanager
def untraced() -> Iterator[None]:
    """Create no spans in the block: an exporter that stores spans must not create new ones."""
    token = _is_untraced.set(True)
    try:
        yield
    finally:
        _is_untraced.reset(token)


@contextmanager
def span_of(procedure: str) -> Iterator[None]:
    """A span around the block if *procedure* is in `_CALLS`, unless `untraced` or without opentelemetry-api."""
    trace = _trace() if procedure in _CALLS and not _is_untraced.get() else None
    if trace is None:
        yield
        return
    operation, method = _CALLS[procedure]
    attributes = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "hmxgraph", "hmxgraph.call": method}
    tracer = trace.get_tracer("hmxgraph", hmxgraph.__version__)
    with tracer.start_as_current_span(
        f"{operation} {method}",
        kind=trace.SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,  # the message of an exception may quote the text of a query
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


@cache
def _trace() -> Any:
    try:
        from opentelemetry import trace  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return trace


# Base classes of the API.

T = TypeVar("T")


def not_released_warning(error: GraphError) -> str:
    """The warning of an ingest that could not release events which were dated in the future and are now due."""
    return (
        "events that were stored with a date in the future do not count yet, although that date has passed; "
        f"the next ingest or compile tries again: {error}"
    )


def no_vectors_warning(error: EmbedderError | GraphError) -> str:
    """The warning of a write whose events are stored without vectors."""
    return f"new events are stored without vectors; the next write or graph.embed() adds them: {error}"


def with_warnings(report: IngestReport, further: tuple[str, ...]) -> IngestReport:
    """*report* with *further* warnings."""
    return replace(report, warnings=(*report.warnings, *further)) if further else report


class Face:
    """Base of the synchronous API classes: runs procedures on a connection for one tenant."""

    _tenancy: Tenancy
    _connection: Connection

    def _perform(self, procedure: Procedure[T], *, whole: bool = False) -> T:
        """The value of *procedure*; with *whole*, it reads or rewrites a whole tenant and gets a longer timeout."""
        with span_of(getattr(procedure, "__name__", "")):
            return self._connection.perform(procedure, whole=whole)

    def _perform_then_embed(self, procedure: Procedure[T]) -> T:
        """Perform *procedure*, which stores events, then compute their vectors if there is an embedder."""
        value = self._perform(procedure)
        for warning in self._embedding_warnings():
            warnings.warn(warning, RuntimeWarning, stacklevel=3)
        return value

    def _ingest(self, source: Source, options: IngestOptions) -> IngestReport:
        with span_of("ingest"):
            report = ingest(self._connection.transact, self._tenancy, source, options)
            return with_warnings(report, self._clock_warnings(options) + self._embedding_warnings())

    def _clock_warnings(self, options: IngestOptions) -> tuple[str, ...]:
        """Release events that were dated in the future and are now due; return a warning if that fails.

        A failure does not make the call fail, because the events of the call are stored.
        """
        if options.clock is None:
            return ()
        try:
            self._connection.perform(clock.release(self._tenancy, options.clock()))
        except GraphError as error:
            return (not_released_warning(error),)
        return ()

    def _embedding_warnings(self) -> tuple[str, ...]:
        """Compute the vectors of new events; return a warning if that fails.

        A failure does not make the call fail, because the events themselves are stored.
        """
        if self._connection.terms.embedding is None:
            return ()
        try:
            self._connection.perform(embed_new(self._tenancy))
        except (EmbedderError, GraphError) as error:
            return (no_vectors_warning(error),)
        return ()

    def _in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call *function*; the asynchronous twin calls it in a thread, outside the event loop."""
        return function(*arguments)

    def _called(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call *function*; the asynchronous twin awaits what it returns.

        Raises:
            InvalidRequest: *function* is a coroutine function, which a synchronous graph cannot run.

        """
        if inspect.iscoroutinefunction(function):
            way_out = "use the session of a graph opened with hmxgraph.connect_async"
            raise InvalidRequest("function", function.__qualname__, "a function that is not asynchronous", way_out)
        return function(*args, **kwargs)


class AsyncFace:
    """The asynchronous twin of :class:`Face`; its connection exists once the graph is open."""

    _tenancy: Tenancy
    _opened: AsyncConnection | None

    @property
    def _connection(self) -> AsyncConnection:
        if self._opened is None:
            raise GraphNotOpen("open it first: async with graph, or await graph")
        return self._opened

    async def _perform(self, procedure: Procedure[T], *, whole: bool = False) -> T:
        with span_of(getattr(procedure, "__name__", "")):
            return await self._connection.perform(procedure, whole=whole)

    async def _perform_then_embed(self, procedure: Procedure[T]) -> T:
        value = await self._perform(procedure)
        for warning in await self._embedding_warnings():
            warnings.warn(warning, RuntimeWarning, stacklevel=3)
        return value

    async def _ingest(self, source: Source | AsyncIterable[Any], options: IngestOptions) -> IngestReport:
        with span_of("ingest"):
            report = await ingest_async(self._connection.transact, self._tenancy, source, options)
            return with_warnings(report, await self._clock_warnings(options) + await self._embedding_warnings())

    async def _clock_warnings(self, options: IngestOptions) -> tuple[str, ...]:
        if options.clock is None:
            return ()
        try:
            await self._connection.perform(clock.release(self._tenancy, options.clock()))
        except GraphError as error:
            return (not_released_warning(error),)
        return ()

    async def _embedding_warnings(self) -> tuple[str, ...]:
        if self._connection.terms.embedding is None:
            return ()
        try:
            await self._connection.perform(embed_new(self._tenancy))
        except (EmbedderError, GraphError) as error:
            return (no_vectors_warning(error),)
        return ()

    async def _in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        return await in_thread(function, *arguments)

    async def _called(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        return await value if isawaitable(value) else value
