"""Where a value leaves its JSON Schema, in words: the place, what was found, what would be right."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import jsonschema_rs

from hmxgraph.protocol.json_values import Steps, describe

Node: TypeAlias = Mapping[str, Any]


UNKNOWN = "additionalProperties"
_ONLY_KNOWN = "only the fields of the specification"


class Deviation(NamedTuple):
    """One point at which a value is not as its schema wants it."""

    steps: Steps
    keyword: str
    found: str
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


def _either(parts: Any) -> str:
    return " or ".join(_expectation(part) for part in parts)


def _range(node: Node) -> str:
    kind = "an integer" if node.get("type") == "integer" else "a number"
    bounds = {name: _plain(node[name]) for name in ("minimum", "maximum") if name in node}
    if len(bounds) == 2:
        return f"{kind} from {bounds['minimum']} to {bounds['maximum']}"
    return f"{kind} of at {'least' if 'minimum' in bounds else 'most'} {''.join(bounds.values())}"


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


# From the narrowest to the widest: the first keyword of a schema that stands here is what is told of it.
_WORDS: dict[str, Callable[[Any], str]] = {
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
    """What one schema error stands for: several fields, where several are missing or unknown."""
    steps = tuple(error.instance_path)
    keyword = str(error.kind.name)
    details = error.kind.as_dict()
    node = _resolve(root, error.schema_path[:-1])
    if keyword == "required":
        name = details["property"]
        yield Deviation((*steps, name), keyword, "nothing", _expectation(_property(root, node, name)))
    elif keyword == UNKNOWN:
        for name in sorted(details["unexpected"]):
            yield Deviation((*steps, name), UNKNOWN, "an unknown field", _ONLY_KNOWN)
    elif keyword == "propertyNames":
        name = details["error"].instance
        expected = _told("enum", node) if steps else _ONLY_KNOWN
        yield Deviation((*steps, name), keyword if steps else UNKNOWN, "an unknown field", expected)
    else:
        yield Deviation(steps, keyword, _measured(keyword, error.instance), _told(keyword, node))


def _measured(keyword: str, value: Any) -> str:
    return "too many elements" if keyword == "maxItems" else describe(value)


def _property(root: Node, node: Node, name: str) -> Node:
    found: Node = node.get("properties", {}).get(name, {})
    return _resolve(root, found["$ref"].removeprefix("#/").split("/")) if "$ref" in found else found


def _resolve(root: Node, path: Iterable[str | int]) -> Node:
    """The schema at *path*; a step ``$ref`` goes on at what the reference names."""
    node: Any = root
    for step in path:
        if step == "$ref":
            node = _resolve(root, node["$ref"].removeprefix("#/").split("/"))
        else:
            node = node[int(step)] if isinstance(node, list) else node[step]
    found: Node = node
    return found


def _told(keyword: str, node: Node) -> str:
    return _WORDS[keyword](node[keyword]) if keyword in _WORDS and keyword in node else _expectation(node)


def _expectation(node: Node) -> str:
    """What a schema wants, by its narrowest keyword."""
    if "minimum" in node or "maximum" in node:
        return _range(node)
    narrowest = next((keyword for keyword in _WORDS if keyword in node), None)
    return _WORDS[narrowest](node[narrowest]) if narrowest else "a value"
