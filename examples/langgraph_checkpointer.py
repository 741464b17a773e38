"""A LangGraph agent that waits for a person, goes on in another process, and keeps its past readable.

pip install hmxgraph[local,langgraph] langgraph
python examples/langgraph_checkpointer.py
"""

from datetime import UTC, datetime
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import hmxgraph
from hmxgraph.adapters.langgraph_checkpoints import HmxSaver

THREAD = {"configurable": {"thread_id": "release-7"}}


class Release(TypedDict):
    """What the agent keeps between its steps."""

    version: str
    approved_by: str


def ask(_: Release) -> dict[str, str]:
    """Wait for a person, for days if need be."""
    return {"approved_by": interrupt("Who approves this release?")}


def main() -> None:
    """A run that is interrupted, one that resumes it, and the thread as it was in between."""
    builder = StateGraph(Release).add_node("ask", ask).add_edge(START, "ask")
    with hmxgraph.connect(tenant_id="example-langgraph-checkpointer") as graph:
        saver = HmxSaver(graph)
        saver.delete_thread("release-7")  # so that the example can be run again
        stopped = builder.compile(checkpointer=saver).invoke({"version": "7.0", "approved_by": "nobody"}, THREAD)
        print("asked:", stopped["__interrupt__"][0].value)
        before = datetime.now(UTC)
        done = builder.compile(checkpointer=HmxSaver(graph)).invoke(Command(resume="Ana"), THREAD)
        print("now:", done)
        print("before:", builder.compile(checkpointer=saver.as_of(before)).get_state(THREAD).values)


if __name__ == "__main__":
    main()
