"""Recording: events from any source, memories by hand, and forgetting."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import TypedDict, Unpack

from hmxgraph.api._base import Face, Moment, as_us, author_of, now_us
from hmxgraph.errors import InvalidRequest
from hmxgraph.graph import memories, memory_operations, retention
from hmxgraph.graph.ingesting import IngestChoices, IngestOptions
from hmxgraph.ingest.sources import Source
from hmxgraph.protocol.memories import Memory
from hmxgraph.protocol.reports import ForgetReport, Forgettable, IngestReport

# What callers may choose to forget, as the criteria of the plan.

# From the first day of the calendar to its last.
_LONGEST = timedelta(days=date.max.toordinal())


class ForgetChoices(TypedDict, total=False):
    """The keyword arguments of ``forget``."""

    event_id: str | Iterable[str]
    session_id: str
    agent_id: str
    source: str
    before: Moment
    older_than: timedelta
    expired: bool


def forgettable(choices: ForgetChoices) -> Forgettable:
    """The criteria in *choices*.

    Raises:
        InvalidRequest: there is none, or a time span longer than any calendar.

    >>> forgettable({"event_id": "e1", "older_than": timedelta(days=1)}).criteria
    {'event_ids': ('e1',), 'older_than_us': 86400000000}

    """
    given = choices.get("event_id")
    older_than = choices.get("older_than")
    return Forgettable(
        event_ids=(given,) if isinstance(given, str) else None if given is None else tuple(given),
        session_id=choices.get("session_id"),
        agent_id=choices.get("agent_id"),
        source=choices.get("source"),
        before_us=as_us(choices.get("before")),
        older_than_us=None if older_than is None else _microseconds(older_than),
        expired=choices.get("expired", False),
    )


def _microseconds(span: timedelta) -> int:
    if not timedelta(0) <= span <= _LONGEST:
        way_out = f"give one of 0 to {_LONGEST.days:,} days"
        raise InvalidRequest("older_than", str(span), "age that an event can have", way_out)
    return span // timedelta(microseconds=1)


# What goes in: events from any source.


class Recording(Face):
    """The part of the front door through which events come in."""

    def ingest(self, source: Source, **options: Unpack[IngestChoices]) -> IngestReport:
        """A report on every line of *source*: accepted, duplicate, conflicting, or rejected with all its faults.

        *source* is a path (NDJSON, objects over several lines or a JSON array, plain or gz; a folder of such files;
        ``-`` for standard input), an open file, bytes, one event, or an iterable of dicts, events or bytes. Events are
        written in batches, each in one transaction; feeding the same source again writes nothing. What comes through a
        pipe is written as it comes. Where the source raises, what it handed over is stored before its error is raised.

        With :func:`hmxgraph.connect_async`, *source* may be an asynchronous iterable or a stream as well
        (``hmxgraph.ingest.streams``): its messages pass a reorder window of *window_seconds* and are acknowledged after
        their events are committed.

        Options: *on_error* (``"report"`` or ``"raise"`` at the first bad line), *rejects* (a file for bad lines, to be
        mended and fed in again), *batch_size* (1,000), *writers* (1: threads that write, each its own sessions),
        *progress* (called with the number of lines settled), *tokenizer*.

        Raises:
            IngestRefused: the source cannot be opened, or a line is bad and *on_error* is ``"raise"``.

        """
        return self._ingest(source, IngestOptions(**options, clock=now_us))

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        hard: bool = False,
        agent_id: str | None = None,
        at: Moment | None = None,
    ) -> Memory:
        """The memory that *text* becomes, with the event that is its evidence; said again, it is observed once more.

        *kind* is ``"fact"``, ``"preference"``, ``"policy"`` or ``"goal"``; a *hard* policy stands in every pack. It
        counts as said *at* that time, else just after all that the tenant knows. It takes the place of what was said
        before about the same question.

        Raises:
            UnknownChoice: no such kind.
            InvalidRequest: no text, or *hard* for anything but a policy.

        """
        author = author_of(agent_id, at)
        return self._perform(memory_operations.remember(self._tenancy, text, author, kind=kind, hard=hard))

    def memories(
        self,
        *,
        kind: str | None = None,
        status: str | None = None,
        subject: str | None = None,
        as_of: Moment | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> tuple[tuple[Memory, ...], str | None]:
        """A page of memories, newest first, and the cursor of the next page (None on the last).

        Each names the first hundred events that it rests on; ``graph.explain(memory_id)`` tells of all.

        Raises:
            UnknownChoice: there is no such kind or status.
            InvalidRequest: *limit* is no size of a page.
            NotFound: *after* is no cursor of a page before.

        """
        page = memories.memories(
            self._tenancy,
            kind=kind,
            status=status,
            subject=subject,
            as_of_us=as_us(as_of),
            limit=limit,
            after=after,
        )
        return self._perform(page)

    def forget(self, *, dry_run: bool = False, **choices: Unpack[ForgetChoices]) -> ForgetReport:
        """The chosen events erased, with proof; what rested on them alone is deprecated. Take a dry run first.

        What was compiled from their sessions loses its words too: ``compile()`` learns anew from what is left.

        Choose by *event_id* (one or several), *session_id*, *agent_id*, *source*, *before* (a time), *older_than* (a
        timedelta before the tenant's logical now) or *expired* (ttl); an event must meet all that is given. It keeps
        id, hash and place; feeding it in again does not bring it back. Logical now goes back to the latest of what is
        left, whether told by an event, recorded or decided: so goes what a wrong time in an event has done.

        Raises:
            InvalidRequest: nothing was chosen, or a time span longer than any calendar.

        """
        return self._perform(retention.forget(self._tenancy, forgettable(choices), dry_run=dry_run))
