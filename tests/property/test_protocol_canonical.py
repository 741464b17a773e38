"""Canonical JSON against the rfc8785 library, and strict parsing against the standard library."""

import json
import struct

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from hmxgraph.errors import MalformedJson, NotCanonical
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.parsing import canonical_size_bound, parse_bounded, parse_json

KEYS = st.text(max_size=4) | st.sampled_from(["a", "b", "\ue000", "\U0001f600", "\ufb33", "\ud800"])
FLOATS = st.floats() | st.binary(min_size=8, max_size=8).map(lambda raw: struct.unpack("<d", raw)[0])
SPELLED = st.builds(
    lambda digits, exponent: float(f"{digits}e{exponent}"), st.integers(-(10**17), 10**17), st.integers(-30, 30)
)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | SPELLED | KEYS
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
FRAGMENTS = st.sampled_from(
    (
        *("{", "}", "[", "]", ",", ":", " ", "\\", "\x00", "true", "null", "NaN", "01"),
        *('"a"', '"\\u0061"', '"\\u003a"', '":"', '"[{"', '"\\ud800"', '"\\ud83d\\ude00"', "é"),
        *("1", "-0", "0.1", "1e5", "1E400", "18446744073709551616", "9007199254740993"),
    )
)


def _equal_bytes(value):
    try:
        expected = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, ValueError):
        with pytest.raises(NotCanonical):
            canonical_bytes(value)
    else:
        assert canonical_bytes(value) == expected


def _same_reading(text):
    """Check that both parsers read the same value, or that the text is refused for a known reason."""
    seen = []
    try:
        expected = json.loads(text, object_pairs_hook=lambda pairs: seen.append(pairs) or dict(pairs))
    except (ValueError, RecursionError):
        with pytest.raises(MalformedJson):
            parse_json(text)
        return
    repeated = any(len(dict(pairs)) < len(pairs) for pairs in seen)
    value, reason = _verdict(text)
    if reason:
        assert any(name in reason for name in ("repeated key", "no JSON number", "too large for a float", "surrogate"))
    assert repeated is ("repeated" in reason) or "surrogate" in reason or "number" in reason
    assert reason or str(value) == str(expected)


def _verdict(text):
    try:
        return parse_json(text), ""
    except MalformedJson as refusal:
        return None, refusal.reason


@given(ANYTHING)
def test_bytes_are_those_of_the_library(value):
    """Every value has the same bytes as from the rfc8785 library, or is refused by both."""
    _equal_bytes(value)


@given(ANYTHING)
def test_measure_is_never_too_small(value):
    """``canonical_size_bound`` is never below the canonical size, unless it is 0, which means unknown."""
    try:
        size = len(canonical_bytes(value))
    except NotCanonical:
        return
    assert size <= canonical_size_bound(value) or canonical_size_bound(value) == 0


@given(FLOATS | SPELLED)
def test_numbers_are_those_of_the_library(number):
    """Every float is printed as by the rfc8785 library."""
    _equal_bytes([number])


@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_reading_is_that_of_the_standard_library(text):
    """Texts are read as by the standard library, apart from what strict JSON refuses."""
    _same_reading(text)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=4), st.booleans())
def test_repeated_keys_are_always_seen(pairs, nested):
    """A repeated key is refused wherever it occurs."""
    text = "{" + ", ".join(f'"{name}": ":{value}"' for name, value in pairs) + "}"
    text = f'{{"x": [{text}], "colon": "\\u003a"}}' if nested else text
    if len(dict(pairs)) == len(pairs):
        assert parse_bounded(text)[1] > 0
    else:
        with pytest.raises(MalformedJson, match="repeated key"):
            parse_json(text)


@pytest.mark.fuzz
@settings(max_examples=100_000)
@given(ANYTHING | FLOATS.map(lambda number: [number]) | SPELLED)
def test_bytes_are_those_of_the_library_at_length(value):
    """The same on 100,000 values."""
    _equal_bytes(value)


@pytest.mark.fuzz
@settings(max_examples=100_000)
@given(st.lists(FRAGMENTS, max_size=20).map("".join))
def test_reading_is_that_of_the_standard_library_at_length(text):
    """The same on 100,000 texts."""
    _same_reading(text)
