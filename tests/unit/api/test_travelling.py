"""The arguments of an import are checked by type; a wrong one is refused by name."""

import pytest

from hmxgraph.api.fingerprints import import_arguments
from hmxgraph.errors import InvalidRequest
from hmxgraph.fingerprint.signing import SigningKey
from tests.unit.fingerprint.states import envelope

KEY = SigningKey(bytes(32))
WRONG = {
    "no envelope": ((None, None, ()), "envelope of type NoneType"),
    "a number": ((5, None, ()), "envelope of type int"),
    "a list": (([], None, ()), "envelope of type list"),
    "a document as signature": (({}, {"algorithm": "Ed25519"}, ()), "signature of type dict"),
    "text as signature": (({}, "00", ()), "signature of type str"),
    "no keys": (({}, None, None), "trusted_keys of type NoneType"),
    "one key": (({}, None, KEY.public_key), "trusted_keys of type str: expected a list"),
    "no key among the keys": (
        ({}, None, [KEY.public_key, None]),
        "trusted_keys of type NoneType: expected a public key",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_checked_is_refused_by_name(case):
    """The error names the argument of the wrong type and what to give instead."""
    given, said = WRONG[case]
    with pytest.raises(InvalidRequest, match=said):
        import_arguments(*given)


def test_what_can_be_checked_is_taken_as_it_is():
    """An envelope may be text, bytes, a document or a value, with or without signature, with keys in any order."""
    whole = envelope()
    signature = KEY.sign(whole)
    for source in (whole, whole.document(), whole.to_json(), whole.to_json().encode(), bytearray(b"{}")):
        assert import_arguments(source, signature, iter([KEY.public_key])) == (source, signature, (KEY.public_key,))
