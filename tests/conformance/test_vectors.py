"""The kit's hash and signature vectors, and its copies of the documents and schemas printed in the specifications."""

import hashlib
import json
import re

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from hmxgraph.conformance.kit import digest, example, example_names, vectors
from hmxgraph.protocol.canonical import canonical_text, content_hash
from hmxgraph.protocol.document import schema
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import Envelope, fingerprint_hash, integrity_hash
from tests.shared_data import shared

VECTORS = vectors()


def _each(kind):
    return [pytest.param(vector, id=vector["name"]) for vector in VECTORS[kind]]


@pytest.mark.parametrize("vector", _each("content_hash"))
def test_content_hash(vector):
    """The content hash matches the vector, and so does the canonical text if the vector has one."""
    value = vector["value"] if "value" in vector else example(vector["example"])["content"]
    assert content_hash(value) == digest(value) == vector["sha256"]
    assert "canonical" not in vector or canonical_text(value) == vector["canonical"]


@pytest.mark.parametrize("vector", _each("event_hash"))
def test_event_hash(vector):
    """The event hash is the SHA-256 of the whole canonical event."""
    assert Event.parse(example(vector["example"])).event_hash == vector["sha256"]


@pytest.mark.parametrize("vector", _each("fingerprint_hash"))
def test_fingerprint_hash(vector):
    """The fingerprint hash covers the knowledge, not the ids, tags or metadata of a copy."""
    document = example(vector["example"])
    renamed = document | {"fingerprint_id": "x", "tenant_id": "y", "tags": ["z"], "metadata": {"a": 1}}
    assert fingerprint_hash(document) == fingerprint_hash(renamed) == vector["sha256"]


@pytest.mark.parametrize("vector", _each("integrity_hash"))
def test_integrity_hash(vector):
    """The integrity hash covers the whole fingerprint."""
    document = example(vector["example"])
    assert integrity_hash(document.get("fingerprint", document)) == vector["sha256"]


@pytest.mark.parametrize("vector", _each("signature"))
def test_signature(vector):
    """The signature is made and verified over the canonical envelope without the signature."""
    signed = Envelope.parse(example(vector["example"])).signed_bytes()
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(vector["private_key"]))
    assert hashlib.sha256(signed).hexdigest() == vector["signed_sha256"]
    assert key.sign(signed).hex() == vector["value"]
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(vector["public_key"]))
    public.verify(bytes.fromhex(vector["value"]), signed)


def test_every_printed_document_is_an_example():
    """Each complete document printed in the specifications is an example in the kit."""
    printed = [value for value in _printed() if "hmx_version" in value and "$schema" not in value]
    assert len(printed) == 7
    kept = [example(name) for name in example_names()]
    assert [document for document in printed if document not in kept] == []


def test_printed_schemas_are_reproduced():
    """The two printed schemas are shipped unchanged, except that custom artifact types are allowed."""
    event, artifact = (value for value in _printed() if "$schema" in value)
    shipped = schema("artifact")
    assert schema("event") == event
    types = artifact["properties"].pop("artifact_type")
    either = shipped["properties"].pop("artifact_type")
    assert shipped == artifact
    assert either == {"type": "string", "anyOf": [{"enum": types["enum"]}, {"pattern": either["anyOf"][1]["pattern"]}]}


def _printed():
    """Every complete JSON object in the specifications, in order."""
    for path in sorted(shared("spec").glob("HMX-*.txt"), key=lambda path: "ECAF".find(path.name[4])):
        text, end = path.read_text(encoding="utf-8"), 0
        for start in re.finditer(r"\{\s", text):
            if start.start() < end:
                continue
            try:
                value, end = json.JSONDecoder().raw_decode(text, start.start())
            except json.JSONDecodeError:
                continue
            yield value
