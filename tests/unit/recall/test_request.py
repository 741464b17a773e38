"""Validation of pack requests."""

import pytest

from hmxgraph.errors import BudgetTooSmall, InvalidRequest, PackError, UnknownChoice
from hmxgraph.protocol.canonical import MAX_INTEGER
from hmxgraph.protocol.packs import SECTION_PRIORITY
from hmxgraph.recall.question import CUT, LONGEST_ID, LONGEST_QUOTE, PackRequest


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_below_one_is_refused(budget):
    """A budget below one token is rejected."""
    with pytest.raises(BudgetTooSmall):
        PackRequest("q", budget=budget)


@pytest.mark.parametrize("options", [{"strategy": "x"}, {"sections": ("x",)}, {"min_confidence": -0.1}])
def test_unknown_choices_are_refused(options):
    """Strategies and sections outside the specification, and confidences outside [0, 1], are rejected."""
    with pytest.raises(UnknownChoice):
        PackRequest("q", **options)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        *(("budget", value, "a number of tokens") for value in (1.5, "100", float("nan"), True, None)),
        ("budget", MAX_INTEGER + 1, "JSON holds exactly"),
        *((name, 5, "expected text") for name in ("session_id", "agent_id")),
        *((name, "a\ud800", "valid Unicode") for name in ("session_id", "agent_id")),
        *((name, "x" * (LONGEST_ID + 1), "at most 1024 characters") for name in ("session_id", "agent_id")),
        *(("query", value, "expected text") for value in (None, 5, b"x")),
        *(("sections", value, "list of names") for value in (5, "core")),
        *(("min_confidence", value, "a number") for value in ("0.5", True, None)),
    ],
)
def test_arguments_of_another_kind_are_refused_by_name(name, value, rule):
    """The error names the argument, the value, the rule and a way out on one short line."""
    with pytest.raises(InvalidRequest, match=rule) as refused:
        PackRequest(**{"query": "q", name: value})
    assert isinstance(refused.value, PackError)
    assert (refused.value.name, str(refused.value).split()[:2]) == (name, ["invalid", name])
    assert len(str(refused.value).encode()) < 240


def test_numbers_that_python_does_not_write_are_refused_too():
    """The error quotes the beginning of a huge number."""
    for options in ({"budget": 10**5_000}, {"budget": -(10**5_000)}, {"min_confidence": 10**5_000}):
        with pytest.raises(PackError, match="0x"):
            PackRequest("q", **options)


def test_the_largest_values_are_taken():
    """Limits are inclusive."""
    assert PackRequest("q", budget=MAX_INTEGER, session_id="x" * LONGEST_ID, min_confidence=1).min_confidence == 1


def test_sections_are_sorted_by_priority():
    """Sections are sorted by priority without repeats; none means all."""
    assert PackRequest("q", sections=("evidence", "core", "core")).sections == ("core", "evidence")
    assert PackRequest("q", sections=()).sections == SECTION_PRIORITY


def test_any_text_becomes_valid_unicode():
    """A lone surrogate is replaced, and only the beginning of a long question is quoted."""
    assert PackRequest("a\ud800b").query == "a?b"
    assert PackRequest("x" * 9_000).quote == "x" * LONGEST_QUOTE + CUT


def test_equal_requests_have_equal_documents():
    """Unset options are not in the document."""
    assert PackRequest("q", budget=9).document() == PackRequest("q", budget=9, session_id=None).document()
    assert "session_id" not in PackRequest("q").document()
