"""HMX-E events: the atomic observations that everything else is made of."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import orjson

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import canonical_text, sha256_hex
from hmxgraph.protocol.contents import content_faults
from hmxgraph.protocol.document import Document, given
from hmxgraph.protocol.parsing import measured
from hmxgraph.protocol.timestamps import microseconds
from hmxgraph.protocol.validation import KB, Limits, Specification, Structure

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
CUSTOM_TYPE = re.compile(r"x-[A-Za-z0-9_.]+-[A-Za-z0-9_.-]+")
_STANDARD = frozenset(EVENT_TYPES)
_SIZES = {"": 1024 * KB, "content": 512 * KB, "metadata": 64 * KB}
_set = object.__setattr__


class Event(Document):
    """One HMX-E event; fields are the wire's, optional ones None when absent.

    ``content`` and ``metadata`` are plain dicts: read them, do not change them.

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
            sizes=_SIZES,
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
        _fill(self, self._checked(given(fields)))

    @classmethod
    def parse(cls, data: bytes | bytearray | str | Mapping[str, Any]) -> Self:
        """The event in *data*: JSON text or a mapping of JSON values.

        Raises: MalformedJson for text that is no strict JSON; InvalidDocument with every fault at once (HMX-E 6, 11).
        """
        made = cls.__new__(cls)
        _fill(made, cls._checked(data))
        return made

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
        """An unknown type that is not namespaced (HMX-E 3), content unlike its type's (HMX-E 4)."""
        kind = self.event_type
        wrong = content_faults("event", kind, self.content)
        if kind not in _STANDARD and not CUSTOM_TYPE.fullmatch(kind):
            wrong = (Fault("$.event_type", "HMX-E 3", repr(kind), "a standard type or x-{vendor}-{type}"),)
        return tuple(map(str, wrong))

    def document(self) -> dict[str, Any]:
        """The wire form as plain JSON values; absent fields are left out."""
        values = self.__dict__
        found = {name: values[name] for name in _FIELDS if values[name] is not None}
        for name in ("tags", "embeddings"):
            if name in found:
                found[name] = list(found[name])
        return found

    @cached_property
    def content_json(self) -> str:
        """The canonical text of the content alone."""
        return canonical_text(self.content)

    @cached_property
    def metadata_json(self) -> str:
        """The canonical text of the metadata alone."""
        return canonical_text(self.metadata)

    def to_json(self) -> str:
        """The canonical text (RFC 8785)."""
        values = self.__dict__
        found = {name: values[name] for name in _FIELDS if values[name] is not None}
        found["content"] = orjson.Fragment(self.content_json)
        found["metadata"] = orjson.Fragment(self.metadata_json)
        return canonical_text(found)

    @classmethod
    def _surely_within(cls, document: Mapping[str, Any], most_bytes: int) -> bool:
        return (
            _surely_small(document, most_bytes)
            and type(document["sequence"]) is int
            and type(document.get("ttl_seconds", 0)) is int
            and len(document.get("tags", ())) <= 64
            and 0 < len(document.get("embeddings", (0,))) <= 4096
        )

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        yield from super()._further_faults(document, sound=sound)
        if document.get("embeddings") == []:
            yield Fault("$.embeddings", "HMX-E 6.6", "an empty array", "a non-empty array of finite numbers")


_FIELDS = tuple(Event.model_fields)
_ABSENT: dict[str, Any] = dict.fromkeys(_FIELDS)
# Lists become tuples, 1.0 the integer that it is to a schema.
_MADE = {"tags": tuple, "embeddings": tuple, "salience": float, "ttl_seconds": int, "sequence": int}


def _fill(event: Event, document: dict[str, Any]) -> None:
    """Take over the fields of a checked document; pydantic would look at each of them once more."""
    values = {**_ABSENT, **document}
    for name, make in _MADE.items():
        if name in document:
            values[name] = make(document[name])
    _set(event, "__dict__", values)
    _set(event, "__pydantic_fields_set__", set(document))
    _set(event, "__pydantic_extra__", None)
    _set(event, "__pydantic_private__", None)


def _surely_small(document: Mapping[str, Any], most_bytes: int) -> bool:
    if most_bytes <= _SIZES["metadata"]:
        return True
    parts = all(0 < measured(document[name]) <= _SIZES[name] for name in ("content", "metadata"))
    return parts and most_bytes <= _SIZES[""]
