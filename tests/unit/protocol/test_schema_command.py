"""``hmxgraph schema``, on a command line of its own."""

import json

import pytest
import typer
from typer.testing import CliRunner

from hmxgraph.cli.explore import schema as command
from hmxgraph.protocol.document import SCHEMA_NAMES, schema


@pytest.fixture
def run():
    """The command as a user calls it."""
    app = typer.Typer()
    app.command("schema")(command)
    return lambda *arguments: CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_lists_names(run):
    """Without a name, the names are listed with what they describe."""
    result = run()
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(SCHEMA_NAMES)


def test_prints_one(run):
    """With a name, the output is that schema."""
    assert json.loads(run("event").output) == schema("event")


def test_prints_json_for_scripts(run, capsys):
    """With --json, names and schemas are one line each."""
    assert json.loads(run("--json").output) == list(SCHEMA_NAMES)
    assert json.loads(run("artifact", "--json").output) == schema("artifact")
