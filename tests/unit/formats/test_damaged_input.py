"""A converter returns an outcome for any record, and never raises."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmxgraph.formats.catalogue import FORMATS, recognise
from hmxgraph.formats.conversion import Origin, Record
from hmxgraph.protocol.events import Event
from tests.unit.formats.conversions import NOW_US, events
from tests.unit.formats.samples import SAMPLES

_KEYS = st.sampled_from(["type", "role", "content", "id", "x"])
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)


def places(value, path=()):
    """The paths of all values inside *value*."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def replaced(value, path, junk):
    """*value* with *junk* at *path*."""
    if not path:
        return junk
    key, *inner = path
    if isinstance(value, dict):
        return {name: replaced(part, inner, junk) if name == key else part for name, part in value.items()}
    return [replaced(part, inner, junk) if place == key else part for place, part in enumerate(value)]


def without(value, path):
    """*value* without the part at *path*."""
    key, *inner = path
    if inner:
        return replaced(value, path, None)
    if isinstance(value, dict):
        return {name: part for name, part in value.items() if name != key}
    return [part for place, part in enumerate(value) if place != key]


def converted(form, values):
    """The outcomes, with every event accepted by the protocol."""
    records = [Record(value, "", line) for line, value in enumerate(values, 1)]
    outcomes = list(form.convert(records, Origin(session_id="s", time_us=NOW_US)))
    assert len(outcomes) == len(records)
    for document in (document for outcome in outcomes for document in outcome.events):
        if form.name != "hmx" and "hmx_version" in document:
            Event.parse({**document, "tenant_id": "acme"})


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@given(st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_records_never_raise(form, data):
    """A record with any part replaced by junk, or taken away, is an outcome like any other."""
    sample = data.draw(st.sampled_from(SAMPLES[form.name]))
    number = data.draw(st.integers(0, len(sample) - 1))
    path = data.draw(st.sampled_from(list(places(sample[number]))))
    damaged = (
        replaced(sample[number], path, data.draw(JUNK))
        if not path or data.draw(st.booleans())
        else without(sample[number], path)
    )
    converted(form, [*sample[:number], damaged, *sample[number + 1 :]])
    recognise([damaged])


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_records_of_other_formats_are_named_or_read(form):
    """A file that mixes formats gives an outcome for each record, whichever converter takes it."""
    converted(
        form, [value for sample in SAMPLES.values() for records in sample for value in records] + [None, 7, "x", [], {}]
    )


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_samples_are_recognised_and_read(name):
    """Each sample of a format is recognised as that format, and read with no fault."""
    for sample in SAMPLES[name]:
        recognition = recognise(sample)
        assert (recognition.format.name if recognition.format else "") == name
        assert name == "hmx" or events(recognition.nearest, sample)


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"hmx"}))
def test_a_source_can_be_resumed_anywhere(name):
    """Records converted one at a time, with the carried state stored as JSON in between, give the same events."""
    for sample in SAMPLES[name]:
        form = recognise(sample).nearest
        records = [Record(value, "", line) for line, value in enumerate(sample, 1)]
        whole = [outcome.events for outcome in form.convert(records, Origin("s", time_us=NOW_US))]
        carried = {}
        parts = []
        for record in records:
            carried = json.loads(json.dumps(carried))
            parts += [
                outcome.events for outcome in form.convert([record], Origin("s", time_us=NOW_US, carried=carried))
            ]
        assert parts == whole


@pytest.mark.parametrize(
    "tag", ["system-reminder", "task-notification", "command-name", "command-args", "skill", "hmxgraph-pack id=1"]
)
@pytest.mark.timeout(20)
def test_endless_markup_is_read_in_linear_time(tag):
    """A hundred thousand openings without an end take no longer than any text of that length."""
    hostile = f"<command-name>/x</command-name><task-notification>{chr(10) * 50_000}" + f"<{tag}>" * 100_000
    result = {"role": "tool", "tool_call_id": "c", "content": hostile}
    user = {"role": "user", "content": hostile}
    line = SAMPLES["claude-code"][0][3]
    block = {"type": "tool_result", "tool_use_id": "t1", "content": hostile}
    converted(next(known for known in FORMATS if known.name == "openai-chat"), [user, result])
    converted(
        next(known for known in FORMATS if known.name == "claude-code"),
        [line | {"message": {"role": "user", "content": [block]}}],
    )


def test_huge_texts_are_cut_to_the_limits():
    """A text beyond HMX-E's limits is stored cut, with a warning that tells its size."""
    form = next(known for known in FORMATS if known.name == "messages")
    outcome = next(
        form.convert([Record({"role": "user", "content": "x" * 700_000}, "", 1)], Origin("s", time_us=NOW_US))
    )
    assert len(Event.parse({**outcome.events[0], "tenant_id": "acme"}).content["text"]) < 101_000
    assert "bytes are more than HMX-E 11 allows" in outcome.warnings[0]


def test_what_json_cannot_spell_is_kept_as_text():
    """Integers beyond 2^53-1 in arguments are stored as text, with a warning."""
    form = next(known for known in FORMATS if known.name == "openai-chat")
    call = {"id": "c", "function": {"name": "f", "arguments": '{"n": 9007199254740993}'}}
    outcome = next(
        form.convert([Record({"role": "assistant", "tool_calls": [call]}, "", 1)], Origin("s", time_us=NOW_US))
    )
    assert outcome.events[0]["content"]["arguments"] == {"n": "9007199254740993"}
    assert outcome.warnings == ("an integer beyond 2^53-1 is kept as text",)
