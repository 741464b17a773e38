"""Which candidates are eligible, and the drop reasons of the others."""

import pytest

from hmxgraph.recall._packing import Duplicates, Repeats, judged
from hmxgraph.recall.appraised import Contest, contested
from hmxgraph.recall.candidates import Candidate, Components
from tests.recall_makers import conflict, ranked


def candidate(name, content="", score=0.9, **optional):
    """Return a candidate; a fact, unless *optional* says otherwise."""
    components = Components(score, 0, 0, 0)
    given = {"section": "facts", "source_type": "memory"} | optional
    return Candidate(source_id=name, tokens=5, score=score, components=components, content=content, **given)


def reasons(candidates, *conflicts):
    """Return the drop reason of each dropped candidate."""
    return {
        drop.ranked.candidate.source_id: drop.reason
        for drop in judged(ranked(candidates), contested(candidates, conflicts), Repeats()).dropped
    }


def test_each_candidate_is_eligible_or_dropped():
    """Every candidate is either eligible or dropped."""
    judgement = judged(ranked([candidate("a", "one"), candidate("b", "two", 0.1)]), Contest(), Repeats())
    assert [each.candidate.source_id for each in judgement.eligible] == ["a"]
    assert [each.ranked.candidate.source_id for each in judgement.dropped] == ["b"]


def test_low_relevance_spares_the_exempt():
    """Exempt candidates, such as hard rules, are never dropped as low_relevance."""
    assert reasons([candidate("a", "one", 0.1), candidate("b", "two", 0.1, exempt=True)]) == {"a": "low_relevance"}


def test_a_verdict_wins_over_every_other_reason():
    """A deprecated candidate is reported as deprecated, however irrelevant it is."""
    assert reasons([candidate("a", "one", 0.1, verdict="deprecated")]) == {"a": "deprecated"}


def test_the_weaker_side_of_a_conflict_goes():
    """The weaker side of a conflict is dropped; equally confident sides are both kept and marked as disputed."""
    sides = [candidate("a", "red", confidence=0.9), candidate("b", "blue", confidence=0.5)]
    assert reasons(sides, conflict(1, "a", "b")) == {"b": "conflict"}
    equal = [candidate("a", "red", confidence=0.9), candidate("b", "blue", confidence=0.895)]
    judgement = judged(ranked(equal), contested(equal, [conflict(1, "a", "b")]), Repeats())
    assert (judgement.dropped, judgement.disputed) == ((), ("a", "b"))


@pytest.mark.parametrize(("stronger", "weaker"), [(0.9, 0.89), (0.5, 0.49), (0.06, 0.05), (1.0, 0.99)])
def test_sides_a_hundredth_apart_are_equally_confident(stronger, weaker):
    """Sides within 0.01 are both kept despite binary rounding; beyond that the weaker one is dropped."""
    for less, dropped in ((weaker, {}), (weaker - 0.0001, {"b": "conflict"})):
        sides = [candidate("a", "red", confidence=stronger), candidate("b", "blue", confidence=less)]
        assert reasons(sides, conflict(1, "a", "b")) == dropped


def test_an_irrelevant_side_still_wins():
    """The losing side is dropped even if the winning side is irrelevant to the question."""
    sides = [candidate("a", "red", confidence=0.9), candidate("b", "blue", 0.1, confidence=1.0)]
    assert reasons(sides, conflict(1, "a", "b"))["a"] == "conflict"


def test_a_conflict_with_something_absent_changes_nothing():
    """Only sides that are candidates take part in a conflict."""
    assert reasons([candidate("a", "red")], conflict(1, "a", "elsewhere")) == {}


def test_a_rule_outlasts_the_talk_that_repeats_it():
    """If a turn duplicates a rule in force, the rule is kept regardless of rank."""
    turn = candidate("turn", "Always verify it.", 0.9, section="episodes", source_type="episode")
    rule = candidate("rule", "Always verify it", 0.6, section="constraints", source_type="policy")
    assert reasons([turn, rule]) == {"turn": "duplicate"}


def test_what_was_to_be_remembered_outlasts_the_word_that_said_so():
    """A remembered statement is kept instead of the event that stated it, because it can be withdrawn later."""
    event = candidate("event", "The port is 9090", 0.9, section="episodes", source_type="episode")
    assert reasons([event, candidate("fact", "The port is 9090", 0.6, origin="remembered")]) == {"event": "duplicate"}


def test_the_lower_ranked_repeat_goes():
    """The same text in another case, or the same event in a second section, is included once."""
    assert reasons([candidate("a", "Verify it!"), candidate("b", "verify IT", 0.8)]) == {"b": "duplicate"}
    episode = {"source_type": "episode"}
    twice = [
        candidate("e", "one", section="episodes", **episode),
        candidate("e", "", 0.8, section="evidence", **episode),
    ]
    assert reasons(twice) == {"e": "duplicate"}


def test_alike_from_ninety_two_percent_on():
    """Long texts that differ in the last word are duplicates; not those that differ in three places, nor empty ones."""
    seen, words = Duplicates(), [f"w{number}" for number in range(60)]
    assert not seen.repeats(" ".join(words))
    assert seen.repeats(" ".join([*words[:-1], "other"]))
    assert not seen.repeats(" ".join([*words[:10], "x", *words[11:30], "y", *words[31:50], "z", *words[51:]]))
    assert not seen.repeats("")


@pytest.mark.parametrize(
    ("text", "opposite"),
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
def test_what_says_the_opposite_is_no_repeat(text, opposite):
    """A character inside or before a word is part of it, as is a symbol that stands for a word."""
    seen = Duplicates()
    assert (seen.repeats(text), seen.repeats(opposite)) == (False, False)
    assert (seen.repeats(text), seen.repeats(opposite)) == (True, True)


@pytest.mark.parametrize(
    ("text", "variant"),
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
def test_what_differs_around_words_only_is_a_repeat(text, variant):
    """Case, sentence punctuation, quotes and markup are ignored; a text without words duplicates only itself."""
    seen = Duplicates()
    assert (seen.repeats(text), seen.repeats(variant)) == (False, True)
