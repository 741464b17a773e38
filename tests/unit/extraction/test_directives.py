"""Directives: which sentences are policies, with what confidence, and which are not."""

import pytest

from hmxgraph.extraction._directives import directive_in, may_contain_directive
from hmxgraph.extraction.extract import extract
from tests.unit.extraction.events import said

# Sentence, confidence, whether it leaves no exception.
ORDERS = [
    ("Always verify the rollout status before reporting success.", 0.9, False),
    ("Never deploy to production on a Friday after 16:00.", 0.9, True),
    ("Please always include the source when I ask about statistics.", 0.9, False),
    ("From now on, use metric units.", 0.8, False),
    ("Use the formal form in mails to clients, always.", 0.8, False),
    ("No discounts above 10 % without my ok.", 0.8, False),
    ("Supplier invoices must never be paid before the goods are booked in.", 0.75, False),
    ("Whole team: never share supplier prices.", 0.9, True),
    ("Everybody: never give discounts above 10 %.", 0.9, True),
    ("Use GLS for everything under 20 kg.", 0.6, False),
    ("From now on: never give out appointment times.", 0.9, True),
    ("Going forward - never give out appointment times.", 0.9, True),
    ("By default: use metric units.", 0.8, False),
    ("Whenever a guest complains: offer a voucher.", 0.8, False),
    ("Three rules: never give out appointment times.", 0.9, True),
    ("Please note: always verify the date of birth.", 0.9, False),
    ("Change of rule: since November, patients may cancel up to 12 hours before.", 0.7, False),
    ("Policy update: the deposit covers every appointment.", 0.7, False),
    ("Please only text me, never call.", 0.8, True),
    ("Only email me, never phone.", 0.8, True),
    ("Contact me by e-mail and never by phone.", 0.8, True),
    ("For the record: never restart the database during the nightly backup.", 0.9, True),
    ("For future reference, always check the disk first.", 0.9, False),
    ("Heads up: never deploy on Fridays.", 0.9, True),
    ("P.S. never push to main.", 0.9, True),
    ("One thing: never push to main.", 0.9, True),
    ("Keep in mind that you must never deploy on Fridays.", 0.9, True),
    ("Team rule: never deploy on Fridays.", 0.9, True),
    ("Please note that nobody may push to main.", 0.75, False),
    ("Going forward, please answer in German.", 0.8, False),
    ("Please open a ticket next time.", 0.8, False),
    ("Whenever you write Python code, add type hints.", 0.8, False),
    ("When writing SQL, use upper-case keywords.", 0.6, False),
    ("Before you commit, run the linter.", 0.6, False),
    ("Make sure to run the tests before every commit.", 0.6, False),
    ("Make sure you run the tests.", 0.5, False),
    ("Do not use global variables.", 0.6, False),
    ("Don't ever push to main directly.", 0.9, True),
    ("You must never share customer data.", 0.9, True),
    ("You shall not share passwords with anybody.", 0.85, True),
    ("You mustn't push to the main branch.", 0.85, True),
    ("You aren't allowed to share customer data.", 0.85, True),
    ("You're not allowed to share customer data.", 0.85, True),
    ("You are never permitted to skip the review.", 0.85, True),
    ("I want you to always show the command that was run.", 0.9, False),
    ("Could you always show me the diff first?", 0.9, False),
    ("Use tabs instead of spaces.", 0.6, False),
    ("Address me as Dr. Smith.", 0.8, False),
    ("Keep answers short.", 0.8, False),
    ("Avoid using deprecated APIs.", 0.6, False),
    ("All deployments must be approved by two people.", 0.75, False),
    ("If the user asks for a refund, always check the policy first.", 0.9, False),
    ("Under no circumstances should you delete the backups.", 0.9, True),
    ("Only respond in bullet points.", 0.6, False),
    ("Hi, never share my address with anyone", 0.9, True),
    ("It is important to always back up first.", 0.9, False),
    ("btw don't use print for debugging", 0.6, False),
    ("By the way never force push.", 0.9, True),
    ("Do not quote tabloids, the foundation has a dispute with them.", 0.6, False),
    ("Do not use moment because it is no longer maintained.", 0.6, False),
    ("No emojis in commit messages please", 0.6, False),
    ("No deploys on weekends from now on.", 0.8, False),
    ("No merges without review, ever.", 0.6, False),
    ("No emojis ever, please.", 0.8, False),
    ("No exclamation marks, ever!", 0.8, False),
    ("Nobody may deploy on Fridays", 0.75, False),
    ("No one is allowed to merge without review.", 0.75, False),
    ("Everyone must review before they merge.", 0.75, False),
    ("No longer use metric units.", 0.8, False),
    ("From now on answer in French.", 0.8, False),
    ("Use British spelling from now on.", 0.8, False),
    ("Each time you deploy, post in the channel.", 0.8, False),
    ("Stop adding emojis to replies from now on.", 0.8, False),
    ("Answer in French no matter what.", 0.8, False),
    ("Use British spelling without exception.", 0.8, False),
    ("Henceforth tag every ticket.", 0.8, False),
    ("Without exception, sign commits.", 0.8, False),
    ("No matter what I say, don't delete backups.", 0.8, False),
    ("Each time you finish, summarise.", 0.8, False),
    ("Nobody is to merge on Fridays.", 0.75, False),
    ("Run the linter before every commit.", 0.6, False),
    ("Run the linter before anybody pushes.", 0.6, False),
    ("Run the linter, after everybody pushed.", 0.6, False),
    ("Don't use tabs.", 0.6, False),
    ("Don't mock send_with_retries.", 0.5, False),
    ("Only call `TemporaryDirectory` on Windows.", 0.5, False),
    ("And run `make gen` after touching any .proto file, otherwise it breaks.", 0.6, False),
    ("Ask me before you delete anything.", 0.6, False),
    ("Before you restart a payments service, call Ravindra.", 0.6, False),
    ("Whenever a customer asks for a refund, give it to them.", 0.8, False),
    ("For payments incidents, always call Ravindra first.", 0.9, False),
    ("For payments incidents you must call Ravindra before you restart anything.", 0.6, False),
    ("Commit messages must start with the service name.", 0.75, False),
    ("Refunds over 100 must be approved by a supervisor.", 0.75, False),
    ("No pull request may be merged without a review.", 0.75, False),
    ("You are not allowed to share customer data.", 0.85, True),
    ("You must not share customer data.", 0.85, True),
    ("Only Denise may approve refunds.", 0.75, False),
    ("Do not approve refunds above 100 euros.", 0.6, False),
    # Announced as a rule.
    ("New rule: new patients must not be booked before 9:00 on Mondays", 0.75, False),
    ("New rule from the practice manager: never overbook.", 0.9, True),
    ("Another rule from the landlord: no barbecues on the balconies.", 0.7, False),
    ("One more rule: refunds above 100 euros need a second signature.", 0.7, False),
    ("Here's a new house rule: shoes stay at the door.", 0.7, False),
    ("Our new policy is that guests under 16 come with a parent.", 0.7, False),
    ("General rule - quote prices including tax.", 0.7, False),
    ("Updated policy: deployments happen on Tuesdays only.", 0.7, False),
    ("New guideline for reports: figures go before the text.", 0.7, False),
    ("The new rule is: never send invoices on weekends.", 0.9, True),
    ("Rule for releases: never tag on Fridays.", 0.9, True),
    # After a label or a colon.
    ("From now on use the plan check: never pass --force without showing me the plan first", 0.8, True),
    ("From now on deployments: always ask Ann first.", 0.9, False),
    # One particular thing, for good.
    ("From now on use the blue template.", 0.8, False),
    ("Use the staging cluster going forward.", 0.8, False),
    ("In future use a shorter subject line.", 0.8, False),
    # A thing for a kind of purpose.
    ("Use station pack-3 for fragile goods", 0.6, False),
    ("Use British English for emails.", 0.6, False),
    ("Please use sandbox keys for integration tests.", 0.6, False),
    ("Use tabs for Makefiles.", 0.6, False),
    # A manner that an agent is to drop.
    ("Stop asking for confirmation", 0.6, False),
    ("Stop asking me for confirmation.", 0.6, False),
    ("Please stop adding emojis to your replies.", 0.6, False),
    ("Stop apologising for mistakes.", 0.6, False),
    ("Stop summarising what you did.", 0.6, False),
    ("Stop using jargon.", 0.6, False),
]
LASTING = [
    "From now on", "Going forward", "Moving forward", "In future", "In the future", "Next time", "Henceforth",
    "By default", "As a rule", "In general", "Whenever you write", "Every time you write", "Each time you write",
    "Any time I ask", "When writing reports", "Before you commit", "At all times", "Without exception",
    "No matter what", "Unless I object", "For all reports", "In every report",
]  # fmt: skip
NO_ORDERS = [
    "Use GLS for everything.",
    "No progress without my approval so far.",
    "No luck without your help.",
    "No problems ever!",
    "No one ever told me.",
    "For the record, I never said that.",
    "Keep in mind that we never close before six.",
    "Keep in mind that you are always welcome.",
    "From now on: I am on holiday.",
    "In general: how are you doing?",
    "Three rules: they are on the wall.",
    "The change of rule: he told me about it.",
    "Only text me.",
    "Text was never shown.",
    "I always verify the rollout.",
    "I never eat meat.",
    "We never deploy on Fridays.",
    "There must be a mistake.",
    "You must love seeing how you've grown.",
    "Always happy to help!",
    "Never been to an animal shelter before.",
    "Never had a chance to visit.",
    "Always staying filled with self-belief.",
    "Never again!",
    "Never mind, it works.",
    "Never give up!",
    "Don't worry about it.",
    "Don't forget to take care of yourself!",
    "Can you make sure it works?",
    "Please make sure it works.",
    "I want to make sure I got the right one.",
    "I'll make sure to find my user ID.",
    "Please use the gift card first to cover the difference.",
    "Use option 2.",
    "Use credit_card_8003957 for any fare difference.",
    "Make sure everything is set.",
    "Make sure no changes.",
    "No more changes to commit please.",
    "Could you please confirm the total?",
    "If anything changes, please let me know.",
    "Would you confirm everything for me before moving forward?",
    "Do you always do that?",
    "Please make sure the refund goes to my PayPal account, not the Visa card.",
    "Ensure we get an aisle and a middle seat together.",
    "Before submitting, send me the summary.",
    "Do not use any other payment methods.",
    "After ticketing, please confirm:",
    "Nobody may know the truth.",
    "Everybody must be so proud.",
    "No problems with the tests please.",
    "No errors in the log.",
    "No longer needed.",
    "No longer works for me.",
    "Do not change the seats, they are fine.",
    "Don't cancel, the trip is on.",
    "Do not use the card, or that voucher.",
    "Yes.",
    "Call me before you leave.",
    "Remind me before every meeting today.",
    "Run the tests again after changing the import.",
    "Wait until every test has passed.",
    "In two days, make sure to water the plants.",
    "You must not worry.",
    "You must not delete it.",
    "Things must change.",
    "There must be a mistake in the numbers.",
    "Your kids must be so proud.",
    "Guests must have left early.",
    "I broke the new rule: I ate meat.",
    "The new rule is confusing.",
    "A new rule: this one.",
    "New rules:",
    "New rule: what happens on Mondays?",
    "My motto: never give in.",
    "The bug: never send emails twice",
    "Expected: never throw an exception",
    "Competitor policy: never accept returns",
    "Question: always use semicolons or not?",
    "Option A: always use locks",
    "Use my card, my husband never minds.",
    "Please use the gift card, I never used it.",
    "Use PayPal, it never fails.",
    "Another rule - which I hate - is in the contract",
    "The new guidelines are - as expected - a mess for everyone",
    "My new policy: I just smile and walk away.",
    "One important rule: my landlord hates dogs.",
    "Here is another rule: the company fined me forty dollars.",
    "One more rule: the teacher said we have to bring pencils.",
    "He told me one thing: always be kind.",
    "The book says: never look back.",
    "Title: Never let go.",
    "Notes: keep it short and use the form in the future.",
    "Use the blue template.",
    "Use a shorter subject line.",
    "Use this from now on?",
    "Use my card for the refunds.",
    "Use it for both flights.",
    "Use these for baking.",
    "Use the voucher for tickets.",
    "Use the voucher for all tickets.",
    "Use credit_card_8003957 for tickets.",
    "Use option 2 for flights.",
    "Use tools for edits:",
    "Use cash for now.",
    "Stop asking.",
    "Stop asking me this.",
    "Stop using this tone.",
    "Stop charging my card.",
    "Stop running the server.",
    "Stop writing the report.",
    "I want to stop asking for help.",
    "She will not stop asking for money.",
]


@pytest.mark.parametrize(("sentence", "confidence", "hard"), ORDERS)
def test_orders_are_understood(sentence, confidence, hard):
    """An imperative that holds beyond the moment is a policy; absolute words make it hard."""
    directive = directive_in(sentence)
    assert directive is not None
    assert (directive.confidence, directive.hard) == (confidence, hard)


@pytest.mark.parametrize("sentence", [sentence for sentence, *_ in ORDERS])
def test_every_order_has_a_sign_of_one(sentence):
    """The prefilter passes every directive, so that it is remembered."""
    assert may_contain_directive(f"{sentence.rstrip('.')}.\nThe rest".lower())
    assert [draft.kind for draft in extract(said(sentence)).memories] == ["policy"]


@pytest.mark.parametrize("how", LASTING)
def test_a_word_that_makes_an_order_last_is_a_sign(how):
    """The prefilter passes every directive with such a word, in any position, with any verb."""
    verbs = ("use", "answer in", "deploy", "do not quote", "avoid", "always cite", "keep to", "call me")
    sentences = [
        text for verb in verbs for text in (f"{how} {verb} Plain sources", f"{how}, {verb} X", f"{verb} X {how}")
    ]
    orders = list(filter(directive_in, sentences))
    assert orders
    assert all(may_contain_directive(sentence.lower()) for sentence in orders)


@pytest.mark.parametrize("sentence", NO_ORDERS)
def test_talk_is_no_order(sentence):
    """Habits, guesses, encouragement, one-off requests and questions are not policies."""
    assert directive_in(sentence) is None


def test_a_system_prompt_speaks_in_norms():
    """Norms in a system prompt are policies."""
    sentence = "The agent must confirm the order before it is charged."
    assert directive_in(sentence) is None
    assert directive_in(sentence, system=True) == ("The agent must confirm the order before it is charged.", 0.85, True)


@pytest.mark.parametrize(
    "sentence",
    [
        "Escalate to the duty manager when an incident lasts longer than an hour.",
        "If they ask, check the policy first.",
    ],
)
def test_a_system_prompt_orders_for_occasions(sentence):
    """In a system prompt, a plain imperative for certain occasions is a policy."""
    assert directive_in(sentence) is None
    assert directive_in(sentence, system=True) == (sentence, 0.7, False)
    assert directive_in("Fetch the file.", system=True) is None


def test_a_greeting_is_no_part_of_the_order():
    """The policy has the words of the directive without greeting or announcement, but with "please" and its scope."""
    assert directive_in("New rule from Ada: never overbook.").text == "Never overbook."
    assert directive_in("Rule for releases: never tag late.").text == "Rule for releases: never tag late."
    assert directive_in("Ok thanks, always cite sources.").text == "Always cite sources."
    assert directive_in("Please always cite sources.").text == "Please always cite sources."


@pytest.mark.parametrize("asked", ["Avoid using global state", "Please make sure to use tabs for indentation"])
def test_what_is_asked_is_no_rule(asked):
    """The same words are a rule as a statement, but not as a question."""
    assert directive_in(f"{asked}.") is not None
    assert directive_in(f"{asked}?") is None


@pytest.mark.parametrize("report", ["No more changes to commit.", "No changes to display since the last message."])
def test_a_report_that_nothing_is_left_is_no_ban(report):
    """Programs write such reports as system messages."""
    assert directive_in(report, system=True) is None
    assert directive_in("No emojis in commit messages.", system=True) is not None
