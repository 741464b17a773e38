"""Digests (summaries composed from task records): their names and composition, and the search modes that use them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.canonical import stable_id
from hmxgraph.protocol.display import short_text
from hmxgraph.protocol.record_results import TITLES, Account, RecordView
from hmxgraph.protocol.records import DIGEST_ROLES, MODES, TaskRecord
from hmxgraph.records.handoff import account
from hmxgraph.records.search import facet, means_failure, projections
from hmxgraph.records.trust import COUNTERSIGNING

# Which digests exist, their names, and which of them a record makes stale (memd: Summary-First Digests).

# The task id of every digest that is not about a task, and the scope of digests about the whole tenant.
EVERYTHING = "*"
# Id prefix of the digests that the engine composes; other records may not use it.
OWN_DIGESTS = "digest:"
# Roles of digests about a project or the whole tenant: the project brief and the four libraries.
WIDE_ROLES = tuple(role for role in DIGEST_ROLES if role != "task_resume")
# Roles of records written by maintenance: digests leave them out, and they make no digest stale.
_MAINTENANCE = frozenset({"dream_report", "maintenance"})
# A record is an entry of a library if it has a projection (a searchable text derived from it) of one of these kinds.
_ENTRY_KINDS = {
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
        """The role and the scope in one text, equal for every version of the digest.

        >>> DigestName("failure_library", "soil").digest_key
        'failure_library:soil'
        """
        return f"{self.role}:{self.scope}"

    @property
    def project_id(self) -> str | None:
        """The project that it covers; None for a task or the whole tenant."""
        return None if self.role == "task_resume" or self.scope == EVERYTHING else self.scope

    def artifact_id(self, tenant_id: str) -> str:
        """The id of the digest's record, the same after each refresh."""
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
    """The digests that *record* may change, sorted: of its task, its project and the whole tenant.

    A digest, and a record written by maintenance, changes none.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="task_progress", task_id="t", tenant_id="a",
    ...     timestamp_created=0, summary="half way")
    >>> [name.digest_key for name in stale_digests(record)]
    ['project_brief:*', 'task_resume:t']
    """
    if record.artifact_kind == "digest" or record.artifact_role in _MAINTENANCE:
        return ()
    scopes = {EVERYTHING, record.project_id or EVERYTHING}
    wide = (DigestName(role, scope) for role in _wide_roles(record) for scope in scopes)
    return tuple(sorted({DigestName("task_resume", record.task_id), *wide}))


def _wide_roles(record: TaskRecord) -> Iterator[str]:
    """The roles of those digests of a project or the tenant that *record* may change."""
    yield "project_brief"
    kinds = {part.kind for part in projections(record)}
    # A reply may change the trust in the record it replies to, which any library may contain.
    reply = record.artifact_kind in COUNTERSIGNING and record.reply_to_artifact_id is not None
    yield from (role for role, entry_kinds in _ENTRY_KINDS.items() if reply or entry_kinds & kinds)


# Libraries: one rule says which records belong to a library, for its list and for its digest.

# Maximum number of entries in the digest of a library, and of tasks in a project brief.
_MOST_ENTRIES = 20
# Maximum number of records that a digest cites.
_MOST_CITED = 50


def source_facets(role: str) -> tuple[str, ...]:
    """The facets ("name=value" texts) that find the sources of a digest; each source has at least one of them.

    Empty for ``task_resume``, whose sources are all records of the task.
    """
    return _SOURCE_FACETS[role]


def belongs(role: str, view: RecordView) -> bool:
    """Whether *view* is an entry of the library *role*.

    The libraries of evidence and highlights leave out records that another agent's verification rejects. A highlight
    reports what worked or what was validated, or is a verified record. Records that speak against a claim are no
    highlights; failed ones are highlights only if they report something that worked.
    """
    kinds = {part.kind for part in view.projections}
    if not _reports_work(view.record) or not _ENTRY_KINDS[role] & kinds:
        return False
    if role in _TRUSTED_FIRST and view.rejected_by:
        return False
    return role != "highlight_library" or _is_highlight(view)


def entries(role: str, views: Sequence[RecordView]) -> list[RecordView]:
    """The entries of the library *role* among *views*, which are given oldest first.

    Newest first; evidence and highlights that are verified come before the others.
    """
    chosen = [view for view in reversed(views) if belongs(role, view)]
    if role not in _TRUSTED_FIRST:
        return chosen
    return sorted(chosen, key=lambda view: view.trust_tier != "verified_record")


def _is_highlight(view: RecordView) -> bool:
    """Whether an entry of the right kind is a highlight (see :func:`belongs`)."""
    record = view.record
    if record.supports_claim is False or (means_failure(record.status) and not record.what_worked):
        return False
    inherited = record.artifact_kind == "revision" and any(part.kind == "worked" for part in view.projections)
    return bool(record.what_worked or record.validation) or inherited or view.trust_tier == "verified_record"


# Composition: a digest depends only on its records, so the same records give the same digest.


def compose(name: DigestName, tenant_id: str, sources: Sequence[RecordView]) -> TaskRecord | None:
    """The digest *name* of *sources*, which are oldest first; None if it would be empty.

    Digests and records written by maintenance are no sources. The digest cites at most 50 sources; its time is that of
    the newest one.
    """
    work_records = [source for source in sources if _reports_work(source.record)]
    fields = _composed(name.role, work_records) if work_records else {}
    if not fields:
        return None
    updated_ms = max(source.record.created_us for source in work_records) // 1000
    cited = fields.pop("sources")
    return TaskRecord(
        artifact_id=name.artifact_id(tenant_id),
        artifact_kind="digest",
        artifact_role=name.role,
        task_id=name.scope if name.role == "task_resume" else EVERYTHING,
        tenant_id=tenant_id,
        project_id=name.project_id or _project(work_records, name.role),
        digest_key=name.digest_key,
        promotion_state="summarized",
        source_updated_at_ms=max(updated_ms, 0),
        timestamp_created=updated_ms,
        related_artifact_ids=tuple(sorted({source.artifact_id for source in cited})[:_MOST_CITED]),
        **fields,
    )


def _reports_work(record: TaskRecord) -> bool:
    """Whether *record* is neither a digest nor written by maintenance."""
    return record.artifact_kind != "digest" and record.artifact_role not in _MAINTENANCE


def _composed(role: str, sources: Sequence[RecordView]) -> dict[str, Any]:
    """The fields of a digest that depend on its sources; the key ``sources`` holds the records that it may cite."""
    if role == "task_resume":
        return _resume(sources)
    return _brief(sources) if role == "project_brief" else _library(role, sources)


def _resume(sources: Sequence[RecordView]) -> dict[str, Any]:
    """The account of a task (its state for the next agent); its latest runs become the outputs of the digest."""
    task_account = account(sources)
    head = (
        f"{_title(task_account, sources)}: {task_account.summary}"
        if task_account.summary
        else _title(task_account, sources)
    )
    lists = {name: list(getattr(task_account, name)) for name in (*_OWN_FIELDS, "validation")}
    lists["outputs"] = list(task_account.recent_runs)
    summary = "\n".join([head, *task_account.lines(_AS_TEXT)])
    return {"summary": summary, "sources": sources} | _non_empty(**lists)


def _brief(sources: Sequence[RecordView]) -> dict[str, Any]:
    """The accounts of the latest tasks of a project or tenant, at most 20, with shortened lists."""
    by_task: dict[str, list[RecordView]] = {}
    for source in sources:
        by_task.setdefault(source.record.task_id, []).append(source)
    newest = sorted(by_task.values(), key=lambda group: (-group[-1].record.created_us, group[-1].record.task_id))
    accounts = [account(group) for group in newest[:_MOST_ENTRIES]]
    lines = []
    for task_account, group in zip(accounts, newest, strict=False):
        lines += [
            f"{_title(task_account, group)}: {short_text(task_account.summary)}"
            if task_account.summary
            else _title(task_account, group)
        ]
        lines += [f"  {line}" for line in task_account.lines((*_AS_TEXT, "validation"), _MOST_SHOWN)]
    lists = {name: _distinct(getattr(task_account, name) for task_account in accounts) for name in _OWN_FIELDS}
    return {"summary": "\n".join(lines), "sources": sources} | _non_empty(**lists)


# Fields that accounts and digests have in common; and fields of accounts that appear only in the digest's text.
_OWN_FIELDS = ("blockers", "what_worked", "what_failed", "uncertainty", "followups")
_AS_TEXT = tuple(name for name in TITLES if name not in {*_OWN_FIELDS, "validation", "recent_runs"})
# A brief covers many tasks, so it shows only the last entries of each list of a task, at most this many.
_MOST_SHOWN = 5


def _title(task_account: Account, sources: Sequence[RecordView]) -> str:
    """The goal of a task (its id, if no goal is known) and its status."""
    return f"{task_account.goal or sources[0].record.task_id} [{task_account.status}]"


def _library(role: str, sources: Sequence[RecordView]) -> dict[str, Any]:
    """The first entries of a library, one line each."""
    chosen = entries(role, sources)[:_MOST_ENTRIES]
    if not chosen:
        return {}
    lines = [_line(source, _LINES[role]) for source in chosen]
    list_field = _LISTED.get(role)
    lists = {list_field: _distinct(getattr(source.record, list_field) for source in chosen)} if list_field else {}
    return {"summary": "\n".join(lines), "sources": chosen} | _non_empty(**lists)


# For each library, the kind of projection that a line of its digest shows. `_LISTED`: the field of its records that the
# digest repeats as a list.
_LINES = {
    "failure_library": "failed",
    "decision_library": "decision",
    "evidence_library": "evidence",
    "highlight_library": "worked",
}
_LISTED = {"failure_library": "what_failed", "highlight_library": "what_worked"}
# Libraries that leave out rejected records and list verified ones first.
_TRUSTED_FIRST = frozenset({"evidence_library", "highlight_library"})


def _line(source: RecordView, kind: str) -> str:
    """One entry as text, with its trust and the record's id."""
    parts = {part.kind: part.text for part in source.projections}
    text = parts.get(kind) or next(iter(parts.values()), "")
    mark = " [verified]" if source.trust_tier == "verified_record" else " [rejected]" if source.rejected_by else ""
    return f"- {short_text(text)}{mark} ({source.artifact_id})"


def _distinct(lists: Iterable[Sequence[str] | None]) -> list[str]:
    """All texts in order, without duplicates."""
    return list(dict.fromkeys(text for texts in lists for text in texts or ()))


def _project(sources: Sequence[RecordView], role: str) -> str | None:
    """The last project that the sources of a task's digest name; None for other digests, or if none names one."""
    project_ids = [source.record.project_id for source in sources if source.record.project_id is not None]
    return project_ids[-1] if role == "task_resume" and project_ids else None


def _non_empty(**values: list[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


_SOURCE_FACETS: Mapping[str, tuple[str, ...]] = {
    "task_resume": (),
    "project_brief": tuple(
        facet("projection", kind) for kind in ("task_goal", "task_summary", "run", "decision", "evidence", "validation")
    ),
    **{role: tuple(facet("projection", kind) for kind in sorted(kinds)) for role, kinds in _ENTRY_KINDS.items()},
}


# Search modes: each except ``generic`` ranks one digest and certain records higher (memd: Exact Filters).

# Relative bonus on the score of a preferred record.
_BONUS = 0.5


class Mode(NamedTuple):
    """A search mode: it prefers the digest of *role*, and records that have one of *facets*.

    A search without words finds only the digest and these records.
    """

    role: str | None
    facets: tuple[str, ...]

    @property
    def preferred(self) -> tuple[str, ...]:
        """The facets of everything that the mode prefers."""
        return self.facets if self.role is None else (facet("artifact_role", self.role), *self.facets)


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
