"""LlamaIndex over context packs: a retriever with sources, and a memory block that recalls and records.

pip install hmxgraph[local] llama-index-core
python examples/llama_index_memory.py
"""

import asyncio

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

import hmxgraph
from hmxgraph.adapters.llama_index import HmxMemoryBlock, HmxRetriever


async def main() -> None:
    """Retrieve nodes, then see what a chat's memory puts into the prompt."""
    with hmxgraph.connect(tenant_id="example-llama-index") as graph:
        graph.remember("Never deploy on a Friday", kind="policy", hard=True)
        for node in HmxRetriever(graph, budget=512).retrieve("Deploy staging"):
            print(f"{node.metadata['section']}, {node.metadata['origin']}: {node.text}")
        memory = Memory.from_defaults(session_id="chat-1", memory_blocks=[HmxMemoryBlock(graph=graph, user_id="ana")])
        await memory.aput(ChatMessage(role="user", content="Deploy staging, please"))
        for message in await memory.aget():
            print(f"{message.role.value}: {message.content}")


if __name__ == "__main__":
    asyncio.run(main())
