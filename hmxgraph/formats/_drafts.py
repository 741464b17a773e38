"""Convert the parts of a record to HMX-E events: with ids, order and origin, and within the size limits."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._values import Moment, derived_id, moment, session_of
from hmxgraph.formats.conversion import JsonObject, Origin, Outcome, Record
from hmxgraph.protocol.canonical import MAX_INTEGER, canonical_bytes
from hmxgraph.protocol.document import KB
from hmxgraph.protocol.events import HMX_VERSION, ORIGIN, USER
from hmxgraph.protocol.lenient import storable
from hmxgraph.protocol.parsing import canonical_size_bound
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.marks import cut_marked

# The event type of a model's reasoning: stored, but not part of the conversation.
REASONING = "x-hmxgraph-reasoning"
# Ids of at least this many characters count as unique in a tenant; shorter ones, such as "17", only in their session.
_LONG_ID = 16
_MILLISECOND_US = 1_000
# Microseconds between lines of a source without times.
_LINE_US = 1_000 * _MILLISECOND_US
# Microseconds between records with the same time. The parts of a record take up to 200 (`RANKS`) plus one for each
# part before them; if that reaches 250, the next record is moved by a multiple of 250.
_TIE_US = 250
# Microseconds added to the time of an event, so that at the same time calls sort after messages, and results after
# calls. Within a record, a part gets at least the rank of the parts before it.
RANKS = {"tool_call": 100, "tool_result": 200}
# Maximum bytes, below the limits of HMX-E 11, to leave room for fields that importers add.
_MOST_CONTENT = 500 * KB
_MOST_METADATA = 60 * KB
# Packs (memories that hmxgraph inserted into a prompt) are removed only down to this depth of a nested value.
_DEEPEST_PACK = 40
# Metadata that the engine itself reads: never cut, even if the metadata is too large.
_ENGINE_METADATA = (ORIGIN, "user_id", "undated", "opening", "cut_packs")
# In content or metadata that is too large, texts are cut to the first of these lengths (in characters) that suffices.
_TEXT_LENGTHS = (100_000, 20_000, 4_000, 800, 160)


@dataclass(frozen=True, slots=True)
class Draft:
    """One part of a record before it becomes an event; ``part`` distinguishes it from the other parts of the record.

    ``origin`` says who wrote the part (docs/trust.md); it is unrelated to the class :class:`Origin`, which holds facts
    about a whole source.
    """

    event_type: str
    content: JsonObject
    origin: str
    part: str = "0"
    source: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    parent_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """The fields shared by all events of a record (of one message, if the record holds several)."""

    record_id: str
    session_id: str
    agent_id: str
    time: Moment
    metadata: JsonObject
    trace_id: str | None = None

    def event_id(self, part: str) -> str:
        """The id of the event that the draft named *part* becomes."""
        return f"{self.record_id}#{part}"


@dataclass(frozen=True, slots=True)
class Reading:
    """The drafts of one record or message, and the reason for each part that is left out.

    If the record completes or repeats an earlier event, ``part_of`` is the id of that event.
    """

    drafts: tuple[Draft, ...] = ()
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    part_of: str | None = None


def skipped(reason: str) -> Reading:
    """The reading of a record that is not stored, with the reason.

    >>> skipped("timing of a turn").left_out
    ('timing of a turn',)
    """
    return Reading(left_out=(reason,))


def not_an_object(record: Record) -> Outcome:
    """The outcome for a record that is not a JSON object."""
    return Outcome(record, fault=Fault("$", "the format's records", type(record.value).__name__, "an object"))


def outcome(record: Record, frame: Frame, reading: Reading, carried: JsonObject) -> Outcome:
    """The outcome of *record*: the events of its drafts, or why it has none."""
    if reading.part_of is not None:
        return Outcome(record, part_of=reading.part_of)
    return joined(record, [(frame, reading)], carried)


def joined(record: Record, readings: Iterable[tuple[Frame, Reading]], carried: JsonObject) -> Outcome:
    """The outcome of a record that holds several messages, each with its own frame."""
    events: list[JsonObject] = []
    left_out: list[str] = []
    warnings: list[str] = []
    repeated: list[str] = []
    for frame, reading in readings:
        left_out += reading.left_out
        warnings += reading.warnings
        repeated += [reading.part_of] if reading.part_of else []
        rank = number = 0
        for number, draft in enumerate(with_openings(reading.drafts, frame.session_id, carried)):
            rank = max(rank, RANKS.get(draft.event_type, 0))
            event, reason, event_warnings = _event(frame, draft, rank + number)
            warnings += event_warnings
            if event is None:
                left_out.append(reason)
            else:
                events.append(event)
        _make_room(carried, rank + number)
    if events:
        left_out += ["repeats an event"] * len(repeated)
        return Outcome(record, events=tuple(events), left_out=tuple(left_out), warnings=tuple(dict.fromkeys(warnings)))
    if repeated:
        return Outcome(record, part_of=repeated[0])
    return Outcome(record, skipped="; ".join(dict.fromkeys(left_out)) or "nothing in it")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message belongs: the session, id and time that it states, if any, and its position in the record.

    A short id, such as "17", is usually unique only in its session, so the session is put before it unless ``unique``
    is set. With ``in_order``, records with the same time keep the order in which they are read.
    """

    position: int = 0
    session_id: str = ""
    own_id: str = ""
    time: Any = None
    agent_id: str = ""
    metadata: JsonObject = field(default_factory=dict)
    unique: bool = False
    in_order: bool = False


def frame_of(record: Record, origin: Origin, place: Place, content: Any = None) -> Frame | Fault:
    """The frame of a message at *place*; a fault if its session or time is unknown.

    A message without an id gets one: if the caller gave a key, from that key, the line and the position; else from the
    session, the position and *content*, and also from the line if *place* names no session.
    """
    session_id = place.session_id or session_of(record, origin)
    if not session_id:
        return Fault("$", "HMX-E 2.1", "no session", "a session_id in the record or from the caller")
    own_time = moment(place.time)
    if own_time is None and origin.time_us is None:
        return Fault("$", "HMX-E 2.1", "no time", "a time in the record or from the caller")
    at = own_time or Moment(iso(origin.time_us or 0), origin.time_us or 0)
    derived = (
        f"{origin.key}/{record.line}.{place.position}"
        if origin.key
        else derived_id(session_id, 0 if place.session_id else record.line, place.position, repr(content))
    )
    # Many messages have no time, or one in whole seconds: offsets keep them in order.
    order = place.position * _MILLISECOND_US + (record.line * _LINE_US if own_time is None else 0)
    if place.in_order and own_time is not None:
        order += _TIE_US * _tied(origin.carried, session_id, own_time.us)
    return Frame(
        _unique(place, session_id) or derived,
        session_id,
        place.agent_id or origin.agent_id or "assistant",
        replace(at, us=at.us + order),
        common_metadata(origin, undated=own_time is None) | place.metadata,
    )


def _tied(carried: JsonObject, session_id: str, us: int) -> int:
    """The number of records directly before this one with its session and time; a long one counts several times."""
    latest = carried.get("latest_time", [])
    count = latest[2] + 1 if latest[:2] == [session_id, us] else 0
    carried["latest_time"] = [session_id, us, count]
    return count


def _make_room(carried: JsonObject, offset: int) -> None:
    """Make ``_tied`` count the latest record several times if *offset*, that of its last part, reaches ``_TIE_US``."""
    if "latest_time" in carried:
        carried["latest_time"][2] += offset // _TIE_US


def _unique(place: Place, session_id: str) -> str:
    """The message's own id, after the session's if it is short and not unique; "" if the message has none."""
    own_id = place.own_id
    return own_id if place.unique or not own_id or len(own_id) >= _LONG_ID else f"{session_id}/{own_id}"


def common_metadata(origin: Origin, *, undated: bool = False) -> JsonObject:
    """Metadata for every event of a source: the user that the caller stated, and whether the time is unknown."""
    user = {"user_id": origin.user_id} if origin.user_id else {}
    return user | ({"undated": True} if undated else {})


def _event(frame: Frame, draft: Draft, order: int) -> tuple[JsonObject | None, str, list[str]]:
    """The event of a draft, the reason if there is none, and warnings.

    There is no event if the draft held nothing but packs. *order* is added to the time of the frame to get the sequence
    of the event.
    """
    content, pack_ids = without_packs(draft.content)
    if pack_ids and not (_is_worth_storing(draft.event_type, content) or content.get("attachments")):
        return None, "text of a pack, recalled from memory", []
    content, content_warnings = storable(content)
    whole_metadata, metadata_warnings = storable(
        {ORIGIN: draft.origin, **frame.metadata, **draft.metadata} | ({"cut_packs": pack_ids} if pack_ids else {})
    )
    content, content_cuts = _fitted(content, _MOST_CONTENT)
    metadata, metadata_cuts = _fitted(whole_metadata, _MOST_METADATA)
    metadata |= {name: whole_metadata[name] for name in _ENGINE_METADATA if name in whole_metadata}
    document = {
        "hmx_version": HMX_VERSION,
        "event_id": frame.event_id(draft.part),
        "event_type": draft.event_type,
        "agent_id": frame.agent_id,
        "session_id": frame.session_id,
        "timestamp": frame.time.timestamp,
        "sequence": min(max(0, frame.time.us) + order, MAX_INTEGER),
        "content": content,
        "metadata": metadata,
    }
    optional = {
        "source": draft.source,
        "parent_event_id": draft.parent_event_id,
        "trace_id": frame.trace_id,
    }
    document |= {key: value for key, value in optional.items() if value}
    return document, "", [*content_warnings, *metadata_warnings, *content_cuts, *metadata_cuts]


def _is_worth_storing(event_type: str, content: JsonObject) -> bool:
    """Whether an event is worth storing: it has a text or comment, or is a call, a result or an error."""
    if event_type in {"tool_call", "tool_result", "error"}:
        return True
    return any(isinstance(value, str) and value.strip() for key, value in content.items() if key in {"text", "comment"})


def without_packs(value: Any) -> tuple[Any, tuple[str, ...]]:
    """*value* without the packs inserted into its texts, and the ids of those packs.

    >>> without_packs({"text": 'Go <hmxgraph-pack id="p">old</hmxgraph-pack>on', "role": "user"})
    ({'text': 'Go on', 'role': 'user'}, ('p',))
    """
    pack_ids: list[str] = []
    return _cut(value, pack_ids, 0), tuple(dict.fromkeys(pack_ids))


def _cut(value: Any, pack_ids: list[str], depth: int) -> Any:
    if isinstance(value, str):
        kept, cut_pack_ids = cut_marked(value)
        pack_ids += cut_pack_ids
        return kept
    if depth > _DEEPEST_PACK:
        return value
    if isinstance(value, dict):
        return {key: _cut(part, pack_ids, depth + 1) for key, part in value.items()}
    return [_cut(part, pack_ids, depth + 1) for part in value] if isinstance(value, list) else value


def _fitted(value: Any, most: int) -> tuple[Any, list[str]]:
    """*value* with long texts cut, so that it has at most *most* bytes (HMX-E 11), and a warning if it was cut.

    If that is not enough, the value becomes an object whose only field ``text`` is the start of ``str(value)``.
    """
    size = _bytes(value, most)
    if size <= most:
        return value, []
    for longest in _TEXT_LENGTHS:
        shortened = _shortened(value, longest)
        if _bytes(shortened, most) <= most:
            return shortened, [
                f"texts longer than {longest} characters were cut: {size} bytes are more than HMX-E 11 allows"
            ]
    # A character takes up to six bytes; dividing by eight leaves room for the field name.
    return {"text": str(value)[: most // 8]}, [f"kept as cut text: {size} bytes are more than HMX-E 11 allows"]


def _bytes(value: Any, most: int) -> int:
    """The size of the canonical text of *value*, or a faster upper bound if that is at most *most*."""
    bound = canonical_size_bound(value)
    return bound if bound <= most else len(canonical_bytes(value))


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]} […] ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: _shortened(part, longest) for key, part in value.items()}
    return [_shortened(part, longest) for part in value] if isinstance(value, list) else value


def with_openings(drafts: Iterable[Draft], session_id: str, carried: JsonObject) -> Iterator[Draft]:
    """*drafts*, with the first user message of the session marked as its opening, because it states the goal.

    Messages without text are not marked.
    """
    sessions: JsonObject = carried.setdefault("opened", {})
    for draft in drafts:
        by_user = draft.event_type == "message" and draft.origin == USER
        is_opening = (
            by_user and session_id not in sessions and _is_worth_storing("message", without_packs(draft.content)[0])
        )
        if is_opening:
            sessions[session_id] = True
        yield replace(draft, metadata={**draft.metadata, "opening": True}) if is_opening else draft


def numbered(drafts: Iterable[Draft], block: int = 0) -> Iterator[Draft]:
    """*drafts* of one block with part names that distinguish them: ``3``, ``3.1``, ``3.2``.

    >>> drafts = numbered([Draft("message", {}, "user"), Draft("observation", {}, "harness")], 3)
    >>> [draft.part for draft in drafts]
    ['3', '3.1']
    """
    for number, draft in enumerate(drafts):
        yield replace(draft, part=f"{block}.{number}" if number else str(block))
