"""Everything that can go wrong, in one tree."""

from typing import NamedTuple

# What every error of hmxgraph is, and the faults that a refused document carries.


class Fault(NamedTuple):
    """One thing wrong with a document: where, by which clause, what was found and what would be right."""

    path: str
    clause: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.found}, expected {self.expected} ({self.clause})"


class HmxGraphError(Exception):
    """Base of all errors raised by hmxgraph."""


# Questions that cannot be answered as asked: unknown names and choices, no times, impossible budgets and steps.


class NotFound(HmxGraphError, LookupError):
    """Nothing of this kind with this id in this tenant."""

    def __init__(self, kind: str, name: str, tenant_id: str = "", hint: str = "") -> None:
        super().__init__(kind, name, tenant_id, hint)
        self.kind = kind
        self.name = name
        self.tenant_id = tenant_id
        self.hint = hint

    def __str__(self) -> str:
        where = f" in tenant {self.tenant_id!r}" if self.tenant_id else ""
        return f"no {self.kind} {self.name!r}{where}" + (f"; {self.hint}" if self.hint else "")


class InvalidTime(HmxGraphError, ValueError):
    """A time that is no ISO 8601 date-time with an offset, or none that the calendar has."""

    def __init__(self, found: str, reason: str) -> None:
        super().__init__(found, reason)
        self.found = found
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.found!r} {self.reason}; write a time like 2026-03-14T03:00:00.000Z or 2026-03-14T04:00:00+01:00"


class InvalidTenant(HmxGraphError, ValueError):
    """A tenant id that no event can name: none at all, another type, with a NUL, or no Unicode."""

    def __init__(self, found: object, reason: str) -> None:
        super().__init__(found, reason)
        self.found = found
        self.reason = reason

    def __str__(self) -> str:
        return f"tenant_id {self.found!r:.60} names no tenant ({self.reason}); give text that UTF-8 can write"


class PackError(HmxGraphError, ValueError):
    """A context pack that cannot be made as asked."""


class BudgetTooSmall(PackError):
    """No entry fits the budget, not even cut."""

    def __init__(self, budget: int, smallest: int) -> None:
        super().__init__(budget, smallest)
        self.budget = budget
        self.smallest = smallest

    def __str__(self) -> str:
        return f"budget of {self.budget} tokens is too small; ask for at least {self.smallest}"


class UnknownChoice(PackError):
    """A value outside a closed list."""

    def __init__(self, name: str, found: str, choices: tuple[str, ...]) -> None:
        super().__init__(name, found, choices)
        self.name = name
        self.found = found
        self.choices = choices

    def __str__(self) -> str:
        return f"unknown {self.name} {self.found!r}; choose one of {', '.join(self.choices)}"


class InvalidRequest(PackError):
    """An argument of another type, form or size than can be asked with."""

    def __init__(self, name: str, found: str, rule: str, way_out: str) -> None:
        super().__init__(name, found, rule, way_out)
        self.name = name
        self.found = found
        self.rule = rule
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.name} {self.found} is no {self.rule}; {self.way_out}"


class TaskError(HmxGraphError, ValueError):
    """A step that the task's record so far makes impossible."""

    def __init__(self, step: str, reason: str, way_out: str) -> None:
        super().__init__(step, reason, way_out)
        self.step = step
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.step}: {self.reason}; {self.way_out}"


# Documents and sources that cannot be accepted, and files that cannot be written.


class DocumentError(HmxGraphError, ValueError):
    """A document could not be accepted."""


class MalformedJson(DocumentError):
    """Text that is not strict JSON (RFC 8259, I-JSON numbers, no duplicate keys)."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason, position)
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        place = "" if self.position is None else f" at byte {self.position}"
        return f"not strict JSON{place}: {self.reason}"


class NotCanonical(DocumentError):
    """A value without a canonical form (RFC 8785): NaN, infinity, lone surrogate, integer beyond 2^53-1, no JSON."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"no canonical JSON for this value: {self.reason}"


class InvalidDocument(DocumentError):
    """A document that breaks its specification, with all faults at once."""

    def __init__(self, kind: str, document_id: str, faults: tuple[Fault, ...]) -> None:
        super().__init__(kind, document_id, faults)
        self.kind = kind
        self.document_id = document_id
        self.faults = faults

    def __str__(self) -> str:
        name = f"{self.kind} {self.document_id!r}" if self.document_id else self.kind
        told = [str(fault) for fault in self.faults[:20]]
        if len(self.faults) > len(told):
            told.append(f"and {len(self.faults) - len(told)} more")
        return f"{name}: " + "; ".join(told)


class IngestRefused(HmxGraphError, ValueError):
    """A source that cannot be read, or the first bad line where the caller asked for strictness."""

    def __init__(self, source: str, reason: str, line: int | None = None) -> None:
        super().__init__(source, reason, line)
        self.source = source
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.reason}"


class NotWritten(HmxGraphError, OSError):
    """A file that a caller asked for and that cannot stand there."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} cannot be written ({self.reason}); choose another place"


# The local server: what is missing, and the way out.


class EngineError(HmxGraphError, RuntimeError):
    """The local server could not be fetched, started, reached or stopped; the message ends with the way out."""

    def __init__(self, reason: str, way_out: str) -> None:
        super().__init__(reason, way_out)
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.reason}; {self.way_out}"


class JavaMissing(EngineError):
    """No Java that this Neo4j runs on."""


class JarsUnavailable(EngineError):
    """The jars are not in the cache and could not be fetched."""


class JarDamaged(EngineError):
    """A jar whose bytes differ from the lock file."""


class NotEnoughMemory(EngineError):
    """Heap and page cache do not fit this machine."""


class PortTaken(EngineError):
    """Another program listens on the port."""


class PasswordLost(EngineError):
    """A database whose password is not, or no longer, in the data home."""


class ServerDied(EngineError):
    """The server ended while starting; carries its last words."""

    def __init__(self, reason: str, way_out: str, last_words: str) -> None:
        super().__init__(reason, way_out)
        self.args = (reason, way_out, last_words)
        self.last_words = last_words

    def __str__(self) -> str:
        return f"{self.reason}:\n{self.last_words}\n{self.way_out}"


class ServerUnresponsive(EngineError):
    """A process that neither answers nor ends."""


# Fingerprints that cannot be trusted (HMX-F 10, 13).


class FingerprintError(HmxGraphError, ValueError):
    """A fingerprint that cannot be trusted; nothing was written."""


class FingerprintRefused(FingerprintError):
    """A check failed before or after the hashes: size, json, format, structure, key."""

    def __init__(self, check: str, reason: str, way_out: str = "nothing was written") -> None:
        super().__init__(check, reason, way_out)
        self.check = check
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"check {self.check!r} failed: {self.reason}; {self.way_out}"


class HashMismatch(FingerprintError):
    """A hash that does not match the bytes it covers."""

    def __init__(self, name: str, stated: str, computed: str) -> None:
        super().__init__(name, stated, computed)
        self.name = name
        self.stated = stated
        self.computed = computed

    def __str__(self) -> str:
        return (
            f"{self.name} does not match: stated {self.stated}, computed {self.computed}; ask for it again (HMX-F 10)"
        )


class SignatureMismatch(FingerprintError):
    """A signature that is missing, by a key that is not pinned, or wrong."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"signature refused: {self.reason}"


class UnsupportedVersion(FingerprintError):
    """A protocol, envelope or document version that this release cannot read."""

    def __init__(self, field: str, found: str, supported: str) -> None:
        super().__init__(field, found, supported)
        self.field = field
        self.found = found
        self.supported = supported

    def __str__(self) -> str:
        return f"{self.field} {self.found} is not supported; this release reads {self.supported} (HMX-F 13)"


# The database refused, or could not be reached.


class GraphError(HmxGraphError):
    """The database refused or could not be reached."""


class StorageUnavailable(GraphError, ConnectionError):
    """No answer from the database."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} does not answer ({self.reason}); "
            "check HMXGRAPH_URI, or unset it to use the local server (hmxgraph server start)"
        )


class GraphNotOpen(GraphError, RuntimeError):
    """A graph was asked before it was opened, or after it was closed."""

    def __init__(self, way_out: str) -> None:
        super().__init__(way_out)
        self.way_out = way_out

    def __str__(self) -> str:
        return f"the graph is not open; {self.way_out}"


class InvalidAddress(StorageUnavailable):
    """An address that no Neo4j can have."""

    def __str__(self) -> str:
        return (
            f"{self.uri!r} is no address of a Neo4j ({self.reason}); write HMXGRAPH_URI like bolt://host:7687 or "
            "neo4j://host:7687 (+s and +ssc for TLS), or unset it to use the local server (hmxgraph server start)"
        )


class DatabaseMissing(StorageUnavailable):
    """A server that has no database of the name asked for, or only the one of users and databases."""

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} has no such database ({self.reason}); "
            "set HMXGRAPH_DATABASE to one that SHOW DATABASES lists there, or unset it to use the one named neo4j"
        )


class StorageStopped(StorageUnavailable):
    """A server that answers, and has stopped its database because it could not write: a full disk, most often."""

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} cannot write its data any more ({self.reason}); free space on its disk and restart "
            "it: hmxgraph server stop, then the same command again"
        )


class AccessDenied(GraphError, PermissionError):
    """Wrong user, password or missing rights."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return f"Neo4j at {self.uri} refused the login ({self.reason}); check HMXGRAPH_USER and HMXGRAPH_PASSWORD"


class NotPermitted(AccessDenied):
    """Logged in, and without the right to read, write or make indexes there; or the database is read-only."""

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} does not permit it ({self.reason}); use a user who may read, write and make indexes "
            "and constraints in that database (HMXGRAPH_USER, HMXGRAPH_DATABASE), and a database that is not read-only"
        )


class StatementRefused(GraphError):
    """The server refused one of the packaged statements."""

    def __init__(self, statement: str, code: str, reason: str) -> None:
        super().__init__(statement, code, reason)
        self.statement = statement
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        file, _, part = self.statement.partition(":")
        place = f" ({part})" if part else ""
        return f"cypher/{file}.cypher{place} was refused: {self.reason} [{self.code}]"


class NewerStore(GraphError):
    """A newer release prepared this database, and may derive what it stores differently."""

    def __init__(self, version: int, release: str, known: int) -> None:
        super().__init__(version, release, known)
        self.version = version
        self.release = release
        self.known = known

    def __str__(self) -> str:
        return (
            f"hmxgraph {self.release} prepared this database (schema version {self.version}, this client knows "
            f"{self.known}); upgrade this client, or set HMXGRAPH_URI or HMXGRAPH_DATABASE to another database"
        )


class OlderStore(GraphError):
    """This database is older than any release from which it can be upgraded."""

    def __init__(self, version: int | None, oldest: int) -> None:
        super().__init__(version, oldest)
        self.version = version
        self.oldest = oldest

    def __str__(self) -> str:
        stated = "has data and no schema version" if self.version is None else f"has schema version {self.version}"
        return (
            f"this database {stated}; upgrades start from version {self.oldest}. Set HMXGRAPH_URI, HMXGRAPH_DATABASE "
            "or HMXGRAPH_HOME to another database and ingest the events again"
        )


class IsolationUnsupported(GraphError):
    """One database a tenant was asked of a server that has only one."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return f'Neo4j at {self.uri} cannot make databases ({self.reason}); use isolation="key", or an edition that can'


class StatementMisuse(GraphError, TypeError):
    """An unknown statement, or parameters that do not fit its text."""

    def __init__(self, statement: str, missing: tuple[str, ...] = (), unexpected: tuple[str, ...] = ()) -> None:
        super().__init__(statement, missing, unexpected)
        self.statement = statement
        self.missing = missing
        self.unexpected = unexpected

    def __str__(self) -> str:
        if not self.missing and not self.unexpected:
            return f"there is no cypher/{self.statement}.cypher; hmxgraph query lists the saved queries"
        parts = [f"missing ${name}" for name in self.missing] + [f"unexpected ${name}" for name in self.unexpected]
        way_out = f"; give {', '.join(f'{name}=...' for name in self.missing)}" if self.missing else ""
        return f"cypher/{self.statement}.cypher: {', '.join(parts)}{way_out}"


# Rules of the artifact lifecycle that were about to be broken (HMX-A 5, 7).


class LifecycleError(HmxGraphError, ValueError):
    """A rule of the artifact lifecycle was about to be broken; nothing was written."""


class InvalidTransition(LifecycleError):
    """A status change that HMX-A 5 does not list."""

    def __init__(self, artifact_id: str, current: str, wanted: str, legal: tuple[str, ...]) -> None:
        super().__init__(artifact_id, current, wanted, legal)
        self.artifact_id = artifact_id
        self.current = current
        self.wanted = wanted
        self.legal = legal

    def __str__(self) -> str:
        way_out = (
            f"legal from {self.current!r}: {', '.join(self.legal)}" if self.legal else f"{self.current!r} is final"
        )
        return f"artifact {self.artifact_id!r} cannot go from {self.current!r} to {self.wanted!r} (HMX-A 5); {way_out}"


class SupersessionCycle(LifecycleError):
    """A supersession that would make an artifact its own ancestor (HMX-A 7)."""

    def __init__(self, old_id: str, new_id: str) -> None:
        super().__init__(old_id, new_id)
        self.old_id = old_id
        self.new_id = new_id

    def __str__(self) -> str:
        return f"{self.new_id!r} cannot supersede {self.old_id!r}: it is already part of its history (HMX-A 7)"


class AlreadySuperseded(LifecycleError):
    """The chain has gone on without you: names the artifact that now supersedes the old one."""

    def __init__(self, old_id: str, winner_id: str) -> None:
        super().__init__(old_id, winner_id)
        self.old_id = old_id
        self.winner_id = winner_id

    def __str__(self) -> str:
        return f"{self.old_id!r} is already superseded by {self.winner_id!r}; supersede that one instead (HMX-A 7)"


class SuccessorMismatch(LifecycleError):
    """A successor that does not continue its predecessor: other tenant, type, status or version."""

    def __init__(self, old_id: str, field: str, found: str, expected: str) -> None:
        super().__init__(old_id, field, found, expected)
        self.old_id = old_id
        self.field = field
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return f"successor of {self.old_id!r} has {self.field} {self.found}, expected {self.expected} (HMX-A 7)"


class SuccessorNeeded(LifecycleError):
    """Only a successor makes an artifact superseded: status, edge and next version at once (HMX-A 7)."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(artifact_id)
        self.artifact_id = artifact_id

    def __str__(self) -> str:
        return f"artifact {self.artifact_id!r} is superseded only by a successor (HMX-A 7); give one to supersede()"


class ImmutableArtifact(LifecycleError):
    """The id is taken by an artifact with another core; nothing was written."""

    def __init__(self, artifact_id: str, fields: tuple[str, ...]) -> None:
        super().__init__(artifact_id, fields)
        self.artifact_id = artifact_id
        self.fields = fields

    def __str__(self) -> str:
        found = ", ".join(self.fields)
        return f"artifact {self.artifact_id!r} is recorded with another {found} (HMX-A 1); supersede it under a new id"


class DuplicateArtifact(LifecycleError):
    """A successor whose type and content another draft or active artifact has already."""

    def __init__(self, artifact_id: str, twin_id: str) -> None:
        super().__init__(artifact_id, twin_id)
        self.artifact_id = artifact_id
        self.twin_id = twin_id

    def __str__(self) -> str:
        return f"artifact {self.artifact_id!r} says what {self.twin_id!r} says already (HMX-A 8); retire that one first"


class ConflictClosed(LifecycleError):
    """A conflict that was resolved before, and not like this."""

    def __init__(self, conflict_id: str, kept_id: str | None) -> None:
        super().__init__(conflict_id, kept_id)
        self.conflict_id = conflict_id
        self.kept_id = kept_id

    def __str__(self) -> str:
        outcome = f"keeping {self.kept_id!r}" if self.kept_id else "keeping every side"
        return f"conflict {self.conflict_id!r} is already resolved, {outcome}; record a successor of a side instead"


# Everything that can go wrong, in one tree.
#
# ::
#
#     HmxGraphError
#     ├── DocumentError (ValueError)
#     │   ├── MalformedJson             not strict JSON
#     │   ├── NotCanonical              what canonical JSON cannot write: NaN, lone surrogates, integers >= 2^53
#     │   └── InvalidDocument           well-formed JSON that a specification refuses; carries every fault
#     ├── NotFound (LookupError)        no such event, artifact, session, query ... in this tenant
#     ├── InvalidTenant (ValueError)    a tenant id that no event can name
#     ├── InvalidTime (ValueError)      no ISO 8601 date-time with an offset
#     ├── LifecycleError (ValueError)
#     │   ├── InvalidTransition         not one of the five legal status changes (HMX-A 5)
#     │   ├── SupersessionCycle         would make an artifact its own ancestor (HMX-A 7)
#     │   ├── AlreadySuperseded         somebody else's successor stands there; names the winner
#     │   ├── SuccessorMismatch         successor of another type, tenant or version
#     │   ├── SuccessorNeeded           superseded is a status that only a successor gives (HMX-A 7)
#     │   ├── ImmutableArtifact         the same id with another core (HMX-A 1)
#     │   ├── DuplicateArtifact         a successor that says what another draft or active artifact says already
#     │   └── ConflictClosed            resolved already, with another outcome
#     ├── PackError (ValueError)
#     │   ├── BudgetTooSmall            no entry fits
#     │   ├── InvalidRequest            an argument of another type, form or size; names it
#     │   └── UnknownChoice             strategy, section or mode that the specification does not list
#     ├── FingerprintError (ValueError)
#     │   ├── FingerprintRefused        another check failed: size, json, format, structure ...; names it
#     │   ├── HashMismatch              one of the two hashes does not match the bytes
#     │   ├── SignatureMismatch         missing, foreign or wrong signature
#     │   └── UnsupportedVersion        another protocol or envelope version
#     ├── TaskError (ValueError)        an impossible step of a task record
#     ├── IngestRefused (ValueError)    a source that cannot be read, or the first bad line under on_error="raise"
#     ├── NotWritten (OSError)          a page or other file that cannot stand where it was asked for
#     ├── GraphError
#     │   ├── StorageUnavailable (ConnectionError)
#     │   │   ├── InvalidAddress        no address that a Neo4j can have
#     │   │   ├── DatabaseMissing       a server that answers, and has no database of that name
#     │   │   └── StorageStopped        a server that answers, and cannot write its data any more
#     │   ├── GraphNotOpen (RuntimeError)  asked before it was opened, or after it was closed
#     │   ├── AccessDenied (PermissionError)
#     │   │   └── NotPermitted          logged in, and without the right to read, write or make indexes there
#     │   ├── StatementRefused          the server refused a packaged statement; names the statement
#     │   ├── NewerStore                a database that a newer release prepared
#     │   ├── OlderStore                a database too old to be upgraded
#     │   ├── IsolationUnsupported      the edition has one database only
#     │   └── StatementMisuse (TypeError)  parameters missing or unexpected; unknown statement
#     └── EngineError (RuntimeError)    the local server could not be fetched, started, reached or stopped
#         ├── JavaMissing               no Java that this Neo4j runs on
#         ├── JarsUnavailable           not in the cache and not to be fetched
#         ├── JarDamaged                bytes that differ from the lock file
#         ├── NotEnoughMemory           heap and page cache do not fit this machine
#         ├── PortTaken                 another program listens there
#         ├── PasswordLost              a database whose password is not, or no longer, in the data home
#         ├── ServerDied                ended while starting; carries its last words
#         └── ServerUnresponsive        a process that neither answers nor ends
#
# Fields come first, the message is built from them, the way out stands last.

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
    "OlderStore",
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
