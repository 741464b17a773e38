"""Identity of names: normalisation, families of types, bare titles."""

import pytest

from hmxgraph.extraction.entities import TYPES, bare, family, more_specific, normalise


@pytest.mark.parametrize(
    ("spelling", "other_spelling"),
    [
        ("The Beatles", "Beatles"),
        ("Melanie's", "melanie"),
        ("Luís Galego", "Luis Galego"),
        ("Spider-Man", "Spider Man"),
        ("Sons & Daughters", "Sons and Daughters"),
        ("O\u2019Neal", "O'Neal"),
    ],
)
def test_spellings_of_one_name_normalise_alike(spelling, other_spelling):
    """Articles, endings, accents, hyphens and ampersands make no difference."""
    assert normalise("concept", spelling) == normalise("person", other_spelling) != ""


def test_machine_names_keep_every_sign():
    """Tools, files and commands keep their punctuation; only case is ignored."""
    assert normalise("tool", "get_order") != normalise("tool", "get-order")
    assert normalise("file", "./Src/app.py") == "src/app.py"
    assert normalise("command", "Kubectl apply") == "kubectl apply"


def test_ids_and_tags_lose_the_number_sign():
    """An order is the same with and without its number sign."""
    assert normalise("id", "#W2378156") == normalise("id", "W2378156")
    assert normalise("tag", "#deploy") == "deploy"


def test_a_name_may_turn_out_to_be_a_person_or_an_id():
    """Types in one family share an identity, and the more specific one is kept."""
    assert family("concept") == family("person") == family("id") != family("file")
    assert more_specific("concept", "person") == more_specific("person", "concept") == "person"
    assert more_specific("symbol", "tool") == "tool"


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("Lilu (mythology)", "Lilu"),
        ("Kahin Pyaar Na Ho Jaaye (2000 film)", "Kahin Pyaar Na Ho Jaaye"),
        ("Hunt Valley, Maryland", "Hunt Valley"),
        ("Metallica", ""),
        ("Families, Systems, and Health", ""),
        ("(untitled)", ""),
    ],
)
def test_a_title_is_known_by_its_bare_form_too(title, short):
    """The disambiguation of a title is removed."""
    assert bare(title) == short


@pytest.mark.parametrize("entity_type", TYPES)
def test_normalising_twice_changes_nothing(entity_type):
    """Normalisation is idempotent."""
    once = normalise(entity_type, "The Wall: Live in #Berlin (1990)")
    assert normalise(entity_type, once) == once
