"""Backups of a tenant: all its data except API keys, as JSON lines that any server with the same schema can load."""

import gzip
import os
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from itertools import groupby, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast

import orjson

from hmxgraph.compiler.reconcile import COMPILER
from hmxgraph.errors import BackupRefused, NotWritten
from hmxgraph.extraction.extract import EVENT_TYPE
from hmxgraph.graph import artifacts, checks, conflicts, exploring, lifecycle, memory_operations
from hmxgraph.graph._events import record as record_events
from hmxgraph.graph.artifacts import BLANK, is_linked, stored_document
from hmxgraph.graph.compilations import LINEAGES, CompileOptions, compile_tenant
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, ask, bind, read, state, write
from hmxgraph.graph.records import stored_record, write_record
from hmxgraph.graph.schema import packaged_schema
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import PreparedEvent, event_document, prepare
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.lifecycle import Conflict
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.protocol.reports import BackupReport, RestoreReport
from hmxgraph.records.events import SESSION, events_of
from hmxgraph.text.terms import counter

# The file: a header, a line for each node with its outgoing relationships, and a footer with counts
# and hashes. It is written under a temporary name and renamed when complete.

FORMAT = 1
Progress: TypeAlias = Callable[[int], object] | None
_TENANT = "Tenant"
_BYTES = "base64"
_PAGE = 500
# Number of characters after which a restore begins another transaction.
_MOST_CHARACTERS = 4_000_000
_ATTEMPTS = 3
_WAY_OUT = "name a file written by hmxgraph backup"


class _Foot(NamedTuple):
    """The footer of a backup: its last line."""

    nodes: dict[str, int]
    relationships: int
    digest: str


# Writing.


def backup(tenancy: Tenancy, path: Path, progress: Progress = None) -> Procedure[BackupReport]:
    """Write all data of the tenant to *path*, in up to three attempts if others write meanwhile.

    Raises:
        BackupRefused: others wrote during each attempt.
        NotWritten: *path* cannot be written.

    """
    for _ in range(_ATTEMPTS):
        before = yield from read(partial(state, tenancy))
        with _backup_file(path) as file:
            foot = yield from _write_tenant(tenancy, file, before, progress)
            after = yield from read(partial(state, tenancy))
            if after != before:
                continue
            file.keep()
        nodes = sum(foot.nodes.values())
        return BackupReport(tenancy.tenant_id, str(path), nodes, foot.relationships, path.stat().st_size, foot.digest)
    raise BackupRefused(str(path), f"the tenant was written to in each of {_ATTEMPTS} attempts", "pause its writers")


class _BackupFile:
    """A file that appears at its path only when complete, with the hash of what was written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.temporary = path.with_name(f".{path.name}.part")
        self.digest = sha256()
        self._kept = False
        self._file = os.fdopen(os.open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        compressed = path.suffix == ".gz"
        self._lines = cast("IO[bytes]", gzip.GzipFile("", "wb", 6, self._file, mtime=0)) if compressed else self._file

    def line(self, value: Any) -> None:
        """Write *value* as one line."""
        text = orjson.dumps(value, default=_as_json) + b"\n"
        self.digest.update(text)
        self._lines.write(text)

    def keep(self) -> None:
        """Let `close` move the file to its path."""
        self._kept = True

    def close(self) -> None:
        """Flush everything to the disk, then move the file to its path, or remove it if it was not kept."""
        try:
            if self._lines is not self._file:
                self._lines.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if self._kept:
                self.temporary.replace(self.path)
        finally:
            self._file.close()
            self.temporary.unlink(missing_ok=True)


def _as_json(value: object) -> dict[str, str]:
    """Bytes as a JSON object: properties may hold bytes but no objects, so this is unambiguous."""
    if not isinstance(value, bytes | bytearray):
        raise TypeError(type(value).__name__)
    return {_BYTES: b64encode(value).decode("ascii")}


def _stored_value(value: Any) -> Any:
    """The property value that a JSON value represents."""
    return b64decode(value[_BYTES]) if isinstance(value, dict) else value


@contextmanager
def _backup_file(path: Path) -> Iterator[_BackupFile]:
    try:
        file = _BackupFile(path)
        try:
            yield file
        finally:
            file.close()
    except OSError as error:
        raise NotWritten(str(path), error.strerror or str(error)) from error


def _write_tenant(
    tenancy: Tenancy, file: _BackupFile, before: Mapping[str, Any], progress: Progress
) -> Procedure[_Foot]:
    head = {"backup": "hmxgraph", "format": FORMAT, "schema": packaged_schema().version}
    file.line(head | {"tenant_id": tenancy.tenant_id, "state_version": before["state_version"]})
    rows = yield from read(lambda: ask(bind("backups/ids", tenant_id=tenancy.tenant_id)))
    ids: list[str] = rows[0]["ids"]
    nodes: Counter[str] = Counter()
    relationships = 0
    for first in range(0, len(ids), _PAGE):
        page = yield from read(partial(_page, tenancy, ids[first : first + _PAGE]))
        for row in page:
            file.line(row)
            nodes["|".join(sorted(row["labels"]))] += 1
            relationships += len(row["outgoing"])
        if progress:
            progress(sum(nodes.values()))
    foot = _Foot(dict(sorted(nodes.items())), relationships, (yield from _digest(tenancy)))
    file.line(foot._asdict() | {"sha256": file.digest.hexdigest()})
    return foot


def _page(tenancy: Tenancy, ids: Sequence[str]) -> Plan[list[Row]]:
    rows = yield bind("backups/page", tenant_id=tenancy.tenant_id, ids=list(ids))
    return rows


def _digest(tenancy: Tenancy) -> Procedure[str]:
    measured = yield from exploring.digest(tenancy)
    return content_hash(measured.document())


# Reading.


def restore(tenancy: Tenancy, path: Path, progress: Progress = None) -> Procedure[RestoreReport]:
    """Load the backup at *path* into the empty tenant, then verify it.

    A backup of the same tenant is restored as it was. One of another tenant is replayed: its
    events, its artifacts that cannot be derived again and its task records are stored under
    this tenant, the rest is derived again, and decisions about memories and conflicts are
    repeated. What an interrupted restore left is removed first; an interrupted replay of the
    same file is continued.

    Raises:
        BackupRefused: the file is not a complete backup of this schema, or the tenant holds other data.

    """
    head, foot, file_hash = _checked(path)
    if head["tenant_id"] == tenancy.tenant_id:
        yield from _empty(tenancy, path)
        yield from _restored(tenancy, path, progress)
        digest = yield from _digest(tenancy)
        same: bool | None = digest == foot.digest
    else:
        yield from _replay(tenancy, path, _key_of_replay(tenancy, file_hash), progress)
        digest, same = (yield from _digest(tenancy)), None
    verified = yield from checks.verify(tenancy)
    return RestoreReport(
        tenancy.tenant_id, str(path), sum(foot.nodes.values()), foot.relationships, digest, same, verified
    )


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as raw:
            compressed = raw.peek(2)[:2] == b"\x1f\x8b"
            yield from gzip.GzipFile(fileobj=raw) if compressed else raw
    except (OSError, EOFError, zlib.error) as error:
        reason = f"it cannot be read: {getattr(error, 'strerror', None) or error}"
        raise BackupRefused(str(path), reason, _WAY_OUT) from error


def _nodes(path: Path) -> Iterator[dict[str, Any]]:
    """The nodes in a checked backup."""
    for line in _lines(path):
        value = orjson.loads(line)
        if "labels" in value:
            yield value


def _checked(path: Path) -> tuple[dict[str, Any], _Foot, str]:
    """The header, footer and hash of a backup, after the hash was verified.

    Raises:
        BackupRefused: it is not an intact backup of this schema.

    """
    digest, head, last = sha256(), b"", b""
    for line in _lines(path):
        head = head or line
        digest.update(last)
        last = line
    try:
        first, foot = orjson.loads(head), orjson.loads(last)
        known = first["backup"] == "hmxgraph" and first["format"] == FORMAT
        intact = foot["sha256"] == digest.hexdigest()
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise _not_a_backup(path) from error
    if not known:
        raise _not_a_backup(path)
    if not intact:
        raise BackupRefused(str(path), "it is truncated or was changed", "use another copy")
    if first["schema"] != (version := packaged_schema().version):
        reason = f"its schema version is {first['schema']}, and this release has {version}"
        raise BackupRefused(str(path), reason, "restore it with the release that wrote it, then upgrade that database")
    return first, _Foot(foot["nodes"], foot["relationships"], foot["digest"]), foot["sha256"]


def _not_a_backup(path: Path) -> BackupRefused:
    return BackupRefused(str(path), "it is not a backup of a tenant", _WAY_OUT)


def _empty(tenancy: Tenancy, path: Path) -> Procedure[None]:
    """Remove what an interrupted restore left; refuse any other tenant that is not empty."""
    rows = yield from read(lambda: ask(bind("tenants/state", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)))
    marks = yield from _marks(tenancy, _key_of_restore(tenancy))
    stored = yield from read(lambda: ask(bind("backups/ids", tenant_id=tenancy.tenant_id)))
    if rows or (stored[0]["ids"] and not marks):
        reason = f"tenant {tenancy.tenant_id!r} is not empty"
        raise BackupRefused(str(path), reason, "restore into an empty database, or under another tenant")
    for ids in _parts(stored[0]["ids"]):
        yield from write(lambda ids=ids: ask(bind("backups/remove", tenant_id=tenancy.tenant_id, ids=ids)))  # type: ignore[misc]


def _parts(rows: Iterable[Any], weigh: Callable[[Any], int] = lambda _: 0) -> Iterator[list[Any]]:
    """*rows* in order, one list per transaction."""
    part: list[Any] = []
    weight = 0
    for row in rows:
        part.append(row)
        weight += weigh(row)
        if len(part) == _PAGE or weight > _MOST_CHARACTERS:
            yield part
            part, weight = [], 0
    if part:
        yield part


# A restore creates a marker node first and removes it last. No event has the marker's key.


def _key_of_restore(tenancy: Tenancy) -> str:
    return tenancy.node_key("restore", "begun")


def _key_of_replay(tenancy: Tenancy, file_hash: str) -> str:
    """The key of the marker of a replay; it includes the file's hash, because only the same file may be continued."""
    return tenancy.node_key("replay", file_hash)


def _marks(tenancy: Tenancy, key: str) -> Procedure[list[Row]]:
    rows = yield from read(lambda: ask(bind("backups/interrupted", tenant_id=tenancy.tenant_id, key=key)))
    return rows


def _mark(tenancy: Tenancy, key: str) -> Plan[str]:
    """Create the marker node with *key*; return its id."""
    created = yield from _create(tenancy, [{"id": "", "labels": ["Awaited"], "properties": {"key": key}}])
    return created[""]


# A backup of the same tenant: nodes, then their relationships; the tenant's own node comes last,
# because it makes the rest valid.


def _restored(tenancy: Tenancy, path: Path, progress: Progress) -> Procedure[None]:
    mark_id = yield from write(partial(_mark, tenancy, _key_of_restore(tenancy)))
    new_ids: dict[str, str] = {}
    tenant_nodes: list[Row] = []
    for part in _parts(_nodes(path), _weight):
        tenant_nodes += [node for node in part if _TENANT in node["labels"]]
        new_ids |= yield from write(partial(_create, tenancy, [node for node in part if _TENANT not in node["labels"]]))
        if progress:
            progress(len(new_ids))
    for part in _parts(_links(path, new_ids)):
        yield from write(partial(_link, tenancy, part))
    yield from write(partial(_finish, tenancy, tenant_nodes, mark_id))


def _weight(node: Mapping[str, Any]) -> int:
    """The number of characters in those properties of a node that may be large."""
    return sum(len(str(node["properties"].get(name, ""))) for name in ("content", "body", "document"))


def _finish(tenancy: Tenancy, tenant_nodes: Sequence[Row], mark_id: str) -> Plan[None]:
    """Create the tenant's own node and remove the marker of the restore, in one transaction."""
    yield bind("backups/remove", tenant_id=tenancy.tenant_id, ids=[mark_id])
    yield from _create(tenancy, tenant_nodes)


def _create(tenancy: Tenancy, nodes: Sequence[Mapping[str, Any]]) -> Plan[dict[str, str]]:
    rows = [
        {
            "id": node["id"],
            "labels": node["labels"],
            "properties": {name: _stored_value(value) for name, value in node["properties"].items()},
        }
        for node in nodes
    ]
    created = yield bind("backups/create", tenant_id=tenancy.tenant_id, batch={"nodes": rows})
    return {row["id"]: row["restored_id"] for row in created}


def _links(path: Path, new_ids: Mapping[str, str]) -> Iterator[Row]:
    for node in _nodes(path):
        for kind, target, properties in node["outgoing"]:
            yield {
                "source_id": new_ids[node["id"]],
                "target_id": new_ids[target],
                "type": kind,
                "properties": properties,
            }


def _link(tenancy: Tenancy, links: Sequence[Row]) -> Plan[None]:
    yield bind("backups/link", tenant_id=tenancy.tenant_id, batch={"links": list(links)})


# A backup of another tenant: its inputs are recorded again, in their original order. These writes may
# be repeated, so an interrupted replay is continued, while an interrupted restore starts again.


def _replay(tenancy: Tenancy, path: Path, key: str, progress: Progress) -> Procedure[None]:
    if not (yield from _marks(tenancy, key)):
        yield from _empty(tenancy, path)
        yield from write(partial(_mark, tenancy, key))
    yield from _replayed(tenancy, path, progress)
    ids = [row["id"] for row in (yield from _marks(tenancy, key))]
    yield from write(lambda: ask(bind("backups/remove", tenant_id=tenancy.tenant_id, ids=ids)))


def _replayed(tenancy: Tenancy, path: Path, progress: Progress) -> Procedure[None]:
    records = sorted(_records(path), key=lambda pair: (pair[0].created_us, pair[1]))
    reported_ids = {event.event_id for entry, sequence in records for event in events_of(entry, sequence)}
    done = 0
    for by_hand, group in groupby(_events(tenancy, path, reported_ids), key=_is_by_hand):
        for part in _parts(group, lambda event: len(event.properties["content"])):
            ordered = tuple(sorted(part, key=lambda event: (event.session_key, event.order)))
            yield from write(partial(record_events, tenancy, Batch(ordered, by_hand=by_hand)))
            done += len(part)
            if progress:
                progress(done)
    for chain in _chains(path):
        yield from _recorded_again(tenancy, chain)
    for entry, _ in records:
        if entry.artifact_kind != "digest":
            yield from write_record(tenancy, TaskRecord.parse(entry.document() | {"tenant_id": tenancy.tenant_id}))
    yield from compile_tenant(tenancy, CompileOptions(full=True))
    yield from _decided_again(tenancy, _Decisions.of(path))


def _records(path: Path) -> Iterator[tuple[TaskRecord, int]]:
    for node in _nodes(path):
        if "TaskRecord" in node["labels"] and not node["properties"].get("erased"):
            yield stored_record(node["properties"]), node["properties"]["sequence"]


def _events(tenancy: Tenancy, path: Path, reported_ids: frozenset[str] | set[str]) -> list[PreparedEvent]:
    """The events that were not erased, except those of task records, in the order in which they were stored."""
    recorded = []
    for node in _nodes(path):
        properties = node["properties"]
        if "Event" in node["labels"] and not properties.get("erased") and properties["event_id"] not in reported_ids:
            wire = {name: value for name, value in properties.items() if name in Event.model_fields or name in _ORIGINS}
            event = Event.parse(event_document(wire) | {"tenant_id": tenancy.tenant_id})
            recorded.append((properties.get("recorded_version", 0), prepare(event, counter())))
    recorded.sort(key=lambda pair: (pair[0], pair[1].session_key, pair[1].order))
    return [event for _, event in recorded]


# Properties stored next to the fields of an event that distinguish given values from computed ones.
_ORIGINS = ("salience_origin",)


def _is_by_hand(event: PreparedEvent) -> bool:
    """Whether `remember` recorded the event."""
    return event.event.event_type == EVENT_TYPE and event.event.session_id == SESSION


# Compiled artifacts are derived again, except in a chain that somebody continued or proposed to continue by hand: there
# they are recorded with their ids, so that the successor has its predecessor and the compiler continues the same chain.


def _chains(path: Path) -> list[list[Row]]:
    """The chains of artifacts that cannot be derived again, each in the order in which its versions are recorded.

    Proposals to succeed a version follow it, before the version that succeeded it: both need an active predecessor.
    """
    chains: dict[str, list[Row]] = {}
    versions = [node["properties"] for node in _nodes(path) if "Artifact" in node["labels"]]
    chain_keys = {version["artifact_id"]: version["chain_key"] for version in versions}
    for version in versions:
        # A draft that is only proposed has a chain key of its own.
        chain_key = chain_keys.get(version.get("supersedes"), version["chain_key"])
        chains.setdefault(chain_key, []).append(version)
    by_hand = [chain for chain in chains.values() if any(version.get("agent_id") != COMPILER for version in chain)]
    for chain in by_hand:
        # Rejected proposals come first: one still open may have the content of a rejected one.
        chain.sort(key=lambda version: (version["version"], is_linked(version), version["status"] == "draft"))
    return sorted(by_hand, key=lambda chain: chain[0]["recorded_us"])


def _recorded_again(tenancy: Tenancy, chain: Sequence[Row]) -> Procedure[None]:
    """Record the versions of a chain with the proposals to succeed them, and change their statuses as before."""
    stored = []
    for version in chain:
        recorded_us = version["status_times"][0]
        receipt = yield from lifecycle.record_artifact(tenancy, _as_recorded(tenancy, version), at_us=recorded_us)
        if receipt.outcome == "duplicate":
            continue
        stored.append(version)
        proposed = version.get("supersedes") and not is_linked(version)
        yield from _changed_again(tenancy, version, ("active", *_ENDED) if proposed else ("active",))
    for version in stored:
        yield from _changed_again(tenancy, version, _ENDED)
    compiled = [version for version in chain if version["lineage_key"].startswith(LINEAGES)]
    if compiled:
        yield from write(partial(_mark_compiled, tenancy, compiled))


_ENDED = ("deprecated", "archived")


def _as_recorded(tenancy: Tenancy, version: Row) -> Artifact:
    """The artifact of a node with the status in which it was recorded; an erased one without content."""
    document = (stored_document(version) or {}) | {"tenant_id": tenancy.tenant_id}
    document["status"] = version["status_values"][0]
    document.pop("superseded_by", None)
    if version.get("erased"):
        document["content_hash"] = content_hash(document["content"])
    return Artifact.parse(document)


def _changed_again(tenancy: Tenancy, version: Row, statuses: Collection[str]) -> Procedure[None]:
    """Make those status changes to one of *statuses* that were not made before a replay was interrupted."""
    history = zip(version["status_values"], version["status_times"], version["status_reasons"], strict=True)
    for (before, *_), (status, at_us, reason) in pairwise(history):
        if status in statuses:
            stored = yield from artifacts.artifact(tenancy, version["artifact_id"])
            if stored.status == before:
                yield from lifecycle.transition(tenancy, stored.artifact_id, status, reason=reason, at_us=at_us)


def _mark_compiled(tenancy: Tenancy, versions: Sequence[Row]) -> Plan[None]:
    """Give *versions* their lineage, by which the compiler knows its chains, and mark those that were erased."""
    rows = [
        {
            "key": tenancy.node_key(version["artifact_id"]),
            "lineage_key": version["lineage_key"],
            "cites_session": bool(version.get("erased")),
        }
        for version in versions
    ]
    batch = {"artifacts": rows}
    yield bind("retention/blank_artifacts", tenant_id=tenancy.tenant_id, batch=batch, blank=dict(BLANK))


# Deletions of memories and resolutions of conflicts are not events, and a successor names its predecessor by an id that
# differs between tenants. A replay repeats all three last: otherwise what no longer holds would count again.

_Side: TypeAlias = tuple[str, str]


class _MemoryNode(NamedTuple):
    """A memory in a backup, with its evidence (ids of events) and its predecessor (a node id)."""

    properties: Row
    event_ids: frozenset[str]
    predecessor: str | None


class _Decisions(NamedTuple):
    """The memories in a backup by node id, and its resolved conflicts by their sides, with the side that was kept."""

    memories: dict[str, _MemoryNode]
    resolved: dict[frozenset[_Side], tuple[Row, _Side | None]]

    @classmethod
    def of(cls, path: Path) -> "_Decisions":
        """The decisions in the backup at *path*."""
        event_ids: dict[str, str] = {}
        sides: dict[str, tuple[str, _Side]] = {}
        memories, resolved = [], []
        for node in _nodes(path):
            labels, properties = node["labels"], node["properties"]
            if "Event" in labels:
                event_ids[node["id"]] = properties["event_id"]
            elif "Memory" in labels:
                memories.append(node)
                sides[node["id"]] = properties["memory_id"], ("memory", properties.get("text") or "")
            elif "Artifact" in labels:
                sides[node["id"]] = properties["artifact_id"], ("artifact", properties["artifact_id"])
            elif "Conflict" in labels and properties["status"] == "resolved":
                resolved.append(node)
        return cls({node["id"]: _memory_node(node, event_ids) for node in memories}, _by_sides(resolved, sides))


def _memory_node(node: Row, event_ids: Mapping[str, str]) -> _MemoryNode:
    links = [(kind, target) for kind, target, _ in node["outgoing"]]
    evidence = frozenset(event_ids[target] for _, target in links if target in event_ids)
    return _MemoryNode(node["properties"], evidence, next((to for kind, to in links if kind == "SUPERSEDES"), None))


def _by_sides(
    conflicts: Iterable[Row], sides: Mapping[str, tuple[str, _Side]]
) -> dict[frozenset[_Side], tuple[Row, _Side | None]]:
    found = {}
    for node in conflicts:
        own = dict(sides[target] for _, target, _ in node["outgoing"] if target in sides)
        kept_id = node["properties"].get("kept_id")
        # A relation is no node: conflicts between relations stay open.
        if kept_id is None or kept_id in own:
            found[frozenset(own.values())] = node["properties"], None if kept_id is None else own[kept_id]
    return found


def _decided_again(tenancy: Tenancy, decisions: _Decisions) -> Procedure[None]:
    """Supersede, delete and resolve again."""
    for memory in decisions.memories.values():
        if memory.predecessor is not None:
            older = decisions.memories[memory.predecessor]
            newer_id, older_id = (yield from _found(tenancy, memory)), (yield from _found(tenancy, older))
            if newer_id and older_id:
                yield from memory_operations.follow(tenancy, newer_id, older_id, older.properties["valid_to_us"])
    for memory in decisions.memories.values():
        at_us = memory.properties.get("deleted_us")
        if at_us is not None and (memory_id := (yield from _found(tenancy, memory))):
            reason = memory.properties.get("delete_reason") or ""
            yield from memory_operations.delete(tenancy, memory_id, reason, at_us)
    if decisions.resolved:
        for conflict in (yield from conflicts.conflicts(tenancy)):
            yield from _resolved_again(tenancy, conflict, decisions.resolved)


def _found(tenancy: Tenancy, memory: _MemoryNode) -> Procedure[str | None]:
    """The id of the tenant's memory with the same text and no other evidence; None if it has more, or is missing."""
    for event_id in sorted(memory.event_ids):
        rows = yield from read(partial(_memories_of, tenancy, event_id))
        # Erased events are not replayed: the next one may be.
        for row in rows:
            if row["text"] == memory.properties.get("text"):
                memory_id: str = row["memory_id"]
                most = len(memory.event_ids) + 1
                evidence = yield from read(partial(memory_operations.evidence, tenancy, memory_id, most))
                return memory_id if memory.event_ids.issuperset(evidence) else None
    return None


def _memories_of(tenancy: Tenancy, event_id: str) -> Plan[list[Row]]:
    event_key = tenancy.node_key(event_id)
    return (yield bind("memory_operations/from_event", tenant_id=tenancy.tenant_id, event_key=event_key))


def _resolved_again(
    tenancy: Tenancy, conflict: Conflict, resolved: Mapping[frozenset[_Side], tuple[Row, _Side | None]]
) -> Procedure[None]:
    # The ids of memories differ between tenants, their texts do not.
    sides: dict[_Side, str] = {
        (side.kind, side.text if side.kind == "memory" else side.side_id): side.side_id for side in conflict.sides
    }
    if (former := resolved.get(frozenset(sides))) is not None:
        properties, kept = former
        keep, reason = None if kept is None else sides[kept], properties.get("resolution") or ""
        yield from conflicts.resolve(
            tenancy, conflict.conflict_id, keep=keep, reason=reason, at_us=properties["resolved_us"]
        )
