"""Long texts: a search reads the beginning of its question, as packs do, and errors quote the beginning of an id."""

import pytest

from hmxgraph.errors import HmxGraphError
from hmxgraph.recall.question import LONGEST_QUESTION
from tests.artifact_makers import policy

# A word that only a search reading all of the text would use.
LONG = "staging " * (LONGEST_QUESTION // 4) + "zebra"
SEARCHES = {
    "memories": lambda graph, query: graph.memory.search(query),
    "records": lambda graph, query: graph.tasks.search(query),
    "library": lambda graph, query: graph.records.find_evidence(query),
}


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_reads_the_beginning_of_a_long_question(graph, kind):
    """Words beyond the longest question are not searched, so that a question of any length is answered soon."""
    graph.remember("The zebra report is due on Monday")
    task = graph.tasks.start("Write about animals", agent_id="ana").task_id
    graph.tasks.add_evidence(task, summary="The zebra report is due on Monday", supports_claim=True, agent_id="bo")
    assert len(SEARCHES[kind](graph, LONG[-100:])) > 0
    assert len(SEARCHES[kind](graph, LONG)) == 0


def test_a_claim_is_compared_by_its_beginning(graph):
    """What follows the length of the longest question does not change what a claim states."""
    task = graph.tasks.start("Write about animals", agent_id="ana").task_id
    graph.tasks.add_evidence(task, summary="The zebra report is due on Monday", supports_claim=True, agent_id="bo")
    claim = "zebra" + " " * LONGEST_QUESTION
    assert graph.records.find_related("zebra staging").grounding_status == "ungrounded"
    assert len(graph.records.find_related(claim + "staging").supporting) == 1


def test_artifacts_are_filtered_by_the_beginning_of_a_long_text(graph):
    """The words of a text filter count up to the length of the longest question."""
    graph.record_artifact(policy("p", "Use staging"))
    assert [artifact.artifact_id for artifact in graph.artifacts(text=LONG)] == ["p"]
    assert not graph.artifacts(text=LONG[-100:]).artifacts


MISUSES = {
    "explain": lambda graph: graph.explain(LONG),
    "query": lambda graph: graph.query(LONG),
    "kind": lambda graph: graph.memory.search("x", kind=LONG),
    "time": lambda graph: graph.pack("x", as_of=LONG),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_an_error_quotes_the_beginning_of_a_long_text(graph, misuse):
    """An id or choice of any length gives an error that fits on a screen."""
    with pytest.raises(HmxGraphError) as refused:
        MISUSES[misuse](graph)
    assert "staging" in str(refused.value)
    assert len(str(refused.value)) < 500
