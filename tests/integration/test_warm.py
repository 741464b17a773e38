"""Hooks and commands answered by a running server, which saves them connecting themselves."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from threading import Thread
from time import monotonic, sleep

import pytest

import hmxgraph
from hmxgraph.adapters import warm
from hmxgraph.cli.resident import Resident
from tests.integration.serving import environment, server_process


@pytest.fixture
def settings(address, tmp_path, monkeypatch):
    """The environment for programs that use the database at *address* and a data home of their own."""
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


def said(answer, stream):
    """What an answer prints on one of the two streams."""
    return "".join(text for name, text in answer["printed"] if name == stream)


def commands(graph):
    """Read-only commands, valid and invalid; the output contains accents and brackets."""
    tenant = ("--tenant", graph.tenant_id)
    return [
        ("pack", "push the branch", *tenant),
        ("pack", "push the branch", "--as-of", "3", *tenant),
        ("explain", "nobody", *tenant),
    ]


@pytest.mark.parametrize(
    ("arguments", "client", "answered"),
    [
        (("--tenant", "one"), "two", "one"),
        (("-tone",), "two", "one"),
        (("--tenant=one",), None, "one"),
        ((), "two", "two"),
        ((), None, "default"),
    ],
)
@pytest.mark.usefixtures("settings")
def test_a_command_is_about_the_tenant_that_its_client_names(
    address, tmp_path, monkeypatch, arguments, client, answered
):
    """The tenant comes from the command's option, else from the client's environment, never the server's."""
    monkeypatch.setenv("HMXGRAPH_TENANT", "of-the-process")
    with hmxgraph.connect(address.uri, user=address.user, password=address.password) as graph:
        message = {"command": ["health", "--json", *arguments]} | ({"tenant": client} if client else {})
        answer, _ = Resident(graph, tmp_path).answer(message)
    assert answer["code"] == 0, answer
    assert json.loads(said(answer, "out"))["tenant_id"] == answered


@pytest.mark.slow
def test_a_server_answers_commands_as_they_answer_themselves(address, settings, tmp_path, graph):
    """Output, errors and exit codes are the same whether the server or the command's own process answers."""
    graph.remember("Never push on a Friday: the Zürich [blue] cluster is frozen", kind="policy", hard=True)
    alone = [program(settings, *command) for command in commands(graph)]
    assert "Zürich [blue]" in alone[0][1]
    assert {code for code, _, _ in alone} == {0, 1, 2}
    with server_process(address, tmp_path):
        answers = [warm.ask({"command": list(command)}) for command in commands(graph)]
        served = [program(settings, *command) for command in commands(graph)]
    assert [(each["code"], said(each, "out"), said(each, "err")) for each in answers] == served == alone
    assert warm.ask({"command": ["health"]}) is None
    assert not warm.state_file().exists()


@pytest.mark.usefixtures("settings")
def test_packs_wait_until_their_statements_are_planned(tmp_path, graph):
    """After the message that the server has started, a pack waits for the planning; other commands do not."""
    answers = Resident(graph, tmp_path)
    tenant = ("--tenant", graph.tenant_id)
    _, warm_up = answers.answer({})
    codes: list[int] = []
    pack = Thread(target=lambda: codes.append(answers.answer({"command": ["pack", "push", *tenant]})[0]["code"]))
    pack.start()
    assert answers.answer({"command": ["health", *tenant]})[0]["code"] == 0
    assert codes == []
    warm_up()
    pack.join()
    assert codes == [0]


def at_terminal(settings, *arguments, columns=70):
    """Exit code and output of one run of the program at a terminal of this width."""
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "hmxgraph", *arguments]
    with subprocess.Popen(command, env=settings, stdin=secondary, stdout=secondary, stderr=secondary) as process:
        os.close(secondary)
        chunks = []
        with suppress(OSError):  # Linux signals the closed end this way
            while chunk := os.read(primary, 65_536):
                chunks.append(chunk)
        os.close(primary)
        return process.wait(120), b"".join(chunks).decode()


@pytest.mark.slow
def test_a_command_looks_the_same_at_a_terminal(address, settings, tmp_path, graph):
    """Width and colours are those of the client's terminal, whether the server answers or not."""
    graph.remember(
        "Never push on a Friday: " + "the cluster is frozen and nobody is there to mend it; " * 3, kind="policy"
    )
    settings = {name: value for name, value in settings.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
    looks = [settings | {"TERM": "xterm-256color", "COLORTERM": ""}, settings | {"TERM": "xterm", "NO_COLOR": "1"}]
    command = ("pack", "push the branch", "--explain", "--tenant", graph.tenant_id)
    alone = [at_terminal(look, *command) for look in looks]
    assert "\x1b[" in alone[0][1]
    with server_process(address, tmp_path):
        served = [at_terminal(look, *command) for look in looks]
        wide = at_terminal(looks[0], *command, columns=130)
    assert served[0] == alone[0]
    assert served[1] == alone[1]
    assert wide != served[0]


@pytest.mark.slow
def test_a_server_answers_hooks_of_every_tenant(address, settings, tmp_path, graph):
    """Each hook is answered from its own tenant; a second server with the same data home leaves that to the first."""
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
    """If the server was killed, a command runs in its own process."""
    with server_process(address, tmp_path) as served:
        served.stop(signal.SIGKILL)
        assert warm.state_file().exists()
        code, text, _ = program(settings, "health", "--tenant", graph.tenant_id, "--json")
        assert (code, json.loads(text)["tenant_id"]) == (0, graph.tenant_id)


@pytest.mark.slow
def test_a_foreign_key_is_refused(address, settings, tmp_path):
    """A client with a wrong key gets no answer; the state file is readable by its owner only."""
    with server_process(address, tmp_path):
        file = warm.state_file()
        state = json.loads(file.read_bytes())
        assert file.stat().st_mode & 0o777 == 0o600
        file.write_text(json.dumps(state | {"key": "00" * 32}))
        assert warm.ask({"command": ["health"]}) is None
        file.write_text(json.dumps(state))
        assert warm.ask({"command": ["health"]})["code"] == 0
        assert os.getpid() != state["pid"]


@pytest.mark.slow
def test_a_started_server_is_warm_until_it_stops(tmp_path, monkeypatch):
    """Starting the local server starts a process that answers commands until the server stops."""
    monkeypatch.setenv("HMXGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HMXGRAPH_START_SECONDS", "300")
    monkeypatch.delenv("HMXGRAPH_URI", raising=False)
    settings = dict(os.environ)
    try:
        assert program(settings, "server", "start")[0] == 0
        assert eventually(lambda: warm.ask({"command": ["pack", "push the branch"]}))["code"] == 0
        pid = json.loads(warm.state_file().read_bytes())["pid"]
        assert program(settings, "server", "start")[0] == 0
        assert json.loads(warm.state_file().read_bytes())["pid"] == pid
    finally:
        assert program(settings, "server", "stop")[0] == 0
    assert eventually(lambda: not warm.state_file().exists())


def eventually(answer, seconds=120):
    """The first truthy answer within *seconds*."""
    end = monotonic() + seconds
    while not (value := answer()):
        assert monotonic() < end
        sleep(0.2)
    return value
