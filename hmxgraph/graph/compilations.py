"""Compile a tenant: read and summarise changed sessions, compile the latest summaries, store the differences."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from hmxgraph.compiler.compilation import Compilation, Ledger, Model, compile_ledger
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile, LastRun, in_use
from hmxgraph.compiler.reconcile import COMPILER, BuildContext, Change, Head, counts, lineage, reconcile, reported
from hmxgraph.compiler.sessions import SessionReader
from hmxgraph.compiler.suggest import Guide
from hmxgraph.compiler.summary import SUMMARY_VERSION, SessionSummary
from hmxgraph.fingerprint.restore import LOGGING_SESSIONS
from hmxgraph.graph.artifacts import artifact_row, dedup_key, worked
from hmxgraph.graph.conflicts import detect, settle
from hmxgraph.graph.fingerprint_imports import confirm_imports
from hmxgraph.graph.fingerprints import NOTHING_IMPORTED, InForce, in_force, last_run
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, model_key, read, state, write
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.events import position
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.reports import CompileReport
from hmxgraph.text.terms import TokenCounter, counter, search_text

# What the compiler reads and writes, as rows and back: events, summaries, heads (the newest versions of artifacts),
# guides (the artifacts from which actions are suggested) and changes.

# Lineage keys of the chains that the compiler started begin with this.
LINEAGES = COMPILER + "/"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """The fields of a stored event that the compiler needs."""

    event_id: str
    event_type: str
    agent_id: str
    session_id: str
    sequence: int
    time_us: int
    content: dict[str, Any]
    source: str | None = None
    correlation_id: str | None = None
    parent_event_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def stored_event(row: Row) -> StoredEvent:
    """The event in a row; the query returns metadata only if it names an origin."""
    metadata = row.get("metadata") or "{}"
    return StoredEvent(**{**row, "content": parse_json(row["content"]), "metadata": parse_json(metadata)})


def summary_version(profile: CompilerProfile) -> str:
    """The version of a stored summary: the form of summaries and the limits that shape them."""
    bounds = (profile.max_steps, profile.max_failures, profile.max_decisions, profile.words_per_text)
    sizes = (profile.request_chars, profile.known_values, profile.remembered_messages)
    return ":".join(str(part) for part in (SUMMARY_VERSION, *bounds, *sizes))


def _stored_head(row: Row) -> Head:
    """The head in a row of ``compiler/heads``; its count and rate are the latest of its history."""
    return Head(
        artifact_id=row["artifact_id"],
        artifact_type=row["artifact_type"],
        lineage_key=row["lineage_key"],
        version=row["version"],
        status=row["status"],
        title=row["title"],
        summary=row["summary"],
        content_hash=row["content_hash"],
        confidence=row["confidence"],
        observed_count=row["observed_count"] if row["observed_count"] >= 0 else None,
        success_rate=row["success_rate"] if row["success_rate"] >= 0 else None,
        reason=row["reason"],
        compiled=row["agent_id"] == COMPILER,
    )


def stored_guide(row: Row) -> Guide:
    """The guide in a row of ``compiler/guides``."""
    return Guide(
        row["artifact_id"],
        row["artifact_type"],
        row["title"],
        parse_json(row["content"]),
        parse_json(row["metadata"]),
        row["confidence"],
        row["observed_count"] or 0,
    )


def _change_keys(tenancy: Tenancy, changes: Iterable[Change]) -> list[str]:
    """The keys of the heads that change, in locking order."""
    return sorted({tenancy.node_key(change.head.artifact_id) for change in changes if change.head is not None})


def _leaving_keys(tenancy: Tenancy, changes: Iterable[Change]) -> list[str]:
    """The keys of the heads that will no longer be draft or active."""
    return _change_keys(tenancy, (change for change in changes if _leaves(change)))


def _transition_rows(tenancy: Tenancy, changes: Iterable[Change], at_us: int) -> Iterator[Row]:
    """The status changes of heads, for ``artifacts/transition``."""
    for change in changes:
        for status in change.statuses:
            assert change.head is not None
            yield {
                "key": tenancy.node_key(change.head.artifact_id),
                "status": status,
                "from": [change.head.status],
                "reason": change.reason if change.artifact is None else _interim_reason(status),
                "at_us": at_us,
            }


def _new_rows(tenancy: Tenancy, changes: Iterable[Change], count_tokens: TokenCounter, at_us: int) -> Iterator[Row]:
    """The artifacts that start a chain, for ``artifacts/create``."""
    for change in changes:
        if change.artifact is not None and not change.artifact.supersedes:
            yield _row(tenancy, change, count_tokens, at_us)


def _successor_rows(
    tenancy: Tenancy, changes: Iterable[Change], count_tokens: TokenCounter, at_us: int
) -> Iterator[Row]:
    """The artifacts that replace a head, for ``artifacts/supersede``."""
    for change in changes:
        if change.artifact is not None and change.artifact.supersedes:
            row = _row(tenancy, change, count_tokens, at_us)
            yield row | {"old_key": tenancy.node_key(change.artifact.supersedes), "at_us": at_us}


def _count_rows(tenancy: Tenancy, changes: Iterable[Change], at_us: int) -> Iterator[Row]:
    """The heads whose counts change, for ``compiler/count``."""
    for change in changes:
        if change.action in {"counted", "activated"} and change.head is not None and change.draft is not None:
            yield {
                "key": tenancy.node_key(change.head.artifact_id),
                "observed_count": change.draft.seen.count,
                "success_rate": change.draft.seen.success_rate,
                "worked": worked(change.draft.seen.count, change.draft.seen.success_rate),
                "at_us": at_us,
            }


def model_hash(model: str) -> str:
    """The hash by which an unchanged model is recognised."""
    return content_hash(model)


def _leaves(change: Change) -> bool:
    """Whether the head will no longer be draft or active."""
    succeeded = change.artifact is not None and bool(change.artifact.supersedes)
    return succeeded or "deprecated" in change.statuses


def _interim_reason(status: str) -> str:
    """The reason for a status change of a head that a new artifact is about to replace."""
    return f"compiler: {'validated' if status == 'active' else 'replaced before it was validated'}"


def _row(tenancy: Tenancy, change: Change, count_tokens: TokenCounter, at_us: int) -> Row:
    """The row of a new artifact; the words of its kind of request are added to its search terms."""
    assert change.artifact is not None
    assert change.draft is not None
    key = lineage(change.draft, change.generation)
    row = artifact_row(tenancy, change.artifact, count_tokens, at_us=at_us, lineage_key=key)
    return row | {"properties": _findable(row["properties"], change.draft.keywords)}


def _findable(properties: Mapping[str, Any], keywords: Iterable[str]) -> Row:
    """*properties* with the terms of *keywords* added to the search terms."""
    searchable = f"{properties['search_text']} {search_text(' '.join(keywords))}".strip()
    return {**properties, "search_text": searchable}


# The changes of a compilation in the graph: heads retired, artifacts added, counts updated, in one transaction.

_ROWS_PER_STATEMENT = 200
_WRITES = frozenset({"created", "updated", "counted", "activated", "deprecated"})
_TWIN = "another artifact has the same content"


def _store_changes(tenancy: Tenancy, planned: Sequence[Change], at_us: int) -> Plan[tuple[tuple[Change, ...], bool]]:
    """The changes (skipped if another artifact has the same content), and whether anything was written."""
    changes = yield from _without_twins(tenancy, planned)
    writing = [change for change in changes if change.action in _WRITES]
    if not writing:
        return tuple(changes), False
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=_change_keys(tenancy, writing))
    leaving = _leaving_keys(tenancy, writing)
    yield bind("compiler/release", tenant_id=tenancy.tenant_id, keys=leaving)
    yield from _each(tenancy, "artifacts/transition", "changes", _transition_rows(tenancy, writing, at_us))
    yield from _each(tenancy, "artifacts/supersede", "successions", _successor_rows(tenancy, writing, counter(), at_us))
    yield from _each(tenancy, "artifacts/create", "artifacts", _new_rows(tenancy, writing, counter(), at_us))
    yield from _each(tenancy, "compiler/count", "counts", _count_rows(tenancy, writing, at_us))
    yield from settle(tenancy, leaving, at_us)
    return tuple(changes), True


def _each(tenancy: Tenancy, name: str, parameter: str, rows: Iterable[Row]) -> Plan[None]:
    """Send the statement *name* for all *rows*, a limited number at a time."""
    for batch in _batches(rows):
        yield bind(name, tenant_id=tenancy.tenant_id, **{parameter: batch})


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _ROWS_PER_STATEMENT)):
        yield batch


def _without_twins(tenancy: Tenancy, planned: Sequence[Change]) -> Plan[list[Change]]:
    """The changes, each replaced by a skipped one if another artifact that stays draft or active has its content."""
    changes_by_key = {
        dedup_key(
            tenancy, {"artifact_type": change.artifact_type, "content_hash": change.artifact.content_hash}
        ): change
        for change in planned
        if change.artifact is not None
    }
    if not changes_by_key:
        return list(planned)
    rows = yield bind("compiler/same_content", tenant_id=tenancy.tenant_id, dedup_keys=sorted(changes_by_key))
    leaving = set(_leaving_keys(tenancy, planned))
    twin_ids = {id(changes_by_key[row["dedup_key"]]) for row in rows if row["key"] not in leaving}
    return [_as_twin(change) if id(change) in twin_ids else change for change in planned]


def _as_twin(change: Change) -> Change:
    return Change("skipped", change.artifact_type, change.title, _TWIN, change.head)


# One compilation: changed sessions are read and summarised, the latest summaries compiled, the differences stored.

_SESSIONS_PER_PAGE = 200
# Events read at each end of a long session: enough for all steps that a summary keeps.
_EVENTS_PER_END = 1_000
# Maximum number of events in a group of sessions that are read together; a session with more is long.
_MOST_EVENTS_PER_GROUP = 2 * _EVENTS_PER_END
_SUMMARIES_PER_STATEMENT = 200
# The version of a state that was never compiled.
_NEVER_COMPILED = 0

Clock = Callable[[], float]
Progress = Callable[[str, int], None]


def _stopped() -> float:
    """A clock that stands still, for callers that need no timings."""
    return 0.0


def _silent(_stage: str, _done: int) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile; ``clock`` is only used for timings.

    ``progress`` is called with ``sessions`` and the number summarised so far, then with each later stage and 0.
    """

    full: bool = False
    dry_run: bool = False
    profile: CompilerProfile = DEFAULT_PROFILE
    clock: Clock = _stopped
    progress: Progress = _silent


class _Timer:
    """Seconds by stage: a stage lasts until the next one starts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stage = ""
        self._since = clock()
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def stage(self, name: str) -> None:
        now = self._clock()
        if self._stage:
            self.seconds[self._stage] += now - self._since
        self._stage, self._since = name, now


@dataclass(slots=True)
class _Run:
    """One compilation in progress.

    ``settled``: when it began, there was nothing new to compile. ``fresh``: the summaries of a dry run, by session key;
    they are not stored.
    """

    tenancy: Tenancy
    options: CompileOptions
    profile: CompilerProfile
    imported: InForce
    timer: _Timer
    version: int
    from_version: int
    as_of_us: int
    settled: bool
    events: int = 0
    summarised: int = 0
    fresh: dict[str, SessionSummary] = field(default_factory=dict)

    def stage(self, name: str) -> None:
        self.timer.stage(name)
        self.options.progress(name, 0)

    @property
    def summary_version(self) -> str:
        return summary_version(self.profile)


def compile_tenant(tenancy: Tenancy, options: CompileOptions | None = None) -> Procedure[CompileReport]:
    """Compile the tenant's latest sessions, reading only those that changed, and store the differences.

    ``full`` reads every session again; the result is the same. ``dry_run`` writes nothing at all. Contradictions
    between artifacts, between relations, or between artifacts and stated policies become conflicts; so does a
    withdrawal that does not repeat the words of its rule, unless one user said both: then the rule ends. The tenant's
    state at the start is compiled; events stored during the run wait for the next compilation. If events are erased
    during the run, the compilation starts again.
    """
    run = yield from read(partial(_begin, tenancy, options or CompileOptions()))
    yield from _summarise(run)
    if run.settled and not run.summarised and not run.options.full:
        return _report(run, Compilation(), ())
    ledger = yield from _ledger(run)
    compilation = compile_ledger(ledger, run.profile, run.stage, run.tenancy.trust)
    run.stage("store")
    if run.options.dry_run:
        changes = yield from read(partial(_compare, run, compilation))
    else:
        stored = yield from write(partial(_store, run, compilation))
        if stored is None:
            return (yield from compile_tenant(tenancy, options))
        changes, version = stored
        yield from detect(tenancy)
        yield from confirm_imports(tenancy)
        # Last, so that an interrupted compilation is resumed.
        yield from write(partial(_settle, run, version))
    run.timer.stage("")
    return _report(run, compilation, changes)


def _begin(tenancy: Tenancy, options: CompileOptions) -> Plan[_Run]:
    timer = _Timer(options.clock)
    timer.stage("read")
    tenant = yield from state(tenancy)
    as_of_us = tenant["logical_us"] or 0
    imported = (yield from in_force(tenancy, as_of_us)) or NOTHING_IMPORTED
    profile = in_use(options.profile, imported.compiler_parameters)
    before = yield from last_run(tenancy)
    version = tenant["state_version"]
    settled = tenant["compiled_version"] == version and _next(before, options, imported) == before
    summaries_current = tenant["compiled_summaries"] == summary_version(profile) and not options.full
    from_version = tenant["compiled_version"] + 1 if summaries_current else _NEVER_COMPILED
    return _Run(tenancy, options, profile, imported, timer, version, from_version, as_of_us, settled)


def _summarise(run: _Run) -> Procedure[None]:
    """Summarise the sessions that need it, a page at a time, and store the summaries unless it is a dry run."""
    from_version, after = run.from_version, ""
    while page := (yield from read(partial(_unread, run, from_version, after))):
        for group in _groups(page):
            summaries = yield from read(partial(_group_summaries, run, group))
            yield from _keep(run, group, summaries)
        from_version, after = page[-1]["version"], page[-1]["session_key"]


def _unread(run: _Run, from_version: int, after: str) -> Plan[list[Row]]:
    rows = yield bind(
        "compiler/unread_sessions",
        tenant_id=run.tenancy.tenant_id,
        from_version=from_version,
        until_version=run.version,
        after=after,
        full=run.options.full,
        summary_version=run.summary_version,
        logging_sessions=LOGGING_SESSIONS,
        limit=_SESSIONS_PER_PAGE,
    )
    return rows


def _groups(page: Sequence[Row]) -> Iterator[list[Row]]:
    """The sessions of a page in groups with few events; a large session forms a group alone."""
    group: list[Row] = []
    for row in page:
        if group and sum(session["event_count"] for session in group) + row["event_count"] > _MOST_EVENTS_PER_GROUP:
            yield group
            group = []
        group.append(row)
    yield group


def _group_summaries(run: _Run, group: Sequence[Row]) -> Plan[dict[str, SessionSummary]]:
    if len(group) == 1 and group[0]["event_count"] > _MOST_EVENTS_PER_GROUP:
        reader = yield from session_read(run.tenancy, group[0]["session_key"], run.profile)
        return {group[0]["session_key"]: reader.summary()}
    keys = [row["session_key"] for row in group]
    rows = yield bind("compiler/events", tenant_id=run.tenancy.tenant_id, session_keys=keys)
    readers = {key: SessionReader(run.profile) for key in keys}
    for row in rows:
        readers[row["session_key"]].add(stored_event(row["event"]))
    return {key: readers[key].summary() for key in keys}


def session_read(tenancy: Tenancy, session_key: str, profile: CompilerProfile) -> Plan[SessionReader]:
    """A reader that has read a session: all of up to 2,000 events, else the first and the last 1,000.

    A summary keeps the first and last steps of a session, so the events between them need not be read.
    """
    reader = SessionReader(profile)
    of_session = {"tenant_id": tenancy.tenant_id, "session_key": session_key}
    rows = yield bind("compiler/session_start", **of_session, limit=_EVENTS_PER_END)
    first = [stored_event(row["event"]) for row in rows]
    for event in first:
        reader.add(event)
    if len(first) < _EVENTS_PER_END:
        return reader
    sequence, time_us, event_id = position(first[-1])
    after = {"sequence": sequence, "time_us": time_us, "event_id": event_id}
    rows = yield bind("compiler/session_end", **of_session, **after, limit=_EVENTS_PER_END + 1)
    if len(rows) > _EVENTS_PER_END:
        reader.pass_over()
    for row in rows[-_EVENTS_PER_END:]:
        reader.add(stored_event(row["event"]))
    return reader


def _keep(run: _Run, group: Sequence[Row], summaries: Mapping[str, SessionSummary]) -> Procedure[None]:
    """Count the summaries of a group and store them; a dry run only holds them in memory."""
    run.summarised += len(summaries)
    run.events += sum(summary.event_count for summary in summaries.values())
    run.options.progress("sessions", run.summarised)
    if run.options.dry_run:
        run.fresh |= summaries
        return
    rows = [
        {
            "session_key": row["session_key"],
            "version": row["version"],
            "last_us": summaries[row["session_key"]].last_us,
            "summary": summaries[row["session_key"]].to_json(),
        }
        for row in group
    ]
    yield from write(partial(_store_summaries, run, rows))


def _store_summaries(run: _Run, rows: Sequence[Row]) -> Plan[None]:
    yield bind(
        "compiler/store_summaries",
        tenant_id=run.tenancy.tenant_id,
        summaries=list(rows),
        summary_version=run.summary_version,
    )
    if run.settled:
        # No event is new, but the summaries change: they came from another release or profile, or ``full`` replaces
        # them. The tenant must be compiled again, even if this run is interrupted.
        yield from _settle(run, _NEVER_COMPILED)


def _ledger(run: _Run) -> Procedure[Ledger]:
    """The latest summaries, including those that a dry run has just made and does not store.

    Their keys are read in one statement. If they were read in pages, a session that another compilation moves to the
    front in the meantime would be missed.
    """
    run.stage("summaries")
    ledger = Ledger(run.profile, (run.fresh[key] for key in sorted(run.fresh)))
    keys = [key for key in (yield from read(partial(_latest_keys, run))) if key not in run.fresh]
    for start in range(0, len(keys), _SUMMARIES_PER_STATEMENT):
        for row in (yield from read(partial(_summaries, run, keys[start : start + _SUMMARIES_PER_STATEMENT]))):
            ledger.add(SessionSummary.parse(row["summary"]))
    return ledger


def _latest_keys(run: _Run) -> Plan[list[str]]:
    """The keys of the sessions that may be the latest, plus one more: it tells the ledger whether any are left out."""
    limit = run.profile.max_sessions + len(run.fresh) + 1
    rows = yield bind(
        "compiler/latest_sessions",
        tenant_id=run.tenancy.tenant_id,
        summary_version=run.summary_version,
        limit=limit,
    )
    return [row["session_key"] for row in rows]


def _summaries(run: _Run, keys: Sequence[str]) -> Plan[list[Row]]:
    rows = yield bind(
        "compiler/summaries",
        tenant_id=run.tenancy.tenant_id,
        session_keys=list(keys),
        summary_version=run.summary_version,
    )
    return rows


def _compare(run: _Run, compilation: Compilation) -> Plan[tuple[Change, ...]]:
    rows = yield bind("compiler/heads", tenant_id=run.tenancy.tenant_id, lineages=LINEAGES)
    context = BuildContext(run.tenancy.tenant_id, run.profile, run.as_of_us)
    return reconcile((_stored_head(row["head"]) for row in rows), compilation.drafts, context)


def _store(run: _Run, compilation: Compilation) -> Plan[tuple[tuple[Change, ...], int] | None]:
    """Write the differences under the lock of the tenant's model, and raise the state version if there were any.

    Returns the changes and the state version up to which the tenant is then compiled. Returns None, and writes no
    change, if events were erased since the run began.
    """
    names = {"tenant_id": run.tenancy.tenant_id, "model_key": model_key(run.tenancy)}
    locked = yield bind("compiler/lock", **names)
    if (yield from _erased(run)):
        return None
    planned = yield from _compare(run, compilation)
    changes, has_writes = yield from _store_changes(run.tenancy, planned, run.as_of_us)
    model = Model.of(compilation)
    if model.empty:
        yield bind("compiler/drop_model", **names)
    elif locked[0]["model_hash"] != (new_hash := model_hash(text := model.to_json())):
        yield bind("compiler/keep_model", **names, model=text, model_hash=new_hash, profile=run.profile.name)
    yield from _keep_parameters(run)
    version = run.version
    if has_writes:
        # If another commit raised the version meanwhile, its changes are not compiled: keep the version that was read.
        bumped = yield from bump(run.tenancy, run.as_of_us)
        version = bumped if bumped == version + 1 else version
    return changes, version


def _settle(run: _Run, version: int) -> Plan[None]:
    """Record that the tenant's state of *version* is compiled."""
    yield bind(
        "compiler/settle",
        tenant_id=run.tenancy.tenant_id,
        tenant_key=run.tenancy.key,
        version=version,
        summary_version=run.summary_version,
    )


def _erased(run: _Run) -> Plan[bool]:
    """Whether events were erased since the run started."""
    rows = yield bind("compiler/erased", tenant_id=run.tenancy.tenant_id, tenant_key=run.tenancy.key)
    return any(row["erased_version"] > run.version for row in rows)


def _keep_parameters(run: _Run) -> Plan[None]:
    before = yield from last_run(run.tenancy)
    now = _next(before, run.options, run.imported)
    if now != before:
        yield bind(
            "compiler/keep_parameters",
            tenant_id=run.tenancy.tenant_id,
            model_key=model_key(run.tenancy),
            compiler_parameters=now.to_json(),
        )


def _next(before: LastRun, options: CompileOptions, imported: InForce) -> LastRun:
    """The compiler parameters to store after this run; *before* are those of the last run, which are stored now."""
    return before.next(options.profile, imported.compiler_parameters, imported.fingerprint_id)


def _report(run: _Run, compilation: Compilation, changes: Sequence[Change]) -> CompileReport:
    return CompileReport(
        tenant_id=run.tenancy.tenant_id,
        profile=run.profile.name,
        as_of_us=run.as_of_us or None,
        sessions=compilation.sessions,
        summarised=run.summarised,
        events=run.events,
        full=run.options.full,
        dry_run=run.options.dry_run,
        **counts(changes),
        changes=reported(changes),
        near_duplicates=len(compilation.near_duplicates),
        without_outcome=compilation.without_outcome,
        no_material=compilation.no_material,
        shortened=compilation.shortened,
        older=compilation.older,
        seconds={name: round(seconds, 4) for name, seconds in run.timer.seconds.items()},
    )
