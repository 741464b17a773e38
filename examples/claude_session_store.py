"""Sessions of the Claude Agent SDK that any machine resumes, and that memory learns from.

    pip install hmxgraph[local,claude-agent-sdk]
    python examples/claude_session_store.py

The SDK mirrors each session by calls of ``append``; two such calls stand in for a session that ran elsewhere.
"""

import asyncio
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, get_session_messages_from_store, project_key_for_directory

import hmxgraph
from hmxgraph.adapters.claude_sdk import HmxSessionStore

SESSION = "0f6e2a30-6c0c-4f7e-8a0a-5b6f6f0c7a11"
FOLDER = "/home/ana/shop"


def line(number: int, role: str, content: Any) -> Any:
    """An entry of a transcript, as the SDK hands it over."""
    return {
        "type": role,
        "uuid": f"entry-{number}",
        "parentUuid": f"entry-{number - 1}" if number else None,
        "sessionId": SESSION,
        "timestamp": f"2026-03-02T09:00:{number:02}Z",
        "message": {"role": role, "content": content},
    }


async def main() -> None:
    """A session is mirrored, another machine resumes it, and a later session is told what was said in it."""
    key: Any = {"project_key": project_key_for_directory(FOLDER), "session_id": SESSION}
    with hmxgraph.connect(tenant_id="example-claude-session-store") as graph:
        store = HmxSessionStore(graph)
        await store.append(key, [line(0, "user", "Remember: staging runs on cluster juniper.")])
        await store.append(key, [line(1, "assistant", [{"type": "text", "text": "Noted: cluster juniper."}])])
        options = ClaudeAgentOptions(session_store=store, resume=SESSION, cwd=FOLDER)
        print("resumes:", options.resume, "with", len(await store.load(key) or []), "entries")
        for message in await get_session_messages_from_store(store, SESSION, directory=FOLDER):
            print(message.type, message.message["content"])
        print(graph.pack("Which cluster does staging run on?", budget=300).prompt)


if __name__ == "__main__":
    asyncio.run(main())
