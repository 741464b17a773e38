"""Conflicts on the real graph: found if two records cannot both hold, resolved with a reason, and no side deleted."""

from functools import partial

import pytest
from neo4j import GraphDatabase

from hmxgraph.errors import ConflictClosed, InvalidRequest, NotFound, UnknownChoice
from hmxgraph.graph import artifacts, conflicts, lifecycle
from hmxgraph.graph._conflict_rows import relation_id
from hmxgraph.graph.plan import Tenancy, ask, bind, read, write
from hmxgraph.graph.schema import packaged_schema, send_all
from tests.artifact_makers import at, pattern, policy, schema, stored_at_once

MEMORY = """
CREATE (memory:Memory)
SET memory = $properties
"""
RELATION = """
MERGE (source:Entity {key: $source_key}) SET source.tenant_id = $tenant_id, source.name = 'Ada', source.type = 'person'
MERGE (target:Entity {key: $target_key}) SET target.tenant_id = $tenant_id, target.name = 'Go', target.type = 'concept'
CREATE (source)-[relation:RELATES_TO {tenant_id: $tenant_id, status: 'active', confidence: 0.9}]->(target)
SET relation.relation_type = $relation_type, relation.last_us = $last_us
"""
STATUS = "MATCH ()-[relation:RELATES_TO {tenant_id: $tenant_id}]->() RETURN relation.relation_type, relation.status"
INDEXED = """
MATCH (node:Artifact|Conflict {tenant_id: $tenant_id})
RETURN node.key AS key, node.guides AS guides, node.uncompared AS uncompared, node.place AS place
ORDER BY key
"""
MEMORIES = "MATCH (memory:Memory {tenant_id: $tenant_id}) RETURN memory.status, memory.valid_to_us"


@pytest.fixture
def tenancy(tenant_id):
    """The tenant of this test."""
    return Tenancy.of(tenant_id)


@pytest.fixture
def cypher(address, tenancy):
    """Sends a plain Cypher statement about this tenant."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:

        def send(text, **parameters):
            given = {"tenant_id": tenancy.tenant_id, **parameters}
            return [tuple(row) for row in driver.execute_query(text, given, database_=address.database).records]

        yield send


@pytest.fixture
def record(connection, tenancy):
    """Records artifacts and returns the conflicts that the last one opened."""

    def record(*given):
        return [connection.perform(lifecycle.record_artifact(tenancy, artifact)) for artifact in given][-1].conflicts

    return record


@pytest.fixture
def listed(connection, tenancy):
    """Returns the conflicts, open ones by default, as of now or of a given second."""

    def listed(status="open", second=None):
        as_of_us = None if second is None else at(second)
        return connection.perform(conflicts.conflicts(tenancy, status=status, as_of_us=as_of_us))

    return listed


@pytest.fixture
def resolve(connection, tenancy):
    """Resolves a conflict."""
    return lambda conflict_id, keep, **more: connection.perform(
        conflicts.resolve(tenancy, conflict_id, keep=keep, **more)
    )


@pytest.fixture
def shown(connection, tenancy):
    """Returns the status of an artifact."""
    return lambda artifact_id: connection.perform(artifacts.artifact(tenancy, artifact_id)).status


@pytest.fixture
def opposed(record):
    """The id of the conflict between two opposing policies."""
    return record(policy("p1", "Use an online migration"), policy("p2", "Lock the table", second=5))[0]


def sides(conflict):
    """The ids of a conflict's sides."""
    return [side.side_id for side in conflict.sides]


def test_opposing_recommendations_for_one_condition(opposed, listed):
    """A different recommendation for the same condition opens a conflict that quotes both."""
    (conflict,) = listed()
    assert (conflict.conflict_id, conflict.kind, conflict.status) == (opposed, "opposing_recommendations", "open")
    assert (sides(conflict), conflict.detected_at) == (["p1", "p2"], "2026-03-14T03:00:05.000Z")
    assert "'Use an online migration'" in conflict.reason
    assert "'Lock the table'" in conflict.reason


@pytest.mark.parametrize(
    "other",
    [
        policy("p2", "Use online migrations", confidence=0.7),
        policy("p2", "Lock the table", condition="table smaller than 1 MB"),
        policy("p2", "Lock the table", status="draft"),
        policy("p2", "Lock the table", validity_scope={"agent_ids": ["b"]}),
        policy("p2", "Lock the table", validity_scope={"time_range": {"end": "2026-01-01T00:00:00Z"}}),
        schema("p2"),
    ],
    ids=["same answer", "other condition", "draft", "other agents", "other time", "other type"],
)
def test_no_conflict_without_an_opposite(record, listed, other):
    """The same answer, another condition or type, a draft, or a scope without overlap opens no conflict."""
    scope = {"agent_ids": ["a"], "time_range": {"start": "2026-02-01T00:00:00Z"}}
    assert record(policy("p1", "Use an online migration", validity_scope=scope), other) == ()
    assert listed() == ()


def test_opposite_effects_of_one_cause(record, listed):
    """Patterns may give one cause several effects, but not two opposite ones."""
    record(pattern("c1", "Deploy on Friday", "Latency increases"))
    assert record(pattern("c2", "Deploy on Friday", "Support tickets pile up")) == ()
    assert len(record(pattern("c3", "Deploying on Fridays", "Latency decreases"))) == 1
    assert (listed()[0].kind, sides(listed()[0])) == ("opposing_effects", ["c1", "c3"])


def test_a_draft_contradicts_once_it_is_active(connection, tenancy, record, listed):
    """A draft opens no conflict until it becomes active."""
    record(policy("p1", "Use an online migration"), policy("p2", "Lock the table", status="draft"))
    assert listed() == ()
    connection.perform(lifecycle.transition(tenancy, "p2", "active", at_us=at(30)))
    assert [conflict.detected_at for conflict in listed()] == ["2026-03-14T03:00:30.000Z"]


def test_a_policy_in_words_against_a_recommendation(record, listed, resolve, cypher, tenancy, shown):
    """A remembered prohibition conflicts with the artifact that recommends it; resolving keeps one of the two."""
    memory = {"memory_id": "m1", "kind": "policy", "text": "Never lock a table", "status": "promoted"}
    times = {"first_us": at(1), "last_us": at(1), "valid_from_us": at(1), "confidence": 0.9}
    cypher(MEMORY, properties={"key": tenancy.node_key("m1"), "tenant_id": tenancy.tenant_id, **memory, **times})
    record(policy("p1", "Lock the table", second=3))
    (conflict,) = listed()
    assert (conflict.kind, sides(conflict)) == ("policy_against_recommendation", ["m1", "p1"])
    resolve(conflict.conflict_id, "p1", reason="the operator said so", at_us=at(9))
    assert (cypher(MEMORIES), shown("p1")) == ([("contradicted", at(9))], "active")


def test_relations_of_opposed_types(connection, tenancy, listed, resolve, cypher):
    """Two mutually exclusive relations are detected as a conflict; the losing one is deprecated, not deleted."""
    ends = {"source_key": tenancy.node_key("name", "ada"), "target_key": tenancy.node_key("name", "go")}
    cypher(RELATION, relation_type="prefers", last_us=at(1), **ends)
    cypher(RELATION, relation_type="avoids", last_us=at(7), **ends)
    (opened,) = connection.perform(conflicts.detect(tenancy))
    (conflict,) = listed()
    assert (conflict.conflict_id, conflict.kind) == (opened, "opposed_relations")
    assert conflict.detected_at == "2026-03-14T03:00:07.000Z"
    assert [side.text for side in conflict.sides] == ["Ada avoids Go", "Ada prefers Go"]
    resolve(opened, relation_id(ends["source_key"], "prefers", ends["target_key"]))
    assert sorted(cypher(STATUS)) == [("avoids", "deprecated"), ("prefers", "active")]
    assert connection.perform(conflicts.detect(tenancy)) == ()


def test_compiling_opens_what_contradicts_by_now(graph, record, listed, cypher, tenancy):
    """Compiling detects conflicts with rules stated after an artifact, and between mutually exclusive relations."""
    record(policy("p1", "Lock the table", second=3))
    graph.remember("Never lock a table", kind="policy")
    ends = {"source_key": tenancy.node_key("name", "ada"), "target_key": tenancy.node_key("name", "go")}
    cypher(RELATION, relation_type="prefers", last_us=at(1), **ends)
    cypher(RELATION, relation_type="avoids", last_us=at(7), **ends)
    assert listed() == ()
    graph.compile()
    open_conflicts = listed()
    assert {conflict.kind for conflict in open_conflicts} == {"policy_against_recommendation", "opposed_relations"}
    graph.compile()
    assert listed() == open_conflicts


def test_a_withdrawal_in_other_words_contradicts_its_rule_until_somebody_confirms_it(graph, listed, resolve):
    """Compiling opens one conflict between a rule and the withdrawal that names it; resolving ends the rule."""
    rule = graph.remember("New patients must not be booked before 10:00", kind="policy")
    back = graph.remember("The 10:00 rule no longer applies", kind="policy")
    for _ in range(2):
        graph.compile()
        (conflict,) = listed()
    assert (conflict.kind, sides(conflict)) == ("withdrawn_rule", sorted([rule.memory_id, back.memory_id]))
    resolve(conflict.conflict_id, back.memory_id, reason="confirmed")
    graph.compile()
    assert (listed(), graph.memory.get(rule.memory_id).status) == ((), "contradicted")


def test_two_prices_of_one_thing_contradict_each_other(graph, listed):
    """Both are disputed until somebody says which holds; a price that changed replaces the earlier one."""
    for text in ("Parking costs 2 EUR", "Parking costs nothing", "A visit costs $5", "A visit now costs $6"):
        graph.remember(text)
    (conflict,) = listed()
    assert sorted(side.text for side in conflict.sides) == ["Parking costs 2 EUR", "Parking costs nothing"]


def test_one_price_in_several_spellings_is_no_contradiction(graph, listed):
    """Decimal commas, separators of thousands and a missing currency do not make another price."""
    for text in ("A seat costs 12.50 EUR", "A seat costs 12,50 EUR", "A seat costs 12.50", "Rent costs $5,000"):
        graph.remember(text)
    graph.remember("Rent costs $5000.00")
    assert listed() == ()


def test_compiling_looks_for_conflicts_that_a_killed_client_missed(graph, connection, tenancy, listed):
    """Compiling compares artifacts that were stored but never compared, and marks them as compared."""
    sides = [policy("p1", "Use it", condition="a case"), policy("p2", "Never use it", condition="a case")]
    stored_at_once(connection, tenancy, [*sides, policy("p3", "Use it", condition="another case")])
    assert listed() == ()
    graph.compile()
    assert len(listed()) == 1
    assert connection.perform(read(partial(conflicts._uncompared, tenancy))) == []


def test_a_policy_stated_later_is_held_against_what_was_compared_before(graph, record, listed):
    """A policy stated later is compared with artifacts that were already compared, and opens only one conflict."""
    record(policy("p1", "Lock the table", second=3))
    graph.compile()
    assert listed() == ()
    graph.remember("Never lock a table", kind="policy")
    graph.compile()
    assert [conflict.kind for conflict in listed()] == ["policy_against_recommendation"]
    graph.compile()
    assert len(listed()) == 1


def test_a_draft_is_compared_once_it_is_active(graph, connection, tenancy, record, listed):
    """If a draft's activation was cut off before the comparison, the next compilation makes it."""
    record(policy("p1", "Use it", condition="a case"), policy("p2", "Never use it", condition="a case", status="draft"))
    graph.compile()
    assert listed() == ()
    change = {"status": "active", "reason": "", "at_us": at(60), "from": ["draft"]}
    connection.perform(write(lambda: lifecycle._transition(tenancy, "p2", change)))
    assert listed() == ()
    graph.compile()
    assert len(listed()) == 1


def test_what_an_older_release_stored_is_found_after_the_upgrade(graph, connection, tenancy, cypher, listed):
    """The upgrade gives artifacts and conflicts of an older release the properties that new ones have."""
    sides = [policy("p1", "Use it", condition="a case"), policy("p2", "Never use it", condition="a case")]
    tooled = policy("p3", "Use it", condition="a call", metadata={"tools": ["kubectl"]})
    stored_at_once(connection, tenancy, [*sides, tooled, schema("s1"), pattern("c1", "Big tables", "x")])
    graph.compile()
    stored = cypher(INDEXED)
    assert len(listed()) == 1
    cypher("MATCH (node:Artifact|Conflict {tenant_id: $tenant_id}) REMOVE node.guides, node.uncompared, node.place")
    assert listed() == ()
    [upgrade] = [step for step in packaged_schema().upgrades if step.version == 12]
    connection.perform(write(partial(send_all, upgrade.statements)))
    graph.compile()
    assert (cypher(INDEXED), len(listed())) == (stored, 1)


def test_resolving_keeps_one_side_and_retires_the_other(opposed, resolve, listed, shown):
    """The side that is not kept is deprecated, not deleted; reason and time are stored with the conflict."""
    closed = resolve(opposed, "p1", reason="measured twice", at_us=at(60))
    assert (closed.status, closed.kept_id, closed.resolution) == ("resolved", "p1", "measured twice")
    assert closed.resolved_at == "2026-03-14T03:01:00.000Z"
    assert (shown("p1"), shown("p2")) == ("active", "deprecated")
    assert (listed(), listed("resolved"), listed(None)) == ((), (closed,), (closed,))


def test_resolving_may_keep_every_side(opposed, resolve, listed, shown, connection, tenancy):
    """Resolving without a winner deprecates nothing, and the conflict is not opened again."""
    assert resolve(opposed, None, reason="different teams").kept_id is None
    assert (shown("p1"), shown("p2")) == ("active", "active")
    assert connection.perform(conflicts.detect(tenancy)) == ()
    assert listed() == ()


def test_resolving_twice(opposed, resolve):
    """Resolving again in the same way changes nothing; another way is refused, and the error names the first."""
    first = resolve(opposed, "p1", reason="measured")
    assert resolve(opposed, "p1", reason="measured") == first
    with pytest.raises(ConflictClosed, match="keeping 'p1'"):
        resolve(opposed, "p2", reason="changed my mind")


def test_what_cannot_be_resolved(opposed, resolve, listed, connection, tenancy):
    """An unknown conflict, side or status is refused with an error that names what is missing or allowed."""
    with pytest.raises(NotFound, match="no conflict 'none'"):
        resolve("none", "p1")
    with pytest.raises(NotFound, match="its sides are p1, p2"):
        resolve(opposed, "p3")
    with pytest.raises(UnknownChoice, match="open, resolved"):
        connection.perform(conflicts.conflicts(tenancy, status="closed"))
    assert len(listed()) == 1


@pytest.mark.parametrize("leave", ["supersede", "archive"])
def test_a_conflict_ends_when_a_side_goes(opposed, listed, connection, tenancy, leave):
    """Superseding or archiving a side resolves the conflict and records why."""
    if leave == "supersede":
        successor = policy("p3", "Use an online migration with a lock timeout", second=20)
        connection.perform(lifecycle.supersede(tenancy, "p2", successor))
    else:
        connection.perform(lifecycle.transition(tenancy, "p2", "archived", at_us=at(20)))
    assert listed() == ()
    (closed,) = listed("resolved")
    assert (closed.kept_id, closed.resolution) == ("p1", "a side no longer holds")
    assert closed.resolved_at == "2026-03-14T03:00:20.000Z"


def test_a_successor_inherits_the_contradiction(opposed, listed, connection, tenancy):
    """A new version that still contradicts opens a new conflict."""
    done = connection.perform(lifecycle.supersede(tenancy, "p2", policy("p3", "Lock the table and wait", second=20)))
    assert [sides(conflict) for conflict in listed()] == [["p1", "p3"]]
    assert done.conflicts == (listed()[0].conflict_id,)


def test_conflicts_as_of_a_time(opposed, resolve, listed):
    """A conflict as of a time is absent before its detection and open before its resolution, with its sides as then."""
    resolve(opposed, "p1", reason="measured", at_us=at(60))
    assert [len(listed(second=second)) for second in (4, 5, 59, 60)] == [0, 1, 1, 0]
    (before,) = listed(second=59)
    assert (before.resolved_at, before.kept_id, [side.status for side in before.sides]) == (None, None, ["active"] * 2)
    (after,) = listed("resolved")
    assert [side.status for side in after.sides] == ["active", "deprecated"]


def test_what_another_writer_has_closed_stays_closed(connection, tenancy, opposed, cypher):
    """The closing statement changes nothing if another writer has already closed the conflict."""
    key = tenancy.node_key(opposed)
    close = {"tenant_id": tenancy.tenant_id, "key": key, "at_us": at(9), "resolution": "first"}
    closings = [
        connection.perform(write(lambda kept=kept: ask(bind("conflicts/close", kept_id=kept, **close))))
        for kept in ("p1", "p2")
    ]
    assert [len(rows) for rows in closings] == [1, 0]
    assert cypher("MATCH (c:Conflict {tenant_id: $tenant_id}) RETURN c.kept_id") == [("p1",)]


def test_no_conflict_opens_with_what_another_writer_has_ended(connection, tenancy, record, opposed, cypher):
    """The opening statement opens nothing if another writer has meanwhile archived one of the sides."""
    [(properties,)] = cypher("MATCH (c:Conflict {tenant_id: $tenant_id}) RETURN properties(c)")
    cypher("MATCH (c:Conflict {tenant_id: $tenant_id}) DETACH DELETE c")
    connection.perform(lifecycle.transition(tenancy, "p2", "archived"))
    sides = {"artifact_keys": [tenancy.node_key("p1"), tenancy.node_key("p2")], "memory_keys": [], "entity_keys": []}
    batch = {"conflicts": [{"key": properties["key"], "properties": properties, **sides}]}
    opening = write(lambda: ask(bind("conflicts/open", tenant_id=tenancy.tenant_id, batch=batch)))
    assert connection.perform(opening) == []


def test_conflicts_come_in_pages(connection, tenancy, record, resolve):
    """Reading page by page returns every conflict once, in the order of the full list, for each status."""
    for number in range(5):
        record(policy(f"l{number}", "Lock the table", second=2 * number, condition=f"The table is {number}"))
        record(policy(f"m{number}", "Migrate online", second=2 * number + 1, condition=f"The table is {number}"))

    def page(**asked):
        return [conflict.conflict_id for conflict in connection.perform(conflicts.conflicts(tenancy, **asked))]

    whole = page()
    assert len(whole) == 5
    resolve(whole[1], None)
    resolve(whole[4], None)
    for status, expected in (("open", [whole[0], *whole[2:4]]), ("resolved", [whole[1], whole[4]]), (None, whole)):
        walked = page(status=status, limit=2)
        while step := page(status=status, limit=2, after=walked[-1]):
            assert len(step) <= 2
            walked += step
        assert walked == expected == page(status=status)
    with pytest.raises(NotFound, match="nobody"):
        page(after="nobody")
    with pytest.raises(InvalidRequest, match="limit"):
        page(limit=0)
