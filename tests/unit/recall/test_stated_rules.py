"""Rules that agents told users: shown as quotations, and only where the question is about them."""

from dataclasses import replace

import pytest

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.briefs import brief
from hmxgraph.recall.candidates import THRESHOLD
from hmxgraph.text.artifacts import told_in
from hmxgraph.text.terms import search_text
from tests.recall_makers import COUNT, NOW, artifact, draft, event, known, memory, packed

WORDING = "Basic fares cannot be changed after the booking"


def rule(number, wording):
    """Return a rule told in twelve sessions."""
    text = f"{told_in(12)}: “{wording}.”"
    words = search_text(f"{wording} {text}")
    return replace(artifact(number, wording, kind="decision_policy"), text=text, words=words, tokens=COUNT(text))


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("The customer wants to change a basic fare", [WORDING]),
        ("A customer with a basic fare asks for a refund", [WORDING]),
        ("The customer wants to change the seat", []),
        ("The booking of a car", []),
    ],
)
def test_a_rule_is_shown_where_two_fifths_of_its_terms_are_asked_about(question, shown):
    """A single shared term, which most rules of a tenant contain, is too little."""
    ranked = draft((), known(artifacts=[rule(1, WORDING)]), query=question).ranking
    useful = [each for _, each in ranked if not each.verdict and each.score >= THRESHOLD]
    assert [WORDING for each in useful if WORDING in each.content] == shown


def test_three_shared_terms_are_enough_for_a_long_rule():
    """A long rule names more than a question does."""
    wording = "Refunds of returned furniture must go back to the original card or to an existing gift account by mail"
    question = "The customer wants the refund on another gift card"
    [(_, candidate)] = draft((), known(artifacts=[rule(1, wording)]), query=question).ranking
    assert candidate.components.relevance > 0


def test_a_rule_with_much_less_of_the_question_than_another_is_left_out():
    """Rules of one tenant share general terms; the question is about the one that contains most of it."""
    general = rule(2, "Group fares cannot be booked")
    question = "May the basic fare be changed after the booking?"
    relevance = {
        number: [
            candidate.components.relevance
            for _, candidate in draft((), known(artifacts=rules), query=question).ranking
            if general.artifact_id == candidate.source_id
        ]
        for number, rules in enumerate(([general], [general, rule(1, WORDING)]), start=1)
    }
    assert relevance[1][0] > 0 == relevance[2][0]


def test_of_rules_with_mostly_the_same_terms_the_best_is_shown():
    """Agents say the same limit in several wordings; another limit on the same thing stays."""
    longer = "Basic fares cannot be changed after the booking, only cancelled"
    other = "Gift cards cannot pay for basic fares"
    rules = [rule(number, wording) for number, wording in enumerate((longer, WORDING, other))]
    asked = "May a basic fare be changed after the booking, or combined with gift cards?"
    verdicts = {each.source_id: each.verdict for _, each in draft((), known(artifacts=rules), query=asked).ranking}
    assert sorted(verdicts.values()) == ["", "", "duplicate"]
    assert not verdicts["a002"]


def test_a_rule_reads_as_a_quotation():
    """The condition, which lists words, is not repeated."""
    recommendation = f"{told_in(3)}: “{WORDING}.”"
    content = {"condition": "this comes up: basic, fares", "recommendation": recommendation, "alternatives": []}
    assert brief("decision_policy", WORDING, "", content) == f"Users were told in at least 3 sessions: “{WORDING}.”"


def test_a_question_for_all_rules_gets_all_of_them():
    """Rules and preferences answer it though they share no word with it; facts do not."""
    texts = {"policy": "Never push to main", "preference": "Ann prefers short branch names", "fact": "The door is blue"}
    memories = [memory(n, text, kind=kind) for n, (kind, text) in enumerate(texts.items(), start=1)]
    pack = packed([event(1, "The build is green")], known(memories=memories), query="Which rules do I have to follow?")
    lines = {entry.content for entry in pack.entries}
    assert lines == {"Never push to main", "Ann prefers short branch names"}


def _kept(query, *texts, kind="policy"):
    """Which of the memories with these *texts* a pack for *query* has."""
    memories = [memory(n, text, kind=kind) for n, text in enumerate(texts, start=1)]
    return [entry.content for entry in packed([event(1, "All is well")], known(memories=memories), query=query).entries]


OTHERS = (
    "Ship with DHL",
    "Bullet points for Bea",
    "File bills as PDF",
    "Fill the shelf",
    "Lock the door",
    "Feed the cat",
)


@pytest.mark.parametrize("query", ["Please give the customer a discount", "May I give a discount of 12 %?"])
def test_the_rule_about_the_request_comes_before_rules_about_other_things(query):
    """There are more rules than are shown without a word in common."""
    rule = "No discounts above 10 % without approval"
    assert rule in _kept(query, rule, *OTHERS)


def test_who_asks_for_permission_gets_only_the_rules_about_it():
    """The other rules apply to work, not to a question."""
    rule = "Never pay an invoice before the goods are booked in"
    assert _kept("Can the invoice over 840 EUR be paid?", rule, *OTHERS) == [rule]
    assert _kept("Who sent the letter?", rule, *OTHERS) == []


def test_a_request_gets_the_fact_about_its_subject():
    """The other words of the request need not be known."""
    fact = "Our accountant is Ms Okafor, okafor@zahlenwerk.example"
    assert _kept("Send the November receipts to our accountant", fact, "Our tutor is Ms Lee", kind="fact") == [fact]


def test_a_question_for_all_goals_gets_all_of_them():
    """They share no word with it."""
    goals = ("Sell all bikes by Christmas", "Hire a mechanic")
    assert sorted(_kept("What are our goals?", *goals, kind="goal")) == sorted(goals)
    assert _kept("What are the goals of the depot?", *goals, kind="goal") == []


def test_a_preference_about_the_request_applies_to_it():
    """One about other work does not."""
    wish = "Give quotes as a small table"
    assert _kept("Write a quote for tyres", wish, kind="preference") == [wish]
    assert _kept("Get the van to the depot before the quote of the day", wish, kind="preference") == []


def test_how_to_answer_holds_for_every_question():
    """It shares no word with the question; a rule about work does not answer it."""
    rules = ("Please always answer me in German", "Call me Marta", "Ship everything with DHL")
    assert set(_kept("Who sent the letter?", *rules)) == set(rules[:2])


@pytest.mark.parametrize(
    ("rule", "applies", "not_to"),
    [
        ("Gift card orders always get a voucher", "Refund order 7", "Paint the fence"),
        ("Orders from May can be returned for 60 days", "Take order 7 back", "Paint the fence"),
        ("If one item comes back, refund that item only", "Refund the item", "Paint the fence"),
        ("Don't restart a server without asking me", "Restart the mail server", "Paint the fence"),
        ("Until May nothing goes to production, except fixes", "Ship 1.2 to production", "Paint the fence"),
        ("We never write 'cheers', it sounds like spam", "Draft a reply to Ms Roth", "Paint the fence"),
        ("Sign with 'Lin and the team'", "Draft a reply to Ms Roth", "Paint the fence"),
        ("Use the formal form in mails to clients, always", "Write a mail to Ms Roth", "Paint the fence"),
        ("When you book trains, take a window seat", "Get a train to Bonn", "Book a table"),
        ("Don't skip tests", "Mend the tests", "Paint the fence"),
        ("If orders_daily fails, call me", "Start orders_daily again", "Paint the fence"),
        ("Tax questions go to Priya", "Answer the tax questions of Ms Roth", "Paint the fence"),
        ("German customers get German answers", "Answer a German customer", "Who sent the letter?"),
    ],
)
def test_a_rule_for_one_kind_of_work_stays_with_it(rule, applies, not_to):
    """Whatever the form in which it was stated."""
    assert _kept(applies, rule) == [rule]
    assert _kept(not_to, rule) == []


def test_a_standing_rule_does_not_fade():
    """It holds until it is withdrawn, so a year makes no difference."""
    rule = replace(
        memory(1, "Keep the gate shut", kind="policy"), last_us=NOW - 365 * DAY_US, confidence=0.6, observations=1
    )
    pack = packed([event(1, "All is well")], known(memories=[rule]), query="Paint the fence")
    assert [entry.content.startswith("Keep the gate shut") for entry in pack.entries] == [True]
