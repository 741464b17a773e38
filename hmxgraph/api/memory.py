"""``graph.memory``: add, search and judge semantic memories, read statistics, and run maintenance."""

from collections.abc import Sequence
from typing import TypedDict, Unpack

from hmxgraph.api._base import Face, Moment, NamedArguments, as_us, flag, new_record, now_us, operation
from hmxgraph.extraction.language import Terms
from hmxgraph.graph import maintenance, memory_operations
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.memory_operations import MemoryQuery, NewMemory
from hmxgraph.graph.metering import Meter
from hmxgraph.graph.plan import Tenancy
from hmxgraph.graph.record_search import Shape
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.memories import DreamReport, Memories, MemoryResult, MemoryView, Report
from hmxgraph.protocol.parsing import checked_list, checked_text
from hmxgraph.records.events import MemoryOperation


class MemorySearch(TypedDict, total=False):
    """The optional arguments of a search for memories."""

    kind: str | None
    project_id: str | None
    user_id: str | None
    session_id: str | None
    mode: str
    limit: int
    include_hidden: bool


class NewMemoryOptions(TypedDict, total=False):
    """The optional properties of a new memory, and the key that identifies the call if it is repeated."""

    project_id: str | None
    user_id: str | None
    tags: Sequence[str]
    hard: bool
    expires: Moment | None
    idempotency_key: str | None


class MemoryOperations(NamedArguments, Face):
    """Operations on semantic memories: search, add, judge, supersede, delete; statistics, health, maintenance."""

    def __init__(self, tenancy: Tenancy, connection: Connection, meter: Meter | None = None) -> None:
        self._tenancy = tenancy
        self._connection = connection
        self._meter = meter or Meter()

    def search(
        self,
        query: str,
        *,
        as_of: Moment | None = None,
        compact: bool = False,
        token_budget: int | None = None,
        expand_event_siblings: bool = False,
        **options: Unpack[MemorySearch],
    ) -> MemoryResult:
        """Current memories, or those of the time *as_of*, best match first; ``kind`` and ``project_id`` restrict them.

        Memories bound to a user are found with the user's ``user_id``, with the ``session_id`` of one of the user's
        sessions, or without either if *query* names the user. ``include_hidden`` adds the memories of all users, and
        hidden memories with their ``hidden_reason``, such as ``expired``, ``superseded``, ``deleted`` or ``proposed``.
        ``mode`` is the purpose of the search; each mode but ``generic`` and ``resume_task`` adds its digest, a summary
        of task records.

        *compact* shortens the texts of the hits. *token_budget* shortens them as well, and returns only as many hits as
        fit.
        *expand_event_siblings* adds to each hit up to eight memories of its project that were stated by the same events
        or have the same ``event:`` tag.

        Raises:
            UnknownChoice: no such kind or mode.
            InvalidRequest: the query is not valid text, the limit is outside 1..500, or the token budget is below 1.

        Example::

            added = graph.memory.add("The staging cluster is named juniper", tags=["cluster"])
            hits = graph.memory.search("Which staging cluster?")
            assert [hit.memory_id for hit in hits] == [added.memory_id]

        """
        shape = Shape(compact, token_budget, expand_event_siblings)
        request = MemoryQuery(query, as_of_us=as_us(as_of), shape=shape, **options)
        procedure = memory_operations.search(self._tenancy, request)
        return self._perform(self._meter.measured("search", {"query": query, **options}, procedure))

    def add(
        self,
        text: str,
        *,
        kind: str = "fact",
        agent_id: str | None = None,
        at: Moment | None = None,
        **options: Unpack[NewMemoryOptions],
    ) -> MemoryView:
        """Add *text* as a fact, preference, policy or goal, with ``project_id``, ``tags``, ``hard`` and ``expires``.

        With ``user_id``, only searches and packs for this user return it.

        The memory is hidden, and reported by ``dream``, once the tenant's logical time (the time of its latest event)
        reaches ``expires``. To leave it out from that moment on, call ``search`` and ``pack`` with the current time as
        *as_of*. Pass ``idempotency_key`` if a call may be repeated: calls with the same key count once. ``supersede``,
        ``feedback`` and ``record_outcome`` take this key, too.

        Raises:
            UnknownChoice: no such kind.
            InvalidRequest: no text, tags that are not a list, or *hard* for anything but a policy.
            NotFound: no memory can be extracted from *text*.

        """
        procedure = memory_operations.add(
            self._tenancy, new_memory(kind, text, options), _operation("add", agent_id, at, options)
        )
        return self._perform_then_embed(self._meter.measured("add", {"kind": kind, "text": text}, procedure))

    def get(self, memory_id: str) -> MemoryView:
        """The memory with this id, hidden or not, with its trust, evidence and successor.

        Raises:
            NotFound: there is none.

        """
        procedure = memory_operations.memory(self._tenancy, memory_id)
        return self._perform(self._meter.measured("get", {"memory_id": memory_id}, procedure))

    def delete(self, memory_id: str, *, reason: str = "", at: Moment | None = None) -> MemoryView:
        """Hide a memory for good; it stays stored as evidence. Adding the same text again creates a new memory.

        Raises:
            NotFound: there is none.

        """
        procedure = memory_operations.delete(self._tenancy, memory_id, reason, now_us(at))
        return self._perform(self._meter.measured("delete", {"memory_id": memory_id}, procedure))

    def supersede(
        self,
        memory_id: str,
        text: str,
        *,
        kind: str = "fact",
        agent_id: str | None = None,
        at: Moment | None = None,
        **options: Unpack[NewMemoryOptions],
    ) -> MemoryView:
        """Replace *memory_id*, which becomes hidden, with a new memory with *text*.

        Raises:
            NotFound: there is no such memory, or no memory can be extracted from *text*.
            AlreadySuperseded: the memory has a successor already.
            SupersessionCycle: *text* is that of the memory itself, or of one of its predecessors.
            UnknownChoice: no such kind.
            InvalidRequest: no text, the text of a memory that already supersedes another one, tags that are not a list,
                or *hard* for anything but a policy.

        """
        new = new_memory(kind, text, options)
        procedure = memory_operations.supersede(
            self._tenancy, memory_id, new, _operation("supersede", agent_id, at, options)
        )
        return self._perform_then_embed(
            self._meter.measured("supersede", {"memory_id": memory_id, "text": text}, procedure)
        )

    def feedback(
        self,
        memory_id: str,
        signal: str,
        *,
        comment: str = "",
        agent_id: str | None = None,
        at: Moment | None = None,
        idempotency_key: str | None = None,
    ) -> MemoryView:
        """Judge a memory: ``positive``, ``negative`` or ``correction``; this changes its rank in searches.

        Raises:
            UnknownChoice: no such signal.
            NotFound: there is no such memory.

        """
        call = _operation("feedback", agent_id, at, {"idempotency_key": idempotency_key})
        procedure = memory_operations.feedback(self._tenancy, memory_id, signal, comment, call)
        return self._perform(self._meter.measured("feedback", {"memory_id": memory_id, "signal": signal}, procedure))

    def record_outcome(
        self,
        memory_ids: Sequence[str],
        outcome: str,
        *,
        summary: str = "",
        agent_id: str | None = None,
        at: Moment | None = None,
        idempotency_key: str | None = None,
    ) -> Memories:
        """Record the outcome of work that used these memories: ``success``, ``failure`` or ``mixed``.

        Raises:
            UnknownChoice: no such outcome.
            NotFound: one of the memories does not exist.

        """
        ids = checked_list("memory_ids", memory_ids)
        call = _operation("record_outcome", agent_id, at, {"idempotency_key": idempotency_key})
        procedure = memory_operations.record_outcome(self._tenancy, ids, outcome, summary, call)
        request = {"memory_ids": ids, "outcome": outcome}
        return self._perform(self._meter.measured("record_outcome", request, procedure))

    def stats(self, *, project_id: str | None = None) -> Report:
        """Counts of memories by kind, and of visible and hidden task records.

        ``active_chunks`` is the number of promoted and tentative memories, including expired ones; ``deleted_chunks``
        is the number of all others.
        """
        return self._perform(self._meter.measured("stats", {}, maintenance.stats(self._tenancy, project_id)))

    def health(
        self, *, project_id: str | None = None, include_examples: bool = False, duplicate_limit: int = 10
    ) -> Report:
        """A report on exact duplicates, index coverage, sizes, latencies and scope.

        With *include_examples* it lists up to *duplicate_limit* duplicates; all of them are counted.

        Raises:
            InvalidRequest: *duplicate_limit* is not a whole number, or below 0.

        """
        procedure = maintenance.health(
            self._tenancy,
            project_id,
            include_examples=include_examples,
            duplicate_limit=duplicate_limit,
            meter=self._meter,
        )
        return self._perform(self._meter.measured("health", {}, procedure))

    def metrics(self) -> Report:
        """The cost of the ``graph.memory`` calls of this graph object: milliseconds, bytes, estimated tokens, errors.

        The report also has the indexes that are not online, and the number of events.
        """
        return self._perform(maintenance.metrics(self._tenancy, self._meter))

    def compact(
        self,
        *,
        project_id: str | None = None,
        digest_modes: Sequence[str] | None = None,
        force_digest_rebuild: bool = False,
    ) -> Report:
        """Refresh the digests (summaries of task records) of a project or, without *project_id*, of the tenant.

        *digest_modes* selects digests; by default the project brief and the libraries. Only stale and missing digests
        are composed; with *force_digest_rebuild*, all of them.

        Raises:
            UnknownChoice: no such mode, or one without a digest.
            InvalidRequest: *digest_modes* is not a list.

        """
        modes = None if digest_modes is None else checked_list("digest_modes", digest_modes)
        procedure = maintenance.compact(self._tenancy, project_id, modes, force=force_digest_rebuild)
        return self._perform(self._meter.measured("compact", {"project_id": project_id}, procedure), whole=True)

    def dream(
        self,
        *,
        project_id: str | None = None,
        dry_run: bool = True,
        agent_id: str = "hmxgraph",
        at: Moment | None = None,
    ) -> DreamReport:
        """Plan maintenance, or with ``dry_run=False`` apply it; a second run finds nothing left to do.

        Only digests (summaries of task records) are changed: duplicate digests are retired, stale ones refreshed.
        Duplicate memories and records and expired memories are only reported. A ``dream_report`` record lists what was
        done, with the ids of the digests.
        """
        drafts = (
            new_record("task_start", at, {"agent_id": agent_id}),
            new_record("task_progress", at, {"agent_id": agent_id}),
        )
        procedure = maintenance.dream_of(self._tenancy, project_id, dry_run=dry_run, drafts=drafts)
        return self._perform(self._meter.measured("dream", {"dry_run": dry_run}, procedure), whole=True)


def _operation(name: str, agent_id: str | None, at: Moment | None, options: NewMemoryOptions) -> MemoryOperation:
    """The operation *name*. A repeated call with the same idempotency key gets the same event id."""
    key = options.get("idempotency_key")
    event_id = None if key is None else stable_id(f"memory.{name}", checked_text("idempotency_key", key))
    return operation(agent_id, at, event_id)


def new_memory(kind: str, text: str, options: NewMemoryOptions) -> NewMemory:
    """The memory that the arguments of ``add`` describe."""
    tags = tuple(checked_list("tags", options.get("tags")))
    terms = Terms(expires_us=as_us(options.get("expires")))
    about = {"project_id": options.get("project_id"), "user_id": options.get("user_id")}
    return NewMemory(kind, text, tags=tags, hard=flag(options, "hard"), terms=terms, **about)
