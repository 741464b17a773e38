"""Grounding of claims, and what a statement says about a claim."""

import pytest

from hmxgraph.records.grounding import Case, Grounds, grounding_status
from hmxgraph.records.quantities import agreement, read_quantities
from hmxgraph.records.statements import claims, side, statements
from tests.claims.worlds import CASES, WORLDS, views_of

VIEWS = {world["name"]: views_of(world) for world in WORLDS}


MISSED = pytest.mark.xfail(reason="the rules do not see it")
MARKED = [
    pytest.param(world, case, id=case["claim"], marks=[MISSED] if case.get("missed") else []) for world, case in CASES
]


@pytest.mark.parametrize(("world", "case"), MARKED)
def test_each_claim_gets_its_verdict(world, case):
    """The grounding status of a claim is the verdict of a reader of the records."""
    grounds = Case(case["claim"], VIEWS[world["name"]])
    parts = [Grounds(grounds.relation(view), view.trust_tier) for view in VIEWS[world["name"]].values()]
    assert grounding_status(parts) == case["verdict"]


def test_half_of_the_claims_set_a_trap():
    """The set keeps its size and its share of adversarial claims."""
    traps = [case["trap"] for _, case in CASES if "trap" in case]
    assert len(CASES) >= 60
    assert len(traps) >= len(CASES) / 2
    assert {"question", "goal", "negation", "number", "superseded", "rejected", "unsigned"} <= set(traps)


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Tiles are faster than rows", "Rows are faster than tiles", "against"),
        ("Tiles are faster than rows", "Rows are slower than tiles", "for"),
        ("The cache works", "The cache doesn't work", "against"),
        ("There are no errors", "0 errors were logged", "for"),
        ("The index has 12 shards", "The index has 14 shards", "against"),
        ("The index has 12 shards", "The index has many shards", None),
        ("Latency is below 50 ms", "Latency is below 40 ms", "for"),
        ("Latency is 42 ms", "Latency is below 50 ms", None),
        ("It holds 2 GB of memory", "It holds 2048 MB of memory", "for"),
        ("Port 80 is open", "Port 443 is open", None),
        ("Retry the import with a lock", "Never retry the import with a lock", "against"),
        ("Retry the import with a lock", "The weather was fine", None),
        ("Plan A is cheaper than plan B", "On every route plan B is cheaper than plan A", "against"),
        ("Line 4 is longer than line 7", "Line 7 is longer than line 4", "against"),
        ("Team B wrote more tests than team A", "Team B wrote twice as many tests as team A", "for"),
        ("Team A wrote more tests than team B", "Team B wrote twice as many tests as team A", "against"),
        ("It uses more memory", "It uses less memory", "against"),
        ("5 of 8 folds converge", "3 of 8 folds converge", "against"),
        ("8 folds converge", "3 of 8 folds converge", "against"),
        ("The rod is 310 cm long", "The rod is 3.1 m long", "for"),
        ("ARM is affected", "ARM is unaffected", "against"),
        ("Drop date-fns", "Keep date-fns", "against"),
        ("The import is fast and stable", "The import is slow and unstable", "against"),
        ("The new index is faster and smaller", "The new index is slower and larger", "against"),
        ("The build passes without errors", "The build fails with errors", "against"),
        ("The deploy succeeded without downtime", "The deploy failed with downtime", "against"),
        ("The import is faster", "The import is not slower", "for"),
        ("A is faster than B", "B is faster than A", "against"),
    ],
)
def test_the_side_of_a_statement(claim, text, expected):
    """Negation, order and quantities decide the side; another subject has none."""
    (claimed,) = claims(claim)
    (stated,) = statements(text)
    assert side(claimed, stated) == expected


@pytest.mark.parametrize(
    ("claim", "text", "sides"),
    [
        ("Soot melts faster", "Soot darkens the ice; it melts faster", [None, "for"]),
        ("Ice melts faster", "Soot darkens the ice; it melts faster", [None, None]),
        ("Charges carry a key", "Refunds carry a key, charges do not", [None, "against"]),
        ("Refunds carry a key", "Refunds carry a key, charges do not", ["for", None]),
        ("The bot answers in Polish", "The bot answers in German, but not in Polish", [None, "against"]),
        ("Brotli shrinks the bundle", "Brotli slows the build without shrinking the bundle", [None, "against"]),
    ],
)
def test_a_clause_takes_up_the_one_before(claim, text, sides):
    """What a clause leaves out is filled in from the one before; it speaks only about claims that name its words."""
    (claimed,) = claims(claim)
    assert [side(claimed, part) for part in statements(text)] == sides


def test_questions_guesses_and_plans_state_nothing():
    """Only what is asserted counts; a decision may plan."""
    for text in ("Does it leak?", "It might leak", "We will check that it leaks", "Unclear whether it leaks"):
        assert statements(text) == ()
    assert statements("We will use tiles", decides=True)


def test_a_value_out_of_a_range_is_not_its_target():
    """In a change from one value to another, the new value counts."""
    stated = read_quantities("fell from 12 GB to 7 GB").quantities
    assert agreement(read_quantities("is 7 GB").quantities, stated) == "same"
    assert agreement(read_quantities("is 12 GB").quantities, stated) == "different"


@pytest.mark.parametrize(
    ("claimed", "stated", "expected"),
    [
        ("between 5 and 10 ms", "7 ms", "same"),
        ("between 5 and 10 ms", "between 6 and 9 ms", "same"),
        ("between 5 and 10 ms", "12 ms", "different"),
        ("between 5 and 10 ms", "4 ms", "different"),
        ("between 500 ms and 2 s", "0.7 s", "same"),
        ("between 2 and 0.5 s", "700 ms", "same"),
        ("below 20 ms", "between 5 and 10 ms", "same"),
        ("12 ms", "between 5 and 10 ms", "different"),
        ("7 ms", "between 5 and 10 ms", "unclear"),
        ("7 ms", "about 7.1 ms", "same"),
    ],
)
def test_a_value_between_two_others_has_both_as_bounds(claimed, stated, expected):
    """Such a range is one interval; unlike an approximate value, it confirms no single value in it."""
    assert agreement(read_quantities(claimed).quantities, read_quantities(stated).quantities) == expected


def test_an_end_of_a_range_may_be_no_number():
    """A commit that looks like a huge number is no quantity, at either end of a range."""
    assert read_quantities("between 3e842 and 5 ms").quantities == ()


@pytest.mark.parametrize(
    ("grounds", "status"),
    [
        ([], "ungrounded"),
        ([("hint", "compiled_digest_hint")], "hint_only"),
        ([("supporting", "canonical_record")], "grounded"),
        ([("supporting", "verified_record")], "verified"),
        ([("conflicting", "canonical_record")], "contradicted"),
        ([("supporting", "verified_record"), ("conflicting", "canonical_record")], "contested"),
    ],
)
def test_grounding_in_one_word(grounds, status):
    """Digests alone never ground a claim; records on both sides make it contested."""
    assert grounding_status([Grounds(*parts) for parts in grounds]) == status
