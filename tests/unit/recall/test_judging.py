"""Which candidates may go in, and why the others may not."""

import pytest

from hmxgraph.recall._packing import Duplicates, Repeats, judged
from hmxgraph.recall.candidates import Candidate, Components
from hmxgraph.recall.draft import Contest, contested
from tests.recall_makers import conflict, ranked


def candidate(name, content="", score=0.9, **optional):
    """One fact."""
    components = Components(score, 0, 0, 0)
    given = {"section": "facts", "source_type": "memory"} | optional
    return Candidate(source_id=name, tokens=5, score=score, components=components, content=content, **given)


def reasons(candidates, *conflicts):
    """The drop reason of each that is dropped."""
    return {
        drop.ranked.candidate.source_id: drop.reason
        for drop in judged(ranked(candidates), contested(candidates, conflicts), Repeats()).dropped
    }


def test_each_candidate_is_eligible_or_dropped():
    """Nothing is lost between the two."""
    found = judged(ranked([candidate("a", "one"), candidate("b", "two", 0.1)]), Contest(), Repeats())
    assert [each.candidate.source_id for each in found.eligible] == ["a"]
    assert [each.ranked.candidate.source_id for each in found.dropped] == ["b"]


def test_low_relevance_spares_the_exempt():
    """Identity and hard rules are never too irrelevant."""
    assert reasons([candidate("a", "one", 0.1), candidate("b", "two", 0.1, exempt=True)]) == {"a": "low_relevance"}


def test_a_verdict_wins_over_every_other_reason():
    """What is deprecated is told as such, however irrelevant."""
    assert reasons([candidate("a", "one", 0.1, verdict="deprecated")]) == {"a": "deprecated"}


def test_the_weaker_side_of_a_conflict_goes():
    """Unless both are as sure, which is told instead."""
    sides = [candidate("a", "red", confidence=0.9), candidate("b", "blue", confidence=0.5)]
    assert reasons(sides, conflict(1, "a", "b")) == {"b": "conflict"}
    equal = [candidate("a", "red", confidence=0.9), candidate("b", "blue", confidence=0.895)]
    found = judged(ranked(equal), contested(equal, [conflict(1, "a", "b")]), Repeats())
    assert (found.dropped, found.disputed) == ((), ("a", "b"))


@pytest.mark.parametrize(("stronger", "weaker"), [(0.9, 0.89), (0.5, 0.49), (0.06, 0.05), (1.0, 0.99)])
def test_a_hundredth_apart_is_as_sure(stronger, weaker):
    """Within 0.01 both stay, whatever binary fractions make of the difference; beyond it the weaker one goes."""
    for less, dropped in ((weaker, {}), (weaker - 0.0001, {"b": "conflict"})):
        sides = [candidate("a", "red", confidence=stronger), candidate("b", "blue", confidence=less)]
        assert reasons(sides, conflict(1, "a", "b")) == dropped


def test_a_side_beside_the_question_holds_all_the_same():
    """What contradicts it is no advice, even where the stronger side is of other words."""
    sides = [candidate("a", "red", confidence=0.9), candidate("b", "blue", confidence=1.0, verdict="low_relevance")]
    assert reasons(sides, conflict(1, "a", "b"))["a"] == "conflict"


def test_a_conflict_with_something_absent_changes_nothing():
    """Only sides that are candidates contend."""
    assert reasons([candidate("a", "red")], conflict(1, "a", "elsewhere")) == {}


def test_a_rule_outlasts_the_talk_that_repeats_it():
    """Where a turn says the same as a rule in force, the rule stays, however the two are ranked."""
    turn = candidate("turn", "Always verify it.", 0.9, section="episodes", source_type="episode")
    rule = candidate("rule", "Always verify it", 0.6, section="constraints", source_type="policy")
    assert reasons([turn, rule]) == {"turn": "duplicate"}


def test_what_was_to_be_remembered_outlasts_the_word_that_said_so():
    """The memory stands, which a later word can take back; not the event."""
    event = candidate("event", "The port is 9090", 0.9, section="episodes", source_type="episode")
    assert reasons([event, candidate("fact", "The port is 9090", 0.6, origin="remembered")]) == {"event": "duplicate"}


def test_the_lower_ranked_repeat_goes():
    """The same text in other case, or the same event in a second section, stands once."""
    assert reasons([candidate("a", "Verify it!"), candidate("b", "verify IT", 0.8)]) == {"b": "duplicate"}
    episode = {"source_type": "episode"}
    twice = [
        candidate("e", "one", section="episodes", **episode),
        candidate("e", "", 0.8, section="evidence", **episode),
    ]
    assert reasons(twice) == {"e": "duplicate"}


def test_alike_from_ninety_two_percent_on():
    """Long texts that differ in one word at the end are repeats; in three places they are not."""
    seen, words = Duplicates(), [f"w{number}" for number in range(60)]
    assert not seen.repeats(" ".join(words))
    assert seen.repeats(" ".join([*words[:-1], "other"]))
    assert not seen.repeats(" ".join([*words[:10], "x", *words[11:30], "y", *words[31:50], "z", *words[51:]]))
    assert not seen.repeats("")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Agents can deploy on a Friday", "Agents can't deploy on a Friday"),
        ("The freezer offset is 5 degrees", "The freezer offset is -5 degrees"),
        ("The rate is 5", "The rate is .5"),
        ("We picked C# for it", "We picked C++ for it"),
        ("Keep a<b there", "Keep a>b there"),
        ("Run it if ready", "Run it if !ready"),
        ("Deployed :)", "Deployed :("),
        ("Deployed \U0001f600", "Deployed \U0001f622"),
        ("It returns []", "It returns {}"),
        ("!!!", "???"),
    ],
)
def test_what_says_the_opposite_is_no_repeat(one, other):
    """A mark inside or before a word is part of it, and so is one that stands for a word."""
    seen = Duplicates()
    assert (seen.repeats(one), seen.repeats(other)) == (False, False)
    assert (seen.repeats(one), seen.repeats(other)) == (True, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always verify it.", "**always** verify IT !"),
        ("Say \u201cyes\u201d, you can\u2019t fail", "say 'yes' you can't fail"),
        ("# Verify the rollout (twice)", "Verify the rollout twice"),
        ("Caf\u00e9 Zo\u00eb", "cafe\u0301 zoe\u0308"),
        ("\u6771\u4eac\u90fd\u3002", "\u6771\u4eac\u90fd"),
        ("!!!", " !!! "),
        ("\U0001f44d", "\U0001f44d"),
    ],
)
def test_what_differs_around_words_only_is_a_repeat(one, other):
    """Case, the end of a sentence, quotes and mark-up say nothing; a text without words is a repeat of itself."""
    seen = Duplicates()
    assert (seen.repeats(one), seen.repeats(other)) == (False, True)
