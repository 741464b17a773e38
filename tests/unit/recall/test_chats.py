"""Chats with an assistant: short messages of a person between long answers."""

import numpy as np
import pytest

from hmxgraph.recall.pool import EventPool, Nearby, field_scores, match_words
from hmxgraph.text.terms import counter
from tests.recall_makers import draft, event, packed

COUNT = counter()
CHATTER = " ".join(f"Step {number} of the general plan needs some more thought and care." for number in range(60))
ANSWER = f"Here is my advice. {CHATTER} Your Zotero library has room for another collection. {CHATTER}"


def _chat():
    events = []
    for number in range(0, 24, 2):
        events.append(event(number, f"Can you help me with part {number} of my essay?", speaker="user"))
        events.append(event(number + 1, f"Part {number}. {ANSWER}", speaker="assistant"))
    events.append(event(24, "I have added 52 sources to my Zotero library.", speaker="user"))
    events.append(event(25, f"Great. {ANSWER}", speaker="assistant"))
    return events


def test_long_answers_show_the_passages_that_match():
    """A long answer is cut to its beginning and the passage that matches if not everything fits."""
    pack = packed(_chat(), query="How many sources are in my Zotero library?", budget=1024, sections=["episodes"])
    shown = {entry.source_id: entry for entry in pack.entries}
    assert "e024" in shown
    answers = [entry for entry in pack.entries if "Zotero library has room" in entry.content]
    assert answers
    assert all(entry.token_estimate < 100 for entry in answers)
    assert COUNT(pack.text) <= 1024


def test_passages_are_longer_while_there_is_room():
    """A message of a person is not cut because another one is long, if all passages fit."""
    short = "I have added 52 sources to my Zotero library, " + "each with its notes and tags, " * 20 + "in an hour."
    long = "How many sources has my Zotero library now? " + CHATTER
    said = [*_chat()[:-2], event(24, short, speaker="user"), event(25, long, speaker="user", session="s2")]
    pack = packed(said, budget=700, query="How many sources are in my Zotero library?")
    assert len(pack.entries) > 1
    assert f"user: {short}" in [entry.content for entry in pack.entries]


def test_what_fits_is_shown_whole():
    """A long answer is not cut if everything relevant fits the budget."""
    pack = packed(_chat()[-2:], query="How many sources are in my Zotero library?", budget=8192, sections=["episodes"])
    assert any(entry.content == f"assistant: Great. {ANSWER}" for entry in pack.entries)


def test_tool_output_is_shown_whole():
    """Output of tools is not cut to passages."""
    rows = " ".join(f"row{number} zotero" for number in range(40))
    results = [event(n, f"zotero report {n}: {rows} {n}", kind="tool_result", source="tool:zotero") for n in range(4)]
    filler = [event(n, f"We talked about the weather on trip {n}.", session="s2") for n in range(10, 60)]
    pack = packed([*results, *filler], query="What did the zotero report say?", budget=512, sections=["episodes"])
    shown = {entry.content for entry in pack.entries}
    assert f"[tool] zotero report 0: {rows} 0" in shown


def test_a_short_message_outranks_the_long_answer_beside_it():
    """Of two turns with the same matching words the short one scores higher."""
    short, long = "I use Zotero.", f"You use Zotero. {CHATTER}"
    events = [event(0, short, session="a", speaker="user"), event(1, long, session="b", speaker="assistant")]
    pool = EventPool.of([row for row, _ in events])
    scores = field_scores(match_words(("zotero",), pool, 2), Nearby(pool))
    assert scores[pool.index["e000"]] > scores[pool.index["e001"]]


def test_standing_instructions_apply_to_other_words():
    """A person's instruction ranks above unrelated talk, the same words of an assistant do not."""
    words = "Always use bullet points when I ask about formatting."
    filler = [event(n, f"We talked about the weather on trip {n}.", speaker="user") for n in range(3, 40)]
    events = [event(0, words, speaker="user"), event(1, f"{words} Noted.", speaker="assistant"), *filler]
    pack = packed(events, query="How can I organize my CV?", budget=128, sections=["episodes"])
    assert "e000" in {entry.source_id for entry in pack.entries}
    ranks = {entry.source_id: entry.rank for entry in pack.entries}
    assert ranks["e000"] == min(ranks.values())


def test_an_instruction_waits_for_what_it_names():
    """With a condition, it counts for a question about the past only if they share a word."""
    events = [event(0, "Always add version numbers when I ask about libraries.", speaker="user", age_days=9)]
    events += [
        event(n, f"I moved the staging environment to host {n}", speaker="user", age_days=9) for n in range(3, 9)
    ]
    events.append(event(20, "Noted.", speaker="assistant", age_days=9))

    def first(query):
        entries = packed(events, query=query, sections=["episodes"]).entries
        return min(entries, key=lambda entry: entry.rank).source_id

    assert first("Where did I move the staging environment?") != "e000"
    assert first("Which libraries did I move to the staging environment?") == "e000"


def test_who_asks_in_the_first_person_asks_about_their_own_words():
    """The user's own words outrank the assistant's answer in the same words."""
    text = "The tests of the parser run on Monday"
    events = [event(0, f"{text} night", speaker="assistant"), event(9, f"{text} noon", speaker="user", session="s2")]

    def ranks(query):
        return {entry.source_id: entry.rank for entry in packed(events, query=query, sections=["episodes"]).entries}

    mine, any_ones = ranks("When did I say my parser tests run?"), ranks("When do the parser tests run?")
    assert mine["e009"] < mine["e000"]
    assert any_ones["e009"] > any_ones["e000"]


def test_no_events_have_no_lengths():
    """An empty pool has no lengths and no division by zero."""
    assert Nearby(EventPool()).lengths.tolist() == np.zeros(0).tolist()


def test_what_the_assistant_said_about_it_helps_the_asker_less():
    """Of two equally relevant lines the user's own is kept; a request for advice gets both."""
    said = [("I picked the blue paint for my kitchen wall", "user"), ("The paint suits a kitchen wall", "assistant")]
    events = [event(n, text, session=f"s{n}", speaker=speaker) for n, (text, speaker) in enumerate([*said, said[0]])]

    def related(query):
        ranking = draft(events, query=query).events
        return ranking.related(ranking.first, np.array([1.0, 0.5, 0.5]), 2048).tolist()

    assert related("Which paint did I pick for my kitchen wall?") == [True, False, True]
    assert related("Which paint suits the kitchen wall?")[1]


def test_what_holds_now_was_said_last():
    """A question about the present needs no old line that matches less than the newest ones."""
    early = event(
        1,
        "I dream of a bakery by the sea, with tables, lamps and flowers, and an oven",
        session="s1",
        speaker="Jon",
        age_days=90,
    )
    late = [
        event(10 + n, f"The bakery has its oven now, visit {n}", session="s2", speaker="Jon", age_days=2)
        for n in range(3)
    ]
    shown = {
        query: {entry.source_id for entry in packed([early, *late], query=query, budget=600).entries}
        for query in (
            "What about the bakery and its oven these days?",
            "What about the bakery and its oven?",
        )
    }
    assert ["e001" in ids for ids in shown.values()] == [False, True]


def _shown_of_talk(*texts, query, gap_before=None):
    """Which of *texts*, of a user and an assistant in turn, a pack shows; other sessions surround them."""
    speakers = ("user", "assistant") * len(texts)
    said = [
        event(number + 5 * (gap_before is not None and number >= gap_before), text, speaker=speaker)
        for number, (text, speaker) in enumerate(zip(texts, speakers, strict=False))
    ]
    other = [event(number, f"Day {number} was sunny", speaker="user", session="s2") for number in range(100, 140)]
    content = {entry.content for entry in packed([*said, *other], query=query).entries}
    return [f"{speaker}: {text}" in content for text, speaker in zip(texts, speakers, strict=False)]


ASKED, WRONG = "Which carrier delivers parcel seventy?", "DHL delivers parcel seventy."
OBJECTION, REPLY = "No, it's GLS, look at the label.", "You are right, my mistake."


def test_a_wrong_answer_is_shown_with_the_objection_and_the_reply():
    """What a person objects to is never shown alone; a later objection to the reply is shown too."""
    assert _shown_of_talk(ASKED, WRONG, OBJECTION, REPLY, query=ASKED) == [True] * 4
    again = (ASKED, WRONG, OBJECTION, REPLY, "Actually it was UPS", "Noted: UPS", "Thanks", "Any time")
    assert _shown_of_talk(*again, query=ASKED) == [True] * 6 + [False] * 2


def test_other_replies_are_no_objections():
    """Thanks, a "no" to a question and messages after a gap in the session do not become related."""
    assert _shown_of_talk(ASKED, WRONG, "Fine, I will call them.", REPLY, query=ASKED) == [True, True, False, False]
    assert _shown_of_talk(ASKED, f"{WRONG} Anything else?", "No", REPLY, query=ASKED) == [True, True, False, False]
    assert _shown_of_talk(ASKED, WRONG, OBJECTION, REPLY, query=ASKED, gap_before=2) == [True, True, False, False]


STATED = "I train for the Valencia half marathon in October"


@pytest.mark.parametrize(
    ("later", "shown"),
    [
        ("I cancelled Valencia because of the knee", True),
        ("They raised the fee for Valencia to 90 euros", True),
        ("Valencia is a fine town, we ate well", False),
        ("I cancelled the newspaper because of the price", False),
        ("I cancelled the newspaper. Valencia is a fine town", False),
        ("Did I say that I cancelled Valencia?", False),
    ],
)
def test_what_withdraws_a_statement_is_shown_with_it(later, shown):
    """The withdrawal shares only the name with the statement, and no word with the question."""
    said = (STATED, "Good luck!", "The garden needs water", "Indeed.", later, "I see.")
    pack = _shown_of_talk(*said, query="Which half marathon do I train for?")
    assert (pack[0], pack[4]) == (True, shown)


def test_a_request_without_a_word_in_common_gets_no_events():
    """The newest talk, or that of the time for which the work is wanted, has nothing to do with it."""
    said = [event(1, "My landlord raised the rent", speaker="user"), event(2, "That is a lot.", speaker="assistant")]
    assert not packed(said, query="Please cook something tonight").entries
    assert packed(said, query="What did I say this week?").entries
