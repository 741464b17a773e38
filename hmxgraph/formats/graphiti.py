"""Episodes and facts of Graphiti, as queried from Graphiti's Neo4j database.

``docs/formats.md`` has the two queries. Facts that no longer hold become observations with the start and end of the
fact.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._calls import Calls
from hmxgraph.formats._drafts import Draft, Frame, Place, Reading, frame_of, joined, not_an_object
from hmxgraph.formats._messages import ROLES, message_reading
from hmxgraph.formats._values import fields_of, listed, mapping, moment, name, parsed, present, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import IMPORT, MEMORY_EVENT, TOOL

# An episode has content and at least one of these.
_EPISODE_FIELDS = ("source", "source_description", "valid_at", "group_id")
_EXPECTED = f"fact, or content with any of {', '.join(_EPISODE_FIELDS)}"
# Column names under which a query may return a whole node or relationship.
_WRAPPERS = ("episode", "e", "fact", "r", "n", "properties")
# Maximum characters of a speaker's name; a longer text before a colon is not one.
_LONGEST_SPEAKER = 60


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects that are graphiti episodes (content and a source, time or group) or facts, with a uuid.

    >>> recognise([{"uuid": "u", "group_id": "g", "fact": "Ana works at Acme", "episodes": []}]).score
    1.0
    """
    records = [_record(value) for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, ("uuid", _EXPECTED))
    score = sum(_is_fact(value) or _is_episode(value) for value in records) / len(records)
    return Match(round(score, 2), () if score == 1.0 else ("uuid", _EXPECTED))


def _is_fact(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("fact"), str) and "uuid" in value


def _is_episode(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("content"), str) and "uuid" in value and not value.keys().isdisjoint(_EPISODE_FIELDS)


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per episode or fact."""
    calls = Calls(origin.carried)
    for record in records:
        if not isinstance(record.value, Mapping):
            yield not_an_object(record)
            continue
        value = _record(record.value)
        if not _is_fact(value) and not _is_episode(value):
            yield Outcome(record, fault=Fault("$", "graphiti", fields_of(value), f"uuid, and {_EXPECTED}"))
            continue
        frame = _frame(record, value, origin)
        if isinstance(frame, Fault):
            yield Outcome(record, fault=frame)
        else:
            reading = _fact(value, origin) if _is_fact(value) else _episode(value, frame, calls)
            yield joined(record, [(frame, reading)], origin.carried)


def _record(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a record; those of a node or relationship inside it, if there is one, take precedence."""
    inner = next((mapping(value[field]) for field in _WRAPPERS if isinstance(value.get(field), Mapping)), None)
    return {**value, **inner} if inner is not None and "uuid" in inner else value


def _frame(record: Record, value: Mapping[str, Any], origin: Origin) -> Frame | Fault:
    group = name(value.get("group_id")) or "default"
    times = (value.get("valid_at"), value.get("created_at"))
    time = next((candidate for candidate in times if moment(candidate) is not None), None)
    metadata = present(format="graphiti", group_id=group, graphiti_uuid=name(value.get("uuid")))
    place = Place(0, f"graphiti/{group}", name(value.get("uuid")), time, origin.agent_id or "graphiti", metadata)
    return frame_of(record, origin, place, repr(value.get("fact", value.get("content"))))


def _fact(value: Mapping[str, Any], origin: Origin) -> Reading:
    """A fact that still holds becomes a memory, which expires at the end of the fact; others become observations.

    A fact with ``invalid_at`` or ``expired_at`` no longer holds, unless the time of the source is known and earlier.
    The time of the observation is the start of the fact, if known; the end of the fact is in the metadata.
    """
    fact = text(value["fact"]).strip()
    if not fact:
        return Reading(left_out=("empty fact",))
    details: JsonObject = present(
        relation=name(value.get("name")),
        subject=name(value.get("source_name")) or name(value.get("source")),
        object=name(value.get("target_name")) or name(value.get("target")),
        episodes=[name(episode) for episode in listed(value.get("episodes"))],
    )
    ends = [end for field in ("invalid_at", "expired_at") if (end := moment(value.get(field)))]
    ended = next((end for end in ends if origin.time_us is None or end.us <= origin.time_us), None)
    if ended is None:
        memory = {"kind": "fact", "text": fact} | present(expires=ends[0].timestamp if ends else None)
        return Reading((Draft(MEMORY_EVENT, memory, IMPORT, source="graphiti", metadata={"graphiti": details}),))
    content = {"text": f"{fact} (no longer true since {ended.timestamp[:10]})"}
    metadata = {"graphiti": details, "invalid_at": ended.timestamp}
    return Reading((Draft("observation", content, IMPORT, source="graphiti", metadata=metadata),))


def _episode(value: Mapping[str, Any], frame: Frame, calls: Calls) -> Reading:
    """An episode with the source "message" (``Ana (user): Hi``) becomes a message, any other an observation."""
    episode, source = text(value["content"]).strip(), name(value.get("source"))
    title = name(value.get("source_description")) or name(value.get("name"))
    speaker, colon, words = episode.partition(":")
    if source == "message" and colon and words.strip() and len(speaker) <= _LONGEST_SPEAKER and "\n" not in speaker:
        speaker_name, _, role = speaker.partition("(")
        speaker_role = ROLES.get((role.rstrip(") ") or speaker_name).strip().lower(), "user")
        author = present(name=speaker_name.strip() if speaker_name.strip().lower() not in ROLES else "")
        return message_reading({"role": speaker_role, "content": words.strip(), **author}, frame, calls)
    content: JsonObject = present(title=title) | {"text": episode}
    if source == "json" and isinstance(document := parsed(episode), Mapping):
        content = present(title=title) | {"data": dict(document)}
    if not episode:
        return Reading(left_out=("empty episode",))
    return Reading((Draft("observation", content, TOOL, source="graphiti"),))


GRAPHITI = Format("graphiti", "graphiti's episodes and facts", recognise, convert)
