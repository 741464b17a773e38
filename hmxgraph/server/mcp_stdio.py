"""MCP over standard input and output, for a single client; the command line sets its tenant and agent."""

import logging
import os
from collections.abc import AsyncIterable, Awaitable, Callable
from time import time_ns
from typing import Any, TextIO

import anyio
from anyio.abc import ObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse
from pydantic import ValidationError

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.protocol.access import SCOPES, ApiKey
from hmxgraph.server.mcp_tools import authorized, memory_server

_log = logging.getLogger(__name__)


def run(graph: KnowledgeGraph, agent_id: str, user_id: str | None = None) -> None:
    """Serve *graph* on behalf of *agent_id*, which works for *user_id*, until standard input ends."""
    key = ApiKey("stdio", graph.tenant_id, SCOPES, label="", agent_id=agent_id, created_us=time_ns() // 1_000)
    server = memory_server(lambda _ctx, scope: authorized(graph, key, scope, user_id))
    try:
        anyio.run(_serve, server)
    except* BrokenPipeError:
        _log.info("the client has gone")


# This module changes two behaviours of the SDK. The SDK drops lines that are no messages, and reads invalid UTF-8 as
# U+FFFD; here, such lines are answered with an error. And when the input ends, the SDK cancels unanswered calls, such
# as the last ones of a script that pipes its messages in; here, they are completed.


async def _serve(server: MCPServer[Any]) -> None:
    """Serve the client until its input has ended and all its calls are answered."""
    standard_streams = stdio_server(anyio.wrap_file(_take_over_stdin()))
    async with standard_streams as (lines, output), output, anyio.create_task_group() as tasks:
        to_server, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_client, answers = anyio.create_memory_object_stream[SessionMessage](0)
        requests = _OpenRequests()
        tasks.start_soon(_forward_messages, lines, to_server, to_client.clone(), requests)
        tasks.start_soon(_forward_answers, answers, output.send, requests)
        # An `MCPServer` creates its own streams; only the low-level server inside it accepts others.
        lowlevel_server = server._lowlevel_server  # noqa: SLF001
        await lowlevel_server.run(messages, to_client, lowlevel_server.create_initialization_options())


class _OpenRequests:
    """Counts the requests that are not yet answered or cancelled."""

    def __init__(self) -> None:
        self._open_count = 0
        self._all_closed = anyio.Event()

    def opened(self, request: JSONRPCRequest) -> SessionMessage:
        """Count *request* as open, and return it as a message."""
        if not self._open_count:
            self._all_closed = anyio.Event()
        self._open_count += 1
        return SessionMessage(request, metadata=ServerMessageMetadata(on_request_unanswered=self.close))

    async def close(self) -> None:
        """Count one open request less, because it was answered or cancelled."""
        self._open_count -= 1
        if not self._open_count:
            self._all_closed.set()

    async def wait_closed(self) -> None:
        """Wait until no request is open; this ends, because each call has a deadline."""
        if self._open_count:
            await self._all_closed.wait()


def _take_over_stdin() -> TextIO:
    """The standard input, taken over: all other code in this process that reads standard input gets the null device."""
    own_descriptor, null_device = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_device, 0)
    os.close(null_device)
    return os.fdopen(own_descriptor, encoding="utf-8", errors="surrogateescape", closefd=False)


async def _forward_messages(
    lines: AsyncIterable[SessionMessage | Exception],
    to_server: ObjectSendStream[SessionMessage | Exception],
    to_client: ObjectSendStream[SessionMessage],
    requests: _OpenRequests,
) -> None:
    """Forward messages to the server, and answer other lines with errors; then wait until all calls are answered."""
    async with to_server, to_client:
        async for item in lines:
            if isinstance(item, ValidationError):
                if error := _refusal(item):
                    await to_client.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
            elif isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCRequest):
                await to_server.send(requests.opened(item.message))
            else:
                await to_server.send(item)
        await requests.wait_closed()


async def _forward_answers(
    answers: AsyncIterable[SessionMessage],
    send: Callable[[SessionMessage], Awaitable[None]],
    requests: _OpenRequests,
) -> None:
    """Forward each message of the server to the client; an answer closes its request."""
    async for answer in answers:
        await send(answer)
        if isinstance(answer.message, JSONRPCResponse | JSONRPCError) and answer.message.id is not None:
            await requests.close()


def _refusal(error: ValidationError) -> ErrorData | None:
    """The JSON-RPC error for a line that is no message; None for a blank line, because some clients send these."""
    fault = error.errors(include_url=False)[0]
    if fault["type"] == "string_unicode":
        return ErrorData(code=PARSE_ERROR, message="Parse error: the line is not valid UTF-8; nothing was done")
    if fault["type"] == "json_invalid":
        message = f"Parse error: {fault['msg']}; nothing was done"
        return ErrorData(code=PARSE_ERROR, message=message) if fault["input"].strip() else None
    return ErrorData(code=INVALID_REQUEST, message="Invalid Request: the line is no JSON-RPC message; nothing was done")
