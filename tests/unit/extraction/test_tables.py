"""Every rule of the tables matches its examples and none of its counterexamples."""

from time import process_time

import pytest

from hmxgraph.extraction._entity_forms import FORMS
from hmxgraph.extraction._fact_rules import FACT_RULES as FACTS
from hmxgraph.extraction._facts import facts, routine
from hmxgraph.extraction._house_rules import HOUSE_RULES, house_rule_in
from hmxgraph.extraction._preferences import PREFERENCE_RULES as PREFERENCES
from hmxgraph.extraction._preferences import preference
from hmxgraph.extraction.entities import RELATION_RULES as RELATIONS
from hmxgraph.extraction.entities import structural
from hmxgraph.extraction.extract import extract
from hmxgraph.extraction.language import Ref, cues
from tests.unit.extraction.events import said


@pytest.mark.parametrize(("form", "text", "name"), [(form, *pair) for form in FORMS for pair in form.examples])
def test_a_form_finds_its_examples(form, text, name):
    """A form finds the name in each of its examples, and nothing else there."""
    assert list(form.names(text)) == [name]


@pytest.mark.parametrize(("form", "text"), [(form, text) for form in FORMS for text in form.counterexamples])
def test_a_form_leaves_its_counterexamples_alone(form, text):
    """A form finds nothing in its counterexamples."""
    assert list(form.names(text)) == []


@pytest.mark.parametrize("cue", sorted({cue for rule in FACTS for cue in rule.cues}))
def test_a_cue_is_one_word(cue):
    """A cue that spans several words would never match."""
    assert cues(cue) == {cue}


@pytest.mark.parametrize(("text", "statement"), [pair for rule in FACTS for pair in rule.examples])
def test_a_fact_rule_finds_its_examples(text, statement):
    """A rule states the fact of its example."""
    assert statement in [fact.text.replace("{subject}", "the user") for fact in facts(text)]


@pytest.mark.parametrize("text", [text for rule in FACTS for text in rule.counterexamples])
def test_a_fact_rule_leaves_its_counterexamples_alone(text):
    """No rule states a fact for a counterexample."""
    assert list(facts(text)) == []


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule in HOUSE_RULES for text in rule.examples])
def test_a_form_of_house_rules_finds_its_examples(rule, text):
    """An example is a policy with the confidence of its form, however it is said."""
    found = house_rule_in(text)
    assert found is not None
    assert found.confidence == rule.confidence
    for spoken in (text, f"Ok, thanks. {text}"):
        assert found.text.rstrip(".!") in [memory.text.rstrip(".!") for memory in extract(said(spoken)).memories]


@pytest.mark.parametrize("text", [text for rule in HOUSE_RULES for text in rule.counterexamples])
def test_a_form_of_house_rules_leaves_its_counterexamples_alone(text):
    """No form finds a house rule in a counterexample."""
    assert house_rule_in(text) is None


def test_a_ban_is_lifted_for_the_name_in_the_sentence_before():
    """The pronoun alone would not say which ban it is about."""
    banned = extract(said("Never book Termo Rossi for Casa Blu.")).memories
    lifted = extract(said("Termo Rossi apologised. You may book them for Casa Blu again.")).memories
    assert [draft.text for draft in lifted] == ["You may book Termo Rossi for Casa Blu again."]
    assert (lifted[0].slot, lifted[0].predicate) == (banned[0].slot, "allows")
    assert not extract(said("The vendor apologised. You may book them for Casa Blu again.")).memories


def test_a_house_rule_is_no_open_goal():
    """An agent would otherwise see it as unfinished work."""
    drafts = extract(said("Use pnpm instead of npm here.", sequence=0)).memories
    assert [draft.kind for draft in drafts] == ["policy"]


@pytest.mark.parametrize(
    "text",
    [
        "The warehouse ships at 15:00 every day.",
        "The office is closed on Mondays.",
        "I'm not free on Wednesdays.",
        "Our backups run daily at 2 am.",
        "Invoicing is done on the 3rd of each month.",
        "We close at 6 pm on Saturdays, except in August.",
    ],
)
def test_what_is_regularly_so_is_a_fact(text):
    """A statement in the present tense with a period is remembered as it was said."""
    assert routine(text) == text
    assert text in [draft.text for draft in extract(said(text)).memories if draft.kind == "fact"]


@pytest.mark.parametrize(
    "text",
    [
        "I went running every day.",
        "Remind me every Monday.",
        "It is closed on Mondays.",
        "We closed on Mondays.",
        "I think we close at 6 on Saturdays.",
        "If the shop is closed on Mondays, come on Tuesday.",
        "Benefits of daily walks.",
        "Is the shop closed on Mondays?",
        "I'm going to run every morning.",
    ],
)
def test_stories_plans_and_doubts_are_no_routine(text):
    """Past tenses, plans, doubts, conditions, requests and headings state nothing that is regularly so."""
    assert routine(text) == ""


@pytest.mark.parametrize("unit", ["use a ", "i want a ", "for cats, ", "keep cats ", "we never ", "every a on ", "as "])
def test_house_rules_and_routines_of_a_hostile_text_are_soon_read(unit):
    """Many beginnings of a form do not multiply the time."""
    began = process_time()
    extract(said(unit * (12_000 // len(unit))))
    routine(unit * (300 // len(unit)))
    house_rule_in(unit * (300 // len(unit)))
    assert process_time() - began < 1


@pytest.mark.parametrize("unit", ["1-", " -1", "- 1", "(1)-", " / 1", " 4444 22"])
def test_a_long_row_of_groups_is_soon_read(unit):
    """What stands between two groups matches in one way; with two, each group would double the time."""
    began = process_time()
    list(facts("My phone number is 1" + 24 * unit + "1@ and that is it."))
    assert process_time() - began < 2


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule in PREFERENCES for text in rule.examples])
def test_a_preference_rule_finds_its_examples(rule, text):
    """An example states the preference of its rule."""
    stated = preference(text)
    assert stated is not None
    assert (stated.predicate, stated.confidence) == (rule.predicate, rule.confidence)


@pytest.mark.parametrize("text", [text for rule in PREFERENCES for text in rule.examples])
def test_the_cues_let_every_example_of_a_preference_through(text):
    """No example is lost in the check for cues that precedes the rules."""
    assert "preference" in [memory.kind for memory in extract(said(text)).memories]


@pytest.mark.parametrize("text", [text for rule in PREFERENCES for text in rule.counterexamples])
def test_a_preference_rule_leaves_its_counterexamples_alone(text):
    """No preference is found in a counterexample."""
    assert preference(text) is None


@pytest.mark.parametrize("rule", RELATIONS, ids=lambda rule: f"{rule.event_type}-{rule.relation_type}-{rule.target}")
def test_a_relation_rule_relates_what_it_names(rule):
    """A rule relates an entity of its source type to one of its target type, under its condition."""
    source, target = Ref(rule.source, "one"), Ref(rule.target, "other")
    mentions = {rule.source: [source], rule.target: [target]}
    relations = [
        (relation.source, relation.relation_type, relation.target)
        for relation in structural(rule.event_type, mentions, failed=rule.failed)
    ]
    assert (source, rule.relation_type, target) in relations
    if rule.failed:
        assert not any(
            relation.relation_type == rule.relation_type
            for relation in structural(rule.event_type, mentions, failed=False)
        )
