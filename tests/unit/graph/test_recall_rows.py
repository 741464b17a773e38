"""The row by which recall ranks an event: written from its properties and read back unchanged."""

import pytest

from hmxgraph.graph._events import FULL_CHARACTERS, FURTHER_CHARACTERS, pool_rows, recall_row
from hmxgraph.text.terms import counter

EVENT = {
    "event_id": 'e"1',
    "session_id": "s\n1",
    "event_type": "message",
    "search_text": "deploy stage",
    "text": "Deploy staging?",
    "sequence": 3,
    "time_us": 50,
    "token_count": 7,
    "tokenizer": "o200k_base",
    "salience": 0.5,
}


def test_a_row_is_read_as_it_was_written():
    """Any characters are kept, the speaker is a plain name, and the text comes last."""
    row = recall_row(EVENT | {"speaker": "## Zoë", "title": "One [two]", "label": "web"})
    assert pool_rows(50, [row], ["Deploy staging?"]) == [
        ['e"1', "s\n1", "Zoë", "One [two]", "deploy stage", 3, 50, 7, 0.5, True, "web", "Deploy staging?", ""]
    ]


@pytest.mark.parametrize(("as_of_us", "there"), [(49, False), (50, True), (79, True), (80, False)])
def test_only_what_was_there_and_not_expired(as_of_us, there):
    """An event is in the pool from its time until it expires."""
    assert bool(pool_rows(as_of_us, [recall_row(EVENT | {"expires_us": 80})], [""])) is there


def test_erased_events_are_left_out():
    """Erased events have no row."""
    row = recall_row(EVENT)
    assert pool_rows(50, ["", row], ["m1", "m2"], ["", "Deploy staging?"])[0][-3:] == ["m2", "Deploy staging?", ""]
    assert pool_rows(50, [], []) == []


def test_tokens_are_those_of_packs():
    """If the node's tokens were counted by another tokenizer, they are counted again for the row."""
    row = recall_row(EVENT | {"speaker": "Ann", "tokenizer": "cl100k_base", "token_count": 99})
    assert pool_rows(50, [row], [""])[0][7] == counter()("Ann: Deploy staging?\n")


def test_of_long_results_the_further_words_are_ranked_once():
    """No row is much longer than ranking needs, and no word of the end is missing."""

    def ranked(search_text):
        return pool_rows(50, [recall_row(EVENT | {"search_text": search_text})], [""])[0][4]

    assert ranked("w " * 9_999).split() == ["w"] * (FULL_CHARACTERS // 2)
    assert ranked("w " * 9_999 + "unknown account").split()[-2:] == ["account", "unknown"]
    text = ranked(" ".join(f"word{number}" for number in range(9_999)))
    assert len(text) <= FULL_CHARACTERS + FURTHER_CHARACTERS
    assert {"word0", "word9998"} <= set(text.split()) <= {f"word{number}" for number in range(9_999)}
