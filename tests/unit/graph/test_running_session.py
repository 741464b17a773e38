"""The running session as packs see it: what was called, and what of it failed."""

import pytest

from hmxgraph.graph.rows.packs.running_session import happened


@pytest.mark.parametrize(
    ("event_type", "text", "failed"),
    [
        ("error", "namespace not found", True),
        ("tool_result", "pytest failed: 3 errors -> see log", True),
        ("tool_result", "pytest -> 12 passed, failed: 0", False),
        ("tool_call", "grep(pattern=deploy failed: )", False),
    ],
)
def test_what_failed_is_told_by_the_event_and_not_by_its_words(event_type, text, failed):
    """A result that only speaks of failures is none, nor is a call that looks for them."""
    [told] = happened([[event_type, text, "{}", None]])
    assert told.failed is failed
