"""Everything that can go wrong, in one tree.

::

    HmxGraphError
    ├── DocumentError (ValueError)
    │   ├── MalformedJson             not strict JSON
    │   ├── NotCanonical              what canonical JSON cannot write: NaN, lone surrogates, integers >= 2^53
    │   └── InvalidDocument           well-formed JSON that a specification refuses; carries every fault
    ├── NotFound (LookupError)        no such event, artifact, session, query ... in this tenant
    ├── InvalidTenant (ValueError)    a tenant id that no event can name
    ├── InvalidTime (ValueError)      no ISO 8601 date-time with an offset
    ├── LifecycleError (ValueError)
    │   ├── InvalidTransition         not one of the five legal status changes (HMX-A 5)
    │   ├── SupersessionCycle         would make an artifact its own ancestor (HMX-A 7)
    │   ├── AlreadySuperseded         somebody else's successor stands there; names the winner
    │   ├── SuccessorMismatch         successor of another type, tenant or version
    │   ├── SuccessorNeeded           superseded is a status that only a successor gives (HMX-A 7)
    │   ├── ImmutableArtifact         the same id with another core (HMX-A 1)
    │   ├── DuplicateArtifact         a successor that says what another draft or active artifact says already
    │   └── ConflictClosed            resolved already, with another outcome
    ├── PackError (ValueError)
    │   ├── BudgetTooSmall            no entry fits
    │   ├── InvalidRequest            an argument of another type, form or size; names it
    │   └── UnknownChoice             strategy, section or mode that the specification does not list
    ├── FingerprintError (ValueError)
    │   ├── FingerprintRefused        another check failed: size, json, format, structure ...; names it
    │   ├── HashMismatch              one of the two hashes does not match the bytes
    │   ├── SignatureMismatch         missing, foreign or wrong signature
    │   └── UnsupportedVersion        another protocol or envelope version
    ├── TaskError (ValueError)        an impossible step of a task record
    ├── IngestRefused (ValueError)    a source that cannot be read, or the first bad line under on_error="raise"
    ├── NotWritten (OSError)          a page or other file that cannot stand where it was asked for
    ├── GraphError
    │   ├── StorageUnavailable (ConnectionError)
    │   │   ├── InvalidAddress        no address that a Neo4j can have
    │   │   ├── DatabaseMissing       a server that answers, and has no database of that name
    │   │   └── StorageStopped        a server that answers, and cannot write its data any more
    │   ├── GraphNotOpen (RuntimeError)  asked before it was opened, or after it was closed
    │   ├── AccessDenied (PermissionError)
    │   │   └── NotPermitted          logged in, and without the right to read, write or make indexes there
    │   ├── StatementRefused          the server refused a packaged statement; names the statement
    │   ├── NewerStore                a database that a newer release has been at work in
    │   ├── IsolationUnsupported      the edition has one database only
    │   └── StatementMisuse (TypeError)  parameters missing or unexpected; unknown statement
    └── EngineError (RuntimeError)    the local server could not be fetched, started, reached or stopped
        ├── JavaMissing               no Java that this Neo4j runs on
        ├── JarsUnavailable           not in the cache and not to be fetched
        ├── JarDamaged                bytes that differ from the lock file
        ├── NotEnoughMemory           heap and page cache do not fit this machine
        ├── PortTaken                 another program listens there
        ├── PasswordLost              a database whose password is not, or no longer, in the data home
        ├── ServerDied                ended while starting; carries its last words
        └── ServerUnresponsive        a process that neither answers nor ends

Fields come first, the message is built from them, the way out stands last.
"""

from hmxgraph.errors.asking import (
    BudgetTooSmall,
    InvalidRequest,
    InvalidTenant,
    InvalidTime,
    NotFound,
    PackError,
    TaskError,
    UnknownChoice,
)
from hmxgraph.errors.base import Fault, HmxGraphError
from hmxgraph.errors.documents import (
    DocumentError,
    IngestRefused,
    InvalidDocument,
    MalformedJson,
    NotCanonical,
    NotWritten,
)
from hmxgraph.errors.engine import (
    EngineError,
    JarDamaged,
    JarsUnavailable,
    JavaMissing,
    NotEnoughMemory,
    PasswordLost,
    PortTaken,
    ServerDied,
    ServerUnresponsive,
)
from hmxgraph.errors.fingerprints import (
    FingerprintError,
    FingerprintRefused,
    HashMismatch,
    SignatureMismatch,
    UnsupportedVersion,
)
from hmxgraph.errors.graph import (
    AccessDenied,
    DatabaseMissing,
    GraphError,
    GraphNotOpen,
    InvalidAddress,
    IsolationUnsupported,
    NewerStore,
    NotPermitted,
    StatementMisuse,
    StatementRefused,
    StorageStopped,
    StorageUnavailable,
)
from hmxgraph.errors.lifecycle import (
    AlreadySuperseded,
    ConflictClosed,
    DuplicateArtifact,
    ImmutableArtifact,
    InvalidTransition,
    LifecycleError,
    SuccessorMismatch,
    SuccessorNeeded,
    SupersessionCycle,
)

__all__ = [
    "AccessDenied",
    "AlreadySuperseded",
    "BudgetTooSmall",
    "ConflictClosed",
    "DatabaseMissing",
    "DocumentError",
    "DuplicateArtifact",
    "EngineError",
    "Fault",
    "FingerprintError",
    "FingerprintRefused",
    "GraphError",
    "GraphNotOpen",
    "HashMismatch",
    "HmxGraphError",
    "ImmutableArtifact",
    "IngestRefused",
    "InvalidAddress",
    "InvalidDocument",
    "InvalidRequest",
    "InvalidTenant",
    "InvalidTime",
    "InvalidTransition",
    "IsolationUnsupported",
    "JarDamaged",
    "JarsUnavailable",
    "JavaMissing",
    "LifecycleError",
    "MalformedJson",
    "NewerStore",
    "NotCanonical",
    "NotEnoughMemory",
    "NotFound",
    "NotPermitted",
    "NotWritten",
    "PackError",
    "PasswordLost",
    "PortTaken",
    "ServerDied",
    "ServerUnresponsive",
    "SignatureMismatch",
    "StatementMisuse",
    "StatementRefused",
    "StorageStopped",
    "StorageUnavailable",
    "SuccessorMismatch",
    "SuccessorNeeded",
    "SupersessionCycle",
    "TaskError",
    "UnknownChoice",
    "UnsupportedVersion",
]

# A traceback names an error by the place it is imported from, not by the file it stands in.
for _error in __all__:
    globals()[_error].__module__ = __name__
