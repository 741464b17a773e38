"""Timestamps of the wire: valid texts and their instants."""

import json

import jsonschema_rs
import pytest

from hmxgraph.errors import InvalidTime
from hmxgraph.protocol.timestamps import FIRST_US, LAST_US, is_representable, iso, microseconds
from tests.shared_data import ROOT, cases, shared

PLACE = ("conformance", "json-schema-format", "format", "date-time.json")
SUITE = ROOT.joinpath(*PLACE)
GROUPS = json.loads(SUITE.read_text(encoding="utf-8")) if SUITE.exists() else []
CASES = [pytest.param(case, id=case["description"]) for group in GROUPS for case in group["tests"]]
MOMENTS = {
    "1970-01-01T00:00:00Z": 0,
    "1970-01-01t00:00:00z": 0,
    "1969-12-31T23:59:59.999999Z": -1,
    "1970-01-01T00:00:00.0000019Z": 1,
    "2026-03-14T03:00:00.000Z": 1_773_457_200_000_000,
    "2026-03-14T08:30:00+05:30": 1_773_457_200_000_000,
    "2026-03-13T19:00:00-08:00": 1_773_457_200_000_000,
    "1998-12-31T23:59:60Z": 915_148_800_000_000,
    "1998-12-31T15:59:60.5-08:00": 915_148_800_500_000,
    "0000-01-01T00:00:00Z": -62_167_219_200_000_000,
    "9999-12-31T23:59:59Z": 253_402_300_799_000_000,
}


@pytest.mark.parametrize("case", cases(CASES, *PLACE))
def test_published_cases(case):
    """Every date-time case of the JSON Schema test suite is decided right, by schema and by conversion."""
    validator = jsonschema_rs.Draft202012Validator({"format": "date-time"}, validate_formats=True)
    assert validator.is_valid(case["data"]) is case["valid"]
    if isinstance(case["data"], str):
        assert _is_moment(case["data"]) is case["valid"]


def test_the_whole_suite_is_there():
    """The suite is not empty by accident."""
    shared("conformance", "json-schema-format")
    assert len(CASES) == 33


@pytest.mark.parametrize(("text", "us"), MOMENTS.items())
def test_moments(text, us):
    """Offsets, leap seconds and any number of digits lead to the right microsecond."""
    assert microseconds(text) == us


@pytest.mark.parametrize(
    "text",
    ["2026-03-14T03:00:00", "2026-03-14", "2026-02-29T00:00:00Z", "2016-12-31T23:58:60Z", "2026-03-14T03:00:00Zx"],
)
def test_no_moments(text):
    """Text without an offset, or for a day or time that does not exist, is rejected with the text in the message."""
    with pytest.raises(InvalidTime, match=r"20[12]6.*write a time like"):
        microseconds(text)


@pytest.mark.parametrize("us", [0, 1, -1, 999, 1_000, 1_773_457_200_000_000, -62_135_596_800_000_000])
def test_iso_names_the_same_moment(us):
    """A written time is read as the same instant."""
    assert microseconds(iso(us)) == us


def test_iso_has_three_digits_or_six():
    """Milliseconds, and microseconds only where there are some."""
    assert [iso(us)[19:] for us in (0, 500_000, 1_001)] == [".000Z", ".500Z", ".001001Z"]


def _is_moment(text):
    try:
        microseconds(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("edge", "beyond"), [(FIRST_US, FIRST_US - 1), (LAST_US, LAST_US + 1)])
def test_the_first_and_the_last_instant_can_be_written(edge, beyond):
    """Whatever counts as representable comes back from its text; the microsecond beyond it does not count."""
    assert is_representable(edge)
    assert microseconds(iso(edge)) == edge
    assert not is_representable(beyond)
