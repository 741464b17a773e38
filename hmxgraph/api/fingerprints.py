"""Export and import fingerprints, withdraw an import, and give feedback on packs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict, Unpack

from hmxgraph.api._base import Face, Moment, as_us, flag, now_us, refuse_unknown
from hmxgraph.errors import InvalidRequest
from hmxgraph.fingerprint.state import PUBLIC_TYPES, ExportOptions
from hmxgraph.fingerprint.verify import EnvelopeSource
from hmxgraph.graph import fingerprint_imports, fingerprints
from hmxgraph.protocol.fingerprints import Envelope, Signature
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.parsing import checked_list
from hmxgraph.protocol.reports import ImportReport, WithdrawnImport

# Arguments of export and import.

# Types in which an envelope may be given.
_SOURCES = (bytes, bytearray, str, Mapping, Envelope)


class ExportArguments(TypedDict, total=False):
    """The keyword arguments of an export; see :class:`hmxgraph.fingerprint.state.ExportOptions`."""

    tier: str
    agent_id: str | None
    tags: Sequence[str]
    expires_at: Moment | None
    public_types: Sequence[str]
    allow_list: bool


def export_options(arguments: ExportArguments) -> ExportOptions:
    """The export options of these keyword arguments.

    Raises:
        InvalidRequest: an unknown option, *tags* or *public_types* that are not a list, or an *allow_list* that is
            neither True nor False.
        InvalidTime: *expires_at* is not a valid time.

    >>> export_options({"tier": "compact", "tags": ["team"]}).tags
    ('team',)

    """
    refuse_unknown(arguments, ExportArguments, "export_fingerprint")
    public_types = arguments.get("public_types")
    return ExportOptions(
        tier=arguments.get("tier", "full"),
        agent_id=arguments.get("agent_id"),
        tags=tuple(checked_list("tags", arguments.get("tags"))),
        expires_us=as_us(arguments.get("expires_at")),
        public_types=PUBLIC_TYPES if public_types is None else tuple(checked_list("public_types", public_types)),
        allow_list=flag(arguments, "allow_list"),
    )


class _ImportArguments(NamedTuple):
    """An envelope to import, its detached signature, and the public keys that may have signed it."""

    source: EnvelopeSource
    signature: Signature | None
    trusted: tuple[str, ...]


def import_arguments(envelope: object, signature: object, trusted_keys: object) -> _ImportArguments:
    """The arguments of an import, with their types checked.

    Raises:
        InvalidRequest: an argument of the wrong type.

    >>> import_arguments(b"{}", None, ["3b6a"]).trusted
    ('3b6a',)

    """
    if not isinstance(envelope, _SOURCES):
        raise _wrong_type("envelope", envelope, "an envelope", "give its JSON text, its document or an Envelope")
    if signature is not None and not isinstance(signature, Signature):
        way_out = "read a signature file with hmxgraph.fingerprint.signing.parse_signature"
        raise _wrong_type("signature", signature, "a signature", way_out)
    keys = trusted_keys if isinstance(trusted_keys, Iterable) and not isinstance(trusted_keys, str | bytes) else None
    if keys is None:
        raise _wrong_type("trusted_keys", trusted_keys, "a list of public keys", "give a list of hexadecimal strings")
    trusted = tuple(keys)
    for key in trusted:
        if not isinstance(key, str):
            raise _wrong_type("trusted_keys", key, "a public key", "give it in hexadecimal, like SigningKey.public_key")
    return _ImportArguments(envelope, signature, trusted)


def _wrong_type(name: str, value: object, expected: str, way_out: str) -> InvalidRequest:
    return InvalidRequest(name, f"of type {type(value).__name__}", expected, way_out)


# The methods of a graph.


class Fingerprints(Face):
    """Moving learned memory between systems, and feedback on packs."""

    def export_fingerprint(self, **options: Unpack[ExportArguments]) -> Envelope:
        """An envelope with what was learned, without events (HMX-F); the same state gives the same bytes.

        Rules mask secrets and private names in its texts, but may miss some: review the envelope before you share it.

        Options: *tier* (``"full"``, ``"compact"``, ``"minimal"``), *agent_id*, *tags*, *expires_at*, *public_types*
        (the entity types whose names are not masked), *allow_list* (keep only tool names, words that the compiler
        itself adds, stop words, numbers of up to three digits, and words from sessions of several users; every other
        word becomes ``[...]``).

        To sign the envelope, use :class:`hmxgraph.fingerprint.signing.SigningKey`: an import takes the result of
        ``SigningKey.of_pem(pem).sign(envelope)`` as its *signature*.

        Raises:
            UnknownChoice: no such tier.
            InvalidRequest: an unknown option, *tags* or *public_types* that are not a list, or an *allow_list* that is
                neither True nor False.

        """
        return self._perform(fingerprints.export_fingerprint(self._tenancy, export_options(options)), whole=True)

    def import_fingerprint(
        self,
        envelope: EnvelopeSource,
        *,
        signature: Signature | None = None,
        trusted_keys: Iterable[str] = (),
        at: Moment | None = None,
    ) -> ImportReport:
        """Verify *envelope* (JSON text or document) and add its artifacts as drafts, in one transaction (HMX-F 12).

        With *trusted_keys* (public keys in hexadecimal), the envelope must be signed with one of these keys; the
        signature is inside the envelope, or passed as *signature*. A fingerprint that expired before *at* (default: the
        tenant's logical time) is not refused, but reported as expired. Importing it again changes nothing, unless the
        earlier import was withdrawn.

        Raises:
            FingerprintError: a check failed; the message says which, and nothing was written.
            InvalidRequest: an argument is not an envelope, a signature or a list of keys.

        """
        arguments = import_arguments(envelope, signature, trusted_keys)
        return self._perform(
            fingerprint_imports.import_fingerprint(
                self._tenancy,
                arguments.source,
                signature=arguments.signature,
                trusted=arguments.trusted,
                now_us=now_us(at),
                at_us=as_us(at),
            ),
            whole=True,
        )

    def take_back_import(self, import_id: str, *, at: Moment | None = None) -> WithdrawnImport:
        """Withdraw an import; *import_id* is the id of the import or that of the imported fingerprint.

        Artifacts that no other evidence supports are deprecated.

        Raises:
            NotFound: there is no such import, or it was withdrawn before.

        """
        return self._perform(fingerprint_imports.take_back(self._tenancy, import_id, at_us=as_us(at)), whole=True)

    def feedback(self, pack: ContextPack, signal: str = "positive", *, at: Moment | None = None) -> str:
        """Store feedback on *pack*: ``positive``, ``neutral``, ``correction`` or ``negative``; returns the pack's id.

        Unlike making a pack, this call writes to the database. Later feedback on the same pack replaces earlier
        feedback. The context priors of fingerprints are learned from feedback (HMX-F 7).

        Raises:
            UnknownChoice: no such signal.

        """
        return self._perform(fingerprints.report_pack(self._tenancy, pack, signal, as_us(at)))
