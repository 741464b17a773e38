"""Validity scopes: which readers they include, and which of them overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.text.artifacts import ANYWHERE, Validity, applies, overlap, validity

NAMES = st.none() | st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(tuple)
TIMES = st.none() | st.integers(min_value=0, max_value=6)
SCOPES = st.builds(Validity, NAMES, NAMES, NAMES, TIMES, TIMES)
READERS = [(tenant, agent, tag, time) for tenant in "abc" for agent in "abc" for tag in "abc" for time in range(7)]


def inside(scope, reader):
    """Whether a fully known reader is inside."""
    tenant, agent, tag, time = reader
    return applies(scope, tenant_id=tenant, moment_us=time, agent_id=agent, tags=(tag,))


@pytest.mark.parametrize("scope", [None, {}, {"agent_ids": [], "tags": []}, {"conditions": ["moon is full"]}])
def test_an_empty_scope_is_everywhere(scope):
    """A scope that is absent, empty, has only empty lists or only free-text conditions is universal (HMX-A 6)."""
    assert validity(scope) == ANYWHERE


def test_a_scope_is_read_whole():
    """All five fields are read, the bounds as microseconds."""
    span = {"start": "1970-01-01T00:00:01Z", "end": "1970-01-01T01:00:02+01:00"}
    scope = {"tenant_ids": ["t"], "agent_ids": ["a", "b"], "tags": ["x"], "time_range": span}
    assert validity(scope) == Validity(("t",), ("a", "b"), ("x",), 1_000_000, 2_000_000)


def test_what_is_not_said_excludes_nothing():
    """A reader without an agent id or tags is not excluded by them."""
    scope = Validity(agents=("a",), tags=("x",))
    assert applies(scope, tenant_id="t", moment_us=0)
    assert not applies(scope, tenant_id="t", moment_us=0, agent_id="b")
    assert not applies(scope, tenant_id="t", moment_us=0, tags=("y",))


@given(SCOPES)
def test_the_tenant_and_the_time_are_always_known(scope):
    """Both ends of the time range are included; readers of another tenant are excluded."""
    for tenant in "abc":
        for time in range(7):
            expected = tenant in (scope.tenants or "abc") and (scope.from_us or 0) <= time <= (
                6 if scope.to_us is None else scope.to_us
            )
            assert applies(scope, tenant_id=tenant, moment_us=time) is expected


@given(SCOPES, SCOPES)
def test_scopes_overlap_where_a_reader_is_inside_both(first, second):
    """Two scopes overlap exactly if some reader is inside both, in either order."""
    common = any(inside(first, reader) and inside(second, reader) for reader in READERS)
    assert overlap(first, second) is overlap(second, first)
    if common:
        assert overlap(first, second)
    elif all(scope.from_us is None or scope.to_us is None or scope.from_us <= scope.to_us for scope in (first, second)):
        assert not overlap(first, second)
