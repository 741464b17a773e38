"""Claude Code's hooks over recorded transcripts: a later session gets an earlier one's fix at the same failure."""

import json
import os
import subprocess
import sys
import time

import pytest

from hmxgraph.adapters import warm
from hmxgraph.adapters.claude_code import Hooks
from tests.integration.proxies import until
from tests.transcripts import Transcript

ERROR = (
    "Exit code 1\n** (Mix) Could not start application shop: ** (DBConnection.ConnectionError) "
    "tcp connect (localhost:5432): connection refused - :econnrefused"
)
FIX = "docker compose up -d db"


@pytest.fixture
def hooks(graph, tmp_path):
    """The hooks of a fresh tenant."""
    return Hooks(graph, tmp_path / "hooks")


@pytest.fixture
def first(tmp_path):
    """The transcript of a session that fails and finds the fix."""
    transcript = Transcript(tmp_path, "one", "2026-03-02T09:00:00+00:00")
    transcript.user("Run the test suite of the shop").bash("mix test", ERROR, failed=True)
    transcript.bash("cat config/test.exs", 'config :shop, Shop.Repo, hostname: "localhost", port: 5432')
    transcript.bash(FIX, "Container shop-db-1  Started").bash("mix test", "212 tests, 0 failures")
    return transcript.says("The database container was not running; all tests pass now.")


def failed(error, command="mix test test/cart_test.exs", **more):
    """What Claude Code passes to the hook for a failed tool call."""
    given = {"session_id": "two", "tool_name": "Bash", "tool_input": {"command": command}, "error": error, **more}
    return {"event": "PostToolUseFailure", "input": given}


def stopped(transcript, event="Stop"):
    """What Claude Code passes to the hook at the end of a turn."""
    return {"event": event, "input": {"session_id": "one", "transcript_path": str(transcript.path)}}


def context(output):
    """The text that a hook adds to the conversation; empty if the hook is silent."""
    return json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""


def test_the_second_session_is_given_the_fix_at_the_same_failure(hooks, first):
    """The fix is given only at the same failure: not at another, an interruption, or before anything was learned."""
    assert hooks.answer(failed(ERROR)) == ("", None)
    silent, deferred_import = hooks.answer(stopped(first))
    assert silent == ""
    assert deferred_import() > 0
    said = context(hooks.answer(failed(ERROR))[0])
    assert said.startswith("<hmxgraph-pack")
    assert FIX in said
    assert hooks.answer(failed("Module not found: can't resolve 'react' in src/app.js", "npm run build"))[0] == ""
    assert hooks.answer(failed(ERROR, is_interrupt=True))[0] == ""
    prompt = {"session_id": "two", "prompt": "Run the tests of the shop"}
    pack_text = context(hooks.answer({"event": "UserPromptSubmit", "input": prompt})[0])
    assert FIX in pack_text
    outputs = [line for line in pack_text.splitlines() if "Bash ->" in line or "Bash failed" in line]
    assert outputs
    assert all(line.startswith("[tool] ") for line in outputs)


def test_packs_and_sessions_of_a_user(hooks, first, graph):
    """Hooks installed for a user get that user's rules; what the user says in a session becomes a rule of the user."""
    graph.remember("Never use --force", kind="policy", hard=True, user_id="tomasz")
    prompt = {"event": "UserPromptSubmit", "input": {"session_id": "two", "prompt": "Push my branch"}}
    assert "--force" in context(hooks.answer(prompt | {"user": "tomasz"})[0])
    assert "--force" not in context(hooks.answer(prompt)[0])
    first.user("Never run the whole suite, only the changed tests.")
    hooks.answer(stopped(first) | {"user": "joel"})[1]()
    assert "only the changed tests" in graph.pack("Push my branch", user_id="joel").text
    assert "only the changed tests" not in graph.pack("Push my branch", user_id="ana", sections=("core",)).text
    assert "tests" in context(hooks.answer(failed(ERROR) | {"user": "joel"})[0])


def test_a_transcript_is_read_on_from_where_it_was_left(hooks, first, graph):
    """Each hook reads only what was added to the transcript since the previous one; nothing is stored twice."""
    assert hooks.answer(stopped(first, "PreCompact"))[1]() > 0
    assert hooks.answer(stopped(first))[1]() == 0
    first.user("Thanks, now push")
    assert hooks.answer(stopped(first))[1]() == 1
    assert [row["text"] for row in graph.query("explore/session_story", session_id="one").rows][-1].endswith("now push")


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"event": "Stop", "input": {}},
        {"event": "Stop", "input": "x"},
        {"event": "UserPromptSubmit", "input": {"prompt": " "}},
        {"event": "Unheard", "input": {"prompt": "x"}},
        {"event": "PostToolUseFailure", "input": {"error": None, "tool_input": 3}},
    ],
)
def test_a_hook_that_is_given_nothing_useful_is_silent(hooks, message):
    """Unknown or incomplete input is ignored, so that a new version of the agent cannot make the hook fail."""
    assert hooks.answer(message) == ("", None)


def test_a_missing_transcript_is_no_error(hooks, tmp_path):
    """A missing transcript stores nothing, since the agent may have removed it."""
    gone = {"event": "Stop", "input": {"transcript_path": str(tmp_path / "gone.jsonl")}}
    assert hooks.answer(gone)[1]() == 0


def hook(environment, event, given, *options):
    """Run ``hmxgraph hook`` as Claude Code does; returns the process and the seconds it took."""
    began = time.monotonic()
    command = [sys.executable, "-m", "hmxgraph", "hook", event, *options]
    text = given if isinstance(given, str) else json.dumps(given)
    ran = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return ran, time.monotonic() - began


@pytest.mark.slow
def test_hooks_answer_through_a_warm_process(address, graph, tmp_path, monkeypatch):
    """The first call is silent and starts the process that answers later ones; none fails, even once it is gone."""
    settings = {"HOME": tmp_path, "URI": address.uri, "USER": address.user, "PASSWORD": address.password}
    environment = os.environ | {f"HMXGRAPH_{name}": str(value) for name, value in settings.items()}
    for name in ("HMXGRAPH_HOME", "HMXGRAPH_URI", "HMXGRAPH_USER"):
        monkeypatch.setenv(name, environment[name])
    monkeypatch.delenv("HMXGRAPH_DATABASE", raising=False)
    graph.remember("Never push on a Friday", kind="policy", hard=True)
    prompt = {"session_id": "s", "prompt": "Push the branch"}
    tenant = ("--tenant", graph.tenant_id)
    ran, _ = hook(environment, "UserPromptSubmit", prompt, *tenant)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    file = warm.state_file()
    until(
        lambda: file.exists() and "port" in json.loads(file.read_bytes() or b"{}"), seconds=120
    )  # from then on it answers
    try:
        ran, _ = hook(environment, "UserPromptSubmit", prompt, *tenant, "--within", "60")
        assert "Never push on a Friday" in context(ran.stdout)
        graph.remember("Never use --force", kind="policy", hard=True, user_id="tomasz")
        ran, _ = hook(environment, "UserPromptSubmit", prompt, *tenant, "--user", "tomasz", "--within", "60")
        assert "Never use --force" in context(ran.stdout)
        ran, _ = hook(environment, "UserPromptSubmit", prompt, *tenant, "--within", "0.000001")
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
        assert file.stat().st_mode & 0o777 == 0o600
        for given in ("", "{", "[]"):
            assert hook(environment, "Stop", given, *tenant, "--within", "60")[0].returncode == 0
    finally:
        os.kill(json.loads(file.read_bytes())["pid"], 9)
    ran, _ = hook(environment, "Stop", {}, *tenant)
    assert (ran.returncode, ran.stdout) == (0, "")
