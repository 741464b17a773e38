"""Withdrawn rules: permissions, lifted obligations, and rules to be forgotten."""

import pytest

from hmxgraph.extraction._directives import CUES, withdrawal_in
from hmxgraph.extraction.extract import draft, extract, policy_draft, withdrawal_draft
from hmxgraph.extraction.language import cues
from hmxgraph.protocol.trust import TrustPolicy
from tests.unit.extraction.events import by_person, said

# A rule, what takes it back, and how.
LIFTED = [
    ("Never push to main directly.", "You may push to main directly now.", "allows"),
    ("Never push to main directly.", "Forget the rule about main, you may push to main directly now.", "allows"),
    ("Don't deploy on Fridays.", "It is fine to deploy on Fridays now.", "allows"),
    ("Nobody may deploy on Fridays.", "You're allowed to deploy on Fridays again.", "allows"),
    ("Never use lodash.", "Ok, you can use lodash again.", "allows"),
    ("Going forward, never merge on weekends.", "From now on you may merge on weekends.", "allows"),
    ("Always run black before you commit.", "We don't have to run black before you commit any more, thanks.", "waives"),
    ("Never push to main directly.", "Feel free to push to main directly from now on.", "allows"),
    ("Never push to main directly.", "Pushing to main directly is fine now.", "allows"),
    ("Never deploy on Fridays.", "Deploying on Fridays is no longer forbidden.", "allows"),
    ("Always run the linter.", "You can stop running the linter.", "waives"),
    ("Always run the linter.", "Running the linter is no longer required.", "waives"),
    ("Never push to main.", "Forget what I said about pushing to main.", "lifts"),
    ("Never push to main.", "Never mind what I said about pushing to main.", "lifts"),
    ("Never push to main.", "Ignore what I told you about pushing to main.", "lifts"),
    ("Never push to main.", "Scrap what we said about pushing to main.", "lifts"),
    ("Always cc Ann.", "You no longer need to cc Ann.", "waives"),
    ("Always tag tickets.", "There's no need to tag tickets anymore.", "waives"),
    ("Always run the tests.", "You may skip the tests now.", "waives"),
    ("Never push to main.", "Forget the rule about pushing to main.", "lifts"),
    ("Never deploy on Fridays.", "The ban on deploying on Fridays is lifted.", "lifts"),
    ("Never call me.", "You can call me again.", "allows"),
    ("Never phone me.", "You may phone me again, thanks.", "allows"),
    ("Never call me.", "Phone calls are fine again too.", "allows"),
    ("Never email me.", "Emails are now ok.", "allows"),
]
# The withdrawal of a rule by its name, and that name.
NAMED = [
    ("The 10:00 rule no longer applies", "10:00"),
    ("Dr. Okafor changed her hours, the 10:00 rule no longer applies.", "10:00"),
    ("Our no-smoking policy has been abolished.", "no-smoking"),
    ("Forget the two-signature rule.", "two-signature"),
    ("The helmet requirement is lifted.", "helmet"),
    ("The weekend ban is gone now.", "weekend"),
    ("Please ignore the 9:00 rule from now on.", "9:00"),
    ("That no-refund policy does not apply any more.", "no-refund"),
    ("The dress code rule is history.", "dress code"),
    ("Scrap the 100-word limit.", "100-word"),
]
NOT_LIFTED = [
    "The new rule no longer applies.",
    "Ignore the last restriction.",
    "The refund policy no longer applies to me.",
    "Does the 10:00 rule no longer apply?",
    "The 10:00 rule applies.",
    "The 10:00 rule is important.",
    "Don't forget the 10:00 rule.",
    "Forget the rule.",
    "The 10:00 rule no longer applies if you are ill.",
    "Tom says the 10:00 rule no longer applies.",
    "The speed limit is 50.",
    "You may feel sick again.",
    "You may not push to main.",
    "You may only push to main.",
    "You may push to main if the tests pass.",
    "You may get errors.",
    "You may want to check the logs.",
    "May I push to main now?",
    "You can cancel it now.",
    "You can push to main.",
    "No need to process anything right now.",
    "You don't have to pay now.",
    "Tom says you may push to main now.",
    "Don't forget the rule about pushing to main.",
    "Forget it.",
    "It is okay to cry again.",
    "Running is fine now.",
    "You can call me now.",
    "You may call me again tomorrow.",
    "The tests are fine again.",
    "Calls are fine.",
    "Calls are ok again after the fix in retry.py.",
    "Video calls are fine now that the driver is updated.",
]


@pytest.mark.parametrize(("rule", "back", "how"), LIFTED)
def test_a_rule_taken_back_answers_the_question_of_the_rule(rule, back, how):
    """A withdrawal has the rule's slot and another answer, so that the later of both holds."""
    order = policy_draft(rule, 0.9, "directive")
    (withdrawal,) = extract(said(back), TrustPolicy(single_user=True)).memories
    assert (withdrawal.kind, withdrawal.slot, withdrawal.predicate) == ("policy", order.slot, how)
    assert withdrawal.answer != order.answer
    assert draft("policy", back).slot == order.slot
    assert not CUES.isdisjoint(cues(back.lower()))


@pytest.mark.parametrize("back", ["You can call me again.", "Calls are fine again."])
def test_users_withdraw_their_own_rule_about_themselves(back):
    """The rule and its withdrawal have a slot that is the user's alone."""
    ann, tom = {"metadata": {"user_id": "ann"}}, {"metadata": {"user_id": "tom"}}
    (rule, *_), (withdrawal, *_) = extract(said("Never call me.", **ann)).memories, extract(said(back, **ann)).memories
    assert rule.slot == withdrawal.slot != extract(said(back, **tom)).memories[0].slot


@pytest.mark.parametrize(("back", "name"), NAMED)
def test_a_rule_is_withdrawn_by_its_name(back, name):
    """A rule may be called by one of its words. Such a withdrawal is not sure enough to apply to any work."""
    (withdrawal,) = extract(said(back), TrustPolicy(single_user=True)).memories
    assert (withdrawal.kind, withdrawal.predicate) == ("policy", "lifts")
    assert (withdrawal_in(back).matter, withdrawal_in(back).confidence) == (name, 0.5)
    assert not CUES.isdisjoint(cues(back.lower()))


@pytest.mark.parametrize("sentence", NOT_LIFTED)
def test_what_takes_no_rule_back(sentence):
    """Bans, conditions, possibilities, questions, hearsay and remarks about the moment withdraw nothing."""
    assert withdrawal_in(sentence) is None


def test_people_among_each_other_lift_nothing():
    """Talk between people neither gives nor withdraws a rule."""
    assert extract(by_person("You may push to main directly now.")).memories == ()


def test_a_withdrawal_quotes_its_own_words():
    """The memory quotes the withdrawing clause; one about the matter at hand is less certain."""
    back = withdrawal_in("Forget that rule about pushing, you may push to main now, ok.")
    assert withdrawal_draft(back, "directive").text == "You may push to main now."
    assert (back.confidence, withdrawal_in("You may push to the main branch now.").confidence) == (0.75, 0.6)
