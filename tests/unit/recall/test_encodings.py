"""Budgets in the caller's token measure."""

import pytest

from hmxgraph.errors import InvalidRequest, UnknownChoice
from hmxgraph.recall.question import PackRequest
from hmxgraph.text.terms import counter
from tests.recall_makers import QUERY, event, known, memory, packed

EVENTS = [event(n, f"Deploy the staging environment, attempt {n}: der Einsatz lief naïve 東京都") for n in range(60)]
KNOWN = known(memories=[memory(1, "Ann deploys the staging environment on Mondays")])


def characters(text):
    """Count four characters as a token, which is not additive over lines."""
    return -(-len(text) // 4)


@pytest.mark.parametrize("count", ["cl100k_base", "o200k_base", characters, len])
@pytest.mark.parametrize("budget", [40, 200, 1000])
def test_the_budget_is_hard_in_the_measure_of_the_caller(count, budget):
    """Both the text and the sum of the estimates stay within the budget, in any measure."""
    counted = counter(count) if isinstance(count, str) else count
    pack = packed(EVENTS, KNOWN, budget=budget, encoding=count)
    assert counted(pack.text) <= budget
    assert sum(entry.token_estimate for entry in pack.entries) <= budget
    assert pack.entries or budget < 200


def test_a_measure_is_part_of_the_request():
    """A pack in another measure has another id and names the measure; the default is not mentioned."""
    plain, named = packed(EVENTS), packed(EVENTS, encoding="o200k_base")
    other = packed(EVENTS, encoding=characters)
    assert plain.to_json() == named.to_json()
    assert other.pack_id != plain.pack_id
    assert other.metadata["encoding"] == "characters"


def test_unknown_measures_are_refused():
    """The error lists the known encodings, or says what a function must return."""
    with pytest.raises(UnknownChoice, match="cl100k_base"):
        PackRequest(QUERY, encoding="gpt2")
    with pytest.raises(InvalidRequest, match="encoding"):
        PackRequest(QUERY, encoding=5)
    with pytest.raises(InvalidRequest, match="whole number of tokens"):
        packed(EVENTS, encoding=lambda text: len(text) / 4)
