"""Questions with one answer at a time, told over years: which answer held when.

A *slot* is such a question ("Caroline lives in"), a *span* one answer and the time over which it was told without
another in between. Told later, another answer supersedes; told of the same time, or by another voice, it is disputed.
A *hard* answer, one without exception, gives way to another hard one only; what else is told against it is disputed.
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


@dataclass(slots=True)
class Span:
    """One answer from its first to its last telling; a stored one has a ``key``, a new one only the ``told``."""

    answer: str
    first_us: int
    last_us: int
    voice: str = ""
    key: str = ""
    hard: bool = False
    told: list[Told] = field(default_factory=list)


class Dispute(NamedTuple):
    """A telling that does not fit the span that holds at its time."""

    span: Span
    told: Told


class Timeline(NamedTuple):
    """The spans of a slot in order, those told about now with their tellings, and what is disputed."""

    spans: tuple[Span, ...]
    disputes: tuple[Dispute, ...]


def settle(stored: Iterable[Span], told: Iterable[Told]) -> Timeline:
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
    return Timeline(tuple(spans), tuple(disputes))


def _place(spans: list[Span], one: Told) -> Span | None:
    """Put *one* into *spans*; gives the span that contradicts it, if one does."""
    at = bisect_right(spans, one.time_us, key=lambda span: span.first_us)
    before = spans[at - 1] if at else None
    after = spans[at] if at < len(spans) else None
    if before and before.answer == one.answer:
        _tell(before, one)
    elif before and (one.time_us <= before.last_us or _differ(before, one) or (before.hard and not one.hard)):
        return before
    elif after and after.answer == one.answer:
        _tell(after, one)
    elif after and one.hard and not after.hard:
        return after
    else:
        spans.insert(at, Span(one.answer, one.time_us, one.time_us, one.voice, hard=one.hard, told=[one]))
    return None


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
