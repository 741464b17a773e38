"""A tenant's clock: one wrong date has no say, is reported, and a clock that it moved is set right."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from hmxgraph.errors import InvalidRequest
from hmxgraph.graph import _events
from hmxgraph.graph.plan import write
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import prepare
from hmxgraph.protocol.events import Event
from tests.session_makers import deployment
from tests.unit.ingest.making import document

FAR = "2090-01-01T00:00:00Z"
RULE = "Always verify the rollout."


@pytest.fixture
def say(graph):
    """Ingest one message at a time."""
    count = iter(range(1000))

    def said(text, timestamp, **choices):
        number = next(count)
        content = {"role": "system", "text": text}
        given = {"event_id": f"e{number}", "sequence": number, "timestamp": timestamp, "content": content}
        return graph.ingest([document(tenant_id=graph.tenant_id, source="system", **given)], **choices)

    return said


def in_force(graph):
    """The rules and facts that anybody is given."""
    pack = graph.pack("rollout", sections=("core", "constraints", "facts"))
    return [entry.content for entry in pack.entries]


def logical(graph):
    """The year of logical time."""
    return datetime.fromtimestamp(graph.health()["logical_us"] / 1e6, UTC).year


def test_a_date_in_the_future_has_no_say(say, graph):
    """It is stored and reported; time, rules and packs go on as if it were not there, and nothing is at fault."""
    say(RULE, "2026-03-14T03:00:00Z")
    report = say("Never verify the rollout.", FAR)
    assert report.accepted == 1
    assert any("dated after this machine's clock" in warning for warning in report.warnings)
    assert (logical(graph), in_force(graph)) == (2026, [RULE])
    assert [memory.status for memory in graph.memories(kind="policy")[0]] == ["promoted"]
    assert [event.event_id for event in graph.repair_clock(dry_run=True).ahead] == ["e1"]
    assert graph.verify().findings == ()


def test_a_tenant_of_future_dates_alone_has_no_time(say, graph):
    """Nothing is known yet, whatever they say."""
    say(RULE, FAR)
    assert (graph.health()["event_count"], in_force(graph)) == (1, [])
    say(RULE, "2026-03-14T03:00:00Z")
    assert (logical(graph), in_force(graph)) == (2026, [RULE])


def test_the_tolerance_is_an_argument(say, graph):
    """A day for imports, five minutes for live events, or what the caller says."""
    soon = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
    assert not say(RULE, soon).warnings
    assert say("Never deploy on Fridays.", soon, tolerance=timedelta(minutes=1)).warnings
    content = {"role": "user", "text": "hello"}
    assert graph.append("message", content, session_id="live", at=soon).warnings
    assert not graph.append("message", content, session_id="live", at=soon, tolerance=timedelta(hours=3)).warnings
    with pytest.raises(InvalidRequest, match="tolerance"):
        say(RULE, soon, tolerance=timedelta(days=-1))


def test_a_clock_that_was_moved_is_set_right(say, graph):
    """What an earlier release stored and learnt under a wrong date is there again after one call."""
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
    """Logical time stands still while nothing comes in; the wall clock does not."""
    graph.ingest([document(tenant_id=graph.tenant_id, event_id="brief", ttl_seconds=60)])
    assert len(graph.forget(expired=True, dry_run=True).events) == 0
    assert [event.event_id for event in graph.forget(expired=True, now=True).events] == ["brief"]
    with pytest.raises(InvalidRequest):
        graph.forget(now=True)
