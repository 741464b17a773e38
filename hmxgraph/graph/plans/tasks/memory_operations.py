"""Semantic memories changed by hand: added, deleted, superseded, judged; each told by an event of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.errors import AlreadySuperseded, InvalidRequest, NotFound, SupersessionCycle, UnknownChoice
from hmxgraph.extraction.memories.remembering import EVENT_TYPE, KINDS
from hmxgraph.graph.plan import Plan, Procedure, Row, write
from hmxgraph.graph.plans.conflicts import settle
from hmxgraph.graph.plans.ingest import record as record_batch
from hmxgraph.graph.plans.tasks.memory_search import memory_by_id
from hmxgraph.graph.plans.tenants import bump
from hmxgraph.graph.rows.tasks.memory_results import Memories, MemoryView
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import PreparedEvent, prepare
from hmxgraph.tasks.memory_events import SESSION, Doing, added, judged, memory_event, outcome
from hmxgraph.tasks.usefulness import OUTCOMES, SIGNALS
from hmxgraph.text.asked import checked_text
from hmxgraph.text.tokens import counter


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory to be added: its kind and words, whose project and tags it has, whether a policy is hard."""

    kind: str
    text: str
    project_id: str | None = None
    tags: tuple[str, ...] = ()
    hard: bool = False

    def checked(self) -> "Remembered":
        """The same, if it can be added.

        Raises:
            UnknownChoice: no such kind.
            InvalidRequest: no text.

        """
        if self.kind not in KINDS:
            raise UnknownChoice("kind", self.kind, KINDS)
        for name, value in (("project_id", self.project_id), *(("tags", tag) for tag in self.tags)):
            if value is not None:
                checked_text(name, value)
        if not checked_text("text", self.text).strip():
            raise InvalidRequest("text", repr(self.text), "sentence", "say in words what to remember")
        return self

    @property
    def described(self) -> dict[str, Any]:
        """What is kept on the memory besides its words."""
        found: dict[str, Any] = {"project_id": self.project_id, "tags": list(self.tags) or None}
        return {name: value for name, value in found.items() if value is not None}


def add(tenancy: Tenancy, what: Remembered, doing: Doing) -> Procedure[MemoryView]:
    """The memory that *what* becomes; the same words again are the same memory, observed once more.

    Raises:
        UnknownChoice: no such kind.
        InvalidRequest: no text.

    """
    what.checked()
    return (yield from write(lambda: _added(tenancy, what, doing)))


def delete(tenancy: Tenancy, memory_id: str, reason: str, at_us: int) -> Procedure[MemoryView]:
    """The memory, deleted: hidden, kept for what rests on it.

    Raises:
        NotFound: there is none.

    """
    return (yield from write(lambda: _delete(tenancy, memory_id, reason, at_us)))


def supersede(tenancy: Tenancy, memory_id: str, what: Remembered, doing: Doing) -> Procedure[MemoryView]:
    """The memory that *what* becomes, in the place of *memory_id*.

    Raises:
        NotFound: there is no such memory.
        AlreadySuperseded: another one took its place.
        SupersessionCycle: the words are those of the memory itself, or of one that came after it.
        InvalidRequest: the words are those of a memory that took the place of another one.

    """
    what.checked()
    return (yield from write(lambda: _supersede(tenancy, memory_id, what, doing)))


def feedback(tenancy: Tenancy, memory_id: str, signal: str, comment: str, doing: Doing) -> Procedure[MemoryView]:
    """The memory with one more word for or against it: ``positive``, ``negative`` or ``correction``.

    Raises:
        UnknownChoice: no such signal.
        NotFound: there is no such memory.

    """
    counts = _counts("signal", signal, SIGNALS)

    def judge(found: Sequence[MemoryView]) -> Mapping[str, Any]:
        target = found[0].event_ids[-1] if found[0].event_ids else None
        return judged(memory_id, signal, comment, target)

    views = yield from write(lambda: _judge(tenancy, (memory_id,), counts, doing, ("feedback", judge)))
    return views[0]


def record_outcome(
    tenancy: Tenancy, memory_ids: Sequence[str], result: str, summary: str, doing: Doing
) -> Procedure[Memories]:
    """The memories with what came of work that used them: ``success``, ``failure`` or ``mixed``.

    Raises:
        UnknownChoice: no such outcome.
        NotFound: one of the memories does not exist.

    """
    counts = _counts("outcome", result, OUTCOMES)
    names = tuple(dict.fromkeys(memory_ids))
    content = outcome(names, result, summary)
    telling = ("observation", lambda _: content)
    return Memories((yield from write(lambda: _judge(tenancy, names, counts, doing, telling))))


_Telling = tuple[str, Callable[[Sequence[MemoryView]], Mapping[str, Any]]]


def _counts(name: str, value: str, known: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    if value not in known:
        raise UnknownChoice(name, value, tuple(known))
    return known[value]


def _added(tenancy: Tenancy, what: Remembered, doing: Doing) -> Plan[MemoryView]:
    event = yield from _tell(tenancy, doing, EVENT_TYPE, added(what.kind, what.text, hard=what.hard))
    rows = yield bind("memory_operations/from_event", tenant_id=tenancy.tenant_id, event_key=event.key)
    if not rows:
        raise NotFound("memory", what.text, tenancy.tenant_id, "these words give nothing to remember")
    if what.described:
        batch = {"properties": what.described}
        yield bind("memory_operations/describe", tenant_id=tenancy.tenant_id, key=rows[0]["key"], batch=batch)
    return (yield from memory_by_id(tenancy, rows[0]["memory_id"]))


def _delete(tenancy: Tenancy, memory_id: str, reason: str, at_us: int) -> Plan[MemoryView]:
    yield from _lock(tenancy, (memory_id,))
    keys = [tenancy.node_key(memory_id)]
    done = yield bind(
        "memory_operations/delete", tenant_id=tenancy.tenant_id, batch={"keys": keys}, reason=reason, at_us=at_us
    )
    if done:
        yield from settle(tenancy, keys, at_us)
        yield from bump(tenancy, at_us)
    return (yield from memory_by_id(tenancy, memory_id))


def _supersede(tenancy: Tenancy, memory_id: str, what: Remembered, doing: Doing) -> Plan[MemoryView]:
    yield from _lock(tenancy, (memory_id,))
    old = yield from memory_by_id(tenancy, memory_id)
    if old.superseded_by is not None:
        raise AlreadySuperseded(memory_id, old.superseded_by)
    new = yield from _added(tenancy, what, doing)
    if new.memory_id == memory_id:
        raise SupersessionCycle(memory_id, memory_id)
    if new.supersedes != memory_id:
        yield from _put_in_place(tenancy, old, new, doing)
    return (yield from memory_by_id(tenancy, new.memory_id))


def _put_in_place(tenancy: Tenancy, old: MemoryView, new: MemoryView, doing: Doing) -> Plan[None]:
    old_key = tenancy.node_key(old.memory_id)
    done = yield bind(
        "memory_operations/supersede",
        tenant_id=tenancy.tenant_id,
        new_key=tenancy.node_key(new.memory_id),
        old_key=old_key,
        at_us=doing.at_us,
    )
    if not done and new.supersedes:
        raise InvalidRequest(
            "text", repr(new.text), f"memory in nobody's place: it took that of {new.supersedes}", "delete the old one"
        )
    if not done:
        raise SupersessionCycle(old.memory_id, new.memory_id)
    yield from settle(tenancy, [old_key], doing.at_us)


def _judge(
    tenancy: Tenancy, names: tuple[str, ...], counts: tuple[int, int], doing: Doing, telling: _Telling
) -> Plan[tuple[MemoryView, ...]]:
    yield from _lock(tenancy, names)
    found = yield from _views(tenancy, names)
    event_type, content = telling
    yield bind(
        "memory_operations/count",
        tenant_id=tenancy.tenant_id,
        batch={"keys": sorted(tenancy.node_key(name) for name in names)},
        useful=counts[0],
        useless=counts[1],
    )
    yield from _tell(tenancy, doing, event_type, content(found))
    return (yield from _views(tenancy, names))


def _views(tenancy: Tenancy, names: Sequence[str]) -> Plan[tuple[MemoryView, ...]]:
    found: list[MemoryView] = []
    for name in names:
        view = yield from memory_by_id(tenancy, name)
        found.append(view)
    return tuple(found)


def _lock(tenancy: Tenancy, names: Sequence[str]) -> Plan[list[Row]]:
    """Lock the session of these operations, then the memories, in the order of all writers."""
    yield bind("events/lock_sessions", tenant_id=tenancy.tenant_id, batch={"sessions": [_session(tenancy)]})
    keys = sorted(tenancy.node_key(checked_text("memory_id", name)) for name in names)
    rows = yield bind("memory_operations/lock", tenant_id=tenancy.tenant_id, batch={"keys": keys})
    if len(rows) < len(keys):
        stored = {row["memory"]["memory_id"] for row in rows}
        raise NotFound("memory", next(name for name in names if name not in stored), tenancy.tenant_id)
    return rows


def _tell(tenancy: Tenancy, doing: Doing, event_type: str, content: Mapping[str, Any]) -> Plan[PreparedEvent]:
    """The event that tells it, stored at the end of the session of these operations."""
    rows = yield bind("events/lock_sessions", tenant_id=tenancy.tenant_id, batch={"sessions": [_session(tenancy)]})
    last = rows[0]["tail"][0]
    event = memory_event(tenancy.tenant_id, doing, 0 if last is None else last + 1, event_type, content)
    prepared = prepare(event, counter())
    yield from record_batch(tenancy, Batch((prepared,)))
    return prepared


def _session(tenancy: Tenancy) -> Row:
    return {"key": tenancy.node_key(SESSION), "session_id": SESSION}
