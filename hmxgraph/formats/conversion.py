"""What a converter receives and returns: records in, one outcome per record out.

A format is a module-level value of :class:`Format`. Its converter is a generator function, so that it can keep what it
must remember between records (the call that a result belongs to) and never holds a whole file in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hmxgraph.errors import Fault

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source: a line of JSONL, an element of an array, or a whole JSON document.

    ``source`` is the file's name (empty for records handed over in memory), ``line`` its 1-based line or element.
    """

    value: Any
    source: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one record; exactly one of the four is set.

    ``events`` are HMX-E documents without ``tenant_id`` (the caller adds it), ``part_of`` is the id of the event that
    the record completes, ``skipped`` says why nothing is stored, ``fault`` what is wrong with it.
    """

    record: Record
    events: tuple[JsonObject, ...] = ()
    part_of: str | None = None
    skipped: str | None = None
    fault: Fault | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """How well a sample fits a format: 0.0 (not at all) to 1.0 (certain), and what a better fit lacks."""

    score: float
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """What the caller knows about a source that its records may not say; None where nothing is known."""

    session_id: str | None = None
    agent_id: str | None = None
    user_id: str | None = None


Convert: TypeAlias = Callable[[Iterable[Record], Origin], Iterator[Outcome]]
Recognise: TypeAlias = Callable[[Sequence[Any]], Match]


@dataclass(frozen=True, slots=True)
class Format:
    """A producer's format: its name on the command line, what it is, how to recognise and convert it."""

    name: str
    title: str
    recognise: Recognise
    convert: Convert


@dataclass(slots=True)
class Sequencer:
    """Sequence numbers of one session: microseconds since 1970, raised by one where two records share an instant.

    Numbers derived from time order records correctly even when they arrive from several files or live beside an import.

    >>> sequence = Sequencer()
    >>> sequence.next(1_000), sequence.next(1_000), sequence.next(900), sequence.next(2_000)
    (1000, 1001, 1002, 2000)
    """

    _last: int = field(default=-1)

    def next(self, time_us: int) -> int:
        """The number for a record of this time, above every number given before."""
        self._last = max(time_us, self._last + 1)
        return self._last
