"""The commands ``server`` and ``browser``."""

import json

import pytest
import typer
from typer.testing import CliRunner

from hmxgraph import engine
from hmxgraph.cli import browser, server

app = typer.Typer()
app.add_typer(server.app, name="server")
app.command("browser")(browser.browser)


@pytest.fixture
def run(home, pretended_neo4j, monkeypatch):
    """Run a command on the home and return its output."""
    monkeypatch.setenv("HMXGRAPH_HOME", str(home))
    monkeypatch.delenv("HMXGRAPH_URI", raising=False)

    def command(*words: str) -> str:
        result = CliRunner().invoke(app, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return command


def test_server_is_started_and_stopped(run):
    """start, status and stop print the same server as JSON."""
    assert json.loads(run("server", "status", "--json"))["state"] == "stopped"
    started = json.loads(run("server", "start", "--json"))
    assert started["state"] == "running"
    assert json.loads(run("server", "status", "--json"))["server"] == started["server"]
    assert json.loads(run("server", "stop", "--json")) == {"stopped": True}
    assert "no local server" in run("server", "stop")


def test_only_browser_prints_the_password(run, home):
    """Only the command for it prints the password."""
    password = engine.ensure(home).password
    for words in (("status",), ("status", "--json"), ("start",), ("logs",)):
        assert password not in run("server", *words)
    assert password in run("browser", "--no-open")
    assert json.loads(run("browser", "--json"))["password"] == password


def test_last_lines_of_the_log(run, home):
    """The command logs prints the requested number of last lines, with markup unchanged."""
    engine.ensure(home)
    (home / "logs" / "console.log").write_text("one\n[bold]two\nthree\n")
    assert run("server", "logs", "--lines", "2") == "[bold]two\nthree\n"
    assert json.loads(run("server", "logs", "--json"))["lines"] == ["one", "[bold]two", "three"]


def test_browser_is_found_where_it_answers(run, home):
    """The Browser of another server is printed only if it answers."""
    server = engine.ensure(home)
    port = int(server.http_uri.rpartition(":")[2])
    assert browser.find_browser("127.0.0.1", port) == server.browser_uri
    engine.stop(home)
    assert browser.find_browser("127.0.0.1", port) is None


def test_browser_of_a_remote_server(run, home):
    """For the user's own server, only known values are printed, and nothing is started."""
    remote = ("--uri", "bolt://localhost.invalid:7687", "--user", "me")
    access = json.loads(run("browser", "--json", *remote))
    assert access == {
        "browser_uri": None,
        "uri": "bolt://localhost.invalid:7687",
        "user": "me",
        "password": None,
        "saved": None,
    }
    assert "HMXGRAPH_PASSWORD" in run("browser", *remote)
    assert not home.exists()
