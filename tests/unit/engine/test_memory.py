import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.engine._settings import Memory, choose, physical_mebibytes, share
from hmxgraph.errors import NotEnoughMemory


@given(st.integers(min_value=1100, max_value=2_000_000))
def test_shares_fit_every_machine(physical):
    """From 1.1 GB up, heap and page cache together fit the machine's memory, within bounds."""
    heap, pagecache = share(physical)
    assert 512 <= heap <= 2048
    assert 128 <= pagecache <= 4096
    assert heap + pagecache < physical


def test_asked_for_sizes_are_taken():
    """Configured sizes are used unchanged."""
    assert share(4096, 1000, 300) == Memory(1000, 300)


def test_too_small_a_machine():
    """On a machine that is too small the error has both numbers and the way out."""
    with pytest.raises(NotEnoughMemory, match=r"1046 MiB of memory, this machine has 900 MiB.*HMXGRAPH_HEAP"):
        share(900)


def test_asking_for_more_than_there_is(settings):
    """A heap above physical memory is rejected before anything is started."""
    with pytest.raises(NotEnoughMemory):
        choose(type(settings)(home=settings.home, cache=settings.cache, heap=physical_mebibytes() + 1))
