"""Names in running text."""

import pytest

from hmxgraph.extraction._entity_spans import spans


def names(text, **how):
    """Return the names found in *text*."""
    return [span.name for span in spans(text, **how)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Omar Davis in New York.", ["Omar Davis", "New York"]),
        ("Thanks Melanie! I went with John's brother to Boston", ["Melanie", "John", "Boston"]),
        (
            "the University of Vienna and the Gulf of Mexico",
            ["University of Vienna", "Vienna", "Gulf of Mexico", "Mexico"],
        ),
        ("he read Alexander the Great again", ["Alexander the Great"]),
        ("the Supreme Leader Kim Jong-il said", ["Supreme Leader Kim Jong-il", "Kim Jong-il"]),
        ("music by M. M. Srilekha and J.K. Rowling", ["M. M. Srilekha", "J.K. Rowling"]),
        ("I saw Dr. Smith and Mr. Jones", ["Smith", "Jones"]),
        ("the film with Formula 1 and Maryland Route 45", ["Formula 1", "Maryland Route 45"]),
        (
            'she loved "Charlotte\'s Web" and \u201cTo Kill a Mockingbird\u201d',
            ["Charlotte's Web", "To Kill a Mockingbird"],
        ),
        ("in Málaga, Östersund and São Paulo", ["Málaga", "Östersund", "São Paulo"]),
        ("an LGBTQ group of the NFL", ["LGBTQ", "NFL"]),
    ],
)
def test_names_are_runs_of_capitalised_words(text, expected):
    """Names are found whole, and their parts if small words join them."""
    assert [name for name in expected if name not in names(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "Hello! How are you? Painting is fun. Thanks, wow.",
        "I'm fine. It's OK. I'd say so, as I said on Monday the 5th of May.",
        "- Step 3: do it\n- Option 2\n1. Cancel the order",
        "### Summary of Changes\n**Order ID:** none",
        "PLEASE STOP THIS NOW",
        "reservation JG7FMM and my_variable, user_Name",
        "```\nclass Foo(Bar):\n    Baz()\n```",
    ],
)
def test_capitals_by_custom_are_no_names(text):
    """Sentence openings, dates, labels, numbered references, shouting, ids and code are skipped."""
    assert names(text) == []


def test_a_sentence_may_open_with_a_name_that_is_used_elsewhere():
    """Its first word counts if the text uses it as a name elsewhere."""
    assert names("Toby is here. I love Toby.").count("Toby") == 2
    assert names("Painting relaxes me.") == []


def test_prose_about_a_subject_opens_sentences_with_names():
    """In titled prose, the first word of a sentence may be a new name."""
    assert names("Lilu was a demon. Running hurts.", titled=True) == ["Lilu"]


def test_a_listing_capitalises_by_custom():
    """Formatted answers capitalise single words, which count only within a running sentence."""
    text = "- Desk Lamp (White, Glass)\n- we ship to Boston"
    assert names(text, listing=True) == ["Desk Lamp", "Boston"]


def test_demonyms_alone_name_nothing():
    """An adjective of a place counts only inside a longer name."""
    assert names("an American band in the American Football League") == ["American Football League"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Return the Garden Hose today", ["Garden Hose"]),
        ("Exchange the Bluetooth Speaker for me", ["Bluetooth Speaker"]),
        ("Alexander the Great was here", ["Alexander the Great"]),
        ("Swapped the Desk Lamp for me", ["Desk Lamp"]),
        ("Reschedule P-4410 please", ["P-4410"]),
        ("Booked A-5001 today", ["A-5001"]),
        ("Cancelled A-5010.", ["A-5010"]),
        ("Boeing B-52 flew by", ["Boeing B-52"]),
        ("We have Track B-12 left", ["Track B-12"]),
        ("Book Club meets", ["Book Club"]),
        ("I take size L. The price is fine", []),
        ('I prefer size "M."', []),
        ("Woohoo Melanie! Oof, Hang in there", ["Melanie"]),
        ("we saw Lord of the Rings", ["Lord of the Rings"]),
        ("a President of the United States", ["President of the United States", "United States"]),
    ],
)
def test_what_stands_beside_a_name_is_not_part_of_it(text, expected):
    """Imperatives, exclamations, sizes and the end of the previous sentence are not part of a name."""
    assert names(text) == expected
