"""Which events are new to a tenant: decided by their time, not by the order in which they arrive."""

from hmxgraph.graph import _events
from hmxgraph.graph._events import new_kinds
from hmxgraph.ingest.prepare import ChainChanges
from tests.unit.ingest.making import prepared


def call(tool, minute, session="s"):
    """A call of a tool."""
    timestamp = f"2026-03-14T03:{minute:02}:00Z"
    name = f"{tool}-{minute}"
    content = {"tool_name": tool}
    return prepared(event_id=name, session_id=session, timestamp=timestamp, event_type="tool_call", content=content)


def test_the_first_of_a_kind_is_the_earliest_whatever_its_session():
    """The earliest event of a kind is the first, whatever the order of a batch and its sessions."""
    late, early, other = call("gh", 9, "a"), call("gh", 1, "b"), call("npm", 5, "a")
    kinds = new_kinds([late, other, early], ())
    assert kinds == {early.signature: early.key, other.signature: other.key}
    assert list(kinds) == [early.signature, other.signature]
    assert new_kinds([late, other, early], {early.signature}) == {other.signature: other.key}


def test_events_that_bring_their_salience_are_of_no_kind():
    """Events that state their own salience are not compared with known kinds."""
    assert new_kinds([prepared(salience=0.3)], ()) == {}


def test_the_number_of_tracked_kinds_is_limited(monkeypatch):
    """Once a tenant has the maximum number of kinds, no kind is new."""
    monkeypatch.setattr(_events, "MOST_KINDS", 2)
    first, second = call("gh", 1), call("npm", 2)
    assert list(new_kinds([second, first, call("gh", 3)], {"known"})) == [first.signature]


def test_a_result_answers_the_call_before_it():
    """If a call id is used twice, each result belongs to the nearest call before it."""
    kinds = ("tool_call", "tool_result", "tool_call", "tool_result")
    events = [
        prepared(event_id=f"e{n}", sequence=n, event_type=kind, content={"tool_name": "gh", "call_id": "1"})
        for n, kind in enumerate(kinds)
    ]
    inner, outer, _ = _events._inner_and_outer(events, ChainChanges())
    assert inner["ANSWERS"] == [(1, 0), (3, 2)]
    assert outer["ANSWERS"] == []
