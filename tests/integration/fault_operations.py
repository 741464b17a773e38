"""The writes that fault tests disturb, as steps for both the sync and async graph, and a tenant's final state.

Run as a program, it performs one operation in its own process and prints a line for each completed statement.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NamedTuple

import hmxgraph
from hmxgraph.graph.driver import Address
from hmxgraph.protocol.timestamps import iso
from tests.artifact_makers import at, policy, schema
from tests.integration.ingested import Ingested
from tests.unit.ingest.making import document

# The environment variable that names the file with the fingerprint to import.
ENVELOPE = "HMXGRAPH_FAULT_ENVELOPE"
KNOWLEDGE = """
MATCH (n {tenant_id: $tenant_id})
WHERE n:Memory OR n:Artifact OR n:TaskRecord OR n:Conflict
RETURN labels(n)[0] AS label, n.text AS text, n.status AS status, n.observation_count AS observed,
  n.version AS version, n.title AS title, n.goal AS goal
ORDER BY label, text, status, observed, version, title, goal
"""

# Calls on a sync or async graph; the answer to each is sent back into the generator.
Steps = Generator[Callable[[Any], Any], Any, None]


def talk(tenant_id, sessions=4, events=10):
    """Events of several sessions, each with a failing call and a successful one."""
    for number in range(sessions * events):
        session, place = divmod(number, events)
        fields = {"event_type": "message", "content": {"role": "user", "text": f"Request {number}"}}
        if place in {2, 4}:
            fields = {"event_type": "tool_call", "content": {"tool_name": "deploy", "arguments": {"force": place == 4}}}
        if place in {3, 5}:
            answer = {"tool_name": "deploy", "result": "x", "success": place == 5}
            fields = {"event_type": "tool_result", "content": answer, "parent_event_id": f"e{number - 1}"}
        where = {"tenant_id": tenant_id, "session_id": f"s{session}", "sequence": place}
        yield document(event_id=f"e{number}", timestamp=f"2026-03-14T03:{number:02}:00.000Z", **where, **fields)


def ingest(tenant_id: str) -> Steps:
    """Ingest events in several batches."""
    yield lambda graph: graph.ingest(talk(tenant_id), batch_size=10)


def record(_) -> Steps:
    """Record the messages of a running agent."""
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages = [{"role": "user", "content": "List"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    yield lambda graph: graph.record(messages, session_id="live", idempotency_key="turn")


def remember(_) -> Steps:
    """Remember a fact, then another that replaces it."""
    for name, hour in (("Ana", 5), ("Dan", 6)):
        when = {"at": f"2026-03-14T0{hour}:00:00Z", "idempotency_key": name}
        yield lambda graph, name=name, when=when: graph.remember(f"The release manager is {name}", **when)


def compile_all(_) -> Steps:
    """Compile the tenant's sessions."""
    yield lambda graph: graph.compile()


def supersede(_) -> Steps:
    """Supersede an artifact with a second version."""
    yield lambda graph: graph.record_artifact(schema("old", status="active"))
    old = yield lambda graph: graph.artifact("old")
    if old.status == "active":
        successor = schema("new", second=1, step="Apply them twice", status="active")
        yield lambda graph: graph.supersede("old", successor, at=iso(at(2)))


def resolve(_) -> Steps:
    """Record two contradicting policies and resolve their conflict."""
    yield lambda graph: graph.record_artifact(policy("yes", "use it", status="active"))
    yield lambda graph: graph.record_artifact(policy("no", "do not use it", second=1, status="active"))
    for conflict in (yield lambda graph: graph.conflicts(status=None)):
        yield lambda graph, name=conflict.conflict_id: graph.resolve(name, keep="yes", at=iso(at(3)))


def forget(_) -> Steps:
    """Erase one session."""
    yield lambda graph: graph.forget(session_id="s1")


def import_fingerprint(_) -> Steps:
    """Import the fingerprint of another tenant."""
    envelope = Path(os.environ[ENVELOPE]).read_text("utf-8")
    yield lambda graph: graph.import_fingerprint(envelope, at=iso(at(4)))


def task(_) -> Steps:
    """Start a task."""
    when = {"artifact_id": "t-start", "at": "2026-03-14T07:00:00Z"}
    yield lambda graph: graph.tasks.start("Ship it", task_id="t", **when)


class Operation(NamedTuple):
    """A write to disturb, and the undisturbed writes that prepare for it."""

    steps: Callable[[str], Steps]
    before: tuple[Callable[[str], Steps], ...] = ()


OPERATIONS = {
    "ingest": Operation(ingest),
    "record": Operation(record),
    "remember": Operation(remember),
    "compile": Operation(compile_all, (ingest,)),
    "supersede": Operation(supersede),
    "resolve": Operation(resolve),
    "forget": Operation(forget, (ingest, compile_all)),
    "import": Operation(import_fingerprint),
    "task": Operation(task),
}


def perform(steps: Callable[[str], Steps], graph: hmxgraph.KnowledgeGraph) -> None:
    """Make every call of *steps*."""
    calls, answer = steps(graph.tenant_id), None
    while (call := _next(calls, answer)) is not None:
        answer = call(graph)


async def perform_async(steps: Callable[[str], Steps], graph: hmxgraph.AsyncKnowledgeGraph) -> None:
    """The asynchronous counterpart of :func:`perform`."""
    calls, answer = steps(graph.tenant_id), None
    while (call := _next(calls, answer)) is not None:
        answer = await call(graph)


def _next(calls: Steps, answer: Any) -> Callable[[Any], Any] | None:
    try:
        return calls.send(answer)
    except StopIteration:
        return None


def opened(address: Address, tenant_id: str, uri: str | None = None) -> hmxgraph.KnowledgeGraph:
    """The tenant's graph at *address*, or through *uri*."""
    login = {"user": address.user, "password": address.password, "database": address.database}
    return hmxgraph.connect(uri or address.uri, tenant_id=tenant_id, **login)


def held(connection, graph: hmxgraph.KnowledgeGraph) -> tuple[Any, ...]:
    """The tenant's contents without tenant-specific ids and times, after checking that verify finds nothing."""
    assert graph.verify().findings == ()
    stored = Ingested(connection, graph.tenant_id)
    picture = stored.picture()
    events = sorted((_shared(event["session_id"]), event["content"]) for event in picture["e"])
    sessions = [(_shared(row["session"]["session_id"]), row["session"]["event_count"]) for row in picture["s"]]
    links = Counter(link["type"] for link in picture["l"])
    return events, sessions, links, len(picture["w"]), stored.rows(KNOWLEDGE), graph.digest()


def _shared(session_id: str) -> str:
    """The tenant-independent part of a session id: only the sessions of imports have tenant-specific ids."""
    return session_id.partition("fingerprint-import-")[1] or session_id


if __name__ == "__main__":
    tenant, name = sys.argv[1:]
    with hmxgraph.connect(tenant_id=tenant) as own_graph:
        own_graph.trace(lambda line: (sys.stdout.write(f"{line}\n"), sys.stdout.flush()))
        perform(OPERATIONS[name].steps, own_graph)
