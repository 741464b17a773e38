"""Pools, words, cues and the walk: the ranking of events."""

import numpy as np
import pytest

from hmxgraph.recall._parts import ranked_by_parts
from hmxgraph.recall.event_candidates import HELPS, separated, timely
from hmxgraph.recall.pool import EventPool, Nearby, field_scores, match_words, rarity, with_abbreviations
from hmxgraph.recall.question import understood
from hmxgraph.recall.relevance import (
    FIRST_MENTION,
    OWN_WORDS,
    QUESTION_TURN,
    SPEAKER,
    Ranking,
    cue_scores,
    near_best,
    speakers_named,
)
from hmxgraph.recall.walk import Mention, Neighbourhood, bridges, closeness
from tests.recall_makers import NOW, event, packed


def pool_of(*texts, **optional):
    """Return a pool of one session with these texts."""
    return EventPool.of([event(number, text, **optional)[0] for number, text in enumerate(texts)])


def test_a_pool_has_one_order():
    """Rows in any order, some repeated, yield the session in order."""
    rows = [event(number, "x")[0] for number in range(6)]
    assert EventPool.of(rows[::-1], rows[2:4]) == EventPool.of(rows)
    assert EventPool.of() == EventPool()


def test_calls_and_results_are_those_of_the_present_lines():
    """A pool whose lines changed says anew which events are calls, results and failures."""
    pool = EventPool(("e1", "e2"), text=("sh(ls)", "sh -> a.txt"), speaker=("", ""))
    assert (pool.calls.tolist(), pool.successes.tolist(), pool.failures.tolist()) == (
        [True, False],
        [False, True],
        [False, False],
    )
    changed = pool.with_lines(["sh -> a.txt", "sh failed: no"], [4, 4])
    assert (changed.calls.tolist(), changed.successes.tolist(), changed.failures.tolist()) == (
        [False, False],
        [True, False],
        [False, True],
    )


def test_names_are_those_of_the_present_lines():
    """A name that only the longer text of an event gives is known."""
    turns = {"speaker": ("user", "assistant"), "title": ("", ""), "label": ("", ""), "session_id": ("s", "s")}
    pool = EventPool(("e1", "e2"), text=("Hello", "Hello"), words=("hello", "hello"), **turns)
    assert (pool.introduced, pool.with_lines(["Hello, I'm Ana", "Hello"], [4, 2]).introduced) == ({}, {"ana": "user"})


def test_events_are_found_by_session():
    """Sessions are named by id or by one of their events; no session has the id None."""
    pool = EventPool.of([event(number, "x", session=f"s{number % 3}")[0] for number in range(6)])
    assert pool.session_id == ("s0", "s0", "s1", "s1", "s2", "s2")
    assert np.flatnonzero(pool.of_session("s1")).tolist() == [2, 3]
    assert np.flatnonzero(pool.of_sessions({"s0", "s2", "s9"})).tolist() == [0, 1, 4, 5]
    assert not pool.of_session(None).any()
    assert np.flatnonzero(pool.in_sessions_of(np.arange(6) == 4)).tolist() == [4, 5]
    assert (
        EventPool().of_sessions({"s0"}).tolist() == EventPool().in_sessions_of(np.zeros(0, dtype=bool)).tolist() == []
    )


def test_places_of_neighbours_differ_by_one():
    """Gaps in a session and other sessions are beyond the reach of neighbours."""
    rows = [event(0, "x")[0], event(1, "x")[0], event(9, "x")[0], event(10, "x", session="s2")[0]]
    assert EventPool.of(rows).places.tolist() == [0, 1, 6, 11]


def test_neighbours_are_counted_despite_gaps():
    """Four events on each side of a centre are neighbours despite gaps, within its session only."""
    rows = [event(number, "x", session=f"s{number // 120}")[0] for number in range(0, 240, 10)]
    assert set(np.diff(EventPool.of(rows).places)) == {5}
    pool = EventPool.of(rows, centres=frozenset({"e020", "e120"}))
    assert np.diff(pool.places).tolist() == [1] * 6 + [5] * 6 + [1] * 4 + [5] * 7


def test_words_reach_the_turns_around_them():
    """The answer to a matching question scores above a distant turn and below the match."""
    pool = pool_of("staging cluster", "It is Ann", *["noise"] * 8, "other")
    scores = field_scores(match_words(("stage", "cluster"), pool, 100), Nearby(pool))
    assert scores[0] > scores[1] > scores[2] > 0
    assert scores[9] == 0


def test_nothing_asked_scores_nothing():
    """Without terms or events all scores are zero, without a division by zero."""
    assert field_scores(match_words((), pool_of("a"), 1), Nearby(pool_of("a"))).tolist() == [0.0]
    assert field_scores(match_words(("stage",), EventPool(), 0), Nearby(EventPool())).tolist() == []
    assert field_scores(match_words(("stage",), pool_of(""), 1), Nearby(pool_of(""))).tolist() == [0.0]


def test_what_nobody_spoke_of_weighs_most_in_a_question_and_no_more_in_a_request():
    """A question about the unknown has no answer; a request for help may add details such as a place."""
    pool = pool_of("slow phone", "slow train", "phone bill")
    asked, requested = (match_words(("spain", "slow"), pool, 100, works=works).weights for works in (False, True))
    assert asked[0] > asked[1] == requested[1] == requested[0]
    assert match_words(("spain",), pool, 100, works=True).weights[0] == asked[0]


def test_what_people_always_say_weighs_less_than_a_topic():
    """In "I want to get a pet", the pet weighs more than wanting and getting."""
    weights = match_words(("hi", "want", "get", "pet"), pool_of("hi want get pet"), 100).weights
    assert weights[3] == 2 * weights[0] == 2 * weights[1] == 2 * weights[2]


def test_rare_words_weigh_more():
    """Inverse document frequency falls with every document that contains the word."""
    values = rarity([1, 10, 100], 100)
    assert values[0] > values[1] > values[2] > 0


def test_short_turns_rank_below_informative_ones():
    """A turn with few words ranks below its neighbours unless it matches the question."""
    pool = pool_of("Did you take the train to Lisbon?", "Thanks!", "Yes, my sister came with dogs and a tent", "Lisbon")
    cues = cue_scores(understood("Who went to Lisbon now, currently?", NOW), pool)
    assert cues[1] < cues[2] == cues[3] == 0


def test_the_speaker_who_is_named_stands_out():
    """The turns of a speaker whom the question names gain."""
    pool = EventPool.of([event(0, "Hello", speaker="Ann")[0], event(1, "Hello", speaker="Bob")[0]])
    question = understood("What did Ann say?", NOW)
    assert speakers_named(question, pool) == {"ann": "Ann"}
    scores = cue_scores(question, pool)
    assert scores[0] - scores[1] == pytest.approx(SPEAKER + FIRST_MENTION)


@pytest.mark.parametrize(
    ("last", "source", "names"),
    [
        ("Hello", "user", {"ann": "user"}),
        ("My name is Ann Lee", "user", {"ann": "user"}),
        ("My dog's name is Rex, the file name is Readme", "user", {"ann": "user"}),
        ("The Ann effect", "user", {}),  # a subject
        ("I\u2019m Bob, her brother", "user", {}),  # two people
        ("I'm Bob", "tool", {}),  # work with tools, of many people
    ],
)
def test_a_person_who_gives_a_name_is_the_speaker_of_that_name(last, source, names):
    """In chats with an assistant, a question about Ann is about the person who said "I'm Ann"."""
    kind, speaker = ("message", "user") if source == "user" else ("tool_result", "")
    pool = EventPool.of(
        [
            event(0, "Hi, I'm Ann", speaker="user")[0],
            event(1, "Hi, Ann!", speaker="assistant")[0],
            event(2, last, kind=kind, source=source, speaker=speaker)[0],
        ]
    )
    question = understood("What does Ann like?", NOW)
    assert speakers_named(question, pool) == names
    assert ("ann" in Ranking(question, pool, 10).terms) is not bool(names)


def test_first_mentions_rank_before_later_ones():
    """The earlier of two mentions gains, except for questions about the present, work requests and documents."""
    again = event(1, "The tent leaks", session="s1", age_days=1)[0]
    first = event(2, "The tent is new", session="s2", age_days=9)[0]

    def lead(text, *rows):
        scores = dict(zip((pool := EventPool.of(rows)).event_id, cue_scores(understood(text, NOW), pool), strict=True))
        return scores["e002"] - scores["e001"]

    assert lead("Who has a dog?", again, first) == pytest.approx(FIRST_MENTION / 2)
    assert lead("Who has a dog right now?", again, first) == lead("Pack the dog food", again, first) == 0
    assert lead("Who has a dog?", *([*row[:3], "A title", *row[4:]] for row in (again, first))) == 0


def test_a_turn_that_has_the_words_itself_stands_out():
    """Own words count for a question about the past; a request for work is answered by the turns after it."""

    def gains(query):
        pool = pool_of("The parser moved", "Fine by me then")
        ranking = Ranking(understood(query, 0), pool, len(pool))
        return (ranking.first - ranking.words - cue_scores(ranking.question, pool)).tolist()

    assert gains("Where did the parser move?") == pytest.approx([OWN_WORDS, 0.0])
    assert gains("Move the parser") == pytest.approx([0.0, 0.0])


def test_a_turn_that_asks_answers_less():
    """A turn that ends with a question mark ranks lower."""
    scores = cue_scores(understood("staging", NOW), pool_of("staging?", "staging"))
    assert scores[0] - scores[1] == pytest.approx(QUESTION_TURN)


def test_the_walk_reaches_what_shares_an_entity():
    """An event without query terms gains by sharing an entity with a matching one."""
    pool = pool_of("Ann runs staging", "The cluster is in Oslo", "Bread")
    around = Neighbourhood((Mention("e000", "cluster"), Mention("e001", "cluster")), 50)
    scores = closeness(understood("staging", NOW), pool, around, np.array([1.0, 0.0, 0.0]))
    assert scores[0] >= scores[1] > scores[2] == 0
    gains = bridges(
        understood("staging", NOW), pool, around, match_words(("stage",), pool, 50), np.array([1.0, 0.0, 0.0])
    )
    assert gains[1] > gains[2] == 0


@pytest.mark.parametrize(("title", "least", "most"), [("", 0.1, 1.2), ("Page", 0.25, 1.8)])
def test_a_shared_entity_leads_to_talk_less_surely_than_to_documents(title, least, most):
    """The gain is larger with the remaining words of the question, and larger for documents in both cases."""
    match, rest, other = "Ann runs staging", "The cluster is in Oslo", "The cluster is old"
    rows = [event(number, text)[0] for number, text in enumerate((match, rest, other))]
    pool = EventPool.of([(*row[:3], title, *row[4:]) for row in rows])
    mentions = Neighbourhood(tuple(Mention(event_id, "cluster") for event_id in pool.event_id), 1000)
    question = understood("Where is staging? Oslo?", NOW)
    words = match_words(("stage", "oslo"), pool, 1000)
    gains = bridges(question, pool, mentions, words, np.array([1.0, 0.0, 0.0]))
    assert least < gains[2] < gains[1] < most
    assert gains[1] > 0.7 * most


def test_without_mentions_nothing_walks():
    """An empty neighbourhood leaves the lexical scores unchanged."""
    ranking = Ranking(understood("staging", NOW), pool_of("staging", "bread"), 2)
    assert ranking.scores(Neighbourhood()) is ranking.first
    assert ranking.relevance(ranking.first).max() == 1.0


def test_what_helps_is_lifted_clear():
    """Any relevance is at least HELPS, zero stays zero, and an uncertain match scales everything down."""
    assert separated(np.array([0.0, 0.5, 1.0]), 0.5).tolist() == pytest.approx([0.0, 0.5 * (HELPS + 0.4), 0.5])


def _recency_of_the_last(question, **given):
    """Return the recency of an event of now; a better match is from weeks ago."""
    events = [
        event(1, "polars lacks a wheel for cp312, so pinned polars", session="s1", age_days=20.0),
        event(2, "ran tests of the wheel", session="now", salience=1.0),
    ]
    pack = packed(events, query=question, sections=["episodes"], **given)
    return pack.metadata["score_components"]["e002"]["recency"]


def test_recency_counts_less_for_less_relevant_events():
    """Recent events that match little of the question do not displace related older ones."""
    assert _recency_of_the_last("polars wheel cp312") < 0.3
    assert timely(np.array([1.0, 0.2, 0.0]), 1.0).tolist() == [1.0, 0.5, 0.0]


def test_when_recency_counts_fully():
    """It does in the running session, if requested, and if the question matches nothing."""
    assert _recency_of_the_last("polars wheel cp312", session_id="now") == 1
    assert _recency_of_the_last("polars wheel cp312", strategy="recency_biased") == 1
    assert _recency_of_the_last("unheard of") == 1
    assert timely(np.array([1.0, 0.2, 0.0]), 0.0).tolist() == [1.0, 1.0, 1.0]


def test_what_alone_has_the_words_asked_for_is_no_low_relevance():
    """An event with most query terms keeps a minimum relevance at any length."""
    talk = " ".join(f"thing{number}" for number in range(400))
    events = [
        event(1, "The bank lets us sign before winter", session="s1", salience=0.7),
        event(20, f"{talk} the notary De Boer signed it {talk}", session="s2", salience=0.7),
        *(event(number, f"Small talk of day {number}", session="s1", salience=0.7) for number in range(2, 12)),
    ]
    pack = packed(events, query="Which notary signed it?", sections=["episodes"], budget=16_384)
    assert "e020" in {entry.source_id for entry in pack.entries}


def test_a_name_in_the_question_says_more_than_its_other_words():
    """A name weighs more than an equally rare word of the phrasing."""
    pool = pool_of("We talked about the editing checklist", "Carla has read the draft")
    asked = [understood("Which checklist did I bring up with Carla?", NOW, names) for names in ([], ["Carla"])]
    plain, named = (Ranking(question, pool, 2).match.weight_by_term for question in asked)
    assert plain["carla"] == plain["checklist"] == named["checklist"] < named["carla"]


def test_the_more_is_shown_the_more_relevant_is_the_next():
    """A few events of low relevance may answer a question about the past; dozens do not."""
    alike = np.full(40, 0.5)
    assert near_best(np.array([1.0, *alike[:9]])).all()
    assert 10 < near_best(np.array([1.0, *alike])).sum() < 30
    assert near_best(np.array([1.0, *(2 * alike)])).all()


def test_who_gives_more_tokens_gets_less_certain_events_too():
    """A larger budget admits more events, the further ones less relevant; a smaller one admits fewer."""
    relevance = np.array([1.0, *np.linspace(0.9, 0.1, 60)])
    small, usual, large, larger = (near_best(relevance, budget).sum() for budget in (512, 2048, 4096, 8192))
    assert small < usual < large < larger < 61


def test_events_that_match_little_of_the_question_are_not_shown_for_being_the_best():
    """If one common word makes an event the best, events far below it are left out."""

    def shown(query):
        pool = pool_of(
            *[f"The team of {name} met about the budget" for name in ("Ann", "Bob", "Cy", "Di")], "The budget"
        )
        ranking = Ranking(understood(query, NOW), pool, 1000)
        relevance = np.array([1.0, 0.7, 0.6, 0.5, 0.46])
        return ranking.related(ranking.first, relevance, 2048).sum()

    assert shown("Who met about the budget?") == 5
    assert shown("Which glacier did the polar explorer photograph on his budget?") < 5


def test_two_words_of_the_question_are_found_joined_to_one():
    """A word joined from two of the question's words ("roadtrip") counts for both, unless these are apart."""
    pool = pool_of("The roadtrip was insane", "The trip was insane", "The flight was insane")

    def matched(query):
        match = Ranking(understood(query, NOW), pool, 3).match
        return (match.counts >= 1).sum(axis=0).tolist()

    assert matched("Who was on the road trip?") == [2, 1, 0]
    assert matched("Whose trip was on that icy road?") == [0, 1, 0]


def test_an_abbreviation_that_messages_give_counts_like_the_name():
    """Not in results, not if the texts disagree or only two give it, and not for a name with other abbreviations."""
    given = [event(n, f"From Newark Airport (EWR) on day {n}", speaker="user") for n in range(3)]
    asked = [event(8, "I leave EWR tomorrow", speaker="user"), event(9, "search -> EWR 7:00", kind="tool_result")]
    other = [event(20 + n, f"From Newark Airport (NWK) on day {n}", speaker="user") for n in range(3)]

    def counts(events):
        pool = EventPool.of([row for row, _ in events])
        match = with_abbreviations(match_words(("newark",), pool, 100), pool, "Is it from Newark?")
        return match.counts[0].tolist()

    assert counts([*given, *asked]) == [1, 1, 1, 1, 0]
    assert counts([*given[:2], *asked]) == [1, 1, 0, 0]
    assert counts([*given, *asked, *other])[3] == 0


def test_each_of_several_questions_finds_its_events():
    """Events that answer the second question well are related, although others contain more of both."""
    lines = [f"Ann keeps ladder {number}, the paint and the brushes in the shed" for number in range(3)]
    events = [*lines, "A man from Leeds came for the boiler", "Ann slept late"]
    pool = EventPool.of([event(number, text, session=f"s{number}")[0] for number, text in enumerate(events)])
    question = understood("Where does Ann keep the ladder, the paint and the brushes? Who repaired the boiler?", NOW)
    assert [part.text for part in question.parts] == question.text.replace("? ", "?|").split("|")
    as_one_text, by_parts = Ranking(question, pool, 100), ranked_by_parts(Ranking(question, pool, 100))
    related = [
        ranking.related(ranking.first, ranking.relevance(ranking.first), 2048).tolist()
        for ranking in (as_one_text, by_parts)
    ]
    assert related == [[True, True, True, False, False], [True, True, True, True, False]]
    best = by_parts.relevance(by_parts.first)
    assert best[0] == best[3] == 1.0
    assert by_parts.words[3] == 1.0 > as_one_text.words[3]
    assert by_parts.assurance == 1.0


@pytest.mark.parametrize(
    ("text", "tools", "apart"),
    [
        ("Where is Ann? Where is Bob's bike?", True, True),
        ("Can you return the bike? Where is Bob's order?", True, False),
        ("Can you summarise the talk? Where is Bob's bike?", False, True),
        ("Where is Ann?", False, False),
    ],
)
def test_a_request_for_work_with_tools_is_ranked_as_a_whole(text, tools, apart):
    """Past sessions of such work had the whole request."""
    kind = "tool_result" if tools else "message"
    pool = EventPool.of([event(0, "Bob's bike", kind=kind)[0]])
    assert Ranking(understood(text, NOW), pool, 1).has_parts is apart
