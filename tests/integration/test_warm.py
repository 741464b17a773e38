"""Hooks and commands that a running server answers, so that they need not connect themselves."""

import json
import os
import signal
import subprocess
import sys

import pytest

from hmxgraph.adapters import warm
from tests.integration.serving import environment, server_process


@pytest.fixture
def settings(address, tmp_path, monkeypatch):
    """The environment of programs on the database at *address* with a data home of their own."""
    monkeypatch.setenv("HMXGRAPH_HOME", str(tmp_path / "home"))
    for name, value in environment(address).items():
        monkeypatch.setenv(name, value)
    return environment(address)


def program(settings, *arguments, given=""):
    """Exit code, standard output and standard error of one run of the program."""
    command = [sys.executable, "-m", "hmxgraph", *arguments]
    ran = subprocess.run(
        command, env=settings, input=given, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr


def commands(graph):
    """Commands that read, right and wrong ones, with accents and brackets in what they print."""
    tenant = ("--tenant", graph.tenant_id)
    return [
        ("pack", "push the branch", *tenant),
        ("pack", "push the branch", "--budget", "2", *tenant),
        ("pack", "push the branch", "--as-of", "3", *tenant),
        ("explain", "nobody", *tenant),
    ]


def test_a_server_answers_commands_as_they_answer_themselves(address, settings, tmp_path, graph):
    """The same output, errors and exit codes, by the process of the server; without one, by their own."""
    graph.remember("Never push on a Friday: the Zürich [blue] cluster is frozen", kind="policy", hard=True)
    alone = [program(settings, *command) for command in commands(graph)]
    assert "Zürich [blue]" in alone[0][1]
    assert {code for code, _, _ in alone} == {0, 1, 2}
    with server_process(address, tmp_path):
        answers = [warm.asked({"command": list(command)}) for command in commands(graph)]
        served = [program(settings, *command) for command in commands(graph)]
    assert [(each["code"], each["out"], each["err"]) for each in answers] == served == alone
    assert warm.asked({"command": ["health"]}) is None
    assert not warm.state_file().exists()


@pytest.mark.slow
def test_a_server_answers_hooks_of_every_tenant(address, settings, tmp_path, graph):
    """Each from its own memory; another process for the same data home leaves the answering to the first."""
    graph.remember("Never push on a Friday", kind="policy", hard=True)
    prompt = json.dumps({"session_id": "s", "prompt": "Push the branch"})
    hook = ("hook", "UserPromptSubmit", "--within", "60", "--tenant")
    with server_process(address, tmp_path) as first, server_process(address, tmp_path):
        code, text, errors = program(settings, *hook, graph.tenant_id, given=prompt)
        assert (code, "Never push on a Friday" in text, errors) == (0, True, "")
        assert program(settings, *hook, f"{graph.tenant_id}-other", given=prompt) == (0, "", "")
        assert json.loads(warm.state_file().read_bytes())["pid"] == first.process.pid


@pytest.mark.slow
def test_a_killed_server_is_not_waited_for(address, settings, tmp_path, graph):
    """A command then runs by itself, and a hook starts a process for the next one."""
    with server_process(address, tmp_path) as served:
        served.stop(signal.SIGKILL)
        assert warm.state_file().exists()
        code, text, _ = program(settings, "health", "--tenant", graph.tenant_id, "--json")
        assert (code, json.loads(text)["tenant_id"]) == (0, graph.tenant_id)


@pytest.mark.slow
def test_a_foreign_key_is_refused(address, settings, tmp_path):
    """Whoever cannot read the private file gets no answer, and harms no other."""
    with server_process(address, tmp_path):
        file = warm.state_file()
        state = json.loads(file.read_bytes())
        assert file.stat().st_mode & 0o777 == 0o600
        file.write_text(json.dumps(state | {"key": "00" * 32}))
        assert warm.asked({"command": ["health"]}) is None
        file.write_text(json.dumps(state))
        assert warm.asked({"command": ["health"]})["code"] == 0
        assert os.getpid() != state["pid"]
