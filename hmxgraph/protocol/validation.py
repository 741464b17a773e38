"""What one kind of document must be: a schema that decides its structure, clauses to cite, limits of size."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jsonschema_rs

from hmxgraph.errors import Fault
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.deviations import UNKNOWN, deviations
from hmxgraph.protocol.json_values import Steps, json_path, unsafe_integer
from hmxgraph.protocol.parsing import measured
from hmxgraph.protocol.schemas import schema

KB = 1024


@dataclass(frozen=True)
class Structure:
    """A compiled schema with the clause behind each field.

    ``clauses`` maps the dotted path of a field, without indices, to the clause that governs it and all below it; ""
    stands for the rest. ``unknown`` and ``lengths`` are the clauses against unknown fields and over-long arrays.
    ``definition`` names an entry of the schema's ``$defs`` to be used instead of the whole.
    """

    schema_name: str
    clauses: Mapping[str, str]
    unknown: str = ""
    lengths: str = ""
    definition: str = ""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema that decides."""
        whole = schema(self.schema_name)
        return {"$ref": f"#/$defs/{self.definition}", "$defs": whole["$defs"]} if self.definition else whole

    @cached_property
    def validator(self) -> jsonschema_rs.Draft202012Validator:
        """The compiled schema; formats are asserted."""
        return jsonschema_rs.Draft202012Validator(self.schema, validate_formats=True)

    def faults(self, value: Any, within: Steps = ()) -> Iterator[Fault]:
        """Every point at which *value*, found at *within*, leaves the schema."""
        for error in self.validator.iter_errors(value):
            for steps, keyword, found, expected in deviations(error, self.schema):
                yield Fault(json_path(*within, *steps), self.clause(steps, keyword), found, expected)

    def clause(self, steps: Steps, keyword: str = "") -> str:
        """The clause that governs the value at *steps*, or what the schema's *keyword* says of it."""
        special = {UNKNOWN: self.unknown, "maxItems": self.lengths}.get(keyword)
        return special or self._governing(steps)

    def _governing(self, steps: Steps) -> str:
        names = [step for step in steps if isinstance(step, str)]
        prefixes = (".".join(names[:length]) for length in range(len(names), -1, -1))
        return next(self.clauses[prefix] for prefix in prefixes if prefix in self.clauses)


@dataclass(frozen=True)
class Limits:
    """What no schema states: most bytes of canonical UTF-8, and what the printed schemas leave open.

    That is the most elements of arrays, and which fields are integers: to a schema 1e300 is one. All by top-level
    field; the field "" is the whole document.
    """

    clause: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    integers: tuple[str, ...] = ()

    def faults(self, document: Mapping[str, Any]) -> Iterator[Fault]:
        """Every limit that *document* exceeds, with the limit and the measured size."""
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
    """One kind of document: its name in messages, the field with its id, structure and limits."""

    kind: str
    id_field: str
    structure: Structure
    limits: Limits


def size_fault(value: Any, name: str, limit: int, clause: str) -> Iterator[Fault]:
    """The fault of a value whose canonical text is longer than *limit* bytes, if it is."""
    if not 0 < measured(value) <= limit and (size := len(canonical_bytes(value))) > limit:
        steps = (name,) if name else ()
        yield Fault(json_path(*steps), clause, f"{size} bytes", f"at most {limit} bytes ({limit // KB} KB)")
