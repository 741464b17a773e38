"""Events: fields, faults and warnings."""

import gzip
import pickle
from types import MappingProxyType

import pytest

from hmxgraph.conformance.kit import digest, example
from hmxgraph.errors import InvalidDocument, MalformedJson
from hmxgraph.protocol.events import EVENT_TYPES, Event
from tests.shared_data import shared

MESSAGE = example("event-user-message")


def test_fields_are_the_wires():
    """Fields have their wire names; lists are tuples, absent fields are None, contents are plain dicts."""
    event = Event.parse(MESSAGE)
    assert (event.event_id, event.sequence, event.tags) == (MESSAGE["event_id"], 0, ("deployment", "staging"))
    assert (event.trace_id, event.embeddings, event.ttl_seconds) == (None, None, None)
    assert type(event.content) is type(event.metadata) is dict
    assert event.document() == MESSAGE


def test_text_bytes_and_mappings_are_alike():
    """Text, bytes, any mapping and the constructor give the same event."""
    event = Event.parse(MESSAGE)
    text = event.to_json()
    parsed = [Event.parse(text), Event.parse(text.encode()), Event.parse(MappingProxyType(MESSAGE)), Event(**MESSAGE)]
    assert parsed == [event] * 4
    assert {hash(parsed_event) for parsed_event in parsed} == {hash(event)}
    assert pickle.loads(pickle.dumps(event)) == event  # noqa: S301 - our own bytes


def test_event_hash_is_of_the_canonical_event():
    """Equal events have equal hashes, however they were spelled; the salience 1 is 1.0."""
    spelled = Event.parse({**MESSAGE, "salience": 1})
    assert (
        spelled.event_hash == Event.parse({**MESSAGE, "salience": 1.0}).event_hash == digest({**MESSAGE, "salience": 1})
    )
    assert isinstance(spelled.salience, float)


def test_whole_floats_are_the_integers_they_are():
    """A sequence of 1.0 is the integer 1, as JSON Schema has it, also in an event of nothing but required fields."""
    bare = {name: MESSAGE[name] for name in MESSAGE if name not in {"source", "salience", "tags"}}
    event = Event.parse({**bare, "sequence": 1.0, "ttl_seconds": 60.0})
    assert [type(value) for value in (event.sequence, event.ttl_seconds)] == [int, int]
    assert type(Event.parse({**bare, "sequence": 1.0}).sequence) is int


def test_constructor_takes_none_as_absent():
    """None given to the constructor leaves the field out; null on the wire is refused."""
    assert Event(**{**MESSAGE, "salience": None}).document() == {k: v for k, v in MESSAGE.items() if k != "salience"}
    with pytest.raises(InvalidDocument):
        Event.parse({**MESSAGE, "salience": None})


def test_event_does_not_follow_its_source():
    """Changing the mapping that an event was made of does not change the event."""
    document = {**MESSAGE, "content": {"role": "user", "text": "first"}}
    event = Event.parse(document)
    document["content"]["text"] = "second"
    assert event.content["text"] == "first"


def test_events_are_frozen():
    """An event's fields cannot be set."""
    event = Event.parse(MESSAGE)
    with pytest.raises(ValueError, match="frozen"):
        event.sequence = 2


def test_original_timestamp_is_kept():
    """The text of the timestamp is kept unchanged; the instant is computed from it."""
    event = Event.parse({**MESSAGE, "timestamp": "2026-03-14T08:30:00.10+05:30"})
    assert event.timestamp == "2026-03-14T08:30:00.10+05:30"
    assert event.time_us == 1_773_457_200_100_000


@pytest.mark.parametrize("kind", [*EVENT_TYPES, "x-acme-custom_signal", "x-acme.lab-a-b"])
def test_known_and_vendor_types_give_no_warning(kind):
    """The thirteen types and namespaced ones are fine."""
    contents = {"decision": {"chosen_option": "x"}, "error": {"message": "x"}, "feedback": {"signal": "positive"}}
    content = contents.get(kind, {"role": "user", "text": "x", "tool_name": "t"})
    assert Event.parse({**MESSAGE, "event_type": kind, "content": content}).warnings == ()


@pytest.mark.parametrize("kind", ["telepathy", "x-acme", "x--signal", "X-acme-signal", "x-acme-a b"])
def test_other_types_are_kept_with_a_warning(kind):
    """A type that is neither standard nor namespaced is kept, with a warning."""
    event = Event.parse({**MESSAGE, "event_type": kind})
    assert event.event_type == kind
    assert len(event.warnings) == 1
    assert "(HMX-E 3)" in event.warnings[0]


def test_all_faults_at_once():
    """Faults of JSON, structure and limits are reported together, each once, with the actual and the expected value."""
    document = {
        **MESSAGE,
        "sequence": -1,
        "embeddings": [],
        "mood": 1,
        "metadata": {"a": float("nan"), "b": "x" * 70_000},
    }
    with pytest.raises(InvalidDocument) as refusal:
        Event.parse(document)
    assert [str(fault) for fault in refusal.value.faults] == [
        "$.metadata.a: found nan, expected a finite number (RFC 8785 3.1)",
        "$.sequence: found -1, expected an integer of at least 0 (HMX-E 6.4)",
        "$.mood: found an unknown field, expected only the fields of the specification (HMX-E 5)",
        "$.metadata: found 70017 bytes, expected at most 65536 bytes (64 KB) (HMX-E 11)",
        "$.embeddings: found an empty array, expected a non-empty array of finite numbers (HMX-E 6.6)",
    ]
    assert refusal.value.document_id == MESSAGE["event_id"]
    assert refusal.value.kind == "event"


@pytest.mark.parametrize("data", ["[]", "null", "3", '"text"'])
def test_what_is_no_object_is_no_event(data):
    """Any other JSON value is refused as a document."""
    with pytest.raises(InvalidDocument, match="expected an object"):
        Event.parse(data)


@pytest.mark.parametrize("value", [{1, 2}, b"x", float("inf"), "\ud800", 2**53, 2.0**53, {1: 2}, ...], ids=ascii)
def test_what_is_no_json_is_refused_with_its_path(value):
    """A mapping that holds anything but JSON is rejected with the path of that value."""
    with pytest.raises(InvalidDocument) as refusal:
        Event.parse({**MESSAGE, "content": {"role": "user", "text": "x", "odd": [value]}})
    assert [fault.path for fault in refusal.value.faults] == ["$.content.odd[0]"]


def test_one_value_has_one_fault():
    """A value that is not JSON is not reported again for the null that replaces it during schema validation."""
    faults = Event.faults(example("event-error") | {"salience": float("nan"), "sequence": 2**60})
    assert [fault.path for fault in faults] == ["$.sequence", "$.salience"]


def test_nesting_is_bounded_for_mappings_too():
    """64 levels are accepted, 65 and endless ones are refused."""
    deep = []
    for _ in range(62):
        deep = [deep]
    assert Event.parse({**MESSAGE, "metadata": {"x": deep[0]}})
    with pytest.raises(InvalidDocument, match=r"at most 64 levels \(own limit\)"):
        Event.parse({**MESSAGE, "metadata": {"x": deep}})
    endless = {}
    endless["again"] = endless
    with pytest.raises(InvalidDocument, match=r"at most 64 levels \(own limit\)"):
        Event.parse({**MESSAGE, "metadata": endless})


def test_faults_beyond_number_are_cut():
    """An event with very many faults is rejected quickly, with a readable message."""
    with pytest.raises(InvalidDocument) as refusal:
        Event.parse({**MESSAGE, "tags": [1] * 200_000})
    assert len(refusal.value.faults) == 1001
    assert str(refusal.value.faults[-1]).startswith("$.tags: found 200000 elements, expected at most 64")
    assert str(refusal.value).endswith("and 981 more")


def test_malformed_text_is_no_invalid_document():
    """Text that is not JSON is distinguished from JSON that is not an event."""
    with pytest.raises(MalformedJson):
        Event.parse('{"event_id": }')


def test_embeddings_and_small_numbers_are_exact():
    """Vectors are returned unchanged, however their numbers are spelled."""
    vector = [1e-7, 0.1, -1.0, 0.30000000000000004, 5e-324]
    event = Event.parse({**MESSAGE, "embeddings": vector})
    assert event.embeddings == tuple(vector)
    assert Event.parse(event.to_json()).embeddings == tuple(vector)
    assert event.event_hash == digest({**MESSAGE, "embeddings": vector})


def test_demo_data_is_accepted_and_comes_back(real_lines):
    """Real events are accepted, warned of only where a result names no tool, and come back as they were."""
    for line in real_lines:
        event = Event.parse(line)
        assert all("tool_name" in warning for warning in event.warnings)
        assert Event.parse(event.to_json()).event_hash == event.event_hash == digest(event.document())


@pytest.fixture
def real_lines():
    """Every fiftieth line of the shared events."""
    files = sorted(shared("data", "agent-runs").glob("*.ndjson.gz"))
    return [line for path in files for line in gzip.decompress(path.read_bytes()).splitlines()[::50]]
