"""Memories in the graph: written together with their events, chained by slot, listed, forgotten.

A slot is a question with one answer at a time, such as where somebody lives. Its answers are a chain: each is a memory
that holds from its first statement until the next answer. A memory without a slot is identified by its words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from hmxgraph.errors import NotFound, UnknownChoice
from hmxgraph.extraction.extract import EVENT_TYPE, KINDS, extract
from hmxgraph.extraction.language import BY_HAND, Extraction, MemoryDraft, session_owner, user_key
from hmxgraph.extraction.timeline import Assertion, Dispute, Interval, StoredAssertion, ends, settle
from hmxgraph.graph._conflict_rows import Side, conflict_row
from hmxgraph.graph._entities import EventExtraction, entity_key
from hmxgraph.graph._paging import check_limit, cursor, place
from hmxgraph.graph.artifacts import ALWAYS
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, open_batch, read
from hmxgraph.ingest.prepare import event_document
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import MEMORY_STATUSES
from hmxgraph.protocol.memories import Memory
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.terms import DEFAULT_ENCODING, TokenCounter, counter, search_text, wording, words

# Memories as rows of a batch, and stored memories as values.

# Confidence from which a memory is promoted; below it, the memory stays tentative until more observations raise it.
SURE = 0.7
_TRIPLE = ("subject", "predicate", "object")
# The properties that `_reword` replaces.
_WORDS = frozenset({"text", "search_text", "token_count", *_TRIPLE})


class _RowBuilder(NamedTuple):
    """The inputs for building rows: tenant, token counter and the name of its tokenizer."""

    tenancy: Tenancy
    count_tokens: TokenCounter
    tokenizer: str


class Observation(NamedTuple):
    """A memory as observed in one event."""

    event_key: str
    time_us: int
    draft: MemoryDraft

    @property
    def assertion(self) -> Assertion:
        """The observation as an answer in its slot."""
        return Assertion(self.time_us, self.event_key, self.draft.answer, self.draft.voice, self.draft.is_hard_by_hand)


class Identity(NamedTuple):
    """The identity of a memory without a slot: kind and wording, owner, whether it is a proposal, and its scopes."""

    kind: str
    wording: str
    owner: str = ""
    unproven: bool = False
    scopes: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the memory's id."""
        qualifiers = (self.owner, "proposal" if self.unproven else "", *self.scopes)
        return (self.kind, self.wording, *(qualifiers if any(qualifiers) else ()))


def _observations_in(batch: Sequence[EventExtraction]) -> list[Observation]:
    """The memories observed in *batch*, in order of time."""
    observations = [
        Observation(key, time_us, draft) for key, time_us, extraction in batch for draft in extraction.drafts
    ]
    return sorted(observations, key=_order)


def _order(observation: Observation) -> tuple[int, str]:
    return observation.time_us, observation.event_key


def _by_identity(observations: Sequence[Observation]) -> dict[Identity, list[Observation]]:
    """Group observations without a slot: the same words again are the same memory."""
    groups: dict[Identity, list[Observation]] = {}
    for observation in observations:
        groups.setdefault(_identity_of(observation.draft), []).append(observation)
    return groups


def _last_remembered_us(observations: Sequence[Observation]) -> int | None:
    """The time of the last explicit `remember` among the observations; None if there is none."""
    return max(
        (observation.time_us for observation in observations if observation.draft.extraction_method == BY_HAND),
        default=None,
    )


def _slotless_id(tenancy: Tenancy, identity: Identity, generation: int = 0) -> str:
    """The id of a memory without a slot; *generation* counts the earlier ones with the same words that have ended."""
    again = (str(generation),) if generation else ()
    return stable_id(tenancy.tenant_id, "memory", *identity.parts, *again)


def owner_key(tenancy: Tenancy, owner: str) -> str:
    """The key that stands for an owner, so that sessions need not store the names of their users."""
    return tenancy.node_key("owner", owner)


# Number of leading words of a question that are searched for user names.
_NAMING_WORDS = 32
# Maximum number of words in such a name.
_LONGEST_NAME = 4
# Maximum number of keys that `audience` returns: 32 words have fewer runs of up to four words than this.
MOST_AUDIENCE = _NAMING_WORDS * _LONGEST_NAME


def audience(tenancy: Tenancy, question: str, *, user_id: str | None, session_id: str | None) -> list[str]:
    """The keys of the owners whose memories a reader may see: the user, and the unnamed user of the session.

    With neither a user nor a session, these are the users whom the question names.
    """
    names: list[str] = []
    if user_id is not None:
        names = [user_key(user_id)]
    elif session_id is None:
        names = list(_word_runs(words(question)[:_NAMING_WORDS]))
    names += [session_owner(session_id)] if session_id else []
    return sorted({owner_key(tenancy, name) for name in names})


def _word_runs(question_words: Sequence[str]) -> Iterator[str]:
    """Yield every run of words in a question that could be a user's id or name."""
    for size in range(1, _LONGEST_NAME + 1):
        for start in range(len(question_words) - size + 1):
            yield " ".join(question_words[start : start + size])


def _memory_row(builder: _RowBuilder, memory_id: str, observations: Sequence[Observation]) -> Row:
    """The row of ``memories/record`` for a memory with these observations (in order of time), not part of a chain."""
    key = builder.tenancy.node_key(memory_id)
    first_us, last_us = observations[0].time_us, observations[-1].time_us
    methods = [observation.draft.extraction_method for observation in observations]
    properties = _properties(builder, observations[0].draft) | {
        "key": key,
        "memory_id": memory_id,
        "surest": max(observation.draft.confidence for observation in observations),
        "hard": True if any(observation.draft.hard for observation in observations) else None,
        "extraction_method": BY_HAND if BY_HAND in methods else methods[0],
        "first_us": first_us,
        "last_us": last_us,
    }
    refs = sorted({ref for observation in observations for ref in observation.draft.about})
    return {
        "key": key,
        "properties": {name: value for name, value in properties.items() if value not in (None, "", [])},
        "given": _remembered_terms(observations),
        "event_keys": sorted({observation.event_key for observation in observations}),
        "origins": {observation.event_key: observation.draft.origin for observation in observations},
        "entity_keys": sorted({entity_key(builder.tenancy, *ref) for ref in refs}),
        "first_us": first_us,
        "last_us": last_us,
        "ends_us": None,
        "chained": False,
    }


def _remembered_terms(observations: Sequence[Observation]) -> Row | None:
    """The options of the last explicit `remember`, or None without one.

    They replace those of earlier calls; aliases are replaced only if the last call gives any.
    """
    by_hand = [observation.draft for observation in observations if observation.draft.extraction_method == BY_HAND]
    if not by_hand:
        return None
    terms = by_hand[-1].terms
    return {
        "pinned": terms.pinned or None,
        "expires_us": terms.expires_us,
        "aliases": list(terms.aliases) or None,
        "search_text": _searchable(by_hand[-1]),
    }


def _searchable(draft: MemoryDraft) -> str:
    return search_text(" ".join((draft.text, draft.implied, *draft.terms.aliases))) or draft.text.lower()


def _reworded(builder: _RowBuilder, memory: Row, extraction: Extraction) -> Row | None:
    """The row of ``memories/reword`` that gives a stored memory the words of *extraction*; None if nothing changes."""
    for draft in extraction.drafts:
        if _same_memory(draft, memory):
            if draft.text == memory["text"]:
                return None
            properties = _properties(builder, draft)
            return {"key": memory["key"], "words": {name: properties[name] or None for name in sorted(_WORDS)}}
    return None


def _same_memory(draft: MemoryDraft, memory: Row) -> bool:
    """Whether *draft* states the stored *memory*, even if in other words."""
    if memory["answer"]:
        return bool(draft.kind == memory["kind"] and draft.answer == memory["answer"])
    words = _wording(memory["kind"], memory["text"], *(memory[name] or "" for name in _TRIPLE))
    scopes = tuple(memory["scopes"] or ())
    stored = Identity(memory["kind"], words, memory["owner"] or "", bool(memory["unproven"]), scopes)
    return not draft.slot and _identity_of(draft) == stored


def _identity_of(draft: MemoryDraft) -> Identity:
    words = _wording(draft.kind, draft.text, draft.subject, draft.predicate, draft.object)
    return Identity(draft.kind, words, draft.owner, draft.unproven, draft.terms.scopes)


def _wording(kind: str, text: str, subject: str, predicate: str, value: str) -> str:
    """The words that identify a memory: those of the triple for a fact with an object, else those of the text."""
    return wording(f"{subject} {predicate} {value}" if kind == "fact" and value else text)


def _properties(builder: _RowBuilder, draft: MemoryDraft) -> dict[str, Any]:
    return {
        "tenant_id": builder.tenancy.tenant_id,
        "kind": draft.kind,
        "text": draft.text,
        "search_text": _searchable(draft),
        "scope": builder.tenancy.scope,
        "token_count": builder.count_tokens(draft.text),
        "tokenizer": builder.tokenizer,
        "extraction_method": draft.extraction_method,
        "subject": draft.subject,
        "predicate": draft.predicate,
        "object": draft.object,
        "answer": draft.answer if draft.slot else "",
        "said_by": draft.said_by,
        "owner": draft.owner,
        "owner_key": owner_key(builder.tenancy, draft.owner) if draft.owner else "",
        "unproven": True if draft.unproven else None,
        "scopes": list(draft.terms.scopes),
        "aliases": list(draft.terms.aliases),
        "pinned": draft.terms.pinned or None,
        "expires_us": draft.terms.expires_us,
        "status": "tentative",
        "observation_count": 0,
    }


def _stored_memory(
    properties: Row,
    *,
    event_ids: Sequence[str] = (),
    last_event: Row | None = None,
    observations: int | None = None,
    as_of: bool = False,
) -> Memory:
    """The memory with the *properties* of a node.

    With *as_of*, it is returned as it was while it held: with the status of that time, and without an end.
    """
    last_event = last_event or {}
    end_us, expires_us = None if as_of else properties.get("valid_to_us"), properties.get("expires_us")
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
        owner=shown_owner(properties.get("owner")),
        proposed=properties.get("proposed", False),
        scope=tuple(properties.get("scopes", ())),
        aliases=tuple(properties.get("aliases", ())),
        pinned=properties.get("pinned", False),
        expires=None if expires_us is None else iso(expires_us),
        event_ids=tuple(event_ids),
        label=last_event.get("label"),
        source=last_event.get("source"),
    )


def shown_owner(owner: str | None) -> str | None:
    """The owner of a memory, as text for display."""
    return owner.replace("\0", ":") if owner else None


def held_status(memory: Row) -> str:
    """The status of a memory while it held, before it was deprecated or contradicted."""
    if memory["status"] not in {"deprecated", "contradicted"}:
        return str(memory["status"])
    return "promoted" if memory["confidence"] >= SURE else "tentative"


# Slots: stored answers and new observations merged into one chain of memories.

CONTRADICTION = "contradicting_facts"


@dataclass(slots=True)
class _SlotRows:
    """Rows of ``memories/record`` (chained and disputing memories), ``conflicts/open`` and ``memories/part``."""

    stored: list[Row] = field(default_factory=list)
    new: list[Row] = field(default_factory=list)
    disputing: list[Row] = field(default_factory=list)
    conflicts: list[Row] = field(default_factory=list)
    parts: list[Row] = field(default_factory=list)

    @property
    def links(self) -> list[Row]:
        """The rows of chained memories: stored ones in key order, then new ones by slot, from oldest to newest."""
        return [*sorted(self.stored, key=lambda row: str(row["key"])), *self.new]


@dataclass(frozen=True, slots=True)
class _Slot:
    """One slot: its stored answers by key, and the new observations by event and answer.

    An interval is one answer from its first to its last assertion; a new answer in between splits a stored interval.
    """

    builder: _RowBuilder
    key: str
    stored: Mapping[str, Row]
    answers: Mapping[tuple[str, str], Observation]

    def assign_keys(self, intervals: Iterable[Interval]) -> None:
        """Give each interval without a key the key of its memory, which is computed from its answer and first event.

        After a split, the earlier part keeps the stored key, unless the later part needs it; then the earlier part gets
        a new one.
        """
        by_key = {interval.key: interval for interval in intervals if interval.key}
        for interval in intervals:
            key = interval.key or self.builder.tenancy.node_key(self._id(interval.answer, interval.first_event))
            if not interval.key and key in by_key:
                earlier = by_key[key]
                earlier.key = self.builder.tenancy.node_key(self._id(earlier.answer, earlier.first_event))
            interval.key = key

    def memory_id(self, interval: Interval) -> str:
        if interval.key in self.stored:
            return str(self.stored[interval.key]["memory_id"])
        return self._id(interval.answer, interval.first_event)

    def parts(self, intervals: Sequence[Interval]) -> Iterator[Row]:
        """The rows that split stored memories: the new memory, and the assertions that move to it."""
        for interval in intervals:
            if interval.origin and interval.origin != interval.key:
                yield {
                    "key": interval.key,
                    "memory_id": self.memory_id(interval),
                    "origin_key": interval.origin,
                    "event_keys": [stored.event_key for stored in interval.stored],
                    "times": [interval.stored[0].time_us, interval.stored[-1].time_us],
                    "rest": _remaining_span(interval, intervals),
                }

    def row(self, interval: Interval) -> Row:
        observations = [self.answers[new.event_key, new.answer] for new in interval.new]
        if not observations:
            return _unchanged(interval)
        row = _memory_row(self.builder, self.memory_id(interval), observations)
        return row | {"properties": row["properties"] | {"slot_key": self.key}}

    def text(self, interval: Interval) -> str:
        if interval.key in self.stored:
            return str(self.stored[interval.key]["text"])
        if interval.origin:
            return str(self.stored[interval.origin]["text"])
        return self.answers[interval.new[0].event_key, interval.answer].draft.text

    def disputes(self, disputes: Iterable[Dispute], intervals: Sequence[Interval]) -> Iterator[tuple[Row, Row]]:
        """For each disputing answer, the row of its memory, which stays outside the chain, and the row of the conflict.

        Memory and conflict end when the disputed interval ends. If a batch repeats an answer, its first observation
        opens the conflict.
        """
        ended = {id(interval): end_us for interval, end_us in zip(intervals, ends(intervals), strict=True)}
        disputing: dict[str, tuple[Interval, list[Observation]]] = {}
        for interval, assertion in disputes:
            memory_id = self._disputing_id(interval, assertion.answer)
            disputing.setdefault(memory_id, (interval, []))[1].append(
                self.answers[assertion.event_key, assertion.answer]
            )
        for memory_id, (interval, observations) in disputing.items():
            row = _memory_row(self.builder, memory_id, observations)
            sides = [
                Side("memory", self.memory_id(interval), self.text(interval), interval.key),
                Side("memory", memory_id, observations[0].draft.text, row["key"]),
            ]
            end_us = ended[id(interval)]
            yield row | {"ends_us": end_us}, self._conflict(sides, observations[0], end_us)

    def _disputing_id(self, interval: Interval, answer: str) -> str:
        """The id of the memory with *answer* that disputes *interval*.

        If a memory with *answer* has already lost a conflict against *interval*, its id is used again.
        """
        lost = dict(self.stored[interval.key]["losers"]) if interval.key in self.stored else {}
        return str(lost.get(answer) or self._id(answer, "disputed", interval.key))

    def _conflict(self, sides: Sequence[Side], observation: Observation, end_us: int | None) -> Row:
        draft = observation.draft
        reason = f"different answers for the same time ({draft.subject}: {draft.predicate})"
        if not draft.predicate:
            reason = "only one of these can hold"
        builder = self.builder
        row = conflict_row(builder.tenancy, CONTRADICTION, sides, reason, observation.time_us, builder.count_tokens)
        if end_us is None:
            return row
        return row | {"properties": row["properties"] | _resolved(observation.time_us, end_us)}

    def _id(self, *parts: str) -> str:
        return stable_id(self.builder.tenancy.tenant_id, "memory", self.key, *parts)


def slot_key(tenancy: Tenancy, slot: str) -> str:
    """The key of a slot."""
    return tenancy.node_key("slot", slot)


def _new_answers(tenancy: Tenancy, observations: Sequence[Observation]) -> dict[str, list[list[Any]]]:
    """Time and answer of each new observation, grouped by slot key."""
    groups: dict[str, list[list[Any]]] = {}
    for observation in observations:
        groups.setdefault(slot_key(tenancy, observation.draft.slot), []).append(
            [observation.time_us, observation.draft.answer]
        )
    return groups


def _by_slot(stored: Sequence[Row]) -> dict[str, list[Row]]:
    """The answers of ``events/open``, grouped by slot key."""
    groups: dict[str, list[Row]] = {}
    for row in stored:
        groups.setdefault(row["slot_key"], []).append(row)
    return groups


def _chain_rows(builder: _RowBuilder, observations: Sequence[Observation], stored: Sequence[Row]) -> _SlotRows:
    """Merge *observations* into the chains whose *stored* answers ``events/open`` returned."""
    rows = _SlotRows()
    by_slot: dict[str, list[Observation]] = {}
    for observation in observations:
        by_slot.setdefault(slot_key(builder.tenancy, observation.draft.slot), []).append(observation)
    stored_by_slot = _by_slot(stored)
    for key in sorted(by_slot):
        answers = {
            (observation.event_key, observation.draft.answer): observation for observation in reversed(by_slot[key])
        }
        slot = _Slot(builder, key, {row["key"]: row for row in stored_by_slot.get(key, ())}, answers)
        _merge_slot(slot, rows)
    return rows


def _rebuilding_rows(key: str, stored: Sequence[Row]) -> list[Row]:
    """The rows that rebuild a chain from its stored answers."""
    intervals = [_interval(row) for row in stored]
    positions = _chain_positions(intervals, key, {row["key"]: row for row in stored})
    return [_unchanged(interval) | position for interval, position in zip(intervals, positions, strict=True)]


def _merge_slot(slot: _Slot, rows: _SlotRows) -> None:
    """Merge the observations of *slot* into its chain, and add the resulting rows to *rows*."""
    timeline = settle(
        map(_interval, slot.stored.values()), (observation.assertion for observation in slot.answers.values())
    )
    intervals = timeline.intervals
    slot.assign_keys(intervals)
    rows.parts += slot.parts(intervals)
    for index, position in enumerate(_chain_positions(intervals, slot.key, slot.stored)):
        # Rows are needed only for intervals that changed, and for their neighbours.
        if any(interval.new or interval.origin for interval in intervals[max(0, index - 1) : index + 2]):
            chain = rows.stored if intervals[index].key in slot.stored or intervals[index].origin else rows.new
            chain.append(slot.row(intervals[index]) | position)
    for row, conflict in slot.disputes(timeline.disputes, intervals):
        rows.disputing.append(row)
        rows.conflicts.append(conflict)


def _interval(row: Row) -> Interval:
    """A stored answer as an interval; its first and last times stand for assertions that were not fetched."""
    stored = [StoredAssertion(time_us, event_key) for time_us, event_key in row["assertions"]]
    assertions = tuple(stored or [StoredAssertion(row["first_us"], ""), StoredAssertion(row["last_us"], "")])
    return Interval(
        row["answer"],
        row["first_us"],
        row["last_us"],
        row["said_by"],
        row["key"],
        hard=row["hard"],
        stored=assertions,
    )


def _remaining_span(part: Interval, intervals: Sequence[Interval]) -> list[int]:
    """The first and last time of the remaining part of the stored memory from which *part* was split."""
    return next([interval.first_us, interval.last_us] for interval in intervals if interval.key == part.origin)


def _resolved(observed_us: int, end_us: int) -> Row:
    """The properties of a conflict about an answer that had already ended."""
    return {
        "status": "resolved",
        "resolved_us": max(observed_us, end_us),
        "resolution": "a later answer took the place of both",
    }


def _chain_positions(intervals: Sequence[Interval], key: str, stored: Mapping[str, Row]) -> list[Row]:
    """The position of each interval in its chain: end time, what it supersedes, whether it is the head."""
    return [
        {
            "ends_us": end_us,
            "supersedes_key": _superseded(interval, before, stored),
            "head_key": key if end_us is None else None,
            "chained": True,
        }
        for interval, before, end_us in zip(intervals, (None, *intervals), ends(intervals), strict=False)
    ]


def _superseded(interval: Interval, before: Interval | None, stored: Mapping[str, Row]) -> str | None:
    """The key of the memory that *interval* supersedes.

    This is the memory outside the chain that somebody replaced with it by hand, if there is one, else the previous one
    in the chain; None if the previous one was itself replaced by a memory outside the chain.
    """
    if outside := stored.get(interval.key, {}).get("in_place_of"):
        return str(outside)
    replaced = before is None or stored.get(before.key, {}).get("replaced", False)
    return None if before is None or replaced else before.key


def _unchanged(interval: Interval) -> Row:
    """The row of a stored memory without new observations."""
    return {
        "key": interval.key,
        "properties": {"text": "", "search_text": "", "surest": 0.0},
        "given": None,
        "event_keys": [],
        "origins": {},
        "entity_keys": [],
        "first_us": interval.first_us,
        "last_us": interval.last_us,
    }


# Memories: written with their events, listed, forgotten with their evidence.


class Observations(NamedTuple):
    """The memories of a batch: those with a slot, which compete with stored answers, and those without."""

    with_slot: list[Observation]
    without_slot: list[Observation]

    @classmethod
    def of(cls, batch: Sequence[EventExtraction]) -> "Observations":
        """The observations in *batch*, in order of time."""
        return cls.split(_observations_in(batch))

    @classmethod
    def split(cls, observations: Sequence[Observation]) -> "Observations":
        """*observations*, divided by whether they have a slot."""
        with_slot = [observation for observation in observations if observation.draft.slot]
        return cls(with_slot, [observation for observation in observations if not observation.draft.slot])

    def exact(self, answers: Sequence[Row]) -> "Observations":
        """The same observations, some of them without their slot.

        An observation that names the memory it supersedes keeps its slot only if that memory is among *answers*.
        Otherwise it would also replace the current answer in the slot, which it does not name.
        """
        stored_ids = {row["memory_id"] for row in answers}
        return self.split(
            [
                observation._replace(draft=observation.draft._replace(slot=""))
                if (replaced := observation.draft.terms.supersedes) and replaced not in stored_ids
                else observation
                for observation in sorted([*self.with_slot, *self.without_slot], key=_order)
            ]
        )

    @property
    def replacing(self) -> list[Observation]:
        """The observations that name the memory they supersede, in order of time."""
        return [
            each for each in sorted([*self.with_slot, *self.without_slot], key=_order) if each.draft.terms.supersedes
        ]

    def slots(self, tenancy: Tenancy) -> Row:
        """The parameters by which ``events/open`` finds and locks the stored answers."""
        answers = _new_answers(tenancy, self.with_slot)
        return {"slot_keys": sorted(answers), "answers": answers}


def store(
    tenancy: Tenancy,
    observations: Observations,
    stored_answers: Sequence[Row],
    count_tokens: TokenCounter,
    tokenizer: str = DEFAULT_ENCODING,
) -> Plan[None]:
    """Store the memories in *observations*, in the transaction that stores their events, after their entities.

    In a slot only the latest answer holds; a different answer for the same time becomes a conflict.
    """
    if not (observations.with_slot or observations.without_slot):
        return
    observations = observations.exact(stored_answers)
    builder = _RowBuilder(tenancy, count_tokens, tokenizer)
    rows = _chain_rows(builder, observations.with_slot, stored_answers)
    slotless = yield from _slotless_rows(builder, observations.without_slot)
    if rows.parts:
        yield bind("memories/part", tenant_id=tenancy.tenant_id, batch={"parts": rows.parts})
    yield from _record(tenancy, [*rows.links, *rows.disputing, *slotless])
    if rows.conflicts:
        yield bind("conflicts/open", tenant_id=tenancy.tenant_id, batch={"conflicts": rows.conflicts})
    if replacing := observations.replacing:
        replacements = _replacement_rows(tenancy, replacing)
        yield bind("memories/replace", tenant_id=tenancy.tenant_id, batch={"replaced": replacements})
        keys = sorted({row["old_key"] for row in replacements})
        yield bind("conflicts/settle", tenant_id=tenancy.tenant_id, keys=keys, at_us=replacing[-1].time_us)


def _replacement_rows(tenancy: Tenancy, replacing: Sequence[Observation]) -> list[Row]:
    return [
        {
            "event_key": each.event_key,
            "old_key": tenancy.node_key(each.draft.terms.supersedes),
            "at_us": each.time_us,
        }
        for each in replacing
    ]


def forget(tenancy: Tenancy, event_keys: Sequence[str], at_us: int) -> Plan[list[str]]:
    """Blank the memories whose last evidence was among these erased events, and return their ids.

    Blanked memories leave their chains, so that the memories they had superseded there hold again. Memories with
    remaining evidence are reworded from it, and are tentative again if it is not enough to promote them.
    """
    rows = yield bind(
        "memories/forget",
        tenant_id=tenancy.tenant_id,
        batch={"event_keys": sorted(event_keys)},
        at_us=at_us,
        sure=SURE,
        **_quorum(tenancy),
    )
    blanked = [row for row in rows if row["lost"]]
    yield from redraw(tenancy, sorted({row["slot_key"] for row in blanked if row["slot_key"]}))
    yield from _reword(tenancy, [row["key"] for row in rows if not row["lost"]])
    return [row["memory_id"] for row in blanked]


def _reword(tenancy: Tenancy, keys: Sequence[str]) -> Plan[None]:
    """Replace the words of memories that came from an erased event by those of the remaining evidence."""
    if not keys:
        return
    rows = yield bind("memories/first_remaining", tenant_id=tenancy.tenant_id, batch={"keys": list(keys)})
    builder = _RowBuilder(tenancy, counter(), DEFAULT_ENCODING)
    reworded = [_reworded(builder, row["memory"], _extracted_again(tenancy, row)) for row in rows]
    if changed := [row for row in reworded if row is not None]:
        yield bind("memories/reword", tenant_id=tenancy.tenant_id, batch={"memories": changed})


def _extracted_again(tenancy: Tenancy, row: Row) -> Extraction:
    """The extraction from a memory's first remaining event.

    An event of `remember` counts as given by hand, unless the memory is only a proposal.
    """
    event = Event.parse(event_document(row["event"]))
    by_hand = event.event_type == EVENT_TYPE and not row["memory"]["unproven"]
    return extract(event, tenancy.trust, by_hand=by_hand)


def redraw(tenancy: Tenancy, slots: Sequence[str]) -> Plan[None]:
    """Rebuild the chains of these slots from their stored answers."""
    if slots:
        batch_row = yield from open_batch(tenancy, {"slot_keys": list(slots)})
        by_slot = sorted(_by_slot(batch_row["answers"]).items())
        yield from _record(tenancy, [row for key, rows in by_slot for row in _rebuilding_rows(key, rows)])


def memory(tenancy: Tenancy, memory_id: str) -> Procedure[Memory]:
    """The memory with this id, with the ids of its evidence.

    Raises:
        NotFound: there is no such memory.

    """
    return (yield from read(partial(stored, tenancy, memory_id)))


def memories(
    tenancy: Tenancy,
    *,
    kind: str | None = None,
    status: str | None = None,
    subject: str | None = None,
    as_of_us: int | None = None,
    limit: int = 100,
    after: str | None = None,
) -> Procedure[tuple[tuple[Memory, ...], str | None]]:
    """A page of memories, newest first, and the cursor of the next page (None on the last).

    With *as_of_us*: those that held then, with the observations made by then. Proposals are included only if *status*
    is ``tentative``. A memory has the ids of its first 100 events.

    Raises:
        UnknownChoice: there is no such kind or status.
        InvalidRequest: *limit* is not a valid page size.
        NotFound: *after* is not a cursor of an earlier page.

    """
    _check_choice("kind", kind, KINDS)
    _check_choice("status", status, MEMORY_STATUSES)
    check_limit(limit)
    after_us, after_id = place(after)
    parameters = {"kind": kind, "status": status, "subject": subject, "as_of_us": as_of_us, "limit": limit + 1}
    until_us = min(time_us for time_us in (as_of_us, after_us, ALWAYS) if time_us is not None)
    parameters |= {"until_us": until_us, "after_us": after_us, "after_id": after_id}
    rows: list[Row] = yield from read(partial(_page, tenancy, parameters))
    page = tuple(
        _stored_memory(
            row["memory"],
            event_ids=row["event_ids"],
            last_event=row["last_event"],
            observations=row["observations"],
            as_of=as_of_us is not None,
        )
        for row in rows[:limit]
    )
    last = rows[limit - 1]["memory"] if len(rows) > limit else None
    return page, cursor(last["first_us"], last["memory_id"]) if last else None


def of_events(tenancy: Tenancy, event_keys: Sequence[str]) -> Plan[dict[str, tuple[Memory, str | None]]]:
    """By event key: the memory for which the event is evidence, and the id of that memory's predecessor (or None).

    If an event is evidence for several memories, the one with the lowest key is returned.
    """
    rows = yield bind("memories/of_events", tenant_id=tenancy.tenant_id, event_keys=list(event_keys))
    return {
        row["event_key"]: (_stored_memory(row["memory"], event_ids=row["event_ids"]), row["supersedes"]) for row in rows
    }


def stored(tenancy: Tenancy, memory_id: str) -> Plan[Memory]:
    """The memory with this id, as part of a transaction.

    Raises:
        NotFound: there is no such memory.

    """
    rows = yield bind("memories/get", tenant_id=tenancy.tenant_id, key=tenancy.node_key(memory_id))
    if not rows:
        raise NotFound("memory", memory_id, tenancy.tenant_id)
    return _stored_memory(rows[0]["memory"], event_ids=rows[0]["event_ids"], last_event=rows[0]["last_event"])


def _slotless_rows(builder: _RowBuilder, observations: Sequence[Observation]) -> Plan[list[Row]]:
    """The rows of memories without a slot; a memory that had ended when it was remembered again becomes a new one."""
    tenancy, groups = builder.tenancy, _by_identity(observations)
    generations = dict.fromkeys(groups, 0)
    last_us = {
        identity: at_us
        for identity, observations in groups.items()
        if (at_us := _last_remembered_us(observations)) is not None
    }
    while last_us:
        by_key = {
            tenancy.node_key(_slotless_id(tenancy, identity, generations[identity])): identity for identity in last_us
        }
        rows = yield bind("memories/ended", tenant_id=tenancy.tenant_id, batch={"keys": sorted(by_key)})
        ended = [identity for row in rows if row["ended_us"] <= last_us[identity := by_key[row["key"]]]]
        last_us = {identity: last_us[identity] for identity in ended}
        generations |= {identity: generations[identity] + 1 for identity in ended}
    by_id = {_slotless_id(tenancy, identity, generations[identity]): groups[identity] for identity in groups}
    return [_memory_row(builder, memory_id, by_id[memory_id]) for memory_id in sorted(by_id)]


def _record(tenancy: Tenancy, rows: list[Row]) -> Plan[None]:
    yield bind("memories/record", tenant_id=tenancy.tenant_id, batch={"memories": rows}, sure=SURE, **_quorum(tenancy))


def _quorum(tenancy: Tenancy) -> dict[str, int]:
    """How many sessions and independent origins must state a proposal before it takes effect."""
    return {"sessions": tenancy.trust.sessions, "origins": tenancy.trust.origins}


def _page(tenancy: Tenancy, parameters: Row) -> Plan[list[Row]]:
    rows = yield bind("memories/list", tenant_id=tenancy.tenant_id, **parameters)
    return rows


def _check_choice(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise UnknownChoice(name, value, choices)
