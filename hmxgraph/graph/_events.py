"""Events in the graph: batches written in one transaction each, and events as rows."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import orjson

from hmxgraph.errors import IngestRefused, ParentLoop
from hmxgraph.extraction.extract import EVENT_TYPE, extract
from hmxgraph.extraction.language import Extraction, session_owner, user_in, user_of_session
from hmxgraph.graph import _entities, memories
from hmxgraph.graph._entities import EventExtraction
from hmxgraph.graph.plan import Plan, Row, Tenancy, bind, open_batch
from hmxgraph.ingest.batch import Batch, conflict
from hmxgraph.ingest.prepare import (
    LINKS,
    NAMING,
    ChainChanges,
    End,
    Ends,
    Neighbours,
    PreparedEvent,
    adjusted,
    between_ends,
    first_dimension,
    left_out,
    loops,
)
from hmxgraph.protocol.events import Position
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.reports import BatchReceipt, ConflictingEvent
from hmxgraph.protocol.trust import DEFAULT_TRUST, TrustPolicy
from hmxgraph.records.events import SESSION
from hmxgraph.text.lines import event_line, speaker_name
from hmxgraph.text.terms import DEFAULT_ENCODING, counter

# The recall row of an event: the fields by which recall ranks it, as one text on its node, written with the event and
# removed by erasure. Events that no pack shows have no recall row.
#
# To read one property, the server walks the chain of all the node's properties. Reading a dozen properties of a few
# hundred candidates took half of the statement's time; reading one text takes a sixth of that half.

# Length up to which an event's search terms are kept as they are: the beginning of a long result shows its subject.
FULL_CHARACTERS = 1_500
# Length up to which the terms after that are added, each once.
FURTHER_CHARACTERS = 6_000
# Index of the event's time in a recall row.
_TIME = 6
# Length of the recall row of an event that names no user.
_WITHOUT_USER = 12


def recall_row(properties: Mapping[str, Any]) -> str | None:
    """The recall row of a prepared event: a JSON array in the order of ``EventPool``, with expiry in place of text.

    If the event is a message that names its user, the user is added at the end. Events that `remember` writes only to
    state a memory have no recall row (None): packs show the memory while it holds, never its event.
    """
    if properties.get("event_type") == EVENT_TYPE and properties["session_id"] == SESSION:
        return None
    return orjson.dumps(
        [
            properties["event_id"],
            properties["session_id"],
            speaker_name(properties.get("speaker", "")),
            properties.get("title", ""),
            _ranked_words(properties["search_text"]),
            properties["sequence"],
            properties["time_us"],
            _tokens(properties),
            properties["salience"],
            properties["text"].endswith("?"),
            properties.get("label", ""),
            properties.get("expires_us"),
            *filter(None, [_user(properties)]),
        ]
    ).decode()


def _user(properties: Mapping[str, Any]) -> str:
    """The user whom the metadata of a message names; empty if it names none."""
    metadata = properties.get("metadata", "")
    names_user = properties.get("event_type") == "message" and any(f'"{name}"' in metadata for name in NAMING)
    return user_in(parse_json(metadata)) if names_user else ""


_LONGEST_NAME = 60


def event_name(properties: Mapping[str, Any]) -> str:
    r"""The caption of an event in an unstyled Neo4j Browser: the start of its first line, with a ✗ if it failed.

    >>> event_name({"event_type": "error", "text": "No such file\nor folder"}), event_name({"text": "hello"})
    ('✗ No such file', 'hello')

    """
    failed = properties.get("failed") or properties.get("event_type") == "error"
    first_line = next(iter(properties["text"].splitlines()), "")
    return f"{'✗ ' if failed else ''}{first_line[:_LONGEST_NAME]}"


def _ranked_words(search_text: str) -> str:
    """The terms that rank an event: the beginning in full, then each further term once, the last ones first.

    >>> _ranked_words("error on line 7")
    'error on line 7'
    >>> _ranked_words("pass " * 300 + "line pass unknown account")[-30:]
    'pass pass account unknown line'

    """
    if len(search_text) <= FULL_CHARACTERS:
        return search_text
    beginning, _, rest = search_text[:FULL_CHARACTERS].rpartition(" ")
    known = frozenset(beginning.split())
    latest_first = reversed(f"{rest}{search_text[FULL_CHARACTERS:]}".split())
    further = " ".join(dict.fromkeys(term for term in latest_first if term not in known))
    fits = len(further) <= FURTHER_CHARACTERS
    further_part = further if fits else further[:FURTHER_CHARACTERS].rpartition(" ")[0]
    return f"{beginning} {further_part}".rstrip()


def pool_rows(as_of_us: int, events: Sequence[str], *columns: Sequence[str]) -> list[list[Any]]:
    """The recall rows *events*, parsed; rows that are empty, dated after *as_of_us* or expired by then are left out.

    Each of *columns* has one value per event. In the parsed row, these values replace the expiry; the user, or "" if
    the event names none, comes last.

    >>> row = '["e1","s1","Ann","","hello",1,5,4,0.5,false,"",null]'
    >>> pool_rows(5, [row, ""], ["Hello!", ""])
    [['e1', 's1', 'Ann', '', 'hello', 1, 5, 4, 0.5, False, '', 'Hello!', '']]
    >>> pool_rows(4, [row], ["Hello!"])
    []

    """
    rows: list[list[Any] | None] = orjson.loads(f"[{','.join(row or 'null' for row in events)}]")
    visible_rows = []
    for row, *values in zip(rows, *columns, strict=True):
        if row is None or row[_TIME] > as_of_us:
            continue
        user = row.pop() if len(row) > _WITHOUT_USER else ""
        if (expires := row.pop()) is None or expires > as_of_us:
            visible_rows.append([*row, *values, user])
    return visible_rows


def _tokens(properties: Mapping[str, Any]) -> int:
    """Number of tokens of the event's line in a pack."""
    if properties["tokenizer"] == DEFAULT_ENCODING:
        tokens: int = properties["token_count"]
        return tokens
    return counter()(event_line(properties["text"], properties.get("label", ""), properties.get("speaker", "")))


# Prepared events as the rows of a batch, and stored sessions as values.

# Number of a session's latest events whose marks (hashes of type and text) are kept: a new event with one of these
# marks is an exact repeat.
MARKS_KEPT = 64
# Once a tenant has this many kinds of events (signatures), no further kind counts as new.
MOST_KINDS = 4_000
# Warn if at least this many sessions of a batch state something about a user whom they do not name.
MANY_SESSIONS = 5
UNNAMED_USERS = (
    "many sessions name no user: what their users state about themselves is remembered for the session only; "
    'give "user_id" in the metadata of their messages to keep it for the user, or in a tenant of one person '
    "connect with trust=TrustPolicy(single_user=True) (hmxgraph ingest --single-user)"
)
# Maximum number of users kept per session.
MOST_USERS = 50


class StoredSession(NamedTuple):
    """A locked session as it is stored."""

    key: str
    event_count: int
    first_us: int | None
    last_us: int | None
    ends: Ends | None
    outcome_order: tuple[int, ...]
    marks: list[int]
    user_keys: list[str]


def stored_session(row: Row) -> StoredSession:
    """A session in the row of ``events/open``."""
    ends = Ends(_end(row["head"]), _end(row["tail"])) if row["event_count"] else None
    outcome = tuple(row["outcome_order"])
    return StoredSession(
        row["key"], row["event_count"], row["first_us"], row["last_us"], ends, outcome, row["marks"], row["user_keys"]
    )


def _end(values: Sequence[Any]) -> End:
    sequence, time_us, event_id, key = values
    return End((sequence, time_us, event_id), key)


def neighbours(nearby: Sequence[list[Any]], order: Position) -> Neighbours:
    """The keys of the two events of a session between which an event with this *order* belongs.

    Each row of *nearby*, which is sorted, is the order and key of a stored event with the key of the event after it.
    """
    *_, before, after = nearby[bisect_left(nearby, list(order)) - 1]
    return Neighbours(before, after)


def _by_session(events: Iterable[PreparedEvent]) -> list[tuple[str, list[PreparedEvent]]]:
    """The events of a batch by session; *events* are sorted by session key, then by their order in the session."""
    return [(key, list(group)) for key, group in groupby(events, key=lambda event: event.session_key)]


def new_kinds(events: Iterable[PreparedEvent], known: Collection[str]) -> dict[str, str]:
    """Signatures that are new to the tenant, each with the key of its earliest event.

    Events that state their own salience are ignored. A tenant keeps at most ``MOST_KINDS`` signatures; the order of
    sessions in a batch does not matter.
    """
    kinds: dict[str, str] = {}
    unknown = [event for event in events if event.base_salience is not None and event.signature not in known]
    for event in sorted(unknown, key=lambda event: (event.event.time_us, event.order)):
        if event.signature not in kinds and len(known) + len(kinds) < MOST_KINDS:
            kinds[event.signature] = event.key
    return kinds


def _session_row(
    tenancy: Tenancy, stored: StoredSession, events: Sequence[PreparedEvent], first_of_kind: Collection[str]
) -> Row:
    """A session's new properties after a batch, and the properties of its new events.

    *first_of_kind* holds the key of the first event of each kind that is new to the tenant.
    """
    marks = list(stored.marks)
    rows = []
    for event in events:
        rows.append(_event_row(event, new=event.key in first_of_kind, repeat=event.mark in marks))
        marks.append(event.mark)
    return {
        "key": stored.key,
        "properties": {
            **_extent(stored, events),
            **_outcome(stored, events),
            "marks": marks[-MARKS_KEPT:],
            "user_keys": _user_keys(tenancy, stored, events),
        },
        "events": rows,
    }


def _user_keys(tenancy: Tenancy, stored: StoredSession, events: Iterable[PreparedEvent]) -> list[str]:
    """The keys of the users whom the messages of a session have named so far, at most ``MOST_USERS``."""
    names = (user_of_session(event.event) for event in events)
    return sorted({*stored.user_keys, *(memories.owner_key(tenancy, name) for name in names if name)})[:MOST_USERS]


def _event_row(event: PreparedEvent, *, new: bool, repeat: bool) -> dict[str, Any]:
    properties = event.properties
    if event.base_salience is not None:
        salience = adjusted(event.base_salience, new=new, repeat=repeat)
        properties = {**properties, "salience": salience, "salience_origin": "engine"}
    return {**properties, "recall_row": recall_row(properties), "name": event_name(properties)}


def _extent(stored: StoredSession, events: Sequence[PreparedEvent]) -> dict[str, Any]:
    times = [event.event.time_us for event in events]
    first, last = End(events[0].order, events[0].key), End(events[-1].order, events[-1].key)
    if stored.ends:
        first, last = min(first, stored.ends.head), max(last, stored.ends.tail)
    return {
        "event_count": stored.event_count + len(events),
        "first_us": min(time_us for time_us in (*times, stored.first_us) if time_us is not None),
        "last_us": max(time_us for time_us in (*times, stored.last_us) if time_us is not None),
        **_end_properties("head", first),
        **_end_properties("tail", last),
    }


def _end_properties(name: str, end: End) -> dict[str, Any]:
    sequence, time_us, event_id = end.order
    return {
        f"{name}_sequence": sequence,
        f"{name}_us": time_us,
        f"{name}_id": event_id,
        f"{name}_key": end.key,
    }


def _outcome(stored: StoredSession, events: Sequence[PreparedEvent]) -> dict[str, Any]:
    """The session's new outcome: the signal of its last feedback; empty if the last feedback is not in *events*."""
    for event in reversed(events):
        signal = event.event.content.get("signal")
        order = event.order[:2]
        if event.event.event_type == "feedback" and isinstance(signal, str):
            return {"outcome": signal, "outcome_order": list(order)} if order >= stored.outcome_order else {}
    return {}


def _inner_and_outer(
    events: Sequence[PreparedEvent], chain_changes: ChainChanges
) -> tuple[dict[str, list[tuple[int, int]]], dict[str, list[tuple[str, str, str]]], list[tuple[str, str]]]:
    """The links of a batch, in three parts: inner, outer and joined.

    Inner links connect two events of the batch, given as positions. Outer links lead to an event outside the batch, and
    joined are the NEXT links with one end outside the batch; both are given as keys.
    """
    positions = {event.key: position for position, event in enumerate(events)}
    calls = _calls(events)
    inner: dict[str, list[tuple[int, int]]] = {kind: [] for kind in ("NEXT", *LINKS)}
    outer: dict[str, list[tuple[str, str, str]]] = {kind: [] for kind in LINKS}
    joined = []
    for earlier, later in chain_changes.linked:
        if earlier in positions and later in positions:
            inner["NEXT"].append((positions[earlier], positions[later]))
        else:
            joined.append((earlier, later))
    for position, event in enumerate(events):
        for kind, key in event.links:
            other = _call_before(calls.get(key), position) if kind == "ANSWERS" else positions.get(key)
            if other is None:
                outer[kind].append((event.key, key, kind))
            else:
                inner[kind].append((position, other))
    return inner, outer, joined


def _calls(events: Sequence[PreparedEvent]) -> Mapping[str, list[int]]:
    """The positions of the calls in a batch, by call key."""
    calls: dict[str, list[int]] = {}
    for position, event in enumerate(events):
        if event.call_key:
            calls.setdefault(event.call_key, []).append(position)
    return calls


def _call_before(calls: list[int] | None, position: int) -> int | None:
    """The position of the nearest call before the result at *position*; None if there is none."""
    return max((call for call in calls or () if call < position), default=None)


def offers(events: Iterable[PreparedEvent]) -> Iterator[tuple[str, str]]:
    """The keys by which events stored earlier may refer to *events*, each with the key of the event."""
    for event in events:
        yield event.key, event.key
        if event.call_key:
            yield event.call_key, event.key


# The stored body of an event, with which an event of the same id is compared.


class StoredBody(NamedTuple):
    """The hash of a stored event, with what else was read of it; an erased event has no content."""

    event_hash: str
    event_type: str | None = None
    content: str | None = None
    sequence: int | None = None

    @classmethod
    def of(cls, event: PreparedEvent) -> "StoredBody":
        """The body of an event as it will be stored."""
        properties = event.properties
        return cls(properties["event_hash"], event.event.event_type, properties["content"], event.event.sequence)

    def differs_from(self, event: PreparedEvent, *, floating: bool = False) -> bool:
        """Whether *event* is not the event with this body.

        The time, sequence and metadata of a *floating* event depend on when it was read, so only type and content are
        compared. If the stored event was erased, only the type can be compared.
        """
        if event.properties["event_hash"] == self.event_hash:
            return False
        same_type, contents = event.event.event_type == self.event_type, {None, event.properties["content"]}
        return not (floating and same_type and self.content in contents)


def is_undated(event: PreparedEvent) -> bool:
    """Whether the source of *event* gave no time for it."""
    return event.event.metadata.get("undated") is True


# Batches of events, each stored in one transaction.


@dataclass(frozen=True, slots=True)
class DividedBatch:
    """A batch divided into new events, duplicates and events that conflict with a stored one.

    As of the division, *counts* holds the number of stored events of each session, and *signatures* the kinds of events
    that the tenant has had.
    """

    new: tuple[PreparedEvent, ...]
    duplicates: int
    conflicting: tuple[ConflictingEvent, ...]
    counts: Mapping[str, int]
    signatures: frozenset[str]

    def receipt(self, *, late: int = 0, warnings: tuple[str, ...] = ()) -> BatchReceipt:
        """The outcome of the batch."""
        return BatchReceipt(
            tuple(sorted({event.session_key for event in self.new})),
            len(self.new),
            late,
            self.duplicates,
            self.conflicting,
            warnings,
        )


# The property that marks an event dated too far ahead of the clock of the machine that ingested it.
AHEAD = "ahead"


def record(tenancy: Tenancy, batch: Batch, *, strict: bool = False, latest_us: int | None = None) -> Plan[BatchReceipt]:
    """Store the new events of *batch* with all their links; a batch without new events writes nothing.

    Events dated after *latest_us* are stored, but nothing is learned from them, and they do not advance the logical
    time.

    Raises:
        IngestRefused: *strict* is set and an event id is stored, or repeated in the batch, with another body; nothing
            of the batch is stored.
        ParentLoop: an event would be its own cause; nothing of the batch is stored.

    Locks are taken in the order sessions, stored answers, events, entities, other memories, tenant. Two writers that
    store the same event in different sessions collide on its key; the second is retried and finds it stored.
    """
    batch = replace(batch, events=mark_ahead(batch.events, latest_us))
    divided_batch = yield from _read_and_divide(tenancy, batch)
    if strict:
        _refuse_conflicts(divided_batch.conflicting)
    if not divided_batch.new:
        return divided_batch.receipt()
    extractions = _extractions(tenancy, batch, divided_batch.new)
    observations = memories.Observations.of([extractions[event.key] for event in divided_batch.new])
    locked = yield from _lock(tenancy, batch, divided_batch, observations)
    if locked.divided is not divided_batch:
        divided_batch = locked.divided  # another writer changed a session meanwhile
        if strict:
            _refuse_conflicts(divided_batch.conflicting)
        observations = memories.Observations.of([extractions[event.key] for event in divided_batch.new])
    if not divided_batch.new:
        return divided_batch.receipt()
    dimension, loop_warnings = yield from store_new(tenancy, locked, observations, extractions)
    warnings = (
        *left_out(divided_batch.new, dimension),
        *_unnamed_user_warnings(extractions[event.key] for event in divided_batch.new),
        *loop_warnings,
    )
    return divided_batch.receipt(late=_late(divided_batch.new, locked.sessions), warnings=warnings)


def _extractions(tenancy: Tenancy, batch: Batch, events: Sequence[PreparedEvent]) -> Mapping[str, EventExtraction]:
    """The extraction from each event, by key: the batch's own, if it has one and the trust policy is the default."""
    prepared = batch.extracted if tenancy.trust == DEFAULT_TRUST else None
    return without_ahead(prepared or extractions_of(events, tenancy.trust, by_hand=batch.by_hand), events)


def mark_ahead(events: Sequence[PreparedEvent], latest_us: int | None) -> tuple[PreparedEvent, ...]:
    """*events*, with those dated after *latest_us* marked."""
    if latest_us is None:
        return tuple(events)
    return tuple(
        replace(event, properties={**event.properties, AHEAD: True}) if event.event.time_us > latest_us else event
        for event in events
    )


def is_ahead(event: PreparedEvent) -> bool:
    """Whether *event* is marked as dated too far ahead of the clock of the machine that ingested it."""
    return AHEAD in event.properties


def without_ahead(
    extractions: Mapping[str, EventExtraction], events: Iterable[PreparedEvent]
) -> Mapping[str, EventExtraction]:
    """*extractions*, with nothing extracted from events that are ahead of the clock."""
    empty = {
        event.key: EventExtraction(event.key, event.event.time_us, Extraction()) for event in events if is_ahead(event)
    }
    return {**extractions, **empty} if empty else extractions


def _unnamed_user_warnings(extractions: Iterable[EventExtraction]) -> Iterator[str]:
    """A warning if many sessions state something about an unnamed user; goals do not count."""
    owners = {draft.owner for event in extractions for draft in event.extraction.memories if draft.kind != "goal"}
    if sum(owner.startswith(session_owner("")) for owner in owners) >= MANY_SESSIONS:
        yield UNNAMED_USERS


def _refuse_conflicts(conflicting: tuple[ConflictingEvent, ...]) -> None:
    if conflicting:
        event = conflicting[0]
        other = f"another body than the stored or earlier event with this id (hash {event.stored_hash})"
        reason = f"event {event.event_id!r} has {other}; give it an id of its own"
        raise IngestRefused(event.source or "source", reason, event.line)


def _read_and_divide(tenancy: Tenancy, batch: Batch) -> Plan[DividedBatch]:
    rows = yield bind(
        "events/known",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        batch={
            "event_keys": [event.key for event in batch.events],
            "session_keys": sorted({event.session_key for event in batch.events}),
        },
    )
    known = {key: StoredBody(event_hash) for key, event_hash in rows[0]["events"]}
    if redated_keys := _redated_keys(batch, known):
        bodies = yield bind("events/bodies", tenant_id=tenancy.tenant_id, batch={"event_keys": redated_keys})
        known |= {body["key"]: StoredBody(body["event_hash"], body["event_type"], body["content"]) for body in bodies}
    return divide(batch, known, dict(rows[0]["sessions"]), frozenset(rows[0]["signatures"]))


def _redated_keys(batch: Batch, known: Mapping[str, StoredBody]) -> list[str]:
    """The keys of undated events that are stored with another hash, perhaps only because their time differs."""
    return sorted(
        {
            event.key
            for event in (*batch.events, *batch.repeats)
            if event.key in known and is_undated(event) and known[event.key].differs_from(event)
        }
    )


def divide(
    batch: Batch, known: Mapping[str, StoredBody], counts: Mapping[str, int], signatures: frozenset[str]
) -> DividedBatch:
    """*batch* divided into new events, duplicates and conflicting ones; *known* holds the stored bodies by key."""
    bodies = {**{event.key: StoredBody.of(event) for event in batch.events}, **known}
    repeated = [*(event for event in batch.events if event.key in known), *batch.repeats]
    clashes = [event for event in repeated if bodies[event.key].differs_from(event, floating=is_undated(event))]
    return DividedBatch(
        tuple(event for event in batch.events if event.key not in known),
        len(repeated) - len(clashes),
        tuple(
            conflict(event, bodies[event.key].event_hash) for event in sorted(clashes, key=lambda event: event.place)
        ),
        counts,
        signatures,
    )


class LockedBatch(NamedTuple):
    """A batch after its locks were taken: its sessions by key, its divided events, and the stored answers."""

    sessions: Mapping[str, StoredSession]
    divided: DividedBatch
    answers: Sequence[Row]


def _lock(
    tenancy: Tenancy, batch: Batch, divided_batch: DividedBatch, observations: memories.Observations
) -> Plan[LockedBatch]:
    """Lock what *batch* writes to; if a session has changed since it was read, divide the batch again."""
    names = {event.session_key: event.event.session_id for event in divided_batch.new}
    sessions = [
        {"key": key, "session_id": names[key], "expected": divided_batch.counts.get(key, 0)} for key in sorted(names)
    ]
    to_lock = {"sessions": sessions, "event_keys": [event.key for event in batch.events]}
    row = yield from open_batch(tenancy, to_lock | observations.slots(tenancy))
    stored = [stored_session(session) for session in row["sessions"]]
    if any(divided_batch.counts.get(session.key, 0) != session.event_count for session in stored):
        known = {key: StoredBody(*body) for key, *body in row["events"]}
        divided_batch = divide(batch, known, divided_batch.counts, frozenset(row["signatures"] or ()))
    return LockedBatch({session.key: session for session in stored}, divided_batch, row["answers"])


def extractions_of(
    events: Iterable[PreparedEvent], trust: TrustPolicy = DEFAULT_TRUST, *, by_hand: bool = False
) -> dict[str, EventExtraction]:
    """The extraction from each event, by event key; made before anything is locked."""
    return {
        event.key: EventExtraction(event.key, event.event.time_us, extract(event.event, trust, by_hand=by_hand))
        for event in events
    }


def store_new(
    tenancy: Tenancy,
    locked: LockedBatch,
    observations: memories.Observations,
    extractions: Mapping[str, EventExtraction],
) -> Plan[tuple[int | None, Sequence[str]]]:
    """Write the new events and what was learned from them.

    Returns the dimension of the tenant's embeddings (None if it has none), and warnings.

    Raises:
        ParentLoop: an event would be its own cause.

    """
    events, sessions = locked.divided.new, locked.sessions
    chain_changes = yield from _chain_changes(tenancy, events, sessions)
    kinds = new_kinds(events, locked.divided.signatures)
    first_of_kind = frozenset(kinds.values())
    inner, outer, joined = _inner_and_outer(events, chain_changes)
    yield bind(
        "events/record",
        tenant_id=tenancy.tenant_id,
        batch={
            "sessions": [
                _session_row(tenancy, sessions[key], group, first_of_kind) for key, group in _by_session(events)
            ],
            "admitted": [],
            "unlinked": chain_changes.unlinked,
            "joined": joined,
            **{kind.lower(): pairs for kind, pairs in inner.items()},
            "named": [[position, key] for position, event in enumerate(events) for key in event.user_keys],
            **_entities.entity_rows(tenancy, [extractions[event.key] for event in events]),
        },
    )
    tokenizer = events[0].properties["tokenizer"]
    yield from memories.store(tenancy, observations, locked.answers, counter(tokenizer), tokenizer)
    settled = yield bind(
        "events/settle",
        tenant_id=tenancy.tenant_id,
        tenant_key=tenancy.key,
        batch={
            "logical_us": max((event.event.time_us for event in events if not is_ahead(event)), default=None),
            "signatures": list(kinds),
            "session_keys": sorted({event.session_key for event in events}),
            "event_keys": [event.key for event in events],
            "offers": list(offers(events)),
            "embedding_dimension": first_dimension(events),
            **{kind.lower(): pairs for kind, pairs in outer.items()},
        },
    )
    # Last, under the tenant's lock: if two writers together close a loop, the later one sees it.
    loop_warnings = yield from _refuse_loops(tenancy, events, inner["CAUSED_BY"], settled[0]["awaited"])
    return settled[0]["embedding_dimension"], loop_warnings


# Maximum number of causes followed for one batch, and the warning if there are more.
MOST_CAUSES = 5_000
UNFOLLOWED = (
    f"the causes of events that arrived after their effects were followed for {MOST_CAUSES:,} steps; "
    "a longer causal loop would not have been found"
)


def _refuse_loops(
    tenancy: Tenancy, events: Sequence[PreparedEvent], inner: Iterable[tuple[int, int]], awaited: Sequence[str]
) -> Plan[Sequence[str]]:
    """Refuse events that are their own cause; return a warning if the search was cut short.

    *inner* are pairs of positions in the batch (effect, cause). *awaited* are the keys of new events that stored events
    name as their cause. Without awaited events, no loop can pass through stored events, and nothing is read.

    Raises:
        ParentLoop: an event is its own cause; the error names the last event of the batch in each loop.

    """
    causes = {events[effect].key: events[cause].key for effect, cause in inner}
    caused = {event.key for event in events for kind, _ in event.links if kind == "CAUSED_BY"}
    frontier = sorted(caused & set(awaited))
    while frontier and len(causes) < MOST_CAUSES + len(events):
        rows = yield bind("events/ancestors", tenant_id=tenancy.tenant_id, batch={"event_keys": frontier})
        for row in rows:
            causes.update(pairwise(row["line"]))
        frontier = sorted({row["line"][-1] for row in rows} - causes.keys())
    positions = {event.key: position for position, event in enumerate(events)}
    loop_positions = [[positions[key] for key in loop if key in positions] for loop in loops(causes)]
    if closing := sorted(max(loop) for loop in loop_positions if loop):
        raise ParentLoop(tuple(events[position].event.event_id for position in closing))
    return (UNFOLLOWED,) if frontier else ()


def without(batch: Batch, event_ids: Collection[str]) -> tuple[Batch, tuple[PreparedEvent, ...]]:
    """*batch* without the events that have these ids, and the removed events."""
    removed = [event for event in (*batch.events, *batch.repeats) if event.event.event_id in event_ids]
    keys = {event.key for event in removed}
    remaining = replace(
        batch,
        events=tuple(event for event in batch.events if event.key not in keys),
        repeats=tuple(event for event in batch.repeats if event.key not in keys),
    )
    return remaining, tuple(removed)


def _chain_changes(
    tenancy: Tenancy, events: Iterable[PreparedEvent], sessions: Mapping[str, StoredSession]
) -> Plan[ChainChanges]:
    groups = _by_session(events)
    stored_ends = ((group, sessions[key].ends) for key, group in groups)
    late = [event for group, ends in stored_ends if ends for event in between_ends(group, ends)]
    between = (yield from _neighbours(tenancy, late)) if late else {}
    chain_changes = ChainChanges()
    for key, group in groups:
        chain_changes.add(group, sessions[key].ends, between)
    return chain_changes


def _neighbours(tenancy: Tenancy, events: Sequence[PreparedEvent]) -> Plan[dict[str, Neighbours]]:
    sequences = {(event.session_key, event.event.sequence) for event in events}
    late = [{"session_key": session_key, "sequence": sequence} for session_key, sequence in sorted(sequences)]
    rows = yield bind("events/neighbours", tenant_id=tenancy.tenant_id, batch={"late": late})
    nearby = {(row["session_key"], row["sequence"]): sorted(row["nearby"]) for row in rows}
    return {event.key: neighbours(nearby[event.session_key, event.event.sequence], event.order) for event in events}


def _late(events: Iterable[PreparedEvent], sessions: Mapping[str, StoredSession]) -> int:
    """Number of events with a lower sequence number than their session had before the batch."""
    stored = ((event, sessions[event.session_key].ends) for event in events)
    return sum(1 for event, ends in stored if ends and event.order[0] < ends.tail.order[0])
