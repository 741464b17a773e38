"""The command line as people and scripts use it: real output and exit codes."""

import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from time import monotonic

import pytest

from hmxgraph.cli import main
from hmxgraph.demo import events_file
from hmxgraph.protocol.timestamps import iso
from tests.unit.ingest.making import document


@pytest.fixture
def hmxgraph(address, tmp_path, monkeypatch):
    """Runs a command in an empty folder; returns exit code, standard output and standard error.

    It runs in this process, because starting Python takes longer than most commands.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HMXGRAPH_USER", address.user)
    monkeypatch.setenv("HMXGRAPH_PASSWORD", address.password)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words, uri=address.uri):
        monkeypatch.setenv("HMXGRAPH_URI", uri)
        monkeypatch.setattr(sys, "argv", ["hmxgraph", *words])
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err, pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, out.getvalue(), err.getvalue()

    return run


def test_demo_goes_from_events_to_a_pack(hmxgraph, tenant_id):
    """One command stores, compiles, packs and measures; a second run stores nothing and gives the same pack."""
    first, second = (json.loads(hmxgraph("demo", "--tenant", tenant_id, "--json")[1]) for _ in range(2))
    assert first["ingest"]["accepted"] > 400
    assert first["ingest"]["rejected"] == []
    assert second["ingest"]["accepted"] == 0
    assert {entry["section"] for entry in first["pack"]["entries"]} >= {"core", "procedures"}
    assert first["pack"]["token_budget"]["used"] <= 256
    assert second["pack"]["metadata"]["pack_hash"] == first["pack"]["metadata"]["pack_hash"]
    assert first["digest"]["entity_count"] > 0


@pytest.mark.slow
def test_demo_reads_well(hmxgraph, tenant_id):
    """In at most 60 lines the demo shows what was learned, a pack, and the same failure before and after learning."""
    code, out, _ = hmxgraph("demo", "--tenant", tenant_id)
    assert code == 0
    assert "1 session has no outcome" in out
    assert f"more: hmxgraph artifact list --status any --tenant {tenant_id}" in out
    for words in ("411 accepted", "Context pack for", "graph", "The same failure, before and after", "Neo4j Browser"):
        assert words in out
    before, _, after = out.partition("After: kubectl apply failed")
    assert "kubectl create namespace staging" in after
    assert 'KubectlError: namespaces "staging" not found' in before
    assert len(out.splitlines()) <= 60


def test_the_beginning_of_an_id_is_enough(hmxgraph, graph, tenant_id):
    """Commands accept the first eight characters of an id, which tables show, unless two ids begin with them."""
    kept, other = "0f0f0f0f-0000-5000-8000-000000000001", "0f0f0f0f-0000-5000-8000-000000000002"
    graph.ingest([document(tenant_id=tenant_id, event_id=kept)])
    tenant = ("--tenant", tenant_id)
    code, out, _ = hmxgraph("explain", "0f0f0f0f", *tenant)
    assert (code, "event 0f0f0f0f" in out, kept in out) == (0, True, True)
    graph.ingest([document(tenant_id=tenant_id, event_id=other, sequence=1)])
    code, _, err = hmxgraph("explain", "0f0f0f0f", *tenant)
    assert (code, kept in err, other in err) == (2, True, True)
    assert hmxgraph("explain", kept, *tenant)[0] == 0


@pytest.mark.slow
def test_own_events_step_by_step(hmxgraph, tenant_id):
    """Ingest, compile, pack, suggest, digest and verify work as separate commands."""
    tenant = ("--tenant", tenant_id)
    assert json.loads(hmxgraph("ingest", str(events_file()), "--rehome", *tenant, "--json")[1])["accepted"] == 411
    assert json.loads(hmxgraph("compile", *tenant, "--json")[1])["sessions"] == 31
    code, out, err = hmxgraph("pack", "Deploy checkout to staging", *tenant, "--budget", "512", "--explain")
    assert (code, "kubectl" in out, "of 512 tokens" in err, "--explain" in err) == (0, True, True, False)
    assert json.loads(hmxgraph("suggest", "deploy-000", *tenant, "--json")[1])["tools"]
    assert "Deploy to staging (" in hmxgraph("suggest", "deploy-000", *tenant)[1]
    assert json.loads(hmxgraph("digest", *tenant, "--json")[1])["relation_count"] > 0
    assert json.loads(hmxgraph("verify", *tenant, "--json")[1])


def test_several_files_are_ingested_together_and_equal_faults_told_once(hmxgraph, tenant_id, tmp_path):
    """Each file's format is detected separately, equal faults are reported once, and stdin must be the only source."""
    (tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "Deploy it"}\n')
    (tmp_path / "bad.ndjson").write_text('{"hmx_version": "HMX-1.0", "event_type": "message"}\n' * 7)
    (tmp_path / "notes.txt").write_text("Use staging first.\nThen tell Ann.\n")
    (tmp_path / "torn.json.gz").write_bytes(b"\x1f\x8b\x08\x00")
    names = [str(tmp_path / name) for name in ("talk.jsonl", "bad.ndjson", "notes.txt", "torn.json.gz")]
    code, out, _ = hmxgraph("ingest", *names, "--tenant", tenant_id)
    assert (code, out.count("rejected  ")) == (1, 5)
    assert "expected a complete gz file" in out
    assert "bad.ndjson, lines 1, 2, 3, 4, 5 and 2 more: " in out
    assert "notes.txt, the whole source: $: found no JSON in the first lines" in out
    code, _, err = hmxgraph("ingest", names[0], "-", "--tenant", tenant_id)
    assert (code, "- must be the only source" in err) == (2, True)


def test_a_live_pipe_is_stored_and_may_be_interrupted(address, graph, tenant_id):
    """Lines are stored while the pipe is still open; after Ctrl-C the report counts everything that was read."""
    settings = {"HMXGRAPH_URI": address.uri, "HMXGRAPH_USER": address.user, "HMXGRAPH_PASSWORD": address.password}
    command = [sys.executable, "-m", "hmxgraph", "ingest", "-", "--tenant", tenant_id, "--json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | settings
    ) as live:
        for number in range(3):
            live.stdin.write(json.dumps(document(tenant_id=tenant_id, event_id=f"e{number}")).encode() + b"\n")
        live.stdin.flush()
        end = monotonic() + 60
        while graph.health()["event_count"] < 3 and monotonic() < end:
            continue
        live.send_signal(signal.SIGINT)
        out, err = live.communicate(timeout=60)
    assert (live.returncode, json.loads(out)["accepted"]) == (130, 3)
    assert err.decode() == "interrupted: everything read so far is stored\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ingest", "no/such/file"), 1, "no/such/file"),
        (("pack", "x", "--budget", "0"), 2, "budget"),
        (("pack", "x", "--strategy", "luck"), 2, "ranked"),
        (("pack", "x", "--section", "fact"), 2, "unknown section 'fact'"),
        (("remember", "x", "--kind", "polcy"), 2, "unknown kind 'polcy'"),
        (("remember", "  "), 2, "say the text in words"),
        (("record", "create", "nope"), 2, "unknown kind 'nope'"),
        (("query", "no_such_query"), 2, "no_such_query"),
        (("query", "session_story"), 2, "$session_id"),
        (("explain", "nothing"), 1, "nothing"),
        (("pack", "x", "--as-of", "yesterday"), 2, "'yesterday' is not an ISO 8601"),
        (("pack", "x", "--as-of", "0000-01-01T00:00:00Z"), 2, "year"),
        (("memory", "add", "x", "--at", "yesterday"), 2, "'yesterday' is not an ISO 8601"),
        (("forget", "--before", "2026-02-30T00:00:00Z"), 2, "impossible date"),
        (("forget", "--older-than", "9999999d"), 2, "expected a possible age of an event"),
        (("forget",), 2, "--older-than or --expired"),
        (("fingerprint", "export", "--expires", "2026-03-14"), 2, "offset"),
        (("pack", "x", "--html", "no/such/page.html"), 1, "cannot write no/such/page.html"),
        (("browser", "--save", "/dev/null/look"), 1, "cannot write /dev/null/look"),
        (("fingerprint", "export", "--out", "no/such/file"), 1, "no/such/file"),
        (("forget", "--older-than", "99999999999d"), 2, "99999999999d"),
        (("forget", "--session", "a", "--session", "b"), 2, "given more than once"),
        (("pack", "x", "--budget", "300", "--budget", "400"), 2, "given more than once"),
        (("pack",), 2, "Missing argument"),
        (("fly",), 2, "No such command"),
        (("ingets",), 2, "Did you mean 'ingest'"),
    ],
)
def test_errors_are_one_clear_line(hmxgraph, tenant_id, words, code, said):
    """A mistake ends with its exit code and a message that says what is wrong, without a traceback."""
    ended, _, err = hmxgraph(*words, *(() if words in (("fly",), ("ingets",)) else ("--tenant", tenant_id)))
    assert ended == code
    assert said in err
    assert "Traceback" not in err


def test_no_tenant_has_an_empty_name(hmxgraph):
    """An empty tenant name, such as an unset variable in a script gives, is refused."""
    ended, _, err = hmxgraph("pack", "x", "--tenant", "")
    assert (ended, "it is empty" in err) == (2, True)


def test_forget_reports_ids_that_match_no_event(hmxgraph, tenant_id):
    """Forgetting an id that matches no event says that nothing matched."""
    hmxgraph("remember", "Never deploy on Friday", "--tenant", tenant_id)
    for words in (("--session", "nope", "--yes"), ("--event", "nope", "--dry-run")):
        code, out, err = hmxgraph("forget", *words, "--tenant", tenant_id)
        assert (code, "Nothing to forget" in out, "nothing matched" in err) == (0, True, True)


def test_forgetting_a_user_prints_the_sessions_in_which_others_spoke(hmxgraph, graph, tenant_id):
    """After a user is forgotten, stderr names the sessions to look at, and the commands for it."""
    for user in ("ann", None):
        graph.append("message", {"role": "user", "text": "No peanuts"}, session_id="kitchen", user_id=user)
    code, _, err = hmxgraph("forget", "--user", "ann", "--yes", "--tenant", tenant_id)
    assert (code, "\n  kitchen\n" in err, "forget --session ID" in err) == (0, True, True)


def test_health_shows_the_time_in_readable_form(hmxgraph, tenant_id):
    """Health shows the tenant's logical time in ISO form, and never as None."""
    assert "None" not in hmxgraph("health", "--tenant", tenant_id)[1]
    hmxgraph("remember", "Never deploy on Friday", "--kind", "policy", "--tenant", tenant_id)
    shown = hmxgraph("health", "--tenant", tenant_id)[1]
    stamp = json.loads(hmxgraph("health", "--tenant", tenant_id, "--json")[1])["logical_us"]
    assert iso(stamp) in shown


@pytest.mark.parametrize("uri", ["localhost:7687", "http://localhost:7474", "bolt://[::1"])
@pytest.mark.parametrize("command", ["health", "browser"])
def test_no_address_is_one_clear_line(hmxgraph, uri, command):
    """An address that cannot be a Neo4j address is refused with an accepted form and without a traceback."""
    ended, _, err = hmxgraph(command, uri=uri)
    assert ended == 1
    assert "bolt://host:7687" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_browser_prints_the_login_and_writes_the_file_to_import(hmxgraph, address, tenant_id, tmp_path):
    """Address and user are shown, but not the password of a server that is not ours; one file is saved to drag."""
    hmxgraph("remember", "Never deploy on Friday", "--kind", "policy", "--tenant", tenant_id)
    code, out, _ = hmxgraph("browser", "--save", "look", "--tenant", tenant_id, "--json")
    access = json.loads(out)
    assert (code, access["uri"], access["user"], access["password"]) == (0, address.uri, address.user, None)
    assert [path.name for path in (tmp_path / "look").iterdir()] == ["hmxgraph-favourites.zip"]
    assert "hmxgraph-favourites.zip" in hmxgraph("browser", "--save", "look", "--tenant", tenant_id)[1]


def test_remembering_and_packing_on_given_terms(hmxgraph, tenant_id):
    """Scope, alias, expiry and predecessor can be set on the command line, as can a pack's scope and encoding."""
    to = ("--tenant", tenant_id, "--json")
    old = json.loads(hmxgraph("remember", "Lint with TSLint", "--scope", "code", *to)[1])
    terms = (
        "--scope",
        "code",
        "--alias",
        "formatter",
        "--supersedes",
        old["memory_id"],
        "--expires",
        "2999-01-01T00:00:00Z",
    )
    new = json.loads(hmxgraph("remember", "Lint with Biome", *terms, *to)[1])
    assert (new["scope"], new["aliases"], new["expires"][:4]) == (["code"], ["formatter"], "2999")
    code, out, _ = hmxgraph("pack", "Which formatter?", "--scope", "code", "--encoding", "cl100k_base", *to)
    assert code == 0
    pack = json.loads(out)
    assert [entry["content"] for entry in pack["entries"]] == ["Lint with Biome"]
    assert pack["metadata"]["encoding"] == "cl100k_base"
    assert json.loads(hmxgraph("pack", "Which formatter?", "--scope", "novel", *to)[1])["entries"] == []
    assert hmxgraph("pack", "x", "--encoding", "gpt", "--tenant", tenant_id)[0] == 2
