"""Text of users and agents is printed unchanged: brackets are not markup, and words between colons not emoji."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hmxgraph.cli import compiling, ingest, server, task
from hmxgraph.cli._terminal import emit, err, out
from hmxgraph.engine.server import Status
from hmxgraph.errors import Fault
from hmxgraph.protocol.record_results import TaskView
from hmxgraph.protocol.reports import ConflictingEvent, IngestReport, Rejection
from hmxgraph.protocol.suggestions import SuggestedTool, Suggestion
from tests.recall_makers import event, packed

# A closing tag of nothing open breaks markup off, an opening one is swallowed, :bug: is drawn.
TEXT = "a[/1] [b] :bug: c"
REPORT = IngestReport(
    TEXT,
    rejected=(Rejection("bytes", 1, TEXT, (Fault("$.x", "HMX-E 2", TEXT, "a string"),)),),
    warnings=(TEXT,),
    conflicting=(ConflictingEvent("bytes", 2, TEXT, "1", "2"),),
)
SUGGESTION = Suggestion((SuggestedTool(TEXT, 0.5, (TEXT,)),), title=TEXT)
TASK = TaskView("t1", "open", {}, ({"run_id": "r1", "status": "open", "command": TEXT},), ())


def _in_a_table(text):
    table = Table("heading")
    table.add_row(text)
    return table


@pytest.mark.parametrize(
    ("show", "times"),
    [
        (lambda: out.print(ingest._event_table(REPORT)), 5),
        (lambda: compiling._show_suggestion(SUGGESTION, {TEXT: TEXT}), 4),
        (lambda: task._show(TASK), 1),
        (lambda: out.print(server._table(Status("stopped", Path(TEXT)))), 1),
        (lambda: out.print(TEXT), 1),
    ],
    ids=["ingest", "suggest", "task", "server", "line"],
)
def test_text_is_printed_as_it_stands(monkeypatch, show, times):
    """Nothing is swallowed, drawn or refused."""
    monkeypatch.setattr(out, "width", 400)
    with out.capture() as printed:
        show()
    assert printed.get().count(TEXT) == times


@pytest.mark.parametrize("shown", [str, Text, Panel, _in_a_table], ids=["line", "text", "panel", "table"])
@pytest.mark.parametrize("console", [out, err], ids=["out", "err"])
def test_nothing_that_was_written_commands_the_terminal(console, shown):
    """Control sequences in text are shown, not executed; those of the console itself are executed."""
    hostile = "a\x1b[31mred \x1b]0;title\x07 \x9b2J\x7f\r b"
    with console.capture() as printed:
        console.print(shown(hostile))
    text = printed.get()
    assert not {"\x1b", "\x07", "\x9b", "\x7f", "\r"} & set(text)
    assert all(mark in text for mark in ("\u241b[31mred", "\u241b]0;title", "2J\u2421"))


def test_json_commands_no_terminal(capsys):
    """Every control character is written as an escape, and is read back unchanged."""
    text = "".join(map(chr, range(0xA0)))
    emit({"text": text}, as_json=True, show=lambda: None)
    printed = capsys.readouterr().out
    assert printed.rstrip("\n").isprintable()
    assert json.loads(printed) == {"text": text}


def test_messages_are_printed_as_they_stand():
    """Text on standard error is printed unchanged as well."""
    with err.capture() as printed:
        err.print(TEXT)
    assert TEXT in printed.get()


def test_the_table_of_a_pack_is_for_any_console():
    """A console with markup and emoji enabled, like those of users, shows the text of entries."""
    shown = io.StringIO()
    Console(file=shown, width=200).print(packed([event(1, f"deploy {TEXT}")], query=f"deploy {TEXT}").table())
    assert shown.getvalue().count(TEXT) == 2
