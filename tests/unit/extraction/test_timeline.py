"""One question over time: which answer held when, and what is disputed."""

import pytest

from hmxgraph.extraction.timeline import Assertion, Dispute, Interval, StoredAssertion, ends, settle


def line(answers, stored=()):
    """Return the timeline of assertions given as (time, answer) or (time, answer, voice)."""
    assertions = [Assertion(answer[0], f"e{at:03}", *answer[1:]) for at, answer in enumerate(answers)]
    timeline = settle(stored, assertions)
    return [(interval.answer, interval.first_us, interval.last_us) for interval in timeline.intervals], [
        (dispute.interval.answer, dispute.assertion.answer) for dispute in timeline.disputes
    ]


@pytest.mark.parametrize(
    ("answers", "intervals", "disputes"),
    [
        ([(1, "a"), (2, "a")], [("a", 1, 2)], []),
        ([(1, "a"), (5, "b")], [("a", 1, 1), ("b", 5, 5)], []),
        ([(1, "a"), (5, "b"), (9, "a")], [("a", 1, 1), ("b", 5, 5), ("a", 9, 9)], []),
        ([(5, "b"), (1, "a")], [("a", 1, 1), ("b", 5, 5)], []),
        ([(1, "a"), (1, "b")], [("a", 1, 1)], [("a", "b")]),
        ([(1, "a", "Ann"), (5, "b", "Bob")], [("a", 1, 1)], [("a", "b")]),
        ([(1, "a", "Ann"), (5, "b", "Ann")], [("a", 1, 1), ("b", 5, 5)], []),
        ([(1, "a", "Ann"), (5, "b", "")], [("a", 1, 1), ("b", 5, 5)], []),
    ],
)
def test_later_answers_supersede(answers, intervals, disputes):
    """A later answer supersedes; one at the same time, or by another person, is disputed."""
    assert line(answers) == (intervals, disputes)


def test_a_hard_answer_gives_way_to_a_hard_one_only():
    """Any other answer, earlier or later, is disputed."""
    hard, soft, harder = Assertion(5, "e1", "a", hard=True), Assertion(9, "e2", "b"), Assertion(9, "e3", "b", hard=True)
    assert settle([], [hard, soft]).disputes == (Dispute(settle([], [hard]).intervals[0], soft),)
    assert [interval.answer for interval in settle([], [hard, harder]).intervals] == ["a", "b"]
    stored = Interval("b", 9, 9, key="B")
    assert settle([stored], [hard]).disputes == (Dispute(stored, hard),)
    assert settle([Interval("a", 5, 5, key="A", hard=True)], [soft]).disputes[0].assertion == soft


def test_a_late_telling_finds_its_place():
    """An assertion that arrives late is placed between stored answers by its time."""
    stored = [Interval("a", 1, 1, key="A"), Interval("c", 9, 9, key="C")]
    assert line([(5, "b")], stored)[0] == [("a", 1, 1), ("b", 5, 5), ("c", 9, 9)]


def test_an_earlier_telling_of_the_next_answer_moves_its_beginning():
    """An assertion just before an interval of the same answer extends it."""
    stored = [Interval("a", 1, 2, key="A"), Interval("b", 9, 9, key="B")]
    assert line([(5, "b")], stored)[0] == [("a", 1, 2), ("b", 5, 9)]


def test_within_a_span_another_answer_is_disputed():
    """Between two assertions of one answer, another answer is disputed."""
    assert line([(5, "b")], [Interval("a", 1, 9, key="A")])[1] == [("a", "b")]


def test_within_a_span_whose_assertions_are_known_another_answer_parts_it():
    """It splits the interval, unless it has the time of an assertion: then it is disputed."""
    assertions = tuple(StoredAssertion(time_us, f"k{time_us}") for time_us in (1, 6, 9))

    def stored():
        return [Interval("a", 1, 9, key="A", stored=assertions)]

    assert line([(5, "b")], stored()) == ([("a", 1, 1), ("b", 5, 5), ("a", 6, 9)], [])
    assert [
        (interval.key, interval.origin, interval.stored)
        for interval in settle(stored(), [Assertion(5, "e", "b")]).intervals
    ] == [
        ("A", "A", assertions[:1]),
        ("", "", ()),
        ("", "A", assertions[1:]),
    ]
    assert line([(6, "b")], stored()) == ([("a", 1, 9)], [("a", "b")])


def test_each_span_ends_where_the_next_begins():
    """Only the last answer holds."""
    assert ends([Interval("a", 1, 2), Interval("b", 5, 9)]) == (5, None)
    assert ends([]) == ()


def test_an_answer_has_the_voice_that_said_it_last():
    """At equal times the later event counts; its speaker may later change the answer."""
    said = [Assertion(1, "a", "Boston", "ann"), Assertion(1, "b", "Boston", "bob"), Assertion(2, "c", "Rome", "bob")]
    timeline = settle([], said)
    assert [interval.answer for interval in timeline.intervals] == ["Boston", "Rome"]
    assert timeline.disputes == ()
