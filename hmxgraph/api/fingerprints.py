"""Fingerprints exported, imported, taken back; feedback on packs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict, Unpack

from hmxgraph.api._base import Face, Moment, as_us, now_us
from hmxgraph.errors import InvalidRequest
from hmxgraph.fingerprint.state import PUBLIC_TYPES, ExportOptions
from hmxgraph.fingerprint.verify import EnvelopeSource
from hmxgraph.graph import fingerprint_imports, fingerprints
from hmxgraph.protocol.fingerprints import Envelope, Signature
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.reports import ImportReport, TakenBack

# What a caller may choose about fingerprints, as keyword arguments: exported ones and those to be imported.

_SOURCES = (bytes, bytearray, str, Mapping, Envelope)


class ExportChoices(TypedDict, total=False):
    """The choices of an export; see :class:`hmxgraph.fingerprint.state.ExportOptions`."""

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


class _Received(NamedTuple):
    """An envelope as a caller hands it over, with the signature beside it and the keys that may have signed."""

    source: EnvelopeSource
    signature: Signature | None
    trusted: tuple[str, ...]


def received(envelope: object, signature: object, trusted_keys: object) -> _Received:
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
    return _Received(envelope, signature, trusted)


def _unlike(name: str, found: object, rule: str, way_out: str) -> InvalidRequest:
    return InvalidRequest(name, f"of type {type(found).__name__}", rule, way_out)


# What was learned, on its way: exported, imported, taken back; and what readers say of their packs.


class Fingerprints(Face):
    """The part of the front door through which learned memory travels."""

    def export_fingerprint(self, **choices: Unpack[ExportChoices]) -> Envelope:
        """An envelope with what was learned, without events (HMX-F); same state, same bytes.

        Secrets and private names in its texts are masked by rules, which miss some: look at it before you give it away.

        Choices: *tier* (``"full"``, ``"compact"``, ``"minimal"``), *agent_id*, *tags*, *expires_at*, *public_types*
        (the entity types whose names may be told). To sign it, :class:`hmxgraph.fingerprint.signing.SigningKey`:
        ``SigningKey.of_pem(pem).sign(envelope)`` is the *signature* that an import takes.

        Raises:
            UnknownChoice: there is no such tier.

        """
        return self._perform(fingerprints.export_fingerprint(self._tenancy, export_options(choices)))

    def import_fingerprint(
        self,
        envelope: EnvelopeSource,
        *,
        signature: Signature | None = None,
        trusted_keys: Iterable[str] = (),
        at: Moment | None = None,
    ) -> ImportReport:
        """What became of *envelope* (text or document): checked, then added as drafts in one transaction (HMX-F 12).

        With *trusted_keys* (public keys in hexadecimal) it must be signed by one of them, inside or by a detached
        *signature*. Whether it has expired is judged *at* that time. Importing it twice changes nothing.

        Raises:
            FingerprintError: a check failed; the message begins with its name, and nothing was written.
            InvalidRequest: what was given is no envelope, no signature or no list of keys.

        """
        given = received(envelope, signature, trusted_keys)
        return self._perform(
            fingerprint_imports.import_fingerprint(
                self._tenancy,
                given.source,
                signature=given.signature,
                trusted=given.trusted,
                now_us=now_us(at),
                at_us=as_us(at),
            )
        )

    def take_back_import(self, import_id: str, *, at: Moment | None = None) -> TakenBack:
        """The import with this id, or of the fingerprint with this id, taken back out.

        Raises:
            NotFound: there is no such import, or it was taken back before.

        """
        return self._perform(fingerprint_imports.take_back(self._tenancy, import_id, at_us=as_us(at)))

    def feedback(self, pack: ContextPack, signal: str = "positive", *, at: Moment | None = None) -> str:
        """The id of *pack*, of which its reader now says ``positive``, ``neutral``, ``correction`` or ``negative``.

        Reading packs writes nothing; this does. Context priors of fingerprints are learnt from it (HMX-F 7).

        Raises:
            UnknownChoice: there is no such signal.

        """
        return self._perform(fingerprints.report_pack(self._tenancy, pack, signal, as_us(at)))
