"""What a session records of a tool's call, however large its arguments and result are."""

import pytest

from hmxgraph.api._base import Face
from hmxgraph.api.sessions import ToolCall
from hmxgraph.errors import InvalidRequest
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.document import KB

CALL = ToolCall("read", {"path": "a"}, "c1")


async def later():
    """Return nothing, but only once awaited."""


def test_a_coroutine_function_is_no_tool_of_a_synchronous_session():
    """It would be recorded as a success before it has run."""
    with pytest.raises(InvalidRequest, match=r"function later: .*connect_async"):
        Face()._called(later)


def test_a_result_that_fits_is_whole():
    """What decides is its size in an event, not an upper bound that assumes an exponent at each letter e."""
    text = "the result of the session " * 6_700
    assert CALL.result(text, 0.1)["result"] == text


@pytest.mark.parametrize(
    "value", ["\x01" * 500_000, "\U0001f600" * 200_000, ["\x01" * 500_000], {"e": [1.5] * 150_000}]
)
def test_a_result_that_is_too_large_is_cut_to_the_limit_of_an_event(value):
    """That holds for characters of six bytes, too."""
    result = CALL.result(value, 0.1)
    assert 50_000 < len(result["result"]) < 110_000
    assert len(canonical_bytes(result)) < 512 * KB


def test_arguments_that_are_too_large_are_the_beginning_of_their_json():
    """Python's own notation would be neither JSON nor what the tool got."""
    call = ToolCall("write", {"draft": True, "text": "x" * 500_000}, "c1")
    assert call.content()["arguments"].startswith('{"draft":true,"text":"xxx')
