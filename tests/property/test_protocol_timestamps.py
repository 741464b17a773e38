"""Schema and conversion agree on which texts are timestamps."""

import jsonschema_rs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hmxgraph.protocol.timestamps import iso, microseconds

VALIDATOR = jsonschema_rs.Draft202012Validator({"format": "date-time"}, validate_formats=True)
SHAPED = st.from_regex(
    r"[0-9]{4}-(0[0-9]|1[0-3])-([0-2][0-9]|3[0-2])[Tt ]([01][0-9]|2[0-4]):([0-5][0-9]|60):([0-5][0-9]|60|61)"
    r"(\.[0-9]{0,9})?([Zz]|[+-]([01][0-9]|2[0-4]):([0-5][0-9]|60)|[+-][0-9]{4}|)",
    fullmatch=True,
)


def _agree(text):
    try:
        us = microseconds(text)
    except ValueError:
        assert not VALIDATOR.is_valid(text)
    else:
        assert VALIDATOR.is_valid(text)
        assert us == microseconds(text.upper())


@settings(max_examples=10 * settings().max_examples)
@given(SHAPED | st.text(max_size=30))
@example("2026-03-14T03:00:00\u06f0Z")
def test_what_the_schema_accepts_can_be_converted(text):
    """A text can be converted exactly if the schema accepts it as a date-time."""
    _agree(text)


@pytest.mark.fuzz
@settings(max_examples=20_000)
@given(SHAPED)
def test_what_the_schema_accepts_can_be_converted_at_length(text):
    """The same on 20,000 texts."""
    _agree(text)


@given(st.integers(microseconds("0001-01-01T00:00:00Z"), microseconds("9999-12-31T23:59:59Z")))
def test_moments_come_back(us):
    """Every microsecond of the calendar survives the round trip through a text that the schema accepts."""
    assert microseconds(iso(us)) == us
    assert VALIDATOR.is_valid(iso(us))
