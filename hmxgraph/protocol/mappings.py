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

# snake_case of the wire to camelCase of the internal types and back, guided by a schema.
#
# Only names that the schema lists are renamed: keys of a map (tool names, sections) and unknown fields are data. An
# unknown field that collides with a renamed one gets an extra underscore, so that every value round-trips.


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
    return _renamed(value, schema, schema, back=False)


def to_snake(value: Any, schema: Node) -> Any:
    """*value*, described by *schema*, with its field names in snake_case.

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
    additional = node.get("additionalProperties")
    further: Node = additional if isinstance(additional, dict) else {}
    renamed = {}
    for key, part in value.items():
        name = _snake_key(key, names) if back else _camel_key(key, names)
        renamed[name] = _renamed(part, names.get(name if back else key, further), root, back=back)
    return renamed


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
# Fields that the internal type lacks are kept in its metadata under ``hmx.fields``, so that every document round-trips;
# metadata whose names are then taken, such as ``hmx``, are kept under ``hmx.hidden``. Internal values that never were
# HMX documents need their missing fields as keyword arguments.

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
# Fields of an event that an EpisodeTrace keeps in its metadata.
_PROMOTED = {"agent_id": "agentId", "tenant_id": "tenantId"}
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
    promoted = {name: document.pop(field) for field, name in _PROMOTED.items()}
    return {**trace, "metadata": _packed(document.pop("metadata"), promoted, document)}


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
    metadata, promoted, extra = _unpacked(trace.get("metadata", {}), tuple(_PROMOTED.values()))
    for field, name in _PROMOTED.items():
        if name in promoted:
            fields[field] = promoted[name]
    return Event.parse({"hmx_version": HMX_VERSION, **defaults, **fields, **extra, "metadata": metadata})


def compiled_artifact(artifact: Artifact) -> dict[str, Any]:
    """The CompiledArtifact of *artifact* (HMX-A 11).

    The fields of its content are at the top level. If one of them collides with another field, the whole content is
    kept in the metadata instead.
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
    renamed = to_camel(pack.document(), schema("context-pack"))
    fields = {name: renamed.pop(camel_field) for camel_field, name in _PACK_FIELDS.items()}
    internal = {**fields, "entries": renamed.pop("entries"), "tokenBudget": renamed.pop("tokenBudget")}
    assembly = {"assemblyMetadata": renamed.pop("assemblyMetadata")}
    if "droppedEntries" in renamed:
        assembly["droppedItems"] = renamed.pop("droppedEntries")
    return {**internal, "metadata": _packed(renamed.pop("metadata"), {}, renamed)}, assembly


def pack_of_internal(internal: Mapping[str, Any], assembly: Mapping[str, Any], **defaults: Any) -> ContextPack:
    """The pack made of a ContextPack and its AssemblyResult; *defaults* supply fields that they lack.

    Raises:
        InvalidDocument: a required field is still missing, or the pack violates HMX-C.

    """
    metadata, _, extra = _unpacked(internal.get("metadata", {}), ())
    renamed = {field: internal[name] for field, name in _PACK_FIELDS.items() if name in internal}
    renamed |= {name: internal[name] for name in ("entries", "tokenBudget") if name in internal}
    renamed |= {"assemblyMetadata": assembly.get("assemblyMetadata")}
    if "droppedItems" in assembly:
        renamed["droppedEntries"] = assembly["droppedItems"]
    document = to_snake({**renamed, **extra}, schema("context-pack"))
    return ContextPack.parse({"hmx_version": HMX_VERSION, **defaults, **document, "metadata": metadata})


def memory_fingerprint(fingerprint: Fingerprint) -> dict[str, Any]:
    """The MemoryFingerprint of *fingerprint*: the same fields in camelCase (HMX-F 2)."""
    renamed: dict[str, Any] = to_camel(fingerprint.document(), schema("fingerprint"))
    return renamed


def fingerprint_of_memory(memory: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint in a MemoryFingerprint.

    Raises:
        InvalidDocument: it is incomplete or invalid.

    """
    return Fingerprint.parse(to_snake(dict(memory), schema("fingerprint")))


def _packed(metadata: dict[str, Any], promoted: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """*metadata* with the *promoted* fields, and the *extra* ones and hidden metadata under ``hmx``."""
    hidden = {name: metadata[name] for name in ("hmx", *promoted) if name in metadata}
    hmx = {"fields": extra, "hidden": hidden} if hidden else {"fields": extra}
    return {**metadata, **promoted, "hmx": hmx}


def _unpacked(metadata: Any, promoted: tuple[str, ...]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The original metadata, the *promoted* fields, and the extra fields: what :func:`_packed` was given."""
    if not isinstance(metadata, Mapping):
        return metadata, {}, {}
    fields = {name: metadata[name] for name in promoted if name in metadata}
    hmx = metadata.get("hmx")
    if not isinstance(hmx, Mapping) or not isinstance(hmx.get("fields"), Mapping):
        return {name: value for name, value in metadata.items() if name not in fields}, fields, {}
    visible = {name: value for name, value in metadata.items() if name not in fields and name != "hmx"}
    return {**visible, **hmx.get("hidden", {})}, fields, dict(hmx["fields"])


def _content_schema(artifact_type: str) -> dict[str, Any]:
    definition: dict[str, Any] = schema("artifact-content")["$defs"].get(artifact_type, {})
    return definition
