"""Convert HMX documents to the internal types that the specifications define, and back.

The types are EpisodeTrace (HMX-E 10), CompiledArtifact (HMX-A 11), ContextPack with AssemblyResult (HMX-C 9) and
MemoryFingerprint (HMX-F 2).
"""

from collections.abc import Mapping
from typing import Any

from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.document import Node, schema
from hmxgraph.protocol.events import HMX_VERSION, Event
from hmxgraph.protocol.fingerprints import Fingerprint
from hmxgraph.protocol.packs import ContextPack

# Field names: snake_case on the wire, camelCase in the internal types.
#
# Only names that the schema lists are converted: keys of a map (tool names, sections) and unknown fields are data. An
# unknown field that already has the camelCase name of a listed one gets an underscore at its end, so that every
# document round-trips: with the field tool_use in the schema, an unknown toolUse becomes toolUse_.


def camel(name: str) -> str:
    """*name* in camelCase.

    >>> camel("source_memory_ids")
    'sourceMemoryIds'
    """
    first, *words = name.split("_")
    return first + "".join(word.capitalize() for word in words)


def to_camel(value: Any, schema: Node) -> Any:
    """*value*, described by *schema*, with its field names in camelCase.

    >>> schema = {"properties": {"tool_use": {"additionalProperties": {"type": "integer"}}}}
    >>> to_camel({"tool_use": {"my_tool": 1}}, schema)
    {'toolUse': {'my_tool': 1}}
    """
    return _converted(value, schema, schema, to_wire=False)


def to_snake(value: Any, schema: Node) -> Any:
    """*value*, described by *schema*, with its field names in snake_case.

    >>> to_snake({"toolUse": {"my_tool": 1}}, {"properties": {"tool_use": {}}})
    {'tool_use': {'my_tool': 1}}
    """
    return _converted(value, schema, schema, to_wire=True)


def _converted(value: Any, node: Node, root: Node, *, to_wire: bool) -> Any:
    """*value*, described by the part *node* of the schema *root*, with its field names in the other spelling."""
    if "$ref" in node:
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
    if isinstance(value, list):
        return [_converted(part, node.get("items", {}), root, to_wire=to_wire) for part in value]
    if not isinstance(value, dict):
        return value
    names: Node = node.get("properties", {})
    additional = node.get("additionalProperties")
    other_values: Node = additional if isinstance(additional, dict) else {}
    converted = {}
    for key, part in value.items():
        name = _snake_key(key, names) if to_wire else _camel_key(key, names)
        part_node = names.get(name if to_wire else key, other_values)
        converted[name] = _converted(part, part_node, root, to_wire=to_wire)
    return converted


def _camel_key(key: str, names: Node) -> str:
    if key in names:
        return camel(key)
    return f"{key}_" if key.rstrip("_") in map(camel, names) else key


def _snake_key(key: str, names: Node) -> str:
    snake_names = {camel(name): name for name in names}
    if key in snake_names:
        return snake_names[key]
    return key.removesuffix("_") if key.rstrip("_") in snake_names else key


# The conversions.
#
# Fields that the internal type lacks are kept in its metadata under ``hmx.fields``, so that every document round-trips.
# Metadata that already uses a name needed for this, such as ``hmx`` itself, is kept under ``hmx.hidden``. An internal
# value that never was an HMX document lacks some fields of HMX: pass them as keyword arguments.

# The name that each field of HMX has in the internal type.
_TRACE_FIELDS = {
    "event_id": "id",
    "event_type": "eventType",
    "session_id": "sessionId",
    "timestamp": "timestamp",
    "content": "payload",
    "salience": "salienceScore",
    "source": "source",
    "provenance_ref": "provenanceRef",
}
# Fields of an event that an EpisodeTrace has in its metadata, under these names.
_IN_METADATA = {"agent_id": "agentId", "tenant_id": "tenantId"}
# As `_TRACE_FIELDS`, for a CompiledArtifact.
_COMPILED_FIELDS = {
    "artifact_id": "id",
    "artifact_type": "type",
    "title": "title",
    "summary": "summary",
    "confidence": "confidence",
    "status": "status",
    "source_events": "evidenceRefs",
    "source_memory_ids": "sourceMemoryIds",
    "superseded_by": "supersededBy",
    "tags": "tags",
}
# As `_TRACE_FIELDS`, for a ContextPack; the fields of HMX are already in camelCase.
_PACK_FIELDS = {"packId": "id", "queryContext": "queryContext", "createdAt": "createdAt"}


def episode_trace(event: Event) -> dict[str, Any]:
    """The EpisodeTrace of *event* (HMX-E 10).

    >>> event = Event(hmx_version="HMX-1.0", event_id="e1", event_type="message", agent_id="a", tenant_id="acme",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=0, content={"text": "hi"}, metadata={"n": 1})
    >>> episode_trace(event)["metadata"]
    {'n': 1, 'agentId': 'a', 'tenantId': 'acme', 'hmx': {'fields': {'hmx_version': 'HMX-1.0', 'sequence': 0}}}
    """
    document = event.document()
    trace = {name: document.pop(field) for field, name in _TRACE_FIELDS.items() if field in document}
    named = {name: document.pop(field) for field, name in _IN_METADATA.items()}
    return {**trace, "metadata": _packed(document.pop("metadata"), named, document)}


def event_of_trace(trace: Mapping[str, Any], **defaults: Any) -> Event:
    """The event in *trace*; *defaults* supply fields that an EpisodeTrace lacks, such as ``agent_id`` and ``sequence``.

    Raises:
        InvalidDocument: a required field is still missing, or the event violates HMX-E.

    >>> trace = {"id": "e1", "eventType": "message", "sessionId": "s", "timestamp": "2026-03-14T03:00:00Z",
    ...     "payload": {"role": "user", "text": "hi"}, "metadata": {"agentId": "a"}}
    >>> event = event_of_trace(trace, tenant_id="acme", sequence=0)
    >>> event.agent_id, event.metadata
    ('a', {})
    """
    fields = {field: trace[name] for field, name in _TRACE_FIELDS.items() if name in trace}
    metadata, named, extra = _unpacked(trace.get("metadata", {}), tuple(_IN_METADATA.values()))
    for field, name in _IN_METADATA.items():
        if name in named:
            fields[field] = named[name]
    return Event.parse({"hmx_version": HMX_VERSION, **defaults, **fields, **extra, "metadata": metadata})


def compiled_artifact(artifact: Artifact) -> dict[str, Any]:
    """The CompiledArtifact of *artifact* (HMX-A 11).

    The fields of its content are at the top level. If one of them has the name of another top-level field, the whole
    content is kept in the metadata instead.
    """
    document = artifact.document()
    compiled = {name: document.pop(field) for field, name in _COMPILED_FIELDS.items() if field in document}
    content, metadata = document.pop("content"), document.pop("metadata")
    flat = to_camel(content, _content_schema(artifact.artifact_type))
    if not flat.keys().isdisjoint({*_COMPILED_FIELDS.values(), "metadata"}):
        flat, document["content"] = {}, content
    return {**flat, **compiled, "metadata": _packed(metadata, {}, document)}


def artifact_of_compiled(compiled: Mapping[str, Any], **defaults: Any) -> Artifact:
    """The artifact in *compiled*; *defaults* supply fields that a CompiledArtifact lacks, such as ``created_at``.

    Raises:
        InvalidDocument: a required field is still missing, or the artifact violates HMX-A.

    >>> compiled = {"id": "c1", "type": "causal_pattern", "title": "Leak", "summary": "", "cause": "endless cache",
    ...     "effect": "restarts", "confidence": 0.5, "status": "draft", "evidenceRefs": [], "sourceMemoryIds": []}
    >>> artifact_of_compiled(compiled, created_at="2026-03-14T03:00:00Z").content
    {'cause': 'endless cache', 'effect': 'restarts'}
    """
    names = set(_COMPILED_FIELDS.values()) | {"metadata"}
    fields = {field: compiled[name] for field, name in _COMPILED_FIELDS.items() if name in compiled}
    metadata, _, extra = _unpacked(compiled.get("metadata", {}), ())
    flat = {name: value for name, value in compiled.items() if name not in names}
    content = to_snake(flat, _content_schema(str(compiled.get("type", ""))))
    document = {"hmx_version": HMX_VERSION, "version": 1, **defaults, **fields, "content": content, **extra}
    return Artifact.parse({"content_hash": content_hash(document["content"]), **document, "metadata": metadata})


def internal_pack(pack: ContextPack) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ContextPack and the AssemblyResult of *pack* (HMX-C 9)."""
    camel_fields = to_camel(pack.document(), schema("context-pack"))
    fields = {name: camel_fields.pop(camel_field) for camel_field, name in _PACK_FIELDS.items()}
    internal = {**fields, "entries": camel_fields.pop("entries"), "tokenBudget": camel_fields.pop("tokenBudget")}
    assembly = {"assemblyMetadata": camel_fields.pop("assemblyMetadata")}
    if "droppedEntries" in camel_fields:
        assembly["droppedItems"] = camel_fields.pop("droppedEntries")
    return {**internal, "metadata": _packed(camel_fields.pop("metadata"), {}, camel_fields)}, assembly


def pack_of_internal(internal: Mapping[str, Any], assembly: Mapping[str, Any], **defaults: Any) -> ContextPack:
    """The pack made of a ContextPack and its AssemblyResult; *defaults* supply fields that they lack.

    Raises:
        InvalidDocument: a required field is still missing, or the pack violates HMX-C.

    """
    metadata, _, extra = _unpacked(internal.get("metadata", {}), ())
    camel_fields = {field: internal[name] for field, name in _PACK_FIELDS.items() if name in internal}
    camel_fields |= {name: internal[name] for name in ("entries", "tokenBudget") if name in internal}
    camel_fields |= {"assemblyMetadata": assembly.get("assemblyMetadata")}
    if "droppedItems" in assembly:
        camel_fields["droppedEntries"] = assembly["droppedItems"]
    document = to_snake({**camel_fields, **extra}, schema("context-pack"))
    return ContextPack.parse({"hmx_version": HMX_VERSION, **defaults, **document, "metadata": metadata})


def memory_fingerprint(fingerprint: Fingerprint) -> dict[str, Any]:
    """The MemoryFingerprint of *fingerprint*: the same fields in camelCase (HMX-F 2)."""
    fields: dict[str, Any] = to_camel(fingerprint.document(), schema("fingerprint"))
    return fields


def fingerprint_of_memory(memory: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint in a MemoryFingerprint.

    Raises:
        InvalidDocument: it is incomplete or invalid.

    """
    return Fingerprint.parse(to_snake(dict(memory), schema("fingerprint")))


def _packed(metadata: dict[str, Any], named: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """*metadata* plus the *named* fields under their own names, and the *extra* fields under ``hmx.fields``.

    Metadata that these names replace is kept under ``hmx.hidden``.
    """
    hidden = {name: metadata[name] for name in ("hmx", *named) if name in metadata}
    hmx = {"fields": extra, "hidden": hidden} if hidden else {"fields": extra}
    return {**metadata, **named, "hmx": hmx}


def _unpacked(metadata: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The arguments from which :func:`_packed` made *metadata*; *names* are those of its ``named`` fields."""
    if not isinstance(metadata, Mapping):
        return metadata, {}, {}
    fields = {name: metadata[name] for name in names if name in metadata}
    hmx = metadata.get("hmx")
    if not isinstance(hmx, Mapping) or not isinstance(hmx.get("fields"), Mapping):
        return {name: value for name, value in metadata.items() if name not in fields}, fields, {}
    visible = {name: value for name, value in metadata.items() if name not in fields and name != "hmx"}
    return {**visible, **hmx.get("hidden", {})}, fields, dict(hmx["fields"])


def _content_schema(artifact_type: str) -> dict[str, Any]:
    definition: dict[str, Any] = schema("artifact-content")["$defs"].get(artifact_type, {})
    return definition
