"""The interface of formats: a converter receives records and yields one outcome for each.

Each format is a module-level value of the class :class:`Format`. Its converter is a generator function that takes one
record at a time and never holds a whole file in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hmxgraph.errors import Fault

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source: a line of JSONL, an element of an array, or a whole JSON document.

    ``source`` is the absolute path of the file or another name, such as ``stdin``; it is empty for records that are
    passed one by one. ``line`` is the number of the line or element, from 1. Both must stay the same when the source is
    read again, because the session, order or id of a record may depend on them.
    """

    value: Any
    source: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one record; exactly one of ``events``, ``part_of``, ``skipped`` and ``fault`` is set.

    ``events`` are HMX-E documents without ``tenant_id``, which the caller adds. ``part_of`` is the id of the event that
    the record completes or repeats, ``skipped`` the reason why nothing is stored, ``fault`` what is wrong with the
    record. If the record has events, ``left_out`` gives the reason for each part without an event, and ``warnings``
    lists values that are stored in a different form.
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
    """How well a sample fits a format, from 0.0 (not at all) to 1.0 (certainly), and what it lacks for a better fit."""

    score: float
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Facts about a source that its records may lack, as stated by the caller; None for unknown.

    ``time_us`` is the time of records that have none: the time of the file, or the current time. Their events have
    ``"undated": true`` in metadata; a stored event with the same id then counts as the same event, even if its time
    differs. ``key`` is the prefix of the ids of records without one: pass a new key for each live call, or the caller's
    idempotency key. Without a key, such ids are made from the session, the position in the record and the content, in a
    few cases also from the line.

    ``carried`` is what the converter remembers between records, such as the tool of each call id: a JSON object that it
    reads and extends. To resume a source midway, store it with the offset and pass it in again.
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
    """A format of logs or exports: its name on the command line, its title, how to recognise and how to convert it.

    The ``sequence`` of a converted event is the time of its record in microseconds since 1970, plus an offset that
    orders parts of a record and records with the same time. So events of a session are in order even if they come from
    several files, or from a live session during an import.
    """

    name: str
    title: str
    recognise: Recognise
    convert: Convert
