"""Digests of task records: names, composition, and the search modes that they serve."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.display import short_text
from hmxgraph.protocol.records import DIGEST_ROLES, MODES, TaskRecord
from hmxgraph.records.search import facet, failed, projections
from hmxgraph.records.trust import COUNTERSIGNING, OPEN

# Which digests exist, their names, and which of them a record makes stale (memd: Summary-First Digests).

# The task id of digests about a project or the whole tenant, which belong to no single task.
EVERYTHING = "*"
# Id prefix of the digests that the engine composes; other records may not use it.
OWN_DIGESTS = "digest:"
LIBRARIES = tuple(role for role in DIGEST_ROLES if role != "task_resume")
# Roles of records written by maintenance: they do not enter digests and make none stale.
_MAINTENANCE = frozenset({"dream_report", "maintenance"})
_FED_BY = {
    "failure_library": frozenset({"failed"}),
    "decision_library": frozenset({"decision"}),
    "evidence_library": frozenset({"evidence", "validation"}),
    "highlight_library": frozenset({"worked", "evidence", "validation"}),
}


class DigestName(NamedTuple):
    """A digest's role, and the task or project that it covers (``*``: the whole tenant)."""

    role: str
    scope: str

    @property
    def digest_key(self) -> str:
        """The stable key.

        >>> DigestName("failure_library", "soil").digest_key
        'failure_library:soil'
        """
        return f"{self.role}:{self.scope}"

    @property
    def project_id(self) -> str | None:
        """The project that it covers; None for a task or the whole tenant."""
        return None if self.role == "task_resume" or self.scope == EVERYTHING else self.scope

    def artifact_id(self, tenant_id: str) -> str:
        """The stable id: refreshing a digest keeps its record."""
        return OWN_DIGESTS + stable_id(tenant_id, "digest", self.role, self.scope)


def digest_name(role: str, *, task_id: str | None = None, project_id: str | None = None) -> DigestName:
    """The digest of *role* for a task, a project, or the whole tenant.

    Raises:
        UnknownChoice: no such role.

    """
    if role not in DIGEST_ROLES:
        raise UnknownChoice("digest role", role, DIGEST_ROLES)
    return DigestName(role, (task_id if role == "task_resume" else project_id) or EVERYTHING)


def stale_digests(record: TaskRecord) -> tuple[DigestName, ...]:
    """The digests that *record* may change, sorted: those of its task, its project and the whole tenant.

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
    # A reply may change the trust in its parent, which any library may contain.
    reply = record.artifact_kind in COUNTERSIGNING and record.reply_to_artifact_id is not None
    yield from (role for role, fed_by in _FED_BY.items() if reply or fed_by & kinds)


# Composition: from records alone, so that the same records give the same digest.

_RUNS = 5
_ENTRIES = 20
SOURCES = 50


@dataclass(frozen=True, slots=True)
class Source:
    """A record that enters a digest, with its trust."""

    record: TaskRecord
    trust_tier: str
    rejected: bool = False


def sources_wanted(role: str) -> tuple[str, ...]:
    """The facets that select a digest's sources (any of them matches); empty for all records of a task."""
    return _SOURCE_FACETS[role]


def compose(name: DigestName, tenant_id: str, sources: Sequence[Source]) -> TaskRecord | None:
    """The digest *name* of *sources*, oldest first; None if it would be empty.

    It lists its sources, has the time of the newest of them, and makes no claim of its own.
    """
    kept = [source for source in sources if _observed(source.record)]
    fields = _COMPOSERS[name.role](kept) if kept else {}
    if not fields:
        return None
    updated_ms = max(source.record.created_us for source in kept) // 1000
    cited = fields.pop("sources")
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
        **fields,
    )


def _observed(record: TaskRecord) -> bool:
    """Whether *record* reports work, not other records."""
    return record.artifact_kind != "digest" and record.artifact_role not in _MAINTENANCE


def resumed(sources: Sequence[Source]) -> dict[str, Any]:
    """A summary of a task for the agent that resumes it: status, blockers, results, follow-ups."""
    records = [source.record for source in sources]
    return {
        "goal": _last(record.goal for record in records if record.artifact_kind == "task_start"),
        "status": _last(record.status for record in records if record.artifact_kind == "task_finish") or OPEN,
        "summary": _last(record.summary for record in records if record.artifact_kind in _SUMMARISING) or "started",
        "blockers": list(_last(record.blockers for record in records) or ()),
        "what_worked": _each(record.what_worked for record in records),
        "what_failed": list(_failures(records)),
        "validation": list(_validations(sources)),
        "followups": list(_last(record.followups for record in records) or ()),
        "outputs": list(recent_runs(records)),
    }


def recent_runs(records: Sequence[TaskRecord]) -> Iterator[str]:
    """The latest runs, newest first, as text: command and outcome."""
    ends = {record.reply_to_artifact_id: record for record in records if record.artifact_kind == "run_finish"}
    starts = [record for record in records if record.artifact_kind == "run_start"]
    for start in starts[: -_RUNS - 1 : -1]:
        end = ends.get(start.artifact_id)
        outcome = end.status if end else OPEN
        yield f"{start.command} -> {outcome}" + (f": {short_text(end.summary)}" if end and end.summary else "")


_SUMMARISING = frozenset({"task_progress", "task_finish", "evidence", "decision", "revision"})


def _resume(sources: Sequence[Source]) -> dict[str, Any]:
    fields = resumed(sources)
    goal, status = fields.pop("goal"), fields.pop("status")
    fields["summary"] = f"{goal or sources[0].record.task_id} [{status}]: {fields['summary']}"
    return {name: value for name, value in fields.items() if value} | {"sources": sources}


def _brief(sources: Sequence[Source]) -> dict[str, Any]:
    by_task: dict[str, list[Source]] = {}
    for source in sources:
        by_task.setdefault(source.record.task_id, []).append(source)
    newest = sorted(by_task.values(), key=lambda group: (-group[-1].record.created_us, group[-1].record.task_id))
    lines = [_task_line(group) for group in newest[:_ENTRIES]]
    blockers = _each(resumed(group)["blockers"] for group in newest[:_ENTRIES])
    followups = _each(resumed(group)["followups"] for group in newest[:_ENTRIES])
    return _listing(lines, sources) | _present(blockers=blockers, followups=followups)


def _task_line(sources: Sequence[Source]) -> str:
    fields = resumed(sources)
    return f"{fields['goal'] or sources[0].record.task_id} [{fields['status']}]: {short_text(fields['summary'])}"


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
    chosen = _trusted_first(source for source in sources if not source.rejected and _is_highlight(source))
    lines = [_line(source, "worked") for source in chosen]
    worked = _each(source.record.what_worked for source in chosen)
    return (_listing(lines, chosen) | _present(what_worked=worked)) if chosen else {}


def _is_highlight(source: Source) -> bool:
    return bool(source.record.what_worked or source.record.validation) or source.trust_tier == "verified_record"


def _listing(lines: Sequence[str], sources: Sequence[Source]) -> dict[str, Any]:
    return {"summary": "\n".join(lines), "sources": sources}


def _line(source: Source, kind: str) -> str:
    """One entry as text, with the record's id as its source."""
    parts = {part.kind: part.text for part in projections(source.record)}
    text = parts.get(kind) or next(iter(parts.values()), "")
    mark = " [verified]" if source.trust_tier == "verified_record" else ""
    return f"- {short_text(text)}{mark} ({source.record.artifact_id})"


def _newest(sources: Iterable[Source]) -> list[Source]:
    return list(sources)[: -_ENTRIES - 1 : -1]


def _trusted_first(sources: Iterable[Source]) -> list[Source]:
    newest = list(sources)[::-1]
    return sorted(newest, key=lambda source: source.trust_tier != "verified_record")[:_ENTRIES]


def _failures(records: Sequence[TaskRecord]) -> Iterator[str]:
    seen = set()
    for record in records:
        texts = record.what_failed or ((record.summary,) if failed(record.status) and record.summary else ())
        for text in texts:
            if text not in seen:
                seen.add(text)
                yield text


def _validations(sources: Sequence[Source]) -> Iterator[str]:
    yield from _each(source.record.validation for source in sources)
    for source in sources:
        record = source.record
        if record.artifact_kind == "verification" and record.summary:
            yield ("confirmed: " if record.supports_claim else "rejected: ") + record.summary


def _each(lists: Iterable[Sequence[str] | None]) -> list[str]:
    """All texts in order, without repetitions."""
    return list(dict.fromkeys(text for texts in lists for text in texts or ()))


def _last(values: Iterable[Any]) -> Any:
    """The last value that is not None; an empty list counts, because it clears earlier ones."""
    last = None
    for value in values:
        last = last if value is None else value
    return last


def _project(sources: Sequence[Source], role: str) -> str | None:
    return _last(source.record.project_id for source in sources) if role == "task_resume" else None


def _present(**values: list[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


_COMPOSERS: Mapping[str, Callable[[Sequence[Source]], dict[str, Any]]] = {
    "task_resume": _resume,
    "project_brief": _brief,
    "failure_library": _failure_library,
    "decision_library": _decision_library,
    "evidence_library": _evidence_library,
    "highlight_library": _highlight_library,
}
_SOURCE_FACETS: Mapping[str, tuple[str, ...]] = {
    "task_resume": (),
    "project_brief": tuple(
        facet("artifact_kind", kind) for kind in ("task_start", "task_progress", "task_finish", "decision")
    ),
    "failure_library": (facet("projection", "failed"),),
    "decision_library": (facet("artifact_kind", "decision"),),
    "evidence_library": (facet("projection", "evidence"), facet("projection", "validation")),
    "highlight_library": tuple(facet("projection", kind) for kind in ("worked", "evidence", "validation")),
}


# Search modes: each prefers a digest and some kinds of records (memd: Exact Filters).

# Relative bonus of a preferred record's score.
_BONUS = 0.5


class Mode(NamedTuple):
    """What a mode prefers: the digest of a role, and records with one of the facets."""

    role: str | None
    records: tuple[str, ...]

    @property
    def preferred(self) -> tuple[str, ...]:
        """The facets of everything that the mode prefers."""
        return self.records if self.role is None else (facet("artifact_role", self.role), *self.records)


def mode_of(name: str) -> Mode:
    """The mode called *name*.

    Raises:
        UnknownChoice: no such mode.

    >>> mode_of("find_decisions").preferred
    ('artifact_role=decision_library', 'artifact_kind=decision')
    """
    if name not in MODES:
        raise UnknownChoice("mode", name, MODES)
    return _MODES[name]


def mode_score(mode: Mode, score: float, record_facets: Collection[str]) -> float:
    """*score*, raised if the mode prefers a record with these facets.

    >>> mode_score(mode_of("find_failures"), 0.4, ["projection=failed"]), mode_score(mode_of("generic"), 0.4, [])
    (0.6, 0.4)
    """
    is_preferred = any(preferred in record_facets for preferred in mode.preferred)
    return round(score * (1 + _BONUS) if is_preferred else score, 6)


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
