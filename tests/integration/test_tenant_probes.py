"""Tenant isolation on the real server: another tenant's keys find nothing, solely because of the tenant conditions."""

import random

import pytest
from neo4j.exceptions import ClientError

import hmxgraph
from hmxgraph.errors import HmxGraphError, StatementMisuse
from hmxgraph.graph.plan import query, query_names
from tests.session_makers import deployment, repaired_deployment
from tests.task_makers import records_of, tasks_of
from tests.tenant_anchors import without_tenant

SECRET = "zanzibar"
# Statements that read a node by a key anybody can compute, with the node's variable and the kind of key.
BY_KEY = [
    ("artifacts/get", "artifact", "artifact"),
    ("memories/get", "memory", "memory"),
    ("memory_operations/get", "memory", "memory"),
    ("tasks/get", "task", "task"),
    ("explain/identify", "memory", "memory"),
    ("explain/identify", "artifact", "artifact"),
    ("explain/identify", "event", "event"),
]


@pytest.fixture
def pair(graph, address):
    """A tenant, and another one with the same sessions plus a secret."""
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-other", **login) as other:
        for each in (graph, other):
            for number in range(3):
                each.ingest(deployment(f"d{number}", tenant=each.tenant_id))
                each.ingest(repaired_deployment(f"r{number}", tenant=each.tenant_id))
            each.compile()
        memory = other.remember(f"Always tell {SECRET} before you deploy staging", kind="policy")
        task = tasks_of(other).start(f"Deploy staging for {SECRET}", agent_id="ana")
        record = records_of(other).decision(task.task_id, summary=f"Ask {SECRET}", agent_id="ana")
        artifact = next(iter(other.artifacts()))
        ids = {
            "memory": memory.memory_id,
            "event": memory.event_ids[0],
            "artifact": artifact.artifact_id,
            "record": record.artifact_id,
            "task": task.task_id,
        }
        yield graph, other, ids


def rows(graph, text, parameters):
    """The rows of a read."""
    return graph._connection._driver.execute_query(text, parameters).records


@pytest.mark.parametrize(("name", "node", "kind"), BY_KEY)
def test_a_key_of_another_tenant_finds_nothing(pair, name, node, kind):
    """Another tenant's key finds nothing, but finds the node once the tenant condition is removed."""
    graph, other, ids = pair
    packaged = query(name)
    parts = ("task", ids[kind]) if kind == "task" else (ids[kind],)
    key = other._tenancy.node_key(*parts)
    given = {"tenant_id": graph.tenant_id, "key": key, "task_key": key, "name": ids[kind]}
    parameters = {parameter: given[parameter] for parameter in packaged.parameters}
    assert rows(graph, packaged.text, parameters) == []
    assert rows(other, packaged.text, parameters | {"tenant_id": other.tenant_id}) != []
    opened = without_tenant(packaged.text, node).replace("WHERE node.tenant_id = $tenant_id", "WHERE true")
    assert rows(graph, opened, {**parameters, "unused": None}) != []


def test_saved_queries_are_those_of_explore(graph):
    """Statements outside ``explore/`` cannot be run as saved queries."""
    for name in query_names():
        if not name.startswith("explore/"):
            with pytest.raises(StatementMisuse):
                graph.query(name)


PROBES = 60


def probed(graph, other, ids, chance):
    """The result of one random call of a public method about the other tenant's data."""
    name = chance.choice([*ids.values(), other.tenant_id, other._tenancy.key, SECRET, "d1", "\0x", "' OR 1=1"])
    key = other._tenancy.node_key(name) if "\0" not in name else name
    given = chance.choice((name, key, f"{other.tenant_id}\0{name}"))
    methods = (
        lambda: graph.explain(given),
        lambda: graph.artifact(given),
        lambda: graph.chain(given),
        lambda: graph.memory.get(given),
        lambda: graph.memory.search(f"{SECRET} {name}", include_hidden=True, user_id=given),
        lambda: records_of(graph).get(given),
        lambda: tasks_of(graph).get(given),
        lambda: tasks_of(graph).search(SECRET),
        lambda: graph.pack(f"deploy staging {SECRET} {name}", session_id=given, user_id=given),
        lambda: graph.suggest(session_id=given),
        lambda: graph.forget(session_id=given, dry_run=True),
        lambda: graph.query("explore/session_story", session_id=given),
        lambda: graph.query("explore/evidence", artifact_id=given),
        lambda: graph.memories(subject=given),
        lambda: graph.export_fingerprint(agent_id=given),
    )
    try:
        return repr(chance.choice(methods)())
    except (HmxGraphError, ValueError):
        return ""


@pytest.mark.parametrize("probes", [PROBES, pytest.param(2_000, marks=pytest.mark.fuzz)])
def test_no_public_method_reads_another_tenant(pair, probes):
    """Calls with the other tenant's ids, keys and odd names neither return its texts nor change anything."""
    graph, other, ids = pair
    chance = random.Random(7)
    before = graph.health()["event_count"], other.health()["state_version"]
    for _ in range(probes):
        said = probed(graph, other, ids, chance)
        assert f"tell {SECRET}" not in said
        assert f"Ask {SECRET}" not in said
    assert (graph.health()["event_count"], other.health()["state_version"]) == before


# Parameters that hold a key anybody can compute, and parameters that hold lists of such keys.
KEYS = (
    "key",
    "task_key",
    "session_key",
    "artifact_key",
    "event_key",
    "chain_key",
    "parent_key",
    "model_key",
    "old_key",
)
LISTS = ("keys", "event_keys", "session_keys", "artifact_keys", "memory_keys", "dedup_keys", "digest_keys")
BATCHED_PROBES = 100_000
# Statements that cannot be wrapped to take many keys at once; the probes of public methods cover them.
PROBED_BY_PACKS = {"recall/events", "recall/knowledge", "recall/surroundings", "memory_operations/search"}


def by_key():
    """Each statement that reads by key, with the parameter that holds the key."""
    for name in query_names():
        packaged = query(name)
        if packaged.mode == "read" and "tenant_id" in packaged.parameters:
            for parameter in sorted(packaged.parameters & {*KEYS, *LISTS}):
                yield packaged, parameter
            for part in LISTS:
                if f"$batch.{part}" in packaged.text:
                    yield packaged, f"batch.{part}"


def sent(packaged, parameter, tenant_id, keys):
    """The text and parameters that run a statement for many keys at once."""
    given = dict.fromkeys(packaged.parameters) | {"tenant_id": tenant_id}
    given |= {name: 100 for name in packaged.parameters if name.endswith(("limit", "hops"))}
    given |= {name: 2**62 for name in packaged.parameters if name.endswith("_us")}
    given |= dict.fromkeys(packaged.parameters & {"question", "text", "query", "words"}, "deploy")
    if parameter.startswith("batch."):
        return packaged.text, given | {"batch": {part: [] for part in LISTS} | {parameter[6:]: keys}}
    if parameter in LISTS:
        return packaged.text, given | {parameter: keys}
    inner = packaged.text.replace(f"${parameter}", "probe").replace("CALL () {", "CALL (probe) {")
    columns = ", ".join(packaged.row)
    text = f"UNWIND $probes AS probe CALL (probe) {{ {inner}\n}} RETURN {columns}"
    return text, {name: value for name, value in given.items() if name != parameter} | {"probes": keys}


@pytest.mark.fuzz
def test_a_hundred_thousand_keys_of_another_tenant_find_nothing(pair, record_property):
    """With another tenant's keys, reads return what an unknown tenant gets; as that tenant, they find nodes."""
    graph, other, ids = pair
    named = "MATCH (n {tenant_id: $tenant_id}) WHERE n.key IS NOT NULL RETURN n.key AS key"
    theirs = sorted(row["key"] for row in rows(graph, named, {"tenant_id": other.tenant_id}))
    odd = ["", "\0", "' OR 1=1", "*", *ids.values(), other.tenant_id, f"{other.tenant_id}\0d1"]
    chance = random.Random(11)
    unbatched, ran, hits = [], 0, 0
    for packaged, parameter in by_key():
        share = BATCHED_PROBES // 40
        keys = [chance.choice((*theirs, *theirs, *odd)) for _ in range(share)]
        keys += [other._tenancy.node_key(kind, str(chance.random())) for kind in ("task", "run", "facet", "dedup")]
        try:
            mine = [dict(row) for row in rows(graph, *sent(packaged, parameter, graph.tenant_id, keys))]
        except ClientError:
            unbatched.append((packaged.name, parameter))
            continue
        nobody = [dict(row) for row in rows(graph, *sent(packaged, parameter, "nobody-at-all", keys))]
        assert mine == nobody, packaged.name
        hits += rows(graph, *sent(packaged, parameter, other.tenant_id, keys)) != nobody
        ran += len(keys)
    record_property("probes", ran)
    assert ran >= BATCHED_PROBES
    assert hits >= 30
    assert {name for name, _ in unbatched} <= PROBED_BY_PACKS
