"""What a question asks for, and when."""

import pytest

from hmxgraph.recall.question import LONGEST_NAME, MOST_TERMS, asks_for_work, understood
from hmxgraph.recall.times import DAY_US, Span, time_reference
from hmxgraph.text.terms import search_text

FRIDAY = 1_773_360_000_000_000  # 13 March 2026


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("When did Ann deploy?", "temporal"),
        ("Why does the build fail?", "diagnostic"),
        ("Should we migrate online?", "decision"),
        ("Who owns the staging cluster?", "factual"),
        ("How do I deploy to staging?", "procedural"),
        ("", "procedural"),
    ],
)
def test_the_intent(text, intent):
    """Questions about the past, about trouble, about a choice, and plain work are told apart by their words."""
    assert understood(text, FRIDAY).intent == intent


def test_long_questions_are_bounded():
    """A megabyte gives at most 64 terms, and names of at most eight words."""
    question = understood("word" + " ".join(f"term{number}" for number in range(100_000)), FRIDAY)
    assert len(question.terms) == len(question.keywords) == MOST_TERMS
    assert max(len(run.split()) for run in question.runs) == LONGEST_NAME


def test_names_are_met_as_runs_of_terms():
    """A name stands in a question only with all of its words, in order."""
    question = understood("Does the staging cluster of Ann Lee run?", FRIDAY)
    assert question.mentions(search_text("Ann Lee"))
    assert not question.mentions(search_text("Lee Ann"))


@pytest.mark.parametrize("text", ["Please deploy staging", "Could you return my order?", "Deploy staging"])
def test_requests_want_work(text):
    """A request is one in any politeness."""
    assert asks_for_work(text)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("on 2026-03-05", "2026-03-05T00:00:00.000Z/2026-03-06T00:00:00.000Z"),
        ("on 5 March", "2026-03-05T00:00:00.000Z/2026-03-06T00:00:00.000Z"),
        ("on March 20th", "2025-03-20T00:00:00.000Z/2025-03-21T00:00:00.000Z"),
        ("in February", "2026-02-01T00:00:00.000Z/2026-03-01T00:00:00.000Z"),
        ("yesterday", "2026-03-12T00:00:00.000Z/2026-03-13T00:00:00.000Z"),
        ("last week", "2026-03-02T00:00:00.000Z/2026-03-09T00:00:00.000Z"),
        ("last Friday", "2026-03-06T00:00:00.000Z/2026-03-07T00:00:00.000Z"),
        ("on 31 June 2025", "2025-06-01T00:00:00.000Z/2025-07-01T00:00:00.000Z"),
        ("since 2024", "2024-01-01T00:00:00.000Z/2025-01-01T00:00:00.000Z"),
    ],
)
def test_times_are_resolved_against_the_moment_asked_from(text, span):
    """Without a year a day or month is the latest that had begun; weekdays and weeks lie in the past."""
    assert str(time_reference(text, FRIDAY)) == span


@pytest.mark.parametrize("text", ["on 2026-02-30", "you may go", "march on", ""])
def test_what_is_no_time_is_none(text):
    """Dates that never were and words that only look like months name no time."""
    assert time_reference(text, FRIDAY) is None


def test_distance_from_a_span():
    """Nothing inside, doubled before: what happened is told afterwards."""
    span = Span(10 * DAY_US, 11 * DAY_US)
    assert [span.distance_us(day * DAY_US) for day in (8, 10)] == [4 * DAY_US, 0]
    assert span.distance_us(12 * DAY_US) == DAY_US + 1
