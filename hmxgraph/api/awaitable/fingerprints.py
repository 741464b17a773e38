"""Asynchronous twin of ``knowledge.plain.fingerprints``."""

from collections.abc import Iterable
from typing import Unpack

from hmxgraph.api._base import Moment, as_us, now_us
from hmxgraph.api.awaitable.face import AsyncFace
from hmxgraph.api.fingerprints import ExportChoices, export_options, received
from hmxgraph.fingerprint.verify import Source
from hmxgraph.graph import fingerprint_imports, fingerprints
from hmxgraph.protocol.fingerprints import Envelope, Signature
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.reports import ImportReport, TakenBack


class AsyncFingerprints(AsyncFace):
    """The part of the front door through which learned memory travels."""

    async def export_fingerprint(self, **choices: Unpack[ExportChoices]) -> Envelope:
        """An envelope with what was learned, without events (HMX-F); same state, same bytes.

        Secrets and private names in its texts are masked by rules, which miss some: look at it before you give it away.

        Choices: *tier* (``"full"``, ``"compact"``, ``"minimal"``), *agent_id*, *tags*, *expires_at*, *public_types*
        (the entity types whose names may be told). To sign it, :class:`hmxgraph.fingerprint.signing.SigningKey`:
        ``SigningKey.of_pem(pem).sign(envelope)`` is the *signature* that an import takes.

        Raises:
            UnknownChoice: there is no such tier.

        """
        return await self._perform(fingerprints.export_fingerprint(self._tenancy, export_options(choices)))

    async def import_fingerprint(
        self,
        envelope: Source,
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
        return await self._perform(
            fingerprint_imports.import_fingerprint(
                self._tenancy,
                given.source,
                signature=given.signature,
                trusted=given.trusted,
                now_us=now_us(at),
                at_us=as_us(at),
            )
        )

    async def take_back_import(self, import_id: str, *, at: Moment | None = None) -> TakenBack:
        """The import with this id, or of the fingerprint with this id, taken back out.

        Raises:
            NotFound: there is no such import, or it was taken back before.

        """
        return await self._perform(fingerprint_imports.take_back(self._tenancy, import_id, at_us=as_us(at)))

    async def feedback(self, pack: ContextPack, signal: str = "positive", *, at: Moment | None = None) -> str:
        """The id of *pack*, of which its reader now says ``positive``, ``neutral``, ``correction`` or ``negative``.

        Reading packs writes nothing; this does. Context priors of fingerprints are learnt from it (HMX-F 7).

        Raises:
            UnknownChoice: there is no such signal.

        """
        return await self._perform(fingerprints.report_pack(self._tenancy, pack, signal, as_us(at)))
