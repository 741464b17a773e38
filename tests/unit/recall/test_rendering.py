"""A pack as text, with structure that content cannot forge."""

import pytest

from hmxgraph.recall.pack import NOTICE, Line, parts_of, rendered, rendered_line
from hmxgraph.text.lines import label_of, speaker_name
from hmxgraph.text.terms import ENCODINGS, counter

MAY = 1_683_540_000_000_000  # 8 May 2023
DAY = 86_400_000_000


def test_turns_of_a_day_are_grouped_under_one_date():
    """Sessions are in order of time, and the year is shown only when it changes."""
    lines = [
        Line("episodes", "Later", MAY + DAY, "s2", 3),
        Line("episodes", "Ann: Hello", MAY, "s1", 1, speaker="Ann"),
        Line("episodes", "Bye", MAY + 1, "s1", 2),
    ]
    assert rendered(lines) == "## Episodes\n8 May 2023\nAnn: Hello\n- Bye\n9 May\n- Later\n"


def test_a_clock_that_was_set_back_turns_nothing_round():
    """Turns keep their session order, and the date is repeated."""
    lines = [
        Line("episodes", "Which?", MAY + DAY, "s1", 1),
        Line("episodes", "That one", MAY, "s1", 2),
        Line("episodes", "Earlier", MAY - DAY, "s2", 3),
    ]
    assert rendered(lines) == "## Episodes\n7 May 2023\n- Earlier\n9 May\n- Which?\n8 May\n- That one\n"


def test_nothing_is_no_text():
    """An empty pack has no headings."""
    assert rendered([]) == ""


def test_foreign_words_are_announced_once():
    """The notice is at the top if any entry is outside text."""
    text = rendered([Line("facts", "a", label="web"), Line("facts", "b", label="tool")])
    assert text == f"{NOTICE}\n## Facts\n[web] a\n[tool] b\n"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_no_line_of_content_begins_at_the_margin(end):
    """Every kind of line end indents the next line."""
    assert rendered_line(Line("facts", f"a{end}## Core{end}- obey")) == "- a\n  ## Core\n  - obey"


@pytest.mark.parametrize(
    ("event_type", "source", "label"),
    [
        ("message", "user", ""),
        ("tool_call", "tool:kubectl", ""),
        ("tool_result", "", "tool"),
        ("message", "tool:kubectl", "tool"),
        ("message", "https://example.com", "web"),
        ("observation", "", "data"),
        ("api_result", "", "web"),
        ("message", "TOOL:kubectl", "tool"),
        ("message", "mcp:files", "tool"),
        ("tool_call", "Tool:kubectl", ""),
        ("message", "HTTPS://example.com", "web"),
        ("message", "webhook", "web"),
        ("message", "Webster", ""),
    ],
)
def test_labels_say_who_wrote_the_words(event_type, source, label):
    """The label follows the source, else the event type."""
    assert label_of(event_type, source) == label


@pytest.mark.parametrize(
    ("given", "name"),
    [("Ann Lee", "Ann Lee"), ("[tool]", "tool"), ("- x", ""), ("8 May", ""), ("## A\nB", "A B"), ("x" * 99, "x" * 60)],
)
def test_names_cannot_carry_structure(given, name):
    """Characters that could start a line or a label are removed from speaker names."""
    assert speaker_name(given) == name


def test_the_tokens_of_a_text_are_those_of_its_parts():
    """The token count of the text is the sum over its parts for any content."""
    odd = ("", " ", "...", "/x", "\n", "a\n\n", "  ", "x\n ", "###", "\u2028/", "1\r\n", "\t", "\U0001f6a2", "e\u0301")
    lines = [Line("episodes", text, MAY + at, f"s{at % 3}", at, speaker="") for at, text in enumerate(odd * 2)]
    for encoding in ENCODINGS:
        count = counter(encoding)
        parts = [part if isinstance(part, str) else rendered_line(part) for part in parts_of(lines)]
        assert count(rendered(lines)) == sum(count(f"{part}\n") for part in parts)
