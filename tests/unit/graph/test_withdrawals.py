"""Which rule a withdrawal in other words means."""

import pytest

from hmxgraph.extraction.extract import draft
from hmxgraph.graph._withdrawals import withdrawn_rules
from hmxgraph.graph.plan import Tenancy
from hmxgraph.text.terms import counter


def stated(text, second, **fields):
    """Return a policy in force as the database returns it."""
    memory = draft("policy", text)
    times = {"first_us": second, "last_us": second}
    return {"key": text, "memory_id": text, "text": text, "predicate": memory.predicate, "owner": "", **times, **fields}


def withdrawn(*policies):
    """Return the memories of each conflict."""
    return [rule.conflict["memory_keys"] for rule in withdrawn_rules(Tenancy.of("acme"), policies, counter())]


WITHDRAWALS = [
    ("New patients must not be booked before 10:00.", "The 10:00 rule no longer applies."),
    ("Do not drive through aisle C02 while the floor is wet.", "You may drive through C02 again."),
    ("Always wear a helmet in the hall.", "The helmet requirement is lifted."),
    ("Never call customers on weekends.", "You may call customers again."),
    ("Refunds above 100 euros must have a second signature.", "Forget the second signature rule."),
    ("Always run the linter and the tests before a commit.", "You don't have to run the linter any more."),
    ("Nobody may smoke in the yard.", "The smoke ban has been abolished."),
    ("Keep every summary under 100 words.", "Scrap the 100-word limit."),
    ("Do not merge into main on Fridays or weekends.", "Merging on Fridays is fine now."),
    ("Always cc Ann on invoices to schools.", "You no longer need to cc Ann."),
    ("Please only text me, never call.", "Calls are fine again too."),
    ("Never call me on weekends.", "You can call me again."),
]
OTHERS = [
    ("New patients must not be booked before 9:00.", "The 10:00 rule no longer applies."),
    ("Do not drive through aisle C12.", "You may drive through C02 again."),
    ("Always drive through aisle C02 on Mondays.", "You may drive through C02 again."),
    ("Never push to main without a review.", "You may push again."),
    ("Never run the linter on generated code.", "You don't have to run the linter any more."),
    ("Always wear gloves.", "The helmet requirement is lifted."),
    ("Never call customers on weekends.", "You may call suppliers again."),
    ("Keep every summary under 200 words.", "Scrap the 100-word limit."),
    ("Always cc Ann on invoices.", "You no longer need to cc Tom."),
    ("Nobody may smoke in the yard.", "Nobody may park in the yard."),
]


@pytest.mark.parametrize(("rule", "back"), WITHDRAWALS)
def test_a_withdrawal_in_other_words_contradicts_the_rule_that_it_names(rule, back):
    """A conflict names both, so that somebody can confirm the withdrawal."""
    other = stated("Always greet Ada first.", 1)
    (keys,) = withdrawn(other, stated(rule, 1), stated(back, 2))
    assert sorted(keys) == sorted([rule, back])


@pytest.mark.parametrize(("rule", "other"), OTHERS)
def test_a_withdrawal_leaves_other_rules_alone(rule, other):
    """A rule with other words, of the other sign, or known from one common word is not meant."""
    assert withdrawn(stated(rule, 1), stated(other, 2)) == []


RULE, BACK = WITHDRAWALS[0]


@pytest.mark.parametrize(
    "policies",
    [
        (stated(RULE, 2), stated(BACK, 1)),
        (stated(RULE, 1, last_us=3), stated(BACK, 2)),
        (stated(RULE, 1, owner="ada"), stated(BACK, 2, owner="tom")),
        (stated(RULE, 1, scopes=["berlin"]), stated(BACK, 2, scopes=["munich"])),
        (stated(RULE, 1), stated("Never call before 10:00.", 1), stated(BACK, 2)),
        (stated(RULE, 1), stated(BACK, 2, supersedes_key="k")),
        (stated(RULE, 1), stated(BACK, 2, unproven=True)),
    ],
    ids=[
        "stated later",
        "stated again",
        "another owner",
        "another scope",
        "two rules",
        "has replaced one",
        "only proposed",
    ],
)
def test_an_uncertain_withdrawal_opens_no_conflict(policies):
    """A conflict needs one earlier rule of the same owner, and a withdrawal that has replaced nothing."""
    assert withdrawn(*policies) == []


SPOKEN = {"owner": "lin", "extraction_method": "directive"}


@pytest.mark.parametrize(
    ("rule", "back", "ends"),
    [
        (
            stated("Don't place orders on Fridays.", 1, **SPOKEN),
            stated("Forget the no-friday rule.", 2, **SPOKEN),
            True,
        ),
        (
            stated("Don't place orders on Fridays.", 1, **SPOKEN),
            stated("Ordering on Fridays is fine now.", 2, **SPOKEN),
            True,
        ),
        (
            stated("Never push to main before noon.", 1, **SPOKEN),
            stated("You may push to main now.", 2, **SPOKEN),
            False,
        ),
        (stated("Don't place orders on Fridays.", 1), stated("Forget the no-friday rule.", 2), False),
        (
            stated("Don't place orders on Fridays.", 1, owner="lin", extraction_method="remembered"),
            stated("Forget the no-friday rule.", 2, **SPOKEN),
            False,
        ),
    ],
    ids=["named", "allowed", "limited rule", "nobody's rule", "recorded by hand"],
)
def test_a_user_ends_their_own_rule(rule, back, ends):
    """A user's withdrawal ends the user's rule at once, unless it was recorded by hand or may stand beside it."""
    (withdrawn_rule,) = withdrawn_rules(Tenancy.of("acme"), [rule, back], counter())
    assert withdrawn_rule.winner == (back["memory_id"] if ends else None)
