"""SIGINT and SIGTERM in the middle of a command: it ends at once and tidily, and its repetition completes the work."""

import json
import signal
import subprocess
import sys
from time import monotonic, sleep

import pytest

from hmxgraph.graph.connection import Connection
from tests.integration.fault_operations import held, opened, talk
from tests.integration.serving import environment

pytestmark = pytest.mark.slow

COMMANDS = {
    "ingest": ["ingest", "talk.ndjson", "--rehome", "--batch", "10"],
    "remember": ["remember", "The release manager is Ana"],
    "compile": ["compile"],
}
# Seconds that an interrupted command may take to end on a busy machine.
PATIENCE = 10


@pytest.fixture
def run(address, tmp_path):
    """Runs a command and may send a signal after some seconds; returns exit code, errors and seconds until the end."""
    (tmp_path / "talk.ndjson").write_text("\n".join(map(json.dumps, talk("any", sessions=6))), "utf-8")
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}

    def run(tenant_id, name, number=None, after=0.0):
        command = [sys.executable, "-m", "hmxgraph", *COMMANDS[name], "--tenant", tenant_id]
        # A test run in the background ignores SIGINT, and a process inherits that.
        listening = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
        with subprocess.Popen(command, cwd=tmp_path, env=environment(address), **streams, **listening) as process:
            if number is not None:
                sleep(after)
                process.send_signal(number)
            began = monotonic()
            _, errors = process.communicate(timeout=120)
        return process.returncode, errors, monotonic() - began

    return run


def knowledge(connection, graph, name):
    """What the command leaves behind; a statement that is remembered again is only observed once more."""
    if name != "remember":
        return held(connection, graph)
    return graph.verify().findings, [(memory.text, memory.status) for memory in graph.memories(status=None)[0]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_ended_and_repeated(address, tenant_id, run, name, number):
    """It ends within seconds, with one line or the signal's code, and its repetition leaves what one run leaves."""
    twin_id = f"{tenant_id}-twin"
    if name == "compile":
        assert [run(tenant, "ingest")[0] for tenant in (tenant_id, twin_id)] == [0, 0]
    run(twin_id, name)
    code, errors, seconds = run(twin_id, name)  # the first run waits for the planner
    assert (code, errors) == (0, "")
    codes = set()
    for part in (0.2, 0.6, 0.8, 0.9):
        code, errors, took = run(tenant_id, name, number, part * seconds)
        codes.add(code)
        assert took < PATIENCE
        assert "Traceback" not in errors
        assert errors.startswith("interrupted") == (code == 130), errors
    assert codes - {0} == {130 if number == signal.SIGINT else -signal.SIGTERM}
    assert run(tenant_id, name)[0] == 0
    connection = Connection(address)
    with opened(address, tenant_id) as graph, opened(address, twin_id) as twin:
        assert knowledge(connection, graph, name) == knowledge(connection, twin, name)
    connection.close()
