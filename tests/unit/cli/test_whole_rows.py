"""Ids can be copied from every table, at least their first characters, and in a pipe rows can be found with grep."""

import io
import re
import uuid

import pytest
from rich.table import Table
from rich.text import Text

from hmxgraph.api.exploring import QueryResult
from hmxgraph.cli import _fingerprint_tables, artifact, explore
from hmxgraph.cli._console import PipeConsole, UnbrokenTables, out
from tests.artifact_makers import policy
from tests.recall_makers import event, packed

ANSI = re.compile("\x1b\\[[0-9;]*m")
ID = str(uuid.UUID(int=7))
SHORT_ID = ID[:8]
TITLE = "Recover when kubectl apply fails: namespaces staging not found: cannot create the deployment"


@pytest.fixture
def shown():
    """The output of a table on a terminal of that width, or in a pipe."""

    def shown(table, width=None):
        printed = io.StringIO()
        console = PipeConsole(file=printed, width=width, force_terminal=width is not None, markup=False)
        console.push_render_hook(UnbrokenTables(console))
        console.print(table)
        return printed.getvalue()

    return shown


def _tables():
    answer = QueryResult(
        "explore/x", ("type", "title", "artifact_id"), ({"type": "t", "title": TITLE, "artifact_id": ID},)
    )
    return [artifact._table([policy(ID, "Wait", title=TITLE)]), answer.table()]


@pytest.mark.parametrize(
    ("table", "name"), list(zip(_tables(), [SHORT_ID, ID], strict=True)), ids=["artifacts", "query"]
)
@pytest.mark.parametrize("width", [60, 80, 100, 200, None])
def test_an_id_stands_whole(shown, table, name, width):
    """Ids are never broken if the width can hold them, nor in a pipe; generated ids have eight characters."""
    assert name in shown(table, width)


def test_in_a_pipe_a_row_is_a_line(shown):
    """In a pipe a row is one line, however long, and whatever COLUMNS says."""
    (line,) = [line for line in shown(_tables()[0]).splitlines() if SHORT_ID in line]
    assert TITLE in line


def test_in_a_pipe_no_row_is_longer_than_what_it_says(shown):
    """A long cell lengthens its own row alone, lines of a cell stand in one row, and there is no frame to cut off."""
    table = Table("id", "title", "seen", title="what there is")
    table.columns[2].justify = "right"
    table.add_row("1", "one two", "12")
    table.add_row("2", "t" * 300, "3")
    table.add_row("3", "one\ntwo", "4")
    heading, names, first, second, third = shown(table).splitlines()
    assert (heading, names.split()) == ("what there is", ["id", "title", "seen"])
    assert (first.split("  ")[0], len(first)) == ("1", len("1   ") + 32 + len("    12"))
    assert second == f"2   {'t' * 300}     3"
    assert third.split() == ["3", "one", "/", "two", "4"]


def test_a_narrow_terminal_gets_each_row_as_a_list(shown):
    """If words would be broken in columns, each row becomes a list of names and values; nothing is lost."""
    table = Table("id", "title", "kept", "tenant", title="what there is")
    table.add_row(Text(ID), "one two", "", "t" * 40)
    lines = [" ".join(line.split()) for line in ANSI.sub("", shown(table, 80)).splitlines()]
    assert lines[:4] == ["what there is", f"id {ID}", "title one two", f"tenant {'t' * 40}"]


def test_the_command_line_prints_so(monkeypatch):
    """All commands print to such a console."""
    monkeypatch.setenv("COLUMNS", "80")
    with out.capture() as printed:
        out.print(_tables()[0])
    assert any(SHORT_ID in line and TITLE in line for line in printed.get().splitlines())


def test_csv_has_the_values_of_the_table(capsys):
    """Nodes by their names, relationships by their types, lists and maps without Python's spelling."""
    row = {
        "entity": {"labels": ["Entity"], "key": "k", "name": "kubectl"},
        "relation": {"type": "RELATES_TO", "relation_type": "raises"},
        "tags": ["a", "b"],
        "counts": {"seen": 2},
        "nothing": None,
    }
    explore._write_csv(QueryResult("explore/x", tuple(row), (row,)))
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["entity,relation,tags,counts,nothing", 'Entity: kubectl,raises,"a, b","{""seen"":2}",']


@pytest.mark.parametrize("width", [70, 80, 200, None])
def test_keys_and_hashes_of_a_fingerprint_stand_whole(shown, width):
    """Keys and hashes are printed whole, even next to a name that leaves no room for them."""
    table = _fingerprint_tables._name_value_table(
        {"tier": "compact", "fingerprint_hash": "f" * 64, "public key": "k" * 64}
    )
    printed = ANSI.sub("", shown(table, width))
    assert all(word in printed for word in ("tier", "compact", "fingerprint_hash", "f" * 64, "public key", "k" * 64))


@pytest.mark.parametrize("width", [60, 80, 120, None])
def test_what_was_left_out_of_a_pack_can_be_asked_about(shown, width):
    """The ids of dropped entries are printed whole; in a pipe, lines have no padding."""
    events = [event(number, f"deploy service {number}") for number in range(9)]
    ids = [str(uuid.UUID(int=number)) for number in range(9)]
    named = [((name, *row[1:]), text) for name, (row, text) in zip(ids, events, strict=True)]
    pack = packed(named, query="deploy", budget=30)
    printed = ANSI.sub("", shown(pack.table(), width))
    left_out = printed.split("left out")[1]
    assert pack.dropped_entries
    assert [drop.source_id for drop in pack.dropped_entries[:15] if drop.source_id not in left_out] == []
    assert max(map(len, printed.splitlines())) <= (width or 200)
