"""Scores, recency and priors."""

import numpy as np
import pytest

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall._times import Span
from hmxgraph.recall.candidates import (
    HALF_LIFE_DAYS,
    WEIGHTS,
    Components,
    RecencyDecay,
    plain,
    recency_decay,
    scores,
    support,
)
from hmxgraph.recall.knowledge import NO_PRIORS, priors_of
from hmxgraph.recall.question import PackRequest, understood
from tests.recall_makers import NOW


def test_the_weights_of_the_specification():
    """0.4 relevance, 0.2 each for the rest: all ones score one (HMX-C 5)."""
    assert dict(WEIGHTS) == {"relevance": 0.4, "recency": 0.2, "provenance": 0.2, "salience": 0.2}
    assert Components(1, 1, 1, 1).score == 1.0
    assert Components(1 / 3, 0, 0, 0).score == 0.133333


def test_recency_halves_with_the_half_life():
    """The half-life is a week for work, two days for recency bias, none for questions about the past."""

    def recency(text, days, strategy="ranked"):
        request = PackRequest(text, strategy=strategy)
        return recency_decay(request, understood(text, NOW), NOW).recency(NOW - int(days * DAY_US))

    assert recency("Deploy staging", HALF_LIFE_DAYS) == pytest.approx(0.5, abs=1e-3)
    assert recency("Deploy staging", 2, "recency_biased") == pytest.approx(0.5, abs=1e-3)
    assert recency("Who owns staging?", 1) == recency("Who owns staging?", 900) == 0.0
    assert recency("Who owned staging yesterday?", 1) == 1.0
    assert recency("Plan my runs for this week", HALF_LIFE_DAYS) == pytest.approx(0.5, abs=1e-3)
    assert recency("Fix what broke yesterday", 1) == 1.0
    assert recency("?", HALF_LIFE_DAYS) == recency("What is it?", HALF_LIFE_DAYS) == recency("", HALF_LIFE_DAYS) > 0.4


def test_support_grows_with_observations():
    """One observation carries a third of its confidence, many carry nearly all of it."""
    assert support(0.9, 1) == pytest.approx(0.3)
    assert support(0.9, 998) == pytest.approx(0.8982)


def test_numbers_are_spelled_as_canonical_json_does():
    """Whole numbers lose their fraction."""
    assert [str(plain(number)) for number in (1.0, 0.0, 0.25)] == ["1", "0", "0.25"]


def test_priors_weigh_sections_and_artifacts():
    """Preferred sections weigh half as much again, suppressed tags have no salience, prioritised ones full salience."""
    priors = priors_of(
        {
            "section_weights": {"facts": 2, "core": "x", "goals": -1, "episodes": float("inf")},
            "preferred_sections": ["facts", 7],
            "priority_artifact_ids": ["a1"],
            "suppressed_tags": ["old"],
        }
    )
    assert [priors.weight(name) for name in ("facts", "core", "goals", "episodes")] == [3.0, 1.0, 1.0, 1.0]
    assert [priors.salience(*each, 0.5) for each in (("a1", ()), ("a2", ()), ("a1", ("old",)))] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        [1],
        {"section_weights": [1]},
        {"section_weights": "facts"},
        {"section_weights": {"facts": True}},
        {"section_weights": {"facts": 1e308}},
        {"section_weights": {"facts": 10**400}},
        {"section_weights": {7: 2}},
        {"preferred_sections": 3, "priority_artifact_ids": True},
        {"preferred_sections": "facts", "priority_tags": {"old": 1}},
        {"preferred_sections": [["facts"]], "suppressed_tags": {"a": "b"}},
    ],
)
def test_no_priors_change_nothing(document):
    """Missing, empty or malformed priors are ignored."""
    assert priors_of(document) == NO_PRIORS


@pytest.mark.parametrize("moment", [None, Span(NOW - 9 * DAY_US, NOW - 8 * DAY_US)])
@pytest.mark.parametrize("half_life", [None, 2.0, 7.0])
def test_many_are_scored_like_one(moment, half_life):
    """Column scores equal the scores of single candidates."""
    decay = RecencyDecay(moment, half_life, NOW)
    times = [NOW - days * DAY_US for days in (0, 1, 8, 9, 40, 400)] + [NOW + DAY_US]
    recency = decay.recencies(np.array(times))
    assert recency.tolist() == pytest.approx([decay.recency(time_us) for time_us in times], abs=1e-12)
    relevance, salience = np.linspace(0, 1, len(times)), np.linspace(1, 0, len(times))
    alone = [Components(*each).score for each in zip(relevance, recency, [1.0] * len(times), salience, strict=True)]
    assert scores(relevance, recency, 1.0, salience).tolist() == pytest.approx(alone, abs=1e-6)
