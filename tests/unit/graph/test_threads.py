"""State shared by the threads of a process withstands concurrent use."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from hmxgraph.errors import NotFound
from hmxgraph.graph import guidance
from hmxgraph.graph.metering import Meter
from hmxgraph.protocol.memories import Report

THREADS = 8
CALLS = 1_000
MODELS = 20_000


@pytest.fixture(autouse=True)
def _impatient():
    """Make the interpreter switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work, times):
    """The results of *work* in each of several threads, called *times* times."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(lambda thread: [work(thread, time) for time in range(times)], range(THREADS)))


def test_a_meter_counts_every_call():
    """Reading the figures during counting neither fails nor loses a call."""
    meter = Meter()

    def asked(*, refused):
        yield from ()
        if refused:
            raise NotFound("memory", "m", "t")
        return Report({})

    def work(thread, time):
        refused = time % 2 == 1
        try:
            list(meter.measured("get", {}, asked(refused=refused)))
        except NotFound:
            assert refused
        if thread == 0:
            assert meter.latencies().keys() | meter.token_usage()["by_operation"].keys() <= {"get"}

    at_once(work, CALLS)
    assert meter.token_usage()["by_operation"]["get"]["calls"] == THREADS * CALLS // 2
    assert meter.rejections == {"get: NotFound": THREADS * CALLS // 2}


def test_models_are_kept_and_dropped_by_many(monkeypatch):
    """However many packs read models at once, each gets the right one, and the cache stays small."""
    monkeypatch.setattr(guidance, "_models", {})

    def work(thread, time):
        model = guidance._parsed_model(f"{thread}-{time}", "")
        return model.empty and len(guidance.models_kept()) <= guidance.MODELS_KEPT

    assert all(all(held) for held in at_once(work, MODELS))
