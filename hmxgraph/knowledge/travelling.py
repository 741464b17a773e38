"""What a caller may choose about fingerprints, as keyword arguments: exported ones and those to be imported."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

from hmxgraph.errors import InvalidRequest
from hmxgraph.fingerprint.options import PUBLIC_TYPES, ExportOptions
from hmxgraph.fingerprint.verify import Source
from hmxgraph.knowledge.moments import Moment, as_us
from hmxgraph.protocol.fingerprint_parts import Signature
from hmxgraph.protocol.fingerprints import Envelope

_SOURCES = (bytes, bytearray, str, Mapping, Envelope)


class ExportChoices(TypedDict, total=False):
    """The choices of an export; see :class:`hmxgraph.fingerprint.options.ExportOptions`."""

    tier: str
    agent_id: str | None
    tags: Sequence[str]
    expires_at: Moment | None
    public_types: Sequence[str]


def export_options(choices: ExportChoices) -> ExportOptions:
    """The options that *choices* describe.

    >>> export_options({"tier": "compact", "tags": ["team"]}).tags
    ('team',)

    """
    return ExportOptions(
        tier=choices.get("tier", "full"),
        agent_id=choices.get("agent_id"),
        tags=tuple(choices.get("tags", ())),
        expires_us=as_us(choices.get("expires_at")),
        public_types=tuple(choices.get("public_types", PUBLIC_TYPES)),
    )


class Received(NamedTuple):
    """An envelope as a caller hands it over, with the signature beside it and the keys that may have signed."""

    source: Source
    signature: Signature | None
    trusted: tuple[str, ...]


def received(envelope: object, signature: object, trusted_keys: object) -> Received:
    """What the caller gave, of the kinds that can be checked.

    Raises:
        InvalidRequest: one of the three is of another kind.

    >>> received(b"{}", None, ["3b6a"]).trusted
    ('3b6a',)

    """
    if not isinstance(envelope, _SOURCES):
        raise _unlike("envelope", envelope, "envelope of a fingerprint", "give its text, its document or the value")
    if signature is not None and not isinstance(signature, Signature):
        way_out = "make one of a file with hmxgraph.fingerprint.signing.parse_signature"
        raise _unlike("signature", signature, "signature", way_out)
    keys = trusted_keys if isinstance(trusted_keys, Iterable) and not isinstance(trusted_keys, str | bytes) else None
    if keys is None:
        raise _unlike("trusted_keys", trusted_keys, "list of public keys", "give them in hexadecimal, in a list")
    trusted = tuple(keys)
    for key in trusted:
        if not isinstance(key, str):
            raise _unlike("trusted_keys", key, "public key", "give it in hexadecimal, as SigningKey.public_key is")
    return Received(envelope, signature, trusted)


def _unlike(name: str, found: object, rule: str, way_out: str) -> InvalidRequest:
    return InvalidRequest(name, f"of type {type(found).__name__}", rule, way_out)
