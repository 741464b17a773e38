"""Semantic memories added and maintained by hand, on the real server."""

import json

import pytest

from hmxgraph.api.memory import MemoryOperations
from hmxgraph.errors import AlreadySuperseded, InvalidRequest, NotFound, SupersessionCycle, UnknownChoice
from hmxgraph.graph.metering import Meter
from tests.artifact_makers import policy
from tests.session_makers import event
from tests.task_makers import digest_by_hand, records_of, tasks_of

AT = "2026-03-14T03:00:{:02d}Z"


@pytest.fixture
def graph(personal_graph):
    """The memory of a single person: what they say in one session holds in the next."""
    return personal_graph


def _message(graph, second, text):
    """A user message, this number of seconds after the start."""
    return event("s", second, "message", {"role": "user", "text": text}, tenant=graph.tenant_id)


def test_added_memories_are_found_and_read(memory):
    """A policy added by hand is found by its words and has an event as evidence; its trust is only a candidate's."""
    added = memory.add("Always verify the rollout", kind="policy", project_id="p", agent_id="ana")
    (hit,) = memory.search("rollout verification", project_id="p").hits
    assert (hit.memory_id, hit.trust_tier, hit.view.kind) == (added.memory_id, "semantic_candidate", "policy")
    assert len(memory.get(added.memory_id).event_ids) == 1
    assert memory.search("rollout", kind="fact").hits == ()
    assert memory.search("rollout", project_id="q").hits == ()


def test_what_is_asked_for_is_found_behind_much_else(memory):
    """A kind filter finds a memory ranked behind more memories of other kinds than the index first returns."""
    for number in range(70):
        memory.add(f"rollout rollout {number}", kind="fact", project_id="p")
    rule = memory.add("Before the next rollout of anything ask for the word of whoever is on duty", kind="policy")
    (hit,) = memory.search("rollout", kind="policy", limit=5).hits
    assert hit.memory_id == rule.memory_id
    assert rule.memory_id in {hit.memory_id for hit in memory.search("rollout", limit=500).hits}


def test_impossible_operations_are_refused(memory):
    """Unknown kinds, signals, outcomes, modes and memories raise errors."""
    with pytest.raises(UnknownChoice, match="kind"):
        memory.add("x", kind="rumour")
    with pytest.raises(InvalidRequest, match="text"):
        memory.add("  ")
    with pytest.raises(InvalidRequest, match="hard"):
        memory.add("The office is in Zurich", hard=True)
    with pytest.raises(NotFound):
        memory.get("nowhere")
    with pytest.raises(NotFound):
        memory.delete("nowhere")
    known = memory.add("Always verify the rollout", kind="policy").memory_id
    with pytest.raises(UnknownChoice, match="signal"):
        memory.feedback(known, "meh")
    with pytest.raises(UnknownChoice, match="outcome"):
        memory.record_outcome([known], "meh")
    with pytest.raises(NotFound):
        memory.record_outcome([known, "nowhere"], "success")
    with pytest.raises(UnknownChoice, match="mode"):
        memory.search("x", mode="meh")


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("text", lambda memory: memory.add(None)),
        ("text", lambda memory: memory.add("\ud800")),
        ("tags", lambda memory: memory.add("x", tags="abc")),
        ("tags", lambda memory: memory.add("x", tags=[1])),
        ("project_id", lambda memory: memory.add("x", project_id=5)),
        ("query", lambda memory: memory.search(None)),
        ("memory_id", lambda memory: memory.get(5)),
        ("memory_id", lambda memory: memory.delete(None)),
        ("memory_ids", lambda memory: memory.record_outcome("abc", "success")),
        ("digest_modes", lambda memory: memory.compact(digest_modes="find_failures")),
    ],
)
def test_what_is_no_text_or_list_is_named(graph, memory, name, ask):
    """An argument of the wrong type raises an error that names it; nothing is stored."""
    with pytest.raises(InvalidRequest) as refused:
        ask(memory)
    assert refused.value.name == name
    assert graph.health()["event_count"] == 0


def test_what_is_superseded_or_deleted_is_hidden_with_the_reason(memory):
    """Superseded and deleted memories are hidden by default; a chain cannot fork or close into a loop."""
    old = memory.add("Verify the rollout once", kind="policy").memory_id
    new = memory.supersede(old, "Verify the rollout twice", kind="policy")
    assert new.supersedes == old
    assert [hit.memory_id for hit in memory.search("verify rollout")] == [new.memory_id]
    hidden = {hit.memory_id: hit.view.hidden_reason for hit in memory.search("verify rollout", include_hidden=True)}
    assert hidden == {old: "superseded", new.memory_id: None}
    with pytest.raises(AlreadySuperseded):
        memory.supersede(old, "Verify the rollout three times", kind="policy")
    with pytest.raises(SupersessionCycle, match="new text"):
        memory.supersede(new.memory_id, "Verify the rollout twice", kind="policy")
    assert memory.delete(new.memory_id, reason="wrong").hidden_reason == "deleted"
    assert memory.search("verify rollout").hits == ()


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("policy", "Never deploy on Friday", "Never deploy on Monday"),
        ("fact", "My favorite color is blue", "My favorite color is green"),
        ("fact", "Two hosts serve staging", "Three hosts serve staging"),
        ("preference", "I prefer tea", "I prefer coffee"),
        ("goal", "Ship the first release", "Ship the second release"),
    ],
)
def test_what_was_superseded_by_hand_may_be_said_again(graph, memory, kind, first, second):
    """A superseded text may be said again, or supersede its successor in turn; the chain stays consistent."""
    old = memory.add(first, kind=kind)
    new = memory.supersede(old.memory_id, second, kind=kind)
    said = [_message(graph, sequence, text) for sequence, text in enumerate(("hello", first, "bye"))]
    assert graph.ingest(said).accepted == 3
    back = memory.supersede(new.memory_id, first, kind=kind)
    assert (back.supersedes, back.hidden_reason) == (new.memory_id, None)
    assert [memory.get(each.memory_id).superseded_by for each in (old, new)] == [new.memory_id, back.memory_id]
    assert [hit.view.text for hit in memory.search(first)] == [first]
    assert graph.verify().findings == ()


def test_nothing_takes_the_place_of_what_came_after_it(memory):
    """A memory cannot supersede one with a later date."""
    late = memory.add("My favorite color is blue", at=AT.format(30))
    with pytest.raises(SupersessionCycle, match="later time"):
        memory.supersede(late.memory_id, "My favorite color is green", at=AT.format(10))
    assert memory.get(late.memory_id).supersedes is None


def test_one_memory_takes_one_place(memory):
    """A text that already superseded one memory cannot supersede a second."""
    first, second = (memory.add(f"The {name} host serves staging") for name in ("old", "older"))
    memory.supersede(first.memory_id, "The new host serves staging")
    with pytest.raises(InvalidRequest, match="delete the old memory"):
        memory.supersede(second.memory_id, "The new host serves staging")
    assert memory.get(second.memory_id).hidden_reason is None


def test_a_deleted_memory_can_be_remembered_again_by_hand(graph, memory):
    """Adding it by hand again creates a new memory; a message with the same text does not."""
    text = "Two hosts serve staging"
    for second in range(2):
        added = memory.add(text)
        assert added.hidden_reason is None
        memory.delete(added.memory_id)
        graph.ingest([_message(graph, second, text)])
        assert memory.search(text).hits == ()
    added = memory.add(text)
    assert memory.add(text).memory_id == added.memory_id
    assert [(hit.memory_id, hit.view.properties["observation_count"]) for hit in memory.search(text)] == [
        (added.memory_id, 2)
    ]


def test_a_search_as_of_a_time_returns_what_held_then(memory):
    """An as-of search returns what was known and neither superseded nor deleted by that time."""
    old = memory.add("The xray host is one", at=AT.format(1))
    new = memory.supersede(old.memory_id, "The xray host is two", at=AT.format(3))
    memory.delete(new.memory_id, at=AT.format(5))

    def search_at(second):
        return [(hit.view.text, hit.view.status) for hit in memory.search("xray host", as_of=AT.format(second))]

    assert search_at(0) == []
    assert search_at(2) == [("The xray host is one", "promoted")]
    assert search_at(4) == [("The xray host is two", "promoted")]
    assert search_at(6) == []
    later = memory.search("xray host", as_of=AT.format(0), include_hidden=True)
    assert {hit.view.hidden_reason for hit in later} == {"later"}


@pytest.mark.parametrize(
    ("text", "other_text"),
    [
        ("The limit is > 5", "The limit is < 5"),
        ("Write it in C++", "Write it in C"),
        ("A seat costs \u20ac5", "A seat costs $5"),
        ("Check that x != y", "Check that x == y"),
        ("Always keep load > 5 %", "Always keep load < 5 %"),
        ("???", "\U0001f600"),
    ],
)
def test_signs_make_another_memory(graph, memory, text, other_text):
    """Texts that differ in a meaningful sign are different memories."""
    kind = "policy" if text.startswith("Always") else "fact"
    assert memory.add(text, kind=kind).memory_id != memory.add(other_text, kind=kind).memory_id
    assert graph.remember(text, kind=kind).text == text


@pytest.mark.parametrize("ended", ["deleted", "superseded"])
def test_a_conflict_ends_with_its_memory(graph, memory, ended):
    """Deleting or superseding a rule by hand closes its conflict, with the artifact as the side kept."""
    rule = memory.add("Never lock a table", kind="policy", at=AT.format(1)).memory_id
    graph.record_artifact(policy("p1", "Lock the table", second=3))
    (conflict,) = graph.conflicts()
    assert [side.side_id for side in conflict.sides] == [rule, "p1"]
    if ended == "deleted":
        memory.delete(rule, reason="wrong")
    else:
        memory.supersede(rule, "Always measure the rollout", kind="policy", at=AT.format(9))
    assert graph.conflicts() == ()
    (closed,) = graph.conflicts(status="resolved")
    assert (closed.conflict_id, closed.kept_id) == (conflict.conflict_id, "p1")
    assert graph.verify().findings == ()


def test_what_is_over_is_expired(memory):
    """A memory whose validity ended before the as-of time is hidden as expired."""
    known = memory.add("Verify the rollout", kind="policy", at=AT.format(1)).memory_id
    memory._connection._driver.execute_query(
        "MATCH (m:Memory {memory_id: $id}) SET m.valid_to_us = m.valid_from_us + 5000000", {"id": known}
    )
    assert len(memory.search("rollout", as_of=AT.format(3))) == 1
    assert memory.search("rollout", as_of=AT.format(30)).hits == ()
    (hit,) = memory.search("rollout", as_of=AT.format(30), include_hidden=True).hits
    assert hit.view.hidden_reason == "expired"


def test_feedback_and_outcomes_move_the_rank(memory):
    """Of two equally matching memories, the one that helped ranks first."""
    harmful_id = memory.add("Restart the cart service", kind="policy").memory_id
    helpful_id = memory.add("Restart the cart worker", kind="policy").memory_id
    memory.feedback(harmful_id, "negative", comment="made it worse", agent_id="ana")
    judged = memory.record_outcome([helpful_id], "success", summary="it helped", agent_id="ana")
    assert judged.memories[0].properties["useful"] == 1
    assert [hit.memory_id for hit in memory.search("restart cart")] == [helpful_id, harmful_id]


def test_feedback_targets_the_newest_evidence(graph, memory, tmp_path):
    """Feedback names the latest event that states the memory, however many do."""
    graph.ingest([_message(graph, second, "Always verify the rollout") for second in range(102)])
    (rule,) = memory.search("verify rollout", kind="policy").hits
    memory.feedback(rule.memory_id, "positive")
    graph.backup(tmp_path / "all.ndjson")
    nodes = [json.loads(line).get("properties", {}) for line in (tmp_path / "all.ndjson").read_text().splitlines()]
    (feedback,) = [node["content"] for node in nodes if node.get("event_type") == "feedback"]
    assert json.loads(feedback)["target_event_id"] == "s/101"


def test_compact_answers_fit_the_budget(memory):
    """Compact hits keep ids, trust and a short text; hits beyond a token budget are omitted and counted."""
    for place in range(6):
        memory.add(f"Verify rollout number {place} " + "carefully and in depth " * 10, kind="policy")
    short = memory.search("verify rollout", compact=True)
    assert all({"memory_id", "trust_tier", "score", "text"} <= hit.document().keys() for hit in short)
    assert all(len(hit.text) <= 160 for hit in short)
    budgeted = memory.search("verify rollout", token_budget=300)
    assert budgeted.token_estimate <= 300
    assert len(budgeted) + budgeted.omitted == 6


def test_a_mode_brings_its_digest(graph, memory):
    """Searching memories with mode ``find_failures`` also returns the up-to-date failure library."""
    tasks = tasks_of(graph)
    task_id = tasks.start("Deploy").task_id
    tasks.run_start(task_id, command="c", why_chosen="w", inputs=["i"])
    tasks.run_finish(task_id, status="failed", summary="disk full")
    results = memory.search("disk", mode="find_failures")
    assert "disk full" in results.digest.record.summary


def test_figures(memory):
    """Stats count memories by kind; health reports coverage, and lists examples only on request."""
    known = memory.add("Verify the rollout", kind="policy").memory_id
    memory.add("Tea is served at four", kind="fact")
    memory.delete(known)
    counted = memory.stats()
    assert (counted["active_chunks"], counted["deleted_chunks"], counted["total_chunks"]) == (1, 1, 2)
    assert counted["all_by_type"] == {"fact": 1, "policy": 1}
    health = memory.health()
    assert health["index_coverage"] == {"searchable": 2, "total": 2}
    assert "examples" not in health["duplicates"]
    assert memory.health(include_examples=True)["duplicates"]["examples"] == []
    assert health["scope"]["aliases"] == []


def test_metrics_count_bytes_tokens_and_refusals(graph):
    """Tokens are bytes divided by four, rounded up; errors are counted by operation and class."""
    ticks = iter(range(100))
    memory = MemoryOperations(graph._tenancy, graph._connection, Meter(lambda: float(next(ticks))))
    memory.add("Verify the rollout", kind="policy")
    with pytest.raises(NotFound):
        memory.get("nowhere")
    measured = memory.metrics()
    usage = measured["token_usage"]["by_operation"]["add"]
    assert usage["tokens"] == -(-(usage["request_bytes"] + usage["response_bytes"]) // 4)
    assert measured["latency_ms"]["add"] == {"p50": 1000.0, "p95": 1000.0, "max": 1000.0}
    assert measured["rejections"] == {"get: NotFound": 1}
    assert measured["index"]["offline"] == []


def test_metrics_are_those_of_the_graph(graph):
    """Every ``graph.memory`` object reports the metrics of the same graph."""
    graph.memory.add("Verify the rollout", kind="policy")
    assert graph.memory.metrics()["token_usage"]["by_operation"]["add"]["calls"] == 1
    assert "add" in graph.memory.health()["latency_ms"]


def test_compact_refreshes_digests(graph, memory):
    """Stale or missing digests are refreshed, or all on a forced rebuild; modes select them."""
    tasks = tasks_of(graph)
    task_id = tasks.start("Deploy", project_id="p").task_id
    tasks.finish(task_id, what_worked=["canary"])
    roles = [each["artifact"]["artifact_role"] for each in memory.compact(project_id="p")["digests"]]
    assert roles == ["project_brief", "highlight_library"]
    assert (
        len(memory.compact(project_id="p", digest_modes=["brief_project"], force_digest_rebuild=True)["digests"]) == 1
    )
    with pytest.raises(UnknownChoice):
        memory.compact(digest_modes=["generic"])


def test_dreaming_is_planned_safe_and_done_once(graph, memory):
    """A dry run writes nothing; applying retires copies, refreshes digests and links a report; a rerun does nothing."""
    tasks, records = tasks_of(graph), records_of(graph)
    task_id = tasks.start("Deploy", at=AT.format(1)).task_id
    own = tasks.resume(task_id).digest.artifact_id
    copy = digest_by_hand(
        graph, task_id, artifact_role="task_resume", digest_key=f"task_resume:{task_id}", summary="an old copy"
    )
    for _ in range(2):
        tasks.add_evidence(task_id, summary="said twice", at=AT.format(3))
    version = graph.health()
    planned = memory.dream()
    assert graph.health() == version
    assert [each["action"] for each in planned.actions] == ["retire_duplicate_digest", "refresh_digest"]
    assert [each["finding"] for each in planned.reported] == ["duplicate_record"]
    assert planned.report_id is None
    done = memory.dream(dry_run=False, at=AT.format(9))
    assert records.get(copy).hidden_reason == "duplicate_digest"
    assert records.get(own).hidden_reason is None
    assert not records.get(own).stale
    assert set(records.get(done.report_id).record.related_artifact_ids) == {own, copy}
    again = memory.dream(dry_run=False)
    assert (again.actions, again.report_id) == ((), None)
    assert [each["finding"] for each in again.reported] == ["duplicate_record"]


def test_memories_of_one_event_come_with_the_hit(memory):
    """Memories of the same project and ``event:`` tag are returned as siblings of the hit."""
    tags = ["event:visit", "entry:factual"]
    hit = memory.add("Acme renewed its contract", project_id="p", tags=tags, at=AT.format(1)).memory_id
    sibling = memory.add("Zoe spoke for the buyer", project_id="p", tags=["event:visit"], at=AT.format(2)).memory_id
    memory.add("Zoe moved to Oslo", project_id="q", tags=["event:visit"], at=AT.format(3))
    memory.add("Zoe likes tea", project_id="p", tags=["event:lunch"], at=AT.format(4))
    results = memory.search("contract renewed", project_id="p", expand_event_siblings=True)
    (expanded,) = [result for result in results if result.memory_id == hit]
    assert [context["memory_id"] for context in expanded.expanded_siblings] == [sibling]
    assert all(result.expanded_siblings == () for result in memory.search("contract renewed", project_id="p"))


def test_an_expired_memory_is_hidden_and_reported(memory):
    """An expired memory is hidden from searches and reported by maintenance; before, it is found as usual."""
    freeze_id = memory.add("The freeze covers all deployments", expires=AT.format(5), at=AT.format(1)).memory_id
    assert [hit.memory_id for hit in memory.search("deployment freeze")] == [freeze_id]
    assert memory.dream().reported == ()
    memory.add("Lunch is at noon", at=AT.format(9))
    assert [hit.memory_id for hit in memory.search("deployment freeze")] == []
    assert memory.dream().reported == ({"finding": "expired_memory", "ids": [freeze_id]},)
    assert memory.get(freeze_id).hidden_reason == "expired"
