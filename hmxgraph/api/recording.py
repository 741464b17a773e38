"""Record events from any source, remember what callers state, and forget."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack, cast
from uuid import uuid4

from hmxgraph.api._base import Face, Moment, as_us, flag, named_items, now_us, operation, refuse_unknown
from hmxgraph.errors import InvalidRequest, naming
from hmxgraph.extraction.language import Terms
from hmxgraph.formats.conversion import Origin
from hmxgraph.graph import appending, clock, memories, memory_operations, retention
from hmxgraph.graph.appending import Draft, Items
from hmxgraph.graph.embeddings import embed_new
from hmxgraph.graph.ingesting import IngestChoices, IngestOptions, as_microseconds
from hmxgraph.graph.memory_operations import NewMemory
from hmxgraph.ingest.sources import Source
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.memories import Memory
from hmxgraph.protocol.parsing import checked_list, checked_session_id, checked_text, quoted
from hmxgraph.protocol.reports import ClockReport, ForgetCriteria, ForgetReport, IngestReport, Receipt, RecordReport
from hmxgraph.records.events import UNSIGNED, MemoryOperation

# The keyword arguments of ``forget`` as criteria.

# The length of Python's calendar, the years 1 to 9999: no event can be older.
_GREATEST_AGE = timedelta(days=date.max.toordinal())


class ForgetChoices(TypedDict, total=False):
    """The keyword arguments of ``forget``."""

    event_id: str | Iterable[str]
    session_id: str
    agent_id: str
    user_id: str
    source: str
    fingerprint: str
    before: Moment
    older_than: timedelta
    expired: bool
    now: bool


def forget_criteria(choices: ForgetChoices) -> ForgetCriteria:
    """The criteria in *choices*.

    Raises:
        InvalidRequest: there is no criterion, one is unknown or of the wrong type, or *older_than* is negative or
            above 3,652,059 days.
        InvalidTime: *before* is not a valid time.

    >>> forget_criteria({"event_id": "e1", "older_than": timedelta(days=1)}).criteria
    {'event_ids': ('e1',), 'older_than_us': 86400000000}

    """
    refuse_unknown(choices, ForgetChoices, "forget")
    older_than = choices.get("older_than")
    names = ("session_id", "agent_id", "source", "user_id", "fingerprint")
    texts: dict[str, Any] = {
        name: checked_text(name, choices.get(name)) for name in names if choices.get(name) is not None
    }
    return ForgetCriteria(
        **texts,
        event_ids=_event_ids(choices.get("event_id")),
        before_us=as_us(choices.get("before")),
        older_than_us=None if older_than is None else _microseconds(older_than),
        expired=flag(choices, "expired"),
        now_us=now_us() if flag(choices, "now") else None,
    )


def _event_ids(value: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, Iterable):
        raise InvalidRequest("event_id", quoted(value), "text, or a list of texts", "write event_id=['...']")
    return tuple(checked_text("event_id", event_id) for event_id in ([value] if isinstance(value, str) else value))


def _microseconds(span: timedelta) -> int:
    if not isinstance(span, timedelta):
        raise InvalidRequest("older_than", quoted(span), "timedelta", "write timedelta(days=30)")
    if not timedelta(0) <= span <= _GREATEST_AGE:
        way_out = f"give 0 to {_GREATEST_AGE.days:,} days"
        raise InvalidRequest("older_than", str(span), "a possible age of an event", way_out)
    return span // timedelta(microseconds=1)


# The arguments of ``remember``.


class RememberOptions(TypedDict, total=False):
    """The optional keyword arguments of ``remember``."""

    kind: str
    hard: bool
    user_id: str | None
    agent_id: str | None
    at: Moment | None
    supersedes: str | None
    scope: str | Sequence[str] | None
    pinned: bool
    aliases: Sequence[str] | None
    expires: Moment | None
    idempotency_key: str | None


def memory_request(text: str, options: RememberOptions) -> tuple[NewMemory, MemoryOperation]:
    """The memory that the arguments of ``remember`` describe, and the agent, time and event id of the call.

    Raises:
        InvalidRequest: an unknown option, or one that has the wrong type.
        InvalidTime: *at* or *expires* is not a valid time.

    >>> memory_request("Use Biome", {"scope": "code", "at": "1970-01-01T00:00:01Z"})[0].terms.scopes
    ('code',)
    """
    refuse_unknown(options, RememberOptions, "remember")
    scope, supersedes = options.get("scope"), options.get("supersedes")
    terms = Terms(
        (scope,) if isinstance(scope, str) else tuple(checked_list("scope", scope)),
        tuple(checked_list("aliases", options.get("aliases"))),
        flag(options, "pinned"),
        as_us(options.get("expires")),
        "" if supersedes is None else checked_text("supersedes", supersedes),
    )
    kind, hard = options.get("kind", "fact"), flag(options, "hard")
    memory = NewMemory(kind, text, hard=hard, user_id=options.get("user_id"), terms=terms)
    key = options.get("idempotency_key")
    event_id = None if key is None else stable_id("remember", checked_text("idempotency_key", key), text)
    return memory, operation(options.get("agent_id"), options.get("at"), event_id)


def memory_requests(
    memories: Iterable[str | Mapping[str, Any]], options: RememberOptions
) -> list[tuple[NewMemory, MemoryOperation]]:
    """The memories that the arguments of ``remember_all`` describe, as `memory_request` returns each.

    Raises:
        InvalidRequest: *memories* is not a list of texts and mappings, a mapping has no ``text``, or an option is
            unknown or has the wrong type.
        InvalidTime: an ``at`` or ``expires`` is not a valid time.

    >>> [memory.kind for memory, _ in memory_requests(["a", {"text": "b", "kind": "policy"}], {"kind": "goal"})]
    ['goal', 'policy']
    """
    requests = []
    for item, arguments in named_items("memories", memories, options, text="text"):
        with naming(item):
            text = checked_text("text", arguments.pop("text", None))
            requests.append(memory_request(text, cast("RememberOptions", arguments)))
    return requests


# Messages and events of a running agent, and events from any source.


class AppendOptions(TypedDict, total=False):
    """The optional keyword arguments of ``append``."""

    agent_id: str | None
    user_id: str | None
    at: Moment | None
    metadata: Mapping[str, Any] | None
    parent_event_id: str | None
    source: str | None
    idempotency_key: str | None
    tolerance: timedelta


# How far the time of an event that is recorded live may by default be ahead of this machine's clock.
LIVE_TOLERANCE = timedelta(minutes=5)


def latest_live_us(tolerance: timedelta = LIVE_TOLERANCE) -> int:
    """The latest time, in microseconds, that an event recorded live may have; later events are held back until then.

    Raises:
        InvalidRequest: *tolerance* is negative or not a timedelta.

    """
    return now_us() + as_microseconds(tolerance)


def event_draft(event_type: str, content: Mapping[str, Any], session_id: str, options: AppendOptions) -> Draft:
    """The event that the arguments of ``append`` describe.

    Raises:
        InvalidRequest: an unknown option, content or metadata that is not a mapping, a session or key that is not
            text, or a tolerance that is negative or not a timedelta.
        InvalidTime: *at* is not a valid time.

    >>> event_draft("message", {"role": "user", "text": "hi"}, "s", {"idempotency_key": "k"}).timed
    False
    """
    refuse_unknown(options, AppendOptions, "append")
    if not isinstance(content, Mapping):
        raise InvalidRequest("content", quoted(content), "content of an event", "give a dict")
    metadata = options.get("metadata")
    if not isinstance(metadata, Mapping | None):
        raise InvalidRequest("metadata", quoted(metadata), "metadata of an event", "give a dict")
    at, key, user_id = options.get("at"), options.get("idempotency_key"), options.get("user_id")
    return Draft(
        event_type,
        content,
        checked_session_id(session_id),
        str(uuid4()) if key is None else stable_id("append", session_id, checked_text("idempotency_key", key)),
        options.get("agent_id") or UNSIGNED,
        now_us(at),
        timed=at is not None,
        metadata={**(metadata or {}), **({"user_id": user_id} if user_id else {})},
        parent_event_id=options.get("parent_event_id"),
        source=options.get("source"),
        latest_us=latest_live_us(options.get("tolerance", LIVE_TOLERANCE)),
    )


def event_drafts(events: Iterable[Mapping[str, Any]], defaults: Mapping[str, Any]) -> list[Draft]:
    """The events that the arguments of ``append_all`` describe, as `event_draft` returns each.

    Raises:
        InvalidRequest: *events* is not a list of mappings, or one of them is not what ``append`` takes.

    >>> greeting = {"event_type": "message", "content": {"role": "user", "text": "hi"}}
    >>> [draft.session_id for draft in event_drafts([greeting, {**greeting, "session_id": "t"}], {"session_id": "s"})]
    ['s', 't']
    """
    drafts = []
    for item, arguments in named_items("events", events, defaults):
        with naming(item):
            required = {name: arguments.pop(name, None) for name in ("event_type", "content", "session_id")}
            drafts.append(event_draft(**required, options=cast("AppendOptions", arguments)))
    return drafts


class LiveSessions:
    """The state that format converters keep of the sessions that this graph records, such as the tool of each call."""

    MOST_SESSIONS = 1_000

    def __init__(self) -> None:
        self._carried: dict[str, dict[str, Any]] = {}

    def carried(self, session_id: str) -> dict[str, Any]:
        """The state of a session; beyond 1,000 sessions, the state of the first recorded session is dropped."""
        if len(self._carried) >= self.MOST_SESSIONS and session_id not in self._carried:
            self._carried.pop(next(iter(self._carried)))
        return self._carried.setdefault(session_id, {})

    @contextmanager
    def recording(self, session_id: str) -> Iterator["DropRejected"]:
        """Keep items that are not stored out of the state of a session.

        Otherwise, a message that was converted but not stored would be skipped as already read when it is recorded
        again. If the block raises, its changes of the state are undone. The block must pass its items and their report
        to the yielded function, which computes the state again without the rejected items.
        """
        # Not deepcopy, which fails if another thread changes the state meanwhile.
        before = json.dumps(self._carried.get(checked_session_id(session_id), {}))
        try:
            yield partial(self._without_rejected, before)
        except BaseException:
            self._carried[session_id] = json.loads(before)
            raise

    def _without_rejected(self, before: str, items: Items, report: RecordReport) -> RecordReport:
        rejected = frozenset(receipt.position + 1 for receipt in report.receipts if receipt.status == "rejected")
        if rejected:
            self._carried[items.session_id] = items.state_without(rejected, json.loads(before))
        return report


# A function that removes from a session's state what rejected items added, and returns the report on the items.
DropRejected: TypeAlias = Callable[[Items, RecordReport], RecordReport]


class Recorder(NamedTuple):
    """A session to record, with its agent and user."""

    session_id: str
    agent_id: str | None = None
    user_id: str | None = None

    def origin(self, idempotency_key: str | None, live: LiveSessions) -> Origin:
        """The `Origin` of messages that are recorded now; *live* has the state that converters keep of the session."""
        key = str(uuid4())
        if idempotency_key is not None:
            key = stable_id("record", self.session_id, checked_text("idempotency_key", idempotency_key))
        return Origin(self.session_id, self.agent_id, self.user_id, now_us(), key, live.carried(self.session_id))


class Recording(Face):
    """The part of the public API that stores events and memories, and forgets them."""

    _live: LiveSessions

    def record(
        self,
        messages: Any,
        *,
        session_id: str,
        agent_id: str | None = None,
        user_id: str | None = None,
        format: str | None = None,  # noqa: A002 - the word that ingest uses
        idempotency_key: str | None = None,
    ) -> RecordReport:
        """Append an agent's *messages* to its session, and return a receipt for each.

        The messages may be OpenAI chat messages and response items, Anthropic messages, or plain
        ``{"role": ..., "content": ...}``, as dicts or objects of the client libraries. Their format is recognised, or
        named by *format*. Calls are paired with results, arguments given as JSON text are parsed, and outcomes are
        inferred. The engine sets ids, times and sequence numbers; any number of processes may record in one session.
        Pass *idempotency_key* if a call may be repeated: with the same key, the same messages are duplicates. All
        messages are stored in one transaction; an empty list stores nothing.

        Raises:
            InvalidRequest: *messages* is not a list of messages, its format is not recognised, *session_id* is empty or
                not text, or *idempotency_key* is not text.
            UnknownChoice: there is no such format.
            ParentLoop: a message would be its own cause.

        Example::

            report = graph.record([{"role": "user", "content": "Deploy staging"}], session_id="s1")
            assert [receipt.status for receipt in report.receipts] == ["stored"]

        """
        with self._live.recording(session_id) as drop_rejected:
            origin = Recorder(session_id, agent_id, user_id).origin(idempotency_key, self._live)
            items = appending.converted(self._tenancy, messages, origin, format)
            return drop_rejected(
                items, self._perform_then_embed(appending.record(self._tenancy, items, latest_live_us()))
            )

    def append(
        self, event_type: str, content: Mapping[str, Any], *, session_id: str, **options: Unpack[AppendOptions]
    ) -> Receipt:
        """Append one event to the end of a session, and return its receipt; the engine sets id and sequence number.

        Options: *agent_id*, *user_id*, *metadata*, *source*, and

        - *at*: the time of the event. The event is then placed by its time, after events of the same time, instead of
          at the end of the session.
        - *parent_event_id*: the event that caused it.
        - *idempotency_key*: if a key is used again, the same event is a duplicate, and a different one is rejected.
        - *tolerance*: how far *at* may be ahead of this machine's clock, default 5 minutes. From an event that is
          further ahead nothing is learned until its time comes.

        Raises:
            InvalidRequest: an unknown option, content or *metadata* that is not a mapping, a *session_id* that is empty
                or not text, an *idempotency_key* that is not text, or a *tolerance* that is negative or not a
                timedelta.
            ParentLoop: the event would be its own cause through *parent_event_id*.

        Example::

            content = {"role": "user", "text": "Deploy staging"}
            first = graph.append("message", content, session_id="s1", idempotency_key="k1")
            again = graph.append("message", content, session_id="s1", idempotency_key="k1")
            assert (first.status, again.status) == ("stored", "duplicate")

        """
        draft = event_draft(event_type, content, session_id, options)
        receipts = self._perform_then_embed(appending.append_all(self._tenancy, [draft]))
        return receipts[0]

    def append_all(
        self,
        events: Iterable[Mapping[str, Any]],
        *,
        session_id: str | None = None,
        **options: Unpack[AppendOptions],
    ) -> tuple[Receipt, ...]:
        """Append several events in one transaction, and return a receipt for each, in the same order.

        Each event is a mapping of the arguments of :meth:`append`: ``event_type``, ``content``, ``session_id`` and
        options. *session_id* and *options* are defaults for all events. An event that violates HMX-E is rejected, as
        its receipt says; the others are stored. For files and streams of any length, use :meth:`ingest`.

        Raises:
            InvalidRequest: an event that is not a mapping, an unknown option, or content that is not a mapping; the
                error names the event, such as ``events[2]``, and nothing is stored.
            ParentLoop: as ``append`` does.

        """
        drafts = event_drafts(events, options if session_id is None else {"session_id": session_id, **options})
        return self._perform_then_embed(appending.append_all(self._tenancy, drafts))

    def ingest(self, source: Source, **options: Unpack[IngestChoices]) -> IngestReport:
        """Store *source* and report each line: stored, duplicate, conflicting, skipped, or rejected with its faults.

        *source* is a path (JSON lines, objects over several lines or a JSON array, plain or gz; a folder of such files;
        ``-`` for standard input), a list of :class:`pathlib.Path`, an open file, bytes, one event, or an iterable of
        dicts, events or bytes. The format of each file, of a stream and of bytes is recognised from its content; an
        iterable holds HMX-E events unless *format* names another format. Events are written in batches, each in one
        transaction; ingesting the same source again writes nothing. Data from a pipe is written as it arrives. If the
        source raises, what it delivered is stored before the error is raised.

        With :func:`hmxgraph.connect_async`, *source* may be an asynchronous iterable or a stream as well
        (``hmxgraph.ingest.streams``): its messages pass a reorder window of *window_seconds* and are acknowledged after
        their events are committed.

        Options: *format* (a format's name instead of recognition), *session_id*, *agent_id*, *user_id* (for records
        that do not name theirs), *on_error* (``"report"`` or ``"raise"`` at the first bad line), *rejects* (a file that
        receives bad lines, so that you can correct and ingest them; it is emptied first, unless the source cannot be
        read again: a pipe, an open file, a stream or an iterator), *batch_size* (default 1,000 events), *writers* (the
        number of writer threads, each with its own sessions; default 1), *rehome* (store events that name another
        tenant in this one instead of rejecting them), *tolerance* (how far events may be dated ahead of this machine's
        clock, default a day; later events are stored and reported, but nothing is learned from them until their time
        comes), *progress* (called with the number of lines done), *tokenizer* (the encoding with which tokens are
        counted, default ``"o200k_base"``).

        Raises:
            InvalidRequest: an option that is unknown or of the wrong type, or a number out of range.
            UnknownChoice: there is no such *format*, *on_error* or *tokenizer*.
            IngestRefused: the source or the *rejects* file cannot be opened, or a line is bad and *on_error* is
                ``"raise"``.

        Example::

            messages = [{"role": "user", "content": "Deploy staging"}, {"role": "assistant", "content": "Done."}]
            report = graph.ingest(messages, format="messages", session_id="s1")
            assert (report.accepted, report.duplicates, report.rejected) == (2, 0, ())

        """
        refuse_unknown(options, IngestChoices, "ingest")
        return self._ingest(source, IngestOptions(**options, clock=now_us))

    def remember(self, text: str, **options: Unpack[RememberOptions]) -> Memory:
        """Store *text* as a memory and return the memory; the same words again add an observation to it.

        Options:

        - *kind*: ``"fact"`` (default), ``"preference"``, ``"policy"`` or ``"goal"``.
        - *hard*: a policy without exceptions, which is part of every pack of its scope and user.
        - *pinned*: the memory, of any kind, is part of every pack of its scope and user, whatever the question.
        - *scope*: one name or several; packs for other scopes do not contain the memory.
        - *user_id*: only packs for this user contain the memory, that is, packs requested with this ``user_id``, with
          the ``session_id`` of one of the user's sessions, or without either but with a query that names the user.
        - *supersedes*: the id of the memory that this one replaces. Without it, a later answer to the same question
          ("The release manager is Eva") replaces the earlier one ("The release manager is Dan") of its scope and user.
        - *aliases*: further names that a question may use for what the memory is about.
        - *at*: when the memory was stated; default now.
        - *expires*: the time from which it no longer holds, judged by the tenant's logical time or *as_of*.
        - *agent_id*: the agent that states it.
        - *idempotency_key*: for calls that may be repeated; calls with the same key count as one observation.

        Raises:
            UnknownChoice: no such kind.
            InvalidRequest: no text, an option that is unknown or of the wrong type, *hard* for anything but a policy,
                an *idempotency_key* used before for the same text with other options, or *supersedes* together with the
                words of a memory that already supersedes a different one.
            NotFound: there is no memory with the id *supersedes*, or no memory can be extracted from *text*.
            AlreadySuperseded: the memory to supersede has another successor.
            SupersessionCycle: *text* has the words of the memory to supersede, or of one of its predecessors.

        Example::

            graph.remember("The release manager is Dan")
            graph.remember("The release manager is Eva")
            memories, _ = graph.memories()
            assert [memory.text for memory in memories if memory.valid_to is None] == ["The release manager is Eva"]

        """
        memories = self._perform_then_embed(memory_operations.remember(self._tenancy, [memory_request(text, options)]))
        return memories[0]

    def remember_all(
        self, memories: Iterable[str | Mapping[str, Any]], **options: Unpack[RememberOptions]
    ) -> tuple[Memory, ...]:
        """Remember several memories in one transaction, all or none, and return them in the same order.

        Each memory is a text, or a mapping of ``text`` and the options of :meth:`remember`; *options* are defaults for
        all memories.

        Raises:
            UnknownChoice, InvalidRequest, NotFound, AlreadySuperseded, SupersessionCycle: as ``remember`` does.

        """
        return self._perform_then_embed(memory_operations.remember(self._tenancy, memory_requests(memories, options)))

    def embed(self, *, replace: bool = False) -> int:
        """Compute vectors for all stored events that have none, and return the number of these events.

        A graph connected with ``embed=`` computes vectors as it writes; this method is for events stored earlier.
        *replace* computes all vectors of the tenant again, which is needed after a change of model.

        Raises:
            InvalidRequest: the graph was connected without an embedder.
            EmbedderError: the embedder failed; the vectors computed before that are stored.
            InvalidVectors: the embedder returned no vectors, or vectors of another size than the tenant's.

        """
        if self._connection.terms.embedding is None:
            raise InvalidRequest("embed", "(missing)", "an embedder", "connect with embed=, or set HMXGRAPH_EMBED")
        return self._perform(embed_new(self._tenancy, replace=replace), whole=True)

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

        *status* is ``"promoted"``, ``"tentative"``, ``"deprecated"`` or ``"contradicted"``; by default, all. With
        *as_of*, the memories that held then. Each memory lists the first hundred events of its evidence; its
        ``observation_count`` counts all observations.

        Raises:
            UnknownChoice: there is no such kind or status.
            InvalidRequest: *limit* is not a valid page size.
            NotFound: *after* is not the cursor of a previous page.

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

    def repair_clock(self, *, tolerance: timedelta = LIVE_TOLERANCE, dry_run: bool = False) -> ClockReport:
        """Ignore events dated more than *tolerance* after this machine's clock, and set logical time back.

        Logical time is the time of the tenant's latest event. Events ahead of the clock stay stored and are found by
        their id, but do not count for logical time, expiry or recency until their time comes. Normally they are held
        back in this way when they are stored. This call holds back events that were stored by earlier releases or while
        the clock was wrong, and releases events whose time has come, as ``ingest`` and ``compile`` do. *dry_run* only
        lists the events ahead of the clock. To correct the time of an event, forget it and ingest it again under a new
        id.

        Raises:
            InvalidRequest: *tolerance* is negative or not a timedelta.

        """
        return self._perform(clock.repair(self._tenancy, latest_live_us(tolerance), dry_run=dry_run))

    def forget(self, *, dry_run: bool = False, **choices: Unpack[ForgetChoices]) -> ForgetReport:
        """Erase the selected events and deprecate what has no other evidence; do a dry run first.

        Criteria, all of which an event must meet:

        - *event_id* (one or several), *session_id*, *agent_id*, *source*.
        - *user_id*: events whose metadata name the user, and what was remembered for the user.
        - *fingerprint*: the id of an import or of its fingerprint; the import is withdrawn, and what nothing else
          supports is deprecated.
        - *before* (a time), *older_than* (an age), *expired* (events whose ttl has expired). Age and expiry are
          measured at the tenant's logical time or, with *now=True*, by this machine's clock if that is later.

        An erased event keeps its id, hash and position; ingesting it again does not bring it back. Artifacts compiled
        from the sessions of erased events lose their text, too; ``compile()`` learns again from the remaining events.
        Logical time goes back to the latest of the remaining times: of an event, of a status change of an artifact, or
        of a conflict resolved by a person.

        If ``remaining`` is 0 in the report, no selected event still has content. With *user_id*, ``shared_sessions``
        lists the user's sessions that also contain messages of others, who may have repeated what the user said. These
        messages stay until they are erased with *session_id*.

        Raises:
            InvalidRequest: there is no criterion, one is unknown or of the wrong type, or *older_than* is negative or
                above 3,652,059 days.

        Example::

            graph.append("message", {"role": "user", "text": "My card is lost"}, session_id="s1")
            report = graph.forget(session_id="s1")
            assert (len(report.events), report.remaining) == (1, 0)

        """
        return self._perform(retention.forget(self._tenancy, forget_criteria(choices), dry_run=dry_run), whole=True)
