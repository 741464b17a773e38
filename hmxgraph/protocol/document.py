"""The base class of all wire documents: frozen, validated against a schema and limits, serialised canonically."""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import jsonschema_rs
import orjson
from pydantic import BaseModel, ConfigDict

from hmxgraph.errors import Fault, InvalidDocument, NotFound
from hmxgraph.protocol.canonical import canonical_bytes, canonical_text
from hmxgraph.protocol.display import html_table
from hmxgraph.protocol.parsing import (
    MAX_DEPTH,
    Steps,
    canonical_size_bound,
    describe,
    has_safe_numbers,
    json_copy,
    json_faults,
    json_path,
    parse_bounded,
    unsafe_integer,
    with_short_arrays,
    without_json_faults,
)

# The JSON Schemas (2020-12) that define the structure of documents, shipped as files in ``schemas/``.

SCHEMA_NAMES = (
    "artifact",
    "artifact-content",
    "context-pack",
    "event",
    "event-content",
    "fingerprint",
    "fingerprint-envelope",
    "task-record",
    "validity-scope",
)


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema called *name*, as a fresh copy that callers may change.

    Raises:
        NotFound: there is no such schema; the error lists the names.

    >>> schema("event")["title"]
    'HMX Event'
    """
    loaded: dict[str, Any] = json.loads(schema_text(name))
    return loaded


@functools.cache
def schema_text(name: str) -> str:
    """The text of the JSON Schema called *name*, as packaged.

    Raises:
        NotFound: there is no such schema.

    """
    if name not in SCHEMA_NAMES:
        raise NotFound("schema", name, hint=f"choose one of {', '.join(SCHEMA_NAMES)}")
    return (resources.files("hmxgraph.protocol") / "schemas" / f"{name}.json").read_text(encoding="utf-8")


# Schema errors as text: the path, the actual value, the expected value.

# A JSON Schema, or a part of one.
Node: TypeAlias = Mapping[str, Any]

# The keyword that an unknown field violates.
_UNKNOWN_FIELD = "additionalProperties"
_ONLY_KNOWN = "only the fields of the specification"


class Deviation(NamedTuple):
    """One violation of a schema: the path of the value, the violated keyword, the actual and the expected value."""

    steps: Steps
    keyword: str
    actual: str
    expected: str


_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
    "array": "an array",
    "boolean": "true or false",
    "null": "null",
}


def _type(value: Any) -> str:
    return " or ".join(_TYPES[name] for name in ([value] if isinstance(value, str) else value))


def _either(schemas: Any) -> str:
    return " or ".join(_expectation(schema) for schema in schemas)


def _range(node: Node) -> str:
    kind = "an integer" if node.get("type") == "integer" else "a number"
    bounds = {name: _plain(node[name]) for name in ("minimum", "maximum") if name in node}
    if len(bounds) == 2:
        return f"{kind} from {bounds['minimum']} to {bounds['maximum']}"
    return f"{kind} of at {'least' if 'minimum' in bounds else 'most'} {''.join(bounds.values())}"


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


# For each schema keyword, a text that says which values it accepts, made from the keyword's own value. The narrowest
# keyword comes first, so that the first keyword that a schema has describes it best.
_DESCRIPTIONS: dict[str, Callable[[Any], str]] = {
    "const": describe,
    "enum": lambda choices: "one of " + ", ".join(map(str, choices)),
    "anyOf": _either,
    "format": lambda name: "an ISO 8601 date-time with an offset" if name == "date-time" else f"a {name}",
    "pattern": lambda pattern: f"a string matching {pattern}",
    "minLength": lambda least: "a non-empty string" if least == 1 else f"at least {least} characters",
    "maxItems": lambda most: f"at most {most} elements",
    "type": _type,
}


def deviations(error: jsonschema_rs.ValidationError, root: Node) -> Iterator[Deviation]:
    """The violations in one schema error, which may report several unknown fields."""
    steps = tuple(error.instance_path)
    keyword = str(error.kind.name)
    details = error.kind.as_dict()
    node = _resolve(root, error.schema_path[:-1])
    if keyword == "required":
        name = details["property"]
        yield Deviation((*steps, name), keyword, "nothing", _expectation(_property(root, node, name)))
    elif keyword == _UNKNOWN_FIELD:
        for name in sorted(details["unexpected"]):
            yield Deviation((*steps, name), _UNKNOWN_FIELD, "an unknown field", _ONLY_KNOWN)
    elif keyword == "propertyNames":
        # At the top level of a fingerprint, this keyword lists the known fields; elsewhere, the keys of a mapping.
        name = details["error"].instance
        expected = _expected_by("enum", node) if steps else _ONLY_KNOWN
        yield Deviation((*steps, name), keyword if steps else _UNKNOWN_FIELD, "an unknown field", expected)
    else:
        yield Deviation(steps, keyword, _actual_value(keyword, error.instance), _expected_by(keyword, node))


def _actual_value(keyword: str, value: Any) -> str:
    return "too many elements" if keyword == "maxItems" else describe(value)


def _property(root: Node, node: Node, name: str) -> Node:
    schema: Node = node.get("properties", {}).get(name, {})
    return _resolve(root, schema["$ref"].removeprefix("#/").split("/")) if "$ref" in schema else schema


def _resolve(root: Node, path: Iterable[str | int]) -> Node:
    """The schema at *path*; a ``$ref`` step follows the reference."""
    node: Any = root
    for step in path:
        if step == "$ref":
            node = _resolve(root, node["$ref"].removeprefix("#/").split("/"))
        else:
            node = node[int(step)] if isinstance(node, list) else node[step]
    resolved: Node = node
    return resolved


def _expected_by(keyword: str, node: Node) -> str:
    return _DESCRIPTIONS[keyword](node[keyword]) if keyword in _DESCRIPTIONS and keyword in node else _expectation(node)


def _expectation(node: Node) -> str:
    """A text that says which values a schema accepts, from its numeric bounds, else from its narrowest keyword."""
    if "minimum" in node or "maximum" in node:
        return _range(node)
    narrowest = next((keyword for keyword in _DESCRIPTIONS if keyword in node), None)
    return _DESCRIPTIONS[narrowest](node[narrowest]) if narrowest else "a value"


# The rules of one kind of document: its schema, the clauses to cite, the limits.

KB = 1024  # bytes


@dataclass(frozen=True)
class Structure:
    """A JSON Schema with the clause of the specification behind each field.

    ``clauses`` maps the dotted path of a field, without indices, to the clause on that field and the fields inside it;
    "" stands for the whole value. ``unknown`` and ``lengths`` are the clauses on unknown fields and array lengths.
    ``definition`` names an entry of the schema's ``$defs`` to use instead of the whole schema.
    """

    schema_name: str
    clauses: Mapping[str, str]
    unknown: str = ""
    lengths: str = ""
    definition: str = ""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema."""
        full = schema(self.schema_name)
        return {"$ref": f"#/$defs/{self.definition}", "$defs": full["$defs"]} if self.definition else full

    @cached_property
    def validator(self) -> jsonschema_rs.Draft202012Validator:
        """The compiled schema; formats are checked too."""
        return jsonschema_rs.Draft202012Validator(self.schema, validate_formats=True)

    def faults(self, value: Any, within: Steps = ()) -> Iterator[Fault]:
        """Every violation of the schema by *value*; *within* is the path of *value* in its document."""
        for error in self.validator.iter_errors(value):
            for steps, keyword, actual, expected in deviations(error, self.schema):
                yield Fault(json_path(*within, *steps), self.clause(steps, keyword), actual, expected)

    def clause(self, steps: Steps, keyword: str = "") -> str:
        """The clause to cite if the value at *steps* violates *keyword*.

        For an unknown field or too long an array, this is the special clause, if the specification has one; for any
        other violation, it is the clause on the field.
        """
        special = {_UNKNOWN_FIELD: self.unknown, "maxItems": self.lengths}.get(keyword)
        return special or self._clause_on(steps)

    def _clause_on(self, steps: Steps) -> str:
        """The clause on the field at *steps*, or on the nearest field around it that has one."""
        names = [step for step in steps if isinstance(step, str)]
        prefixes = (".".join(names[:length]) for length in range(len(names), -1, -1))
        return next(self.clauses[prefix] for prefix in prefixes if prefix in self.clauses)


@dataclass(frozen=True)
class Limits:
    """Limits that the schemas do not express, by top-level field; ``clause`` is the clause that sets them.

    ``sizes`` are bytes of canonical UTF-8, where "" is the whole document; ``lengths`` are array lengths. In the fields
    ``integers``, no float may exceed 2^53-1: JSON Schema alone would accept 1e300 as an integer.
    """

    clause: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    integers: tuple[str, ...] = ()

    def faults(self, document: Mapping[str, Any]) -> Iterator[Fault]:
        """A fault for every limit that *document* exceeds, with the actual value and the limit."""
        for name, limit in self.sizes.items():
            if not name or name in document:
                yield from size_fault(document[name] if name else document, name, limit, self.clause)
        for name, most in self.lengths.items():
            value = document.get(name)
            if isinstance(value, list) and len(value) > most:
                yield Fault(json_path(name), self.clause, f"{len(value)} elements", f"at most {most} elements")
        for name in self.integers:
            yield from unsafe_integer(document.get(name), (name,))


@dataclass(frozen=True)
class Specification:
    """The rules of one kind of document; ``kind`` is its name in messages, ``id_field`` the field with its id."""

    kind: str
    id_field: str
    structure: Structure
    limits: Limits


def size_fault(value: Any, name: str, limit: int, clause: str) -> Iterator[Fault]:
    """A fault if the canonical text of *value*, the field *name* or a whole document (""), exceeds *limit* bytes."""
    if not 0 < canonical_size_bound(value) <= limit and (size := len(canonical_bytes(value))) > limit:
        steps = (name,) if name else ()
        yield Fault(json_path(*steps), clause, f"{size} bytes", f"at most {limit} bytes ({limit // KB} KB)")


# Deviations of `content` from what the specifications describe for its type.
#
# A deviation becomes a warning and never rejects the document: unknown fields are legal (HMX-E 4), and the schemas of
# events and artifacts require only that `content` is an object.

# The clause on the content of each type of event and artifact.
_CLAUSES = {
    "message": "HMX-E 4.1",
    "tool_call": "HMX-E 4.2",
    "tool_result": "HMX-E 4.3",
    "decision": "HMX-E 4.4",
    "error": "HMX-E 4.5",
    "feedback": "HMX-E 4.6",
    "task_schema": "HMX-A 4.1",
    "failure_playbook": "HMX-A 4.2",
    "decision_policy": "HMX-A 4.3",
    "causal_pattern": "HMX-A 4.4",
    "strategy_template": "HMX-A 4.5",
}


def content_faults(kind: str, type_name: str, content: Any) -> tuple[Fault, ...]:
    """How the *content* of an "event" or "artifact" deviates from the specification of its type.

    Empty if the specification does not define content for this type.

    >>> [str(fault) for fault in content_faults("event", "message", {"role": "robot", "text": "hi", "mood": 1})]
    ["$.content.role: found 'robot', expected one of user, assistant, system (HMX-E 4.1)"]
    """
    structure = _structures(kind).get(type_name)
    if structure is None or structure.validator.is_valid(content):
        return ()
    return tuple(structure.faults(content, ("content",)))


@functools.cache
def _structures(kind: str) -> dict[str, Structure]:
    name = f"{kind}-content"
    return {
        type_name: Structure(name, {"": _CLAUSES[type_name]}, definition=type_name)
        for type_name in schema(name)["$defs"]
    }


# The base of all wire documents: frozen, validated as a whole, serialised canonically.

# Maximum number of listed faults of values that are not JSON. An invalid document also has only this many elements of
# each array validated, so that its list of faults stays short.
_MOST_FAULTS = 1000
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Part(BaseModel):
    """A value inside a document; unknown fields are kept, and only fields in ``NULLABLE`` may be null on the wire."""

    model_config = ConfigDict(frozen=True, extra="allow")
    NULLABLE: ClassVar[frozenset[str]] = frozenset()

    def _repr_html_(self) -> str:
        return html_table(self.model_dump(mode="json", exclude_unset=True))


class Document(BaseModel):
    """A whole wire document; the constructor and ``parse`` run the same checks, ``from_trusted`` runs none."""

    model_config = ConfigDict(frozen=True, extra="allow")
    SPECIFICATION: ClassVar[Specification]

    def __init__(self, /, **fields: Any) -> None:
        super().__init__(**self._checked(json_fields(fields)))

    @classmethod
    def parse(cls, data: bytes | bytearray | str | Mapping[str, Any]) -> Self:
        """The document in *data*: JSON text or a mapping of JSON values.

        Raises:
            MalformedJson: the text is not strict JSON.
            InvalidDocument: the document violates its specification; the error lists its `faults`.

        """
        return cls.from_trusted(cls._checked(data))

    @classmethod
    def from_trusted(cls, document: Mapping[str, Any]) -> Self:
        """The *document*, which must be known to be valid: nothing is checked, to save time on hot paths.

        Callers pass plain JSON values and keep no reference to them. Tests check that the documents that this package
        makes are valid.
        """
        instance = cls.__new__(cls)
        cls.__pydantic_validator__.validate_python(document, self_instance=instance)
        return instance

    @classmethod
    def faults(cls, value: Any) -> tuple[Fault, ...]:
        """Every fault of *value*, a document as JSON values; empty if the document would be accepted.

        At most 1,000 values that are not JSON are listed, and only the first 1,000 elements of each array are validated
        against the schema.
        """
        not_json = tuple(islice(json_faults(value), _MOST_FAULTS))
        clean = without_json_faults(value) if not_json else value
        structural = tuple(cls.SPECIFICATION.structure.faults(with_short_arrays(clean, _MOST_FAULTS)))
        further = tuple(cls._further_faults(clean, sound=not structural)) if isinstance(clean, Mapping) else ()
        reported_paths = {fault.path for fault in not_json}
        return not_json + tuple(fault for fault in structural + further if fault.path not in reported_paths)

    def document(self) -> dict[str, Any]:
        """The wire form as plain JSON values; absent fields are left out."""
        return self.model_dump(mode="json", exclude_unset=True)

    def to_json(self) -> str:
        """The canonical text (RFC 8785)."""
        return canonical_text(self.document())

    def _repr_html_(self) -> str:
        return html_table(self.document())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Deviations that are accepted although the specification advises against them."""
        return ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        return self is other or (type(self) is type(other) and self.to_json() == other.to_json())

    def __hash__(self) -> int:
        return hash(self.to_json())

    @classmethod
    def _checked(cls, data: Any) -> dict[str, Any]:
        """The JSON object in *data*, validated."""
        document, most_bytes = _read(data)
        faults: Iterable[Fault] = ()
        if not (most_bytes and has_safe_numbers(document) and cls.SPECIFICATION.structure.validator.is_valid(document)):
            faults = cls.faults(document)
        elif not cls._passes_quick_checks(document, most_bytes):
            faults = cls._further_faults(document, sound=True)
        if violations := tuple(faults):
            raise InvalidDocument(cls.SPECIFICATION.kind, cls._name(document), violations)
        valid: dict[str, Any] = document
        return valid

    @classmethod
    def _passes_quick_checks(cls, document: Mapping[str, Any], most_bytes: int) -> bool:  # noqa: ARG003 - subclasses
        """Whether cheap checks prove that *document*, which satisfies its schema, has no further faults.

        *most_bytes* is an upper bound of the canonical size of *document*. False means that the full checks must run.
        """
        return False

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        """Faults that the schema cannot express; *sound* says whether the document satisfies the schema."""
        del sound
        yield from cls.SPECIFICATION.limits.faults(document)

    @classmethod
    def _name(cls, document: Any) -> str:
        name = document.get(cls.SPECIFICATION.id_field) if isinstance(document, Mapping) else None
        return name if isinstance(name, str) else ""


def _read(data: Any) -> tuple[Any, int]:
    """The JSON value in *data*, and an upper bound of its canonical size in bytes.

    The bound is 0 if the value may have no canonical form.
    """
    if isinstance(data, bytes | bytearray | str):
        return parse_bounded(data)
    if isinstance(data, Mapping):
        if copy := json_copy(data):
            return copy[0], canonical_size_bound(copy[0])
        if not any(json_faults(data)):
            values = orjson.loads(orjson.dumps(_json_value(data)))
            return values, canonical_size_bound(values)
    return data, 0


def json_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as JSON values, without those that are None."""
    return {name: _json_value(value) for name, value in fields.items() if value is not None}


def _json_value(value: Any, depth: int = 0) -> Any:
    """*value* with each `Part` and `Document` as a JSON object; values nested too deeply are left for validation."""
    if type(value) in _SCALARS or depth > MAX_DEPTH:
        return value
    if isinstance(value, Part):
        return {name: _json_value(part, depth + 1) for name, part in _set_fields(value)}
    if isinstance(value, Document):
        return value.document()
    if isinstance(value, Mapping):
        return {name: _json_value(part, depth + 1) for name, part in value.items()}
    return [_json_value(part, depth + 1) for part in value] if isinstance(value, list | tuple) else value


def _set_fields(part: Part) -> Iterator[tuple[str, Any]]:
    """The fields that were set on *part*; None counts only if the wire allows null."""
    set_names = part.model_fields_set
    for name, value in (*part.__dict__.items(), *(part.__pydantic_extra__ or {}).items()):
        if name in set_names and (value is not None or name in part.NULLABLE):
            yield name, value
