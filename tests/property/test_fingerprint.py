"""Fingerprints of random states, and damaged envelopes."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.errors import FingerprintError
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.groups import select
from hmxgraph.fingerprint.state import TIERS, ExportOptions
from hmxgraph.fingerprint.verify import verify
from hmxgraph.protocol.fingerprints import Fingerprint
from tests.unit.fingerprint.states import artifact, drawn, envelope, known, policy_content

TEXTS = st.text(max_size=200)


@pytest.mark.slow
@given(st.integers(0, 10**9), st.integers(0, 200), st.sampled_from(sorted(TIERS)), st.sampled_from([3, 30, 300]))
def test_no_tier_is_ever_too_large(seed, count, tier, long):
    """Whatever the state, the envelope fits its tier, is valid and passes verification."""
    made = generate(drawn(seed, count, tier, long), ExportOptions(tier=tier))
    assert len(made.to_json().encode()) <= TIERS[tier].most_bytes
    assert verify(made.to_json()).fingerprint.compression_tier == tier


@given(st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, max_size=4)), max_size=12), st.sampled_from(sorted(TIERS)))
def test_any_text_travels(rows, tier):
    """Quotes, control characters, emoji and any script give valid fingerprints within their tier."""
    artifacts = [
        artifact(number, "decision_policy", title or "-", policy_content(title, answer, tags), tags=tuple(tags))
        for number, (title, answer, tags) in enumerate(rows)
    ]
    made = generate(known(artifacts, tier), ExportOptions(tier=tier))
    assert len(made.to_json().encode()) <= TIERS[tier].most_bytes
    assert Fingerprint.faults(made.fingerprint) == ()


@given(st.integers(0, 10**9), st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_order(seed, rng):
    """The order of artifacts does not change which are selected or how they are grouped."""
    artifacts = [artifact for name, members in drawn(seed, 60).selection.sets.items() for artifact in members if name]
    shuffled = rng.sample(artifacts, len(artifacts))
    for tier in TIERS.values():
        assert select(artifacts, tier) == select(shuffled, tier)


def ten_kilobytes():
    """An envelope of about 10 KB."""
    made = generate(drawn(4, 16, "full", 6), ExportOptions()).to_json().encode()
    assert 10_000 <= len(made) <= 10_500
    return made


def refused(data):
    """Whether verification refuses an envelope."""
    try:
        verify(data)
    except FingerprintError:
        return True
    return False


def flipped(data, bit):
    """*data* with one bit flipped."""
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def test_flipped_bits_are_refused():
    """Flipping any of 2,000 sampled bits of a 10 KB envelope is detected, even without a signature."""
    whole = ten_kilobytes()
    bits = random.Random(1).sample(range(8 * len(whole)), 2_000)
    assert [bit for bit in bits if not refused(flipped(whole, bit))] == []
    assert not refused(whole)


@pytest.mark.fuzz
def test_every_flipped_bit_is_refused():
    """Flipping any bit of a 10 KB envelope is detected."""
    whole = ten_kilobytes()
    assert [bit for bit in range(8 * len(whole)) if not refused(flipped(whole, bit))] == []


def test_every_truncation_is_refused():
    """A truncated envelope is refused."""
    whole = envelope().to_json().encode()
    assert [length for length in range(0, len(whole), 7) if not refused(whole[:length])] == []
