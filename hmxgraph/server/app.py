"""The ASGI application: routes for every operation, health, metrics, OpenAPI and MCP."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

import hmxgraph
from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import HmxGraphError, MalformedJson
from hmxgraph.protocol.lenient import parse_any
from hmxgraph.server import openapi
from hmxgraph.server.edge import Edge
from hmxgraph.server.guard import Guard, RateLimit, check_scope
from hmxgraph.server.observing import LOGGER, Exchange, Metrics, log_defect
from hmxgraph.server.operations import OPERATIONS, Call, Operation, Shared
from hmxgraph.server.tenants import Tenants, UsageTally
from hmxgraph.server.wire import Json, Refusal, failure, success

# Maximum number of threads that run operations at once. Each uses a connection of the driver's pool meanwhile.
_THREADS = 64
# Seconds between two writes of the usage counters to the database.
_SECONDS_BETWEEN_STORES = 5.0
# If a body is too large, at most this many more bytes are read and discarded. A client that is still sending when the
# connection is closed would see a broken pipe instead of the error response.
_MOST_DISCARDED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a server.

    ``rate`` is the number of requests per second for each key (0: no limit), ``burst`` the number that a key may make
    at once, ``body_bytes`` the maximum size of a request body except for MCP.
    """

    rate: float = 100.0
    burst: int = 200
    body_bytes: int = 8 << 20


def application(root: KnowledgeGraph, limits: Limits, mount_factory: "MountFactory | None" = None) -> ASGIApp:
    """The server for the graph *root*, which it closes on shutdown; *mount_factory* adds routes, such as MCP's."""
    shared = Shared(Tenants(root), UsageTally(), Metrics())
    routes: list[BaseRoute] = [Route(openapi.PREFIX + "/health", _health(shared)), Route("/health", _health(shared))]
    routes += [
        Route("/metrics", _metrics(shared)),
        Route("/openapi.json", _openapi_document),
        Route("/docs", _operations_page),
    ]
    routes += [_route(shared, operation, limits) for operation in OPERATIONS]
    mount = mount_factory(shared) if mount_factory else None
    if mount:
        routes += mount.routes
    app = Starlette(
        routes=routes,
        lifespan=_lifespan(shared, mount.running if mount else None),
        exception_handlers={
            HTTPException: _http_error_response,
            Refusal: _refusal_response,
            HmxGraphError: _engine_error_response,
            Exception: _defect_response,
        },
    )
    return Edge(app, Guard(root.keys.find), RateLimit(limits.rate, limits.burst), shared.metrics)


@dataclass(frozen=True, slots=True)
class Mount:
    """Additional routes, and the context manager that must be open while they are served."""

    routes: list[BaseRoute]
    running: Callable[[], Any]


MountFactory = Callable[[Shared], Mount]


# Startup and shutdown.


def _lifespan(shared: Shared, running: Callable[[], Any] | None) -> Callable[[Starlette], Any]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = _THREADS
        async with AsyncExitStack() as stack:
            if running is not None:
                await stack.enter_async_context(running())
            store_task = asyncio.create_task(_store_repeatedly(shared))
            try:
                yield
            finally:
                store_task.cancel()
                with suppress(asyncio.CancelledError):
                    await store_task
                await run_in_threadpool(_store_once, shared)
                await run_in_threadpool(shared.tenants.close)

    return lifespan


async def _store_repeatedly(shared: Shared) -> None:
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN_STORES)
        await run_in_threadpool(_store_once, shared)


def _store_once(shared: Shared) -> None:
    """Store the usage counters; if that fails, they are kept for the next attempt."""
    try:
        shared.tally.store(shared.tenants)
    except HmxGraphError as error:
        LOGGER.warning("usage counters not stored yet", extra={"fields": {"error": type(error).__name__}})
    except Exception as error:  # noqa: BLE001 - logged and tried again: one failure must not end the counting
        log_defect(error, task="usage counters")


# Operations as endpoints.


def _route(shared: Shared, operation: Operation, limits: Limits) -> Route:
    async def endpoint(request: Request) -> Response:
        exchange = exchange_of(request)
        exchange.route = openapi.PREFIX + operation.path
        key = exchange.key
        assert key is not None, "the edge admits no request without a key"
        check_scope(key, operation.scope)
        raw, body = await _validated(request, operation, limits.body_bytes)
        call = Call(shared, key, body, raw, request.path_params)
        data = await run_in_threadpool(operation.run, call)
        return success(data, exchange.meta())

    return Route(openapi.PREFIX + operation.path, endpoint, methods=[operation.method], name=operation.operation_id)


def exchange_of(request: Request) -> Exchange:
    """The :class:`Exchange` of a request, which :class:`Edge` created when the request arrived."""
    exchange: Exchange = request.scope["state"]["exchange"]
    return exchange


async def _validated(request: Request, operation: Operation, most_bytes: int) -> tuple[dict[str, Any], Any]:
    """The request body as sent, and as a validated instance of the operation's model; None if it has no model.

    For GET, the query parameters that are not empty take the place of the body.
    """
    if operation.method == "GET":
        raw: dict[str, Any] = {name: value for name, value in request.query_params.items() if value}
    else:
        raw = await run_in_threadpool(_json_object, await _body(request, most_bytes))
    if operation.request_model is None:
        return raw, None
    try:
        return raw, operation.request_model.model_validate(raw)
    except ValidationError as error:
        details = [{"path": _path(fault["loc"]), "message": fault["msg"]} for fault in error.errors()]
        message = "; ".join(f"{detail['path']}: {detail['message']}" for detail in details[:5])
        raise Refusal(422, message, details=details) from error


def _path(steps: tuple[int | str, ...]) -> str:
    """The JSON path of a fault in a request body.

    >>> _path(("events", 3, "type"))
    '$.events[3].type'
    """
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in steps)


def _json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in *body*; an empty body counts as an empty object."""
    try:
        value, _ = parse_any(body or b"{}")
    except MalformedJson as error:
        raise Refusal(422, str(error), details=[{"path": "$", "message": str(error)}]) from error
    if not isinstance(value, dict):
        raise Refusal(422, f"$: found {type(value).__name__}, expected an object")
    return value


async def _body(request: Request, most_bytes: int) -> bytes:
    """The body of a request.

    Raises:
        Refusal: the body has more than *most_bytes*; it is raised after the body was read to its end or to a limit.

    """
    size, parts = 0, []
    async for part in request.stream():
        size += len(part)
        if size > most_bytes + _MOST_DISCARDED_BYTES:
            break
        if size <= most_bytes:
            parts.append(part)
    if size > most_bytes:
        reason = f"the body has {size} bytes or more, at most {most_bytes} are accepted; send fewer events at once"
        raise Refusal(413, reason)
    return b"".join(parts)


# Other endpoints.


def _health(shared: Shared) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        exchange_of(request).route = "/health"
        await run_in_threadpool(shared.tenants.root.health)
        return success({"status": "ok", "version": hmxgraph.__version__}, exchange_of(request).meta())

    return endpoint


def _metrics(shared: Shared) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        exchange_of(request).route = "/metrics"
        return Response(shared.metrics.text(), media_type="text/plain; version=0.0.4")

    return endpoint


async def _openapi_document(request: Request) -> Response:
    exchange_of(request).route = "/openapi.json"
    return Json(openapi.document())


async def _operations_page(request: Request) -> Response:
    exchange_of(request).route = "/docs"
    return HTMLResponse(openapi.page())


# Errors.


def _refusal_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return failure(error, exchange_of(request).meta())


def _engine_error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, HmxGraphError)
    if Refusal.of(error).status >= 500:
        LOGGER.warning("the engine failed", extra={"fields": {"error": type(error).__name__, "code": error.code}})
    return failure(Refusal.of(error), exchange_of(request).meta())


def _http_error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "no such path", 405: f"this path does not support {request.method}"}
    message = messages.get(error.status_code, error.detail)
    refusal = Refusal(error.status_code, message, headers=dict(error.headers or {}))
    return failure(refusal, exchange_of(request).meta())


def _defect_response(request: Request, _error: Exception) -> Response:
    """The response to an unexpected error; Starlette then re-raises the error, and `Edge` logs it."""
    return failure(Refusal.defect(), exchange_of(request).meta())
