"""The reorder window: order restored, nothing held longer than needed, nothing lost."""

from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.ingest.window import ReorderWindow
from tests.unit.ingest.making import prepared


def numbered(sequence, session="s1"):
    """A prepared event with this sequence number."""
    return prepared(event_id=f"{session}-{sequence}", session_id=session, sequence=sequence)


def left(held):
    """The sequence numbers of what left the window."""
    return [event.order[0] for event in held]


def test_events_in_order_are_not_held():
    """An event that continues its session leaves at once."""
    window = ReorderWindow()
    assert [left(window.add(numbered(n), None, 0.0)) for n in range(3)] == [[0], [1], [2]]
    assert window.wait(0.0) is None


def test_an_overtaker_waits_for_the_overtaken():
    """A gap holds what follows it until the missing event arrives."""
    window = ReorderWindow()
    assert left(window.add(numbered(0), None, 0.0)) == [0]
    assert left(window.add(numbered(2), None, 1.0)) == []
    assert window.wait(2.0) == 4.0
    assert left(window.add(numbered(1), None, 2.0)) == [1, 2]


def test_nobody_waits_longer_than_the_window():
    """After five seconds a gap is accepted, and what follows it without another leaves too."""
    window = ReorderWindow()
    for sequence, now in ((5, 0.0), (6, 3.0), (9, 3.0)):
        assert left(window.add(numbered(sequence), None, now)) == []
    assert left(window.release(4.9)) == []
    assert left(window.release(5.0)) == [5, 6]
    assert left(window.release(8.0)) == [9]


def test_latecomers_leave_at_once():
    """An event that arrives after its successors left is not held."""
    window = ReorderWindow()
    assert left(window.add(numbered(0), None, 0.0)) == [0]
    assert left(window.add(numbered(0, "s2"), None, 0.0)) == [0]
    assert left(window.add(numbered(0), None, 9.0)) == [0]


def test_a_latecomer_holds_up_nobody():
    """The session goes on where it was."""
    window = ReorderWindow()
    assert [left(window.add(numbered(n), None, 0.0)) for n in range(4)] == [[0], [1], [2], [3]]
    assert left(window.add(numbered(1), None, 0.0)) == [1]
    assert left(window.add(numbered(4), None, 0.0)) == [4]


def test_the_window_is_bounded():
    """Beyond its capacity the oldest leave before their time."""
    window = ReorderWindow(most=3)
    gone = [event for n in range(10, 20, 2) for event in left(window.add(numbered(n), None, 0.0))]
    assert gone == [10, 12]
    assert left(window.flush()) == [14, 16, 18]


@given(st.permutations(range(12)), st.lists(st.floats(0, 2), min_size=12, max_size=12))
def test_everything_leaves_once(sequence, pauses):
    """Whatever the order and the pauses, each event leaves exactly once, with its receipt."""
    window, now, gone = ReorderWindow(), 0.0, []
    for number, pause in zip(sequence, pauses, strict=True):
        now += pause
        gone += window.add(numbered(number, f"s{number % 2}"), number, now)
        gone += window.release(now)
    gone += window.flush()
    assert sorted(event.receipt for event in gone) == list(range(12))
    assert list(window.flush()) == []
