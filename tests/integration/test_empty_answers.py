"""An empty answer of the command line tells why, in one line on standard error."""

import pytest

from hmxgraph.demo import events_file
from tests.artifact_makers import schema
from tests.session_makers import Script


@pytest.fixture
def reason(run):
    """The last line that a command which answers nothing prints on standard error."""

    def reason(*words):
        code, _, err = run(*words)
        assert code == 0
        return err.strip().splitlines()[-1]

    return reason


@pytest.mark.parametrize(
    "words", [("pack", "deploy"), ("pack", "deploy", "--json"), ("query", "tools"), ("artifact", "list")]
)
def test_a_tenant_without_events(reason, tenant_id, words):
    """A slip in the tenant's name looks like a memory that knows nothing."""
    assert reason(*words).startswith(f"tenant {tenant_id!r} has no events")


def test_drafts_wait(reason, graph):
    """What was imported, or seen once, is there and out of packs: how to put it in force is told."""
    for number in (1, 2):
        graph.record_artifact(schema(f"a{number}", step=f"step {number}", status="draft"))
    for words in (("pack", "deploy"), ("artifact", "list")):
        assert reason(*words).startswith("2 drafts not active yet: ")
        assert "hmxgraph artifact transition ID active" in reason(*words)


def test_nothing_of_any_status(reason, graph, tenant_id):
    """Who asked for every status is not told to ask for it."""
    graph.ingest(Script("s", tenant=tenant_id).user("Hello").events)
    assert reason("artifact", "list").startswith("--status any also lists")
    assert "hmxgraph compile" in reason("artifact", "list", "--status", "any")


def test_nothing_fits(reason, graph):
    """A budget below the smallest entry gives its size."""
    graph.ingest(events_file(), rehome=True)
    assert "nothing fits in 2 tokens; the smallest entry takes" in reason("pack", "deploy staging", "--budget", "2")
    assert reason("query", "session_story", "session_id=nowhere") == "the query has no results"
