"""Any JSON can be stored: what canonical JSON cannot represent is kept as text, with a warning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.errors import MalformedJson
from hmxgraph.protocol import parsing
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.lenient import parse_any, storable
from hmxgraph.protocol.parsing import depth

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(ANY_JSON)
def test_whatever_json_is_given_can_be_hashed(value):
    """Converted values have a canonical text, and converting them again changes nothing."""
    kept, _ = storable(value)
    assert canonical_text(kept)
    assert storable(kept) == (kept, ())


@pytest.mark.parametrize(
    ("value", "kept", "warning"),
    [
        (2**53, "9007199254740992", "an integer beyond 2^53-1 is kept as text"),
        (2.0**53, "9007199254740992", "an integer beyond 2^53-1 is kept as text"),
        (float("nan"), "nan", "NaN or an infinity is kept as text"),
        ("a\ud800", "a\ufffd", "a lone surrogate is replaced"),
        ({1: "x"}, {"1": "x"}, "a key that is not a string is kept as text"),
        (b"x", "b'x'", "a value of type bytes is kept as text"),
    ],
)
def test_what_cannot_be_spelled_becomes_text(value, kept, warning):
    """Each kind of change is named once."""
    assert storable([value, value]) == ([kept, kept], (warning,))


def test_any_depth_is_kept():
    """Values nested deeper than an event may be are kept as their JSON text."""
    value = inner = {}
    for _ in range(5_000):
        inner["a"] = [{}]
        inner = inner["a"][0]
    kept, warnings = storable(value)
    assert depth(kept) <= 64
    assert len(warnings) == 1


def test_deep_values_across_pieces(monkeypatch):
    """Text is the same however the pieces in which it is scanned divide it, in escapes and strings too."""
    deep = b"[" * 62 + rb'{"a\\": "\"[{", "b": "]"}' + b"]" * 62
    text = rb'{"x\"": [' + deep + b", " + deep + b"]}"
    whole = parse_any(text)
    assert whole[1] == ("values nested deeper than 60 are kept as text",)
    for size in range(1, 9):
        monkeypatch.setattr(parsing, "_PIECE_BYTES", size)
        assert parse_any(text) == whole


@pytest.mark.parametrize("part", [b"[],", b"{},", b"1,", b'"",'])
def test_more_values_than_any_record_has(part):
    """Text of more than a million values is refused before it is parsed: it would take gigabytes."""
    with pytest.raises(MalformedJson, match="more than 1,000,000 values"):
        parse_any(b"[" + part * 1_000_001 + b"0]")


def test_commas_in_text_are_no_values():
    """Commas and brackets in strings do not count as values."""
    text = "[{," * 700_000
    assert parse_any(b'["\\"' + text.encode() + b'"]') == (['"' + text], ())
