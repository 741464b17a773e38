"""Explicit operations on memories (add, delete, supersede, judge), most recorded as events, and memory search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from hmxgraph.errors import AlreadySuperseded, InvalidRequest, NotFound, SupersessionCycle, UnknownChoice
from hmxgraph.extraction.extract import EVENT_TYPE, KINDS
from hmxgraph.extraction.language import NO_TERMS, Terms
from hmxgraph.graph import memories
from hmxgraph.graph._events import record as record_batch
from hmxgraph.graph._paging import term_query
from hmxgraph.graph.appending import append
from hmxgraph.graph.artifacts import ALWAYS
from hmxgraph.graph.conflicts import settle
from hmxgraph.graph.memories import held_status
from hmxgraph.graph.plan import Plan, Procedure, Row, Statement, Tenancy, bind, bump, open_batch, read, state, write
from hmxgraph.graph.record_digests import digest
from hmxgraph.graph.record_search import Shape, checked_limit, shaped
from hmxgraph.graph.records import views
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import PreparedEvent, prepare
from hmxgraph.protocol.memories import Memories, Memory, MemoryHit, MemoryResult, MemoryView
from hmxgraph.protocol.parsing import checked_text
from hmxgraph.protocol.record_results import RecordView
from hmxgraph.protocol.timestamps import iso
from hmxgraph.recall.question import LONGEST_QUESTION
from hmxgraph.records.digests import digest_name, mode_of
from hmxgraph.records.events import (
    SESSION,
    MemoryOperation,
    addition_content,
    feedback_content,
    memory_event,
    outcome_content,
)
from hmxgraph.records.maintenance import OUTCOMES, SIGNALS, grounded_tier, hidden_reason, weighed
from hmxgraph.text.terms import counter, terms

# Results of the operations.

# The properties of a memory that its view includes.
_VIEW_PROPERTIES = (
    *("memory_id", "kind", "text", "status", "confidence", "subject", "predicate", "object"),
    *("observation_count", "project_id", "tags", "hard", "useful", "useless", "delete_reason"),
)


def _memory_view(row: Row, records: Sequence[RecordView], now_us: int) -> MemoryView:
    """The view of a row of ``memory_operations/search`` or ``get``; an end after *now_us* is treated as no end."""
    memory = row["memory"]
    ends_us = min(memory.get("valid_to_us", ALWAYS), memory.get("expires_us", ALWAYS))
    ended = ends_us <= now_us or not memory["text"]
    held = memory | ({} if ended else {"valid_to_us": None, "delete_reason": None, "status": held_status(memory)})
    superseded_by = row["superseded_by"] if ended else None
    reason = hidden_reason(
        held["status"],
        superseded=superseded_by is not None,
        deleted=memory.get("deleted_us") is not None,
        ended=ended,
        started=memory["valid_from_us"] <= now_us,
    )
    return MemoryView(
        memory["memory_id"],
        memory["kind"],
        memory["text"],
        held["status"],
        grounded_tier([view.trust_tier for view in records]),
        _properties(held) | _last_source(row.get("last_event") or {}),
        tuple(view.artifact_id for view in records),
        tuple(row.get("event_ids", ())),
        reason or ("proposed" if memory.get("proposed") else None),
        superseded_by,
        row.get("supersedes"),
    )


def _last_source(event: Row) -> dict[str, str]:
    """Where a memory was last stated; text from outside sources has the label that packs show."""
    return {name: event[name] for name in ("label", "source") if event.get(name)}


def _properties(memory: Row) -> dict[str, Any]:
    properties = {name: memory[name] for name in _VIEW_PROPERTIES if memory.get(name) is not None}
    times = {"first_us": "first_seen", "last_us": "last_seen", "valid_from_us": "valid_from", "valid_to_us": "valid_to"}
    return properties | {
        shown: iso(memory[stored]) for stored, shown in times.items() if memory.get(stored) is not None
    }


# Search and reading; memories that ended, were superseded or deleted stay hidden unless asked for.

# The full-text index also contains artifacts and hidden memories, so over-fetch: first POOL times the limit, at least
# MIN_POOL. As long as too few hits are visible, search again for _WIDER times as many, up to _MAX_EXAMINED.
MIN_POOL = 60
POOL = 4
_WIDER = 8
_MAX_EXAMINED = 30_720
# Maximum number of siblings of a hit: memories of its project that come from the same event, or from the conversation
# event that one of its tags names.
SIBLINGS = 8


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """A search for memories: words, kind, project, mode, and the time as of which they hold (None: logical time).

    A memory bound to a user is found by that user's id, by a session of that user, or else by a query naming the user;
    with *include_hidden*, in any case.
    """

    query: str
    kind: str | None = None
    project_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    mode: str = "generic"
    limit: int = 20
    include_hidden: bool = False
    as_of_us: int | None = None
    shape: Shape = field(default_factory=Shape)

    @property
    def question(self) -> str:
        """The part of the query that is searched: its beginning, if it is very long."""
        return self.query[:LONGEST_QUESTION]

    def checked(self) -> "MemoryQuery":
        """The search itself, if it is valid.

        Raises:
            UnknownChoice: no such kind or mode.
            InvalidRequest: the query is not text, or the limit is outside 1..500.

        """
        checked_text("query", self.query, "say in words what to look for")
        mode_of(self.mode)
        checked_limit(self.limit)
        if self.kind is not None and self.kind not in KINDS:
            raise UnknownChoice("kind", self.kind, KINDS)
        return self


def search(tenancy: Tenancy, request: MemoryQuery) -> Procedure[MemoryResult]:
    """Search memories, best first; modes other than ``generic`` and ``resume_task`` add a digest, recomputed if stale.

    Raises:
        UnknownChoice: no such kind or mode.
        InvalidRequest: the query is not text, or the limit is outside 1..500.

    """
    role = mode_of(request.checked().mode).role
    hits = yield from read(lambda: _search(tenancy, request))
    shaped_hits, budget_use = shaped(hits, request.shape)
    view = None
    if role is not None and role != "task_resume":
        view = yield from digest(tenancy, digest_name(role, project_id=request.project_id))
    return MemoryResult(shaped_hits, request.mode, view, *budget_use)


def memory(tenancy: Tenancy, memory_id: str) -> Procedure[MemoryView]:
    """The memory with this id and the ids of its first 100 events, even if hidden.

    Raises:
        NotFound: there is no such memory.

    """
    return (yield from read(lambda: _memory_by_id(tenancy, memory_id)))


def _memory_by_id(tenancy: Tenancy, memory_id: str) -> Plan[MemoryView]:
    """The memory with this id, as a plan.

    Raises:
        NotFound: there is no such memory.

    """
    key = tenancy.node_key(checked_text("memory_id", memory_id))
    rows = yield bind("memory_operations/get", tenant_id=tenancy.tenant_id, key=key)
    if not rows:
        raise NotFound("memory", memory_id, tenancy.tenant_id)
    now_us = yield from _now(tenancy, None)
    records = yield from views(tenancy, rows[0]["record_keys"])
    return _memory_view(rows[0], records, now_us)


def evidence(tenancy: Tenancy, memory_id: str, limit: int) -> Plan[list[str]]:
    """The ids of the newest events that are evidence for a memory, newest first; none if there is no such memory."""
    key = tenancy.node_key(checked_text("memory_id", memory_id))
    rows = yield bind("memory_operations/evidence", tenant_id=tenancy.tenant_id, key=key, limit=limit)
    return [row["event_id"] for row in rows]


def _search(tenancy: Tenancy, request: MemoryQuery) -> Plan[tuple[MemoryHit, ...]]:
    now_us = yield from _now(tenancy, request.as_of_us)
    visible_hits: list[MemoryHit] = []
    limit, may_have_more = max(MIN_POOL, POOL * request.limit), True
    while may_have_more and len(visible_hits) < request.limit:
        [row] = yield _search_statement(tenancy, request, limit)
        hits = yield from _hits(tenancy, row["memories"], now_us)
        visible_hits = [hit for hit in hits if request.include_hidden or hit.view.hidden_reason is None]
        may_have_more = limit <= row["hit_count"] and limit < _MAX_EXAMINED
        limit = min(limit * _WIDER, _MAX_EXAMINED)
    best_hits = sorted(visible_hits, key=lambda hit: (-hit.score, hit.memory_id))[: request.limit]
    if request.shape.expand_event_siblings:
        best_hits = yield from _with_siblings(tenancy, request, best_hits)
    return tuple(best_hits)


def _search_statement(tenancy: Tenancy, request: MemoryQuery, limit: int) -> Statement:
    return bind(
        "memory_operations/search",
        tenant_id=tenancy.tenant_id,
        question=term_query(tenancy.scope, terms(request.question)),
        kind=request.kind,
        project_id=request.project_id,
        limit=limit,
        **_visibility(tenancy, request),
    )


def _visibility(tenancy: Tenancy, request: MemoryQuery) -> Row:
    """The parameters that decide which memories of users and which proposals a search may return."""
    user_id, session_id = request.user_id, request.session_id
    return {
        "owners": memories.audience(tenancy, request.question, user_id=user_id, session_id=session_id),
        "session_key": tenancy.node_key(session_id) if session_id and not user_id else "",
        "include_hidden": request.include_hidden,
    }


def _hits(tenancy: Tenancy, rows: Sequence[Row], now_us: int) -> Plan[list[MemoryHit]]:
    records = yield from _records(tenancy, rows)
    best_score = max((row["score"] for row in rows), default=1.0) or 1.0
    return [_hit(row, records, best_score, now_us) for row in rows]


def _now(tenancy: Tenancy, as_of_us: int | None) -> Plan[int]:
    """The requested time, else the tenant's logical time."""
    if as_of_us is not None:
        return as_of_us
    tenant = yield from state(tenancy)
    return tenant["logical_us"] or 0


def _records(tenancy: Tenancy, rows: Sequence[Row]) -> Plan[dict[str, RecordView]]:
    keys = sorted({key for row in rows for key in row["record_keys"]})
    record_views = (yield from views(tenancy, keys)) if keys else ()
    return {tenancy.node_key(view.artifact_id): view for view in record_views}


def _hit(row: Row, records: Mapping[str, RecordView], best_score: float, now_us: int) -> MemoryHit:
    memory = row["memory"]
    view = _memory_view(row, [records[key] for key in row["record_keys"] if key in records], now_us)
    score = weighed(row["score"] / best_score, memory.get("useful", 0), memory.get("useless", 0))
    return MemoryHit(view, score, view.text)


def _with_siblings(tenancy: Tenancy, request: MemoryQuery, hits: Sequence[MemoryHit]) -> Plan[list[MemoryHit]]:
    keys = [tenancy.node_key(hit.memory_id) for hit in hits]
    rows = yield bind(
        "memory_operations/siblings",
        tenant_id=tenancy.tenant_id,
        batch={"keys": keys},
        limit=SIBLINGS,
        **_visibility(tenancy, request),
    )
    siblings_of_memory = {row["key"]: tuple(row["siblings"]) for row in rows}
    return [
        replace(hit, expanded_siblings=siblings_of_memory.get(key, ())) for key, hit in zip(keys, hits, strict=True)
    ]


# Explicit changes: add, delete, supersede, link to a predecessor, judge. All but `delete` and `follow` are recorded as
# events.


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to add: kind, text, project, tags, whether a policy is hard, its user, and ``terms`` such as expiry."""

    kind: str
    text: str
    project_id: str | None = None
    tags: tuple[str, ...] = ()
    hard: bool = False
    user_id: str | None = None
    terms: Terms = NO_TERMS

    def checked(self) -> "NewMemory":
        """The memory itself, if it is valid.

        Raises:
            UnknownChoice: no such kind.
            InvalidRequest: no text, an empty scope or alias, a value that is not valid text, *hard* for anything but a
                policy.

        """
        if self.kind not in KINDS:
            raise UnknownChoice("kind", self.kind, KINDS)
        if self.hard and self.kind != "policy":
            raise InvalidRequest(
                "hard", f"for kind {self.kind!r}", "kind 'policy'", 'write kind="policy", or leave "hard" out'
            )
        ids = (("project_id", self.project_id), ("user_id", self.user_id))
        for name, value in (*ids, *(("tags", tag) for tag in self.tags)):
            if value is not None:
                checked_text(name, value)
        word_lists = [("scope", self.terms.scopes), ("aliases", self.terms.aliases)]
        for name, value in (("text", self.text), *((name, value) for name, values in word_lists for value in values)):
            if not checked_text(name, value).strip():
                raise InvalidRequest(name, repr(value), "words", f"say the {name} in words")
        return self

    @property
    def content(self) -> dict[str, Any]:
        """The content of the event that states the memory."""
        terms, expires_us = self.terms, self.terms.expires_us
        optional: dict[str, Any] = {
            "user_id": self.user_id,
            "scope": list(terms.scopes),
            "aliases": list(terms.aliases),
            "pinned": terms.pinned,
            "expires": None if expires_us is None else iso(expires_us),
            "supersedes": terms.supersedes,
        }
        stated = {name: value for name, value in optional.items() if value}
        return addition_content(self.kind, self.text, hard=self.hard) | stated

    @property
    def described(self) -> dict[str, Any]:
        """The memory's properties that the event does not state: project and tags, if given."""
        properties: dict[str, Any] = {"project_id": self.project_id, "tags": list(self.tags) or None}
        return {name: value for name, value in properties.items() if value is not None}


def add(tenancy: Tenancy, new_memory: NewMemory, operation: MemoryOperation) -> Procedure[MemoryView]:
    """Add *new_memory* and return it as stored; the same words again are another observation of the same memory.

    Raises:
        UnknownChoice, InvalidRequest: those of :meth:`NewMemory.checked`.
        NotFound: no memory can be extracted from the text.

    """
    new_memory.checked()
    return (yield from write(lambda: _add(tenancy, new_memory, operation)))


def delete(tenancy: Tenancy, memory_id: str, reason: str, at_us: int) -> Procedure[MemoryView]:
    """Delete the memory: it is hidden, but kept, because other records may depend on it.

    Raises:
        NotFound: there is no such memory.

    """
    return (yield from write(lambda: _delete(tenancy, memory_id, reason, at_us)))


def supersede(
    tenancy: Tenancy, memory_id: str, new_memory: NewMemory, operation: MemoryOperation
) -> Procedure[MemoryView]:
    """Add *new_memory* as the successor of the memory *memory_id*, and return it as stored.

    Raises:
        NotFound: there is no such memory, or none can be extracted from the text.
        AlreadySuperseded: *memory_id* has another successor.
        SupersessionCycle: the words are those of *memory_id* itself or of one of its predecessors.
        UnknownChoice: no such kind.
        InvalidRequest: the words are those of a memory that already supersedes another one; or as in
            :meth:`NewMemory.checked`.

    """
    new_memory.checked()
    return (yield from write(lambda: _supersede(tenancy, memory_id, new_memory, operation)))


def follow(tenancy: Tenancy, memory_id: str, older_id: str, at_us: int) -> Procedure[None]:
    """Make a stored memory the successor of an older one, as it was in the tenant of a backup.

    Two answers to one question are linked only if neither has another link. Between any other two memories, other links
    give way.

    Raises:
        NotFound: one of the two does not exist.

    """
    return (yield from write(lambda: _follow(tenancy, memory_id, older_id, at_us)))


def feedback(
    tenancy: Tenancy, memory_id: str, signal: str, comment: str, operation: MemoryOperation
) -> Procedure[MemoryView]:
    """Record feedback on the memory: ``positive``, ``negative`` or ``correction``.

    Raises:
        UnknownChoice: no such signal.
        NotFound: there is no such memory.

    """
    counts = _counts("signal", signal, SIGNALS)

    def plan() -> Plan[tuple[MemoryView, ...]]:
        newest = yield from evidence(tenancy, memory_id, 1)
        content = feedback_content(memory_id, signal, comment, newest[0] if newest else None)
        return (yield from _judge(tenancy, (memory_id,), counts, operation, ("feedback", content)))

    return (yield from write(plan))[0]


def record_outcome(
    tenancy: Tenancy, memory_ids: Sequence[str], result: str, summary: str, operation: MemoryOperation
) -> Procedure[Memories]:
    """Record the outcome of work that used these memories: ``success``, ``failure`` or ``mixed``.

    Raises:
        UnknownChoice: no such outcome.
        NotFound: one of the memories does not exist.

    """
    counts = _counts("outcome", result, OUTCOMES)
    ids = tuple(dict.fromkeys(memory_ids))
    recorded = ("observation", outcome_content(ids, result, summary))
    return Memories((yield from write(lambda: _judge(tenancy, ids, counts, operation, recorded))))


def _counts(name: str, value: str, known: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """How much the signal or outcome *value* adds to a memory's counts ``useful`` and ``useless``."""
    if value not in known:
        raise UnknownChoice(name, value, tuple(known))
    return known[value]


def _add(tenancy: Tenancy, new_memory: NewMemory, operation: MemoryOperation) -> Plan[MemoryView]:
    event = yield from _record_event(tenancy, operation, EVENT_TYPE, new_memory.content)
    rows = yield bind("memory_operations/from_event", tenant_id=tenancy.tenant_id, event_key=event.key)
    if not rows:
        raise _no_memory(tenancy, new_memory)
    if new_memory.described:
        batch = {"properties": new_memory.described}
        yield bind("memory_operations/describe", tenant_id=tenancy.tenant_id, key=rows[0]["key"], batch=batch)
    return (yield from _memory_by_id(tenancy, rows[0]["memory_id"]))


def _no_memory(tenancy: Tenancy, new_memory: NewMemory) -> NotFound:
    return NotFound("memory", new_memory.text, tenancy.tenant_id, "no memory can be extracted from this text")


def _delete(tenancy: Tenancy, memory_id: str, reason: str, at_us: int) -> Plan[MemoryView]:
    yield from _lock(tenancy, (memory_id,))
    keys = [tenancy.node_key(memory_id)]
    rows = yield bind(
        "memory_operations/delete", tenant_id=tenancy.tenant_id, batch={"keys": keys}, reason=reason, at_us=at_us
    )
    if rows:
        yield from settle(tenancy, keys, at_us)
        yield from bump(tenancy, at_us)
    return (yield from _memory_by_id(tenancy, memory_id))


def _supersede(tenancy: Tenancy, memory_id: str, new_memory: NewMemory, operation: MemoryOperation) -> Plan[MemoryView]:
    repeated = yield from _lock(tenancy, (memory_id,), operation.event_id)
    old = yield from _memory_by_id(tenancy, memory_id)
    if old.superseded_by is not None:
        if repeated:
            return (yield from _memory_by_id(tenancy, old.superseded_by))
        raise AlreadySuperseded(memory_id, old.superseded_by)
    new = yield from _add(tenancy, new_memory, operation)
    if new.memory_id == memory_id:
        raise SupersessionCycle(memory_id, memory_id)
    if new.supersedes != memory_id:
        yield from _put_in_place(tenancy, old, new, operation)
    return (yield from _memory_by_id(tenancy, new.memory_id))


def _follow(tenancy: Tenancy, memory_id: str, older_id: str, at_us: int) -> Plan[None]:
    yield from _lock(tenancy, (memory_id, older_id))
    keys = {"new_key": tenancy.node_key(memory_id), "old_key": tenancy.node_key(older_id)}
    if (yield bind("memory_operations/follow", tenant_id=tenancy.tenant_id, at_us=at_us, **keys)):
        yield from settle(tenancy, [keys["old_key"]], at_us)
        yield from bump(tenancy, at_us)


def _put_in_place(tenancy: Tenancy, old: MemoryView, new: MemoryView, operation: MemoryOperation) -> Plan[None]:
    """Make the stored memory *new* the successor of *old*.

    Raises:
        InvalidRequest: *new* already supersedes another memory.
        SupersessionCycle: *old* supersedes *new*, directly or through others.

    """
    old_key = tenancy.node_key(old.memory_id)
    rows = yield bind(
        "memory_operations/supersede",
        tenant_id=tenancy.tenant_id,
        new_key=tenancy.node_key(new.memory_id),
        old_key=old_key,
        at_us=operation.at_us,
    )
    if not rows and new.supersedes:
        raise _not_a_successor(new.text, new.supersedes)
    if not rows:
        raise SupersessionCycle(old.memory_id, new.memory_id)
    yield from settle(tenancy, [old_key], operation.at_us)


def _judge(
    tenancy: Tenancy,
    ids: tuple[str, ...],
    counts: tuple[int, int],
    operation: MemoryOperation,
    recorded: tuple[str, Mapping[str, Any]],
) -> Plan[tuple[MemoryView, ...]]:
    """Count a judgement of memories and record it as an event, unless that event is stored already."""
    repeated = yield from _lock(tenancy, ids, operation.event_id)
    if repeated:
        return (yield from _views(tenancy, ids))
    event_type, content = recorded
    yield bind(
        "memory_operations/count",
        tenant_id=tenancy.tenant_id,
        batch={"keys": sorted(tenancy.node_key(memory_id) for memory_id in ids)},
        useful=counts[0],
        useless=counts[1],
    )
    yield from _record_event(tenancy, operation, event_type, content)
    return (yield from _views(tenancy, ids))


def _views(tenancy: Tenancy, ids: Sequence[str]) -> Plan[tuple[MemoryView, ...]]:
    memory_views: list[MemoryView] = []
    for memory_id in ids:
        view = yield from _memory_by_id(tenancy, memory_id)
        memory_views.append(view)
    return tuple(memory_views)


def _lock(tenancy: Tenancy, ids: Sequence[str], event_id: str = "") -> Plan[bool]:
    """Lock the session of these operations, then the memories, in the order that all writers use.

    Returns whether the event *event_id*, which records the operation, is already stored: an earlier attempt succeeded.
    """
    event_keys = [tenancy.node_key(event_id)] if event_id else []
    batch_row = yield from open_batch(tenancy, {"sessions": [_session(tenancy)], "event_keys": event_keys})
    keys = sorted(tenancy.node_key(checked_text("memory_id", memory_id)) for memory_id in ids)
    rows = yield bind("memory_operations/lock", tenant_id=tenancy.tenant_id, batch={"keys": keys})
    if len(rows) < len(keys):
        stored = {row["memory"]["memory_id"] for row in rows}
        missing_id = next(memory_id for memory_id in ids if memory_id not in stored)
        raise NotFound("memory", missing_id, tenancy.tenant_id)
    return bool(batch_row["events"])


def _record_event(
    tenancy: Tenancy, operation: MemoryOperation, event_type: str, content: Mapping[str, Any]
) -> Plan[PreparedEvent]:
    """Store the event that records the operation, at the end of the session of all operations."""
    batch_row = yield from open_batch(tenancy, {"sessions": [_session(tenancy)]})
    last = batch_row["sessions"][0]["tail"][0]
    event = memory_event(tenancy.tenant_id, operation, 0 if last is None else last + 1, event_type, content)
    prepared = prepare(event, counter())
    yield from record_batch(tenancy, Batch((prepared,), by_hand=event_type == EVENT_TYPE))
    return prepared


def _session(tenancy: Tenancy) -> Row:
    return {"key": tenancy.node_key(SESSION), "session_id": SESSION}


# `remember`: an event for each memory, and the memories they are evidence for.


def remember(
    tenancy: Tenancy, statements: Sequence[tuple[NewMemory, MemoryOperation]]
) -> Procedure[tuple[Memory, ...]]:
    """Remember all *statements* in one transaction and return their memories, in the same order.

    The same words in the same scope for the same user are another observation of the same memory. Unless it names
    the memory to supersede, an answer replaces earlier answers to the same question. A *hard* policy is part of every
    context pack for its user and scopes; one without user and scopes, of every pack.

    Raises:
        UnknownChoice: no such kind.
        InvalidRequest: as in :meth:`NewMemory.checked`; or the words are those of a memory that already supersedes
            another one; or an event id was used for the same text with other options.
        NotFound: there is no memory to supersede, or none can be extracted from a text.
        AlreadySuperseded: the memory to supersede has another successor.
        SupersessionCycle: the words are those of the memory to supersede or of one of its predecessors.

    """
    for statement, _ in statements:
        statement.checked()
    return (yield from write(partial(_remember, tenancy, statements))) if statements else ()


def _remember(tenancy: Tenancy, statements: Sequence[tuple[NewMemory, MemoryOperation]]) -> Plan[tuple[Memory, ...]]:
    events = [
        prepare(memory_event(tenancy.tenant_id, operation, 0, EVENT_TYPE, statement.content), counter())
        for statement, operation in statements
    ]
    floating = frozenset(event.key for event in events)
    states = yield from append(tenancy, [[event] for event in events], floating, by_hand=True)
    if ["conflict"] in states:
        raise _other_statement(statements[states.index(["conflict"])][0])
    stored = yield from memories.of_events(tenancy, [event.key for event in events])
    for event, (statement, _) in zip(events, statements, strict=True):
        if event.key not in stored:
            raise _no_memory(tenancy, statement)
        memory, supersedes = stored[event.key]
        if statement.terms.supersedes and supersedes != statement.terms.supersedes:
            yield from _refuse(tenancy, memory, statement.terms.supersedes, supersedes)
    return tuple(stored[event.key][0] for event in events)


def _other_statement(statement: NewMemory) -> InvalidRequest:
    expected = "one that was not used for the same text with other options"
    return InvalidRequest("idempotency_key", f"of {statement.text!r:.60}", expected, "use another key")


def _refuse(tenancy: Tenancy, memory: Memory, old_id: str, supersedes: str | None) -> Plan[None]:
    """Raise the reason why *memory* does not supersede the memory *old_id*, which rolls the transaction back."""
    old = yield from _memory_by_id(tenancy, old_id)
    if old.memory_id == memory.memory_id:
        raise SupersessionCycle(old_id, old_id)
    if old.superseded_by is not None:
        raise AlreadySuperseded(old_id, old.superseded_by)
    if supersedes is not None:
        raise _not_a_successor(memory.text, supersedes)
    raise SupersessionCycle(old_id, memory.memory_id)


def _not_a_successor(text: str, supersedes: str) -> InvalidRequest:
    expected = f"a memory without a predecessor, but it supersedes {supersedes}"
    return InvalidRequest("text", repr(text), expected, "delete the old memory instead")
