"""HMX-E events, the observations that knowledge is derived from: their order, their outcome, and who wrote them."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias

import orjson

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import canonical_text, sha256_hex
from hmxgraph.protocol.document import KB, Document, Limits, Specification, Structure, content_faults, json_fields
from hmxgraph.protocol.parsing import canonical_size_bound
from hmxgraph.protocol.timestamps import microseconds

# The event itself.

HMX_VERSION = "HMX-1.0"
EVENT_TYPES = (
    "message",
    "tool_call",
    "tool_result",
    "file_edit",
    "test_run",
    "command_exec",
    "browser_action",
    "api_result",
    "decision",
    "error",
    "observation",
    "state_change",
    "feedback",
)
# The type of the events that state a single memory, written by `remember` and by importers of other systems' memories.
MEMORY_EVENT = "x-hmxgraph-memory"
# A type of the form x-{vendor}-{type} (HMX-E 3), such as "x-acme-deploy".
CUSTOM_TYPE = re.compile(r"x-[A-Za-z0-9_.]+-[A-Za-z0-9_.-]+")
_STANDARD_TYPES = frozenset(EVENT_TYPES)
# Maximum size in bytes of canonical JSON, by top-level field; "" is the whole event (HMX-E 11).
_MOST_BYTES = {"": 1024 * KB, "content": 512 * KB, "metadata": 64 * KB}
# Sets an attribute of a frozen event.
_set = object.__setattr__


class Event(Document):
    """One HMX-E event; fields are spelled as on the wire, absent optional ones are None.

    ``content`` and ``metadata`` are plain dicts: do not modify them.

    >>> event = Event.parse('''{"hmx_version": "HMX-1.0", "event_id": "e1", "event_type": "message", "agent_id": "a",
    ...     "tenant_id": "acme", "session_id": "s", "timestamp": "2026-03-14T03:00:00.000Z", "sequence": 0,
    ...     "content": {"role": "user", "text": "Deploy"}, "metadata": {}}''')
    >>> event.content["text"], event.time_us, event.event_hash[:8]
    ('Deploy', 1773457200000000, '2bf4602a')
    """

    SPECIFICATION: ClassVar[Specification] = Specification(
        kind="event",
        id_field="event_id",
        structure=Structure(
            "event",
            {
                "": "HMX-E 2.1",
                **dict.fromkeys(("trace_id", "correlation_id", "parent_event_id", "source"), "HMX-E 2.2"),
                "provenance_ref": "HMX-E 2.2",
                "hmx_version": "HMX-E 6.1",
                "event_id": "HMX-E 6.2",
                "timestamp": "HMX-E 6.3",
                "sequence": "HMX-E 6.4",
                "salience": "HMX-E 6.5",
                "embeddings": "HMX-E 6.6",
                "content": "HMX-E 6.7",
                "metadata": "HMX-E 6.8",
                "tags": "HMX-E 6.9",
                "ttl_seconds": "HMX-E 6.10",
            },
            unknown="HMX-E 5",
        ),
        limits=Limits(
            "HMX-E 11",
            sizes=_MOST_BYTES,
            lengths={"embeddings": 4096, "tags": 64},
            integers=("sequence", "ttl_seconds"),
        ),
    )

    hmx_version: str
    event_id: str
    event_type: str
    agent_id: str
    tenant_id: str
    session_id: str
    timestamp: str
    sequence: int
    content: dict[str, Any]
    metadata: dict[str, Any]
    trace_id: str | None = None
    correlation_id: str | None = None
    parent_event_id: str | None = None
    embeddings: tuple[float, ...] | None = None
    salience: float | None = None
    source: str | None = None
    provenance_ref: str | None = None
    tags: tuple[str, ...] | None = None
    ttl_seconds: int | None = None

    def __init__(self, /, **fields: Any) -> None:
        _fill(self, self._checked(json_fields(fields)))

    @classmethod
    def parse(cls, data: bytes | bytearray | str | Mapping[str, Any]) -> Self:
        """The event in *data*: JSON text or a mapping of JSON values.

        Raises:
            MalformedJson: the text is not strict JSON.
            InvalidDocument: the event violates HMX-E; the error lists its `faults` (HMX-E 6, 11).

        """
        event = cls.__new__(cls)
        _fill(event, cls._checked(data))
        return event

    @cached_property
    def time_us(self) -> int:
        """The instant of the event in UTC microseconds since 1970."""
        return microseconds(self.timestamp)

    @cached_property
    def event_hash(self) -> str:
        """Hex SHA-256 of the canonical event: equal events have equal hashes."""
        return sha256_hex(self.to_json().encode())

    @property
    def warnings(self) -> tuple[str, ...]:
        """An unknown type without a namespace (HMX-E 3), and content that deviates from its type's schema (HMX-E 4)."""
        kind = self.event_type
        faults = content_faults("event", kind, self.content)
        if kind not in _STANDARD_TYPES and not CUSTOM_TYPE.fullmatch(kind):
            faults = (Fault("$.event_type", "HMX-E 3", repr(kind), "a standard type or x-{vendor}-{type}"),)
        return tuple(map(str, faults))

    def document(self) -> dict[str, Any]:
        """The wire form as plain JSON values; absent fields are left out."""
        values = self.__dict__
        fields = {name: values[name] for name in _FIELDS if values[name] is not None}
        for name in ("tags", "embeddings"):
            if name in fields:
                fields[name] = list(fields[name])
        return fields

    @cached_property
    def content_json(self) -> str:
        """The canonical text of ``content``."""
        return canonical_text(self.content)

    @cached_property
    def metadata_json(self) -> str:
        """The canonical text of ``metadata``."""
        return canonical_text(self.metadata)

    def to_json(self) -> str:
        """The canonical text (RFC 8785)."""
        values = self.__dict__
        fields = {name: values[name] for name in _FIELDS if values[name] is not None}
        fields["content"] = orjson.Fragment(self.content_json)
        fields["metadata"] = orjson.Fragment(self.metadata_json)
        return canonical_text(fields)

    @classmethod
    def _passes_quick_checks(cls, document: Mapping[str, Any], most_bytes: int) -> bool:
        # What `_further_faults` checks, as cheaply as possible.
        return (
            _provably_small(document, most_bytes)
            and type(document["sequence"]) is int
            and type(document.get("ttl_seconds", 0)) is int
            and len(document.get("tags", ())) <= 64
            and document.get("parent_event_id") != document["event_id"]
            and 0 < len(document.get("embeddings", (0,))) <= 4096
        )

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        yield from super()._further_faults(document, sound=sound)
        if document.get("embeddings") == []:
            yield Fault("$.embeddings", "HMX-E 6.6", "an empty array", "a non-empty array of finite numbers")
        if sound and document.get("parent_event_id") == document.get("event_id"):
            yield Fault("$.parent_event_id", "HMX-E 2.2", "the event itself", "the id of another event")


_FIELDS = tuple(Event.model_fields)
_ABSENT: dict[str, Any] = dict.fromkeys(_FIELDS)
# Lists become tuples. In integer fields 1.0, which JSON Schema accepts, becomes 1. A salience of 1 becomes 1.0.
_CONVERTERS = {"tags": tuple, "embeddings": tuple, "salience": float, "ttl_seconds": int, "sequence": int}


def _fill(event: Event, document: dict[str, Any]) -> None:
    """Set the fields from a validated *document* directly, because pydantic would validate each of them again."""
    values = {**_ABSENT, **document}
    for name, convert in _CONVERTERS.items():
        if name in document:
            values[name] = convert(document[name])
    _set(event, "__dict__", values)
    _set(event, "__pydantic_fields_set__", set(document))
    _set(event, "__pydantic_extra__", None)
    _set(event, "__pydantic_private__", None)


def _provably_small(document: Mapping[str, Any], most_bytes: int) -> bool:
    """Whether upper bounds prove that no size limit is exceeded.

    If the whole event is within the smallest limit, that of ``metadata``, no part needs to be checked.
    """
    if most_bytes <= _MOST_BYTES["metadata"]:
        return True
    has_small_parts = all(
        0 < canonical_size_bound(document[name]) <= _MOST_BYTES[name] for name in ("content", "metadata")
    )
    return has_small_parts and most_bytes <= _MOST_BYTES[""]


# The total order of a session's events (HMX-E 7).

Position: TypeAlias = tuple[int, int, str]


class _HasPosition(Protocol):
    @property
    def sequence(self) -> int: ...
    @property
    def time_us(self) -> int: ...
    @property
    def event_id(self) -> str: ...


def position(event: Event | _HasPosition) -> Position:
    """The position of *event* in its session: sequence, then time, then id, so that no two events share one."""
    return event.sequence, event.time_us, event.event_id


# The outcome of a reported action, if the event states it (HMX-E 4.3, 4.5).

# Fields that mark a failed call: MCP uses "isError", the APIs of chat models "is_error".
_ERROR_FLAGS = ("isError", "is_error")
# Event types that report an action together with its result (HMX-E 3).
WORK = frozenset({"command_exec", "file_edit", "test_run", "browser_action", "api_result"})
# Fields with the exit code of a process; 0 means success.
EXIT_CODE_FIELDS: tuple[str, ...] = (
    "exit_code",
    "exit_status",
    "returncode",
    "return_code",
    "exitCode",
    "exitStatus",
    "returnCode",
)
# Fields with an HTTP status code.
HTTP_STATUS_FIELDS: tuple[str, ...] = ("status_code", "statusCode", "http_status", "status")
_FIRST_HTTP_ERROR = 400
# Values of the field ``status`` that mean a success, a failure, or the end of the work with either outcome.
_GOOD = frozenset({"passed", "pass", "ok", "success", "succeeded", "successful"})
_BAD = frozenset({"failed", "fail", "failure", "error", "errored", "timeout", "timed_out", "aborted", "crashed"})
_ENDED = frozenset({"completed", "complete", "finished", "done", "ended", "exited"})
# Fields in which test runners count or list failures.
_FAILURE_COUNTS = ("failed", "failures", "errors")
_Content = Mapping[str, Any]


def went_well(event_type: str, content: Mapping[str, Any]) -> bool | None:
    """Whether the reported action succeeded; None if the event does not say or reports no action.

    HMX-E 4.3 requires ``success`` in a tool result. If it is missing, other fields decide: flags, exit codes, HTTP
    status codes and errors, at the top level of the content or inside its ``result`` or ``response``. A textual
    ``status`` counts only at the top level: inside, it may be the status of an item that was looked up. Commands,
    edits, tests, browser actions and API results, for which HMX-E defines no fields, are read the same way.

    >>> went_well("tool_result", {"tool_name": "bash", "result": {"exit_code": 2}})
    False
    >>> went_well("test_run", {"command": "pytest", "passed": 12, "failed": 0})
    True
    >>> went_well("message", {"role": "user", "text": "it failed"}) is None
    True

    """
    match event_type:
        case "error":
            return False
        case "tool_result":
            return _result_went_well(content)
        case "test_run":
            return _test_went_well(content)
        case _:
            return _work_went_well(content) if event_type in WORK else None


def _result_went_well(content: _Content) -> bool | None:
    if isinstance(content.get("success"), bool):
        return bool(content["success"])
    inner = content.get("result")
    success = _success_field(inner) if isinstance(inner, Mapping) else None
    return _work_went_well(content) if success is None else success


def _test_went_well(content: _Content) -> bool | None:
    """Whether the tests passed. One sign of failure is enough: a runner that crashed may report zero failed tests."""
    failures = [content[name] for name in _FAILURE_COUNTS if isinstance(content.get(name), int | list)]
    passed = content["passed"] if isinstance(content.get("passed"), bool) else None
    verdicts = [not any(failures) if failures else None, passed, _work_went_well(content)]
    return False if False in verdicts else True if True in verdicts else None


def _work_went_well(content: _Content) -> bool | None:
    """Whether the work succeeded; None if that is unknown.

    The first of these decides: fields such as ``success`` or an exit code, the textual ``status``, a nested response
    or result. If the status says success but the nested part reports a failure, the work failed. If the status only
    says that the work has ended, the nested part decides. With any other status, the outcome is unknown.
    """
    if (success := _success_field(content)) is not None:
        return success
    parts = (content[name] for name in ("response", "result") if isinstance(content.get(name), Mapping))
    inner = next((success for part in parts if (success := _success_field(part)) is not None), None)
    if isinstance(content.get("status"), str):
        state = content["status"].strip().lower().replace(" ", "_").replace("-", "_")
        if state in _ENDED:
            return inner
        return False if state in _BAD or (state in _GOOD and inner is False) else True if state in _GOOD else None
    return inner


def _success_field(content: _Content) -> bool | None:
    """Whether *content* reports success: the first flag, exit code, HTTP status code or error that it has decides."""
    for field in ("success", "ok"):
        if isinstance(content.get(field), bool):
            return bool(content[field])
    for field in _ERROR_FLAGS:
        if isinstance(content.get(field), bool):
            return not content[field]
    if True in (content.get("timed_out"), content.get("timedOut")):
        return False
    for field in EXIT_CODE_FIELDS:
        if type(content.get(field)) is int:
            return bool(content[field] == 0)
    for field in HTTP_STATUS_FIELDS:
        if type(content.get(field)) is int:
            return bool(content[field] < _FIRST_HTTP_ERROR)
    return False if content.get("error") else None


# Who really wrote the text of an event: ``metadata.origin``, set by importers and read by the trust rules.
#
# The role of a message does not always tell who wrote it. Programs around a model write many messages in the user role:
# reminders, hook output, summaries, instructions for sub-agents. Such a message is evidence of what happened, but never
# states a rule, preference or fact of a user.

# The field of the metadata, and its values.
ORIGIN: Final = "origin"

USER: Final = "user"
"""Typed by a person."""
OPERATOR: Final = "operator"
"""The system or developer prompt of whoever runs the agent."""
ASSISTANT: Final = "assistant"
"""Written by the model."""
AGENT: Final = "agent"
"""Written by another agent in the user role, such as the instructions of a sub-agent."""
TOOL: Final = "tool"
"""Returned by a tool."""
HARNESS: Final = "harness"
"""Written by the program that runs the agent: reminders, hook output, command wrappers, compaction summaries."""
IMPORT: Final = "import"
"""Knowledge imported from another memory system, without that system's evidence."""

ORIGINS: Final = (USER, OPERATOR, ASSISTANT, AGENT, TOOL, HARNESS, IMPORT)
# Text of these origins never becomes a policy or a preference, whatever its role.
UNHEARD: Final = frozenset({ASSISTANT, AGENT, TOOL, HARNESS})


def origin_of(metadata: Mapping[str, Any]) -> str | None:
    """The origin that *metadata* names; None if it names no known origin.

    >>> origin_of({"origin": "harness"}), origin_of({"origin": "slack"}), origin_of({})
    ('harness', None, None)
    """
    origin = metadata.get(ORIGIN)
    return origin if isinstance(origin, str) and origin in ORIGINS else None


def speaks_for_user(metadata: Mapping[str, Any]) -> bool:
    """Whether an event with this *metadata* may state rules and preferences, according to its origin.

    >>> speaks_for_user({}), speaks_for_user({"origin": "user"}), speaks_for_user({"origin": "harness"})
    (True, True, False)
    """
    return origin_of(metadata) not in UNHEARD
