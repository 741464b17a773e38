"""Feedback terms find events that say the same thing in other words."""

from dataclasses import replace

import numpy as np

from hmxgraph.recall.pool import EventPool, Nearby
from hmxgraph.recall.question import understood
from hmxgraph.recall.relevance import FEEDBACK_WEIGHT, Ranking, feedback_scores
from tests.recall_makers import NOW, event

FAR = 20


def pool_of(*texts):
    """Return a pool with one session in which these texts are far apart among many others."""
    said = [text for first in texts for text in (first, *(f"other {number}" for number in range(FAR)))]
    return EventPool.of([event(number, text)[0] for number, text in enumerate(said)])


def gains(pool, asked, *best):
    """Return the feedback gain of each of the first texts, given the *best* events."""
    words = np.zeros(len(pool))
    words[[at * (FAR + 1) for at in best]] = 1.0
    scores = feedback_scores(pool, Nearby(pool), words, words, asked, len(pool))
    return [scores[at] for at in range(0, len(pool), FAR + 1)]


def test_terms_that_the_best_events_share_are_searched():
    """A text with the terms that two good events share gains; one without them does not."""
    pool = pool_of("family camping lake", "family camping tent", "camping tomorrow", "invoice overdue")
    scores = gains(pool, {"famili"}, 0, 1)
    assert FEEDBACK_WEIGHT >= scores[2] > 0.1
    assert scores[3] == 0


def test_a_term_of_one_event_is_not_searched():
    """A text with a term of only one of the best events does not gain."""
    pool = pool_of("family camping", "family lake", "camping tomorrow")
    assert gains(pool, {"famili"}, 0, 1)[2] == 0


def test_without_a_match_there_is_no_feedback():
    """Without an event that matches the question, or without events, nothing gains."""
    pool = pool_of("family camping", "family camping", "camping")
    assert gains(pool, {"famili"}) == [0, 0, 0]
    assert feedback_scores(EventPool(), Nearby(EventPool()), np.zeros(0), np.zeros(0), (), 0).tolist() == []


def test_a_ranking_includes_feedback():
    """An event without any query term ranks above noise and below events with them."""
    pool = pool_of("family camping lake", "family camping tent", "camping", "invoice")
    scores = Ranking(understood("family", NOW), pool, len(pool)).first
    own, other, noise = (scores[at * (FAR + 1)] for at in (0, 2, 3))
    assert own > other > noise


def test_documents_with_titles_are_left_to_the_walk():
    """Documents neither supply feedback terms nor gain by them."""
    pool = pool_of("family camping lake", "family camping tent", "camping tomorrow")
    titled = replace(pool, title=("Camping",) * len(pool))
    assert gains(pool, {"famili"}, 0, 1)[2] > 0
    assert gains(titled, {"famili"}, 0, 1) == [0, 0, 0]
