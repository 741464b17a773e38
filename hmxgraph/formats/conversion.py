"""The interface of converters: records in, one outcome per record out.

A format is a module-level value of :class:`Format`. Its converter is a generator function that takes one record at a
time and never holds a whole file in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hmxgraph.errors import Fault

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source: a line of JSONL, an element of an array, or a whole JSON document.

    ``source`` is the absolute path of the file, else the name of the source (``stdin``), empty for records passed one
    by one; ``line`` is the number of the record's line or element, from 1. Both must stay the same when the source is
    read again, because the session, order or id of a record may depend on them.
    """

    value: Any
    source: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one record; exactly one of ``events``, ``part_of``, ``skipped`` and ``fault`` is set.

    ``events`` are HMX-E documents without ``tenant_id`` (the caller adds it), ``part_of`` is the id of the event that
    the record completes or repeats, ``skipped`` says why nothing is stored, ``fault`` what is wrong with it. If the
    record has events, ``left_out`` gives the reason for each part that became no event, and ``warnings`` says which
    values were stored in another form than written.
    """

    record: Record
    events: tuple[JsonObject, ...] = ()
    part_of: str | None = None
    skipped: str | None = None
    fault: Fault | None = None
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """How well a sample fits a format: 0.0 (not at all) to 1.0 (certain), and what it lacks for a better fit."""

    score: float
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Facts about a source that its records may lack, as stated by the caller; None for unknown.

    ``time_us`` is the time of records that have none (the file's, or now). Their events say ``"undated": true`` in
    metadata: a stored event with the same id then counts as the same event, whatever its time. ``key`` is the prefix of
    ids made for records without one: pass a new key for each live call, or the caller's idempotency key. Without a key,
    such ids come from session, position in the record and content, in a few cases also from the line.

    ``carried`` is what the converter has to remember between records (the tool that a call id belongs to, the session
    that a header opened): a JSON object that it reads and extends. To resume a source midway, store it with the offset
    and pass it in again.
    """

    session_id: str | None = None
    agent_id: str | None = None
    user_id: str | None = None
    time_us: int | None = None
    key: str | None = None
    carried: JsonObject = field(default_factory=dict)


Convert: TypeAlias = Callable[[Iterable[Record], Origin], Iterator[Outcome]]
Recognise: TypeAlias = Callable[[Sequence[Any]], Match]


@dataclass(frozen=True, slots=True)
class Format:
    """A producer's format: its name on the command line, its title, how to recognise and convert it.

    The ``sequence`` of a converted event is its record's time in microseconds since 1970, plus an offset that orders
    parts and records of the same time. So events are in order even when they arrive from several files, or live while
    an import runs.
    """

    name: str
    title: str
    recognise: Recognise
    convert: Convert
