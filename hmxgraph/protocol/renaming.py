"""snake_case of the wire to camelCase of the internal types and back, led by a schema.

Only names that the schema lists are renamed: keys of a map (tool names, sections) and unknown fields are data. An
unknown field that looks like a renamed one gets one more underscore, so that every value comes back as it was.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

Node: TypeAlias = Mapping[str, Any]


def camel(name: str) -> str:
    """The name as the internal types spell it.

    >>> camel("source_memory_ids")
    'sourceMemoryIds'
    """
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def to_camel(value: Any, schema: Node) -> Any:
    """*value*, described by *schema*, with its field names in camelCase.

    >>> schema = {"properties": {"tool_use": {"additionalProperties": {"type": "integer"}}}}
    >>> to_camel({"tool_use": {"my_tool": 1}}, schema)
    {'toolUse': {'my_tool': 1}}
    """
    return _renamed(value, schema, schema, back=False)


def to_snake(value: Any, schema: Node) -> Any:
    """The same backwards.

    >>> to_snake({"toolUse": {"my_tool": 1}}, {"properties": {"tool_use": {}}})
    {'tool_use': {'my_tool': 1}}
    """
    return _renamed(value, schema, schema, back=True)


def _renamed(value: Any, node: Node, root: Node, *, back: bool) -> Any:
    if "$ref" in node:
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
    if isinstance(value, list):
        return [_renamed(part, node.get("items", {}), root, back=back) for part in value]
    if not isinstance(value, dict):
        return value
    names: Node = node.get("properties", {})
    others = node.get("additionalProperties")
    rest: Node = others if isinstance(others, dict) else {}
    renamed = {}
    for key, part in value.items():
        name = _back(key, names) if back else _forth(key, names)
        renamed[name] = _renamed(part, names.get(name if back else key, rest), root, back=back)
    return renamed


def _forth(key: str, names: Node) -> str:
    if key in names:
        return camel(key)
    return f"{key}_" if key.rstrip("_") in map(camel, names) else key


def _back(key: str, names: Node) -> str:
    spelled = {camel(name): name for name in names}
    if key in spelled:
        return spelled[key]
    return key.removesuffix("_") if key.rstrip("_") in spelled else key
