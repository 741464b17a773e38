"""Access control: API keys, their scopes, and their request rates."""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, time_ns

from hmxgraph.errors import KeyRefused
from hmxgraph.graph.access import secret_hash
from hmxgraph.protocol.access import ApiKey
from hmxgraph.server.wire import Refusal

# Lookups are cached for this time, so a revoked key may be accepted for this much longer.
KEY_CACHE_SECONDS = 2.0
# Maximum number of cached keys, and of token buckets.
_MOST_CACHED = 10_000
_WAY_OUT = "create a key with hmxgraph key create and send it as Authorization: Bearer <key>"


class RateLimit:
    """A rate limit with a token bucket for each name: *rate* requests per second, at most *burst* of them at once.

    A rate of 0 means no limit.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str) -> float:
        """Count a request; return 0 if it is allowed, else the seconds after which it would be.

        >>> limit = RateLimit(2, 1, lambda: 7.0)
        >>> limit.wait("a"), limit.wait("a"), limit.wait("b")
        (0.0, 0.5, 0.0)
        """
        if not self._rate:
            return 0.0
        now = self._clock()
        with self._lock:
            level, last_update = self._buckets.pop(name, (float(self._burst), now))
            level = min(float(self._burst), level + (now - last_update) * self._rate)
            allowed = level >= 1
            self._buckets[name] = (level - 1 if allowed else level, now)
            if len(self._buckets) > _MOST_CACHED:
                self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self._rate

    def check(self, name: str) -> None:
        """Count a request, and refuse it if the limit is exceeded.

        Raises:
            Refusal: the limit is exceeded (status 429); a header states the seconds to wait.

        """
        if seconds := self.wait(name):
            message = f"too many requests; try again in {math.ceil(seconds)} s"
            raise Refusal(429, message, headers={"Retry-After": str(math.ceil(seconds))})


@dataclass(frozen=True, slots=True)
class _CachedKey:
    """The cached result of a lookup (None: unknown key), valid until a time of the clock `monotonic`."""

    key: ApiKey | None
    valid_until: float


class Guard:
    """Looks up and checks API keys, which *find* finds by their secret; results are cached briefly. Thread-safe."""

    def __init__(self, find: Callable[[str], ApiKey | None]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, _CachedKey] = OrderedDict()

    def key(self, authorization: str | None) -> ApiKey:
        """The active key in an ``Authorization`` header.

        Raises:
            KeyRefused: there is no key in the header, or it is unknown, revoked or expired.

        """
        kind, _, secret = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise KeyRefused("this request has no API key", _WAY_OUT)
        api_key = self._lookup(secret.strip())
        if api_key is None:
            raise KeyRefused("unknown API key", _WAY_OUT)
        standing = api_key.standing(time_ns() // 1_000)
        if standing != "active":
            raise KeyRefused(f"API key {api_key.key_id} is {standing}", _WAY_OUT)
        return api_key

    def _lookup(self, secret: str) -> ApiKey | None:
        now, hashed = monotonic(), secret_hash(secret)
        with self._lock:
            cached = self._cached.get(hashed)
        if cached is not None and now < cached.valid_until:
            return cached.key
        key = self._find(secret)
        with self._lock:
            self._cached[hashed] = _CachedKey(key, now + KEY_CACHE_SECONDS)
            if len(self._cached) > _MOST_CACHED:
                self._cached.popitem(last=False)
        return key


def check_scope(key: ApiKey, scope: str) -> None:
    """Check that *key* has *scope*.

    Raises:
        KeyRefused: the key lacks *scope*.

    """
    if scope not in key.scopes:
        reason = f"API key {key.key_id} has no scope {scope!r}"
        raise KeyRefused(reason, f"create a key with hmxgraph key create --scope {scope}")
