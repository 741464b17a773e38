"""New events are linked into a stored chain."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.ingest.prepare import ChainChanges, End, Ends, Neighbours, between_ends
from tests.unit.ingest.making import prepared


def numbered(sequence):
    """A prepared event with this sequence number."""
    return prepared(event_id=f"e{sequence:03}", sequence=sequence)


@given(st.lists(st.sets(st.integers(0, 40), min_size=1, max_size=12), min_size=1, max_size=6))
def test_the_chain_is_the_sorted_order(batches):
    """However events arrive, in whatever batches, the links are those of the sorted order."""
    links, stored = set(), []
    for batch in batches:
        new = sorted((numbered(n) for n in batch if n not in {s.order[0] for s in stored}), key=lambda e: e.order)
        ends = Ends(End(stored[0].order, stored[0].key), End(stored[-1].order, stored[-1].key)) if stored else None
        changes = ChainChanges()
        changes.add(new, ends, neighbours(stored, between_ends(new, ends) if ends else []))
        links = (links - set(changes.unlinked)) | set(changes.linked)
        stored = sorted([*stored, *new], key=lambda e: e.order)
    assert links == set(pairwise(event.key for event in stored))


def neighbours(stored, late):
    """What the graph would answer for *late* events."""
    neighbours_of = {}
    for event in late:
        before = max((candidate for candidate in stored if candidate.order < event.order), key=lambda e: e.order)
        after = min((candidate for candidate in stored if candidate.order > event.order), key=lambda e: e.order)
        neighbours_of[event.key] = Neighbours(before.key, after.key)
    return neighbours_of
