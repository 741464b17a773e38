"""Follow files while other programs write them, also through truncation, rotation and restarts."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from glob import escape
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import orjson

from hmxgraph.api._base import now_us
from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import IngestRefused, NotWritten
from hmxgraph.graph.importing import UNKNOWN
from hmxgraph.graph.ingesting import IngestOptions, SourceMemory
from hmxgraph.ingest.sources import ENDINGS, Delivery, Source

if TYPE_CHECKING:
    from hmxgraph.protocol.reports import ConflictingEvent, Rejection

# Files that grow line by line; all others are read whole, again whenever they have changed.
_GROWING = (".jsonl", ".ndjson")
# Maximum number of bytes that a step reads from one growing file, and from all growing files together, so that memory
# use is limited and positions are saved often. A longer line is still read to its end.
_MOST_FILE_BYTES = 8 << 20
_MOST_STEP_BYTES = 32 << 20
# Maximum length of a line in bytes; longer ones are rejected.
_LONGEST_LINE = 64 << 20
# Number of bytes, at each end of the part already read, by which a file is recognised as the same file.
_SEAL_BYTES = 1_024
# A file that does not grow line by line is read once it has not changed for this long. If the date of its last change
# is further in the future than this, waiting would not help, so the file is read at once.
_SETTLED_US = 1_000_000
# Errors which show that there is no longer a file at a path.
_NO_FILE_ERRORS = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
# Number of steps for which a last line without a line end must keep its length. It then counts as complete if it is
# JSON, or if its file was renamed.
_STEPS_AT_REST = 8
# Maximum number of rejections and conflicts that a step keeps for its caller.
_MOST_PROBLEMS = 20

_TABLE = """
CREATE TABLE IF NOT EXISTS positions (
  path TEXT PRIMARY KEY, inode INTEGER, size INTEGER, changed_ns INTEGER, line INTEGER, seal TEXT, format TEXT,
  carried BLOB
)
"""
_SELECT = "SELECT path, inode, size, changed_ns, line, seal, format, carried FROM positions"
_STORE = "INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read: ``size`` bytes and ``line`` lines of the file with that inode.

    ``changed_ns`` is the time of the file's last change, 0 if the file was not read to its end. ``seal`` is a hash over
    both ends of the bytes read. ``carried`` is the state from which the converter of ``format`` resumes.
    """

    inode: int = 0
    size: int = 0
    changed_ns: int = 0
    line: int = 0
    seal: str = ""
    format: str = ""
    carried: bytes = b"{}"


_UNREAD = Position()


class Positions:
    """The positions of followed files, kept in an SQLite file.

    Raises:
        NotWritten: the file cannot be written, or is damaged.

    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unsaved: dict[Path, Position] = {}
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=30)
            self._database.execute(_TABLE)
            self._database.commit()
            self._known = {Path(os.fsdecode(name)): Position(*row) for name, *row in self._database.execute(_SELECT)}

    def get(self, path: Path) -> Position:
        """How far *path* was read."""
        return self._known.get(path, _UNREAD)

    def read_files(self) -> list[Path]:
        """The files of which at least one byte was read."""
        return sorted(path for path, position in self._known.items() if position.size)

    def keep(self, positions: Iterable[tuple[Path, Position]]) -> None:
        """Remember *positions*, and save them.

        Raises:
            NotWritten: the file cannot be written.

        """
        self._unsaved.update(positions)
        self._known |= self._unsaved
        self.save()

    def save(self) -> None:
        """Write the positions that the file lacks, all or none of them.

        Raises:
            NotWritten: the file cannot be written.

        """
        if not self._unsaved:
            return
        with self._writing(), self._database:
            for path, position in self._unsaved.items():
                row = (
                    position.inode,
                    position.size,
                    position.changed_ns,
                    position.line,
                    position.seal,
                    position.format,
                    position.carried,
                )
                self._database.execute(_STORE, (_stored_name(path), *row))
        self._unsaved.clear()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise NotWritten(str(self._path), f"{error}; without it, a restarted watch reads files again") from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()


@dataclass(frozen=True, slots=True)
class _Piece:
    """New lines of one file, and the position after them."""

    path: Path
    lines: tuple[tuple[int, bytes], ...]
    after: Position


@dataclass(slots=True)
class Progress:
    """What a watch has done so far: files followed, lines read, and the outcomes of their events.

    ``rejected`` includes conflicts. ``unfinished`` is the number of files that end mid-line. ``unknown`` lists files in
    an unknown format, which are read again when they change; ``unreadable`` lists files that this user may not read,
    which are tried again at each step. ``behind`` says that there was more data than the last step read.
    """

    files: int = 0
    lines: int = 0
    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    unfinished: int = 0
    unknown: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)
    behind: bool = False

    def document(self) -> dict[str, Any]:
        """The progress as JSON values."""
        return {**asdict(self), "unknown": sorted(self.unknown), "unreadable": sorted(self.unreadable)}


class Watch:
    """Follows a file or a folder for one tenant; each :meth:`step` stores what is new since the last.

    The same line of the same file always gives the same event id, so events read again after a crash are duplicates.
    ``settling`` says that the last step left out data that may not be fully written; a later step stores it, once it
    stops changing. ``problems`` are the first rejections and conflicts of the last step, at most 20; ``progress``
    counts all of them. *user_id* is used for records that name no user; with *rehome*, events that name another tenant
    are stored under this one.

    Raises:
        IngestRefused: there is no such file or folder.

    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        path: Path,
        positions: Positions,
        *,
        format: str | None = None,  # noqa: A002 - the word that ingest uses
        user_id: str | None = None,
        rehome: bool = False,
    ) -> None:
        if not path.exists():
            raise IngestRefused(str(path), "there is no such file or folder to watch")
        self.progress = Progress()
        self.settling = False
        self.problems: list[Rejection | ConflictingEvent] = []
        self._graph = graph
        self._path = path.absolute()
        self._positions = positions
        self._format = format
        self._user_id = user_id
        self._rehome = rehome
        # The length of a last line without a line end, and the number of steps for which it has stayed the same.
        self._last_line_lengths: dict[Path, tuple[int, int]] = {}
        # The versions (inode, size, time) of files in an unknown format, which are read again only after a change.
        self._unknown_versions: dict[Path, tuple[int, int, int]] = {}
        # Former names of renamed files that this step has not read to the end. A new file with such a name must wait.
        self._half_read: set[Path] = set()
        # For each file that is gone or was replaced, the time of the last change of its folder at the last search for
        # the file. It is searched for again only after a later change of the folder.
        self._searched_at_ns: dict[Path, int] = {}

    def step(self) -> int:
        """Store new data, of growing files at most 32 MiB; return the number of events stored.

        Raises:
            NotWritten: the positions cannot be saved. They are kept in memory, and saved by a later step.

        """
        self.problems.clear()
        before = self.progress.accepted
        paths = list(self._files())
        self.progress.files, self.progress.unfinished = len(paths), 0
        self.settling = False
        self._half_read.clear()
        former_names = self._former_names()
        growing = [path for path in paths if path.suffix in _GROWING and path not in former_names]
        if pieces := [*self._pieces(growing, former_names)]:
            self._store(pieces)
        for path in paths:
            if path.suffix not in _GROWING:
                with self._skipping_unreadable(path):
                    self._store_whole(path)
        self._positions.save()
        return self.progress.accepted - before

    def _files(self) -> Iterator[Path]:
        if self._path.is_dir():
            yield from sorted(path for path in self._path.rglob("*") if path.name.endswith(ENDINGS) and path.is_file())
        elif self._path.exists():
            yield self._path

    def _former_names(self) -> dict[Path, Path]:
        """The former name, by the new one, of each file that was renamed, or copied and then truncated."""
        return {
            target: path
            for path in self._positions.read_files()
            if path.suffix in _GROWING and not _is_same_file(path, self._positions.get(path))
            if (target := self._target(path)) is not None
        }

    def _target(self, path: Path) -> Path | None:
        """The new name of the renamed file *path*.

        This is a file in the same folder, not followed yet, that begins with what was read of *path*. Its name begins
        with that of *path* up to the first dot: ``agent.jsonl`` may become ``agent-1.jsonl``. None if there is no such
        file, or if the folder has not changed since the last search.
        """
        position, folder = self._positions.get(path), path.parent
        with suppress(*_NO_FILE_ERRORS):
            changed_ns = folder.stat().st_mtime_ns
            if self._searched_at_ns.get(path) == changed_ns:
                return None
            self._searched_at_ns[path] = changed_ns
        for other in sorted(folder.glob(f"{escape(path.name.partition('.')[0])}*")):
            other_position = self._positions.get(other)
            is_followed = other_position.size and _is_same_file(other, other_position)
            if other != path and not is_followed and _is_same_file(other, position):
                del self._searched_at_ns[path]
                return other
        return None

    def _pieces(self, paths: Iterable[Path], former_names: Mapping[Path, Path]) -> Iterator[_Piece]:
        """The new lines of renamed files, then of *paths*, until a step's maximum is reached."""
        bytes_left = _MOST_STEP_BYTES
        self.progress.behind = False
        renamed = (self._rest_of_renamed(path, target, former_names) for target, path in former_names.items())
        for piece in chain.from_iterable(chain(renamed, map(self._new_lines, paths))):
            bytes_left -= sum(len(line) for _, line in piece.lines)
            yield piece
            if bytes_left <= 0:
                self.progress.behind = True
                return

    def _rest_of_renamed(self, path: Path, target: Path, former_names: Mapping[Path, Path]) -> Iterator[_Piece]:
        """The lines that were appended to *path* before it was renamed to *target*, and that were not read yet.

        After them, a new file at *path* is read from its beginning, and *target* is followed under its own name.
        """
        position = self._positions.get(path)
        with self._skipping_unreadable(target):
            rest = self._read(path, target, position, closed=True)
            size = target.stat().st_size
            yield from rest
            after = rest[-1].after if rest else position
            if size > after.size:
                self._half_read.add(path)
                return
            if path not in former_names:
                yield _Piece(path, (), _UNREAD)
            if target.name.endswith(ENDINGS):
                yield _Piece(target, (), after)

    def _new_lines(self, path: Path) -> Iterator[_Piece]:
        """The lines appended to *path* since the last step."""
        position = self._positions.get(path)
        if path in self._half_read:
            return
        with self._skipping_unreadable(path):
            if _version(path.stat()) not in {
                (position.inode, position.size, position.changed_ns),
                self._unknown_versions.get(path),
            }:
                yield from self._read(path, path, position)

    @contextmanager
    def _skipping_unreadable(self, path: Path) -> Iterator[None]:
        """Skip a file that was removed or replaced since it was listed; record a file that this user may not read."""
        try:
            yield
        except _NO_FILE_ERRORS:
            return
        except PermissionError:
            self.progress.unreadable.add(str(path))
        else:
            self.progress.unreadable.discard(str(path))

    def _read(self, name: Path, path: Path, position: Position, *, closed: bool = False) -> list[_Piece]:
        """The new lines of the file at *path*, which is followed as *name*.

        A renamed file is *closed*: its last line may lack a line end even if it is not JSON.
        """
        with path.open("rb") as file:
            file_stat = os.fstat(file.fileno())
            start = position if position.size and _begins_as_read(file, position) else _UNREAD
            # If the last line was stored without its line end, the next bytes belong to the same line.
            before = start.line - 1 if _ends_mid_line(file, start.size) else start.line
            file.seek(start.size)
            lines, size = self._complete_lines(name, file, file_stat.st_size - start.size, closed=closed)
            end = start.size + size
            after = Position(
                file_stat.st_ino,
                end,
                file_stat.st_mtime_ns if end == file_stat.st_size else 0,
                before + len(lines) if lines else start.line,
                _seal(file, end),
                start.format,
                start.carried,
            )
        numbered = tuple((before + number, line) for number, line in enumerate(lines, start=1) if line.strip())
        return [_Piece(name, numbered, after)] if size or after.inode != position.inode else []

    def _complete_lines(self, path: Path, file: IO[bytes], available: int, *, closed: bool) -> tuple[list[bytes], int]:
        """The complete lines that follow in *file*, and their length in bytes.

        The last line of a file at rest counts as complete without a line end if it is JSON, or if the file is *closed*.
        """
        data = file.read(min(available, _MOST_FILE_BYTES))
        while b"\n" not in data and len(data) < min(available, _LONGEST_LINE):
            # No more data follows if the file was truncated after its size was read.
            if not (more := file.read(_MOST_FILE_BYTES)):
                break
            data += more
        end = data.rfind(b"\n") + 1
        if len(data) < available:
            self.progress.behind = True
            # Without any line end, the line is longer than allowed: pass it on, so that it is rejected.
            end = end or len(data)
        elif end < len(data):
            at_rest, complete = self._at_rest(path, len(data) - end), closed or _is_json(data[end:])
            if at_rest and complete:
                end = len(data)
            else:
                self.progress.unfinished += 1
                self.settling |= complete
        return data[:end].removesuffix(b"\n").split(b"\n") if end else [], end

    def _at_rest(self, path: Path, unfinished: int) -> bool:
        """Count this step; return whether the last line, of *unfinished* bytes, has kept its length long enough."""
        length, steps = self._last_line_lengths.get(path, (0, 0))
        steps = steps + 1 if length == unfinished else 0
        self._last_line_lengths[path] = (unfinished, steps)
        return steps >= _STEPS_AT_REST

    def _store(self, pieces: list[_Piece]) -> None:
        """Store the lines of *pieces*, then save how far their files were read, except those in an unknown format."""
        memory = SourceMemory()
        for piece in pieces:
            if piece.after.format:
                memory.formats[str(piece.path)] = piece.after.format
                memory.carried[str(piece.path)] = orjson.loads(piece.after.carried)
        lines = (Delivery(line, number, str(piece.path)) for piece in pieces for number, line in piece.lines)
        unknown = self._ingest(lines, memory)
        for piece in pieces:
            if piece.path in unknown:
                # More lines may reveal the format: read again when the file has grown.
                with suppress(*_NO_FILE_ERRORS):
                    self._unknown_versions[piece.path] = _version(piece.path.stat())
        self._positions.keep(
            (piece.path, _position_after(piece, memory)) for piece in pieces if piece.path not in unknown
        )

    def _store_whole(self, path: Path) -> None:
        """Store a file that is read whole, unless it is stored already or still being written."""
        position, file_stat = self._positions.get(path), path.stat()
        version = _version(file_stat)
        if version in {(position.inode, position.size, position.changed_ns), self._unknown_versions.get(path)}:
            return
        if abs(now_us() - file_stat.st_mtime_ns // 1_000) < _SETTLED_US:
            self.settling = True
            return
        if self._ingest(path, SourceMemory()):
            self._unknown_versions[path] = version
        else:
            self._positions.keep([(path, Position(*version))])

    def _ingest(self, source: Source, memory: SourceMemory) -> set[Path]:
        """Store *source*, count the outcomes, and return the files whose format is unknown."""
        options = IngestOptions(
            format=self._format, user_id=self._user_id, clock=now_us, memory=memory, rehome=self._rehome
        )
        report = self._graph._ingest(source, options)  # noqa: SLF001 - both belong to the API
        unknown = {Path(file.source) for file in report.sources if file.format == UNKNOWN}
        self.progress.unknown |= {str(path) for path in unknown}
        self.progress.unknown -= {file.source for file in report.sources if file.format != UNKNOWN}
        self.progress.lines += sum(file.lines for file in report.sources if file.format != UNKNOWN)
        self.progress.accepted += report.accepted
        self.progress.duplicates += report.duplicates
        self.progress.rejected += report.rejected_count + report.conflicts - len(unknown)
        rejected = (rejection for rejection in report.rejected if Path(rejection.source) not in unknown)
        self.problems += islice(chain(rejected, report.conflicting), _MOST_PROBLEMS - len(self.problems))
        return unknown


def _stored_name(path: Path) -> str | bytes:
    """The name of *path*, as bytes if it is not UTF-8."""
    name = str(path)
    return os.fsencode(name) if any("\udc80" <= character <= "\udcff" for character in name) else name


def _version(file_stat: os.stat_result) -> tuple[int, int, int]:
    """The inode, size and time of the last change of a file; if any of them differs, the file has changed."""
    return file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns


def _position_after(piece: _Piece, memory: SourceMemory) -> Position:
    """The position after *piece*, with the recognised format and the state of its converter."""
    name = str(piece.path)
    carried = orjson.dumps(memory.carried.get(name, {}))
    return replace(piece.after, format=memory.formats.get(name, ""), carried=carried)


def _is_same_file(path: Path, position: Position) -> bool:
    """Whether the file at *path* is still the one that was read up to *position*: unchanged, or only grown."""
    with suppress(*_NO_FILE_ERRORS):
        if _version(path.stat()) == (position.inode, position.size, position.changed_ns):
            return True
        with path.open("rb") as file:
            return _begins_as_read(file, position)
    return False


def _begins_as_read(file: IO[bytes], position: Position) -> bool:
    """Whether *file* begins with what was read up to *position*, judged by the seal."""
    return os.fstat(file.fileno()).st_size >= position.size and _seal(file, position.size) == position.seal


def _seal(file: IO[bytes], size: int) -> str:
    """A hash over both ends of the first *size* bytes of *file*."""
    file.seek(0)
    head = file.read(min(size, _SEAL_BYTES))
    file.seek(max(0, size - _SEAL_BYTES))
    return sha256(head + file.read(min(size, _SEAL_BYTES))).hexdigest()


def _ends_mid_line(file: IO[bytes], size: int) -> bool:
    """Whether the first *size* bytes end without a line end."""
    file.seek(max(0, size - 1))
    return file.read(min(size, 1)) not in {b"", b"\n"}


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
