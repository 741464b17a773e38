"""hmxgraph as an implementation for the kit.

`documents` answers the requests that need no server, the result of `store()` answers all requests.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from threading import Barrier
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hmxgraph.api.graph import KnowledgeGraph, connect
from hmxgraph.errors import HmxGraphError, InvalidDocument, MalformedJson
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.records import write_record
from hmxgraph.ingest.prepare import prepare
from hmxgraph.ingest.window import ReorderWindow
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.canonical import content_hash, sha256_hex
from hmxgraph.protocol.document import Document
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import Envelope, Fingerprint, fingerprint_hash, integrity_hash
from hmxgraph.protocol.mappings import (
    artifact_of_compiled,
    compiled_artifact,
    episode_trace,
    event_of_trace,
    fingerprint_of_memory,
    internal_pack,
    memory_fingerprint,
    pack_of_internal,
)
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.text.terms import counter

_KINDS: Mapping[str, type[Document]] = {
    "event": Event,
    "artifact": Artifact,
    "context-pack": ContextPack,
    "envelope": Envelope,
    "fingerprint": Fingerprint,
    "task-record": TaskRecord,
}
_HASHES: Mapping[str, Callable[[Any], str]] = {
    "content_hash": content_hash,
    "event_hash": lambda value: Event.parse(value).event_hash,
    "fingerprint_hash": fingerprint_hash,
    "integrity_hash": integrity_hash,
}
# The kit's codes for malformed JSON, by a fragment of hmxgraph's error message.
_MALFORMED = {
    "NaN": "not_finite",
    "Infinity": "not_finite",
    "too large for a float": "not_finite",
    "lone surrogate": "lone_surrogate",
    "nested deeper": "too_deep",
    "repeated key": "duplicate_key",
}
# The kit's codes for refused steps, by hmxgraph's error class. InvalidRequest stands for an unknown filter, because no
# case has another wrong argument.
_ERRORS = {
    "AlreadySuperseded": "already_superseded",
    "HashMismatch": "hash_mismatch",
    "ImmutableArtifact": "immutable_artifact",
    "InvalidDocument": "invalid_document",
    "InvalidTransition": "invalid_transition",
    "SuccessorMismatch": "successor_mismatch",
    "SuccessorNeeded": "successor_needed",
    "SupersessionCycle": "supersession_cycle",
    "TaskError": "step_refused",
    "InvalidRequest": "unknown_filter",
    "UnknownChoice": "unknown_filter",
    "UnsupportedVersion": "unsupported_version",
}

# Maximum time that a step waits until all simultaneous steps are ready to start, in seconds.
_RACE_SECONDS = 60


def documents(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request that needs no store: reading, hashing, signing, ordering and mapping of documents.

    Any other request is answered as unsupported.
    """
    match request["op"]:
        case "read":
            return _read(_KINDS[request["kind"]], request["text"])
        case "hash":
            return {"hash": _HASHES[request["of"]](request["value"])}
        case "sign":
            signed = Envelope.parse(request["envelope"]).signed_bytes()
            key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(request["private_key"]))
            return {"value": key.sign(signed).hex(), "signed_sha256": sha256_hex(signed)}
        case "release":
            return {"released": list(_released(request["seconds"], request["arrivals"]))}
        case "map" | "unmap":
            return _mapped(request["kind"], request)
    return {"unsupported": True}


def _released(seconds: float, arrivals: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each event, with the time at which it leaves a reorder window that receives these *arrivals* and no others."""
    window, count, now = ReorderWindow(seconds), counter(), 0.0
    for arrival in [*arrivals, None]:
        until = math.inf if arrival is None else arrival["at"]
        while (wait := window.wait(now)) is not None and now + wait <= until:
            now += wait
            yield from ({"at": now, "event_id": held.event.event.event_id} for held in window.release(now))
        if arrival is not None:
            now = arrival["at"]
            event = prepare(Event.parse(arrival["event"]), count)
            yield from ({"at": now, "event_id": held.event.event.event_id} for held in window.add(event, None, now))


def _mapped(kind: str, request: Mapping[str, Any]) -> dict[str, Any]:
    to_internal, to_document = _MAPPINGS[kind]
    if request["op"] == "map":
        return {"internal": to_internal(_KINDS[kind].parse(request["document"]))}
    return {"document": to_document(request["internal"]).document()}


# Functions that convert a document to the internal type of the specification (such as EpisodeTrace), and back.
_MAPPINGS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Document]]] = {
    "event": (episode_trace, event_of_trace),
    "artifact": (compiled_artifact, artifact_of_compiled),
    "context-pack": (
        lambda pack: dict(zip(("pack", "assembly"), internal_pack(pack), strict=True)),
        lambda internal: pack_of_internal(internal["pack"], internal["assembly"]),
    ),
    "fingerprint": (memory_fingerprint, fingerprint_of_memory),
}


def _read(kind: type[Document], text: str) -> dict[str, Any]:
    try:
        parsed = kind.parse(text)
    except MalformedJson as error:
        return {"malformed": next((word for part, word in _MALFORMED.items() if part in str(error)), "not_json")}
    except InvalidDocument as error:
        return {"refused": [{"path": fault.path, "clause": fault.clause} for fault in error.faults]}
    accepted: dict[str, Any] = {
        "document": parsed.document(),
        "warnings": [warning.partition(":")[0] for warning in parsed.warnings],
    }
    if isinstance(parsed, Envelope):
        inner = parsed.fingerprint
        accepted["hashes_match"] = parsed.hash_matches and inner.get("fingerprint_hash") == fingerprint_hash(inner)
    return {"accepted": accepted}


def store() -> "StoreAdapter":
    """An adapter that answers all requests, on the Neo4j that ``connect`` finds."""
    return StoreAdapter(lambda tenant_id: connect(tenant_id=tenant_id))


class StoreAdapter:
    """Answers all requests, on a fresh tenant for each case that needs a store; *graph_of* opens a tenant's graph."""

    def __init__(self, graph_of: Callable[[str], KnowledgeGraph]) -> None:
        self._graph_of = graph_of
        self._graph: KnowledgeGraph | None = None

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        match request["op"]:
            case "begin":
                self.close()
                self._graph = self._graph_of(f"conformance-{uuid4()}")
                return {"tenant_id": self._graph.tenant_id}
            case "do":
                return self._do(request["step"], request["arguments"])
            case "look":
                return {"is": self._look(request["at"], request.get("of", ""))}
        return documents(request)

    def close(self) -> None:
        """Close the graph of the last case."""
        if self._graph is not None:
            self._graph.close()
            self._graph = None

    @property
    def _current(self) -> KnowledgeGraph:
        if self._graph is None:
            raise ValueError("send {'op': 'begin'} before other requests about a store")
        return self._graph

    def _do(self, step: str, arguments: Any) -> dict[str, Any]:
        if step == "at_once":
            return {"result": {"answers": self._race(arguments)}}
        return self._answer(self._current, step, arguments)

    def _race(self, steps: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The answers of steps that all start at the same instant, each over its own connections."""
        barrier = Barrier(len(steps))

        def run(step: Mapping[str, Any]) -> dict[str, Any]:
            ((name, arguments),) = step.items()
            with self._graph_of(self._current.tenant_id) as graph:
                graph.health()
                barrier.wait(_RACE_SECONDS)
                return self._answer(graph, name, arguments)

        with ThreadPoolExecutor(len(steps)) as pool:
            return list(pool.map(run, steps))

    @staticmethod
    def _answer(graph: KnowledgeGraph, step: str, arguments: Any) -> dict[str, Any]:
        if step not in _STEPS:
            return {"unsupported": True}
        try:
            result = _STEPS[step](graph, arguments)
        except HmxGraphError as error:
            fields = {name: value for name, value in vars(error).items() if isinstance(value, str | int)}
            return {"error": _ERRORS.get(type(error).__name__, "other"), "fields": fields}
        return {"result": result if isinstance(result, dict) else result.document()}

    def _look(self, effect: str, subject: str) -> Any:
        graph = self._current
        match effect:
            case "version":
                return graph.health()["state_version"]
            case "status":
                return graph.artifact(subject).status
            case "chain":
                return [version.artifact_id for version in graph.chain(subject).versions]
            case "trust":
                return graph.records.get(subject).trust_tier
            case "order":
                return _order(graph, subject)
        raise ValueError(f"cannot look at {effect!r}")


def _order(graph: KnowledgeGraph, session_id: str) -> list[str]:
    """The ids of a session's events along the chain of ``NEXT`` relationships, which is their total order."""
    picture = graph.query("explore/session_picture", session_id=session_id).rows
    after: dict[str, str | None] = {row["event"]["event_id"]: None for row in picture}
    for row in picture:
        if row["relation"] and row["relation"]["type"] == "NEXT":
            after[row["event"]["event_id"]] = row["other"]["event_id"]
    current = next((name for name in after if name not in after.values()), None)
    chain: list[str] = []
    while current is not None and len(chain) < len(after):
        chain.append(current)
        current = after[current]
    return chain


def _search(graph: KnowledgeGraph, arguments: Mapping[str, Any]) -> dict[str, Any]:
    result = graph.records.search(arguments["query"], **arguments["filters"])
    return {"artifact_ids": [hit.artifact_id for hit in result.hits]}


def _record_task(graph: KnowledgeGraph, document: Any) -> Any:
    # The public API builds records from fields; whole documents need the procedure behind it.
    return graph._perform(write_record(Tenancy.of(graph.tenant_id), TaskRecord.parse(document)))  # noqa: SLF001


_STEPS: Mapping[str, Callable[[KnowledgeGraph, Any], Any]] = {
    "ingest": lambda graph, events: graph.ingest(events),
    "ingest_text": lambda graph, text: graph.ingest(BytesIO(text.encode())),
    "record_artifact": lambda graph, artifact: graph.record_artifact(artifact),
    "supersede": lambda graph, arguments: graph.supersede(arguments["old"], arguments["artifact"]),
    "transition": lambda graph, arguments: graph.transition(arguments["artifact_id"], arguments["status"]),
    "chain": lambda graph, arguments: graph.chain(arguments["of"]),
    "pack": lambda graph, arguments: graph.pack(**arguments),
    "export_fingerprint": lambda graph, arguments: graph.export_fingerprint(tier=arguments["tier"]),
    "import_fingerprint": lambda graph, envelope: graph.import_fingerprint(envelope),
    "record_task": _record_task,
    "search_tasks": _search,
}
