"""Which directives contradict each other, and which answers differ."""

import pytest

from hmxgraph.text.comparison import claim, differs, opposed, stance

OPPOSITES = [
    ("Enable retries", "Disable retries"),
    ("Use online migrations", "Use offline migrations"),
    ("Back up before the migration", "Back up after the migration"),
    ("Run the smoke tests", "Skip the smoke tests"),
    ("Tests pass", "Tests fail"),
    ("Latency increases", "Latency decreased"),
    ("Deploy on Fridays", "Don't deploy on Fridays"),
    ("Deploy on Fridays", "You can\u2019t deploy on Fridays"),
    ("Deploy on Fridays", "You cannot deploy on Fridays"),
    ("Deploy on Fridays", "Never ever deploy on Fridays"),
    ("Deploy on Fridays", "Nobody may deploy on Fridays"),
    ("Deploy on Fridays", "Going forward, no one is allowed to deploy on Fridays"),
    ("Deploy on Fridays", "Stop deploying on Fridays"),
    ("Use metric units", "No longer use metric units"),
    ("Never lock a table", "Lock the table for the maintenance window"),
]
COMPATIBLE = [
    ("Deploy on Fridays", "Deploy on Fridays"),
    ("Deploy on Fridays", "Do not avoid deploying on Fridays"),
    ("Never deploy on Fridays", "Never lock a table"),
    ("Use British spelling", "Use British spelling without exception, no matter what"),
    ("Deploy in may", "You may deploy"),
    ("Never wait", "Wait for the rollout before you deploy"),
    ("", "Never"),
    ("Never", "Always"),
    ("", ""),
]


@pytest.mark.parametrize(("statement", "opposite"), OPPOSITES)
def test_opposites(statement, opposite):
    """Two texts for and against the same subject are opposed, in either order."""
    assert opposed(statement, opposite)
    assert opposed(opposite, statement)
    assert differs(statement, opposite)


@pytest.mark.parametrize(("statement", "compatible"), COMPATIBLE)
def test_compatible(statement, compatible):
    """Texts about another subject, or of the same opinion, are not opposed."""
    assert not opposed(statement, compatible)
    assert not opposed(compatible, statement)


@pytest.mark.parametrize(
    ("statement", "variant", "expected"),
    [
        ("Retry twice", "retry, twice!", False),
        ("Lock the table", "Lock the table and wait", False),
        ("Deploy to staging with a canary", "Deploy to production with a canary", True),
        ("Retry the call", "Escalate to the on-call", True),
        ("", "Retry", True),
        ("", "", False),
    ],
)
def test_answers_differ(statement, variant, expected):
    """An answer that only adds words does not differ."""
    assert differs(statement, variant) is differs(variant, statement) is expected


FOR_IT = [
    "Escalate to Priya when the registrar does not answer",
    "Page the on-call engineer if nobody replies within an hour.",
    "If the registrar doesn't answer, escalate to Priya.",
    "Ask for a receipt unless the amount is not taxable",
    "Retry until the queue is not full",
    "Lock the door so that nobody can enter",
    "Keep a copy in case the upload does not finish",
]
AGAINST_IT = [
    "Never escalate to Priya when the registrar answers",
    "Do not page anyone if nobody replies.",
    "If the registrar does not answer, do not call Priya.",
    "Don't deploy while the tests are not green",
    "When it hangs do not restart it",
    "If you are on call do not deploy, page Ada",
    "Agents while on call must never sleep",
    "The policy is to avoid jargon",
    "Nobody may merge until the build passes",
    "Make sure that the tests do not hang",
    "Ensure that no secrets are committed since they leak",
    "Try to avoid jargon",
    "Make sure to avoid jargon",
]


@pytest.mark.parametrize(("texts", "against"), [(FOR_IT, False), (AGAINST_IT, True)])
def test_a_negation_in_a_circumstance_does_not_invert_the_rule(texts, against):
    """What does not happen in the condition is asked for all the same; a negation of the instruction counts."""
    assert [text for text in texts if stance(text).against is not against] == []


def test_a_negated_circumstance_is_another_subject():
    """Rules for opposite circumstances do not answer the same question."""
    assert stance("Call Ada when the build passes").subject != stance("Call Ada when the build does not pass").subject


def test_stance_counts_negations():
    """Two negations cancel each other."""
    assert stance("Don't skip the tests").against is False
    assert stance("Allow no onerous checks").against is True
    assert stance("Skip the tests").against is True
    assert stance("Don't skip the tests").subject == stance("Run the tests").subject


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ann manages Bob", "Bob manages Ann"),
        ("Order 17 was refunded", "Order 18 was refunded"),
        ("The API listens on port 80", "The API listens on port 81"),
        ("Ann flies from Rome to Oslo", "Ann flies from Oslo to Rome"),
        ("The house has three doors", "The house has five windows"),
    ],
)
def test_other_matters_have_other_topics(first, second):
    """Word order matters, and a number after a noun is a name."""
    assert claim(first).topic != claim(second).topic


@pytest.mark.parametrize("text", ["Redis", "Costs 2 EUR"])
def test_a_claim_of_one_word_has_no_topic(text):
    """A single word would match too much."""
    assert claim(text).topic == ""


def test_a_longer_text_about_the_same_is_an_opposite():
    """Four of five terms are enough, whatever else the longer text says."""
    rule = "Rotate database credentials vault weekly"
    assert opposed(rule, "Never rotate database credentials vault during holiday season peak traffic window")
    assert not opposed(rule, "Never rotate database logs during holiday season peak traffic window")


OTHER_TIMES = [
    ("Backups run at 02:00", "Backups run at 04:00"),
    ("The night job starts at 1 am", "The night job starts at 3 a.m."),
    ("The office closes at 18:00.", "The office closes at 5 pm."),
    ("The shift lasts until 22:00", "The shift lasts until midnight"),
    ("The desk is staffed from 9:00 to 17:00", "The desk is staffed from 8:00 to 16:00"),
    ("Reports are due by 10:00 on Mondays", "Reports are due by 12:00 on Mondays"),
    ("Dinner is at 7 pm", "Dinner is at 8 pm"),
    ("Syncs run at 6:00 and 18:00", "Syncs run at 7:00 and 19:00"),
]
SAME_TIMES = [
    ("Backups run at 02:00", "Backups run at 2 am"),
    ("The office closes at 17:00.", "The office closes at 5 p.m."),
    ("Dinner is at noon", "Dinner is at 12:00"),
    ("The desk is staffed from 9:00 to 17:00", "The desk is staffed from 09:00-17:00"),
]
NO_OTHER_TIMES = [
    ("The gym is empty before 9:00", "The gym is empty after 21:00"),
    ("Backups run at 02:00", "Restores run at 04:00"),
    ("Backups run at 02:00", "Backups end at 04:00"),
    ("Backups run until 02:00", "Backups run from 02:00"),
    ("The 10:00 train is late", "The 11:00 train is late"),
    ("Backups run at 02:00", "Backups run at night"),
    ("Reports are due by 10:00 on Mondays", "Reports are due by 10:00 on Fridays"),
    ("Room 9:30 is free", "Room 9:40 is free"),
    ("Backups run at site 2", "Backups run at site 4"),
    ("Ratio at 1:3", "Ratio at 1:4"),
    ("Version 2:30 was built", "Version 2:31 was built"),
]


@pytest.mark.parametrize(("first", "second"), OTHER_TIMES)
def test_another_time_of_the_same_is_another_answer(first, second):
    """Statements that differ in the time of the day cannot both hold."""
    assert claim(first).topic == claim(second).topic
    assert claim(first).answer != claim(second).answer


@pytest.mark.parametrize(("first", "second"), NO_OTHER_TIMES)
def test_a_time_of_something_else_is_no_other_answer(first, second):
    """Times of other things, names that look like times and other prepositions are other topics."""
    assert claim(first).topic != claim(second).topic


@pytest.mark.parametrize(("first", "second"), SAME_TIMES)
def test_one_time_in_two_spellings_is_one_answer(first, second):
    """Statements that write the same time differently agree."""
    assert (claim(first).topic, claim(first).answer) == (claim(second).topic, claim(second).answer)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Parking costs 2 EUR", "Parking costs nothing"),
        ("Parking costs 2 EUR", "Parking is free of charge."),
        ("Parking costs \u20ac2.50 per hour", "Parking costs 3.20 euros per hour"),
        ("Deposits are 20 dollars", "Deposits are $30"),
        ("A seat costs $5", "A seat costs \u20ac5"),
    ],
)
def test_another_sum_of_money_is_another_answer(first, second):
    """The currency and its place do not make another topic, and nothing is a sum."""
    assert claim(first).topic == claim(second).topic != ""
    assert claim(first).answer != claim(second).answer


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Parking costs 2 EUR", "Parking costs 2 hours"),
        ("Parking costs 2 EUR", "Parking costs 2"),
        ("Parking costs 2 EUR", "Storage costs nothing"),
        ("Parking costs 2 EUR per hour", "Parking costs 9 EUR per day"),
        ("The 5 EUR ticket is valid for zone A", "The 10 EUR ticket is valid for zone A"),
        ("Refunds above 100 EUR need a signature", "Refunds above 50 EUR need a signature"),
        ("Room 3 is free", "Room 3 costs 2 EUR"),
    ],
)
def test_a_sum_of_something_else_is_no_contradiction(first, second):
    """A sum that names a thing or a limit is part of what the statement is about."""
    assert claim(first).topic != claim(second).topic


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Parking costs $2", "parking costs USD 2."),
        ("Parking costs 2 \u20ac", "Parking costs 2 euros"),
        ("It costs 0 EUR", "It costs nothing"),
        ("It costs 0,00 EUR", "It costs nothing"),
        ("Parking costs 12.50 EUR", "Parking costs 12,5 EUR"),
        ("The flat costs 5,000 EUR", "The flat costs 5000 EUR"),
        ("The flat costs 1.234,50 EUR", "The flat costs EUR 1,234.50"),
    ],
)
def test_one_sum_has_several_spellings(first, second):
    """Currencies have signs, codes and names; numbers have decimal commas and separators of thousands."""
    assert (claim(first).topic, claim(first).answer) == (claim(second).topic, claim(second).answer)
