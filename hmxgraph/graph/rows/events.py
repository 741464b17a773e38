"""Prepared events as the rows of a batch, and stored sessions as values."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.recall_rows import recall_row
from hmxgraph.ingest.chain import End, Ends, Neighbours, Weave
from hmxgraph.ingest.prepare import LINKS, PreparedEvent
from hmxgraph.ingest.salience import adjusted

# How many of a session's latest events an exact repeat is looked for among.
REMEMBERED = 64
# How many kinds of events a tenant may have before none counts as new any more.
KINDS = 4_000


class StoredSession(NamedTuple):
    """A locked session as it is stored."""

    key: str
    event_count: int
    first_us: int | None
    last_us: int | None
    ends: Ends | None
    outcome_order: tuple[int, ...]
    marks: list[int]


def stored_session(row: Row) -> StoredSession:
    """The session in a row of ``events/lock_sessions``."""
    ends = Ends(_end(row["head"]), _end(row["tail"])) if row["event_count"] else None
    outcome = tuple(row["outcome_order"])
    return StoredSession(row["key"], row["event_count"], row["first_us"], row["last_us"], ends, outcome, row["marks"])


def _end(values: Sequence[Any]) -> End:
    sequence, time_us, event_id, key = values
    return End((sequence, time_us, event_id), key)


def neighbours(row: Row, event_id: str) -> Neighbours:
    """Between which two stored events *event_id* belongs, from a row of ``events/neighbours``."""
    twins = [twin for twin in row["twins"] if twin[0] < event_id]
    _, before, after = max(twins or row["lower"])
    return Neighbours(before, after)


def by_session(events: Iterable[PreparedEvent]) -> list[tuple[str, list[PreparedEvent]]]:
    """The events of a batch by session, as they stand: sessions in key order, each in its total order."""
    return [(key, list(group)) for key, group in groupby(events, key=lambda event: event.session_key)]


def new_kinds(events: Iterable[PreparedEvent], known: Collection[str]) -> dict[str, str]:
    """The signatures that the tenant does not know yet, each with the key of the event that came first by its time.

    So many are kept in all; which session comes first in a batch is of no account.
    """
    found: dict[str, str] = {}
    unknown = [event for event in events if event.base_salience is not None and event.signature not in known]
    for event in sorted(unknown, key=lambda event: (event.event.time_us, event.event.event_id)):
        if event.signature in found or len(known) + len(found) < KINDS:
            found.setdefault(event.signature, event.key)
    return found


def session_row(stored: StoredSession, events: Sequence[PreparedEvent], first_of_kind: Collection[str]) -> Row:
    """What a batch makes of one session: its new properties, and the properties of its new events.

    *first_of_kind* are the keys of those that are of a kind that the tenant never had.
    """
    marks = list(stored.marks)
    rows = []
    for event in events:
        rows.append(_event_row(event, new=event.key in first_of_kind, repeat=event.mark in marks))
        marks.append(event.mark)
    return {
        "key": stored.key,
        "properties": {**_extent(stored, events), **_outcome(stored, events), "marks": marks[-REMEMBERED:]},
        "events": rows,
    }


def _event_row(event: PreparedEvent, *, new: bool, repeat: bool) -> dict[str, Any]:
    if event.base_salience is None:
        return {**event.properties, "recall_row": recall_row(event.properties)}
    salience = adjusted(event.base_salience, new=new, repeat=repeat)
    properties = {**event.properties, "salience": salience, "salience_origin": "engine"}
    return {**properties, "recall_row": recall_row(properties)}


def _extent(stored: StoredSession, events: Sequence[PreparedEvent]) -> dict[str, Any]:
    times = [event.event.time_us for event in events]
    first, last = End(events[0].order, events[0].key), End(events[-1].order, events[-1].key)
    if stored.ends:
        first, last = min(first, stored.ends.head), max(last, stored.ends.tail)
    return {
        "event_count": stored.event_count + len(events),
        "first_us": min([*times, *_known(stored.first_us)]),
        "last_us": max([*times, *_known(stored.last_us)]),
        **_spelled("head", first),
        **_spelled("tail", last),
    }


def _known(value: int | None) -> list[int]:
    return [] if value is None else [value]


def _spelled(name: str, end: End) -> dict[str, Any]:
    sequence, time_us, event_id = end.order
    return {
        f"{name}_sequence": sequence,
        f"{name}_us": time_us,
        f"{name}_id": event_id,
        f"{name}_key": end.key,
    }


def _outcome(stored: StoredSession, events: Sequence[PreparedEvent]) -> dict[str, Any]:
    """The signal of the session's last feedback."""
    for event in reversed(events):
        signal = event.event.content.get("signal")
        order = event.order[:2]
        if event.event.event_type == "feedback" and isinstance(signal, str):
            return {"outcome": signal, "outcome_order": list(order)} if order >= stored.outcome_order else {}
    return {}


def inner_and_outer(
    events: Sequence[PreparedEvent], weave: Weave
) -> tuple[dict[str, list[tuple[int, int]]], dict[str, list[tuple[str, str, str]]], list[tuple[str, str]]]:
    """Links within the batch as positions, links beyond it as keys, and chain pairs that begin or end beyond it."""
    places = {event.key: place for place, event in enumerate(events)}
    calls = _calls(events)
    inner: dict[str, list[tuple[int, int]]] = {kind: [] for kind in ("NEXT", *LINKS)}
    outer: dict[str, list[tuple[str, str, str]]] = {kind: [] for kind in LINKS}
    joined = []
    for earlier, later in weave.linked:
        if earlier in places and later in places:
            inner["NEXT"].append((places[earlier], places[later]))
        else:
            joined.append((earlier, later))
    for place, event in enumerate(events):
        for kind, key in event.links:
            other = _call_before(calls.get(key), place) if kind == "ANSWERS" else places.get(key)
            if other is None:
                outer[kind].append((event.key, key, kind))
            else:
                inner[kind].append((place, other))
    return inner, outer, joined


def _calls(events: Sequence[PreparedEvent]) -> Mapping[str, list[int]]:
    calls: dict[str, list[int]] = {}
    for place, event in enumerate(events):
        if event.call_key:
            calls.setdefault(event.call_key, []).append(place)
    return calls


def _call_before(calls: list[int] | None, place: int) -> int | None:
    """The nearest call before the result at *place*."""
    return max((call for call in calls or () if call < place), default=None)


def offers(events: Iterable[PreparedEvent]) -> Iterator[tuple[str, str]]:
    """Under which keys others may have waited for these events, each with the event's own."""
    for event in events:
        yield event.key, event.key
        if event.call_key:
            yield event.call_key, event.key
