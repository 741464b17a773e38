"""What ``hmxgraph compile`` prints above and below its table."""

import pytest

from hmxgraph.cli.compiling import show_report
from hmxgraph.protocol.reports import CompileReport


@pytest.mark.parametrize("older", [True, False])
def test_sessions_that_no_longer_count_are_mentioned(capsys, older):
    """The number of sessions learned from is called a total only if there are no older ones."""
    show_report(CompileReport("acme", "p", None, 10_000, 1, 9, full=False, dry_run=False, older=older))
    printed = capsys.readouterr().out
    assert ("Learned from the latest 10,000 sessions; older ones no longer count." in printed) == older
    assert ("10000 in total" in printed) != older


@pytest.mark.parametrize("full", [True, False])
def test_only_an_incremental_run_calls_its_sessions_changed(capsys, full):
    """A full run reads all sessions, changed or not."""
    show_report(CompileReport("acme", "p", None, 2, 2, 9, full=full, dry_run=False))
    assert ("9 events of 2 changed sessions" in capsys.readouterr().out) != full
