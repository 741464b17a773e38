"""What the README and the page on task records show runs, in order, on the real server; what they point to is there."""

import gzip
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hmxgraph.cli import app
from hmxgraph.demo import events_file

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
TASK_RECORDS = README.parent / "docs" / "task-records.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ hmxgraph (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.fixture
def surroundings(address, tenant_id, tmp_path, monkeypatch):
    """An empty folder and the environment variables that a reader would set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HMXGRAPH_URI", address.uri)
    monkeypatch.setenv("HMXGRAPH_USER", address.user)
    monkeypatch.setenv("HMXGRAPH_PASSWORD", address.password)
    return {"__name__": "readme", "tenant": tenant_id}


def test_python_examples_run(surroundings):
    """Every Python block of the README runs in one go, as a reader would type them."""
    blocks = BLOCK.findall(TEXT)
    assert blocks
    for block in blocks:
        exec(compile(block.replace('tenant_id="acme', 'tenant_id=tenant + "'), str(README), "exec"), surroundings)  # noqa: S102
    assert surroundings["pack"].text


def test_task_records_run(graph):
    """The page on task records tells what its example gives, in the comments behind the lines."""
    (block,) = BLOCK.findall(TASK_RECORDS.read_text(encoding="utf-8"))
    told = re.findall(r"^(.*?)  # (.*)$", block, re.MULTILINE)
    names = {"graph": graph}
    exec(compile(block, str(TASK_RECORDS), "exec"), names)  # noqa: S102
    assert told
    for line, value in told:
        assert repr(eval(line, names)) == value  # noqa: S307


def test_commands_run(surroundings, tmp_path):
    """Every command of the README runs, in its order, on a file of events."""
    (tmp_path / "runs.ndjson.gz").write_bytes(gzip.compress(Path(events_file()).read_bytes()))
    tenants = {"retail": surroundings["tenant"], "wholesale": f"{surroundings['tenant']}-2"}
    commands = COMMAND.findall(TEXT)
    assert commands
    for command in commands:
        words = [tenants.get(word, word) for word in shlex.split(command)]
        done = CliRunner().invoke(app, words)
        assert (done.exit_code, done.stdout.strip() != "") == (0, True), f"{command}\n{done.output}\n{done.exception}"
    assert {path.name for path in tmp_path.iterdir()} >= {"pack.html", "learned.json", "look"}


def test_the_demo_prints_what_is_shown(surroundings):
    """What the README shows of ``make demo`` stands in its output, in this order; dots leave something out."""
    shown = TEXT.partition("$ make demo\n")[2].partition("$ make test\n")[0].splitlines()
    printed = CliRunner().invoke(app, ["demo", "--tenant", surroundings["tenant"]]).stdout.splitlines()
    lines = iter([line.split() for line in printed])
    assert len(shown) > 10
    for line in shown:
        assert "..." in line or line.split() in lines, line


def test_links_lead_somewhere():
    """Files that the README names are there, and so are the headings it points to."""
    headings = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in HEADING.findall(TEXT)}
    for link in LINK.findall(TEXT):
        if link.startswith("#"):
            assert link[1:] in headings
        elif "://" not in link:
            assert (README.parent / link).exists(), link
