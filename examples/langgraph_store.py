"""LangGraph with a memory on Neo4j: one conversation finds what another has put, and old values stay readable.

pip install hmxgraph[local] langgraph
python examples/langgraph_store.py
"""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

import hmxgraph
from hmxgraph.adapters.langgraph import HmxStore

NOTES = ("users", "ana", "notes")


class State(TypedDict):
    """What the node is given, and what it answers."""

    request: str
    answer: str


def remember_and_answer(state: State, runtime: Runtime[None]) -> dict[str, str]:
    """Answer from the notes that share words with the request, and keep the request as a note."""
    store = runtime.store
    assert store is not None
    hits = store.search(NOTES, query=state["request"], limit=1)
    store.put(NOTES, state["request"], {"text": state["request"]})
    return {"answer": hits[0].value["text"] if hits else "I do not know yet."}


def main() -> None:
    """Two runs of one graph, then a value as it was before it was overwritten."""
    with hmxgraph.connect(tenant_id="example-langgraph") as graph:
        store = HmxStore(graph)
        for item in store.search(()):
            store.delete(item.namespace, item.key)

        builder = StateGraph(State)
        builder.add_node("answer", remember_and_answer)
        builder.add_edge(START, "answer")
        builder.add_edge("answer", END)
        agent = builder.compile(store=store)
        for request in ("Our staging cluster is called juniper", "Which staging cluster do we use?"):
            print(f"{request} -> {agent.invoke({'request': request, 'answer': ''})['answer']}")

        store.put(("users", "ana"), "prefs", {"theme": "dark"})
        dark = store.get(("users", "ana"), "prefs")
        store.put(("users", "ana"), "prefs", {"theme": "light"})
        light, before = store.get(("users", "ana"), "prefs"), store.as_of(dark.updated_at)
        print("now:", light.value, "before:", before.get(("users", "ana"), "prefs").value)


if __name__ == "__main__":
    main()
