"""Questions with one answer at a time, told over years: which answer held when.

A *slot* is such a question ("Caroline lives in"), a *span* one answer and the time over which it was told without
another in between. Told later, another answer supersedes; told of the same time, or by another voice, it is disputed.
A *hard* answer, laid down by hand without exception, gives way to another such one only; what else is told against it
is disputed.
Told late, between two tellings of one answer, another answer parts them as it would have done in time: a stored span
comes with its tellings where it is to be parted.
Spans do not overlap, and each but the first supersedes the one before it: a linear chain (HMX-A 7).
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Told(NamedTuple):
    """An answer as told once: when, where, by whom (empty: by whoever may decide), and whether it is hard."""

    time_us: int
    event_key: str
    answer: str
    voice: str = ""
    hard: bool = False


class Kept(NamedTuple):
    """A telling that is stored: when and where."""

    time_us: int
    event_key: str


@dataclass(slots=True)
class Span:
    """One answer from its first to its last telling; a stored one has a ``key``, a new one only the ``told``.

    ``kept`` are stored tellings in order, or those that bound them, without their events; where a span was parted amid
    them, ``origin`` is the key that they are stored under.
    """

    answer: str
    first_us: int
    last_us: int
    voice: str = ""
    key: str = ""
    hard: bool = False
    told: list[Told] = field(default_factory=list)
    kept: tuple[Kept, ...] = ()
    origin: str = ""

    @property
    def began(self) -> str:
        """The event of its first telling."""
        tellings = [*self.kept, *(Kept(one.time_us, one.event_key) for one in self.told)]
        return min(tellings).event_key

    def parted(self, time_us: int) -> "Span | None":
        """What was told after *time_us*, taken out of this span; None where what is stored does not tell it."""
        before = tuple(one for one in self.kept if one.time_us < time_us)
        after = tuple(one for one in self.kept if one.time_us > time_us)
        amid = bool(before and after)
        then = time_us in {one.time_us for one in self.kept} | {one.time_us for one in self.told}
        if not after or then or (amid and not all(one.event_key for one in after)):
            return None
        later = Span(self.answer, after[0].time_us, self.last_us, self.voice, hard=self.hard, kept=after)
        later.key, later.origin = ("", self.key or self.origin) if amid else (self.key, self.origin)
        self.key, self.origin = (self.key, later.origin) if amid else ("", "")
        self.kept = before
        self.last_us = max([one.time_us for one in before] + [one.time_us for one in self.told])
        return later


class Dispute(NamedTuple):
    """A telling that does not fit the span that holds at its time."""

    span: Span
    told: Told


class _Timeline(NamedTuple):
    """The spans of a slot in order, those told about now with their tellings, and what is disputed."""

    spans: tuple[Span, ...]
    disputes: tuple[Dispute, ...]


def settle(stored: Iterable[Span], told: Iterable[Told]) -> _Timeline:
    """The timeline that *stored* spans and what is *told* now make together; tellings are taken in order of time.

    >>> told = [Told(1, "a", "Boston"), Told(2, "b", "Boston"), Told(5, "c", "Rome"), Told(5, "d", "Oslo")]
    >>> timeline = settle([], told)
    >>> [(span.answer, span.first_us, span.last_us) for span in timeline.spans]
    [('Boston', 1, 2), ('Rome', 5, 5)]
    >>> [(dispute.span.answer, dispute.told.answer) for dispute in timeline.disputes]
    [('Rome', 'Oslo')]
    """
    spans = sorted(stored, key=lambda span: (span.first_us, span.key))
    disputes: list[Dispute] = []
    for one in sorted(told):
        disputed = _place(spans, one)
        if disputed:
            disputes.append(Dispute(disputed, one))
    return _Timeline(tuple(spans), tuple(disputes))


def _place(spans: list[Span], one: Told) -> Span | None:
    """Put *one* into *spans*; gives the span that contradicts it, if one does."""
    at = bisect_right(spans, one.time_us, key=lambda span: span.first_us)
    before = spans[at - 1] if at else None
    after = spans[at] if at < len(spans) else None
    if before and before.answer == one.answer:
        _tell(before, one)
    elif before and (later := _parted(before, one)):
        spans[at:at] = [_new(one), later]
    elif before and (one.time_us <= before.last_us or _differ(before, one) or (before.hard and not one.hard)):
        return before
    elif after and after.answer == one.answer:
        _tell(after, one)
    elif after and one.hard and not after.hard:
        return after
    else:
        spans.insert(at, _new(one))
    return None


def _new(one: Told) -> Span:
    return Span(one.answer, one.time_us, one.time_us, one.voice, hard=one.hard, told=[one])


def _parted(span: Span, one: Told) -> Span | None:
    """What of *span* comes after *one*, where that is told amid it and nothing else speaks against it."""
    amid = one.time_us < span.last_us and span.hard == one.hard
    return span.parted(one.time_us) if amid and not _differ(span, one) else None


def _tell(span: Span, one: Told) -> None:
    span.first_us = min(span.first_us, one.time_us)
    if one.time_us >= span.last_us:
        span.last_us, span.voice = one.time_us, one.voice
    span.hard |= one.hard
    span.told.append(one)


def _differ(span: Span, one: Told) -> bool:
    """Whether two people contradict each other, neither of whom decides."""
    return bool(span.voice and one.voice) and span.voice != one.voice


def ends(spans: Sequence[Span]) -> tuple[int | None, ...]:
    """When each span stopped to hold: at the first telling of the next; None for the one that holds.

    >>> ends([Span("Boston", 1, 2), Span("Rome", 5, 5)])
    (5, None)
    """
    return (*(span.first_us for span in spans[1:]), None) if spans else ()
