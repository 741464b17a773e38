"""Strict JSON text: what is accepted, and what is rejected for which reason."""

import json

import pytest

from hmxgraph.errors import MalformedJson
from hmxgraph.protocol.parsing import parse_bounded, parse_json
from tests.shared_data import ROOT, cases, shared

PLACE = ("conformance", "json-parsing", "test_parsing")
FOLDER = ROOT.joinpath(*PLACE)
FILES = sorted(path.name for path in FOLDER.glob("*.json"))
# The 35 that RFC 8259 leaves open. Refused: bytes that are no UTF-8, byte order marks, lone surrogates, numbers beyond
# all floats, nesting deeper than 64. Accepted: integers within the range of floats, exactly, and numbers too small for
# a float, as 0.
OPEN_ACCEPTED = {
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
}
NAMED = {
    b"[NaN]": "NaN is not a JSON number",
    b"[-Infinity]": "Infinity is not a JSON number",
    b"[1e400]": "number too large for a float",
    b'["\\ud800"]': "lone surrogate",
    b'["\\udc00"]': "lone surrogate",
    b'["\xff"]': "not UTF-8",
    b'{"a": 1, "b": 2, "a": 3}': "repeated key 'a'",
    b'{"a": 1, "\\u0061": 2}': "repeated key 'a'",
    b'{"x": [{"a": 1, "a": 1}]}': "repeated key 'a'",
    b'{"a": "\\u003a", "a": 1}': "repeated key 'a'",
    b"[" * 65 + b"]" * 65: "nested deeper than 64",
    b"[" * 5000 + b"]" * 5000: "nested deeper than 64",
    b"[" + b"9" * 310 + b"]": "number too large for a float",
    b"": "empty",
}


@pytest.mark.parametrize(("raw", "place"), [(b'{"a": "\xc3\xa9\xff"}', 9), (b"\xff", 0), ('{"é": "\udc80"}', 8)])
def test_where_text_ceases_to_be_utf8(raw, place):
    """The reported byte is the first one that is not valid UTF-8."""
    with pytest.raises(MalformedJson, match="not UTF-8") as refused:
        parse_json(raw)
    assert refused.value.position == place


@pytest.fixture(scope="module")
def folder():
    """The published parsing tests."""
    return shared(*PLACE)


@pytest.mark.parametrize("name", cases((name for name in FILES if name.startswith("y_")), *PLACE))
def test_accepted(folder, name):
    """Every text that JSON demands to be accepted is; only repeated keys need to be allowed for it."""
    raw = (folder / name).read_bytes()
    assert parse_json(raw, unique_keys=False) == json.loads(raw)


@pytest.mark.parametrize("name", cases((name for name in FILES if name.startswith("n_")), *PLACE))
def test_refused(folder, name):
    """Every text that is not JSON is rejected."""
    with pytest.raises(MalformedJson):
        parse_json((folder / name).read_bytes(), unique_keys=False)


@pytest.mark.parametrize("name", cases((name for name in FILES if name.startswith("i_")), *PLACE))
def test_open(folder, name):
    """What the standard leaves open is pinned."""
    raw = (folder / name).read_bytes()
    if name in OPEN_ACCEPTED:
        assert parse_json(raw) == json.loads(raw)
    else:
        with pytest.raises(MalformedJson):
            parse_json(raw)


def test_the_whole_suite_is_there(folder):
    """95 texts to accept, 188 to refuse, 35 left open."""
    assert [sum(name.startswith(kind) for name in FILES) for kind in ("y_", "n_", "i_")] == [95, 188, 35]


@pytest.mark.parametrize(("raw", "reason"), NAMED.items(), ids=lambda part: repr(part)[:24])
def test_refusals_have_names(raw, reason):
    """Errors beyond the grammar are rejected with their own reason."""
    with pytest.raises(MalformedJson, match="not strict JSON") as refusal:
        parse_json(raw)
    assert reason in refusal.value.reason


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64, 1 - 10**19, -(2**64) - 1, 10**40])
def test_integers_stay_exact(number):
    """An integer of any size is parsed exactly, never as a float."""
    assert parse_json(str(number)) == number
    assert parse_json(f'{{"a": [{number}], "b": "x"}}') == {"a": [number], "b": "x"}


def test_position_is_counted_in_bytes():
    """The position of a fault is counted in bytes, also after text outside ASCII."""
    with pytest.raises(MalformedJson) as refusal:
        parse_json('{"ä€": }')
    assert refusal.value.position == len('{"ä€": '.encode())


def test_depth_of_64_is_fine():
    """64 levels are accepted, and brackets inside strings do not count."""
    assert parse_json("[" * 64 + "]" * 64) is not None
    assert parse_json('["' + "[" * 100 + '"]') == ["[" * 100]


def test_measure():
    """The bound is at least the length of the canonical text; 0 means integers that canonical JSON rejects."""
    value, most_bytes = parse_bounded(b'{ "a" : [ 1e20 , 2 ] }')
    assert value == {"a": [1e20, 2]}
    assert most_bytes >= len('{"a":[100000000000000000000,2]}')
    assert parse_bounded(str(2**53)) == (2**53, 0)
