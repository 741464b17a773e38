"""Live recording: messages and single events appended to the end of a session, with a receipt for each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from hmxgraph.errors import Fault, InvalidDocument, InvalidRequest
from hmxgraph.formats.catalogue import recognise
from hmxgraph.formats.conversion import Format, JsonObject, Origin, Outcome, Record
from hmxgraph.graph import memories
from hmxgraph.graph._events import (
    LockedBatch,
    StoredBody,
    divide,
    extractions_of,
    is_ahead,
    is_undated,
    mark_ahead,
    store_new,
    stored_session,
    without_ahead,
)
from hmxgraph.graph.importing import chosen_format
from hmxgraph.graph.plan import Plan, Procedure, Tenancy, bind, open_batch, stored_mask_key, write
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.intake import ahead_of_clock
from hmxgraph.ingest.prepare import PreparedEvent, prepare, without_secrets
from hmxgraph.protocol.events import HMX_VERSION, Event
from hmxgraph.protocol.lenient import contains_itself, storable
from hmxgraph.protocol.parsing import checked_session_id, quoted
from hmxgraph.protocol.reports import Receipt, RecordReport
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.terms import counter

# Maximum depth at which objects of client libraries are converted to plain values: messages and their blocks may be
# such objects.
_DEEPEST_OBJECT = 8
_WAY_OUT = "give chat messages or response items as dicts, or name their format=..."


@dataclass(frozen=True, slots=True)
class Items:
    """The items to record in one session, as the outcomes of their conversion."""

    tenant_id: str
    session_id: str
    format: Format
    origin: Origin
    outcomes: tuple[Outcome, ...]

    def state_without(self, rejected: frozenset[int], before: JsonObject) -> JsonObject:
        """The converter's state after all items but the *rejected* ones, from its state *before* the call.

        With the state after all items, a rejected item would be called a duplicate when the call is repeated.
        """
        records = [outcome.record for outcome in self.outcomes if outcome.record.line not in rejected]
        origin = replace(self.origin, carried=before)
        for _ in self.format.convert(records, origin):
            pass
        return origin.carried


def converted(tenancy: Tenancy, messages: Any, origin: Origin, format_name: str | None) -> Items:
    """An agent's *messages*, converted to events; :func:`append` decides the position of undated ones in the session.

    Raises:
        InvalidRequest: *messages* is not a list of messages, its format is not recognised, or the session id not text.
        UnknownChoice: there is no such format.

    """
    values = _values(messages)
    source_format = chosen_format(format_name) or _recognised(values)
    session_id = checked_session_id(origin.session_id)
    records = [Record(value, line=number) for number, value in enumerate(values, start=1)]
    return Items(tenancy.tenant_id, session_id, source_format, origin, tuple(source_format.convert(records, origin)))


def _values(messages: Any) -> list[Any]:
    """The items in *messages* as JSON values; a single item counts as a list of one."""
    single = isinstance(messages, Mapping) or _as_plain(messages) is not messages
    if isinstance(messages, str | bytes) or not (single or isinstance(messages, Iterable)):
        raise InvalidRequest("messages", quoted(messages), "list of messages", _WAY_OUT)
    return [
        storable(message)[0] if contains_itself(message) else _value(message)
        for message in ([messages] if single else messages)
    ]


def _value(value: Any, depth: int = 0) -> Any:
    """*value* as JSON; client libraries return objects, and agents put these into their own messages."""
    value = _as_plain(value)
    if depth > _DEEPEST_OBJECT:
        return value
    if isinstance(value, Mapping):
        return {name: _value(part, depth + 1) for name, part in value.items()}
    return [_value(part, depth + 1) for part in value] if isinstance(value, list | tuple) else value


def _as_plain(value: Any) -> Any:
    """A client library's object or a dataclass as plain values; any other value unchanged."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json", exclude_none=True)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _recognised(values: Sequence[Any]) -> Format:
    recognition = recognise(values)
    if values and recognition.format is None:
        raise InvalidRequest("messages", f"of {recognition}", "messages to record", _WAY_OUT)
    return recognition.nearest


def record(tenancy: Tenancy, items: Items, latest_us: int | None = None) -> Procedure[RecordReport]:
    """Append *items* to their session, in order and in one transaction.

    Nothing is extracted from events dated after *latest_us*, and they do not advance the logical time.

    Raises:
        ParentLoop: an event would be its own cause; nothing is stored.

    """
    item_events = [_item_events(tenancy, items.session_id, outcome.events, latest_us) for outcome in items.outcomes]
    groups = [() if faults else prepared for prepared, faults in item_events]
    states: Sequence[Sequence[str]] = [()] * len(groups)
    if any(groups):
        floating = frozenset(event.key for group in groups for event in group if is_undated(event))
        states = yield from write(partial(append, tenancy, groups, floating))
    receipts: list[Receipt] = []
    for number, (outcome, (prepared, faults)) in enumerate(zip(items.outcomes, item_events, strict=True)):
        receipt = _receipt(number, outcome, prepared, faults, states[number])
        receipts.append(_as_original(receipt, receipts) if outcome.part_of is not None else receipt)
    return RecordReport(tenancy.tenant_id, items.session_id, items.format.title, tuple(receipts))


def _as_original(repetition: Receipt, earlier: Iterable[Receipt]) -> Receipt:
    """*repetition*, rejected if the item of this call that it repeats was rejected."""
    for original in earlier:
        if original.status == "rejected" and set(repetition.event_ids) & set(original.event_ids):
            return replace(repetition, status="rejected", reason=original.reason)
    return repetition


def _item_events(
    tenancy: Tenancy, session_id: str, documents: Sequence[JsonObject], latest_us: int | None
) -> tuple[tuple[PreparedEvent, ...], tuple[Fault, ...]]:
    """The events of one item, ready to be stored, or the faults of an invalid one."""
    try:
        events = [Event.parse({**document, "tenant_id": tenancy.tenant_id}) for document in documents]
    except InvalidDocument as error:
        return (), error.faults
    if other := [event.session_id for event in events if event.session_id != session_id]:
        return (), (Fault("$.session_id", "HMX-E 2.1", quoted(other[0]), f"{quoted(session_id)}, as in the call"),)
    return mark_ahead([_prepared(tenancy, event) for event in events], latest_us), ()


def _prepared(tenancy: Tenancy, event: Event) -> PreparedEvent:
    key = stored_mask_key(tenancy)
    return prepare(without_secrets(event, key) if key else event, counter())


def _receipt(
    position: int,
    outcome: Outcome,
    events: Sequence[PreparedEvent],
    faults: Sequence[Fault],
    states: Sequence[str],
) -> Receipt:
    """The receipt of one item; *states* are those that `append` returned for its *events*."""
    faults = [*faults, *([outcome.fault] if outcome.fault else [])]
    event_warnings = [text for event in events for text in event.event.warnings]
    event_warnings += [
        ahead_of_clock(event.event.event_id, event.event.timestamp) for event in events if is_ahead(event)
    ][:1]
    warnings = tuple(dict.fromkeys([*outcome.warnings, *event_warnings]))
    if faults:
        return Receipt(position, "rejected", reason="; ".join(map(str, faults)), warnings=warnings)
    ids = tuple(event.event.event_id for event in events)
    if outcome.part_of is not None:
        return Receipt(position, "duplicate", (outcome.part_of,), warnings=warnings)
    if not events:
        return Receipt(position, "skipped", reason=outcome.skipped or "nothing in it", warnings=warnings)
    if refused := [event_id for event_id, state in zip(ids, states, strict=True) if state == "conflict"]:
        reason = f"{refused[0]!r} is stored with another body; give it an id or key of its own"
        return Receipt(position, "rejected", ids, reason, warnings)
    return Receipt(position, "stored" if "stored" in states else "duplicate", ids, warnings=warnings)


def append(
    tenancy: Tenancy,
    items: Sequence[Sequence[PreparedEvent]],
    floating: frozenset[str],
    timed: frozenset[str] = frozenset(),
    *,
    by_hand: bool = False,
) -> Plan[list[list[str]]]:
    """Append the events of *items* to their sessions; return the state of each event, item by item.

    A state is ``stored``, ``duplicate`` or ``conflict``. If several events have the same id, the first is stored, and
    the others are compared with it. If one event of an item is in conflict, nothing of the item is stored, so that the
    caller can correct and repeat the item as a whole.

    *floating* are the keys of events whose time and sequence the engine sets. Where needed, they get a sequence after
    everything stored in their session, so that none of them is late even if several processes append at once. A
    floating event is a duplicate if the event stored under its id has the same type and content. *timed* are the keys
    of events whose caller gave the time but no sequence: those of one time keep the order in which they arrive (HMX-E 7
    orders them by id otherwise), and one that differs from a stored event in its sequence alone is a duplicate.
    *by_hand* marks the events of a `remember` call.

    Raises:
        ParentLoop: an event would be its own cause; nothing is stored.

    """
    firsts = list({event.key: event for item in reversed(items) for event in reversed(item)}.values())
    extractions = without_ahead(extractions_of(firsts, tenancy.trust, by_hand=by_hand), firsts)
    names = {event.session_key: event.event.session_id for event in firsts}
    sessions = [{"key": key, "session_id": names[key]} for key in sorted(names)]
    to_lock = {"sessions": sessions, "event_keys": sorted(extractions)}
    row = yield from open_batch(tenancy, to_lock | memories.Observations.of(list(extractions.values())).slots(tenancy))
    states = _states(items, {key: StoredBody(*body) for key, *body in row["events"]}, floating, timed)
    new = [
        event
        for item, item_states in zip(items, states, strict=True)
        for event, event_state in zip(item, item_states, strict=True)
        if event_state == "stored" and "conflict" not in item_states
    ]
    if new:
        stored_sessions = {session["key"]: stored_session(session) for session in row["sessions"]}
        ends = {key: session.ends.tail.order[:2] for key, session in stored_sessions.items() if session.ends}
        times = yield from _last_of_times(tenancy, [event for event in new if event.key in timed], ends)
        new = sorted(_placed(new, floating, times, ends), key=lambda event: (event.session_key, event.order))
        batch = divide(Batch(tuple(new)), {}, {}, frozenset(row["signatures"] or ()))
        observations = memories.Observations.of([extractions[event.key] for event in new])
        yield from store_new(tenancy, LockedBatch(stored_sessions, batch, row["answers"]), observations, extractions)
    return states


def _states(
    items: Iterable[Sequence[PreparedEvent]],
    stored: Mapping[str, StoredBody],
    floating: frozenset[str],
    timed: frozenset[str],
) -> list[list[str]]:
    """The states of the events of each item, compared with *stored* events and with earlier items."""
    known = dict(stored)
    refused: dict[str, StoredBody] = {}
    states: list[list[str]] = []
    for item in items:
        own: dict[str, StoredBody] = {}
        item_states: list[str] = []
        for appended in item:
            body = own.get(appended.key, known.get(appended.key))
            event = _at_stored_place(appended, body) if appended.key in timed else appended
            state = _compared(event, body, floating)
            if state == "stored" and event.key in refused:
                state = "conflict" if refused[event.key].differs_from(event, floating=event.key in floating) else state
            item_states.append(state)
            if state == "stored":
                own[event.key] = StoredBody.of(event)
        (refused if "conflict" in item_states else known).update(own)
        states.append(item_states)
    return states


def _at_stored_place(event: PreparedEvent, stored: StoredBody | None) -> PreparedEvent:
    """*event* with the sequence that the event stored under its id got when it arrived."""
    sequence = stored.sequence if stored else None
    return event if sequence in (None, event.event.sequence) else _moved(event, sequence)


def _compared(event: PreparedEvent, stored: StoredBody | None, floating: frozenset[str]) -> str:
    """``stored`` for a new *event*, ``duplicate`` for a stored one, ``conflict`` if another event has its id."""
    if stored is None:
        return "stored"
    return "conflict" if stored.differs_from(event, floating=event.key in floating) else "duplicate"


# The last sequence of the events that a session has at one time, by session key and time; None if it has none.
LastOfTimes: TypeAlias = dict[tuple[str, int], int | None]


def _last_of_times(
    tenancy: Tenancy, events: Iterable[PreparedEvent], ends: Mapping[str, tuple[int, int]]
) -> Plan[LastOfTimes]:
    """The last sequence at the time of each of *events*, stored before them.

    *ends* holds sequence and time of the last event of each stored session, by key. The database is only asked about
    times that lie before that event.
    """
    last: LastOfTimes = {}
    earlier = []
    for key, time_us in sorted({(event.session_key, event.event.time_us) for event in events}):
        end_sequence, end_us = ends.get(key, (-1, -1))
        last[key, time_us] = end_sequence if end_us == time_us else None
        if end_us != time_us and end_sequence >= time_us:
            earlier.append({"session_key": key, "time_us": time_us})
    if earlier:
        rows = yield bind("events/last_of_times", tenant_id=tenancy.tenant_id, batch={"times": earlier})
        last |= {(row["session_key"], row["time_us"]): row["sequence"] for row in rows}
    return last


def _placed(
    events: Iterable[PreparedEvent],
    floating: frozenset[str],
    last_of_times: LastOfTimes,
    ends: Mapping[str, tuple[int, int]],
) -> Iterator[PreparedEvent]:
    """*events* in order, with a higher sequence where needed.

    Floating ones come after the last of their session so far; those whose time is in *last_of_times*, after the last
    with the same time. *ends* holds sequence and time of the last event of each stored session, by key.
    """
    last_of_times = dict(last_of_times)
    last_sequences = {key: sequence for key, (sequence, _) in ends.items()}
    for event in events:
        last = last_sequences.get(event.session_key, -1)
        at = (event.session_key, event.event.time_us)
        before = last if event.key in floating else last_of_times.get(at)
        placed = _moved(event, before + 1) if before is not None and event.event.sequence <= before else event
        last_sequences[event.session_key] = max(last, placed.event.sequence)
        if at in last_of_times:
            last_of_times[at] = max(before or 0, placed.event.sequence)
        yield placed


def _moved(event: PreparedEvent, sequence: int) -> PreparedEvent:
    moved = Event.parse({**event.event.document(), "sequence": sequence})
    return replace(prepare(moved, counter()), place=event.place)


@dataclass(frozen=True, slots=True)
class Draft:
    """One event to append, as its caller describes it; ``timed``: the caller gave the time."""

    event_type: str
    content: Mapping[str, Any]
    session_id: str
    event_id: str
    agent_id: str
    time_us: int
    timed: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parent_event_id: str | None = None
    source: str | None = None
    latest_us: int | None = None

    def document(self, tenant_id: str) -> tuple[JsonObject, tuple[str, ...]]:
        """The HMX-E document, and a warning for each kind of value that is kept as text."""
        content, warnings = storable(self.content)
        metadata, more = storable(self.metadata)
        document = {
            "hmx_version": HMX_VERSION,
            "event_id": self.event_id,
            "event_type": self.event_type,
            "agent_id": self.agent_id,
            "tenant_id": tenant_id,
            "session_id": self.session_id,
            "timestamp": iso(self.time_us),
            "sequence": max(0, self.time_us),
            "content": content,
            "metadata": metadata,
        }
        optional = {"parent_event_id": self.parent_event_id, "source": self.source}
        return document | {name: value for name, value in optional.items() if value}, warnings + more


def append_all(tenancy: Tenancy, drafts: Sequence[Draft]) -> Procedure[tuple[Receipt, ...]]:
    """Append one event for each draft to the end of its session, all in one transaction; reject invalid drafts.

    An event whose time the caller gave is stored at that time, after the events that its session has at that time.

    Raises:
        ParentLoop: an event would be its own cause; nothing is stored.

    """
    drafted = []
    floating: set[str] = set()
    timed: set[str] = set()
    for draft in drafts:
        document, warnings = draft.document(tenancy.tenant_id)
        prepared, faults = _item_events(tenancy, draft.session_id, [document], draft.latest_us)
        drafted.append((Outcome(Record(None), warnings=warnings), prepared, faults))
        (timed if draft.timed else floating).update(event.key for event in prepared)
    items = [prepared for _, prepared, _ in drafted]
    states: Sequence[Sequence[str]] = [()] * len(items)
    if any(items):
        states = yield from write(partial(append, tenancy, items, frozenset(floating), frozenset(timed)))
    return tuple(
        _receipt(position, outcome, prepared, faults, states[position])
        for position, (outcome, prepared, faults) in enumerate(drafted)
    )
