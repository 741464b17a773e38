"""``hmxgraph task``, ``record`` and ``memory`` on the real server."""

import json

import pytest
from typer.testing import CliRunner

from hmxgraph.cli import app
from hmxgraph.errors import TaskError


@pytest.fixture
def hmxgraph(address, tenant_id, monkeypatch):
    """Runs one command on a fresh tenant; returns its JSON output, or its text."""
    monkeypatch.setenv("HMXGRAPH_URI", address.uri)
    monkeypatch.setenv("HMXGRAPH_USER", address.user)
    monkeypatch.setenv("HMXGRAPH_PASSWORD", address.password)
    monkeypatch.setenv("HMXGRAPH_TENANT", tenant_id)

    def command(*words, as_json=True):
        done = CliRunner().invoke(app, [*words, *(["--json"] if as_json else [])])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout) if as_json else done.stdout

    return command


def test_a_task_from_the_command_line(hmxgraph):
    """The commands for steps, verdicts, search and resume give the same results as the API."""
    task_id = hmxgraph("task", "start", "Find the leak", "--agent", "ana", "--set", "confidence=0.5")["task_id"]
    hmxgraph("task", "progress", task_id, "-s", "half way", "--next", "bisect")
    run = hmxgraph("task", "run-start", task_id, "--command", "make", "--why", "fast", "--input", "src")["artifact_id"]
    hmxgraph("task", "run-finish", task_id, "--run", run, "--status", "failed", "-s", "no space")
    seen = hmxgraph("task", "evidence", task_id, "-s", "the buffer leaks", "--supports", "--agent", "ana")[
        "artifact_id"
    ]
    assert f" {seen[:8]} " in hmxgraph("task", "get", task_id[:8], as_json=False)
    hmxgraph("record", "verification", seen[:8], "-s", "reproduced", "--supports", "--agent", "bo")
    assert hmxgraph("record", "get", seen[:8])["trust_tier"] == "verified_record"
    assert hmxgraph("record", "related", "the buffer leaks")["grounding_status"] == "verified"
    results = hmxgraph("task", "search", "leak", "-w", "artifact_kind=evidence", "--compact")
    assert [hit["artifact_id"] for hit in results["hits"]] == [seen]
    assert hmxgraph("task", "resume", task_id)["what_failed"] == ["no space"]
    assert len(hmxgraph("record", "thread", task_id[:8])) == 6
    assert "no space" in hmxgraph("record", "failures", as_json=False)
    assert hmxgraph("task", "finish", task_id[:8], "--worked", "valgrind")["created"]
    for words in (
        ["task", "get", task_id],
        ["task", "resume", task_id],
        ["record", "search"],
        ["task", "search", "leak"],
    ):
        assert hmxgraph(*words, as_json=False)


def test_records_from_standard_input(hmxgraph, monkeypatch):
    """``record create -`` stores one record per line, all or none; options are defaults, and errors name the record."""

    def piped(*lines, options=()):
        text = "\n".join(map(json.dumps, lines))
        return CliRunner().invoke(app, ["record", "create", "-", *options, "--json"], input=text)

    start = {"artifact_kind": "task_start", "task_id": "t", "goal": "Find the leak"}
    evidence = {"artifact_kind": "evidence", "summary": "the buffer leaks"}
    done = piped(start, evidence, options=("--task", "t", "--agent", "ana"))
    assert [receipt["created"] for receipt in json.loads(done.stdout)] == [True, True]
    assert {entry["artifact"]["agent_id"] for entry in hmxgraph("record", "thread", "t")} == {"ana"}
    refused = piped({**evidence, "task_id": "t"}, {**evidence, "task_id": "u"})
    assert refused.exit_code == 1
    assert "records[1]: evidence: there is no task 'u'" in str(refused.exception or refused.output)
    assert len(hmxgraph("record", "thread", "t")) == 2


def test_former_scopes_of_a_project_from_the_command_line(hmxgraph, tenant_id):
    """``--alias`` adds projects of this or another tenant; the output counts hits per scope."""
    hmxgraph("task", "start", "Find the leak", "--project", "lexer")
    hmxgraph("task", "start", "Find the old leak", "--project", "parser", "--tenant", f"{tenant_id}-before")
    words = ["record", "search", "leak", "-w", "project_id=parser", "--alias", "lexer"]
    words += ["--alias", f"{tenant_id}-before:parser"]
    assert [scope["hits"] for scope in hmxgraph(*words)["scope_expansion"]] == [0, 1, 1]
    assert "1 from project lexer" in hmxgraph(*words, as_json=False)


def test_memories_from_the_command_line(hmxgraph):
    """The ``memory`` commands add, search, supersede, judge, delete, count and maintain memories."""
    known = hmxgraph("memory", "add", "Always verify the rollout", "--kind", "policy")["memory_id"]
    new = hmxgraph("memory", "supersede", known, "Verify the rollout twice", "--kind", "policy")["memory_id"]
    hmxgraph("memory", "feedback", new, "positive")
    hmxgraph("memory", "outcome", "success", new)
    assert [hit["memory_id"] for hit in hmxgraph("memory", "search", "rollout")["hits"]] == [new]
    assert hmxgraph("memory", "delete", new)["hidden_reason"] == "deleted"
    assert hmxgraph("memory", "stats")["total_chunks"] == 2
    assert hmxgraph("memory", "dream")["dry_run"]
    for words in ("stats", "health", "metrics", "compact", "dream"):
        assert "{" not in hmxgraph("memory", words, as_json=False)


def test_every_choice_of_the_api_is_a_choice_of_the_command_line(hmxgraph):
    """Options exist for siblings, thread filters, supporting revisions, record decisions and dream details."""
    task_id = hmxgraph("task", "start", "Find the leak", "--agent", "ana", "--project", "p")["task_id"]
    tagged = ("--set", 'tags=["event:e1"]')
    bold = ("-s", "the [bold] buffer leaks", "--agent", "ana")
    evidence_id = hmxgraph("task", "evidence", task_id, *bold, *tagged)["artifact_id"]
    two = hmxgraph("task", "evidence", task_id, "-s", "seen at night", *tagged)["artifact_id"]
    (hit,) = hmxgraph("record", "search", "buffer", "--siblings")["hits"]
    assert [sibling["artifact_id"] for sibling in hit["expanded_siblings"]] == [two]
    assert "[bold]" in hmxgraph("task", "search", "buffer", "--siblings", as_json=False)
    hmxgraph("record", "decision", "-s", "believed", "--reply-to", evidence_id, "--supports", "--agent", "bo")
    assert hmxgraph("record", "get", evidence_id)["trust_tier"] == "verified_record"
    hmxgraph("record", "revision", two, "-s", "seen at noon", "--supports", "--supersedes")
    assert len(hmxgraph("record", "thread", task_id)) == len(hmxgraph("record", "thread", task_id, "--shown")) + 1
    known = hmxgraph("memory", "add", "Verify the rollout", "--kind", "policy", "--tag", "event:e2")["memory_id"]
    about = ("--kind", "policy", "--project", "p", "--tag", "event:e2", "--hard")
    new = hmxgraph("memory", "supersede", known, "Verify twice", *about)
    assert new["memory_id"] != known
    assert hmxgraph("memory", "search", "verify", "--siblings")["hits"][0]["memory_id"] == new["memory_id"]
    assert "examples" not in hmxgraph("memory", "health", "--examples", "--duplicate-limit", "0")["duplicates"]
    hmxgraph("task", "resume", task_id)
    hmxgraph("task", "progress", task_id, "-s", "half way", "--next", "go on")
    report = hmxgraph("memory", "dream", "--apply", "--agent", "cy", "--at", "2026-03-14T03:00:00Z")["report_id"]
    report_record = hmxgraph("record", "get", report)["artifact"]
    assert (report_record["agent_id"], report_record["artifact_role"]) == ("cy", "dream_report")


def test_wrong_usage_and_impossible_steps(hmxgraph, tenant_id):
    """An unknown filter is a usage error; a step out of order raises the API's error."""
    wrong = CliRunner().invoke(app, ["task", "search", "-w", "task=x"])
    assert wrong.exit_code == 2
    with pytest.raises(TaskError, match="start it first"):
        hmxgraph("task", "finish", "nowhere")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["task", "evidence", "leak", "-s", "y", "--set", "summary=x"], "use --summary instead"),
        (["task", "start", "x", "--agent", "a", "--set", "agent_id=b"], "use --agent instead"),
        (["record", "verification", "r", "-s", "y", "--supports", "--set", "supports_claim=false"], "--supports"),
        (["task", "evidence", "leak", "-s", "y", "--set", "confidense=1"], "did you mean confidence="),
        (["task", "search", "--where", "taskid=1"], "did you mean task_id="),
    ],
)
def test_a_misplaced_field_is_a_usage_error(address, tenant_id, monkeypatch, words, message):
    """A field given twice or misspelt exits with code 2 and a message that says what to use instead."""
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"HMXGRAPH_{name.upper()}", getattr(address, name))
    done = CliRunner().invoke(app, [*words, "--tenant", tenant_id], env={"COLUMNS": "500"})
    assert done.exit_code == 2
    assert message in done.output


def test_the_board_on_the_command_line(hmxgraph):
    """List, claim, release and reopen give the same results as the API."""
    task_id = hmxgraph("task", "start", "Find the leak", "--project", "p", "--task-id", "leak")["task_id"]
    hmxgraph("task", "claim", task_id, "--agent", "ana", "--lease", "600")
    (entry,) = hmxgraph("task", "list", "--assignee", "ANA", "--project", "p", "--status", "open")
    assert (entry["task_id"], entry["assignee"]) == ("leak", "ana")
    hmxgraph("task", "release", task_id, "--agent", "ana")
    hmxgraph("task", "finish", task_id)
    hmxgraph("task", "reopen", task_id, "-s", "not yet")
    assert hmxgraph("task", "list")[0]["status"] == "open"
