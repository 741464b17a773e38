"""The errors of hmxgraph. They form one tree, which is drawn at the end of this module."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, NamedTuple

# The base class, its codes, and the faults that a rejected document carries.

# The codes of errors:
#   not_found: no such object.
#   invalid: the request itself is wrong, or earlier records of the same task rule it out.
#   conflict: other stored data rules the request out.
#   denied: the caller is not allowed to do this.
#   unavailable: try again later.
#   unsupported: this release or server cannot do it.
#   internal: a defect in hmxgraph.
CODES = ("not_found", "invalid", "conflict", "denied", "unavailable", "unsupported", "internal")


class Fault(NamedTuple):
    """One fault of a document: its path, the clause of the specification it breaks, the actual and expected value."""

    path: str
    clause: str
    actual: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.actual}, expected {self.expected} ({self.clause})"


class HmxGraphError(Exception):
    """Base of all errors raised by hmxgraph.

    ``code`` is the kind of error, for programs to rely on: one of `CODES`.

    >>> NotFound("artifact", "a1").code
    'not_found'
    """

    code: ClassVar[str] = "internal"


# Invalid requests: unknown names and choices, invalid times, impossible budgets and task steps.


class NotFound(HmxGraphError, LookupError):
    """No object of this *kind* has this *name* (an id or a text); *hint*, if any, says what to do instead."""

    code = "not_found"

    def __init__(self, kind: str, name: str, tenant_id: str = "", hint: str = "") -> None:
        super().__init__(kind, name, tenant_id, hint)
        self.kind = kind
        self.name = name
        self.tenant_id = tenant_id
        self.hint = hint

    def __str__(self) -> str:
        where = f" in tenant {self.tenant_id!r}" if self.tenant_id else ""
        return f"no {self.kind} {self.name!r:.200}{where}" + (f"; {self.hint}" if self.hint else "")


class InvalidTime(HmxGraphError, ValueError):
    """A time that does not exist, is out of range, or has no offset; or a value that is not a time at all."""

    code = "invalid"

    def __init__(self, value: str, reason: str) -> None:
        super().__init__(value, reason)
        self.value = value
        self.reason = reason

    def __str__(self) -> str:
        examples = "2026-03-14T03:00:00.000Z or 2026-03-14T04:00:00+01:00"
        return f"{self.value!r:.200} {self.reason}; write a time like {examples}"


class InvalidTenant(HmxGraphError, ValueError):
    """A tenant id that no event could carry: empty, not a string, with a NUL, or not valid Unicode."""

    code = "invalid"

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(value, reason)
        self.value = value
        self.reason = reason

    def __str__(self) -> str:
        way_out = "give a non-empty string of valid Unicode without NUL"
        return f"invalid tenant_id {self.value!r:.60} ({self.reason}); {way_out}"


class PackError(HmxGraphError, ValueError):
    """An invalid argument, of a request for a context pack or of any other call."""

    code = "invalid"


class BudgetTooSmall(PackError):
    """A budget of less than one token."""

    def __init__(self, budget: int, smallest: int) -> None:
        super().__init__(budget, smallest)
        self.budget = budget
        self.smallest = smallest

    def __str__(self) -> str:
        return f"budget of {self.budget} tokens is too small; ask for at least {self.smallest}"


class UnknownChoice(PackError):
    """A value outside a closed list."""

    def __init__(self, name: str, value: str, choices: tuple[str, ...]) -> None:
        super().__init__(name, value, choices)
        self.name = name
        self.value = value
        self.choices = choices

    def __str__(self) -> str:
        return f"unknown {self.name} {self.value!r:.200}; choose one of {', '.join(self.choices)}"


class InvalidRequest(PackError):
    """An argument of the wrong type, form or size."""

    def __init__(self, name: str, value: str, expected: str, way_out: str) -> None:
        super().__init__(name, value, expected, way_out)
        self.name = name
        self.value = value
        self.expected = expected
        self.way_out = way_out

    def __str__(self) -> str:
        return f"invalid {self.name} {self.value}: expected {self.expected}; {self.way_out}"


class TaskError(HmxGraphError, ValueError):
    """A task record that breaks a rule, for example by lacking a field, or that existing records rule out."""

    code = "invalid"

    def __init__(self, step: str, reason: str, way_out: str) -> None:
        super().__init__(step, reason, way_out)
        self.step = step
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.step}: {self.reason}; {self.way_out}"


class ParentLoop(HmxGraphError, ValueError):
    """Events whose ``parent_event_id`` forms a loop, so that each would be its own cause; the call stores nothing."""

    code = "conflict"

    def __init__(self, event_ids: tuple[str, ...]) -> None:
        super().__init__(event_ids)
        self.event_ids = event_ids

    def __str__(self) -> str:
        first, *others = self.event_ids
        also = f" (and so would {len(others)} more)" if others else ""
        return (
            f"event {first!r} would be its own cause{also}: its parent_event_id leads back to it; name another parent, "
            "or none"
        )


# Rejected documents and sources, failed embedders, and files that cannot be written.


class DocumentError(HmxGraphError, ValueError):
    """A document was rejected."""

    code = "invalid"


class MalformedJson(DocumentError):
    """Text that is not strict JSON: RFC 8259, with the numbers of I-JSON (RFC 7493) and without duplicate keys."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason, position)
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        where = "" if self.position is None else f" at byte {self.position}"
        return f"not strict JSON{where}: {self.reason}"


class NotCanonical(DocumentError):
    """A value without a canonical form (RFC 8785): NaN, infinity, a lone surrogate, an integer beyond 2^53-1."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"this value has no canonical JSON: {self.reason}"


class InvalidDocument(DocumentError):
    """A document that violates its specification; ``faults`` lists every violation."""

    def __init__(self, kind: str, document_id: str, faults: tuple[Fault, ...]) -> None:
        super().__init__(kind, document_id, faults)
        self.kind = kind
        self.document_id = document_id
        self.faults = faults

    def __str__(self) -> str:
        name = f"{self.kind} {self.document_id!r}" if self.document_id else self.kind
        parts = [str(fault) for fault in self.faults[:20]]
        if len(self.faults) > len(parts):
            parts.append(f"and {len(self.faults) - len(parts)} more")
        return f"{name}: " + "; ".join(parts)


class IngestRefused(HmxGraphError, ValueError):
    """A source, or a file for rejected lines, that cannot be used; or the first bad line under ``on_error="raise"``.

    ``stored`` says what the same call had stored before.
    """

    code = "invalid"
    stored = ""

    def __init__(self, source: str, reason: str, line: int | None = None) -> None:
        super().__init__(source, reason, line)
        self.source = source
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{where}: {self.reason}" + (f"; {self.stored}" if self.stored else "")


class EmbedderError(HmxGraphError, RuntimeError):
    """The embedder raised an error; stored events are still found by full-text search."""

    code = "unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the embedder failed: {self.reason}; repair it, or connect without one (full-text search still works)"


class InvalidVectors(EmbedderError, ValueError):
    """The embedder returned no vectors, or unusable ones: too many, too few, or of the wrong dimension, for example."""

    code = "invalid"

    def __init__(self, returned: str, expected: str) -> None:
        super().__init__(returned)
        self.args = (returned, expected)
        self.returned = returned
        self.expected = expected

    def __str__(self) -> str:
        return f"the embedder returned {self.returned}, expected {self.expected}"


class NotWritten(HmxGraphError, OSError):
    """An output file that cannot be written to the given path."""

    code = "invalid"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot write {self.path} ({self.reason}); choose another path"


class BackupRefused(HmxGraphError, ValueError):
    """A backup that cannot be written now, or a file that cannot be restored."""

    code = "invalid"

    def __init__(self, path: str, reason: str, way_out: str) -> None:
        super().__init__(path, reason, way_out)
        self.path = path
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}; {self.way_out}"


@contextmanager
def naming(item: str) -> Iterator[None]:
    """Prefix the messages of errors that the block raises with *item*, the name of what they are about.

    >>> with naming("records[2]"):
    ...     raise TaskError("evidence", "summary is missing", "give it")
    Traceback (most recent call last):
    hmxgraph.errors.TaskError: records[2]: evidence: summary is missing; give it
    """
    try:
        yield
    except (TaskError, InvalidDocument, InvalidRequest, UnknownChoice) as error:
        first, *rest = error.args
        raise type(error)(f"{item}{'.' if isinstance(error, PackError) else ': '}{first}", *rest) from error


# The local server. Each error has a reason, and a way out: what the user can do about it.


class EngineError(HmxGraphError, RuntimeError):
    """The local server could not be fetched, started, reached or stopped; the message ends with the way out.

    Connecting and the server commands raise this error, before anything is written. If a restart in the middle of a
    call fails, the error is `LocalServerDied` instead.
    """

    code = "unavailable"
    outcome = "not stored"

    def __init__(self, reason: str, way_out: str) -> None:
        super().__init__(reason, way_out)
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.reason}; {self.way_out}"


class JavaMissing(EngineError):
    """No Java was found that this version of Neo4j runs on."""


class JarsUnavailable(EngineError):
    """The jars of Neo4j could not be downloaded, or the folder in ``HMXGRAPH_JARS`` contains no Neo4j."""


class JarDamaged(EngineError):
    """A jar of Neo4j whose SHA-256 differs from that in the lock file, or that is not a readable archive."""


class NotEnoughMemory(EngineError):
    """Heap and page cache do not fit into this machine's memory."""


class PortTaken(EngineError):
    """Another program is listening on the port, or both ports of the server are set to the same number."""


class PasswordLost(EngineError):
    """The data home holds a database, but its password file is missing, or the server refuses the password in it."""


class ServerDied(EngineError):
    """The server exited while starting; carries the end of its log."""

    def __init__(self, reason: str, way_out: str, log_tail: str) -> None:
        super().__init__(reason, way_out)
        self.args = (reason, way_out, log_tail)
        self.log_tail = log_tail

    def __str__(self) -> str:
        return f"{self.reason}:\n{self.log_tail}\n{self.way_out}"


class StoreDamaged(EngineError):
    """The server started, but its database does not open; the server has been stopped."""


class ServerUnresponsive(EngineError):
    """A server process that neither responds nor exits."""


# Fingerprints that cannot be trusted (HMX-F 10, 13).


class FingerprintError(HmxGraphError, ValueError):
    """A fingerprint that cannot be trusted, or an unusable key or file of a fingerprint; nothing was written."""

    code = "invalid"


class FingerprintRefused(FingerprintError):
    """A check of a fingerprint failed, or a key or file is unusable; ``check`` says which.

    Hashes, signatures and versions are not among these checks: each has an error of its own.
    """

    def __init__(self, check: str, reason: str, way_out: str = "nothing was written") -> None:
        super().__init__(check, reason, way_out)
        self.check = check
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        # check="file" stands for an error of the file system, not for a failed check.
        failed = "" if self.check == "file" else f"check {self.check!r} failed: "
        return f"{failed}{self.reason}; {self.way_out}"


class HashMismatch(FingerprintError):
    """A hash that does not match the bytes it covers."""

    def __init__(self, name: str, stated: str, computed: str) -> None:
        super().__init__(name, stated, computed)
        self.name = name
        self.stated = stated
        self.computed = computed

    def __str__(self) -> str:
        return (
            f"{self.name} does not match: stated {self.stated}, computed {self.computed}; "
            "get the envelope again from its sender (HMX-F 10)"
        )


class SignatureMismatch(FingerprintError):
    """A signature that is missing, wrong, or made with a key that is not pinned (not among the trusted keys)."""

    code = "denied"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"signature refused: {self.reason}"


class UnsupportedVersion(FingerprintError):
    """A version of HMX, of an envelope or of a fingerprint that this release cannot read."""

    code = "unsupported"

    def __init__(self, field: str, version: str, supported: str) -> None:
        super().__init__(field, version, supported)
        self.field = field
        self.version = version
        self.supported = supported

    def __str__(self) -> str:
        return f"{self.field} {self.version} is not supported; this release reads {self.supported} (HMX-F 13)"


# The database refused a request, or could not be reached.


# A call may take several steps, each a transaction of its own. Message texts for each outcome of the failed step.
_OUTCOMES = {
    "not stored": "this step wrote nothing, and the call can be repeated; ",
    "unknown": "whether this step was stored is unknown; the call can be repeated: items with an id or an "
    "idempotency key are stored only once; ",
}


class GraphError(HmxGraphError):
    """The database refused a request, or could not be reached.

    A call may take several steps, each a transaction of its own. ``outcome`` is the outcome of the step that failed:
    ``"not stored"``, or ``"unknown"`` if the database did not answer the commit. ``stored`` says what the earlier
    steps of the call had stored.
    """

    outcome = "not stored"
    stored = ""

    @property
    def consequence(self) -> str:
        """What was stored, what was not, and whether the call can be repeated, as a part of the message."""
        return (f"{self.stored}; " if self.stored else "") + _OUTCOMES[self.outcome]


class StorageUnavailable(GraphError, ConnectionError):
    """The database does not answer."""

    code = "unavailable"

    def __init__(self, uri: str, reason: str, outcome: str = "not stored", stored: str = "") -> None:
        super().__init__(uri, reason)
        self.args = (uri, reason, outcome, stored)  # OSError.__init__ would keep only two arguments
        self.uri = uri
        self.reason = reason
        self.outcome = outcome
        self.stored = stored

    def __str__(self) -> str:
        return f"Neo4j at {self.uri} does not answer ({self.reason}); {self.consequence}{self.way_out}"

    @property
    def way_out(self) -> str:
        """The remedy, as the end of the message."""
        return "check HMXGRAPH_URI, or unset it to use the local server (hmxgraph server start)"


class DeadlineExceeded(StorageUnavailable, TimeoutError):
    """The database did not answer in time."""

    def __str__(self) -> str:
        return f"Neo4j at {self.uri} did not answer in time ({self.reason}); {self.consequence}{self.way_out}"

    @property
    def way_out(self) -> str:
        """The remedy, as the end of the message."""
        return "check the server, or allow more time (timeout=, --timeout, HMXGRAPH_TIMEOUT)"


class LocalServerDied(StorageUnavailable):
    """The process of the local server has ended, and the server was not started again."""

    @property
    def way_out(self) -> str:
        """The remedy, as the end of the message."""
        return "to start it: hmxgraph server start; to see why it ended: hmxgraph server logs"


class GraphNotOpen(GraphError, RuntimeError):
    """A graph was used before it was opened, after it was closed, or in another process or event loop."""

    code = "unavailable"

    def __init__(self, way_out: str) -> None:
        super().__init__(way_out)
        self.way_out = way_out

    def __str__(self) -> str:
        return f"the graph is not open; {self.way_out}"


class InvalidAddress(StorageUnavailable):
    """A URI that cannot be a Neo4j address."""

    code = "invalid"

    def __str__(self) -> str:
        return f"{self.uri!r} is not a Neo4j address ({self.reason}); {self.way_out}"

    @property
    def way_out(self) -> str:
        """The remedy, as the end of the message."""
        return (
            "write HMXGRAPH_URI like bolt://host:7687 or neo4j://host:7687 (+s and +ssc for TLS), or unset it to use "
            "the local server (hmxgraph server start)"
        )


class DatabaseMissing(StorageUnavailable):
    """The server has no database of the given name, or that name is ``system``, which cannot hold a graph."""

    def __str__(self) -> str:
        return f"Neo4j at {self.uri} has no such database ({self.reason}); {self.consequence}{self.way_out}"

    @property
    def way_out(self) -> str:
        """The remedy, as the end of the message."""
        return "set HMXGRAPH_DATABASE to one that SHOW DATABASES lists there, or unset it to use the one named neo4j"


class StorageStopped(StorageUnavailable):
    """The server answers but has stopped its database because it could not write; most often the disk is full."""

    def __str__(self) -> str:
        return f"Neo4j at {self.uri} can no longer write its data ({self.reason}); {self.consequence}{self.way_out}"

    @property
    def way_out(self) -> str:
        """The remedy, as the end of the message."""
        return "free some disk space and restart it: hmxgraph server stop, then the same command again"


class AccessDenied(GraphError, PermissionError):
    """Wrong user name or password."""

    code = "denied"

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} refused the login ({self.reason}); {self.consequence}"
            "check HMXGRAPH_USER and HMXGRAPH_PASSWORD"
        )


class NotPermitted(AccessDenied):
    """The user may not read, write or create indexes in the database, or the database is read-only."""

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} denied permission ({self.reason}); {self.consequence}"
            "choose a user who may read, write and create indexes "
            "and constraints (HMXGRAPH_USER), and a database that is not read-only (HMXGRAPH_DATABASE)"
        )


class StatementRefused(GraphError):
    """The server refused one of the packaged statements."""

    def __init__(self, statement: str, code: str, reason: str) -> None:
        super().__init__(statement, code, reason)
        self.statement = statement
        self.server_code = code
        self.reason = reason

    def __str__(self) -> str:
        file, _, part = self.statement.partition(":")
        where = f" ({part})" if part else ""
        stored = f"; {self.stored}; this step wrote nothing" if self.stored else ""
        return f"cypher/{file}.cypher{where} was refused: {self.reason} [{self.server_code}]{stored}"


class NewerStore(GraphError):
    """A newer release prepared this database; this release might derive data that contradicts what is stored."""

    code = "unsupported"

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
    """This database was prepared by a release that is too old to upgrade from."""

    code = "unsupported"

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
    """One database per tenant was requested from a server that cannot create databases."""

    code = "unsupported"

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"Neo4j at {self.uri} cannot create databases ({self.reason}); "
            'use isolation="key", or an edition that supports several databases'
        )


class StatementMisuse(GraphError, TypeError):
    """An unknown statement, or missing or unexpected parameters."""

    code = "invalid"

    def __init__(self, statement: str, missing: tuple[str, ...] = (), unexpected: tuple[str, ...] = ()) -> None:
        super().__init__(statement, missing, unexpected)
        self.statement = statement
        self.missing = missing
        self.unexpected = unexpected

    def __str__(self) -> str:
        if not self.missing and not self.unexpected:
            return f"there is no saved query {self.statement!r:.200}; hmxgraph query lists those of cypher/explore/"
        parts = [f"missing ${name}" for name in self.missing] + [f"unexpected ${name}" for name in self.unexpected]
        way_out = f"; give {', '.join(f'{name}=...' for name in self.missing)}" if self.missing else ""
        return f"cypher/{self.statement}.cypher: {', '.join(parts)}{way_out}"


# Access over HTTP with an API key.


class KeyRefused(HmxGraphError, PermissionError):
    """An API key that is missing, unknown, revoked or expired, or that lacks the scope for a request."""

    code = "denied"

    def __init__(self, reason: str, way_out: str) -> None:
        super().__init__(reason, way_out)
        self.reason = reason
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.reason}; {self.way_out}"


# Violations of the lifecycle of artifacts (HMX-A 1, 5, 7, 8), memories and conflicts.


class LifecycleError(HmxGraphError, ValueError):
    """The request would violate the lifecycle of an artifact, memory or conflict; the refused step wrote nothing."""

    code = "conflict"


class InvalidTransition(LifecycleError):
    """A status change that HMX-A 5 does not list."""

    def __init__(self, artifact_id: str, current: str, target: str, legal: tuple[str, ...]) -> None:
        super().__init__(artifact_id, current, target, legal)
        self.artifact_id = artifact_id
        self.current = current
        self.target = target
        self.legal = legal

    def __str__(self) -> str:
        way_out = (
            f"legal from {self.current!r}: {', '.join(self.legal)}" if self.legal else f"{self.current!r} is final"
        )
        return f"artifact {self.artifact_id!r} cannot go from {self.current!r} to {self.target!r} (HMX-A 5); {way_out}"


class SupersessionCycle(LifecycleError):
    """A supersession that would make an artifact or a memory its own ancestor (HMX-A 7)."""

    def __init__(self, old_id: str, new_id: str) -> None:
        super().__init__(old_id, new_id)
        self.old_id = old_id
        self.new_id = new_id

    def __str__(self) -> str:
        return (
            f"{self.new_id!r} cannot supersede {self.old_id!r}: it has the same id, or is an older version (HMX-A 7); "
            "an artifact needs a new id, a memory a new text or a later time"
        )


class AlreadySuperseded(LifecycleError):
    """The artifact or memory has a successor already, named by ``winner_id``."""

    def __init__(self, old_id: str, winner_id: str) -> None:
        super().__init__(old_id, winner_id)
        self.old_id = old_id
        self.winner_id = winner_id

    def __str__(self) -> str:
        return f"{self.old_id!r} is already superseded by {self.winner_id!r}; supersede that one instead (HMX-A 7)"


class SuccessorMismatch(LifecycleError):
    """A successor that does not continue its predecessor: wrong tenant, type, predecessor, status or version."""

    def __init__(self, old_id: str, field: str, value: str, expected: str) -> None:
        super().__init__(old_id, field, value, expected)
        self.old_id = old_id
        self.field = field
        self.value = value
        self.expected = expected

    def __str__(self) -> str:
        return f"successor of {self.old_id!r} has {self.field} {self.value}, expected {self.expected} (HMX-A 7)"


class SuccessorNeeded(LifecycleError):
    """A transition to ``superseded`` without a successor (HMX-A 7)."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(artifact_id)
        self.artifact_id = artifact_id

    def __str__(self) -> str:
        return (
            f"artifact {self.artifact_id!r} can only become superseded through a successor (HMX-A 7); "
            "give one to supersede()"
        )


class ImmutableArtifact(LifecycleError):
    """The id belongs to an artifact whose immutable fields differ; nothing was written."""

    def __init__(self, artifact_id: str, fields: tuple[str, ...]) -> None:
        super().__init__(artifact_id, fields)
        self.artifact_id = artifact_id
        self.fields = fields

    def __str__(self) -> str:
        names = ", ".join(self.fields)
        return f"artifact {self.artifact_id!r} is stored with different {names} (HMX-A 1); supersede it under a new id"


class DuplicateArtifact(LifecycleError):
    """A successor whose type and content equal those of another draft or active artifact."""

    def __init__(self, artifact_id: str, twin_id: str) -> None:
        super().__init__(artifact_id, twin_id)
        self.artifact_id = artifact_id
        self.twin_id = twin_id

    def __str__(self) -> str:
        return (
            f"artifact {self.artifact_id!r} has the type and content of {self.twin_id!r} (HMX-A 8); "
            "deprecate that one first"
        )


class ConflictClosed(LifecycleError):
    """The conflict was already resolved with another outcome or reason."""

    def __init__(self, conflict_id: str, kept_id: str | None) -> None:
        super().__init__(conflict_id, kept_id)
        self.conflict_id = conflict_id
        self.kept_id = kept_id

    def __str__(self) -> str:
        outcome = f"keeping {self.kept_id!r}" if self.kept_id else "keeping every side"
        return f"conflict {self.conflict_id!r} is already resolved, {outcome}; supersede one of its sides instead"


# The whole tree
#
# ::
#
#     HmxGraphError
#     ├── DocumentError (ValueError)
#     │   ├── MalformedJson             not strict JSON
#     │   ├── NotCanonical              a value without canonical JSON: NaN, a lone surrogate, an integer beyond 2^53-1
#     │   └── InvalidDocument           well-formed JSON that violates a specification; carries every fault
#     ├── NotFound (LookupError)        no such event, artifact, session, cursor, schema ...
#     ├── InvalidTenant (ValueError)    a tenant id that no event could carry
#     ├── InvalidTime (ValueError)      not an ISO 8601 date-time with an offset
#     ├── LifecycleError (ValueError)
#     │   ├── InvalidTransition         not one of the five legal status changes (HMX-A 5)
#     │   ├── SupersessionCycle         would make an artifact or a memory its own ancestor (HMX-A 7)
#     │   ├── AlreadySuperseded         the artifact or memory has a successor already; names it
#     │   ├── SuccessorMismatch         successor of another tenant, type, predecessor, status or version
#     │   ├── SuccessorNeeded           only a successor can make an artifact superseded (HMX-A 7)
#     │   ├── ImmutableArtifact         the same id with other immutable fields (HMX-A 1)
#     │   ├── DuplicateArtifact         a successor equal to another draft or active artifact
#     │   └── ConflictClosed            already resolved, with another outcome or reason
#     ├── PackError (ValueError)
#     │   ├── BudgetTooSmall            less than one token
#     │   ├── InvalidRequest            an argument of the wrong type, form or size; names it
#     │   └── UnknownChoice             a value outside a closed list, such as a strategy, section or mode
#     ├── FingerprintError (ValueError)
#     │   ├── FingerprintRefused        a check of size, JSON, format, structure ... failed; names it
#     │   ├── HashMismatch              one of the two hashes does not match the bytes
#     │   ├── SignatureMismatch         signature missing, wrong, or made with another key
#     │   └── UnsupportedVersion        a version of HMX, envelope or fingerprint that is not supported
#     ├── EmbedderError (RuntimeError)  the embedder raised an error
#     │   └── InvalidVectors (ValueError)  no vectors, or vectors that cannot be used
#     ├── TaskError (ValueError)        a task record that breaks a rule, or that existing records rule out
#     ├── IngestRefused (ValueError)    an unusable source or rejects file, or the first bad line under on_error="raise"
#     ├── KeyRefused (PermissionError)  an API key that is missing, unknown, revoked, expired, or lacks a scope
#     ├── BackupRefused (ValueError)    a backup that cannot be written now, or a file that cannot be restored
#     ├── ParentLoop (ValueError)       events that would be their own cause
#     ├── NotWritten (OSError)          an output file that cannot be written to the given path
#     ├── GraphError
#     │   ├── StorageUnavailable (ConnectionError)
#     │   │   ├── DeadlineExceeded (TimeoutError)  the database did not answer in time
#     │   │   ├── LocalServerDied       the local server's process has ended
#     │   │   ├── InvalidAddress        a URI that cannot be a Neo4j address
#     │   │   ├── DatabaseMissing       the server has no database of that name
#     │   │   └── StorageStopped        the server answers but can no longer write its data
#     │   ├── GraphNotOpen (RuntimeError)  not opened yet, closed, or used in another process or event loop
#     │   ├── AccessDenied (PermissionError)
#     │   │   └── NotPermitted          the user may not read, write or create indexes
#     │   ├── StatementRefused          the server refused a packaged statement; names the statement
#     │   ├── NewerStore                a database prepared by a newer release
#     │   ├── OlderStore                a database too old to be upgraded
#     │   ├── IsolationUnsupported      the server cannot create a database for each tenant
#     │   └── StatementMisuse (TypeError)  unknown statement; missing or unexpected parameters
#     └── EngineError (RuntimeError)    the local server could not be fetched, started, reached or stopped
#         ├── JavaMissing               no Java that this Neo4j runs on
#         ├── JarsUnavailable           not downloadable, or the folder HMXGRAPH_JARS has no Neo4j
#         ├── JarDamaged                a wrong SHA-256, or no readable archive
#         ├── NotEnoughMemory           heap and page cache do not fit into this machine's memory
#         ├── PortTaken                 in use by another program, or the same number for both ports of the server
#         ├── PasswordLost              the password file of the database is missing or wrong
#         ├── ServerDied                exited while starting; carries the end of its log
#         ├── StoreDamaged              started, but its database does not open
#         └── ServerUnresponsive        neither responds nor exits
#
# Each error is made from its fields and builds its message from them; most messages end with the way out.

__all__ = [
    "CODES",
    "AccessDenied",
    "AlreadySuperseded",
    "BackupRefused",
    "BudgetTooSmall",
    "ConflictClosed",
    "DatabaseMissing",
    "DeadlineExceeded",
    "DocumentError",
    "DuplicateArtifact",
    "EmbedderError",
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
    "InvalidVectors",
    "IsolationUnsupported",
    "JarDamaged",
    "JarsUnavailable",
    "JavaMissing",
    "KeyRefused",
    "LifecycleError",
    "LocalServerDied",
    "MalformedJson",
    "NewerStore",
    "NotCanonical",
    "NotEnoughMemory",
    "NotFound",
    "NotPermitted",
    "NotWritten",
    "OlderStore",
    "PackError",
    "ParentLoop",
    "PasswordLost",
    "PortTaken",
    "ServerDied",
    "ServerUnresponsive",
    "SignatureMismatch",
    "StatementMisuse",
    "StatementRefused",
    "StorageStopped",
    "StorageUnavailable",
    "StoreDamaged",
    "SuccessorMismatch",
    "SuccessorNeeded",
    "SupersessionCycle",
    "TaskError",
    "UnknownChoice",
    "UnsupportedVersion",
]
