"""Writes under faults of the network, at random moments: repeated until they succeed, they leave what one call leaves.

``HMXGRAPH_FAULT_MOMENTS`` sets the number of moments of each cell of the matrix (2 by default), ``HMXGRAPH_FAULT_SEED``
the seed.
"""

import os
import random
import threading
from collections import Counter
from time import monotonic

import pytest

import hmxgraph
from hmxgraph.errors import StorageUnavailable
from hmxgraph.protocol.timestamps import iso
from tests.artifact_makers import at, policy, schema
from tests.integration.ingested import Ingested
from tests.integration.proxies import proxied
from tests.unit.ingest.making import document

MOMENTS = int(os.environ.get("HMXGRAPH_FAULT_MOMENTS", "2"))
SEED = os.environ.get("HMXGRAPH_FAULT_SEED", "1")
DEADLINE = 10
SLACK = 10
FAULTS = ("cut_request", "cut_answer", "silent", "refused", "slow")
KNOWLEDGE = """
MATCH (n {tenant_id: $tenant_id})
WHERE n:Memory OR n:Artifact OR n:TaskRecord OR n:Conflict
RETURN labels(n)[0] AS label, n.text AS text, n.status AS status, n.observation_count AS observed,
  n.version AS version, n.title AS title, n.goal AS goal
ORDER BY label, text, status, observed, version, title, goal
"""


def talk(graph, sessions=4, events=10):
    """Documents of some sessions, each with a call that fails and one that helps."""
    for number in range(sessions * events):
        session, place = divmod(number, events)
        content = {"role": "user", "text": f"Request {number}"}
        fields = {"event_type": "message", "content": content}
        if place in {2, 4}:
            fields = {"event_type": "tool_call", "content": {"tool_name": "deploy", "arguments": {"force": place == 4}}}
        if place in {3, 5}:
            answer = {"tool_name": "deploy", "result": "x", "success": place == 5}
            fields = {"event_type": "tool_result", "content": answer, "parent_event_id": f"e{number - 1}"}
        minute = f"2026-03-14T03:{number:02}:00.000Z"
        yield document(
            tenant_id=graph.tenant_id, event_id=f"e{number}", session_id=f"s{session}", sequence=place,
            timestamp=minute, **fields,
        )  # fmt: skip


def ingest(graph):
    """Events in several batches."""
    graph.ingest(talk(graph), batch_size=10)


def record(graph):
    """Messages of a running agent."""
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages = [{"role": "user", "content": "List"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    graph.record(messages, session_id="live", idempotency_key="turn")


def remember(graph):
    """A fact in the place of another."""
    graph.remember("The release manager is Ana", at="2026-03-14T05:00:00Z", idempotency_key="a")
    graph.remember("The release manager is Dan", at="2026-03-14T06:00:00Z", idempotency_key="b")


def compile_all(graph):
    """What the sessions teach."""
    graph.compile()


def supersede(graph):
    """A second version of an artifact."""
    graph.record_artifact(schema("old", status="active"))
    if graph.artifact("old").status == "active":
        graph.supersede("old", schema("new", second=1, step="Apply them twice", status="active"), at=_iso(2))


def resolve(graph):
    """Two rules that contradict each other, decided."""
    graph.record_artifact(policy("yes", "use it", status="active"))
    graph.record_artifact(policy("no", "do not use it", second=1, status="active"))
    for conflict in graph.conflicts(status=None):
        graph.resolve(conflict.conflict_id, keep="yes", at=_iso(3))


def forget(graph):
    """One session erased."""
    graph.forget(session_id="s1")


def task(graph):
    """A task with its start and its end."""
    graph.tasks.start("Ship it", task_id="t", artifact_id="t-start", at="2026-03-14T07:00:00Z")


ACTS = {
    "ingest": (ingest, ()),
    "record": (record, ()),
    "remember": (remember, ()),
    "compile": (compile_all, (ingest,)),
    "supersede": (supersede, ()),
    "resolve": (resolve, ()),
    "forget": (forget, (ingest, compile_all)),
    "task": (task, ()),
}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ACTS)
def test_a_fault_at_any_moment(address, connection, tenant_id, name, fault):
    """Nothing lost, nothing doubled, nothing corrupt, and every error within its deadline."""
    act, before = ACTS[name]
    login = {"user": address.user, "password": address.password, "database": address.database}
    with hmxgraph.connect(address.uri, tenant_id=f"{tenant_id}-twin", **login) as twin:
        for each in (*before, act):
            each(twin)
        statements = _sent(twin, act)
    expected = _held(connection, f"{tenant_id}-twin")
    chance = random.Random(f"{SEED}{name}{fault}")
    for moment in range(MOMENTS):
        disturbed = f"{tenant_id}-{moment}"
        with proxied(address.uri) as proxy, hmxgraph.connect(proxy.uri, tenant_id=disturbed, **login) as graph:
            for each in before:
                each(graph)
            _break_after(graph, proxy, fault, chance.randrange(max(1, statements)))
            _until_it_succeeds(graph, act)
            proxy.fault = None
            act(graph)
            assert graph.verify().findings == (), f"seed {SEED}, moment {moment}"
        assert _held(connection, disturbed) == expected, f"seed {SEED}, moment {moment}"


def _break_after(graph, proxy, fault, statements):
    """Let *fault* begin after a given number of further statements; a lasting one ends after some seconds."""
    left = iter(range(statements))

    def begin(_):
        if next(left, None) is None and not begun:
            begun.append(fault)
            proxy.fault = fault
            threading.Timer(3, lambda: setattr(proxy, "fault", None)).start()

    begun = []
    graph.trace(begin)
    if not statements:
        begin("")


def _until_it_succeeds(graph, act):
    """Repeat the call, as a caller would, while it fails; each failure tells the outcome in time."""
    failures = []
    for _ in range(8):
        began = monotonic()
        try:
            with graph.timeout(DEADLINE):
                act(graph)
        except StorageUnavailable as error:
            failures.append((error.outcome, monotonic() - began))
        else:
            break
    assert len(failures) < 8, "it never succeeded"
    assert {outcome for outcome, _ in failures} <= {"not stored", "unknown"}
    assert max((seconds for _, seconds in failures), default=0) < DEADLINE + SLACK


def _sent(graph, act):
    """How many statements *act* sends, once more, without a fault."""
    sent = []
    stop = graph.trace(sent.append)
    act(graph)
    stop()
    return len(sent)


def _held(connection, tenant_id):
    """What a tenant holds, apart from ids and times that are the tenant's own."""
    stored = Ingested(connection, tenant_id)
    picture = stored.picture()
    events = [(event["session_id"], event["content"]) for event in picture["e"]]
    sessions = [(row["session"]["session_id"], row["session"]["event_count"]) for row in picture["s"]]
    links = Counter(link["type"] for link in picture["l"])
    return sorted(events), sessions, links, len(picture["w"]), stored.rows(KNOWLEDGE)


def _iso(second):
    """A time for artifacts."""
    return iso(at(second))
