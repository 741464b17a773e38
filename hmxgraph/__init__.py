"""An open memory engine for AI agents on Neo4j: events in, evidence-backed knowledge out, no language model.

Open a graph with :func:`connect` or :func:`connect_async`. The most used types and errors can be imported from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hmxgraph.api.aio import AsyncKnowledgeGraph, connect_async
    from hmxgraph.api.drawing import Drawing
    from hmxgraph.api.exploring import QueryResult
    from hmxgraph.api.graph import KnowledgeGraph, connect
    from hmxgraph.api.sessions import RecordedSession
    from hmxgraph.errors import (
        AccessDenied,
        DeadlineExceeded,
        EmbedderError,
        EngineError,
        Fault,
        FingerprintError,
        GraphError,
        HmxGraphError,
        IngestRefused,
        InvalidDocument,
        InvalidRequest,
        LifecycleError,
        LocalServerDied,
        NotFound,
        PackError,
        StorageUnavailable,
        TaskError,
    )
    from hmxgraph.fingerprint.measures import MeasuredDigest
    from hmxgraph.protocol.artifacts import Artifact
    from hmxgraph.protocol.events import Event
    from hmxgraph.protocol.explanations import Explanation
    from hmxgraph.protocol.fingerprints import Envelope, Fingerprint
    from hmxgraph.protocol.lifecycle import ArtifactPage, ArtifactReceipt, Chain, Conflict
    from hmxgraph.protocol.memories import Memory, MemoryResult, MemoryView
    from hmxgraph.protocol.packs import ContextPack, DroppedEntry, Entry
    from hmxgraph.protocol.record_results import (
        Grounding,
        Library,
        RecordReceipt,
        RecordView,
        Resume,
        SearchResult,
        TaskEntry,
        TaskView,
    )
    from hmxgraph.protocol.records import TaskRecord
    from hmxgraph.protocol.reports import (
        BackupReport,
        CompileReport,
        ForgetReport,
        ImportReport,
        IngestReport,
        Receipt,
        RecordReport,
        Rejection,
        RestoreReport,
        SourceReport,
        VerifyReport,
    )
    from hmxgraph.protocol.suggestions import Suggestion
    from hmxgraph.protocol.trust import TrustPolicy
    from hmxgraph.recall.pack import Pack

__version__ = "0.2.0"
__all__ = [
    "AccessDenied",
    "Artifact",
    "ArtifactPage",
    "ArtifactReceipt",
    "AsyncKnowledgeGraph",
    "BackupReport",
    "Chain",
    "CompileReport",
    "Conflict",
    "ContextPack",
    "DeadlineExceeded",
    "Drawing",
    "DroppedEntry",
    "EmbedderError",
    "EngineError",
    "Entry",
    "Envelope",
    "Event",
    "Explanation",
    "Fault",
    "Fingerprint",
    "FingerprintError",
    "ForgetReport",
    "GraphError",
    "Grounding",
    "HmxGraphError",
    "ImportReport",
    "IngestRefused",
    "IngestReport",
    "InvalidDocument",
    "InvalidRequest",
    "KnowledgeGraph",
    "Library",
    "LifecycleError",
    "LocalServerDied",
    "MeasuredDigest",
    "Memory",
    "MemoryResult",
    "MemoryView",
    "NotFound",
    "Pack",
    "PackError",
    "QueryResult",
    "Receipt",
    "RecordReceipt",
    "RecordReport",
    "RecordView",
    "RecordedSession",
    "Rejection",
    "RestoreReport",
    "Resume",
    "SearchResult",
    "SourceReport",
    "StorageUnavailable",
    "Suggestion",
    "TaskEntry",
    "TaskError",
    "TaskRecord",
    "TaskView",
    "TrustPolicy",
    "VerifyReport",
    "connect",
    "connect_async",
]

# Where each public name is defined: a module is imported when one of its names is first used.
_DEFINED_IN = {
    "hmxgraph.api.graph": ("KnowledgeGraph", "connect"),
    "hmxgraph.api.aio": ("AsyncKnowledgeGraph", "connect_async"),
    "hmxgraph.api.sessions": ("RecordedSession",),
    "hmxgraph.api.drawing": ("Drawing",),
    "hmxgraph.api.exploring": ("QueryResult",),
    "hmxgraph.errors": (
        "AccessDenied",
        "DeadlineExceeded",
        "EmbedderError",
        "EngineError",
        "Fault",
        "FingerprintError",
        "GraphError",
        "HmxGraphError",
        "IngestRefused",
        "InvalidDocument",
        "InvalidRequest",
        "LifecycleError",
        "LocalServerDied",
        "NotFound",
        "PackError",
        "StorageUnavailable",
        "TaskError",
    ),
    "hmxgraph.fingerprint.measures": ("MeasuredDigest",),
    "hmxgraph.protocol.artifacts": ("Artifact",),
    "hmxgraph.protocol.events": ("Event",),
    "hmxgraph.protocol.explanations": ("Explanation",),
    "hmxgraph.protocol.fingerprints": ("Envelope", "Fingerprint"),
    "hmxgraph.protocol.lifecycle": ("ArtifactPage", "Chain", "Conflict", "ArtifactReceipt"),
    "hmxgraph.protocol.memories": ("Memory", "MemoryResult", "MemoryView"),
    "hmxgraph.protocol.packs": ("ContextPack", "DroppedEntry", "Entry"),
    "hmxgraph.protocol.record_results": (
        "Library",
        "RecordView",
        "Grounding",
        "Resume",
        "SearchResult",
        "TaskEntry",
        "TaskView",
        "RecordReceipt",
    ),
    "hmxgraph.protocol.records": ("TaskRecord",),
    "hmxgraph.protocol.trust": ("TrustPolicy",),
    "hmxgraph.protocol.reports": (
        "BackupReport",
        "CompileReport",
        "ForgetReport",
        "ImportReport",
        "IngestReport",
        "Receipt",
        "RecordReport",
        "Rejection",
        "RestoreReport",
        "SourceReport",
        "VerifyReport",
    ),
    "hmxgraph.protocol.suggestions": ("Suggestion",),
    "hmxgraph.recall.pack": ("Pack",),
}
_MODULES = {name: module for module, names in _DEFINED_IN.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hmxgraph' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
