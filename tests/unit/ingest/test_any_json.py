"""Any JSON is stored: values that strict JSON rejects are kept as text, and nothing else changes."""

import json

import pytest

from hmxgraph.errors import MalformedJson
from hmxgraph.ingest.intake import Intake
from hmxgraph.ingest.sources import Delivery
from hmxgraph.protocol.lenient import DEEPEST, parse_any
from hmxgraph.protocol.reports import Tally
from tests.unit.ingest.making import document, words

DEEP = "values nested deeper than 60 are kept as text"


def test_strict_json_is_as_it_is():
    """A value that strict JSON accepts comes back without a warning."""
    assert parse_any(b'{"a": [1, 2.5, "x", null]}') == ({"a": [1, 2.5, "x", None]}, ())


@pytest.mark.parametrize("levels", [DEEPEST + 4, 2_000, 200_000])
def test_any_depth(levels):
    """Values nested too deeply become their JSON text, at any depth."""
    value, warnings = parse_any(b'[{"k": "]}"}, ' + b"[" * levels + b'"[x]"' + b"]" * levels + b"]")
    for _ in range(DEEPEST - 1):
        value = value[-1]
    assert warnings == (DEEP,)
    assert value == ["[" * (levels - DEEPEST + 1) + '"[x]"' + "]" * (levels - DEEPEST + 1)]


def test_repeated_keys_lose_nothing():
    """The last value of a repeated key is kept, and the others are kept as text."""
    value, warnings = parse_any('{"a": {"b": 1}, "a": 2, "a": 3}')
    assert value == {"a": 3, "a (repeated)": ['{"b": 1}', "2"]}
    assert len(warnings) == 1


@pytest.mark.parametrize("number", ["1" * 5_000, "1e999", "-1e999"])
def test_numbers_too_large_for_any_type(number):
    """A number that no type holds is kept digit by digit."""
    assert parse_any(f'{{"n": {number}, "n": {number}}}')[0]["n"] == number


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": NaN}', "[1,]", '"\\ud800', "[" * 100_000])
def test_what_is_no_json_stays_an_error(text):
    """Text that is not JSON is rejected with the reason of the strict parser."""
    with pytest.raises(MalformedJson):
        parse_any(text)


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        ('{"n": 9007199254740993}', {"n": "9007199254740993"}),
        ('{"a": 1, "a": 2}', {"a": 2, "a (repeated)": ["1"]}),
        ('{"t": "\\ud800x"}', {"t": "\ufffdx"}),
    ],
)
@pytest.mark.parametrize("place", ["content", "metadata"])
def test_an_event_with_such_values_is_stored(place, part, kept):
    """An event with such values in content or metadata is stored with a warning; its own fields stay strict."""
    tally = Tally("acme")
    fields = document(**{place: "HERE"})
    raw = json.dumps(fields).replace('"HERE"', part)
    event = Intake(tally, words).take(Delivery(raw, 1))
    assert getattr(event.event, place) == kept
    assert tally.rejected == []
    assert any("text" in warning or "replaced" in warning for warning in tally.report().warnings)
