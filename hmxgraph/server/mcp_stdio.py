"""MCP over standard input and output: a single client, whose tenant and agent the command line sets."""

import os
from collections.abc import AsyncIterable, Awaitable, Callable
from time import time_ns
from typing import Any, TextIO

import anyio
from anyio.abc import ObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.protocol.access import SCOPES, ApiKey
from hmxgraph.server.mcp_tools import authorized, memory_server


def run(graph: KnowledgeGraph, agent_id: str) -> None:
    """Serve *graph* on behalf of *agent_id* until standard input ends."""
    key = ApiKey("stdio", graph.tenant_id, SCOPES, label="", agent_id=agent_id, created_us=time_ns() // 1_000)
    anyio.run(_serve, memory_server(lambda _ctx, scope: authorized(graph, key, scope)))


# The SDK drops lines that are no messages, and stores U+FFFD for bytes that are not UTF-8.


async def _serve(server: MCPServer[Any]) -> None:
    """Serve one client; lines that are no messages are answered with an error."""
    async with stdio_server(anyio.wrap_file(_own_stdin())) as (lines, answers), anyio.create_task_group() as tasks:
        forward, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        tasks.start_soon(_forward_messages, lines, forward, answers.send)
        # Only the server inside accepts streams.
        inner = server._lowlevel_server  # noqa: SLF001
        await inner.run(messages, answers, inner.create_initialization_options())


def _own_stdin() -> TextIO:
    """The lines of standard input, which is empty for everything else in this process and its children."""
    wire, null_device = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_device, 0)
    os.close(null_device)
    return os.fdopen(wire, encoding="utf-8", errors="surrogateescape", closefd=False)


async def _forward_messages(
    lines: AsyncIterable[SessionMessage | Exception],
    forward: ObjectSendStream[SessionMessage | Exception],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    async with forward:
        async for item in lines:
            if not isinstance(item, ValidationError):
                await forward.send(item)
            elif error := _refusal(item):
                await answer(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))


def _refusal(error: ValidationError) -> ErrorData | None:
    """The JSON-RPC error for a line that is no message; None for a blank line, which some clients send."""
    fault = error.errors(include_url=False)[0]
    if fault["type"] == "string_unicode":
        return ErrorData(code=PARSE_ERROR, message="Parse error: the line is not valid UTF-8; nothing was done")
    if fault["type"] == "json_invalid":
        message = f"Parse error: {fault['msg']}; nothing was done"
        return ErrorData(code=PARSE_ERROR, message=message) if fault["input"].strip() else None
    return ErrorData(code=INVALID_REQUEST, message="Invalid Request: the line is no JSON-RPC message; nothing was done")
