"""Extraction is bounded and ordered for any event; chains stay linear whatever is asserted."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.extraction.entities import TYPES, normalise
from hmxgraph.extraction.extract import extract
from hmxgraph.extraction.timeline import Assertion, Interval, StoredAssertion, ends, settle
from hmxgraph.protocol.events import EVENT_TYPES, Event

WORDS = st.sampled_from(
    """
    always never I prefer live in Boston The Beatles' my wife Anna is ValueError: app/main.py #W12345 of the and , . ! ?
    - ** ``` \u201cDune\u201d https://x.example/a?b=c @bob make sure to test Dr. U.S. (2000 film) don\u2019t
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
TEXTS = st.lists(WORDS | st.text(max_size=12), max_size=60).map(" ".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=12) | WORDS, inner, max_size=5),
    max_leaves=20,
)
FIELDS = (
    "text",
    "role",
    "title",
    "tool_name",
    "arguments",
    "result",
    "order_id",
    "items",
    "user",
    "id",
    "name",
    "success",
    "command",
    "path",
    "comment",
    "subject",
)
CONTENTS = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), VALUES, max_size=6)


def made(event_type, content, text):
    """An event with any content; a message always has a text."""
    return Event(
        hmx_version="HMX-1.0",
        event_id="e",
        event_type=event_type,
        agent_id="a",
        tenant_id="t",
        session_id="s",
        timestamp="2026-01-01T00:00:00Z",
        sequence=0,
        content={**content, "text": text} if event_type == "message" else content,
        metadata={},
        source="user",
    )


@given(st.sampled_from(EVENT_TYPES) | st.just("x-a-b"), CONTENTS, TEXTS)
def test_any_event_is_read(event_type, content, text):
    """Extraction accepts any content; its output is bounded, normalised, ordered, and relations join its mentions."""
    extraction = extract(made(event_type, content, text))
    assert len(extraction.mentions) <= 33
    assert len(extraction.relations) <= 36
    assert len(extraction.memories) <= 8
    assert list(extraction.mentions) == sorted(extraction.mentions)
    refs = {mention.ref for mention in extraction.mentions}
    assert all({relation.source, relation.target} <= refs for relation in extraction.relations)
    for mention in extraction.mentions:
        assert mention.type in TYPES or re.fullmatch("[a-z]+(_[a-z]+)*", mention.type)
        assert mention.normalised == normalise(mention.type, mention.name) != ""
        assert 0 < mention.confidence <= 1


@given(CONTENTS)
def test_the_order_of_fields_decides_nothing(content):
    """The order of a document's keys does not change the extraction."""
    turned = dict(reversed(list(content.items())))
    assert extract(made("tool_result", content, "")) == extract(made("tool_result", turned, ""))


TELLINGS = st.lists(
    st.builds(
        Assertion,
        st.integers(0, 30),
        st.integers(0, 500).map(str),
        st.sampled_from("abc"),
        st.sampled_from(["", "", "Ann", "Bob"]),
    ),
    max_size=40,
    unique_by=lambda assertion: assertion.event_key,
)


@given(st.lists(TELLINGS, max_size=4))
def test_chains_stay_linear(batches):
    """Over many batches intervals stay ordered and disjoint, only the last is open, and no assertion is lost."""
    stored = []
    for number, batch in enumerate(batches):
        timeline = settle(stored, batch)
        intervals = timeline.intervals
        assertion_count = sum(len(interval.new) for interval in intervals) + len(timeline.disputes)
        assert assertion_count == len(batch)
        assert all(earlier.last_us < other.first_us for earlier, other in pairwise(intervals))
        assert [end is None for end in ends(intervals)] == [False] * (len(intervals) - 1) + [True] * bool(intervals)
        stored = [as_stored(interval, f"new-{number}-{at}") for at, interval in enumerate(intervals)]


@given(TELLINGS)
def test_assertions_come_in_any_order(batch):
    """The order of assertions within a batch does not change the timeline."""
    forwards, other = settle([], batch), settle([], list(reversed(batch)))
    assert [(interval.answer, interval.first_us, interval.last_us) for interval in forwards.intervals] == [
        (interval.answer, interval.first_us, interval.last_us) for interval in other.intervals
    ]


MOMENTS = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from("abc")), max_size=20, unique_by=lambda moment: moment[0]
)


@given(MOMENTS.flatmap(st.permutations), st.data())
def test_assertions_arrive_in_any_order(moments, data):
    """Assertions with distinct times give the same timeline in whatever order and batches they arrive."""
    assertions = [Assertion(time_us, f"e{time_us}", answer) for time_us, answer in moments]
    at_once, stored = settle([], assertions), []
    while assertions:
        size = data.draw(st.integers(1, len(assertions)))
        batch, assertions = assertions[:size], assertions[size:]
        timeline = settle(stored, batch)
        assert timeline.disputes == ()
        stored = [as_stored(interval, f"{len(assertions)}-{at}") for at, interval in enumerate(timeline.intervals)]
    assert [(interval.answer, interval.first_us, interval.last_us) for interval in stored] == [
        (interval.answer, interval.first_us, interval.last_us) for interval in at_once.intervals
    ]
    assert [interval.stored for interval in stored] == [
        tuple(StoredAssertion(*assertion[:2]) for assertion in interval.new) for interval in at_once.intervals
    ]


def as_stored(interval, name):
    """An interval as read back from the store, with all its assertions."""
    key = interval.key or name
    before = interval.stored if interval.key or interval.origin else ()
    assertions = tuple(sorted({*before, *(StoredAssertion(*assertion[:2]) for assertion in interval.new)}))
    return Interval(interval.answer, interval.first_us, interval.last_us, interval.voice, key, stored=assertions)
