"""The examples in the README and the pages of docs/ run in order on the real server, and their links resolve."""

import gzip
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hmxgraph.cli import app
from hmxgraph.demo import events_file

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
DOCS = ROOT / "docs"
TASK_RECORDS = DOCS / "task-records.md"
PAGES = (README, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(DOCS.glob("*.md")))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ hmxgraph (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
GROUPS = {"artifact", "conflict", "fingerprint", "task", "record", "memory", "key", "server"}
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.fixture
def surroundings(address, tenant_id, tmp_path, monkeypatch):
    """An empty working folder and the environment variables a reader would set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HMXGRAPH_URI", address.uri)
    monkeypatch.setenv("HMXGRAPH_USER", address.user)
    monkeypatch.setenv("HMXGRAPH_PASSWORD", address.password)
    return {"__name__": "readme", "tenant": tenant_id}


@pytest.mark.parametrize("page", [README, DOCS / "quickstart.md", DOCS / "fingerprints.md"], ids=lambda page: page.stem)
def test_python_examples_run(page, surroundings):
    """Every Python block of a page runs in one go, as a reader would type them."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        exec(compile(block.replace('tenant_id="acme', 'tenant_id=tenant + "'), str(page), "exec"), surroundings)  # noqa: S102
    if "pack" in surroundings:
        assert surroundings["pack"].text


def test_task_records_run(graph):
    """The examples on the page about task records give the values shown in the comments after them."""
    block = "\n".join(BLOCK.findall(TASK_RECORDS.read_text(encoding="utf-8")))
    examples = re.findall(r"^(.*?)  # (.*)$", block, re.MULTILINE)
    names = {"graph": graph}
    exec(compile(block, str(TASK_RECORDS), "exec"), names)  # noqa: S102
    assert examples
    for line, value in examples:
        assert repr(eval(line, names)) == value  # noqa: S307


def test_task_record_commands_run(surroundings, monkeypatch):
    """Every command on the page about task records works, and resume prints what the page shows."""
    text = TASK_RECORDS.read_text(encoding="utf-8")
    monkeypatch.setenv("HMXGRAPH_TENANT", surroundings["tenant"])
    outputs = {}
    for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
        program, *words = shlex.split(line)
        if program == "export":
            monkeypatch.setenv(*words[0].split("=", 1))
            continue
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, f"{line}: {done.output}"
        outputs[" ".join(words[:2])] = done.stdout
    shown = text.partition("$ hmxgraph task resume leak\n")[2].partition("```")[0].splitlines()
    assert [line for line in outputs["task resume"].splitlines() if "held by" not in line] == [
        line for line in shown if "held by" not in line
    ]


def test_commands_run(surroundings, tmp_path):
    """Every command on the command-line page runs, in order, on a file of events."""
    own = surroundings["tenant"]
    tenants = {"retail": own, "wholesale": f"{own}-2", "retail-2": f"{own}-restored"}
    events = (
        Path(events_file())
        .read_text(encoding="utf-8")
        .replace('"tenant_id":"demo"', f'"tenant_id":"{tenants["retail"]}"')
    )
    (tmp_path / "runs.ndjson.gz").write_bytes(gzip.compress(events.encode()))
    commands = COMMAND.findall((DOCS / "command-line.md").read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        words = [tenants.get(word, word) for word in shlex.split(command)]
        done = CliRunner().invoke(app, words)
        assert (done.exit_code, done.stdout.strip() != "") == (0, True), f"{command}\n{done.output}\n{done.exception}"
    assert {path.name for path in tmp_path.iterdir()} >= {"pack.html", "learned.json", "look"}


def test_the_demo_prints_what_is_shown(surroundings):
    """The lines the README shows for ``make demo`` are in its output, in order; "..." marks omissions."""
    shown = TEXT.partition("$ make demo\n")[2].partition("$ make test\n")[0].splitlines()
    printed = CliRunner().invoke(app, ["demo", "--tenant", surroundings["tenant"]]).stdout.splitlines()
    lines = iter([line.split() for line in printed])
    assert len(shown) > 5
    for line in shown:
        assert "..." in line or line.split() in lines, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    """Files and headings that a page links to exist."""
    text = page.read_text(encoding="utf-8")
    headings = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in HEADING.findall(text)}
    for link in LINK.findall(text):
        if link.startswith("#"):
            assert link[1:] in headings
        elif "://" not in link:
            assert (page.parent / link.partition("#")[0]).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_exist(page):
    """Every command and subcommand that a page shows exists."""
    for command in COMMAND.findall(page.read_text(encoding="utf-8")):
        words = [word for word in shlex.split(command, comments=True)[:2] if re.fullmatch(r"[a-z-]+", word)]
        done = CliRunner().invoke(app, [*words[: 2 if words[0] in GROUPS else 1], "--help"])
        assert done.exit_code == 0, command


def test_the_readme_is_short():
    """The README has at most 150 lines."""
    assert len(TEXT.splitlines()) <= 150


def test_every_page_is_listed():
    """The index lists every page of docs/."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= set(index.split())
