"""Timelines of single-valued questions: which answer held when.

A *slot* is a question with one answer at a time ("Caroline lives in"). An *interval* is one answer and the period over
which it was asserted without interruption. A later, different answer supersedes it. A different answer is *disputed*,
which means recorded as a conflict, if it has the same time, comes from another named voice, or falls inside an interval
that cannot be split. A *hard* answer (a rule without exceptions, given with `remember`) is superseded only by another
hard answer; every other answer that contradicts it is disputed.

An assertion may be stored late, although its time lies between two assertions of another answer. It then splits the
interval of that answer, as if it had been stored in time. Stored intervals that may be split carry their assertions.
Intervals do not overlap, and each but the first supersedes the previous one: a linear chain (HMX-A 7). Times are
microseconds since 1970.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Assertion(NamedTuple):
    """An assertion of an answer; ``voice`` says whose answer it is, and is empty if the speaker has authority."""

    time_us: int
    event_key: str
    answer: str
    voice: str = ""
    hard: bool = False


class StoredAssertion(NamedTuple):
    """The time and event of an assertion that is already stored."""

    time_us: int
    event_key: str


@dataclass(slots=True)
class Interval:
    """One answer from its first to its last assertion. Only a stored interval has a ``key``.

    ``new`` holds the assertions of this batch. ``stored`` holds the stored assertions in order: either all, or only the
    first and the last, with empty event keys. After a split between two stored assertions, ``origin`` of both parts is
    the key of the interval under which the store still has them.
    """

    answer: str
    first_us: int
    last_us: int
    voice: str = ""
    key: str = ""
    hard: bool = False
    new: list[Assertion] = field(default_factory=list)
    stored: tuple[StoredAssertion, ...] = ()
    origin: str = ""

    @property
    def first_event(self) -> str:
        """The event of the first assertion."""
        new = (StoredAssertion(assertion.time_us, assertion.event_key) for assertion in self.new)
        return min([*self.stored, *new]).event_key

    def split(self, time_us: int) -> "Interval | None":
        """Cut off and return the part after *time_us*.

        Return None without a split if no stored assertion is later, if any assertion is at *time_us*, or if the split
        would separate stored assertions whose event keys were not loaded.
        """
        before = tuple(stored for stored in self.stored if stored.time_us < time_us)
        after = tuple(stored for stored in self.stored if stored.time_us > time_us)
        separates = bool(before and after)
        occupied = time_us in {stored.time_us for stored in self.stored} | {new.time_us for new in self.new}
        if not after or occupied or (separates and not all(stored.event_key for stored in after)):
            return None
        later = Interval(self.answer, after[0].time_us, self.last_us, self.voice, hard=self.hard, stored=after)
        if separates:
            later.origin = self.origin = self.key or self.origin
        else:  # all stored assertions are later, so the key stays with them
            later.key, later.origin, self.key, self.origin = self.key, self.origin, "", ""
        self.stored = before
        self.last_us = max([stored.time_us for stored in before] + [new.time_us for new in self.new])
        return later


class Dispute(NamedTuple):
    """An assertion that was left out because it contradicts *interval*.

    That is the interval at its time, or, if the assertion is hard, the one after it.
    """

    interval: Interval
    assertion: Assertion


class _Timeline(NamedTuple):
    """The intervals of a slot in order, including new assertions, and the disputes."""

    intervals: tuple[Interval, ...]
    disputes: tuple[Dispute, ...]


def settle(stored: Iterable[Interval], new: Iterable[Assertion]) -> _Timeline:
    """Merge *new* assertions, in order of time, into the *stored* intervals of a slot.

    >>> new = [Assertion(1, "a", "Boston"), Assertion(2, "b", "Boston"), Assertion(5, "c", "Rome")]
    >>> timeline = settle([], [*new, Assertion(5, "d", "Oslo")])
    >>> [(interval.answer, interval.first_us, interval.last_us) for interval in timeline.intervals]
    [('Boston', 1, 2), ('Rome', 5, 5)]
    >>> [(dispute.interval.answer, dispute.assertion.answer) for dispute in timeline.disputes]
    [('Rome', 'Oslo')]
    """
    intervals = sorted(stored, key=lambda interval: (interval.first_us, interval.key))
    disputes: list[Dispute] = []
    for assertion in sorted(new):
        disputed = _insert(intervals, assertion)
        if disputed:
            disputes.append(Dispute(disputed, assertion))
    return _Timeline(tuple(intervals), tuple(disputes))


def _insert(intervals: list[Interval], new: Assertion) -> Interval | None:
    """Insert *new* into *intervals*, or return the interval that contradicts it and leave them as they are."""
    index = bisect_right(intervals, new.time_us, key=lambda interval: interval.first_us)
    before = intervals[index - 1] if index else None
    after = intervals[index] if index < len(intervals) else None
    if before and before.answer == new.answer:
        _extend(before, new)
    elif before and (later := _split(before, new)):
        intervals[index:index] = [_interval_of(new), later]
    elif before and (new.time_us <= before.last_us or _voices_differ(before, new) or (before.hard and not new.hard)):
        return before
    elif after and after.answer == new.answer:
        _extend(after, new)
    elif after and new.hard and not after.hard:
        return after
    else:
        intervals.insert(index, _interval_of(new))
    return None


def _interval_of(new: Assertion) -> Interval:
    return Interval(new.answer, new.time_us, new.time_us, new.voice, hard=new.hard, new=[new])


def _split(interval: Interval, new: Assertion) -> Interval | None:
    """Split *interval* at *new* and return the later part.

    Return None if *new* is not inside it, comes from another named voice, or is not equally hard.
    """
    inside = new.time_us < interval.last_us and interval.hard == new.hard
    return interval.split(new.time_us) if inside and not _voices_differ(interval, new) else None


def _extend(interval: Interval, new: Assertion) -> None:
    interval.first_us = min(interval.first_us, new.time_us)
    if new.time_us >= interval.last_us:
        interval.last_us, interval.voice = new.time_us, new.voice
    interval.hard |= new.hard
    interval.new.append(new)


def _voices_differ(interval: Interval, new: Assertion) -> bool:
    """Whether the two come from different speakers, neither of them with authority."""
    return bool(interval.voice and new.voice) and interval.voice != new.voice


def ends(intervals: Sequence[Interval]) -> tuple[int | None, ...]:
    """When each interval ended: at the first assertion of the next one; None for the last, which still holds.

    >>> ends([Interval("Boston", 1, 2), Interval("Rome", 5, 5)])
    (5, None)
    """
    return (*(interval.first_us for interval in intervals[1:]), None) if intervals else ()
