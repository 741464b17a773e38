"""The program itself: its version, readers that leave early, and Ctrl-C."""

import gc
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import hmxgraph
from hmxgraph.cli import app, as_commands
from hmxgraph.cli._commands import load_command
from hmxgraph.cli._extras import need
from hmxgraph.cli._signals import PIPE_CLOSED
from hmxgraph.errors import DeadlineExceeded, SuccessorNeeded, TaskError
from hmxgraph.protocol.packs import SECTION_PRIORITY, STRATEGIES
from hmxgraph.protocol.records import ARTIFACT_KINDS, FILTERS, MODES


@pytest.mark.parametrize("words", [("query",), ("query", "--json"), ("schema", "fingerprint"), ("--help",)])
def test_a_reader_that_has_enough_is_no_error(words):
    """If a reader such as ``head`` closes the pipe, the program ends silently with the usual code."""
    command = [sys.executable, "-m", "hmxgraph", *words]
    source, sink = os.pipe()
    with subprocess.Popen(command, stdout=sink, stderr=subprocess.PIPE, text=True) as running:
        os.close(sink)
        os.close(source)
        said = running.communicate()[1]
    assert (running.returncode, said) == (PIPE_CLOSED, "")


@pytest.mark.parametrize("words", [("query",), ("query", "--json"), ("--version",), ("server", "status")])
def test_a_full_disk_behind_the_output_is_one_line(words, tmp_path):
    """If the output cannot be written, the program says so in one line and fails."""
    command = [sys.executable, "-m", "hmxgraph", *words]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=home(tmp_path))
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    assert "cannot write the output: No space left on device" in run.stderr


@pytest.mark.parametrize("words", [("--version",), ("server", "status"), ("server", "status", "--json"), ("query",)])
def test_closed_streams(words, tmp_path):
    """A parent process may close all standard streams."""
    command = [sys.executable, "-m", "hmxgraph", *words]
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command]
    assert subprocess.run(closed, check=False, env=home(tmp_path)).returncode == 0


def home(folder):
    """The environment of a command with a data home of its own."""
    return os.environ | {"HMXGRAPH_HOME": str(folder)}


@pytest.mark.parametrize(
    "error",
    [
        TaskError("run_finish", "2 runs are open", "name it (run_id=...)"),
        TaskError("run_finish", "no run is open", "start one first (run_start)"),
        SuccessorNeeded("a"),
        DeadlineExceeded("bolt://localhost", "no answer", "not stored"),
    ],
)
def test_errors_name_what_can_be_typed(error):
    """Errors on the command line suggest commands and options, not Python calls."""
    assert str(error) != as_commands(str(error))
    assert not re.search(r"\w+=|\w\(\)|run_start", as_commands(str(error)))


@pytest.fixture
def interruptible():
    """Programs respond to SIGINT even if tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_at(module):
    """The exit code and last output if SIGINT arrives when *module* has been imported."""
    command = [sys.executable, "-X", "importtime", "-m", "hmxgraph", "health"]
    nowhere = os.environ | {"HMXGRAPH_URI": "bolt://127.0.0.1:1", "HMXGRAPH_PASSWORD": "x"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=nowhere) as running:
        next(line for line in running.stderr if line.rstrip().endswith(f" {module}"))
        running.send_signal(signal.SIGINT)
        last_words = running.stderr.read()
    return running.returncode, [line for line in last_words.splitlines() if not line.startswith("import time:")]


@pytest.mark.parametrize("module", ["hmxgraph.errors", "typer", "hmxgraph.compiler.compilation"])
def test_an_interrupt_while_modules_are_imported_is_one_line(interruptible, module):
    """An interrupt during imports prints one line instead of a traceback, and exits with the code for SIGINT."""
    assert interrupted_at(module) == (130, ["interrupted"])


def test_garbage_is_collected_once_a_command_is_imported():
    """The program pauses the collector while modules are imported, and only then."""
    gc.disable()
    try:
        load_command("pack")
        assert gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (("pack",), (*STRATEGIES, *SECTION_PRIORITY)),
        (("record", "search"), (*MODES, *FILTERS)),
        (("record", "create"), ARTIFACT_KINDS),
    ],
)
def test_the_help_names_every_choice(words, choices):
    """The help of an option with fixed choices lists all of them."""
    help_text = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "400"}).stdout
    assert [choice for choice in choices if choice not in help_text] == []


@pytest.mark.parametrize(("words", "offered"), [((), True), (("artifact",), False), (("pack",), False)])
def test_only_the_root_offers_completion(words, offered):
    """Shell completion is installed once for the whole program, so no command group lists its options."""
    listed = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "400"}).stdout
    assert ("--install-completion" in listed) is offered


def test_the_version_is_printed():
    """The version of the running hmxgraph."""
    command = [sys.executable, "-m", "hmxgraph", "--version"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == hmxgraph.__version__


def test_nobody_at_a_routing_address_is_one_line():
    """The one-line error contains what the driver logs while it looks for a cluster."""
    environment = os.environ | {"HMXGRAPH_URI": "neo4j://127.0.0.1:1", "HMXGRAPH_PASSWORD": "x"}
    done = subprocess.run(
        [sys.executable, "-m", "hmxgraph", "health"], check=False, capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: Neo4j at neo4j://127.0.0.1:1 does not answer")
    assert len(done.stderr.splitlines()) == 1


def test_the_program_imports_no_extra():
    """Only the commands of the server and MCP import their extras, not the version or the help."""
    heavy = {"starlette", "uvicorn", "mcp", "prometheus_client", "pydantic", "neo4j"}
    for words in (["--version"], ["--help"]):
        program = (
            "import sys\n"
            "from hmxgraph.__main__ import main\n"
            f"sys.argv = ['hmxgraph', *{words!r}]\n"
            "try:\n    main()\nexcept SystemExit:\n    pass\n"
            f"print({heavy!r} & set(sys.modules), file=sys.stderr)\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "set()"


def test_a_missing_extra_is_named():
    """A command whose extra is not installed says what to install."""
    with pytest.raises(typer.BadParameter, match=r"not installed: nowhere_to_be_had; pip install 'hmxgraph\[server\]'"):
        need("server", "json", "nowhere_to_be_had")


@pytest.mark.parametrize(("answer", "code", "said"), [("n\n", 1, "Replace everything"), ("", 2, "nothing was done")])
def test_a_dump_replaces_nothing_without_a_yes(monkeypatch, tmp_path, answer, code, said):
    """Restoring a dump needs a confirmation; without an answer, the error says how to skip the question."""
    monkeypatch.delenv("HMXGRAPH_URI", raising=False)
    monkeypatch.setattr("hmxgraph.engine.load", lambda *_, **__: pytest.fail("the store was replaced"))
    done = CliRunner().invoke(app, ["restore", str(tmp_path / "all.dump")], input=answer)
    assert (done.exit_code, said in done.output) == (code, True)
