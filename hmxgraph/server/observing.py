"""Observability: a JSON log line for each request, and Prometheus metrics; neither contains contents of requests."""

import logging
import sys
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from uuid import uuid4

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from hmxgraph.protocol.access import ApiKey

LOGGER = logging.getLogger("hmxgraph.server")
# Upper bounds, in seconds, of the buckets in the histogram of response times.
_BUCKET_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


@dataclass(slots=True)
class Exchange:
    """A request and its response, without their contents; ``status`` is 0 until the response begins."""

    method: str
    request_id: str = field(default_factory=lambda: str(uuid4()))
    started: float = field(default_factory=perf_counter)
    route: str = "unmatched"
    status: int = 0
    key: ApiKey | None = None

    @property
    def milliseconds(self) -> float:
        """The milliseconds since the request arrived."""
        return round((perf_counter() - self.started) * 1_000, 3)

    def meta(self) -> dict[str, Any]:
        """The field ``meta`` of the response's envelope."""
        tenant = self.key.tenant_id if self.key else None
        return {"requestId": self.request_id, "tenantId": tenant, "durationMs": self.milliseconds}


class Metrics:
    """The metrics of one server process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("hmxgraph_requests", "Answered requests.", labels, registry=self._registry)
        self._seconds = Histogram(
            "hmxgraph_request_seconds", "Time to answer.", ("route",), registry=self._registry, buckets=_BUCKET_SECONDS
        )
        self.in_flight = Gauge("hmxgraph_requests_in_flight", "Requests being answered.", registry=self._registry)
        self._events = Counter("hmxgraph_events", "Captured events by outcome.", ("status",), registry=self._registry)

    def count_request(self, exchange: Exchange) -> None:
        """Count an answered request and its duration."""
        self._requests.labels(exchange.method, exchange.route, str(exchange.status)).inc()
        self._seconds.labels(exchange.route).observe(exchange.milliseconds / 1_000)

    def count_events(self, status: str, number: int) -> None:
        """Count events by outcome."""
        self._events.labels(status).inc(number)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


def log_request(exchange: Exchange) -> None:
    """Log one answered request: its route, tenant, key and duration, but none of its contents."""
    key = exchange.key
    LOGGER.info(
        "request",
        extra={
            "fields": {
                "request_id": exchange.request_id,
                "method": exchange.method,
                "route": exchange.route,
                "status": exchange.status,
                "ms": exchange.milliseconds,
                "tenant": key.tenant_id if key else None,
                "key_id": key.key_id if key else None,
            }
        },
    )


def log_defect(error: BaseException, **fields: Any) -> None:
    """Log an unexpected error: its type and the last six source lines of its traceback.

    Its message is not logged, because it could quote contents of the request.
    """
    trace, locations = error.__traceback__, []
    while trace is not None:
        locations.append(f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    LOGGER.error("unexpected error", extra={"fields": {**fields, "error": type(error).__name__, "at": locations[-6:]}})


class JsonLines(logging.Formatter):
    """One JSON object per log record."""

    def format(self, record: logging.LogRecord) -> str:
        """The JSON object for a log record: time, level, logger and message, then the record's own fields."""
        fields: dict[str, Any] = getattr(record, "fields", {})
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        return orjson.dumps(line | fields).decode()


def log_as_json() -> None:
    """Write the log of the server and its libraries as JSON lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("hmxgraph.server", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.INFO)
