"""Task records in packs: in the right sections, weighted by trust, at any as-of time, not repeated by their events."""

import pytest

import hmxgraph
from tests.task_makers import records_of, tasks_of

CLAIM = "Does the parser buffer leak?"
AT = "2026-03-14T03:00:{:02d}Z"


@pytest.fixture
def leak(graph):
    """A started task and the id of ana's evidence in it."""
    tasks = tasks_of(graph)
    task_id = tasks.start("Find the leak in the parser", agent_id="ana", at=AT.format(0)).task_id
    seen = tasks.add_evidence(
        task_id, summary="The parser buffer leaks on every line", supports_claim=True, agent_id="ana", at=AT.format(1)
    )
    return task_id, seen.artifact_id


def entry(pack, record_id):
    """The entry of a record in a pack."""
    return next(entry for entry in pack.entries if entry.source_id == record_id)


def test_records_appear_in_their_sections(graph, leak):
    """Evidence and decisions appear under evidence, steps under episodes, each with a valid source type."""
    task_id, seen = leak
    decided = records_of(graph).decision(
        task_id, summary="Free the parser buffer per line", agent_id="bo", at=AT.format(2)
    )
    pack = graph.pack(CLAIM)
    assert (entry(pack, seen).section, entry(pack, seen).source_type) == ("evidence", "memory")
    assert (entry(pack, decided.artifact_id).section, entry(pack, decided.artifact_id).source_type) == (
        "evidence",
        "memory",
    )
    started = next(entry for entry in pack.entries if entry.content.startswith("task start by ana: Find the leak"))
    assert (started.section, started.source_type) == ("episodes", "episode")
    assert "evidence by ana: The parser buffer leaks" in pack.text
    assert "1970" not in pack.text
    assert graph.explain(seen).record_id == seen


def test_a_decision_is_a_procedure_where_a_trusted_agent_made_or_signed_it(address, tenant_id, graph, leak):
    """Only trusted agents can make a decision a procedure, because agents choose their own names."""
    task_id, _ = leak
    decided = records_of(graph).decision(
        task_id, summary="Free the parser buffer per line", agent_id="bo", at=AT.format(2)
    )
    records_of(graph).verification(
        decided.artifact_id, summary="sound", supports_claim=True, agent_id="cy", at=AT.format(3)
    )
    sections = {}
    for name in ("bo", "cy", "dora"):
        trust = hmxgraph.TrustPolicy(trusted=(f"agent:{name}",))
        login = {"user": address.user, "password": address.password, "database": address.database}
        with hmxgraph.connect(address.uri, tenant_id=tenant_id, trust=trust, **login) as trusting:
            sections[name] = entry(trusting.pack(CLAIM), decided.artifact_id).section
    assert sections == {"bo": "procedures", "cy": "procedures", "dora": "evidence"}


def test_a_record_and_its_event_are_one_entry(graph, leak):
    """The event behind a packed record is dropped as its duplicate."""
    pack = graph.pack(CLAIM)
    assert sum("leaks on every line" in entry.content for entry in pack.entries) == 1
    assert "duplicate" in {drop.drop_reason for drop in pack.dropped_entries or ()}


def test_trust_is_reflected(graph, leak):
    """A countersigned record is marked and ranks higher; a rejected one is marked and ranks lower."""
    _, seen = leak
    signed = entry(graph.pack(CLAIM), seen)
    records_of(graph).verification(seen, summary="reproduced", supports_claim=True, agent_id="bo", at=AT.format(5))
    verified = entry(graph.pack(CLAIM), seen)
    records_of(graph).verification(
        seen, summary="the tool was at fault", supports_claim=False, agent_id="cy", at=AT.format(9)
    )
    rejected = entry(graph.pack(CLAIM), seen)
    assert [entry.provenance.origin for entry in (signed, verified, rejected)] == [
        "canonical_record",
        "verified_record",
        "canonical_record",
    ]
    assert "verified by another agent" in verified.content
    assert "[rejected by cy] evidence by ana: The parser buffer leaks" in graph.pack(CLAIM).text
    assert "verified" not in rejected.content
    assert verified.relevance_score > signed.relevance_score > rejected.relevance_score
    then = entry(graph.pack(CLAIM, as_of=AT.format(6)), seen)
    assert (then.content, then.provenance) == (verified.content, verified.provenance)


def test_digests_are_never_packed_as_evidence(graph, leak):
    """A digest only points to records and is never an entry itself."""
    task_id, _ = leak
    tasks_of(graph).resume(task_id)
    assert not [entry for entry in graph.pack(CLAIM).entries if entry.content.startswith("digest")]


def test_who_holds_a_task_is_no_episode(graph, leak):
    """Claims and releases of tasks, and their events, are never packed."""
    task_id, _ = leak
    tasks_of(graph).claim(task_id, agent_id="bo", at=AT.format(6))
    tasks_of(graph).release(task_id, agent_id="bo", at=AT.format(7))
    for question in (CLAIM, "Who claimed the task to find the leak?"):
        assert not [
            entry for entry in graph.pack(question).entries if "Claimed" in entry.content or "Released" in entry.content
        ]
