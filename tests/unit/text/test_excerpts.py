"""Excerpts of long texts: each relevant passage once."""

import pytest

from hmxgraph.text.excerpts import Passages

WARNING = "warning: run the formatter to fix this\n"
LOG = "build started\n" + 20 * (WARNING + "  in some file\n") + "Error: the run was stopped\n" + 20 * "cleaned up\n"


def test_a_repeated_line_is_relevant_once():
    """A warning given twenty times leaves room for the error below."""
    excerpt = Passages.of(LOG, {"run": 1.0}).excerpt(140)
    assert excerpt.count("warning") == 1
    assert "Error: the run was stopped" in excerpt


def test_a_repeated_line_is_no_news():
    """A line that the beginning already contains does not count as relevant after it."""
    passages = Passages.of(20 * WARNING, {"run": 1.0})
    assert passages.anything_after(0)
    assert not passages.anything_after(2 * len(WARNING))


ANSWER = (
    "Sure.\n\n1. Add a card to the gallery.\n```html\n<div class=card>\n<h5>card title</h5>\n```\nIt has 8 items now.\n"
)


def test_prose_is_excerpted_without_its_code():
    """Single lines of code say little, whether or not they are next to a relevant sentence."""
    assert Passages.of(3 * ANSWER, {"card": 1.0}).excerpt(70).splitlines() == [
        "Sure.",
        "",
        "1. Add a card to the gallery. […]",
        "It has 8 items now. […]",
    ]


def test_code_is_excerpted_where_nothing_else_is_relevant():
    """Code counts if nothing else is relevant; an unclosed fence extends to the end."""
    assert "card title" in Passages.of(ANSWER, {"titl": 1.0}).excerpt(40)
    assert "<h5>" not in Passages.of(ANSWER.replace("```\nIt", "It"), {"galleri": 1.0}).excerpt(200)


@pytest.mark.timeout(30)
def test_a_long_log_is_ordered_in_linear_time():
    """With half of the pieces relevant, each piece is visited a few times, not once per other piece."""
    log = "".join(f"account {n} booked\n" for n in range(9_000)) + "".join(f"other line {n}\n" for n in range(9_000))
    assert Passages.of(log, {"account": 1.0}).excerpt(200).startswith("account 0 booked")


@pytest.mark.parametrize(
    ("beginning", "shown"),
    [
        ("I am updating the gallery of my site, but the layout is off.", "[…] Now I have ten cards in total."),
        ("I have cards in total.", "I have cards in total. […]"),
    ],
)
def test_of_talk_the_best_passage_comes_before_the_beginning(beginning, shown):
    """If both do not fit, the best passage is shown, with a mark that the text began earlier."""
    said = f"{beginning} Can you help? Now I have ten cards in total."
    excerpt = Passages.of(said, {"card": 1.0, "total": 1.0}).excerpt(39, from_beginning=False)
    assert excerpt == shown
    assert len(excerpt) <= 39


def test_an_opening_word_does_not_orient():
    """The passage of an answer that matches is shown rather than its first word."""
    said = f"Certainly! The cards are in the gallery. {'Then comes much else. ' * 9}"
    excerpt = Passages.of(said, {"card": 1.0}).excerpt(60, from_beginning=False)
    assert excerpt.startswith("[…] The cards are in the gallery.")


def test_half_a_sentence_does_not_stand_before_the_beginning():
    """A piece that starts in the middle of a long sentence cannot be read alone."""
    said = f"I want to make the site faster, {'and faster, ' * 12} so I compress the images and the cards."
    excerpt = Passages.of(said, {"card": 1.0}).excerpt(165, from_beginning=False)
    assert excerpt.startswith("I want to make")


def test_a_heading_and_a_single_word_tell_nothing():
    """The text that they announce is shown, not the announcement."""
    answer = "### The offer of the studio\nYour offer:\nThe studio made an offer of 85,000 a year.\nOffer.\n"
    assert Passages.of(answer, {"offer": 1.0, "studio": 1.0}).worth == (0.0, 0.0, 2.0, 0.0)


def test_how_an_assistant_ends_an_answer_tells_nothing():
    """The closing phrase repeats the question; the steps that it refers to are the answer."""
    steps = "1. Put the script beside the page.\n2. Define the handler before the call.\n"
    answer = (
        f"Sure.\n{steps}By following these steps, the script of the page finds the handler.\nLet me know if it fails."
    )
    passages = Passages.of(answer, {"script": 1.0, "page": 1.0, "handler": 1.0, "fail": 1.0})
    assert passages.worth == (0.0, 2.0, 1.0, 0.0, 0.0)


def test_the_sentence_that_decides_comes_first():
    """Of two sentences about the same, the one that says what is possible is shown."""
    answer = "I found the exchange of your lamp. An exchange of a lamp is only possible once. Here is the lamp's label."
    excerpt = Passages.of(answer, {"exchang": 1.0, "lamp": 1.0}).excerpt(60, from_beginning=False)
    assert excerpt == "[…] An exchange of a lamp is only possible once. […]"


def test_an_excerpt_does_not_end_with_a_heading():
    """A heading is shown only with the text below it."""
    price = "It depends on the shade, the cable and the number of bulbs."
    passages = Passages.of(f"Hello.\nThe lamp is green.\n### The price\n{price}\n", {"lamp": 1.0, "green": 1.0})
    excerpts = [passages.excerpt(limit) for limit in range(30, 140)]
    assert not any(excerpt.rstrip(" […]").endswith("price") for excerpt in excerpts)
    assert any(f"### The price\n{price}" in excerpt for excerpt in excerpts)


def test_an_excerpt_of_an_excerpt_has_no_two_marks_beside_each_other():
    """Long texts are stored as excerpts, and a pack shows excerpts of those."""
    text = "def handler(): […]\n" + "more of the same\n" * 9 + "[…] return the card […]\n[…] 8 of them\n"
    assert Passages.of(text, {"card": 1.0}).excerpt(72).split("\n") == [
        "def handler(): […]",
        "return the card […]",
        "8 of them",
    ]


def test_an_excerpt_of_a_call_shows_the_argument_that_is_asked_for():
    """The arguments of a call are passages of their own, so that the one that matters is not cut off."""
    call = f"book(user=ann, flights=[{', '.join(f'XY{n}' for n in range(60))}], payment_methods=[card_7])"
    excerpt = Passages.of(call, {"payment": 1.0}).excerpt(120)
    assert excerpt.startswith("book(user=ann")
    assert excerpt.endswith("payment_methods=[card_7])")


def test_a_value_does_not_seem_to_belong_to_the_record_before():
    """Where the text left out ends a record and begins the next, the gap says so."""
    order = (
        "items: [{name: Camera, price: 466, sort: new}, {name: Umbrella, size: small, price: 288}], " + "note: x, " * 40
    )
    excerpt = Passages.of(order, {"camera": 1.0, "288": 3.0, "price": 0.1}).excerpt(70)
    assert excerpt.startswith("items: [{name: Camera, price: 466, […]}, {[…] price: 288}]")
    same = Passages.of(order, {"camera": 1.0, "new": 3.0, "sort": 1.0}).excerpt(70)
    assert same.startswith("items: [{name: Camera, […] sort: new}")


def test_an_excerpt_of_records_keeps_to_its_limit():
    """The marks between two records take more room than other marks."""
    records = ", ".join(
        f'{{"name": "lamp {n}", "status": "ready to ship", "note": "text of a record"}}' for n in range(9)
    )
    passages = Passages.of(f"[{records}]", {"ship": 1.0})
    assert all(len(passages.excerpt(limit)) <= limit for limit in range(40, 600))
