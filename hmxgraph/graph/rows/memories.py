"""Memories as rows of a batch, and stored ones as values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmxgraph.extraction.memories.timeline import Told
from hmxgraph.extraction.values import BY_HAND, Extraction, MemoryDraft
from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.entities import Extracted, entity_key
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import stable_id
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.terms import search_text, wording
from hmxgraph.text.tokens import TokenCounter

# A memory as sure as this is promoted; below, it is tentative until it was observed again.
SURE = 0.7
_TRIPLE = ("subject", "predicate", "object")
_WORDS = frozenset({"text", "search_text", "token_count", *_TRIPLE})


class Maker(NamedTuple):
    """What memories are made with: whose they are, how long a text is in tokens, by which tokenizer."""

    tenancy: Tenancy
    count_tokens: TokenCounter
    tokenizer: str


class Stated(NamedTuple):
    """A memory as one event gives it."""

    event_key: str
    time_us: int
    draft: MemoryDraft

    @property
    def told(self) -> Told:
        """The same as an answer to the question of its slot."""
        return Told(self.time_us, self.event_key, self.draft.answer, self.draft.said_by, self.draft.laid_down)


class Identity(NamedTuple):
    """What makes a memory that stands for itself the one it is: its kind and its wording."""

    kind: str
    wording: str


def stated(batch: Sequence[Extracted]) -> list[Stated]:
    """The memories that *batch* gives, in the order of time."""
    found = [Stated(key, time_us, draft) for key, time_us, extraction in batch for draft in extraction.memories]
    return sorted(found, key=lambda one: (one.time_us, one.event_key))


def by_identity(given: Sequence[Stated]) -> dict[Identity, list[Stated]]:
    """Memories that stand for themselves, by what they say: said in the same words again, it is the same memory."""
    found: dict[Identity, list[Stated]] = {}
    for one in given:
        found.setdefault(_identity_of(one.draft), []).append(one)
    return found


def last_told_by_hand(said: Sequence[Stated]) -> int | None:
    """When somebody last wanted it to be remembered; None where nobody did."""
    return max((one.time_us for one in said if one.draft.extraction_method == BY_HAND), default=None)


def standing_id(tenancy: Tenancy, identity: Identity, generation: int = 0) -> str:
    """The id of a memory that stands for itself; of another one in its words after so many were taken out by hand."""
    again = (str(generation),) if generation else ()
    return stable_id(tenancy.tenant_id, "memory", *identity, *again)


def memory_row(maker: Maker, memory_id: str, said: Sequence[Stated]) -> Row:
    """What ``memories/record`` writes for a memory that *said*, in order of time, give; it is in no chain."""
    key = maker.tenancy.node_key(memory_id)
    first_us, last_us = said[0].time_us, said[-1].time_us
    methods = [one.draft.extraction_method for one in said]
    properties = _properties(maker, said[0].draft) | {
        "key": key,
        "memory_id": memory_id,
        "surest": max(one.draft.confidence for one in said),
        "hard": True if any(one.draft.hard for one in said) else None,
        "extraction_method": BY_HAND if BY_HAND in methods else methods[0],
        "first_us": first_us,
        "last_us": last_us,
    }
    refs = sorted({ref for one in said for ref in one.draft.about})
    return {
        "key": key,
        "properties": {name: value for name, value in properties.items() if value not in {None, ""}},
        "event_keys": sorted({one.event_key for one in said}),
        "entity_keys": sorted({entity_key(maker.tenancy, *ref) for ref in refs}),
        "first_us": first_us,
        "last_us": last_us,
        "ends_us": None,
        "chained": False,
    }


def reworded(maker: Maker, memory: Row, told: Extraction) -> Row | None:
    """What ``memories/reword`` writes for a stored memory as *told* words it; None where nothing is to change."""
    for draft in told.memories:
        if _tells(draft, memory):
            if draft.text == memory["text"]:
                return None
            words = {name: value or None for name, value in _properties(maker, draft).items() if name in _WORDS}
            return {"key": memory["key"], "words": words}
    return None


def _tells(draft: MemoryDraft, memory: Row) -> bool:
    """Whether *draft* is the same as a stored memory, in whatever words."""
    if memory["answer"]:
        return bool(draft.kind == memory["kind"] and draft.answer == memory["answer"])
    stored = _identity(memory["kind"], memory["text"], *(memory[name] or "" for name in _TRIPLE))
    return not draft.slot and _identity_of(draft) == stored


def _identity_of(draft: MemoryDraft) -> Identity:
    return _identity(draft.kind, draft.text, draft.subject, draft.predicate, draft.object)


def _identity(kind: str, text: str, subject: str, predicate: str, value: str) -> Identity:
    """A fact about something is told by that, whatever its words."""
    return Identity(kind, wording(f"{subject} {predicate} {value}" if kind == "fact" and value else text))


def _properties(maker: Maker, draft: MemoryDraft) -> dict[str, Any]:
    return {
        "tenant_id": maker.tenancy.tenant_id,
        "kind": draft.kind,
        "text": draft.text,
        "search_text": search_text(draft.text) or draft.text.lower(),
        "scope": maker.tenancy.scope,
        "token_count": maker.count_tokens(draft.text),
        "tokenizer": maker.tokenizer,
        "extraction_method": draft.extraction_method,
        "subject": draft.subject,
        "predicate": draft.predicate,
        "object": draft.object,
        "answer": draft.answer if draft.slot else "",
        "said_by": draft.said_by,
        "status": "tentative",
        "observation_count": 0,
    }


@dataclass(frozen=True, slots=True)
class Memory:
    """A semantic memory: a fact, preference, policy or goal in the words it was given in, with its standing.

    ``valid_to`` is None while nothing has taken its place. ``event_ids`` are its evidence, oldest first; in a page
    of memories the first hundred.
    """

    memory_id: str
    kind: str
    text: str
    status: str
    confidence: float
    observation_count: int
    extraction_method: str
    first_at: str
    last_at: str
    valid_from: str
    valid_to: str | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    said_by: str | None = None
    hard: bool = False
    event_ids: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The memory as a JSON-able dict; what it does not have is left out."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "event_ids"}
        found = {name: value for name, value in fields.items() if value is not None}
        return found | ({"event_ids": list(self.event_ids)} if self.event_ids else {})


def stored_memory(
    properties: Row, *, event_ids: Sequence[str] = (), observations: int | None = None, as_of: bool = False
) -> Memory:
    """The memory of a node; *as_of* says that it held at the time asked for, whatever became of it later."""
    end_us = None if as_of else properties.get("valid_to_us")
    return Memory(
        properties["memory_id"],
        properties["kind"],
        properties["text"],
        held_status(properties) if as_of else properties["status"],
        properties["confidence"],
        properties["observation_count"] if observations is None else observations,
        properties["extraction_method"],
        iso(properties["first_us"]),
        iso(properties["last_us"]),
        iso(properties["valid_from_us"]),
        None if end_us is None else iso(end_us),
        subject=properties.get("subject"),
        predicate=properties.get("predicate"),
        object=properties.get("object"),
        said_by=properties.get("said_by"),
        hard=properties.get("hard", False),
        event_ids=tuple(event_ids),
    )


def held_status(memory: Row) -> str:
    """The status of a memory while it held, whatever became of it later."""
    if memory["status"] not in {"deprecated", "contradicted"}:
        return str(memory["status"])
    return "promoted" if memory["confidence"] >= SURE else "tentative"
