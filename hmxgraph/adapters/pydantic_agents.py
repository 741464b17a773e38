"""Pydantic AI: a capability that gives each run a context pack for its prompt, and records the run."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import RunContext  # pyright: ignore[reportMissingImports]
from pydantic_ai.capabilities import AbstractCapability  # pyright: ignore[reportMissingImports]
from pydantic_ai.messages import (  # pyright: ignore[reportMissingImports]
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from hmxgraph.adapters._chat import FORMAT, Item, call_item, message_item, result_item
from hmxgraph.api.graph import KnowledgeGraph


@dataclass
class HmxMemory(AbstractCapability[Any]):
    """A capability over *graph*: ``Agent(model, capabilities=[HmxMemory(graph, user_id="ana")])``.

    Each run, even one that fails, is recorded in the session *session_id* or, if that is None, in a session named after
    the conversation. The pack is read once per run and is not recorded. Do not set *known* (the pack) and *history*
    (the messages of the run so far): the capability sets them.
    """

    graph: KnowledgeGraph
    session_id: str | None = None
    user_id: str | None = None
    budget: int = 1024
    known: str = ""
    history: Sequence[ModelMessage] = ()

    async def for_run(self, ctx: RunContext[Any]) -> "HmxMemory":
        """A copy of the capability for one run, with the pack for its prompt."""
        prompt = _words(ctx.prompt)
        if not prompt:
            return replace(self, known="")
        options: Any = {"budget": self.budget, "session_id": self._session(ctx), "user_id": self.user_id}
        pack = await asyncio.to_thread(self.graph.pack, prompt, **options)
        return replace(self, known=pack.prompt)

    def get_instructions(self) -> str | None:
        """The pack, between markers; None for a run without a prompt."""
        return self.known or None

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Keep a reference to the messages of the run, because ``on_run_error`` does not receive them."""
        self.history = ctx.messages
        return request_context

    async def after_run(self, ctx: RunContext[Any], *, result: Any) -> Any:
        """Record the messages of a successful run."""
        await self._record(ctx, result.new_messages())
        return result

    async def on_run_error(self, ctx: RunContext[Any], *, error: BaseException) -> Any:
        """Record the messages of a run until it failed, and re-raise the error."""
        await self._record(ctx, [message for message in self.history if message.run_id == ctx.run_id])
        raise error

    async def _record(self, ctx: RunContext[Any], messages: Iterable[ModelMessage]) -> None:
        items = list(chat_items(messages))
        if not items:
            return
        author: Any = {"user_id": self.user_id, "agent_id": getattr(ctx.agent, "name", None) or "pydantic-ai"}
        key = f"pydantic-ai {ctx.run_id}" if ctx.run_id else None
        await asyncio.to_thread(
            self.graph.record, items, session_id=self._session(ctx), format=FORMAT, idempotency_key=key, **author
        )

    def _session(self, ctx: RunContext[Any]) -> str:
        return self.session_id or ctx.conversation_id or ctx.run_id or "pydantic-ai"


def chat_items(messages: Iterable[ModelMessage]) -> Iterator[Item]:
    """The messages, tool calls and results of a run, without instructions and thinking."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart) and (text := _words(part.content)):
                yield message_item("user", text)
            elif isinstance(part, TextPart) and part.content:
                yield message_item("assistant", part.content)
            elif isinstance(part, ToolCallPart):
                yield call_item(part.tool_call_id, part.tool_name, part.args)
            elif isinstance(part, ToolReturnPart):
                text = part.model_response_str(wrap_if_error=False)
                yield result_item(part.tool_call_id, text, failed=part.outcome in {"failed", "retried"})
            elif part.part_kind == "retry-prompt" and part.tool_name:
                # Earlier releases of Pydantic AI report a failed call to the model in this way.
                yield result_item(part.tool_call_id, part.model_response(), failed=True)


def _words(content: Any) -> str:
    """The text of a prompt, without images and files."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (part if isinstance(part, str) else getattr(part, "content", None) for part in content)
    return " ".join(text for text in texts if isinstance(text, str))
