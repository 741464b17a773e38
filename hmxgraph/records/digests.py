"""Digests of task records: their names, what each says, and the search modes that they answer."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.records import DIGEST_ROLES, MODES, TaskRecord
from hmxgraph.protocol.showing import shortened
from hmxgraph.records.search import facet, failed, projections
from hmxgraph.records.trust import COUNTERSIGNING, OPEN

# Which digests there are, how they are called, and which a record makes stale (memd: Summary-First Digests).

# The task under which digests of a project, or of everything, stand: they belong to no single task.
EVERYTHING = "*"
# How the ids of the digests that the engine composes begin: no record from outside may have such a one.
OWN_DIGESTS = "digest:"
LIBRARIES = tuple(role for role in DIGEST_ROLES if role != "task_resume")
# Roles of records that maintenance leaves behind: they feed no digest and make none stale.
_MAINTENANCE = frozenset({"dream_report", "maintenance"})
_FED_BY = {
    "failure_library": frozenset({"failed"}),
    "decision_library": frozenset({"decision"}),
    "evidence_library": frozenset({"evidence", "validation"}),
    "highlight_library": frozenset({"worked", "evidence", "validation"}),
}


class DigestName(NamedTuple):
    """One digest: its role, and the task or project it is about (``*``: all of the tenant's)."""

    role: str
    scope: str

    @property
    def digest_key(self) -> str:
        """Its stable key.

        >>> DigestName("failure_library", "soil").digest_key
        'failure_library:soil'
        """
        return f"{self.role}:{self.scope}"

    @property
    def project_id(self) -> str | None:
        """The project it is about; None for a task's, and for that of all projects."""
        return None if self.role == "task_resume" or self.scope == EVERYTHING else self.scope

    def artifact_id(self, tenant_id: str) -> str:
        """Its stable id: refreshed, it stays the same record."""
        return OWN_DIGESTS + stable_id(tenant_id, "digest", self.role, self.scope)


def digest_name(role: str, *, task_id: str | None = None, project_id: str | None = None) -> DigestName:
    """The digest of *role* for a task, a project, or all of the tenant's work.

    Raises:
        UnknownChoice: no such role.

    """
    if role not in DIGEST_ROLES:
        raise UnknownChoice("digest role", role, DIGEST_ROLES)
    return DigestName(role, (task_id if role == "task_resume" else project_id) or EVERYTHING)


def stale_digests(record: TaskRecord) -> tuple[DigestName, ...]:
    """The digests that *record* may change, sorted: its task's, and those of its project and of everything.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="task_progress", task_id="t", tenant_id="a",
    ...     timestamp_created=0, summary="half way")
    >>> [name.digest_key for name in stale_digests(record)]
    ['project_brief:*', 'task_resume:t']
    """
    if record.artifact_kind == "digest" or record.artifact_role in _MAINTENANCE:
        return ()
    scopes = {EVERYTHING, record.project_id or EVERYTHING}
    wide = (DigestName(role, scope) for role in _roles(record) for scope in scopes)
    return tuple(sorted({DigestName("task_resume", record.task_id), *wide}))


def _roles(record: TaskRecord) -> Iterator[str]:
    yield "project_brief"
    kinds = {part.kind for part in projections(record)}
    # A reply may change how far its parent is trusted, whatever library shows that.
    reply = record.artifact_kind in COUNTERSIGNING and record.reply_to_artifact_id is not None
    yield from (role for role, fed_by in _FED_BY.items() if reply or fed_by & kinds)


# What each digest says: composed from records alone, so that the same records give the same digest.

_RUNS = 5
_ENTRIES = 20
SOURCES = 50


@dataclass(frozen=True, slots=True)
class Source:
    """A record as a digest sees it."""

    record: TaskRecord
    trust_tier: str
    rejected: bool = False


def sources_wanted(role: str) -> tuple[str, ...]:
    """The facets by which a digest's sources are found (any of them); none for all records of a task."""
    return _WANTED[role]


def compose(name: DigestName, tenant_id: str, sources: Sequence[Source]) -> TaskRecord | None:
    """The digest *name* over *sources*, oldest first; None where there is nothing to tell.

    It names its sources, is as old as the newest of them, and carries no claim of its own.
    """
    kept = [source for source in sources if _observed(source.record)]
    told = _COMPOSED[name.role](kept) if kept else {}
    if not told:
        return None
    updated_ms = max(source.record.created_us for source in kept) // 1000
    cited = told.pop("sources")
    return TaskRecord(
        artifact_id=name.artifact_id(tenant_id),
        artifact_kind="digest",
        artifact_role=name.role,
        task_id=name.scope if name.role == "task_resume" else EVERYTHING,
        tenant_id=tenant_id,
        project_id=name.project_id or _project(kept, name.role),
        digest_key=name.digest_key,
        promotion_state="summarized",
        source_updated_at_ms=max(updated_ms, 0),
        timestamp_created=updated_ms,
        related_artifact_ids=tuple(sorted({source.record.artifact_id for source in cited})[:SOURCES]),
        **told,
    )


def _observed(record: TaskRecord) -> bool:
    """Whether *record* tells of work, not of other records."""
    return record.artifact_kind != "digest" and record.artifact_role not in _MAINTENANCE


def resumed(sources: Sequence[Source]) -> dict[str, Any]:
    """What the next agent needs to know about a task: where it stands, what stands in its way, what to do next."""
    records = [source.record for source in sources]
    return {
        "goal": _last(record.goal for record in records if record.artifact_kind == "task_start"),
        "status": _last(record.status for record in records if record.artifact_kind == "task_finish") or OPEN,
        "summary": _last(record.summary for record in records if record.artifact_kind in _TELLING) or "started",
        "blockers": list(_last(record.blockers for record in records) or ()),
        "what_worked": _each(record.what_worked for record in records),
        "what_failed": list(_failures(records)),
        "validation": list(_validations(sources)),
        "followups": list(_last(record.followups for record in records) or ()),
        "outputs": list(recent_runs(records)),
    }


def recent_runs(records: Sequence[TaskRecord]) -> Iterator[str]:
    """The last runs in words, newest first: command and outcome."""
    ends = {record.reply_to_artifact_id: record for record in records if record.artifact_kind == "run_finish"}
    starts = [record for record in records if record.artifact_kind == "run_start"]
    for start in starts[: -_RUNS - 1 : -1]:
        end = ends.get(start.artifact_id)
        outcome = end.status if end else OPEN
        yield f"{start.command} -> {outcome}" + (f": {shortened(end.summary)}" if end and end.summary else "")


_TELLING = frozenset({"task_progress", "task_finish", "evidence", "decision", "revision"})


def _resume(sources: Sequence[Source]) -> dict[str, Any]:
    told = resumed(sources)
    goal, status = told.pop("goal"), told.pop("status")
    told["summary"] = f"{goal or sources[0].record.task_id} [{status}]: {told['summary']}"
    return {name: value for name, value in told.items() if value} | {"sources": sources}


def _brief(sources: Sequence[Source]) -> dict[str, Any]:
    by_task: dict[str, list[Source]] = {}
    for source in sources:
        by_task.setdefault(source.record.task_id, []).append(source)
    newest = sorted(by_task.values(), key=lambda told: (-told[-1].record.created_us, told[-1].record.task_id))
    lines = [_task_line(told) for told in newest[:_ENTRIES]]
    blockers = _each(resumed(told)["blockers"] for told in newest[:_ENTRIES])
    followups = _each(resumed(told)["followups"] for told in newest[:_ENTRIES])
    return _listing(lines, sources) | _present(blockers=blockers, followups=followups)


def _task_line(told: Sequence[Source]) -> str:
    found = resumed(told)
    return f"{found['goal'] or told[0].record.task_id} [{found['status']}]: {shortened(found['summary'])}"


def _failure_library(sources: Sequence[Source]) -> dict[str, Any]:
    chosen = _newest(sources)
    lines = [_line(source, "failed") for source in chosen]
    return _listing(lines, chosen) | _present(what_failed=_each(source.record.what_failed for source in chosen))


def _decision_library(sources: Sequence[Source]) -> dict[str, Any]:
    chosen = _newest(source for source in sources if source.record.artifact_kind == "decision")
    lines = [_line(source, "decision") for source in chosen]
    return _listing(lines, chosen) if chosen else {}


def _evidence_library(sources: Sequence[Source]) -> dict[str, Any]:
    chosen = _trusted_first(source for source in sources if not source.rejected)
    lines = [_line(source, "evidence") for source in chosen]
    return _listing(lines, chosen) if chosen else {}


def _highlight_library(sources: Sequence[Source]) -> dict[str, Any]:
    chosen = _trusted_first(source for source in sources if not source.rejected and _shines(source))
    lines = [_line(source, "worked") for source in chosen]
    worked = _each(source.record.what_worked for source in chosen)
    return (_listing(lines, chosen) | _present(what_worked=worked)) if chosen else {}


def _shines(source: Source) -> bool:
    return bool(source.record.what_worked or source.record.validation) or source.trust_tier == "verified_record"


def _listing(lines: Sequence[str], sources: Sequence[Source]) -> dict[str, Any]:
    return {"summary": "\n".join(lines), "sources": sources}


def _line(source: Source, kind: str) -> str:
    """One entry in words, with the record's id, so that the reader can go to the source."""
    parts = {part.kind: part.text for part in projections(source.record)}
    text = parts.get(kind) or next(iter(parts.values()), "")
    mark = " [verified]" if source.trust_tier == "verified_record" else ""
    return f"- {shortened(text)}{mark} ({source.record.artifact_id})"


def _newest(sources: Iterable[Source]) -> list[Source]:
    return list(sources)[: -_ENTRIES - 1 : -1]


def _trusted_first(sources: Iterable[Source]) -> list[Source]:
    newest = list(sources)[::-1]
    return sorted(newest, key=lambda source: source.trust_tier != "verified_record")[:_ENTRIES]


def _failures(records: Sequence[TaskRecord]) -> Iterator[str]:
    seen = set()
    for record in records:
        said = record.what_failed or ((record.summary,) if failed(record.status) and record.summary else ())
        for one in said:
            if one not in seen:
                seen.add(one)
                yield one


def _validations(sources: Sequence[Source]) -> Iterator[str]:
    yield from _each(source.record.validation for source in sources)
    for source in sources:
        record = source.record
        if record.artifact_kind == "verification" and record.summary:
            yield ("confirmed: " if record.supports_claim else "rejected: ") + record.summary


def _each(lists: Iterable[Sequence[str] | None]) -> list[str]:
    """Every text once, in order."""
    return list(dict.fromkeys(text for texts in lists for text in texts or ()))


def _last(values: Iterable[Any]) -> Any:
    """The last value that was said; an empty list says that there is nothing any more."""
    found = None
    for value in values:
        found = found if value is None else value
    return found


def _project(sources: Sequence[Source], role: str) -> str | None:
    return _last(source.record.project_id for source in sources) if role == "task_resume" else None


def _present(**values: list[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


_COMPOSED: Mapping[str, Callable[[Sequence[Source]], dict[str, Any]]] = {
    "task_resume": _resume,
    "project_brief": _brief,
    "failure_library": _failure_library,
    "decision_library": _decision_library,
    "evidence_library": _evidence_library,
    "highlight_library": _highlight_library,
}
_WANTED: Mapping[str, tuple[str, ...]] = {
    "task_resume": (),
    "project_brief": tuple(
        facet("artifact_kind", kind) for kind in ("task_start", "task_progress", "task_finish", "decision")
    ),
    "failure_library": (facet("projection", "failed"),),
    "decision_library": (facet("artifact_kind", "decision"),),
    "evidence_library": (facet("projection", "evidence"), facet("projection", "validation")),
    "highlight_library": tuple(facet("projection", kind) for kind in ("worked", "evidence", "validation")),
}


# What each search mode prefers: the digest that answers it, and the records it stands for (memd: Exact Filters).

# How much a preferred record gains over an equally relevant one.
_LIFT = 0.5


class Mode(NamedTuple):
    """What a mode looks for first: a digest's role, and records by facet."""

    role: str | None
    records: tuple[str, ...]

    @property
    def preferred(self) -> tuple[str, ...]:
        """The facets of everything that the mode lifts."""
        return self.records if self.role is None else (facet("artifact_role", self.role), *self.records)


def mode_of(name: str) -> Mode:
    """The mode called *name*.

    Raises:
        UnknownChoice: there is none.

    >>> mode_of("find_decisions").preferred
    ('artifact_role=decision_library', 'artifact_kind=decision')
    """
    if name not in MODES:
        raise UnknownChoice("mode", name, MODES)
    return _MODES[name]


def lifted(mode: Mode, score: float, carried: Collection[str]) -> float:
    """*score* in [0, 1], raised where a record carries what the mode prefers.

    >>> lifted(mode_of("find_failures"), 0.4, ["projection=failed"]), lifted(mode_of("generic"), 0.4, [])
    (0.6, 0.4)
    """
    prefers = any(one in carried for one in mode.preferred)
    return round(score * (1 + _LIFT) if prefers else score, 6)


def _kinds(*kinds: str) -> tuple[str, ...]:
    return tuple(facet("artifact_kind", kind) for kind in kinds)


_MODES: Mapping[str, Mode] = {
    "generic": Mode(None, ()),
    "brief_project": Mode("project_brief", _kinds("task_start", "task_finish", "decision")),
    "resume_task": Mode("task_resume", _kinds("task_progress", "task_finish", "run_finish")),
    "find_failures": Mode("failure_library", (facet("projection", "failed"),)),
    "find_decisions": Mode("decision_library", _kinds("decision")),
    "find_evidence": Mode("evidence_library", _kinds("evidence", "verification")),
    "find_highlights": Mode("highlight_library", (facet("projection", "worked"), facet("projection", "validation"))),
}
