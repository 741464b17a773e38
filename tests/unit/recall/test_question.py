"""Question analysis and named times."""

import pytest

from hmxgraph.protocol.timestamps import DAY_US, microseconds
from hmxgraph.recall._times import Span, named_time
from hmxgraph.recall.question import LONGEST_NAME, MOST_TERMS, asks_for_work, objects, understood
from hmxgraph.text.terms import search_text

FRIDAY = 1_773_360_000_000_000  # 13 March 2026


def span_in(text, as_of_us):
    """Return the span of the time that *text* names, or None."""
    named = named_time(text, as_of_us)
    return None if named is None else named.span


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("When did Ann deploy?", "temporal"),
        ("Why does the build fail?", "diagnostic"),
        ("Should we migrate online?", "decision"),
        ("Who owns the staging cluster?", "factual"),
        ("How do I deploy to staging?", "procedural"),
        ("What do we need to do before we deploy?", "procedural"),
        ("", "procedural"),
    ],
)
def test_the_intent(text, intent):
    """The intent distinguishes questions about the past, failures, decisions and work requests."""
    assert understood(text, FRIDAY).intent == intent


def test_long_questions_are_bounded():
    """A very long question yields at most 64 terms and names of at most eight words."""
    question = understood("word" + " ".join(f"term{number}" for number in range(100_000)), FRIDAY)
    assert len(question.terms) == len(question.keywords) == MOST_TERMS
    assert max(len(run.split()) for run in question.runs) == LONGEST_NAME


def test_the_numbers_of_a_day_are_no_words_of_the_matter():
    """Numbers of a time expression are not search terms; years and other numbers are."""
    terms = understood("What broke in flat 18 on 18 March 2025, and from 3 to 5 May?", FRIDAY).terms
    assert terms.count("18") == 1
    assert "2025" in terms
    assert understood("What broke on 18 March?", FRIDAY).terms == ("broke", "march")
    assert understood("\u0130zmir broke on 2026-03-02, 3 times", FRIDAY).terms[-3:] == ("2026", "3", "time")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What happened last Tuesday?", ("happen",)),
        ("What broke two weeks ago?", ("broke",)),
        ("Who called in March 2023?", ("call", "march", "2023")),
        ("What failed on 6 October?", ("fail", "octob")),
        ("How fast does the dashboard answer these days?", ("fast", "dashboard", "answer")),
        ("Which dogs are there, and what are they called?", ("dog",)),
        ("How is the garden coming along?", ("garden", "come")),
        ("What kinds of sport do they do?", ("sport",)),
        ("Was she kind to the sort of people I type to?", ("kind", "sort", "peopl", "type")),
        ("Who was called along the road?", ("call", "along", "road")),
    ],
)
def test_words_of_a_time_expression_are_no_search_terms(text, terms):
    """Words of a time expression, except months and years, and of idioms are not search terms."""
    assert understood(text, FRIDAY).terms == terms


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("When did I order it?", True),
        ("I am not sure when I ordered it, can you look?", True),
        ("I typed the wrong street when I ordered, can you change it?", False),
    ],
)
def test_a_time_of_the_asker_is_no_question_for_a_time(text, asks):
    """The clause "when I ordered" does not ask for a time."""
    assert understood(text, FRIDAY).when is asks


@pytest.mark.parametrize(
    ("text", "troubled"),
    [
        ("mix test aborts with ** (RuntimeError) no key base", True),
        ("git push says: fatal: The current branch has no upstream", True),
        ("It would be fatal to wait, and the terror of it", False),
        ("The booking keeps getting rejected", True),
        ("The address is not known, and I can't find him", True),
        ("It won't go through", True),
        ("Which of her scripts were rejected?", False),
    ],
)
def test_trouble_is_told_in_everyday_words(text, troubled):
    """Trouble is recognised in everyday words; something refused to somebody in the past is not current trouble."""
    assert understood(text, FRIDAY).troubled is troubled


def test_names_match_as_runs_of_terms():
    """A question mentions a name only with all of its words in order."""
    question = understood("Does the staging cluster of Ann Lee run?", FRIDAY)
    assert question.mentions(search_text("Ann Lee"))
    assert not question.mentions(search_text("Lee Ann"))


@pytest.mark.parametrize(
    "text",
    [
        "Please deploy staging",
        "Could you return my order?",
        "Deploy staging",
        "Hey, can we deploy?",
        "Can you see why it fails?",
        "My phone has no signal, can you fix it?",
        "Hi, is it possible to change my flight?",
        "Is there any way to get a refund?",
        "Would you mind checking my bill?",
        "I typed the wrong street, can the parcel go to my sister instead?",
        "I got ill, can I cancel my flight?",
        "My plane was late, what can you offer me?",
        "It is still slow. What should I try next?",
        "My data is slow, what should I check?",
        "Which of the two settings should I change first?",
        "Should I reset it?",
    ],
)
def test_requests_want_work(text):
    """A polite request is still a request for work."""
    assert asks_for_work(text)


@pytest.mark.parametrize(
    "text",
    [
        "Is there a way Ann could have known?",
        "Is it possible to know when Ann moved?",
        "You met Ann last week, can you remember where?",
        "Was it possible to deploy on Friday?",
        "What should I have told Ann?",
        "What did Ann say that she should check?",
    ],
)
def test_questions_about_the_past_want_none(text):
    """Questions about the past request no work, even if they sound like polite requests."""
    assert not asks_for_work(text)


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
        ("in 2024", "2024-01-01T00:00:00.000Z/2025-01-01T00:00:00.000Z"),
        ("a fortnight ago", "2026-02-20T00:00:00.000Z/2026-03-07T00:00:00.000Z"),
        ("last quarter", "2025-10-01T00:00:00.000Z/2026-01-01T00:00:00.000Z"),
        ("in Q2", "2025-04-01T00:00:00.000Z/2025-07-01T00:00:00.000Z"),
        ("Q4 of last year", "2025-10-01T00:00:00.000Z/2026-01-01T00:00:00.000Z"),
        ("the third quarter of 2023", "2023-07-01T00:00:00.000Z/2023-10-01T00:00:00.000Z"),
        ("the quarter before May 2023", "2023-02-01T00:00:00.000Z/2023-05-01T00:00:00.000Z"),
        ("at 2026-03-05T10:00:00Z", "2026-03-05T00:00:00.000Z/2026-03-06T00:00:00.000Z"),
        ("at 2026-03-05T22:00:00.5-05:00", "2026-03-06T00:00:00.000Z/2026-03-07T00:00:00.000Z"),
        ("Sept 5 2022", "2022-09-05T00:00:00.000Z/2022-09-06T00:00:00.000Z"),
        ("in May last year", "2025-05-01T00:00:00.000Z/2025-06-01T00:00:00.000Z"),
        ("last year in May", "2025-05-01T00:00:00.000Z/2025-06-01T00:00:00.000Z"),
        ("8 May of last year", "2025-05-08T00:00:00.000Z/2025-05-09T00:00:00.000Z"),
        ("seven days ago", "2026-03-06T00:00:00.000Z/2026-03-07T00:00:00.000Z"),
        ("twelve weeks ago", "2025-12-16T00:00:00.000Z/2025-12-23T00:00:00.000Z"),
        ("2 weeks, 3 days ago", "2026-02-24T00:00:00.000Z/2026-02-25T00:00:00.000Z"),
        ("half a year ago", "2025-06-13T00:00:00.000Z/2025-12-13T00:00:00.000Z"),
        ("in the last 3 days", "2026-03-10T00:00:00.000Z/2026-03-14T00:00:00.000Z"),
        ("on Tuesday of last week", "2026-03-03T00:00:00.000Z/2026-03-04T00:00:00.000Z"),
    ],
)
def test_times_are_resolved_against_the_moment_asked_from(text, span):
    """A day or month without a year is the latest one begun; weekdays and weeks are in the past."""
    assert str(span_in(text, FRIDAY)) == span


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("since Tuesday", "2026-03-10T00:00:00.000Z/2026-03-14T00:00:00.000Z"),
        ("since the 2nd of March", "2026-03-02T00:00:00.000Z/2026-03-14T00:00:00.000Z"),
        ("since last week", "2026-03-02T00:00:00.000Z/2026-03-14T00:00:00.000Z"),
        ("since 2024", "2024-01-01T00:00:00.000Z/2026-03-14T00:00:00.000Z"),
        ("since the third quarter of 2027", "2027-07-01T00:00:00.000Z/2027-10-01T00:00:00.000Z"),
        ("between 3 May and 9 May 2023", "2023-05-03T00:00:00.000Z/2023-05-10T00:00:00.000Z"),
        ("between 3 and 5 March", "2026-03-03T00:00:00.000Z/2026-03-06T00:00:00.000Z"),
        ("on March 3rd-5th", "2026-03-03T00:00:00.000Z/2026-03-06T00:00:00.000Z"),
        ("30 to 2 March", "2026-03-02T00:00:00.000Z/2026-03-03T00:00:00.000Z"),
        ("from 30 December to 2 January 2023", "2022-12-30T00:00:00.000Z/2023-01-03T00:00:00.000Z"),
        ("from last Monday until yesterday", "2026-03-09T00:00:00.000Z/2026-03-13T00:00:00.000Z"),
        ("from November to January", "2025-11-01T00:00:00.000Z/2026-02-01T00:00:00.000Z"),
        ("between June and August 2023", "2023-06-01T00:00:00.000Z/2023-09-01T00:00:00.000Z"),
        ("from 2021 through 2023", "2021-01-01T00:00:00.000Z/2024-01-01T00:00:00.000Z"),
        ("from 9 May 2023 to 3 May 2023", "2023-05-09T00:00:00.000Z/2023-05-10T00:00:00.000Z"),
        ("a gift from Ann to Bob on 3 March", "2026-03-03T00:00:00.000Z/2026-03-04T00:00:00.000Z"),
        ("between April and Ann", "None"),
        ("answer Q3 of the quiz", "None"),
        ("the third quarter of the game", "None"),
    ],
)
def test_times_reach_as_far_as_the_words_around_them_say(text, span):
    """Ranges extend from one time to another, or to the moment of asking."""
    assert str(span_in(text, FRIDAY)) == span


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("the day before yesterday", "2026-03-11T00:00:00.000Z/2026-03-12T00:00:00.000Z"),
        ("3 days before 8 May 2023", "2023-05-05T00:00:00.000Z/2023-05-06T00:00:00.000Z"),
        ("two weeks after May 8, 2023", "2023-05-19T00:00:00.000Z/2023-05-26T00:00:00.000Z"),
        ("the week before August 3, 2023", "2023-07-27T00:00:00.000Z/2023-08-03T00:00:00.000Z"),
        ("the week after last week", "2026-03-09T00:00:00.000Z/2026-03-16T00:00:00.000Z"),
        ("the month before March 2023", "2023-02-01T00:00:00.000Z/2023-03-01T00:00:00.000Z"),
        ("the year after 2022", "2023-01-01T00:00:00.000Z/2024-01-01T00:00:00.000Z"),
        ("last weekend before April 10, 2023", "2023-04-08T00:00:00.000Z/2023-04-10T00:00:00.000Z"),
        ("the weekend after 8 April 2023", "2023-04-15T00:00:00.000Z/2023-04-17T00:00:00.000Z"),
        ("on the Monday before July 24, 2023", "2023-07-17T00:00:00.000Z/2023-07-18T00:00:00.000Z"),
    ],
)
def test_times_before_and_after_another(text, span):
    """An offset from a time is as precise as its unit."""
    assert str(span_in(text, FRIDAY)) == span


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("last Monday, not yesterday", "2026-03-09T00:00:00.000Z/2026-03-10T00:00:00.000Z"),
        ("in 2024 or on 5 March 2025", "2024-01-01T00:00:00.000Z/2025-01-01T00:00:00.000Z"),
        ("before May 8, 2023", "2023-05-08T00:00:00.000Z/2023-05-09T00:00:00.000Z"),
        ("last Friday on 23 January", "2026-01-23T00:00:00.000Z/2026-01-24T00:00:00.000Z"),
        ("on Monday, 8 May 2023", "2023-05-08T00:00:00.000Z/2023-05-09T00:00:00.000Z"),
        ("the last week of April", "2025-04-24T00:00:00.000Z/2025-05-01T00:00:00.000Z"),
        ("last week, as mentioned on November 6, 2023", "2023-11-06T00:00:00.000Z/2023-11-07T00:00:00.000Z"),
        ("last week in Paris", "2026-03-02T00:00:00.000Z/2026-03-09T00:00:00.000Z"),
    ],
)
def test_the_first_time_counts(text, span):
    """The first of several times counts, but a relative time gives way to a date that follows it."""
    assert str(span_in(text, FRIDAY)) == span


@pytest.mark.parametrize(
    ("as_of_us", "this", "last"),
    [
        (FRIDAY, "2026-03-07", "2026-03-07"),
        (FRIDAY + DAY_US, "2026-03-14", "2026-03-07"),
        (FRIDAY + 2 * DAY_US, "2026-03-14", "2026-03-07"),
        (FRIDAY + 3 * DAY_US, "2026-03-14", "2026-03-14"),
    ],
)
def test_weekends(as_of_us, this, last):
    """The phrase "this weekend" is the current or latest one, "last weekend" a completed one."""
    assert str(span_in("this weekend", as_of_us)).startswith(this)
    assert str(span_in("last weekend", as_of_us)).startswith(last)


@pytest.mark.parametrize(
    "text",
    ["8 may 2023", "on may 8, 2023", "what happened may 8 2023?", "8th of may 2023", "may 8th 2023", "8 May 2023"],
)
def test_months_in_small_letters(text):
    """A year, an ordinal, a preposition or a capital turns "may" with a number into a date."""
    assert str(span_in(text, FRIDAY)) == "2023-05-08T00:00:00.000Z/2023-05-09T00:00:00.000Z"
    if text.startswith(("on", "8th", "may", "8 May")):
        without_year = text.replace(" 2023", "").removesuffix(",")
        assert str(span_in(f"{without_year} was it", FRIDAY)).startswith("2025-05-08")


@pytest.mark.parametrize(
    "text",
    [
        *("on 2026-02-30", "you may go", "march on", ""),
        *("may 5 users log in", "we march 4 miles", "12 may users", "we march 4.5 miles", "to march 4 miles"),
        *("twenty-one days ago", "2.5 weeks ago", "3 days before payday", "a Christmas tree"),
        *("on 5/3/2026", "version 1.2.2026.4", "the hot spring", "did prices fall", "a summer dress"),
    ],
)
def test_what_is_no_time_is_none(text):
    """Impossible dates and words that merely resemble months name no time."""
    assert span_in(text, FRIDAY) is None


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("in the first week of July", "2025-07-01/2025-07-08"),
        ("in early March", "2026-03-01/2026-03-11"),
        ("in mid-April 2024", "2024-04-11/2024-04-21"),
        ("at the end of February 2024", "2024-02-21/2024-03-01"),
        ("in the second half of May", "2025-05-16/2025-06-01"),
        ("last summer", "2025-06-01/2025-09-01"),
        ("in the summer of 2023", "2023-06-01/2023-09-01"),
        ("this spring", "2026-03-01/2026-06-01"),
        ("last winter", "2025-12-01/2026-03-01"),
        ("in the fall", "2025-09-01/2025-12-01"),
        ("at Christmas", "2025-12-24/2025-12-27"),
        ("on New Year's Eve", "2025-12-31/2026-01-01"),
        ("on Valentine's Day 2025", "2025-02-14/2025-02-15"),
        ("over Easter", "2025-04-18/2025-04-22"),
        ("at Easter 2024", "2024-03-29/2024-04-02"),
        ("at Thanksgiving", "2025-11-27/2025-11-28"),
        ("3 days before Christmas", "2025-12-21/2025-12-22"),
        ("the weekend before Christmas", "2025-12-20/2025-12-22"),
        ("on 05.03.2026", "2026-03-05/2026-03-06"),
        ("on 3/25/2025", "2025-03-25/2025-03-26"),
        ("on 25/3/2025", "2025-03-25/2025-03-26"),
        ("two Fridays ago", "2026-02-27/2026-02-28"),
        ("in the last 48 hours", "2026-03-11/2026-03-14"),
    ],
)
def test_parts_of_months_seasons_and_feasts(text, span):
    """Parts of months, seasons and holidays are times, as are numeric dates in an unambiguous order."""
    begin, end = span.split("/")
    assert str(span_in(text, FRIDAY)) == f"{begin}T00:00:00.000Z/{end}T00:00:00.000Z"


@pytest.mark.parametrize(
    ("text", "asked", "span"),
    [
        ("last winter", "2025-01-15", "2023-12-01/2024-03-01"),
        ("in the winter", "2025-01-15", "2024-12-01/2025-03-01"),
        ("on 29 February", "2026-03-13", "2024-02-29/2024-03-01"),
        ("on 29 February", "2024-02-29", "2024-02-29/2024-03-01"),
        ("on May 10", "2025-05-05", "2024-05-10/2024-05-11"),
    ],
)
def test_a_time_without_a_year_is_the_latest_of_its_kind(text, asked, span):
    """It is the latest such time that existed and had begun when the question was asked."""
    begin, end = span.split("/")
    assert str(span_in(text, microseconds(f"{asked}T12:00:00Z"))) == f"{begin}T00:00:00.000Z/{end}T00:00:00.000Z"


def test_a_feast_is_a_word_of_the_matter_too():
    """A holiday without a preposition is a topic, not a time."""
    assert "christma" in understood("What did we plan over Christmas?", FRIDAY).terms
    assert "summer" in understood("Where were we last summer?", FRIDAY).terms


def test_distance_from_a_span():
    """The distance is zero inside the span and doubled before it."""
    span = Span(10 * DAY_US, 11 * DAY_US)
    assert [span.distance_us(day * DAY_US) for day in (8, 10)] == [4 * DAY_US, 0]
    assert span.distance_us(12 * DAY_US) == DAY_US + 1


@pytest.mark.parametrize(
    "text",
    [
        *("What is the latest error?", "Which version is on staging now?", "What was the last error?"),
        *("Which error did we get last?", "What failed an hour ago?", "What just failed?", "What was Ann's last job?"),
        *("What was the previous deploy?", "Where do we run it these days?", "What do we use at the moment?"),
    ],
)
def test_what_is_new_is_asked_for(text):
    """The usual words for the latest item are recognised."""
    assert understood(text, FRIDAY).latest


@pytest.mark.parametrize(
    "text",
    [
        *("What did we do last week?", "What failed in the last two weeks?", "Who called over the last few days?"),
        *("What did she buy last spring?", "Who owned staging?", "Did the lasting peace last long?", "I know the port"),
    ],
)
def test_times_and_other_words_ask_for_nothing_new(text):
    """The phrase "the last two weeks" is a time and the verb "last" is not a request for the latest item."""
    assert not understood(text, FRIDAY).latest


def test_people_may_be_called_like_months():
    """April and June are months only with further evidence."""
    assert span_in("What did April deploy to staging?", FRIDAY) is None
    assert str(span_in("What did June deploy yesterday?", FRIDAY)).startswith("2026-03-12")
    dated = ("in April", "April 10, 2025", "April 2025", "10 April", "last April")
    assert all("2025-04" in str(span_in(f"What was {text}?", FRIDAY)) for text in dated)


def test_the_month_may_is_no_term():
    """The word "may" is nearly always a verb; the time that the question names covers the month."""
    assert "may" not in understood("What did Ann bake on 4 May 2026 or on 5 May?", FRIDAY).terms
    assert "march" in understood("What did Ann bake in March?", FRIDAY).terms


def test_what_now_asks_for_the_next_step_not_for_the_latest_events():
    """Whoever quotes an error and asks "What now?" does not mean the newest events; "where is it now" does."""
    assert not understood("The push fails. What now?", 0).latest
    assert understood("Where does the team meet now?", 0).latest


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Where is Ann? Where is Bob's bike?", 2),
        ("Where is Ann? Where does she keep the red bike?", 0),  # a pronoun for Ann
        ("Where is Ann? Did Bob say where he lives?", 2),  # a pronoun for Bob
        ("Where is Ann? Why?", 0),  # no terms of its own
        ("Where is Ann? Bob is ill. Where is Cid?", 2),  # a statement before the second question
        ("Where is Ann. Bob is ill.", 0),  # no question mark
        (" ".join(f"Where is box {number}?" for number in range(4)), 4),
        (" ".join(f"Where is box {number}?" for number in range(5)), 0),  # too many to rank
    ],
)
def test_a_text_with_several_questions_has_parts(text, parts):
    """Questions that can be understood separately are parts."""
    question = understood(text, 0, ("Ann", "Bob", "Cid"))
    assert len(question.parts) == parts
    assert all(part.text in text and not part.parts for part in question.parts)


@pytest.mark.parametrize(
    "text",
    [
        "No, it's GLS",
        "no that's wrong, I wanted 2.3.0! roll it back",
        "Actually, the refund should go to my card",
        "Hm, that\u2019s outdated: she moved",
        "Wrong, the port is 8080",
        "Sorry, I meant Tuesday",
        "Not quite.",
        "That isn't what I asked for",
        "You got that wrong",
    ],
)
def test_an_objection_is_one_even_to_a_question(text):
    """It says that what was said is wrong."""
    assert objects(text, to_question=True)


@pytest.mark.parametrize(
    "text",
    [
        "No, that's all for now.",
        "Nope, that\u2019s everything",
        "No, it is fine",
        "No problem!",
        "Actually, can we talk?",
        "Now it works",
    ],
)
def test_thanks_and_new_wishes_are_no_objections(text):
    """Such words end a conversation or change the subject."""
    assert not objects(text)


@pytest.mark.parametrize(
    ("query", "all_rules"),
    [
        ("Which rules do I have to follow in this repo?", True),
        ("What are my standing instructions?", True),
        ("What are the team's conventions?", True),
        ("What is the refund policy?", False),
        ("Which rules apply to commits?", False),
        ("What did the team follow?", False),
    ],
)
def test_a_question_for_rules_without_a_subject_is_for_all_rules(query, all_rules):
    """It gets all rules and preferences, whatever words they have."""
    assert understood(query, 0).of_manner is all_rules


@pytest.mark.parametrize(
    ("query", "overview"),
    [
        ("What changed in November?", True),
        ("What was decided in November?", True),
        ("What changed in the deployment in November?", False),
    ],
)
def test_what_changed_at_a_time_is_asked_of_everything(query, overview):
    """A change without a subject is whatever was said then."""
    assert understood(query, 1_796_000_000_000_000).overview is overview
