"""A tenant's clock: events dated in the future do not move it, and a clock that they moved can be repaired."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

import hmxgraph
from hmxgraph.api import recording
from hmxgraph.errors import DeadlineExceeded, InvalidRequest
from hmxgraph.graph import _events
from hmxgraph.graph.connection import AsyncConnection, Connection
from hmxgraph.graph.plan import write
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import prepare
from hmxgraph.protocol.events import Event
from tests.integration.fault_operations import opened
from tests.integration.ingested import Ingested
from tests.session_makers import deployment, repaired_deployment
from tests.unit.ingest.making import document

FAR = "2090-01-01T00:00:00Z"
RULE = "Always verify the rollout."
ENTITIES = """
MATCH (n:Entity {tenant_id: $tenant_id})
RETURN n.type AS type, n.name AS name, n.mention_count AS mentions, n.first_us AS first, n.last_us AS last
"""
RELATIONS = """
MATCH (n:Entity {tenant_id: $tenant_id})-[r:RELATES_TO]->(m)
RETURN n.name AS source, r.relation_type AS type, m.name AS target, r.evidence_count AS evidence, r.weight AS weight
"""
MEMORIES = """
MATCH (n:Memory {tenant_id: $tenant_id})
RETURN n.text AS text, n.status AS status, n.observation_count AS observed, n.valid_to_us AS ended
"""


@pytest.fixture
def say(graph):
    """Ingests a single message."""
    count = iter(range(1000))

    def said(text, timestamp, **choices):
        number = next(count)
        content = {"role": "system", "text": text}
        given = {"event_id": f"e{number}", "sequence": number, "timestamp": timestamp, "content": content}
        return graph.ingest([document(tenant_id=graph.tenant_id, source="system", **given)], **choices)

    return said


def in_force(graph):
    """The rules and facts that a pack contains."""
    pack = graph.pack("rollout", sections=("core", "constraints", "facts"))
    return [entry.content for entry in pack.entries]


def logical(graph):
    """The year of the tenant's logical time."""
    return datetime.fromtimestamp(graph.health()["logical_us"] / 1e6, UTC).year


def test_a_date_in_the_future_has_no_say(say, graph):
    """An event dated in the future is stored and reported, but affects neither logical time nor rules nor packs."""
    say(RULE, "2026-03-14T03:00:00Z")
    report = say("Never verify the rollout.", FAR)
    assert report.accepted == 1
    assert any("dated after this machine's clock" in warning for warning in report.warnings)
    assert (logical(graph), in_force(graph)) == (2026, [RULE])
    assert [memory.status for memory in graph.memories(kind="policy")[0]] == ["promoted"]
    assert [event.event_id for event in graph.repair_clock(dry_run=True).ahead] == ["e1"]
    assert graph.verify().findings == ()


def test_a_tenant_of_future_dates_alone_has_no_time(say, graph):
    """A tenant with only future-dated events knows nothing yet; the first valid date starts its clock."""
    say(RULE, FAR)
    assert (graph.health()["event_count"], in_force(graph)) == (1, [])
    say(RULE, "2026-03-14T03:00:00Z")
    assert (logical(graph), in_force(graph)) == (2026, [RULE])


def behind(monkeypatch):
    """Set this machine's clock to before all events that the tests store."""
    monkeypatch.setattr(recording, "now_us", lambda _=None: 1_000_000)


def held(graph, connection):
    """What was learned from a tenant's events, and the state of its clock."""
    stored = Ingested(connection, graph.tenant_id)
    learnt = [sorted(map(str, stored.rows(statement))) for statement in (ENTITIES, RELATIONS, MEMORIES)]
    health = graph.health()
    return graph.digest(), learnt, (health["logical_us"], health["event_count"])


@pytest.mark.parametrize("again", ["the same", "others", "compile", "repair"])
def test_the_next_call_repairs_the_effects_of_a_slow_clock(graph, connection, address, monkeypatch, again):
    """After the next call by a client with a correct clock, no trace of the slow clock is left."""

    def events(tenant, number):
        yield from repaired_deployment(f"d{number}", tenant=tenant)
        content = {"role": "user", "text": f"I live in {('Oslo', 'Bergen')[number]}."}
        where = {"tenant_id": tenant, "session_id": f"home{number}", "timestamp": f"2026-03-1{4 + number}T03:00:00Z"}
        yield document(event_id=f"home{number}", content=content, metadata={"user_id": "ana"}, **where)

    with monkeypatch.context() as clock:
        behind(clock)
        assert graph.ingest(events(graph.tenant_id, 0)).warnings
        assert not graph.ingest(events(graph.tenant_id, 0)).accepted
    calls = {
        "the same": lambda: graph.ingest(events(graph.tenant_id, 0)),
        "others": lambda: graph.ingest(events(graph.tenant_id, 1)),
        "compile": graph.compile,
        "repair": graph.repair_clock,
    }
    calls[again]()
    graph.ingest(events(graph.tenant_id, 1))
    with opened(address, f"{graph.tenant_id}-twin") as twin:
        for number in range(2):
            twin.ingest(events(twin.tenant_id, number))
        assert held(graph, connection) == held(twin, connection)
        for each in (graph, twin):
            each.compile()
        titles = [sorted(artifact.title for artifact in each.artifacts().artifacts) for each in (graph, twin)]
        assert titles[0] == titles[1]
    assert graph.verify().findings == ()


def test_the_tolerance_is_an_argument(say, graph):
    """Future dates are tolerated for a day in imports and five minutes in live events, unless the caller decides."""
    soon = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
    assert not say(RULE, soon).warnings
    assert say("Never deploy on Fridays.", soon, tolerance=timedelta(minutes=1)).warnings
    content = {"role": "user", "text": "hello"}
    assert graph.append("message", content, session_id="live", at=soon).warnings
    assert not graph.append("message", content, session_id="live", at=soon, tolerance=timedelta(hours=3)).warnings
    with pytest.raises(InvalidRequest, match="tolerance"):
        say(RULE, soon, tolerance=timedelta(days=-1))


def test_a_clock_that_was_moved_is_set_right(say, graph):
    """One call repairs a clock that an earlier release moved to a wrong date, and packs contain procedures again."""
    graph.ingest([event for n in range(3) for event in deployment(f"d{n}", tenant=graph.tenant_id)])
    wrong = document(tenant_id=graph.tenant_id, event_id="wrong", session_id="w", timestamp=FAR)
    prepared = prepare(Event.parse(json.loads(json.dumps(wrong))), len)
    graph._connection.perform(write(lambda: _events.record(graph._tenancy, Batch((prepared,)))))
    graph.compile()
    assert (logical(graph), graph.repair_clock(dry_run=True).after[:4]) == (2090, "2090")
    report = graph.repair_clock()
    assert ([event.event_id for event in report.ahead], report.before[:4], report.after[:4]) == (
        ["wrong"],
        "2090",
        "2026",
    )
    assert logical(graph) == 2026
    assert [entry for entry in graph.pack("Deploy staging").entries if entry.section == "procedures"]
    assert graph.verify().findings == ()
    assert graph.repair_clock().after == report.after


def test_expiry_heeds_the_wall_clock_where_the_caller_says_so(say, graph):
    """Expiry follows logical time, which stands still without new events, or the wall clock with now=True."""
    graph.ingest([document(tenant_id=graph.tenant_id, event_id="brief", ttl_seconds=60)])
    assert len(graph.forget(expired=True, dry_run=True).events) == 0
    assert [event.event_id for event in graph.forget(expired=True, now=True).events] == ["brief"]
    with pytest.raises(InvalidRequest):
        graph.forget(now=True)


class Unanswered(Connection):
    """A connection that fails before it admits future-dated events whose time has come."""

    def perform(self, procedure, **choices):
        """Fail instead of ``clock.release``."""
        if procedure.__name__ == "release":
            raise DeadlineExceeded(self.address.uri, "no answer to retention/due", "not stored")
        return super().perform(procedure, **choices)


class UnansweredAsync(AsyncConnection):
    """The asynchronous counterpart of :class:`Unanswered`."""

    async def perform(self, procedure, **choices):
        """Fail instead of ``clock.release``."""
        if procedure.__name__ == "release":
            raise DeadlineExceeded(self.address.uri, "no answer to retention/due", "not stored")
        return await super().perform(procedure, **choices)


def test_an_ingest_is_reported_though_the_clock_gets_no_answer(address, tenant_id):
    """If the step after storing fails, ingest reports what it stored, with a warning; a repeat finds duplicates."""
    lines = [document(tenant_id=tenant_id, event_id=f"e{number}", sequence=number) for number in range(3)]
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=Unanswered(address))
    report = graph.ingest(lines)
    assert (report.accepted, len(report.warnings)) == (3, 1)
    assert "the next ingest or compile tries again" in report.warnings[0]
    graph._connection.close()

    async def again():
        twin = hmxgraph.AsyncKnowledgeGraph(lambda: address, tenant_id)
        twin._opened = UnansweredAsync(address)
        try:
            return await twin.ingest(lines)
        finally:
            await twin._opened.close()

    repeated = asyncio.run(again())
    assert (repeated.accepted, repeated.duplicates, len(repeated.warnings)) == (0, 3, 1)
