"""Canonical JSON (RFC 8785), and values without a canonical form."""

import hashlib
import json
import math
from datetime import UTC, datetime
from itertools import islice
from uuid import UUID

import pytest

from hmxgraph.errors import NotCanonical
from hmxgraph.protocol.canonical import canonical_bytes, canonical_text, content_hash, sha256_hex
from tests.shared_data import shared
from tests.unit.protocol.es6_numbers import DIGESTS, doubles

NAMES = ("arrays", "french", "structures", "unicode", "values", "weird")
REFUSED = [
    math.nan,
    math.inf,
    -math.inf,
    "\ud800",
    {"\udc00": 1},
    {"é\udc00": 1},
    2**53,
    -(2**53),
    2**70,
    {1: "a"},
    {"é": {1: "a"}},
    {"a"},
    b"bytes",
    datetime(2026, 3, 14, tzinfo=UTC),
    UUID(int=1),
    [...],
]


@pytest.mark.parametrize("name", NAMES)
def test_files(name):
    """The six published files come out byte for byte."""
    folder = shared("conformance", "jcs")
    value = json.loads((folder / "input" / f"{name}.json").read_text(encoding="utf-8"))
    expected = bytes.fromhex((folder / "outhex" / f"{name}.txt").read_text(encoding="ascii"))
    assert canonical_bytes(value) == expected
    assert canonical_text(value) == (folder / "output" / f"{name}.json").read_text(encoding="utf-8").strip()


def test_published_digests_of_numbers():
    """The first 1,000, 10,000 and 100,000 numbers of the published sequence give the published digests."""
    digest = hashlib.sha256()
    digests = {}
    for count, (bits, number) in enumerate(islice(doubles(), max(DIGESTS)), start=1):
        digest.update(b"%x,%s\n" % (bits, canonical_bytes(number)))
        if count in DIGESTS:
            digests[count] = digest.hexdigest()
    assert digests == DIGESTS


@pytest.mark.parametrize("value", REFUSED, ids=ascii)
def test_refused(value):
    """Values that JSON cannot express, or not exactly, have no canonical form."""
    with pytest.raises(NotCanonical):
        canonical_bytes(value)


def test_keys_are_sorted_by_utf16():
    """A key beyond the basic plane comes before one in its private area, as UTF-16 orders them."""
    assert canonical_text({"\ue000": 1, "\U0001f600": 2, "b": 3, "a": 4}) == '{"a":4,"b":3,"\U0001f600":2,"\ue000":1}'


def test_nulls_and_empty_values_are_kept():
    """Null is preserved, not omitted (HMX-A 8)."""
    assert canonical_text({"b": None, "a": [], "c": {}}) == '{"a":[],"b":null,"c":{}}'


def test_tuples_are_arrays():
    """A tuple is written as the array it is on the wire."""
    assert canonical_text((1, (2, 3.0))) == "[1,[2,3]]"


def test_content_hash_is_of_the_canonical_text():
    """The order of keys and the spelling of numbers do not affect the hash."""
    assert content_hash({"b": 1.0, "a": 1e2}) == sha256_hex(b'{"a":100,"b":1}')
