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
    assert reason("artifact", "list").startswith("--status any also lists")
    assert "hmxgraph compile" in reason("artifact", "list", "--status", "any")


def test_nothing_fits(reason, graph):
    """A budget too small for any entry is reported with the size of the smallest; an empty query says so."""
    graph.ingest(events_file(), rehome=True)
    assert "nothing fits in 2 tokens; the smallest entry takes" in reason("pack", "deploy staging", "--budget", "2")
    assert reason("query", "session_story", "session_id=nowhere") == "the query has no results"
