"""What may be asked of a pack."""

import pytest

from hmxgraph.errors import BudgetTooSmall, UnknownChoice
from hmxgraph.protocol.packs import SECTION_PRIORITY
from hmxgraph.recall.request import CUT, LONGEST_QUOTE, PackRequest


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_below_one_is_refused(budget):
    """No pack fits it."""
    with pytest.raises(BudgetTooSmall):
        PackRequest("q", budget=budget)


@pytest.mark.parametrize("wanted", [{"strategy": "x"}, {"sections": ("x",)}, {"min_confidence": -0.1}])
def test_unknown_choices_are_refused(wanted):
    """The specification lists the choices."""
    with pytest.raises(UnknownChoice):
        PackRequest("q", **wanted)


def test_sections_stand_in_priority_order():
    """However they are asked for, once each; none means all."""
    assert PackRequest("q", sections=("evidence", "core", "core")).sections == ("core", "evidence")
    assert PackRequest("q", sections=()).sections == SECTION_PRIORITY


def test_any_text_becomes_valid_unicode():
    """A lone surrogate is replaced, a long question is quoted in part."""
    assert PackRequest("a\ud800b").query == "a?b"
    assert PackRequest("x" * 9_000).quote == "x" * LONGEST_QUOTE + CUT


def test_equal_requests_have_equal_documents():
    """What is not asked for does not stand in the document."""
    assert PackRequest("q", budget=9).document() == PackRequest("q", budget=9, session_id=None).document()
    assert "session_id" not in PackRequest("q").document()
