"""The format of a sample is recognised; an unknown one is reported with the nearest format and its missing fields."""

import pytest

from hmxgraph.formats.catalogue import FORMATS, format_named, recognise
from tests.unit.formats.conversions import recognised

TOOL_USE = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
TOOL_RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}], "messages"),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": [TOOL_USE]}], "anthropic"),
        ([{"role": "user", "content": [TOOL_RESULT]}, {"role": "assistant", "content": "ho"}], "anthropic"),
        ([{"role": "user", "content": "hi"}, {"role": "tool", "content": "a", "tool_call_id": "c"}], "openai-chat"),
        ([[{"role": "user", "content": "hi"}]], "messages"),
        ([{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}]}], "messages"),
        ([{"messages": [{"role": "user", "content": "hi"}]}], "messages"),
        ([], ""),
        ([1, "x", None, [], {}], ""),
        ([{"name": "left-pad", "version": "1.0.0"}], ""),
        ([{"type": "object", "properties": {}}], ""),
        ([{"id": 1, "text": "row"}, {"id": 2, "text": "row"}], ""),
    ],
)
def test_samples_are_recognised(sample, expected):
    """Plain messages are recognised in each of their forms; other records are not."""
    assert recognised(sample) == expected


def test_an_unknown_format_is_reported_with_the_missing_fields():
    """The nearest format is named with the fields that are missing."""
    assert str(recognise([{"content": "hi"}])) == (
        "no known format; the nearest is plain messages with role and content, without role"
    )


def test_formats_have_names_of_their_own():
    """Each format is found by its name."""
    assert [format_named(known.name) for known in FORMATS] == list(FORMATS)
    assert format_named("csv") is None
