"""Ids and names of any length on the real server work like short ones: stored, found, resumed, trusted, forgotten."""

import pytest

from hmxgraph.errors import TaskError
from tests.task_makers import digest_by_hand, tasks_of

LONG = "x" * 40_000
IDS = (
    "project_id",
    "agent_id",
    "session_id",
    "challenge_id",
    "thread_id",
    "tool_name",
    "requested_action",
)
NAMED = {
    "dataset_refs": [{"name": f"{LONG}d", "version": f"{LONG}v"}],
    "entity_refs": [{"name": f"{LONG}e", "entity_type": "organism"}],
}
AT = "2026-03-14T03:00:{:02d}Z"


@pytest.fixture
def named(graph, records):
    """A task and a record whose ids and names are all longer than any index key."""
    tasks = tasks_of(graph)
    tasks.start("Sequence the soil", task_id=f"{LONG}t", at=AT.format(0))
    ids = {name: f"{LONG}{name}" for name in IDS}
    first = tasks.add_evidence(f"{LONG}t", summary="microbes", artifact_id=f"{LONG}a", at=AT.format(1), **ids, **NAMED)
    reply = records.review(
        first.artifact_id, summary="looks right", supports_claim=True, agent_id=f"{LONG}bo", at=AT.format(2)
    )
    return ids, first.artifact_id, reply.artifact_id


def ids_matching(records, **filters):
    """The ids of the records that match these filters."""
    return [hit.artifact_id for hit in records.search(**filters)]


def test_long_ids_are_found_exactly(records, named):
    """Each filter matches the whole id, with and without a query; a longer id with the same prefix does not match."""
    ids, record_id, reply = named
    values = ids | {"dataset_name": f"{LONG}d", "dataset_version": f"{LONG}v", "entity_name": f"{LONG}e"}
    for name, value in values.items():
        expected = [reply, record_id] if name in {"project_id", "thread_id"} else [record_id]
        assert ids_matching(records, **{name: value}) == expected, name
        assert ids_matching(records, query="microbes", **{name: value})[:1] == [record_id], name
        assert ids_matching(records, **{name: f"{value}x"}) == [], name
    assert ids_matching(records, reply_to_artifact_id=record_id) == [reply]
    assert ids_matching(records, task_id=f"{LONG}t")[:2] == [reply, record_id]
    stored = records.get(record_id).record
    assert {name: getattr(stored, name) for name in ids} == ids
    assert [each.artifact_id for each in records.list_thread(f"{LONG}thread_id")] == [record_id, reply]


def test_long_ids_are_worked_with(graph, records, named):
    """Tasks, resume, trust, libraries, maintenance and verify all work with long ids."""
    ids, record_id, reply = named
    tasks = tasks_of(graph)
    answer = records.get(reply).record
    assert (answer.task_id, answer.thread_id) == (f"{LONG}t", f"{LONG}thread_id")
    assert records.get(record_id).trust_tier == "verified_record"
    records.verification(record_id, summary="mine", supports_claim=False, agent_id=f"{LONG}agent_id")
    assert records.get(record_id).trust_tier == "verified_record"
    assert len(tasks.get(f"{LONG}t").records) == 4
    assert record_id in tasks.resume(f"{LONG}t").sources
    library = records.find_evidence(project_id=ids["project_id"])
    assert record_id in [view.artifact_id for view in library]
    assert library.digest.record.project_id == ids["project_id"]
    assert graph.memory.stats(project_id=ids["project_id"]).document()["records"]["evidence"]["active"] == 1
    graph.memory.dream(project_id=ids["project_id"], dry_run=False)
    graph.compile()
    assert record_id in {entry.source_id for entry in graph.pack("microbes").entries}
    assert graph.verify().findings == ()


def test_long_ids_are_forgotten(graph, records, named):
    """An erased record keeps its full ids; digests that cited it are gone."""
    ids, record_id, _ = named
    digest = records.find_evidence(project_id=ids["project_id"]).digest.artifact_id
    assert graph.forget(session_id=ids["session_id"]).records == (record_id,)
    place = records.get(record_id).record
    assert (place.artifact_id, place.task_id, place.thread_id) == (record_id, f"{LONG}t", f"{LONG}thread_id")
    assert records.search("microbes", include_hidden=True).hits == ()
    assert digest not in ids_matching(records, artifact_kind="digest")
    own = digest_by_hand(graph, f"{LONG}t", summary="by hand", artifact_role="project_brief")
    graph.forget(session_id=f"task:{LONG}t")
    assert own not in ids_matching(records, artifact_kind="digest", include_hidden=True)
    assert [finding for finding in graph.verify().findings if finding.level == "wrong"] == []


@pytest.mark.parametrize("name", ["status", "artifact_role", "verification_status", "relation_kind", "entity_type"])
def test_words_that_class_records_are_short(graph, records, name):
    """A classifying word of 256 characters is stored and found; a longer one is refused, naming the limit."""
    task_id = tasks_of(graph).start("Sequence the soil").task_id

    def said(word):
        return {"entity_refs": [{"name": "E. coli", name: word}]} if name == "entity_type" else {name: word}

    record_id = records.create("evidence", task_id=task_id, summary="x", **said("w" * 256)).artifact_id
    assert ids_matching(records, **{name: "w" * 256}) == [record_id]
    with pytest.raises(TaskError, match=f"evidence: {name} has 257 characters, more than 256; give a short word"):
        records.create("evidence", task_id=task_id, summary="x", **said("w" * 257))
