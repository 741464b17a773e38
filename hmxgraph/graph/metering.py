"""The cost of one graph object's operations: times, sizes, refusals (``memory.metrics`` of the memd specification)."""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any, Protocol, TypeVar

import orjson

from hmxgraph.errors import HmxGraphError
from hmxgraph.graph.plan import Plan, PlanFactory, Procedure, Work

# Number of latest calls that are kept.
MOST_CALLS = 200
_BYTES_PER_TOKEN = 4


class Result(Protocol):
    """The result of an operation, which can be written as JSON."""

    def document(self) -> Mapping[str, Any]:
        """The value as a JSON-able dict."""
        ...


R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Call:
    """One completed operation: its duration, and the sizes of request and answer as JSON."""

    operation: str
    milliseconds: float
    request_bytes: int
    response_bytes: int

    @property
    def tokens(self) -> int:
        """The estimated tokens that request and answer cost the agent: four bytes per token, rounded up."""
        return tokens(self.request_bytes + self.response_bytes)


def tokens(size: int) -> int:
    """The estimated number of tokens in *size* bytes, rounded up.

    >>> tokens(9)
    3
    """
    return -(-size // _BYTES_PER_TOKEN)


@dataclass(slots=True)
class Meter:
    """Counts calls and refusals, from any thread; keeps the last 200 calls."""

    clock: Callable[[], float] = perf_counter
    calls: deque[Call] = field(default_factory=lambda: deque(maxlen=MOST_CALLS))
    rejections: Counter[str] = field(default_factory=Counter)
    totals: dict[str, Counter[str]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def measured(self, operation: str, request: Mapping[str, Any], procedure: Procedure[R]) -> Procedure[R]:
        """The value of *procedure*, counted under *operation*; a refusal is counted by operation and error name."""
        began = self.clock()
        try:
            value = yield from self._watched(operation, procedure)
        except HmxGraphError as error:
            self._refuse(operation, error)
            raise
        self._count(Call(operation, (self.clock() - began) * 1000, _size(request), _size(value.document())))
        return value

    def latencies(self) -> dict[str, dict[str, float]]:
        """Milliseconds of the last calls by operation: ``p50``, ``p95`` and ``max``."""
        by_operation: dict[str, list[float]] = {}
        for call in self._recent():
            by_operation.setdefault(call.operation, []).append(call.milliseconds)
        return {name: _percentiles(sorted(times)) for name, times in sorted(by_operation.items())}

    def token_usage(self) -> dict[str, Any]:
        """Calls, bytes and estimated tokens by operation, and the tokens of each of the last calls."""
        with self.lock:
            counts = {name: dict(count) for name, count in sorted(self.totals.items())}
        totals = {
            name: {**count, "tokens": tokens(count["request_bytes"] + count["response_bytes"])}
            for name, count in counts.items()
        }
        recent = [{"operation": call.operation, "tokens": call.tokens} for call in self._recent()]
        return {"by_operation": totals, "recent": recent}

    def _watched(self, operation: str, procedure: Procedure[R]) -> Procedure[R]:
        """*procedure*, with the errors of its plans counted.

        They are raised where the plans run, so they never pass through *procedure*.
        """
        answer: Any = None
        while True:
            try:
                work = procedure.send(answer)
            except StopIteration as stop:
                value: R = stop.value
                return value
            if isinstance(work, Work):
                work = Work(work.mode, partial(self._plan, operation, work.factory))
            answer = yield work

    def _plan(self, operation: str, factory: PlanFactory[Any]) -> Plan[Any]:
        try:
            return (yield from factory())
        except HmxGraphError as error:
            self._refuse(operation, error)
            raise

    def _refuse(self, operation: str, error: HmxGraphError) -> None:
        with self.lock:
            self.rejections[f"{operation}: {type(error).__name__}"] += 1

    def _count(self, call: Call) -> None:
        with self.lock:
            self.calls.append(call)
            count = self.totals.setdefault(call.operation, Counter())
            count.update(calls=1, request_bytes=call.request_bytes, response_bytes=call.response_bytes)

    def _recent(self) -> list[Call]:
        with self.lock:
            return list(self.calls)


def _size(document: Mapping[str, Any]) -> int:
    return len(orjson.dumps(document))


def _percentiles(times: list[float]) -> dict[str, float]:
    def at(share: float) -> float:
        return round(times[min(len(times) - 1, int(share * len(times)))], 3)

    return {"p50": at(0.5), "p95": at(0.95), "max": round(times[-1], 3)}
