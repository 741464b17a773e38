"""Assertions: a statement is not a fact if it is doubted, attributed to others or retracted."""

import pytest

from hmxgraph.extraction._facts import facts
from hmxgraph.extraction._preferences import preference
from hmxgraph.extraction.extract import fact_draft

OPEN = [
    # hedged
    "I'm probably allergic to shellfish",
    "I'm hardly allergic to bees.",
    "Maybe I'm allergic to bees.",
    "Apparently, I live in Oslo.",
    "My favourite editor is probably Vim.",
    "I live in Oslo, I think.",
    "I think my boss is Maria.",
    # said or thought by others, or not even that
    "Tom said I live in Oslo.",
    'Tom said: "I live in Oslo"',
    'A note reads "I live in Oslo" and no more.',
    "People think I'm from Canada",
    "According to the form, I live in Oslo.",
    "I'm from Canada, according to the form.",
    "Everyone assumes my name is Tom",
    "The register claims that I work at Contoso.",
    "I don't think I live in Oslo proper",
    "It is not true that I live in Oslo.",
    "I doubt I'm allergic to nuts",
    "I never said I live in Oslo.",
    "I hope I'm not allergic to nuts.",
    "The doctor ruled out that I'm allergic to nuts.",
    "I'm almost certain my boss is Maria.",
    # taken back
    "I'm allergic to iodine - wrong.",
    "I live in Oslo, but that is wrong.",
    "My boss is Maria, but that's outdated.",
    "I'm from Canada, but I'm not.",
    "I live in Oslo, not really",
    # about nothing
    "I'm allergic to nothing",
    "I'm not allergic to anything",
    "I'm not badly allergic to bees.",
]
STATED = [
    ("I said I live in Oslo.", "lives in Oslo"),
    ("As I told you, I live in Oslo.", "lives in Oslo"),
    ("I live in Oslo but I don't like the cold.", "lives in Oslo"),
    ("I live in Oslo and Tom does not.", "lives in Oslo"),
    ("I'm from Canada, not the US.", "comes from Canada"),
    ("I just found out I'm allergic to kiwi.", "is allergic to kiwi"),
    ("Nobody knows I live in Oslo.", "lives in Oslo"),
    ("Tom asked again, so here it is: I live in Oslo.", "lives in Oslo"),
    ("I'm severely allergic to nuts.", "is allergic to nuts"),
    ("I'm not allergic to penicillin, that was a mistake in my file.", "is not allergic to penicillin"),
    ("I'm no longer vegan.", "is not vegan"),
    ("Turns out I'm definitely not allergic to latex.", "is not allergic to latex"),
]


@pytest.mark.parametrize("sentence", OPEN)
def test_what_nobody_stands_by_is_no_fact(sentence):
    """Doubted, attributed, retracted and empty statements are not facts."""
    assert list(facts(sentence)) == []


@pytest.mark.parametrize(("sentence", "statement"), STATED)
def test_an_asserted_statement_is_a_fact(sentence, statement):
    """An assertion is a fact despite a contrast that follows; a denial is a fact of its own."""
    assert [fact.text.removeprefix("{subject} ") for fact in facts(sentence)] == [statement]


@pytest.mark.parametrize("sentence", ["I think my friend Sarah is late.", "He told my friend Sarah, but she isn't"])
def test_who_is_named_in_passing_is_taken_for_granted(sentence):
    """Doubt about the sentence does not affect who somebody is."""
    assert [fact.object for fact in facts(sentence)] == ["Sarah"]


def test_what_is_no_longer_so_answers_the_same_question():
    """A property and its denial share one slot per thing, whatever the wording."""
    statements = (
        "I'm allergic to nuts and latex.",
        "I'm not allergic to latex after all.",
        "I am not allergic to latex.",
    )
    nuts, latex, *denied = (fact_draft(fact, "Ann", "statement") for text in statements for fact in facts(text))
    assert nuts.slot != latex.slot
    assert {fact.slot for fact in denied} == {latex.slot}
    assert {fact.answer for fact in denied} == {"is not allergic to latex"}
    assert latex.answer == "is allergic to latex"


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("Correction: it's not latex, I'm allergic to nickel.", ["latex"]),
        ("Sorry, that's not latex or rubber, I am allergic to nickel.", ["latex", "rubber"]),
        ("I'm allergic to nickel, not latex.", ["latex"]),
        ("I'm allergic to nickel and not to latex or rubber.", ["latex", "rubber"]),
        ("My son is allergic to nickel rather than latex, so please change it.", ["latex"]),
        ("I'm vegan, not vegetarian.", ["vegetarian"]),
        ("I'm allergic to nickel, not just latex.", []),
        ("I'm allergic to nickel, not kidding.", []),
        ("I'm allergic to nickel, not a fan of it.", []),
        ("I'm allergic to nickel - not sure about latex.", []),
        ("It's not urgent, I'm allergic to nickel.", []),
        ("Sorry, it's not that bad, I'm allergic to nickel.", []),
        ("Sorry, it's not working, I'm allergic to nickel.", []),
        ("I'm allergic to nickel, but not badly.", []),
        ("Actually that's not true, I'm allergic to nickel.", []),
        ("Actually it's not much fun, I'm allergic to nickel.", []),
        ("Sorry, it's not life threatening, I'm allergic to nickel.", []),
        ("I'm married, not dead.", []),
    ],
)
def test_a_correction_denies_what_it_replaces(sentence, denied):
    """The denial has the slot of the earlier statement, so that it replaces it; a remark denies nothing."""
    stated, *denials = facts(sentence)
    assert stated.predicate.split()[0] == "is"
    assert [fact.object for fact in denials] == denied
    assert all(fact.predicate == stated.predicate.replace("is", "is not", 1) for fact in denials)
    assert {fact.denial_key for fact in denials} == {f"{stated.predicate} {other}" for other in denied}


@pytest.mark.parametrize(
    "sentence", ["People think I love golf.", "I don't think I like golf.", "I love golf, but that's not true."]
)
def test_a_liking_that_others_claim_is_none(sentence):
    """A preference attributed to the speaker by others is not one."""
    assert preference(sentence) is None


def test_what_one_thinks_one_likes_one_likes():
    """The words "I think I like" state a preference."""
    assert preference("I think I prefer tea over coffee.").object == "tea over coffee"
