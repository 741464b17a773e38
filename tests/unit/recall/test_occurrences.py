"""Word numbering: counts do not depend on earlier requests or on the number of threads."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.recall import pool as lexicons
from hmxgraph.recall.pool import FAMILY, Lexicon, Occurrences, lexicon

WORDS = st.text("abc", min_size=1, max_size=3)
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=8)


@given(TEXTS, st.lists(WORDS, max_size=5, unique=True))
def test_occurrences_are_counted_as_they_stand(texts, asked):
    """Counts, matches and vocabulary sizes equal a naive count."""
    occurrences = Occurrences(texts)
    counted = [Counter(text.split()) for text in texts]
    assert occurrences.counts(asked).tolist() == [[own[word] for own in counted] for word in asked]
    assert occurrences.matched(asked).tolist() == [len(own.keys() & set(asked)) for own in counted]
    assert occurrences.vocabulary.tolist() == [len(own) for own in counted]


@given(TEXTS.flatmap(lambda texts: st.tuples(st.just(texts), st.permutations(range(len(texts))))))
def test_novelty_is_the_share_of_new_words(case):
    """Novelty is the share of words that no text of lower rank has."""
    texts, ranks = case
    words = [set(text.split()) for text in texts]
    before = [set().union(*(words[other] for other, of in enumerate(ranks) if of < rank)) for rank in ranks]
    shares = [len(own - earlier) / max(len(own), 1) for own, earlier in zip(words, before, strict=True)]
    assert Occurrences(texts).novelty(np.array(ranks, dtype=np.int64)).tolist() == shares


@given(TEXTS)
def test_what_several_events_share(texts):
    """The shared words are those of at least two texts, in alphabetical order."""
    standing = Counter(word for text in texts for word in set(text.split()))
    expected = sorted(word for word, times in standing.items() if times >= 2)
    assert Occurrences(texts).shared(range(len(texts)), 2) == expected


def test_words_of_the_family_count_in_part():
    """A word counts fully, related words count in part, and related query terms count only for themselves."""
    occurrences = Occurrences(["allergi allerg allerg", "bread", "all"])
    assert occurrences.related_counts(["allergi", "pet"]).tolist() == [[1 + 2 * FAMILY, 0, 0], [0, 0, 0]]
    assert occurrences.related_counts(["allergi", "allerg"]).tolist() == [[1, 0, 0], [2, 0, 0]]


def test_numbers_and_identifiers_have_no_family():
    """Two order numbers with a common prefix are unrelated."""
    occurrences = Occurrences(["order12345 170001 order12346 170002"])
    assert occurrences.related_counts(["order12345", "170001"]).tolist() == [[1], [1]]


def test_words_that_nobody_used_occur_nowhere():
    """Words that occur only in other texts do not change the counts."""
    Occurrences(["elsewhere"])
    assert Occurrences(["here"]).related_counts(["elsewhere", "nowhere"]).tolist() == [[0], [0]]
    assert Occurrences([]).counts(["here"]).shape == (1, 0)


def test_threads_share_a_lexicon():
    """Under concurrent use, each word has one number and each number one word."""
    shared = Lexicon()
    texts = [" ".join(f"w{(start * 7 + step) % 500}" for step in range(200)) for start in range(64)]
    with ThreadPoolExecutor(8) as pool:
        counted = list(pool.map(shared.counted, texts))
    for text, (numbers, times) in zip(texts, counted, strict=True):
        assert {shared.words[number]: count for number, count in zip(numbers, times, strict=True)} == Counter(
            text.split()
        )
    assert len(set(shared.values())) == len(shared) == 500


@pytest.fixture
def small(monkeypatch):
    """Use a lexicon with a very low size limit."""
    monkeypatch.setattr(lexicons, "_MOST_WORDS", 3)
    monkeypatch.setattr(lexicons, "_current", Lexicon())


@pytest.mark.usefixtures("small")
def test_a_lexicon_that_grew_too_large_is_left_to_who_works_with_it():
    """A full lexicon is replaced; counts made with the old one stay correct for its users."""
    before = Occurrences(["a b c d"])
    old = lexicons._current
    after = Occurrences(["d e"])
    assert lexicon() is not old
    assert before.counts(["d"]).tolist() == after.counts(["d"]).tolist() == [[1]]
