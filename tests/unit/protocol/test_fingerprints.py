"""Fingerprints and envelopes: hashes, versions, signature."""

import pytest

from hmxgraph.conformance.kit import example
from hmxgraph.errors import InvalidDocument
from hmxgraph.protocol.fingerprints import (
    HASHED_FIELDS,
    Envelope,
    Fingerprint,
    Signature,
    fingerprint_hash,
    integrity_hash,
)

FINGERPRINT = example("fingerprint")
ENVELOPE = example("envelope")


def test_parts_are_typed():
    """Sections are values with the wire's names."""
    fingerprint = Fingerprint.parse(FINGERPRINT)
    assert fingerprint.artifact_summaries.task_schema_set[0].steps[3] == "Verify"
    assert fingerprint.behavioral_patterns.tool_usage.tool_frequency["exec"] == 450
    assert fingerprint.graph_digest.top_connected_entities[0].name == "kubernetes"
    assert fingerprint.compiler_state is None
    assert fingerprint.document() == FINGERPRINT


def test_printed_hash_is_a_placeholder():
    """The hash printed in the specification is that of empty input; it gives a warning, not a rejection."""
    fingerprint = Fingerprint.parse(FINGERPRINT)
    assert not fingerprint.hash_matches
    assert "(HMX-F 10)" in fingerprint.warnings[0]


@pytest.mark.parametrize("name", HASHED_FIELDS)
def test_hash_covers_what_is_known(name):
    """Every hashed field changes the hash."""
    assert fingerprint_hash({**FINGERPRINT, name: "changed"}) != fingerprint_hash(FINGERPRINT)


@pytest.mark.parametrize("name", sorted(set(Fingerprint.model_fields) - set(HASHED_FIELDS)))
def test_hash_leaves_out_what_names_the_copy(name):
    """Ids, tenant, times, tags, metadata and the hash itself do not; integrity covers them."""
    assert fingerprint_hash({**FINGERPRINT, name: "changed"}) == fingerprint_hash(FINGERPRINT)
    assert integrity_hash({**FINGERPRINT, name: "changed"}) != integrity_hash(FINGERPRINT)


def test_envelope_checks_its_fingerprint():
    """Faults of the fingerprint inside are reported with their path from the envelope."""
    broken = {**ENVELOPE, "fingerprint": {**ENVELOPE["fingerprint"], "created_at": "soon"}}
    with pytest.raises(InvalidDocument) as refusal:
        Envelope.parse(broken)
    assert [fault.path for fault in refusal.value.faults] == ["$.fingerprint.created_at"]


def test_envelope_of_another_version_is_opened():
    """A fingerprint of another version is not validated against this version's structure."""
    assert Envelope.parse({**ENVELOPE, "fingerprint": {"fingerprint_version": 7}}).fingerprint == {
        "fingerprint_version": 7
    }


def test_signature_is_beside_what_it_signs():
    """The signature covers the envelope without its signature."""
    signature = Signature(algorithm="Ed25519", public_key="0" * 64, value="0" * 128)
    signed = Envelope(**ENVELOPE, signature=signature)
    assert signed.signed_bytes() == Envelope.parse(ENVELOPE).signed_bytes()
    with pytest.raises(InvalidDocument, match="signature"):
        Envelope(**ENVELOPE, signature={"algorithm": "none", "public_key": "0" * 64, "value": "0" * 128})


def test_hashes_of_an_envelope():
    """Both hashes hold in the kit's envelope."""
    envelope = Envelope.parse(ENVELOPE)
    assert envelope.hash_matches
    assert Fingerprint.parse(envelope.fingerprint).hash_matches
