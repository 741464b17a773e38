"""Which digests there are, how they are called, and which a record makes stale (memd: Summary-First Digests)."""

from collections.abc import Iterator
from typing import NamedTuple

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.identity import stable_id
from hmxgraph.protocol.records import DIGEST_ROLES, TaskRecord
from hmxgraph.tasks.projections import projections
from hmxgraph.tasks.verdicts import COUNTERSIGNING

# The task under which digests of a project, or of everything, stand: they belong to no single task.
EVERYTHING = "*"
# How the ids of the digests that the engine composes begin: no record from outside may have such a one.
OWN_DIGESTS = "digest:"
LIBRARIES = tuple(role for role in DIGEST_ROLES if role != "task_resume")
# Roles of records that maintenance leaves behind: they feed no digest and make none stale.
MAINTENANCE = frozenset({"dream_report", "maintenance"})
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
    if record.artifact_kind == "digest" or record.artifact_role in MAINTENANCE:
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
