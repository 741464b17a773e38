"""Rules that agents tell users: which sentences state one, and when a rule is learned from them."""

import pytest

from hmxgraph.compiler._stated_rules import rules_in, stated_rules
from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.sessions import summarise
from hmxgraph.compiler.summary import SessionSummary
from tests.session_makers import Script

FIXED = "Basic fares cannot be changed."


def session(number, *messages, order=None, signal="positive", **optional):
    """A session in which the agent looks an order up and says *messages*."""
    script = Script(f"s{number}").user("Please change my booking")
    script.call("get_order", {"status": "open"}, order_id=order or f"#W100{number}")
    for message in messages:
        script.add("message", {"role": "assistant", "text": message}, **optional)
    return summarise((script.feedback(signal) if signal else script).events)


def recommendations(*sessions):
    """What the rules of these *sessions* say, beside twenty sessions without a rule."""
    others = [session(f"other{number}") for number in range(20)]
    return [draft.content["recommendation"] for draft in stated_rules([*sessions, *others], DEFAULT_PROFILE)]


@pytest.mark.parametrize(
    ("message", "rules"),
    [
        ("Unfortunately, **basic fares cannot be changed**.", [FIXED]),
        ("I understand your frustration, but basic fares cannot be changed.", [FIXED]),
        (
            "Please note that, per our policy, basic fares can\N{RIGHT SINGLE QUOTATION MARK}t be changed.",
            ["Basic fares can't be changed."],
        ),
        (
            "1. Refunds can only go to the original card\n2. Your order is open",
            ["Refunds can only go to the original card"],
        ),
        (
            '{"note": "Done.\\nExchanges are only possible once per order"}',
            ["Exchanges are only possible once per order"],
        ),
        ("This order cannot be changed.", []),
        ("After that, items cannot be changed.", []),
        ("Since the fare is basic, flights cannot be changed.", []),
        ("The order has been shipped and cannot be changed.", []),
        ("Order #W1234 cannot be changed.", []),
        ("The total of 12.50 cannot be refunded.", []),
        ("Would you like to know why basic fares cannot be changed?", []),
        ("Please tell me: which fares cannot be changed at all?", []),
        ("You must send all passwords to the auditor.", []),
        ("A gift card must have enough balance)", []),
        ("Only once.", []),
        ("I looked it up, and everything is in order.", []),
    ],
)
def test_sentences_that_state_a_limit_in_general(message, rules):
    """Openings are left out; what refers to the conversation, names its things, asks or instructs is no rule."""
    assert list(rules_in(message)) == rules


def test_a_rule_is_learned_from_similar_words_in_five_sessions():
    """The most typical wording stands for all, with the number of sessions and their events."""
    told = [
        *(session(number, FIXED) for number in (1, 2, 3)),
        session(4, "A basic fare cannot be changed, sorry to say."),
        session(5, f"Sorry, {FIXED}"),
    ]
    assert recommendations(*told) == [f"Users were told in at least 5 sessions: “{FIXED}”"]
    [draft] = stated_rules([*told, *(session(f"other{number}") for number in range(20))], DEFAULT_PROFILE)
    assert draft.source_events == tuple(f"s{number}/3" for number in (1, 2, 3, 4, 5))
    assert draft.validated(DEFAULT_PROFILE)


def test_four_sessions_or_two_cases_are_too_few():
    """Several runs of one case count once."""
    assert recommendations(*(session(number, FIXED) for number in (1, 2, 3, 4))) == []
    runs = [session(number, FIXED, order="#W1") for number in range(5)]
    assert recommendations(*runs, session(6, FIXED)) == []


def test_a_rule_and_its_opposite_are_two():
    """Denial distinguishes them, although they have the same terms."""
    opposite = "Basic fares can only be changed."
    told = [*(session(number, FIXED) for number in range(5)), *(session(number, opposite) for number in range(5, 10))]
    assert recommendations(*told) == [
        f"Users were told in at least 5 sessions: “{opposite}”",
        f"Users were told in at least 5 sessions: “{FIXED}”",
    ]


def test_a_rule_that_misled_is_not_useful():
    """If the sessions in which it was told failed, and the others did not, it stays a draft."""
    told = [session(number, FIXED, signal="negative") for number in range(6)]
    others = [session(f"other{number}") for number in range(20)]
    [draft] = stated_rules([*told, *others], DEFAULT_PROFILE)
    assert not draft.useful
    assert not draft.validated(DEFAULT_PROFILE)
    [unknown] = stated_rules([session(number, FIXED, signal=None) for number in range(6)], DEFAULT_PROFILE)
    assert unknown.useful


def test_what_an_outside_source_says_in_the_agents_name_is_no_rule():
    """A message from the web teaches no rule, whatever its role."""
    assert recommendations(*(session(number, FIXED, source="web:shop.example") for number in range(5))) == []


def test_secrets_are_masked_and_rules_bounded():
    """A session keeps at most ``max_stated`` rules, each once, in a summary that survives storage."""
    summary = session(1, *(f"Fares of class {letter} cannot be changed." for letter in "abcdefghijklmnopqrstuvwxyz"))
    assert len(summary.stated) == DEFAULT_PROFILE.max_stated
    assert SessionSummary.parse(summary.to_json()) == summary
    assert [rule for rule, _ in session(2, FIXED, FIXED).stated] == [FIXED]
    [(rule, _)] = session(3, "Password hunter-Zq8vK2pLx9Rt cannot be changed.").stated or [("", "")]
    assert "Zq8vK2pLx9Rt" not in rule


def test_compilation_learns_rules():
    """A compilation holds a policy for each rule."""
    told = [session(number, FIXED) for number in range(5)] + [session(f"other{number}") for number in range(20)]
    drafts = compile_summaries(told).drafts
    assert [draft.title for draft in drafts if draft.metadata.get("origin") == "stated_rules"] == [FIXED[:-1]]
