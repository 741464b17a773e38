"""Erasure of compiled knowledge: no word of an erased session is left, and the remaining sessions are recompiled."""

import pytest

import hmxgraph
from hmxgraph.protocol.timestamps import iso
from tests.artifact_makers import at, policy, schema
from tests.integration.ingested import Ingested
from tests.session_makers import Script, event

pytestmark = pytest.mark.server

# Matches nodes of any label, so it scans the whole store.
EVERYTHING = """
MATCH (n {tenant_id: $tenant_id})
RETURN [labels(n)[0], properties(n)] AS node, [(n)-[link]->() | [type(link), properties(link)]] AS links
"""
RETOLD = """
MATCH (a:Artifact {tenant_id: $tenant_id, status: 'active'})
WITH a ORDER BY a.key LIMIT 1
MATCH (a)-[:EVIDENCED_BY]->(e:Event)
WITH e ORDER BY e.key LIMIT 1
SET e.erased = true
"""


@pytest.fixture
def left(connection, tenant_id):
    """Returns where a word is left in the tenant: (label, property) pairs."""
    stored = Ingested(connection, tenant_id)

    def occurrences(word="quagga"):
        return sorted(
            {
                (label, name)
                for row in stored.rows(EVERYTHING)
                for label, properties in (row["node"], *row["links"])
                for name, value in properties.items()
                if word in str(value).lower()
            }
        )

    return occurrences


def refund(session, who, *, tool="billing_api", tenant):
    """A refund that fails and is repaired, with a decision; *who* appears wherever possible."""
    script = Script(session, tenant=tenant).user(f"Refund the order for {who}")
    script.call(tool, error=f"account {who} is locked", customer=who)
    script.call("unlock_account", customer=who).call(tool, {"ok": who}, customer=who)
    content = {
        "question": "Refund in full?",
        "chosen_option": f"Refund in full as {who} asked",
        "alternatives": [f"Partly for {who}"],
        "reasoning": who,
    }
    return script.add("decision", content).feedback("positive").events


def refunds(tenant):
    """One session about quagga, with its own words and tool, and three about other clients."""
    first = refund("s0", "quaggaclient", tool="quaggatool", tenant=tenant)
    return first + [event for n in range(1, 4) for event in refund(f"s{n}", f"client{n}", tenant=tenant)]


@pytest.fixture
def learnt(graph, tenant_id):
    """A tenant with the refunds compiled and its behaviour counted for a fingerprint."""
    graph.ingest(refunds(tenant_id))
    graph.compile()
    graph.export_fingerprint(tier="full")
    return graph


def test_no_word_is_left_of_an_erased_session(learnt, left):
    """After a session is erased, none of its words is left in any property, before or after the next compilation."""
    assert {"Artifact", "CompilerModel", "Session"} <= {label for label, _ in left()}
    learnt.forget(session_id="s0")
    assert left() == []
    assert "quagga" not in learnt.export_fingerprint(tier="full").to_json().lower()
    learnt.compile()
    assert left() == []
    assert learnt.verify().findings == ()


def test_one_erased_event_takes_what_was_compiled_of_its_session(learnt, left):
    """Erasing any single event of a session removes the session's words from all artifacts."""
    for sequence in (8, 6, 7, 3, 1, 2, 0, 4, 5):
        learnt.forget(event_id=f"s0/{sequence}")
        assert "Artifact" not in {label for label, _ in left()}
    learnt.forget(session_id="s0")
    assert left() == []
    assert learnt.verify().findings == ()


def test_everything_forgotten_leaves_no_word(learnt, left):
    """Erasing all sessions one by one, compiling after each, leaves none of their words."""
    for n in range(4):
        learnt.forget(session_id=f"s{n}")
        learnt.compile()
    assert [left(word) for word in ("refund", "client", "billing", "locked", "unlock")] == [[]] * 5
    assert learnt.verify().findings == ()


def test_after_erasure_the_remaining_events_are_recompiled(learnt, tenant_id, address):
    """After an erasure, the tenant learns what a tenant that never had the erased session would learn."""

    def taught(graph):
        learned_artifacts = graph.artifacts(status=None, limit=500).artifacts
        return sorted(
            (artifact.artifact_type, artifact.title, artifact.content_hash, artifact.confidence, artifact.status)
            for artifact in learned_artifacts
            if artifact.status in {"draft", "active"}
        )

    learnt.forget(session_id="s0")
    assert taught(learnt) == []
    assert learnt.compile().created
    anew = taught(learnt)
    assert learnt.compile(full=True).changed is False
    assert taught(learnt) == anew
    fresh = f"{tenant_id}-fresh"
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=fresh) as other:
        other.ingest(event for event in refunds(fresh) if event.session_id != "s0")
        other.compile()
        assert taught(other) == anew
    learnt.forget(before="2100-01-01T00:00:00Z")
    learnt.ingest(refunds(tenant_id))
    assert learnt.compile().changed is False


def test_tombstones_are_read_by_everybody(learnt):
    """Erased artifacts can still be listed and explained, with ids and times, but are not packed, even as of before."""
    before = {artifact.artifact_id: artifact for artifact in learnt.artifacts(status=None, limit=500).artifacts}
    learnt.ingest([event("late", 900, "message", {"role": "user", "text": "good night"}, tenant=learnt.tenant_id)])
    learnt.forget(session_id="s0")
    after = {artifact.artifact_id: artifact for artifact in learnt.artifacts(status=None, limit=500).artifacts}
    assert after.keys() == before.keys()
    gone = [artifact for artifact in after.values() if artifact.title == "[erased]"]
    assert gone
    for artifact in gone:
        kept = before[artifact.artifact_id]
        assert (artifact.source_events, artifact.content_hash, artifact.created_at) == (
            kept.source_events,
            kept.content_hash,
            kept.created_at,
        )
        assert (artifact.content, artifact.summary, artifact.status) == ({}, "", "deprecated")
        assert "quagga" not in learnt.explain(artifact.artifact_id).text
        assert learnt.chain(artifact.artifact_id)
    past = learnt.pack("Refund the order", budget=4096, as_of=iso(at(600)))
    assert "quagga" not in past.to_json()
    assert not {entry.source_id for entry in past.entries} & {artifact.artifact_id for artifact in gone}
    assert learnt.artifacts(status=None, text="quaggaclient").artifacts == ()


def test_what_people_decided_stays_decided(learnt):
    """An archived artifact loses its words but stays archived; an artifact that a person recorded keeps its words."""
    schemas = learnt.artifacts(artifact_type="task_schema").artifacts
    archived = next(artifact for artifact in schemas if any(name.startswith("s0/") for name in artifact.source_events))
    learnt.transition(archived.artifact_id, "archived")
    learnt.record_artifact(schema("mine", step="Mind the quagga", source_events=["s0/0", "s1/0"]))
    report = learnt.forget(session_id="s0")
    assert "mine" not in report.artifacts
    assert archived.artifact_id not in report.artifacts
    learnt.compile()
    artifacts_now = {artifact.artifact_id: artifact for artifact in learnt.artifacts(status=None, limit=500).artifacts}
    assert (artifacts_now[archived.artifact_id].status, artifacts_now[archived.artifact_id].title) == (
        "archived",
        "[erased]",
    )
    assert "quagga" in artifacts_now["mine"].to_json()
    assert learnt.verify().findings == ()


def test_a_dry_run_lists_artifacts_that_would_be_blanked(learnt):
    """A dry run names exactly the artifacts that the erasure blanks."""
    dry = learnt.forget(session_id="s0", dry_run=True)
    assert dry.artifacts
    assert dry.artifacts == learnt.forget(session_id="s0").artifacts


def test_conflicts_forget_what_their_sides_said(graph, left, tenant_id):
    """Once a side has lost its evidence, the conflict no longer quotes it, even in packs of the past."""
    graph.ingest([event("a", n, "message", {"role": "user", "text": f"word{n}"}, tenant=tenant_id) for n in range(3)])
    graph.record_artifact(policy("one", "Use quagga gh-ost migration", source_events=["a/0"]))
    graph.record_artifact(policy("two", "Lock everything and alter", source_events=["a/1"]))
    assert len(graph.conflicts()) == 1
    graph.ingest([event("b", 900, "message", {"role": "user", "text": "much later"}, tenant=tenant_id)])
    graph.forget(event_id=["a/0"])
    assert not {node for node in left() if node[0] == "Conflict"}
    assert "quagga" not in graph.pack("migrate the table larger than 1 GB", as_of=iso(at(60))).to_json()


def test_conflicts_of_memories_and_relations_too(graph, left, tenant_id):
    """A conflict between erased facts keeps none of their words."""
    texts = ("Quaggarina lives in Boston now.", "Quaggarina lives in Denver now.")
    graph.ingest(
        event(name, 0, "message", {"role": "user", "text": text}, tenant=tenant_id, metadata={"user_id": "ana"})
        for name, text in zip("ab", texts, strict=True)
    )
    assert len(graph.conflicts()) == 1
    graph.forget(event_id=["a/0", "b/0"])
    assert left() == []


def test_shared_knowledge_loses_the_spelling_of_erased_events(graph, tenant_id, connection):
    """Memories and entities that other events support lose the spelling used by the erased event."""
    texts = {
        "a": "Always VERIFY the Rollout Twice! I LIVE in BosTon. See Secret-DB7.prod.internal.",
        "b": "always verify the rollout twice. I live in Boston. See secret-db7.prod.internal.",
    }
    for name, text in texts.items():
        graph.ingest([event(name, 0, "message", {"role": "user", "text": text}, tenant=tenant_id, source="user")])
    stored = Ingested(connection, tenant_id)

    def left():
        rows = stored.rows("MATCH (n {tenant_id: $tenant_id}) WHERE NOT n:Event RETURN properties(n) AS p")
        return [word for word in ("VERIFY", "Twice", "BosTon", "Secret-DB7") if word in str(rows)]

    assert len(left()) >= 3
    graph.forget(session_id="a")
    assert left() == []
    assert {memory.text for memory in graph.memories()[0]} == {
        "Always verify the rollout twice.",
        "The user lives in Boston.",
    }
    assert "secret-db7.prod.internal" in str(stored.rows("MATCH (n:Entity {tenant_id: $tenant_id}) RETURN n.name AS n"))
    assert graph.verify().findings == ()


def test_verify_reports_artifacts_with_text_of_erased_events(learnt, connection, tenant_id):
    """``verify`` reports a compiled artifact that still has text but rests on an erased event."""
    connection._driver.execute_query(RETOLD, tenant_id=tenant_id)
    assert "erased" in {finding.check for finding in learnt.verify().findings}


@pytest.mark.parametrize("criteria", [{"session_id": "s0"}, {"before": "2100-01-01T00:00:00Z"}])
def test_a_compilation_under_way_begins_again(graph, left, tenant_id, criteria):
    """A compilation stores nothing that was erased while it was running."""
    graph.ingest(refunds(tenant_id))
    done = []

    def forget_while_storing(stage, _count):
        if stage == "store" and not done:
            done.append(graph.forget(**criteria))

    graph.compile(progress=forget_while_storing)
    assert done
    assert left() == []
    assert bool(graph.artifacts().artifacts) == ("session_id" in criteria)
    assert graph.verify().findings == ()
