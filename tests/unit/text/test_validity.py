"""Validity scopes: who is inside, and which two have somebody in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.text.artifacts import ANYWHERE, Validity, applies, overlap, validity

NAMES = st.none() | st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(tuple)
TIMES = st.none() | st.integers(min_value=0, max_value=6)
SCOPES = st.builds(Validity, NAMES, NAMES, NAMES, TIMES, TIMES)
READERS = [(tenant, agent, tag, time) for tenant in "abc" for agent in "abc" for tag in "abc" for time in range(7)]


def inside(scope, reader):
    """Whether a reader of whom everything is known is inside."""
    tenant, agent, tag, time = reader
    return applies(scope, tenant_id=tenant, moment_us=time, agent_id=agent, tags=(tag,))


@pytest.mark.parametrize("scope", [None, {}, {"agent_ids": [], "tags": []}, {"conditions": ["moon is full"]}])
def test_an_empty_scope_is_everywhere(scope):
    """Absent, empty, empty lists, or conditions that no rule can decide: universal (HMX-A 6)."""
    assert validity(scope) == ANYWHERE


def test_a_scope_is_read_whole():
    """All five fields, bounds as microseconds."""
    span = {"start": "1970-01-01T00:00:01Z", "end": "1970-01-01T01:00:02+01:00"}
    scope = {"tenant_ids": ["t"], "agent_ids": ["a", "b"], "tags": ["x"], "time_range": span}
    assert validity(scope) == Validity(("t",), ("a", "b"), ("x",), 1_000_000, 2_000_000)


def test_what_is_not_said_excludes_nothing():
    """A reader without a name or a situation is not known to be outside."""
    scope = Validity(agents=("a",), tags=("x",))
    assert applies(scope, tenant_id="t", moment_us=0)
    assert not applies(scope, tenant_id="t", moment_us=0, agent_id="b")
    assert not applies(scope, tenant_id="t", moment_us=0, tags=("y",))


@given(SCOPES)
def test_the_tenant_and_the_time_are_always_known(scope):
    """Both ends of the time belong to it; nobody of another tenant is inside."""
    for tenant in "abc":
        for time in range(7):
            expected = tenant in (scope.tenants or "abc") and (scope.from_us or 0) <= time <= (
                6 if scope.to_us is None else scope.to_us
            )
            assert applies(scope, tenant_id=tenant, moment_us=time) is expected


@given(SCOPES, SCOPES)
def test_scopes_overlap_where_a_reader_is_inside_both(first, second):
    """Overlapping is having a reader in common, and is mutual."""
    common = any(inside(first, reader) and inside(second, reader) for reader in READERS)
    assert overlap(first, second) is overlap(second, first)
    if common:
        assert overlap(first, second)
    elif all(scope.from_us is None or scope.to_us is None or scope.from_us <= scope.to_us for scope in (first, second)):
        assert not overlap(first, second)
