"""Our own calls as spans, where opentelemetry-api is installed: what an agent asks of memory stands in its traces.

A span says which call it was, how long it took and with which error it failed; never what was asked or stored.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import hmxgraph

# The operation, in the words of OpenTelemetry's conventions, and the method for each procedure behind it.
_CALLS = {
    "pack": ("search_memory", "pack"),
    "suggest_for_session": ("search_memory", "suggest"),
    "suggest_for_events": ("search_memory", "suggest"),
    "record": ("update_memory", "record"),
    "append_one": ("update_memory", "append"),
    "ingest": ("update_memory", "ingest"),
    "remember": ("update_memory", "remember"),
    "compile_tenant": ("update_memory", "compile"),
}
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def untraced() -> Iterator[None]:
    """Make no spans in the block: what stores spans must not make new ones."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


@contextmanager
def span_of(procedure: str) -> Iterator[None]:
    """A span around the block for a public call; nothing for other procedures, or without opentelemetry-api."""
    trace = _trace() if procedure in _CALLS and not _quiet.get() else None
    if trace is None:
        yield
        return
    operation, method = _CALLS[procedure]
    attributes = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "hmxgraph", "hmxgraph.call": method}
    tracer = trace.get_tracer("hmxgraph", hmxgraph.__version__)
    with tracer.start_as_current_span(
        f"{operation} {method}",
        kind=trace.SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,  # its message may quote what was asked
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


@cache
def _trace() -> Any:
    try:
        from opentelemetry import trace  # noqa: PLC0415 - optional
    except ImportError:
        return None
    return trace
