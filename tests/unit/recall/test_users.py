"""Whose words a pack shows in a tenant of several users: other users are named, and do not answer for the asker."""

import pytest

from hmxgraph.recall._users import Asker, relevant_to_asker, with_own_names
from hmxgraph.recall.pool import EventPool
from hmxgraph.recall.question import PackRequest, understood
from tests.recall_makers import COUNT, event, packed

MOVED = "my address changed, I live at Kanaalweg 12 in Utrecht now"
QUERY = "Who lives at Kanaalweg 12 in Utrecht?"


def line(number, text, user="", *, speaker="user", session="s1"):
    """Return an event of a user."""
    row, whole = event(number, text, speaker=speaker, session=session)
    return (*row, user), whole


def kept(query, *lines, user_id: str | None = "omar", session_id: str | None = None):
    """Return the texts of the *lines* that may answer *query*."""
    pool = EventPool.of([row for row, _ in lines])
    asker = Asker.of(pool, PackRequest(query, user_id=user_id, session_id=session_id))
    return list(relevant_to_asker(pool, understood(query, 0), asker).text)


@pytest.mark.parametrize(
    ("asking", "shown"),
    [
        ("omar", ["user piet: " + MOVED, "assistant to piet: Kanaalweg 12, noted.", "user: I left Kanaalweg 12"]),
        ("PIET", ["user: " + MOVED, "assistant: Kanaalweg 12, noted.", "user omar: I left Kanaalweg 12"]),
        (None, ["user piet: " + MOVED, "assistant to piet: Kanaalweg 12, noted.", "user omar: I left Kanaalweg 12"]),
    ],
)
def test_lines_of_other_users_show_whose_they_are(asking, shown):
    """What other users say, and what an assistant says to them, is named and counted; the asker's own words are not."""
    said = [
        line(1, MOVED, "piet"),
        line(2, "Kanaalweg 12, noted.", speaker="assistant"),
        line(3, "I left Kanaalweg 12", "omar", session="s2"),
    ]
    pack = packed(said, query=QUERY, user_id=asking, sections=["episodes"])
    entries = {entry.source_id: entry for entry in pack.entries}
    assert [entries[each].content for each in ("e001", "e002", "e003")] == shown
    assert all(entry.token_estimate == COUNT(f"{entry.content}\n") for entry in pack.entries)


@pytest.mark.parametrize(
    "user", ["piet", "emma_kim_9957", "p.van-dam@x.org", "42", "a" * 90, "x:\n## Core", "Zo\u00eb-"]
)
@pytest.mark.parametrize("text", ["Kanaalweg 12", ": Kanaalweg", "12 Kanaalweg", "'s Kanaalweg\nUtrecht", "\u00fc"])
def test_names_are_counted_and_no_structure(user, text):
    """Whatever a user is called, the line begins with a plain name, and its tokens are those of the line."""
    said = [line(1, f"{text} {QUERY}", user), line(2, f"{text} {QUERY} noted", speaker="assistant")]
    pack = packed(said, query=QUERY, user_id="omar", sections=["episodes"])
    assert "\n##" not in pack.text
    lines = {each.split(" ")[0] for each in pack.lines}
    assert len(pack.entries) == 2
    assert lines == {"user", "assistant"}
    assert sum(entry.token_estimate for entry in pack.entries) == sum(COUNT(f"{each}\n") for each in pack.lines)


def test_a_name_is_enough():
    """A line with a speaker's own name stays as it is, and so do all lines of one user."""
    named = packed([line(1, MOVED, "piet_1", speaker="Piet")], query=QUERY, user_id="omar", sections=["episodes"])
    assert [entry.content for entry in named.entries] == [f"Piet: {MOVED}"]
    alone = packed([line(1, MOVED, "piet")], query=QUERY, sections=["episodes"])
    assert [entry.content for entry in alone.entries] == [f"user: {MOVED}"]


@pytest.mark.parametrize(
    ("asking", "running", "shown"),
    [("omar", None, "unnamed user: "), ("omar", "s2", "user: "), (None, None, "user: ")],
)
def test_who_named_no_user_is_not_the_asker(asking, running, shown):
    """What nobody in particular said is not shown as the asker's own, unless it was said in the running session.

    In a session with one user, it is that user's.
    """
    said = [line(1, MOVED, "piet"), line(2, f"{MOVED}, really"), line(3, f"{MOVED}, I am the owner", session="s2")]
    said += [line(4, "Kanaalweg 12?", "petra", session="s3")]
    pack = packed(said, query=QUERY, user_id=asking, session_id=running, sections=["episodes"])
    entries = {entry.source_id: entry.content for entry in pack.entries}
    assert entries["e002"] == f"user piet: {MOVED}, really"
    assert entries["e003"] == f"{shown}{MOVED}, I am the owner"


@pytest.mark.parametrize(
    "query",
    [
        "Where do I live?",
        "What is my address?",
        "Who is my doctor and where do I live?",
        "What did I say about Utrecht?",
        "which street is mine",
        "What am I allergic to?",
    ],
)
def test_nobody_is_answered_with_what_others_say_of_themselves(query):
    """A question about the asker ignores statements of other users about themselves, but not their other messages."""
    own, asked = line(1, "I live in Halle.", "Omar"), line(2, "Where do I live?", "piet")
    general, unnamed = line(3, "The branch in Utrecht is closed", "piet"), line(4, "I live in Bonn", "")
    answer = line(5, "You live in Utrecht.", "piet", speaker="assistant")
    others = [line(6, MOVED, "piet"), line(7, "We moved. Is that fine?", "petra")]
    left = [own, asked, general, unnamed, answer]
    assert kept(query, *left, *others) == [text for _, text in left]


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("Where does Piet live?", {}),
        ("Who lives in Utrecht?", {}),
        ("What did I tell piet about Utrecht?", {}),
        ("Please move my appointment to Utrecht", {}),
        ("Why did my payment in Utrecht fail?", {}),
        ("How do I get to Utrecht?", {}),
        ("Where do I live?", {"user_id": "piet"}),
        ("Where do I live?", {"user_id": None}),
        ("Where do I live?", {"user_id": None, "session_id": "s1"}),
    ],
)
def test_other_questions_are_answered_by_everybody(query, options):
    """Questions about others, requests, failures, and questions of nobody in particular read all users' statements."""
    assert kept(query, line(1, MOVED, "piet"), **options) == [MOVED]


def test_who_speaks_in_the_running_session_asks():
    """Without a user, the users of the running session ask."""
    running, other = line(1, "I live in Halle.", "omar"), line(2, MOVED, "piet", session="s2")
    assert kept("Where do I live?", running, other, user_id=None, session_id="s1") == ["I live in Halle."]


def test_without_events_their_neighbours_are_not_adjacent():
    """What stood around an event that was left out does not become adjacent."""
    rows = [line(number, f"text {number}")[0] for number in range(3)]
    pool = EventPool.of(rows, centres=frozenset({"e000", "e001"}))
    left = pool.without(pool.of_sessions({"s2"}))
    assert left.places.tolist() == [0, 1, 2]
    assert pool.without(pool.occurrences.matched(["1"]) > 0).places.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("query", "speakers"),
    [
        ("What is Piet's rate?", {"e001"}),
        ("What is the rate of Omar Haddad?", {"e002"}),
        ("What is Omar's rate?", {"e002"}),
        ("What is the rate?", set()),
        ("What is U's rate?", set()),
    ],
)
def test_what_users_say_has_the_words_of_their_names(query, speakers):
    """Who asks for Piet's rate gets what Piet said about his own: "my rate is 90"."""
    said = [
        line(1, "my rate is 90", "piet"),
        line(2, "my rate is 80", "omar.haddad", session="s2"),
        line(3, "my rate is 70", "u-17", session="s3"),
        line(4, "Your rate is 90.", "piet", speaker="assistant"),
    ]
    pool = EventPool.of([row for row, _ in said])
    named = with_own_names(pool, understood(query, 0))
    assert {each for at, each in enumerate(pool.event_id) if named.words[at] != pool.words[at]} == speakers


def test_a_first_name_of_two_users_names_neither():
    """The name Omar may stand for either of two users."""
    said = [line(1, "my rate is 90", "omar.haddad"), line(2, "my rate is 80", "omar.lind", session="s2")]
    pool = EventPool.of([row for row, _ in said])
    assert with_own_names(pool, understood("What is Omar's rate?", 0)).words == pool.words
