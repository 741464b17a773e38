"""Every document survives the round trip through the internal types."""

from hypothesis import assume, given
from hypothesis import strategies as st

from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import Fingerprint
from hmxgraph.protocol.mappings import (
    artifact_of_compiled,
    compiled_artifact,
    episode_trace,
    event_of_trace,
    fingerprint_of_memory,
    internal_pack,
    memory_fingerprint,
    pack_of_internal,
)
from hmxgraph.protocol.packs import ContextPack
from tests.property.protocol_documents import VALUES, documents

AWKWARD = st.dictionaries(
    st.sampled_from(
        [
            "hmx",
            "agentId",
            "tenantId",
            "id",
            "type",
            "metadata",
            "steps",
            "tools_used",
            "toolsUsed",
            "toolsUsed_",
            "title",
        ]
    ),
    VALUES | st.fixed_dictionaries({"fields": VALUES, "hidden": VALUES}),
    max_size=4,
)


@given(documents("event"), AWKWARD)
def test_events(document, awkward):
    """Any event, even if its metadata uses names that the conversion back reads."""
    document = {**document, "metadata": awkward}
    assume(not Event.faults(document))
    event = Event.parse(document)
    assert event_of_trace(episode_trace(event)) == event


@given(documents("artifact"), AWKWARD, AWKWARD)
def test_artifacts(document, content, metadata):
    """Any artifact, even if its content uses names of common fields or internal spellings."""
    document = {**document, "content": content, "metadata": metadata}
    assume(not Artifact.faults(document))
    artifact = Artifact.parse(document)
    assert artifact_of_compiled(compiled_artifact(artifact)) == artifact


@given(documents("context-pack"), AWKWARD)
def test_packs(document, awkward):
    """Any context pack."""
    document = {**document, "metadata": awkward, "entries": [entry | awkward for entry in document["entries"]]}
    assume(not ContextPack.faults(document))
    pack = ContextPack.parse(document)
    assert pack_of_internal(*internal_pack(pack)) == pack


@given(documents("fingerprint"))
def test_fingerprints(document):
    """Any fingerprint."""
    assume(not Fingerprint.faults(document))
    fingerprint = Fingerprint.parse(document)
    assert fingerprint_of_memory(memory_fingerprint(fingerprint)) == fingerprint
