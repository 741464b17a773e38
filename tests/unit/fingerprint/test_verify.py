"""Verification: the checks run in a fixed order, and the error names the failed check."""

import pytest

from hmxgraph.errors import FingerprintError, FingerprintRefused, HashMismatch, SignatureMismatch, UnsupportedVersion
from hmxgraph.fingerprint.signing import SigningKey, parse_signature, sealed
from hmxgraph.fingerprint.state import ExportOptions
from hmxgraph.fingerprint.verify import MOST_BYTES, verify
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.fingerprints import Envelope, Signature, fingerprint_hash, integrity_hash
from hmxgraph.protocol.timestamps import microseconds
from tests.unit.fingerprint.states import NOON, envelope

KEY, OTHER = SigningKey(bytes(range(32))), SigningKey(bytes(32))


def changed(path, value, *, rehash=()):
    """The small envelope with one field set (None: removed), and the named hashes recomputed."""
    document = envelope().document()
    *parents, name = path.split(".")
    place = document
    for parent in parents:
        place = place[parent]
    if value is None:
        del place[name]
    else:
        place[name] = value
    if "fingerprint_hash" in rehash:
        document["fingerprint"]["fingerprint_hash"] = fingerprint_hash(document["fingerprint"])
    if "integrity_hash" in rehash:
        document["integrity_hash"] = integrity_hash(document["fingerprint"])
    return document


def test_a_whole_envelope_is_verified():
    """Text, bytes, document and envelope are all accepted, without warnings."""
    whole = envelope()
    for source in (whole, whole.document(), whole.to_json(), whole.to_json().encode()):
        verdict = verify(source)
        assert verdict.fingerprint.document() == whole.fingerprint
        assert (verdict.signed_by, verdict.expired, verdict.migration_steps, verdict.warnings) == (None, False, (), ())
    assert verify(whole).document()["verdict"] == "verified"


BAD = {
    "size": (b" " * (MOST_BYTES + 1), "check 'size' failed"),
    "json": (b'{"format": NaN}', "check 'json' failed"),
    "truncated": (envelope().to_json()[:700], "check 'json' failed"),
    "no object": (b"[]", "check 'format' failed"),
    "format": (changed("format", "zip"), "check 'format' failed"),
    "no fingerprint": (changed("fingerprint", None), "check 'structure' failed"),
    "envelope_version": (changed("envelope_version", 2), "envelope_version 2 is not supported"),
    "hmx_version": (changed("hmx_version", "HMX-2.0"), "hmx_version 'HMX-2.0' is not supported"),
    "inner hmx_version": (changed("fingerprint.hmx_version", "HMX-9.0"), "hmx_version 'HMX-9.0' is not supported"),
    "fingerprint_version": (
        changed("fingerprint.fingerprint_version", "1"),
        "fingerprint_version '1' is not supported",
    ),
    "no hash": (changed("fingerprint.fingerprint_hash", None), "check 'structure' failed"),
    "content": (changed("fingerprint.source_event_count", 9), "fingerprint_hash does not match"),
    "NaN": (changed("fingerprint.source_event_count", float("nan")), "check 'json' failed"),
    "not hashed": (changed("fingerprint.tenant_id", "other"), "integrity_hash does not match"),
    "no integrity_hash": (changed("integrity_hash", None), "check 'structure' failed"),
    "envelope": (changed("exported_by", "somebody"), "check 'envelope' failed: exported_by was changed"),
    "field missing": (changed("exported_at", None), "check 'structure' failed"),
    "section missing": (
        changed("fingerprint.graph_digest", None, rehash=("fingerprint_hash", "integrity_hash")),
        "check 'structure' failed",
    ),
    "a time after the last year": (
        changed("fingerprint.created_at", "9999-12-31T23:59:59-14:00", rehash=("integrity_hash",)),
        "check 'structure' failed: created_at '9999-12-31T23:59:59-14:00' is not a time in the years 1 to 9999, in UTC",
    ),
    "a time before the first year": (
        changed("fingerprint.expires_at", "0001-01-01T00:00:00+14:00", rehash=("integrity_hash",)),
        "check 'structure' failed: expires_at",
    ),
    "over the tier": (
        changed(
            "fingerprint.artifact_summaries.policy_set",
            [envelope().fingerprint["artifact_summaries"]["policy_set"][0] | {"condition": "x" * 110_000}],
            rehash=("fingerprint_hash", "integrity_hash"),
        ),
        "check 'structure' failed",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_the_failed_check_is_named(case):
    """The first line of the error says which check failed."""
    source, said = BAD[case]
    with pytest.raises(FingerprintError) as caught:
        verify(source)
    assert said in str(caught.value).splitlines()[0]


ENVELOPE_AGAIN = "get the file again from its sender"
NO_FINGERPRINT = {
    "json lines": ('{"event_id": "a"}\n{"event_id": "b"}\n', "check 'json' failed: this is no fingerprint"),
    "binary": (b"\x1f\x8b\x08", "check 'json' failed: this is no fingerprint"),
    "empty": ("", "check 'json' failed: this is no fingerprint"),
    "a list": (b"[]", "check 'format' failed: this is no fingerprint"),
    "another document": ({"event_id": "a"}, "check 'format' failed: this is no fingerprint"),
}


@pytest.mark.parametrize("case", NO_FINGERPRINT)
def test_a_file_that_is_no_fingerprint_is_called_so(case):
    """Any other file is not taken for a damaged fingerprint, which would have to be sent again."""
    source, said = NO_FINGERPRINT[case]
    with pytest.raises(FingerprintRefused) as caught:
        verify(source)
    assert str(caught.value).startswith(said)
    assert ENVELOPE_AGAIN not in str(caught.value)


@pytest.mark.parametrize("part", [str.encode, str])
def test_a_truncated_fingerprint_has_to_be_sent_again(part):
    """Of a damaged envelope the error says where it stops being JSON and how to get another."""
    with pytest.raises(FingerprintRefused, match=f"not strict JSON at byte .*; {ENVELOPE_AGAIN}"):
        verify(part(envelope().to_json()[:100]))


def test_hashes_come_before_structure():
    """A document changed after the export is reported as changed, not as malformed."""
    with pytest.raises(HashMismatch) as caught:
        verify(changed("fingerprint.graph_digest", None))
    assert caught.value.name == "fingerprint_hash"


def test_a_signature_binds_key_and_envelope():
    """A detached signature by a pinned key is accepted, any other refused."""
    whole = envelope()
    signature = KEY.sign(whole)
    assert verify(whole, signature=signature, trusted=[KEY.public_key]).signed_by == KEY.public_key
    assert verify(whole, signature=signature).signed_by == KEY.public_key
    with pytest.raises(SignatureMismatch, match="not signed"):
        verify(whole, trusted=[KEY.public_key])
    with pytest.raises(SignatureMismatch, match="not pinned"):
        verify(whole, signature=signature, trusted=[OTHER.public_key])
    with pytest.raises(SignatureMismatch, match="does not match the envelope"):
        verify(whole, signature=OTHER.sign(whole).model_copy(update={"public_key": KEY.public_key}))
    with pytest.raises(SignatureMismatch, match="does not match the envelope"):
        verify(envelope("minimal"), signature=signature, trusted=[KEY.public_key])


def test_a_signature_inside_the_envelope_counts():
    """A signature inside the envelope is checked, with or without pinned keys."""
    whole = envelope()
    carrying = Envelope.parse(whole.document() | {"signature": KEY.sign(whole).model_dump()})
    assert verify(carrying, trusted=[KEY.public_key]).signed_by == KEY.public_key
    forged = carrying.document()
    forged["signature"]["value"] = "0" * 128
    with pytest.raises(SignatureMismatch):
        verify(forged)


def test_keys_and_signatures_travel_as_files():
    """A key is read from its PEM file, a signature from its JSON file; other contents are refused with the reason."""
    assert SigningKey.of_pem(KEY.pem()) == KEY
    assert "seed" not in repr(KEY)
    signature = KEY.sign(envelope())
    assert parse_signature(canonical_bytes(signature.model_dump())) == signature
    with pytest.raises(FingerprintRefused, match="check 'key' failed"):
        SigningKey.of_pem(b"-----BEGIN nothing")
    for wrong in (b"{}", b"[]", b"{", b'{"algorithm":"none","public_key":"00","value":"00"}'):
        with pytest.raises(SignatureMismatch):
            parse_signature(wrong)


def test_expiry_is_reported_not_refused():
    """An expired fingerprint is verified, with a flag and a warning; without an expiry there is none."""
    document = envelope().fingerprint
    old = sealed({**document, "expires_at": "2026-03-15T00:00:00.000Z"}, ExportOptions())
    assert verify(old).expired is False
    assert verify(old, at_us=NOON).expired is False
    assert verify(old, at_us=microseconds("2026-03-15T00:00:00.000Z")).expired is False
    assert verify(old, at_us=microseconds("2026-03-15T00:00:00.000001Z")).expired is True
    late = verify(old, at_us=NOON + 10**12)
    assert late.expired
    assert late.warnings == ("expired at 2026-03-15T00:00:00.000Z",)
    assert late.document()["verdict"] == "expired"


def older():
    """A fingerprint of version 0: camelCase, without behaviour, priors and memory statistics."""
    memory = {
        "hmxVersion": "HMX-1.0",
        "fingerprintId": "fp-0",
        "fingerprintVersion": 0,
        "tenantId": "tenant-old",
        "createdAt": "2025-01-01T00:00:00.000Z",
        "artifactSummaries": {
            "policySet": [
                {
                    "artifactId": "a",
                    "condition": "large",
                    "recommendation": "online",
                    "scope": [],
                    "confidence": 0.5,
                    "outcomeCount": 2,
                    "tags": [],
                }
            ],
            "taskSchemaSet": [],
            "playbookSet": [],
            "clusterSummaries": [],
        },
        "sourceEventCount": 7,
    }
    names = ("hmxVersion", "fingerprintVersion", "artifactSummaries", "sourceEventCount")
    memory["fingerprintHash"] = integrity_hash({name: memory[name] for name in names})
    return {**envelope().document(), "fingerprint": memory, "integrity_hash": integrity_hash(memory)}


def test_an_older_version_is_migrated_by_named_steps():
    """Version 0 is verified as it is, then migrated step by step; its old hash is kept."""
    verdict = verify(older())
    assert verdict.migration_steps == ("wire-names", "missing-sections", "version-1")
    assert verdict.fingerprint.artifact_summaries.policy_set[0].outcome_count == 2
    assert verdict.fingerprint.behavioral_patterns.tool_usage.total_calls == 0
    assert verdict.fingerprint.hash_matches
    came = verdict.fingerprint.metadata["migrated_from"]
    assert (came["fingerprint_version"], came["steps"][0]) == (0, "wire-names")
    broken = older()
    broken["fingerprint"]["sourceEventCount"] = 8
    with pytest.raises(HashMismatch):
        verify(broken)


@pytest.mark.parametrize("metadata", [None, 5, "x", [], True])
def test_an_older_version_without_metadata_to_keep_its_hash_in_is_refused(metadata):
    """Metadata that is not an object is a structure fault in any version."""
    document = older()
    document["fingerprint"]["metadata"] = metadata
    document["integrity_hash"] = integrity_hash(document["fingerprint"])
    with pytest.raises(FingerprintRefused, match="check 'structure' failed: metadata is"):
        verify(document)


def newer(**changes):
    """The small envelope as a newer version would write it."""
    inner = envelope().fingerprint | {"fingerprint_version": 2} | changes
    inner["fingerprint_hash"] = fingerprint_hash(inner)
    return {**envelope().document(), "fingerprint": inner, "integrity_hash": integrity_hash(inner)}


def test_a_newer_version_without_its_field_names_is_refused():
    """A newer version that names its number as version 0 did is refused, not an internal error."""
    inner = newer()["fingerprint"]
    inner["fingerprintVersion"] = inner.pop("fingerprint_version")
    inner["fingerprint_hash"] = fingerprint_hash(inner)
    document = {**envelope().document(), "fingerprint": inner, "integrity_hash": integrity_hash(inner)}
    with pytest.raises(FingerprintRefused, match="check 'structure' failed"):
        verify(document)


def test_a_newer_version_is_read_as_far_as_it_goes():
    """Unknown fields, sets, entries and sections are left out, each with a warning (HMX-F 13)."""
    summaries = envelope().fingerprint["artifact_summaries"]
    verdict = verify(
        newer(
            mood="calm",
            graph_digest={"nodes": 3},
            artifact_summaries={**summaries, "dream_set": [], "policy_set": [{"artifact_id": "x"}]},
        )
    )
    assert verdict.warnings == (
        "fingerprint_version 2 is newer than 1",
        "unknown field 'mood' was dropped",
        "section 'graph_digest' does not fit this version's schema and was dropped",
        "unknown set 'dream_set' was dropped",
        "1 of 1 entries in 'policy_set' were dropped (not valid, or over the limit)",
    )
    assert verdict.fingerprint.graph_digest.entity_count == 0
    assert len(verdict.fingerprint.artifact_summaries.task_schema_set) == 1


MISFITS = {
    "compression_tier": "nano",
    "tags": 5,
    "agent_id": 7,
    "source_event_count": -1,
    "expires_at": "soon",
    "compiler_state": [],
    "metadata": "none",
}


def test_a_newer_version_may_have_made_anything_of_what_may_be_missing():
    """Optional fields and metadata of another form are dropped with a warning."""
    for name, value in MISFITS.items():
        verdict = verify(newer(**{name: value}))
        assert f"{name!r} does not fit this version's schema and was dropped" in verdict.warnings[1]
        assert len(verdict.fingerprint.artifact_summaries.policy_set) == 1
    assert len(verify(newer(**MISFITS)).warnings) == 1 + len(MISFITS)


def policies(count):
    """Summaries of policies, the heaviest last."""
    [policy] = envelope().fingerprint["artifact_summaries"]["policy_set"]
    return [policy | {"artifact_id": f"p{number:03}", "outcome_count": number} for number in range(count)]


def test_a_newer_version_may_hold_more_than_fits():
    """If a set is larger than this version allows, the heaviest summaries are read, in their order (HMX-F 8)."""
    sets = {**envelope().fingerprint["artifact_summaries"], "policy_set": policies(150)}
    verdict = verify(newer(artifact_summaries=sets))
    assert [policy.artifact_id for policy in verdict.fingerprint.artifact_summaries.policy_set] == [
        f"p{number:03}" for number in range(50, 150)
    ]
    assert "50 of 150 entries in 'policy_set' were dropped (not valid, or over the limit)" in verdict.warnings
    fewer = verify(newer(artifact_summaries=sets, compression_tier="compact"))
    assert len(fewer.fingerprint.artifact_summaries.policy_set) == 20


def test_warnings_are_not_the_exporters_to_multiply():
    """A thousand unknown fields with long names give a few warnings and the number of omitted ones."""
    verdict = verify(newer(**{f"{number:04}{'x' * 500}": 1 for number in range(1_000)}))
    assert verdict.warnings[-1] == "warnings not shown: 961"
    assert max(map(len, verdict.warnings)) < 100


def test_an_unsupported_version_says_what_is_supported():
    """The error states the supported versions."""
    with pytest.raises(UnsupportedVersion, match=r"reads HMX-1\.0"):
        verify(changed("hmx_version", "HMX-2.0"))


def test_a_signature_of_another_kind_is_refused():
    """Keys that are not hexadecimal fail the check instead of raising another error."""
    strange = Signature(algorithm="Ed25519", public_key="zz", value="00")
    with pytest.raises(SignatureMismatch):
        verify(envelope(), signature=strange)
