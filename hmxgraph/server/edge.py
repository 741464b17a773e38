"""The outermost layer of the server: authenticates, limits and logs requests, and answers unexpected errors."""

from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hmxgraph.errors import HmxGraphError, KeyRefused
from hmxgraph.server.guard import Guard, RateLimit
from hmxgraph.server.observing import Exchange, Metrics, log_defect, log_request
from hmxgraph.server.wire import Refusal, failure

OPEN_PATHS = frozenset({"/health", "/v1/health", "/metrics", "/openapi.json", "/docs"})
# Every 401 response must have this header (RFC 9110 15.5.2).
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


class Edge:
    """The outermost ASGI application: checks the key and rate of each request, passes it on, and logs it.

    Requests to ``OPEN_PATHS`` need no key and have no rate limit. An unexpected error becomes a response with status
    500.
    """

    def __init__(self, app: ASGIApp, guard: Guard, limit: RateLimit, metrics: Metrics) -> None:
        self._app, self._guard, self._limit, self._metrics = app, guard, limit, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope["method"])
        scope.setdefault("state", {})["exchange"] = exchange

        async def send_observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = exchange.request_id
            await send(message)

        with self._metrics.in_flight.track_inprogress():
            await self._answer(exchange, scope, receive, send_observed)
        self._metrics.count_request(exchange)
        log_request(exchange)

    async def _answer(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["path"] not in OPEN_PATHS:
                await self._admit(exchange, scope)
            await self._app(scope, receive, send)
        except Refusal as refusal:
            await failure(refusal, exchange.meta())(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - nothing else would log the error and answer the client
            log_defect(error, request_id=exchange.request_id, route=exchange.route)
            if not exchange.status:
                await failure(Refusal.defect(), exchange.meta())(scope, receive, send)

    async def _admit(self, exchange: Exchange, scope: Scope) -> None:
        """Authenticate a request by its key, and count it towards the rate limit of that key.

        A request without a valid key counts towards the limit of the client's address.

        Raises:
            Refusal: there is no valid key, the rate limit is exceeded, or keys cannot be looked up.

        """
        authorization = Headers(scope=scope).get("authorization")
        client = scope.get("client") or ("unknown", 0)
        try:
            exchange.key = await run_in_threadpool(self._guard.key, authorization)
        except KeyRefused as error:
            self._limit.check(f"without key {client[0]}")
            raise Refusal(HTTPStatus.UNAUTHORIZED, str(error), headers=_CHALLENGE) from error
        except HmxGraphError as error:
            raise Refusal.of(error) from error
        self._limit.check(exchange.key.key_id)
