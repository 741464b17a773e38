"""The base of all wire documents: frozen, checked whole, written canonically."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, Self

import orjson
from pydantic import BaseModel, ConfigDict

from hmxgraph.errors import Fault, InvalidDocument
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.json_values import copied, offences, safe_numbers, shortened, without_offences
from hmxgraph.protocol.parsing import MAX_DEPTH, measured, parse_measured
from hmxgraph.protocol.showing import shown
from hmxgraph.protocol.validation import Specification

_MOST_FAULTS = 1000
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Part(BaseModel):
    """A value inside a document; fields that it does not know are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")
    NULLABLE: ClassVar[frozenset[str]] = frozenset()

    def _repr_html_(self) -> str:
        return shown(self.model_dump(mode="json", exclude_unset=True))


class Document(BaseModel):
    """A whole wire document. It cannot be made wrong: constructor and ``parse`` refuse alike."""

    model_config = ConfigDict(frozen=True, extra="allow")
    SPECIFICATION: ClassVar[Specification]

    def __init__(self, /, **fields: Any) -> None:
        super().__init__(**self._checked(given(fields)))

    @classmethod
    def parse(cls, data: bytes | bytearray | str | Mapping[str, Any]) -> Self:
        """The document in *data*: JSON text or a mapping of JSON values.

        Raises: MalformedJson for text that is no strict JSON; InvalidDocument with every fault at once.
        """
        return cls.of_own_making(cls._checked(data))

    @classmethod
    def of_own_making(cls, document: Mapping[str, Any]) -> Self:
        """A document that this package has just made, unchecked: for where it is made so often that checks would tell.

        The caller gives plain JSON values, keeps no hold on them, and has a test that they are sound.
        """
        made = cls.__new__(cls)
        cls.__pydantic_validator__.validate_python(document, self_instance=made)
        return made

    @classmethod
    def faults(cls, value: Any) -> tuple[Fault, ...]:
        """Everything wrong with *value*, up to 1,000 faults of a kind; nothing if it would be accepted."""
        found = tuple(islice(offences(value), _MOST_FAULTS))
        clean = without_offences(value) if found else value
        structural = tuple(cls.SPECIFICATION.structure.faults(shortened(clean, _MOST_FAULTS)))
        further = tuple(cls._further_faults(clean, sound=not structural)) if isinstance(clean, Mapping) else ()
        seen = {fault.path for fault in found}
        return found + tuple(fault for fault in structural + further if fault.path not in seen)

    def document(self) -> dict[str, Any]:
        """The wire form as plain JSON values; absent fields are left out."""
        return self.model_dump(mode="json", exclude_unset=True)

    def to_json(self) -> str:
        """The canonical text (RFC 8785)."""
        return canonical_text(self.document())

    def _repr_html_(self) -> str:
        return shown(self.document())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is accepted but not as the specification recommends."""
        return ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        return self is other or (type(self) is type(other) and self.to_json() == other.to_json())

    def __hash__(self) -> int:
        return hash(self.to_json())

    @classmethod
    def _checked(cls, data: Any) -> dict[str, Any]:
        """The JSON object in *data*, if it is sound."""
        document, most_bytes = _read(data)
        faults: Iterable[Fault] = ()
        if not (most_bytes and safe_numbers(document) and cls.SPECIFICATION.structure.validator.is_valid(document)):
            faults = cls.faults(document)
        elif not cls._surely_within(document, most_bytes):
            faults = cls._further_faults(document, sound=True)
        if told := tuple(faults):
            raise InvalidDocument(cls.SPECIFICATION.kind, cls._name(document), told)
        found: dict[str, Any] = document
        return found

    @classmethod
    def _surely_within(cls, document: Mapping[str, Any], most_bytes: int) -> bool:  # noqa: ARG003 - for short cuts
        """Whether a quick look at a document of the right structure proves that there are no further faults.

        Its canonical text has at most *most_bytes*.
        """
        return False

    @classmethod
    def _further_faults(cls, document: Mapping[str, Any], *, sound: bool) -> Iterator[Fault]:
        """Faults beyond the schema; *sound* tells whether the structure is right."""
        del sound
        yield from cls.SPECIFICATION.limits.faults(document)

    @classmethod
    def _name(cls, document: Any) -> str:
        found = document.get(cls.SPECIFICATION.id_field) if isinstance(document, Mapping) else None
        return found if isinstance(found, str) else ""


def _read(data: Any) -> tuple[Any, int]:
    """The JSON value in *data* and the most bytes that its canonical text can have, 0 where it has none."""
    if isinstance(data, bytes | bytearray | str):
        return parse_measured(data)
    if isinstance(data, Mapping):
        if copy := copied(data):
            return copy[0], measured(copy[0])
        if not any(offences(data)):
            plain = orjson.loads(orjson.dumps(_plain(data)))
            return plain, measured(plain)
    return data, 0


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as JSON values; those that are None are absent."""
    return {name: _plain(value) for name, value in fields.items() if value is not None}


def _plain(value: Any, depth: int = 0) -> Any:
    """*value* with parts as objects; what lies too deep is left to be refused."""
    if type(value) in _SCALARS or depth > MAX_DEPTH:
        return value
    if isinstance(value, Part):
        return {name: _plain(part, depth + 1) for name, part in _set_fields(value)}
    if isinstance(value, Document):
        return value.document()
    if isinstance(value, Mapping):
        return {name: _plain(part, depth + 1) for name, part in value.items()}
    return [_plain(part, depth + 1) for part in value] if isinstance(value, list | tuple) else value


def _set_fields(part: Part) -> Iterator[tuple[str, Any]]:
    """What was given to the part; None counts only where null is a value."""
    given_names = part.model_fields_set
    for name, value in (*part.__dict__.items(), *(part.__pydantic_extra__ or {}).items()):
        if name in given_names and (value is not None or name in part.NULLABLE):
            yield name, value
