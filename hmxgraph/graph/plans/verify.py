"""Recheck what is stored, page by page: every hash, chain, transition, link and counter. Mends nothing."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, TypeAlias

from hmxgraph.graph.plan import Plan, Procedure, Row, read
from hmxgraph.graph.rows.checks.artifacts import artifact_findings, conflict_findings, evidence_keys
from hmxgraph.graph.rows.checks.events import event_findings, session_findings, tenant_findings
from hmxgraph.graph.rows.checks.findings import Finding, VerifyReport
from hmxgraph.graph.rows.checks.memories import entity_findings, memory_findings, task_record_findings
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy

PAGE = 1_000
BEFORE_ALL = -(2**63)


class Page(NamedTuple):
    """Events in the order of time: how many, what was found, and where the next page begins (None: nowhere)."""

    records: int
    findings: tuple[Finding, ...]
    after: tuple[int, str] | None


Check: TypeAlias = Callable[[list[str]], Plan[tuple[Finding, ...]]]


def verify(tenancy: Tenancy) -> Procedure[VerifyReport]:
    """Everything that is not as it was recorded, over the whole tenant, in small read transactions.

    What others write meanwhile may be seen half done; verify again what was found while writers were busy.
    """
    found = list((yield from read(lambda: _tenant(tenancy))))
    checked: Counter[str] = Counter()
    after: tuple[int, str] | None = (BEFORE_ALL, "")
    while after is not None:
        page = yield from read(partial(_events, tenancy, after))
        checked["events"] += page.records
        found += page.findings
        after = page.after
    keys = yield from read(lambda: _keys(tenancy))
    for kind, check in _checks(tenancy).items():
        checked[kind] = len(keys[kind])
        for first in range(0, len(keys[kind]), PAGE):
            found += yield from read(partial(check, keys[kind][first : first + PAGE]))
    return VerifyReport(tenancy.tenant_id, checked, tuple(found))


def _checks(tenancy: Tenancy) -> dict[str, Check]:
    """How a page of records of each kind is checked."""
    return {
        "sessions": partial(_each, tenancy, "verify/sessions", session_findings),
        "entities": partial(_each, tenancy, "verify/entities", entity_findings),
        "memories": partial(_each, tenancy, "verify/memories", partial(memory_findings, tenancy)),
        "artifacts": partial(_artifacts, tenancy),
        "conflicts": partial(_each, tenancy, "verify/conflicts", conflict_findings),
        "task_records": partial(_each, tenancy, "verify/task_records", partial(task_record_findings, tenancy)),
    }


def _keys(tenancy: Tenancy) -> Plan[dict[str, list[str]]]:
    rows = yield bind("verify/keys", tenant_id=tenancy.tenant_id)
    keys: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        keys[row["kind"]].append(row["key"])
    return keys


def _tenant(tenancy: Tenancy) -> Plan[tuple[Finding, ...]]:
    rows = yield bind("verify/tenant", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)
    return tuple(finding for row in rows for finding in tenant_findings(tenancy.tenant_id, row))


def _each(
    tenancy: Tenancy, name: str, check: Callable[[Row], Iterable[Finding]], keys: list[str]
) -> Plan[tuple[Finding, ...]]:
    """A page of records that are checked one by one."""
    rows = yield bind(name, tenant_id=tenancy.tenant_id, keys=keys)
    return tuple(finding for row in rows for finding in check(row))


def _events(tenancy: Tenancy, after: tuple[int, str]) -> Plan[Page]:
    after_us, after_key = after
    rows = yield bind("verify/events", tenant_id=tenancy.tenant_id, after_us=after_us, after_key=after_key, limit=PAGE)
    found = tuple(finding for row in rows for finding in event_findings(row))
    return Page(len(rows), found, (rows[-1]["time_us"], rows[-1]["key"]) if len(rows) == PAGE else None)


def _artifacts(tenancy: Tenancy, keys: list[str]) -> Plan[tuple[Finding, ...]]:
    rows = yield bind("verify/artifacts", tenant_id=tenancy.tenant_id, keys=keys)
    named = [evidence_keys(tenancy, row["artifact"]) for row in rows]
    there = yield bind(
        "verify/present",
        tenant_id=tenancy.tenant_id,
        event_keys=sorted({key for events, _ in named for key in events}),
        memory_keys=sorted({key for _, memories in named for key in memories}),
    )
    present = {*there[0]["events"], *there[0]["memories"]}
    return tuple(finding for row in rows for finding in artifact_findings(tenancy, row, present))
