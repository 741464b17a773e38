"""If a command has nothing to show, one line on standard error says why."""

import pytest

from hmxgraph.demo import events_file
from tests.artifact_makers import schema
from tests.session_makers import Script


@pytest.fixture
def reason(run):
    """Runs a command and returns the last line that it prints on standard error."""

    def reason(*words):
        code, _, err = run(*words)
        assert code == 0
        return err.strip().splitlines()[-1]

    return reason


@pytest.mark.parametrize(
    "words", [("pack", "deploy"), ("pack", "deploy", "--json"), ("query", "tools"), ("artifact", "list")]
)
def test_a_tenant_without_events(reason, tenant_id, words):
    """A tenant without events is reported as such, because its name may be a typo."""
    assert reason(*words).startswith(f"tenant {tenant_id!r} has no events")


def test_drafts_wait(reason, graph):
    """If there are only drafts, the message counts them and says how to activate one."""
    for number in (1, 2):
        graph.record_artifact(schema(f"a{number}", step=f"step {number}", status="draft"))
    for words in (("pack", "deploy"), ("artifact", "list")):
        assert reason(*words).startswith("2 drafts not active yet: ")
        assert "hmxgraph artifact transition ID active" in reason(*words)


def test_nothing_of_any_status(reason, graph, tenant_id):
    """Listing every status is suggested only to callers who have not already done so."""
    graph.ingest(Script("s", tenant=tenant_id).user("Hello").events)
    assert reason("artifact", "list").startswith("--status any lists")
    assert "hmxgraph compile" in reason("artifact", "list", "--status", "any")


def test_nothing_fits(reason, graph):
    """A budget too small for any entry is reported with the size of the smallest; an empty query says so."""
    graph.ingest(events_file(), rehome=True)
    assert "nothing fits in 2 tokens; the smallest entry takes" in reason("pack", "deploy staging", "--budget", "2")
    assert reason("query", "open_conflicts") == "the query has no results"


NO_SUCH_THING = [
    ("session_story", "session_id=nope", "no session has the id 'nope'; hmxgraph query sessions lists them"),
    ("session_picture", "session_id=nope", "no session has the id 'nope'; hmxgraph query sessions lists them"),
    ("thread_trust", "thread_id=nope", "no thread has the id 'nope'; hmxgraph query task_board lists tasks"),
    ("neighbourhood", "name=nope", "no entity is named 'nope'; hmxgraph query hubs lists the best connected"),
    ("evidence", "artifact_id=nope", "no artifact has the id 'nope'; hmxgraph artifact list --status any lists them"),
    ("pack_trail", "source_ids=no,pe", "no artifact or memory has the id 'no'; no artifact or memory has the id 'pe'"),
]


@pytest.mark.parametrize(("name", "parameter", "expected"), NO_SUCH_THING)
def test_nothing_has_the_id(reason, graph, tenant_id, name, parameter, expected):
    """A query about something that does not exist says so, even if there are drafts."""
    graph.ingest(Script("s", tenant=tenant_id).user("Hello").events)
    graph.record_artifact(schema("a1", status="draft"))
    assert reason("query", name, parameter) == expected


def test_only_lists_of_active_artifacts_mention_drafts(reason, graph, tenant_id):
    """An empty result counts drafts only if it could have contained them once they are active."""
    graph.ingest(Script("s", tenant=tenant_id).user("Hello").events)
    graph.record_artifact(schema("a1", status="draft"))
    for words in (["failures_and_fixes"], ["active_knowledge"], ["stale_knowledge", "days=0"]):
        assert reason("query", *words).startswith("1 draft not active yet: ")
    for name in ("error_events", "task_board", "open_conflicts", "failures_picture", "supersession_chains"):
        assert reason("query", name) == "the query has no results"
    assert reason("query", "evidence", "artifact_id=a1") == "the query has no results"
    assert reason("artifact", "list", "--status", "archived").startswith("--status any lists")


def test_ids_as_tables_show_them(run, graph, tenant_id):
    """The first characters of a generated id are enough for a saved query."""
    artifact_id = "c83e661f-0a30-5d01-961e-1a2988040a7a"
    graph.ingest(Script("s", tenant=tenant_id).user("Hello").events)
    graph.record_artifact(schema(artifact_id, source_events=["s/0"]))
    for name, parameter in (("evidence", "artifact_id"), ("pack_trail", "source_ids")):
        assert "EVIDENCED_BY" in run("query", name, f"{parameter}={artifact_id[:8]}")[1]
