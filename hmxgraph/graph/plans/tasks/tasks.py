"""Tasks as a whole: one with its runs and records, and what the next agent needs to go on with it."""

from hmxgraph.errors import NotFound
from hmxgraph.graph.plan import Plan, Procedure, read
from hmxgraph.graph.plans.tasks.digests import as_sources, digest, sources
from hmxgraph.graph.plans.tasks.records import LONGEST_THREAD, views
from hmxgraph.graph.rows.tasks.records import task_key
from hmxgraph.graph.rows.tasks.results import TaskView
from hmxgraph.graph.rows.tasks.resumes import Resume, resume_of, task_view
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.identity import indexable
from hmxgraph.tasks.digest_names import DigestName
from hmxgraph.tasks.digests import resumed
from hmxgraph.text.asked import checked_text


def task(tenancy: Tenancy, task_id: str) -> Procedure[TaskView]:
    """The task with its runs and all its records, oldest first.

    Raises:
        NotFound: there is no such task.
        InvalidRequest: an id that is no text.

    """
    checked_text("task_id", task_id)
    return (yield from read(lambda: _task(tenancy, task_id)))


def resume(tenancy: Tenancy, task_id: str) -> Procedure[Resume]:
    """What the next agent needs: summary, blockers, worked, failed, validation, follow-ups, runs, sources.

    The task's digest is refreshed on the way, if something happened since.

    Raises:
        NotFound: there is no such task.

    """
    name = DigestName("task_resume", checked_text("task_id", task_id))
    yield from read(lambda: _exists(tenancy, task_id))
    view = yield from digest(tenancy, name)
    found = yield from read(lambda: sources(tenancy, name))
    return resume_of(task_id, view, resumed(as_sources(found)), found)


def _task(tenancy: Tenancy, task_id: str) -> Plan[TaskView]:
    rows = yield bind("tasks/get", tenant_id=tenancy.tenant_id, task_key=task_key(tenancy, task_id))
    if not rows or rows[0]["task"].get("status") is None:
        raise NotFound("task", task_id, tenancy.tenant_id)
    keys = yield bind(
        "tasks/of_task",
        tenant_id=tenancy.tenant_id,
        task_id=indexable(task_id),
        include_hidden=True,
        limit=LONGEST_THREAD,
    )
    return task_view(rows[0], (yield from views(tenancy, [row["key"] for row in keys])))


def _exists(tenancy: Tenancy, task_id: str) -> Plan[None]:
    rows = yield bind("tasks/get", tenant_id=tenancy.tenant_id, task_key=task_key(tenancy, task_id))
    if not rows or rows[0]["task"].get("status") is None:
        raise NotFound("task", task_id, tenancy.tenant_id)
