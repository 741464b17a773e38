"""``hmxgraph artifact``, ``conflict``, ``explain`` and ``verify`` as a user runs them, on the real graph."""

import json

import pytest
from neo4j import GraphDatabase

from tests.artifact_makers import policy, schema


@pytest.fixture
def answer(run):
    """Runs a command with ``--json`` and returns what it prints."""

    def answer(*arguments):
        code, out, _ = run(*arguments, "--json")
        assert code == 0
        return json.loads(out)

    return answer


@pytest.fixture
def file(tmp_path):
    """Writes artifacts to a file, one per line."""

    def file(*artifacts, name="artifact.json"):
        path = tmp_path / name
        path.write_text("\n".join(artifact.to_json() for artifact in artifacts), encoding="utf-8")
        return path

    return file


def test_recorded_listed_shown(run, answer, file):
    """An artifact recorded from a file is listed, and shown as agents read it."""
    code, out, _ = run("artifact", "record", file(schema("a1", tags=["k8s"])))
    assert (code, out) == (0, "created a1 (version 1)\n")
    assert [artifact["artifact_id"] for artifact in answer("artifact", "list", "--tag", "k8s")["artifacts"]] == ["a1"]
    assert answer("artifact", "list", "--status", "draft")["artifacts"] == []
    assert answer("artifact", "show", "a1")["title"] == "Title of a1"
    shown = run("artifact", "show", "a1")[1]
    assert "1. Apply the manifests (kubectl)" in shown
    assert "hmxgraph explain a1" in shown
    assert "no artifacts" in run("artifact", "list", "--text", "nothing")[1]


def test_many_at_once_and_pages(run, answer, file):
    """An .ndjson file holds one artifact per line; a page shows how to get the next one."""
    many = [schema(f"a{number}", step=f"Step {number}", second=number) for number in range(3)]
    assert len(answer("artifact", "record", file(*many, name="many.ndjson"))) == 3
    page = answer("artifact", "list", "--limit", 2)
    assert [artifact["artifact_id"] for artifact in page["artifacts"]] == ["a2", "a1"]
    assert f"more: --after {page['cursor']}" in run("artifact", "list", "--limit", 2)[1]
    second_page = answer("artifact", "list", "--limit", 2, "--after", page["cursor"])
    assert ([artifact["artifact_id"] for artifact in second_page["artifacts"]], second_page["cursor"]) == (["a0"], None)


def test_superseded_and_moved(run, answer, file):
    """A chain grows by supersede, changes status by transition, and can be read as of any time."""
    run("artifact", "record", file(schema("a1")))
    done = answer("artifact", "supersede", "a1", file(schema("a2", step="Else", second=60)))
    assert (done["outcome"], done["superseded_id"]) == ("created", "a1")
    assert [version["status"] for version in answer("artifact", "chain", "a2")["versions"]] == ["superseded", "active"]
    early = answer("artifact", "chain", "a1", "--as-of", "2026-03-14T03:00:30Z")
    assert [version["status"] for version in early["versions"]] == ["active"]
    assert answer("artifact", "transition", "a2", "archived", "--reason", "done")["status"] == "archived"
    assert "superseded" in run("artifact", "chain", "a1")[1]


def test_a_chain_travels(run, answer, file, tmp_path, tenant_id):
    """Another tenant imports what `chain --json` prints only with --rehome; without it the import is refused."""
    run("artifact", "record", file(schema("a1")))
    run("artifact", "supersede", "a1", file(schema("a2", step="Else", second=60)))
    printed, other = tmp_path / "chain.json", f"{tenant_id}-other"
    printed.write_text(json.dumps(answer("artifact", "chain", "a2")), encoding="utf-8")
    assert run("artifact", "import-chain", printed, "--tenant", other)[0] != 0
    done = answer("artifact", "import-chain", printed, "--rehome", "--tenant", other)
    assert [receipt["outcome"] for receipt in done] == ["created", "created"]
    versions = answer("artifact", "chain", "a1", "--tenant", other)["versions"]
    assert [(version["artifact_id"], version["status"]) for version in versions] == [
        ("a1", "superseded"),
        ("a2", "active"),
    ]
    code, _, err = run("artifact", "import-chain", file(schema("a1")))
    assert (code, "has no list of versions" in " ".join(err.split())) == (2, True)


def test_refusals_are_one_line(run, file):
    """An error is one line on stderr that says what is wrong, with exit code 1; wrong usage exits with 2."""
    run("artifact", "record", file(schema("a1")))
    run("artifact", "supersede", "a1", file(schema("a2", step="Else")))
    code, out, err = run("artifact", "supersede", "a1", file(schema("a3", step="More")))
    assert (code, out) == (1, "")
    assert err == "error: 'a1' is already superseded by 'a2'; supersede that one instead (HMX-A 7)\n"
    assert run("artifact", "show", "nothing")[0] == 1
    assert run("artifact", "record", "no-such-file.json")[0] == 2
    assert run("artifact", "list", "--limit", 0)[0] == 2
    assert run("conflict", "resolve", "some")[0] == 2


def test_conflicts_are_listed_and_resolved(run, answer, file):
    """A listed conflict shows its sides; resolving it names the side that is kept."""
    run("artifact", "record", file(policy("p1", "Use an online migration")))
    _, out, _ = run("artifact", "record", file(policy("p2", "Lock the table")))
    (conflict,) = answer("conflict", "list")
    assert f"opens conflicts {conflict['conflict_id']}" in out
    assert "Lock the table" in run("conflict", "list")[1]
    done = answer("conflict", "resolve", conflict["conflict_id"], "--keep", "p1", "--reason", "measured")
    assert (done["status"], done["kept_id"], done["resolution"]) == ("resolved", "p1", "measured")
    assert "(kept)" in run("conflict", "list", "--status", "resolved")[1]
    assert run("conflict", "list")[1] == "no conflicts\n"


def test_explained(run, answer, file):
    """The evidence trail is a tree for people and JSON for scripts."""
    run("artifact", "record", file(schema("a1", source_events=["e1"])))
    assert answer("explain", "a1")["missing"] == ["e1"]
    out = run("explain", "a1")[1]
    assert "artifact a1" in out
    assert "e1: not stored" in out


def test_verified(run, answer, file, address, tenant_id):
    """``verify`` exits with 0 and a short line if all is well, and with 1 and the findings if something was changed."""
    run("artifact", "record", file(schema("a1")))
    assert answer("verify")["ok"] is True
    assert "no inconsistencies" in run("verify")[1]
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        change = "MATCH (n:Artifact {tenant_id: $tenant_id}) SET n.title = 'Better'"
        driver.execute_query(change, tenant_id=tenant_id, database_=address.database)
    code, out, _ = run("verify")
    assert code == 1
    assert "core_hash" in out
    assert "2 wrong" in out
