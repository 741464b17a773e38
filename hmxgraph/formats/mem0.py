"""Memories of mem0, in the form in which ``get_all`` returns them: one per line, in an array, or under ``results``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats._drafts import Draft, Frame, Place, Reading, frame_of, joined, not_an_object
from hmxgraph.formats._values import derived_id, fields_of, listed, mapping, name, present, text
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record
from hmxgraph.protocol.events import IMPORT, MEMORY_EVENT

# Fields that may hold the text of a memory.
_TEXT_FIELDS = ("memory", "data", "text")
# Fields that may hold a list of memories.
_LISTS = ("results", "memories")


def recognise(sample: Sequence[Any]) -> Match:
    """The share of objects that are memories, with text, id, and a hash, user, agent or time, or lists of memories.

    >>> recognise([{"id": "m1", "memory": "Likes tea", "hash": "h", "user_id": "ana"}]).score
    1.0
    """
    records = [value for value in sample if isinstance(value, Mapping)]
    if not records:
        return Match(0.0, ("id", "memory"))
    fitting = sum(bool(memories := _memories(value)) and all(map(_is_memory, memories)) for value in records)
    score = fitting / len(records)
    return Match(round(score, 2), () if score == 1.0 else ("id", "memory", "hash, user_id, agent_id or created_at"))


def _is_memory(value: Any) -> bool:
    fields = mapping(value)
    return (
        isinstance(fields.get("memory"), str)
        and "id" in fields
        and bool({"hash", "user_id", "agent_id", "created_at"} & set(fields))
    )


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record."""
    for record in records:
        if isinstance(record.value, Mapping):
            yield _outcome(record, record.value, origin)
        else:
            yield not_an_object(record)


def _outcome(record: Record, value: Mapping[str, Any], origin: Origin) -> Outcome:
    readings: list[tuple[Frame, Reading]] = []
    memories = _memories(value)
    for position, memory in enumerate(memories):
        memory_text = next((text(memory[field]) for field in _TEXT_FIELDS if text(memory.get(field))), "")
        if not memory_text.strip():
            return Outcome(record, fault=Fault("$.memory", "mem0", fields_of(memory), "the text of a memory"))
        frame = _frame(record, memory, position, origin)
        if isinstance(frame, Fault):
            return Outcome(record, fault=frame)
        content = {"kind": "fact", "text": memory_text} | present(user_id=_user(memory, origin))
        readings.append((frame, Reading((Draft(MEMORY_EVENT, content, IMPORT, source="mem0"),))))
    return joined(record, readings, origin.carried) if memories else Outcome(record, skipped="a list without memories")


def _user(memory: Mapping[str, Any], origin: Origin) -> str:
    """The user that a memory is about, from the memory, its metadata or *origin*; "" if none of them names one."""
    return name(memory.get("user_id")) or name(mapping(memory.get("metadata")).get("user_id")) or origin.user_id or ""


def _frame(record: Record, memory: Mapping[str, Any], position: int, origin: Origin) -> Frame | Fault:
    """The frame of a memory; its id depends on the time of the last update, so an updated memory is a new event."""
    run, user = name(memory.get("run_id")), _user(memory, origin)
    own_id, updated = name(memory.get("id")), memory.get("updated_at") or memory.get("created_at")
    metadata = present(
        format="mem0",
        user_id=user,
        categories=listed(memory.get("categories")),
        mem0=dict(mapping(memory.get("metadata"))),
        mem0_id=own_id,
    )
    session = f"mem0/{run or user or name(memory.get('agent_id')) or 'all'}"
    key = derived_id("mem0", own_id, updated, memory.get("hash")) if own_id else ""
    place = Place(position, session, key, updated, name(memory.get("agent_id")) or origin.agent_id or "mem0", metadata)
    return frame_of(record, origin, place, repr(memory))


def _memories(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    inner = next((value[field] for field in _LISTS if isinstance(value.get(field), list)), None)
    return [value] if inner is None else [mapping(part) for part in inner if isinstance(part, Mapping)]


MEM0 = Format("mem0", "memories of mem0", recognise, convert)
