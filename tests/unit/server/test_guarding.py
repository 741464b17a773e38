"""Keys, rates and usage counters: pure parts of the server."""

import pytest

from hmxgraph.errors import (
    AccessDenied,
    AlreadySuperseded,
    Fault,
    InvalidDocument,
    JavaMissing,
    KeyRefused,
    NewerStore,
    NotFound,
    StatementRefused,
    StorageUnavailable,
    UnsupportedVersion,
)
from hmxgraph.graph.connection import WriteCount
from hmxgraph.graph.plan import Work
from hmxgraph.protocol.access import ApiKey
from hmxgraph.protocol.usage import HOUR_US
from hmxgraph.server import guard as guarding
from hmxgraph.server.guard import Guard, RateLimit, check_scope
from hmxgraph.server.tenants import UsageTally
from hmxgraph.server.wire import Refusal

KEY = ApiKey("k1", "acme", ("read",), "", "ops", 0)


def test_a_bucket_fills_with_time():
    """A burst is allowed at once, then one request for each part of a second, up to the burst again."""
    now = [0.0]
    limit = RateLimit(rate=2, burst=3, clock=lambda: now[0])
    assert [limit.wait("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    now[0] = 0.5
    assert [limit.wait("a"), limit.wait("a")] == [0.0, 0.5]
    now[0] = 100.0
    assert [limit.wait("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    with pytest.raises(Refusal) as refused:
        limit.check("a")
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "1"})


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer  ", "Basic abc", "hmx_abc"])
def test_a_request_without_a_key_is_refused(header):
    """Only a bearer key is a key."""
    with pytest.raises(KeyRefused, match="has no API key"):
        Guard(lambda _secret: KEY).key(header)


def test_a_key_is_looked_up_again_after_a_moment(monkeypatch):
    """A revoked key is refused as soon as its cached look-up expires."""
    now = [0.0]
    monkeypatch.setattr(guarding, "monotonic", lambda: now[0])
    stored = [KEY]
    guard = Guard(lambda _secret: stored[-1])
    assert guard.key("Bearer hmx_a") == KEY
    stored.append(ApiKey("k1", "acme", ("read",), "", "ops", 0, revoked_us=1))
    assert guard.key("bearer hmx_a") == KEY
    now[0] = guarding.KEY_CACHE_SECONDS
    with pytest.raises(KeyRefused, match="k1 is revoked"):
        guard.key("Bearer hmx_a")


def test_scopes_are_checked():
    """A key for reading does not write."""
    check_scope(KEY, "read")
    with pytest.raises(KeyRefused, match="no scope 'write'"):
        check_scope(KEY, "write")


def test_counts_that_could_not_be_stored_are_kept():
    """Counts that could not be stored are added to later counts."""

    class Refusing:
        def graph(self, tenant_id):
            raise StorageUnavailable("bolt://db", f"down for {tenant_id}")

    tally = UsageTally(lambda: HOUR_US + 1)
    tally.count("acme", ingested=2)
    tally.count("other", errors=1)
    with pytest.raises(StorageUnavailable):
        tally.store(Refusing())
    tally.count("acme", ingested=3, syntheses=1)
    take_all = tally.take_all()
    assert [(hour.hour_us, hour.ingested, hour.syntheses) for hour in take_all["acme"]] == [(HOUR_US, 5, 1)]
    assert [hour.errors for hour in take_all["other"]] == [1]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFound("artifact", "a"), 404, "not_found"),
        (InvalidDocument("event", "e", (Fault("$.type", "HMX-E 5", "1", "text"),)), 422, "validation_error"),
        (AlreadySuperseded("a", "b"), 409, "conflict"),
        (KeyRefused("no", "way"), 403, "forbidden"),
        (UnsupportedVersion("version", "9", "1"), 501, "not_implemented"),
        (StorageUnavailable("bolt://secret:7687", "down"), 503, "unavailable"),
        (AccessDenied("bolt://secret:7687", "wrong"), 503, "unavailable"),
        (NewerStore(9, "9.9", 3), 500, "internal_error"),
        (StatementRefused("events/secret", "Neo.x", "boom"), 500, "internal_error"),
    ],
)
def test_errors_have_a_status_and_hide_the_inside(error, status, code):
    """Clients see errors that they can act on, but no addresses, statements or versions."""
    refusal = Refusal.of(error)
    assert (refusal.status, refusal.code) == (status, code)
    assert refusal.message
    assert "secret" not in refusal.message
    assert "9.9" not in refusal.message


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (StorageUnavailable("bolt://secret:7687", "down"), "nothing of this request was stored"),
        (StorageUnavailable("bolt://secret:7687", "down", "unknown"), "is unknown; repeat it"),
        (
            StorageUnavailable("bolt://db", "down", stored="2 steps were stored"),
            "2 steps were stored, the rest was not",
        ),
        (JavaMissing("secret", "way"), "nothing of this request was stored"),
    ],
)
def test_errors_say_what_was_stored(error, outcome):
    """Clients learn what became of a request that failed, and whether to repeat it."""
    assert outcome in Refusal.of(error).message
    assert "secret" not in Refusal.of(error).message


def _nothing():
    yield from ()


@pytest.mark.parametrize(
    ("steps", "told"), [(1, "1 earlier step of this call was"), (2, "2 earlier steps of this call were")]
)
def test_steps_that_a_call_stored_before_are_part_of_the_sentence(steps, told):
    """Clients read one sentence, whatever part of it the connection wrote."""
    writes, error = WriteCount(), StorageUnavailable("bolt://db", "down")
    for _ in range(steps):
        writes.counted(lambda _work: None)(Work("write", _nothing))
    writes.counted(lambda _work: None)(Work("read", _nothing))
    writes.add_to(error)
    assert f"{told} stored, the rest was not" in Refusal.of(error).message
