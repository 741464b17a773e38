"""Words and terms: one analysis for indexed text and for questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.text.terms import LONGEST_WORD, search_text, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("KubectlError: namespace staging", ["kubectlerror", "namespace", "staging"]),
        ("get_user_details", ["get", "user", "details"]),
        ("Caroline's dog\u2019s 3 toys", ["caroline", "dog", "3", "toys"]),
        ("O'Brien", ["o", "brien"]),
        ("CAFÉ Straße", ["cafe", "strasse"]),
        ("東京都 2024", ["東京", "京都", "2024"]),
    ],
)
def test_words(text, expected):
    """Words are lower case, without accents and endings; digits stay."""
    word_list = words(text)
    assert word_list == expected


def test_terms_drop_stop_words_and_stem():
    """A question and a statement about the same thing share their terms."""
    assert terms("When was the staging environment deployed?") == [*terms("deploys STAGING environments")[1:], "deploy"]


def test_months_are_terms():
    """May and March are terms, because they are months, too."""
    assert terms("in may, march") == ["may", "march"]


@given(st.text())
def test_search_text_is_a_fixed_analysis(text):
    """Any text gives terms without spaces, short enough for the index, always the same."""
    term_list = terms(text)
    assert all(term and not term.isspace() and len(term) <= LONGEST_WORD * 2 for term in term_list)
    assert search_text(text).split(" ") == (term_list or [""])
