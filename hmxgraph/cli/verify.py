"""``hmxgraph verify``: recheck everything that is stored."""

import typer
from rich.table import Table
from rich.text import Text

from hmxgraph.cli.terminal.common import AsJson, Tenant, emit, opened, out
from hmxgraph.graph.rows.checks.findings import VerifyReport

_DERIVED = (
    "derived: stored by another release of hmxgraph, or changed by hand; packs and queries go by what is stored. "
    "To have it derived anew, feed the same source into a new data home (HMXGRAPH_HOME) or database."
)


def verify(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Recheck every hash, chain, transition, link and counter; lists what is wrong, mends nothing, exits 1 if any."""
    with opened(tenant) as graph:
        report = graph.verify()
    emit(report.document(), as_json, lambda: _show(report))
    if not report.ok:
        raise typer.Exit(1)


def _show(report: VerifyReport) -> None:
    looked = ", ".join(f"{count} {kind}" for kind, count in report.checked.items())
    out.print(f"checked {looked}", highlight=False)
    if report.findings:
        out.print(_table(report))
    verdict = "nothing is wrong" if report.ok else f"{len(report.wrong)} wrong"
    out.print(verdict + (f", {len(report.missing)} missing" if report.missing else ""), highlight=False)
    if any(finding.check == "derived" for finding in report.wrong):
        out.print(_DERIVED, highlight=False)


def _table(report: VerifyReport) -> Table:
    table = Table("level", "kind", "id", "check", "found", "expected")
    for one in report.findings:
        level = Text(one.level, style="red" if one.level == "wrong" else "yellow")
        table.add_row(level, one.kind, Text(one.record_id), one.check, Text(one.found), Text(one.expected))
    return table
