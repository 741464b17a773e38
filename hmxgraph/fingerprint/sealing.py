"""Steps 9 and 10 of HMX-F 11: ids, both hashes, the envelope."""

from collections.abc import Mapping
from typing import Any

from hmxgraph.fingerprint.options import ExportOptions
from hmxgraph.protocol.events import HMX_VERSION
from hmxgraph.protocol.fingerprints import (
    ENVELOPE_FORMAT,
    ENVELOPE_VERSION,
    Envelope,
    fingerprint_hash,
    integrity_hash,
)
from hmxgraph.protocol.identity import stable_id

# The envelope's own words stand again in the fingerprint's metadata, where the integrity hash covers them.
COPIED = ("exported_at", "exported_by")


def sealed(document: Mapping[str, Any], options: ExportOptions) -> Envelope:
    """The envelope around *document*, which gets its id and ``fingerprint_hash``.

    It is exported when it was created: at the logical time of the state, so that the same state gives the same bytes.
    """
    words = {"exported_at": document["created_at"], "exported_by": options.exported_by}
    found = fingerprint_hash(document)
    whole = {
        **document,
        "fingerprint_id": stable_id("fingerprint", document["tenant_id"], document["created_at"], found),
        "fingerprint_hash": found,
        "metadata": {**document["metadata"], "envelope": words},
    }
    return Envelope(
        format=ENVELOPE_FORMAT,
        envelope_version=ENVELOPE_VERSION,
        hmx_version=HMX_VERSION,
        fingerprint=whole,
        integrity_hash=integrity_hash(whole),
        **words,
    )
