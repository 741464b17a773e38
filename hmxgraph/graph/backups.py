"""Backups of a tenant: all its data except API keys, as JSON lines that any server with the same schema can load."""

import gzip
import os
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EISDIR
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar, cast

import orjson

from hmxgraph.errors import BackupRefused, NotWritten
from hmxgraph.graph import checks, exploring
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, ask, bind, read, state, write
from hmxgraph.graph.replays import Progress, parts, replay
from hmxgraph.graph.schema import packaged_schema
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.reports import BackupReport, RestoreReport

# The file: a header, a line for each node with its outgoing relationships, and a footer with counts
# and hashes. It is written under a temporary name and renamed when complete.

# The version of the file format, in the header.
FORMAT = 1
_TENANT = "Tenant"
# The field of a JSON object that stands for bytes.
_BYTES = "base64"
_NODES_PER_PAGE = 500
# Maximum number of attempts to write, or to restore, one backup.
_MOST_ATTEMPTS = 3
_WAY_OUT = "name a file written by hmxgraph backup"

T = TypeVar("T")


class _Foot(NamedTuple):
    """The footer of a backup: its last line."""

    nodes: dict[str, int]
    relationships: int
    digest: str


# Writing.


def backup(tenancy: Tenancy, path: Path, progress: Progress = None) -> Procedure[BackupReport]:
    """Write the tenant's data, except API keys, to *path*, in up to three attempts if others write meanwhile.

    Raises:
        BackupRefused: others wrote during each attempt.
        NotWritten: *path* cannot be written.

    """
    for _ in range(_MOST_ATTEMPTS):
        before = yield from read(partial(state, tenancy))
        with _backup_file(path) as file:
            foot = yield from _write_tenant(tenancy, file, before, progress)
            after = yield from read(partial(state, tenancy))
            if after != before:
                continue
            file.keep()
        nodes = sum(foot.nodes.values())
        return BackupReport(tenancy.tenant_id, str(path), nodes, foot.relationships, path.stat().st_size, foot.digest)
    raise BackupRefused(
        str(path), f"the tenant was written to in each of {_MOST_ATTEMPTS} attempts", "pause its writers"
    )


class _BackupFile:
    """A file that appears at its path only when complete, with the hash of what was written."""

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if path.exists() and not path.is_file():
            raise OSError("not a file")  # a device would be replaced
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
            with self._file:
                if self._lines is not self._file:
                    self._lines.close()
                self._file.flush()
                os.fsync(self._file.fileno())
            if self._kept:
                self.temporary.replace(self.path)
        finally:
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
    ids = yield from _ids(tenancy)
    nodes: Counter[str] = Counter()
    relationships = 0
    for first in range(0, len(ids), _NODES_PER_PAGE):
        page = yield from read(partial(_page, tenancy, ids[first : first + _NODES_PER_PAGE]))
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

    A backup of the same tenant is restored as it was. A backup of another tenant is replayed: events, task records, and
    artifacts that cannot be derived are stored under this tenant. Other knowledge is derived again, and decisions about
    memories and conflicts are repeated. Imports of fingerprints, vectors, usage and states of frameworks are left out.
    What an interrupted restore left is removed first; an interrupted replay of the same file is continued.

    Raises:
        BackupRefused: the file is not a complete backup of this schema, the tenant holds other data, or another restore
            into it has begun.

    """
    head, foot, file_hash = _checked(path)
    if head["tenant_id"] == tenancy.tenant_id:
        yield from _restore_tenant(tenancy, path, progress)
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
        is_backup = first["backup"] == "hmxgraph" and first["format"] == FORMAT
        intact = foot["sha256"] == digest.hexdigest()
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise _not_a_backup(path) from error
    if not is_backup:
        raise _not_a_backup(path)
    if not intact:
        raise BackupRefused(str(path), "it is truncated or was changed", "use another copy")
    if first["schema"] != (version := packaged_schema().version):
        reason = f"its schema version is {first['schema']}, and this release has {version}"
        raise BackupRefused(str(path), reason, "restore it with the release that wrote it, then upgrade that database")
    return first, _Foot(foot["nodes"], foot["relationships"], foot["digest"]), foot["sha256"]


def _not_a_backup(path: Path) -> BackupRefused:
    return BackupRefused(str(path), "it is not a backup of a tenant", _WAY_OUT)


def _remove_remains(tenancy: Tenancy, path: Path) -> Procedure[None]:
    """Remove what an interrupted restore left; refuse any other tenant that is not empty."""
    ids = yield from _checked_remains(tenancy, path)
    for part in parts(ids):
        yield from write(partial(_remove, tenancy, part))


def _checked_remains(tenancy: Tenancy, path: Path) -> Procedure[list[str]]:
    """The ids of the nodes that an interrupted restore left; refuse any other tenant that is not empty."""
    rows = yield from read(partial(_tenant_node, tenancy))
    marks = yield from _marks(tenancy, _key_of_restore(tenancy))
    ids = yield from _ids(tenancy)
    if rows or (ids and not marks):
        raise _not_empty(tenancy, path)
    return ids


def _not_empty(tenancy: Tenancy, path: Path) -> BackupRefused:
    reason = f"tenant {tenancy.tenant_id!r} is not empty"
    return BackupRefused(str(path), reason, "restore into an empty database, or under another tenant")


def _ids(tenancy: Tenancy) -> Procedure[list[str]]:
    rows = yield from read(lambda: ask(bind("backups/ids", tenant_id=tenancy.tenant_id)))
    ids: list[str] = rows[0]["ids"]
    return ids


def _remove(tenancy: Tenancy, ids: Sequence[str]) -> Plan[None]:
    yield bind("backups/remove", tenant_id=tenancy.tenant_id, ids=list(ids))


def _tenant_node(tenancy: Tenancy) -> Plan[list[Row]]:
    """The tenant's own node, if it exists."""
    rows = yield bind("tenants/state", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)
    return rows


# A restore or replay creates a marker node first and removes it last. No event has the marker's key.


def _key_of_restore(tenancy: Tenancy) -> str:
    return tenancy.node_key("restore", "begun")


def _key_of_replay(tenancy: Tenancy, file_hash: str) -> str:
    """The key of the marker of a replay; it includes the file's hash, because only the same file may be continued."""
    return tenancy.node_key("replay", file_hash)


def _marks(tenancy: Tenancy, key: str) -> Procedure[list[Row]]:
    rows = yield from read(lambda: ask(bind("backups/interrupted", tenant_id=tenancy.tenant_id, key=key)))
    return rows


def _mark(tenancy: Tenancy, key: str) -> Plan[Row]:
    """Create the marker node with *key*, or take over an interrupted one; return its id and the new id of this run."""
    rows = yield bind("backups/begin", tenant_id=tenancy.tenant_id, key=key)
    return rows[0]


# A backup of the same tenant: nodes, then their relationships; the tenant's own node comes last,
# because it makes the rest valid.


class _Steps:
    """The steps of one restore: transactions that are stored only once, even if one is repeated after a lost answer.

    ``lost`` is set if a step turns out to be stored already, or if another restore took over. Then no more steps are
    taken.
    """

    def __init__(self, tenancy: Tenancy, run: str) -> None:
        self.lost = False
        self._tenancy = tenancy
        self._run = run
        self._number = 0

    def take(self, plan: Callable[[], Plan[T]]) -> Procedure[T | None]:
        """The value of *plan*; None if this step or an earlier one was lost."""
        if self.lost:
            return None
        self._number += 1
        value = yield from write(partial(self._guarded, self._number, plan))
        return value

    def _guarded(self, number: int, plan: Callable[[], Plan[T]]) -> Plan[T | None]:
        key = _key_of_restore(self._tenancy)
        rows = yield bind("backups/step", tenant_id=self._tenancy.tenant_id, key=key, run=self._run, step=number)
        self.lost = not rows
        if not rows:
            return None
        value = yield from plan()
        return value


def _restore_tenant(tenancy: Tenancy, path: Path, progress: Progress) -> Procedure[None]:
    """Restore the tenant; begin again if an answer was lost.

    Raises:
        BackupRefused: the tenant is not empty, or another restore took over.

    """
    for _ in range(_MOST_ATTEMPTS):
        yield from _checked_remains(tenancy, path)
        mark = yield from write(partial(_begin, tenancy, path))
        steps = _Steps(tenancy, mark["run"])
        tenant_nodes = yield from _load(tenancy, path, progress, mark["id"], steps)
        yield from steps.take(partial(_finish, tenancy, tenant_nodes, mark["id"]))
        # If the answer to the last step was lost, the tenant's node shows whether the step is stored.
        if not steps.lost or (yield from read(partial(_tenant_node, tenancy))):
            return
        if [row["run"] for row in (yield from _marks(tenancy, _key_of_restore(tenancy)))] != [mark["run"]]:
            break
    raise BackupRefused(str(path), "another restore into this tenant has begun", "wait for it, or run this one again")


def _begin(tenancy: Tenancy, path: Path) -> Plan[Row]:
    """Mark the restore as begun, unless another one was finished meanwhile."""
    mark = yield from _mark(tenancy, _key_of_restore(tenancy))
    if (yield from _tenant_node(tenancy)):
        raise _not_empty(tenancy, path)
    return mark


def _load(tenancy: Tenancy, path: Path, progress: Progress, mark_id: str, steps: _Steps) -> Procedure[list[Row]]:
    """Create the nodes of the backup, then their relationships; returns the tenant's own node, to be created last."""
    remains = yield from _ids(tenancy)
    for ids in parts(id_ for id_ in remains if id_ != mark_id):
        yield from steps.take(partial(_remove, tenancy, ids))
    new_ids: dict[str, str] = {}
    tenant_nodes: list[Row] = []
    for part in parts(_nodes(path), _weight):
        tenant_nodes += [node for node in part if _TENANT in node["labels"]]
        others = [node for node in part if _TENANT not in node["labels"]]
        new_ids |= (yield from steps.take(partial(_create, tenancy, others))) or {}
        if progress and not steps.lost:
            progress(len(new_ids))
    for links in parts(_links(path, new_ids) if not steps.lost else ()):
        yield from steps.take(partial(_link, tenancy, links))
    return tenant_nodes


def _finish(tenancy: Tenancy, tenant_nodes: Sequence[Row], mark_id: str) -> Plan[None]:
    """Create the tenant's own node and remove the marker of the restore, in one transaction."""
    yield bind("backups/remove", tenant_id=tenancy.tenant_id, ids=[mark_id])
    yield from _create(tenancy, tenant_nodes)


def _weight(node: Mapping[str, Any]) -> int:
    """The number of characters in the properties of a node that may be large."""
    return sum(len(str(node["properties"].get(name, ""))) for name in ("content", "body", "document"))


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
        yield from _remove_remains(tenancy, path)
        yield from write(partial(_mark, tenancy, key))
    yield from replay(tenancy, partial(_nodes, path), progress)
    ids = [row["id"] for row in (yield from _marks(tenancy, key))]
    yield from write(lambda: ask(bind("backups/remove", tenant_id=tenancy.tenant_id, ids=ids)))
