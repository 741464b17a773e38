"""Directives that set a value: another value for the same takes its place."""

import pytest

from hmxgraph.extraction.extract import draft, extract
from hmxgraph.protocol.trust import TrustPolicy
from tests.unit.extraction.events import said

OTHER_VALUES = [
    ("Please always answer in German.", "Please always answer in English from now on."),
    ("From now on write commit messages in French.", "From now on, write commit messages in Italian."),
    ("Always use metric units.", "Always use imperial units from now on."),
    ("Use British spelling from now on.", "From now on use American spelling."),
    ("Always indent with tabs.", "From now on always indent with spaces."),
    ("Call me Bob.", "Call me Robert from now on."),
    ("Always retry 3 times.", "Always retry five times from now on."),
]
NO_OTHER_VALUES = [
    ("Never call me before 9 am.", "Never call me after 9 pm."),
    ("Never deploy from 9:00.", "Never deploy until 17:00."),
    ("Always keep answers over 50 words.", "Always keep answers under 200 words."),
    ("Always use 2 workers for jobs under 10 GB.", "Always use 8 workers for jobs under 100 GB."),
    ("Whenever customers write in German, escalate.", "Whenever customers write in French, escalate."),
    ("Always escalate tickets in German.", "Always escalate tickets in French."),
    ("Always test in Polish locales.", "Always test in Turkish locales."),
    ("Always answer in German.", "Always write in English."),
    ("Never answer in German.", "Never answer in English."),
    ("Never answer in German.", "Always answer in English."),
    ("Always answer Ada in German.", "Always answer Tom in English."),
    ("Never deploy on Fridays.", "Never deploy on Mondays."),
    ("Never open port 80.", "Never open port 22."),
    ("Never call me at 9:00.", "Never call me at 12:00."),
    ("Always use tabs instead of spaces.", "Always use tabs."),
    ("New patients must not be booked before 10:00.", "New patients must not be booked before 9:00 on Mondays."),
    ("Always close ticket 17.", "Always close ticket 18."),
    ("Always answer in German or in English.", "Always answer in French or in English."),
    ("Never phone before 9:00.", "Never knock before 10:00."),
]


def _rule(text):
    (memory,) = extract(said(text), TrustPolicy(single_user=True)).memories
    return memory


@pytest.mark.parametrize(("before", "after"), OTHER_VALUES)
def test_another_value_takes_the_place_of_the_first(before, after):
    """Both rules answer one question, so that only the later one holds."""
    assert _rule(before).slot == _rule(after).slot == draft("policy", after).slot
    assert _rule(before).answer != _rule(after).answer


@pytest.mark.parametrize(("rule", "other"), NO_OTHER_VALUES)
def test_a_value_of_something_else_leaves_the_rule_in_force(rule, other):
    """Rules about other things, and bans of single choices, hold side by side."""
    assert _rule(rule).slot != _rule(other).slot


@pytest.mark.parametrize(
    ("rule", "back"),
    [
        ("Always answer in German.", "You don't have to answer in German any more."),
        ("Never answer in German.", "You may answer in German again."),
        ("Never deploy before 9:00.", "You may deploy before 9:00 now."),
    ],
)
def test_a_rule_with_a_value_is_withdrawn_by_its_own_words(rule, back):
    """The withdrawal of a demand or a ban answers the same question."""
    assert _rule(rule).slot == _rule(back).slot
    assert _rule(rule).answer != _rule(back).answer
