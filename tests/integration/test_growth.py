"""The cost of an operation as the store grows: it depends on what is asked for, not on what is stored."""

from functools import partial

import pytest
from neo4j import GraphDatabase

import hmxgraph
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.reconcile import COMPILER
from hmxgraph.fingerprint.behaviour import RULES
from hmxgraph.graph import retention
from hmxgraph.graph.artifacts import ALWAYS
from hmxgraph.graph.compilations import LINEAGES, CompileOptions, _begin, summary_version
from hmxgraph.graph.plan import Tenancy, query, read, write
from hmxgraph.graph.schema import packaged_schema, send_all
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.comparison import OPPOSED_RELATIONS
from tests.artifact_makers import policy
from tests.counting import Counting
from tests.session_makers import START, event, repaired_deployment, service_work

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture
def hits(address):
    """Returns the database hits and the number of rows of a packaged statement."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:

        def hits(name, **parameters):
            statement = f"PROFILE {query(name).text}"
            done = driver.execute_query(statement, parameters, database_=address.database)
            return _hits(done.summary.profile), len(done.records)

        yield hits


def _hits(plan):
    return plan.get("dbHits", 0) + sum(_hits(child) for child in plan.get("children", ()))


def sessions(tenant_id, numbers):
    """Sessions with one message each."""
    return [
        event(f"s{number}", 0, "message", {"role": "user", "text": "Deploy"}, tenant=tenant_id) for number in numbers
    ]


SUMMARY_VERSION = summary_version(DEFAULT_PROFILE)
PAGES = {
    "compiler/unread_sessions": {
        "from_version": 1,
        "until_version": 1,
        "full": True,
        "summary_version": SUMMARY_VERSION,
        "logging_sessions": "none",
    },
    "compiler/latest_sessions": {"summary_version": SUMMARY_VERSION},
    "fingerprints/uncounted_sessions": {"rules": RULES},
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_sessions_costs_what_it_holds(graph, tenant_id, hits, name):
    """A page of sessions costs the same however many sessions there are before and after it."""

    def page():
        graph.compile()
        return hits(name, tenant_id=tenant_id, after="4", limit=3, **PAGES[name])

    graph.ingest(sessions(tenant_id, range(20)))
    few = page()
    graph.ingest(sessions(tenant_id, range(20, 100)))
    assert page() == few
    assert few[1] == 3


def test_a_compilation_looks_at_what_changed(graph, connection, tenant_id, hits):
    """Looking for changed sessions costs the same however many sessions are already compiled."""

    def changed(number):
        graph.compile()
        graph.ingest(sessions(tenant_id, [number]))
        run = connection.perform(read(partial(_begin, Tenancy.of(tenant_id), CompileOptions())))
        versions = {"from_version": run.from_version, "until_version": run.version}
        asked = {"full": False, "summary_version": SUMMARY_VERSION, "logging_sessions": "none", "limit": 200}
        return hits("compiler/unread_sessions", tenant_id=tenant_id, after="", **versions, **asked)

    graph.ingest(sessions(tenant_id, range(20)))
    few = changed(20)
    graph.ingest(sessions(tenant_id, range(21, 100)))
    assert changed(100) == few
    assert few[1] == 1


def test_a_compilation_costs_what_it_learns_from(address, tenant_id):
    """A compilation reads only the latest sessions that the profile allows, however many older ones there are."""
    connection = Counting(address)
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)
    profile = CompilerProfile(max_sessions=10)

    def cost(numbers, changed):
        graph.ingest(line for n in numbers for line in repaired_deployment(f"d{n:03}", tenant=tenant_id))
        graph.compile(profile=profile)
        graph.ingest(repaired_deployment(changed, tenant=tenant_id))
        before = connection.hits
        assert graph.compile(profile=profile).sessions == 10
        return connection.hits - before

    cost(range(12), "e000")
    few = cost(range(12, 24), "e001")
    assert cost(range(24, 120), "e002") == few
    connection.close()


LONG = "talks/" + "x" * 300
BY_SESSION_ID = {
    "explore/session_story": {"session_id": LONG},
    "explore/session_picture": {"session_id": LONG},
    "events/latest_under": {"prefix": LONG[:-1], "as_of_us": None, "passing": []},
}


@pytest.mark.parametrize("name", BY_SESSION_ID)
def test_a_session_is_found_by_its_id_without_the_rest(graph, tenant_id, hits, name):
    """Finding a session by its id, even a long one, costs the same however many other sessions there are."""
    graph.ingest([event(LONG, 0, "message", {"role": "user", "text": "Deploy"}, tenant=tenant_id)])
    graph.ingest(sessions(tenant_id, range(20)))
    few = hits(name, tenant_id=tenant_id, **BY_SESSION_ID[name])
    graph.ingest(sessions(tenant_id, range(20, 100)))
    assert hits(name, tenant_id=tenant_id, **BY_SESSION_ID[name]) == few
    assert few[1] == 1


def test_goals_that_sessions_had_are_not_read_for_a_pack(address, tenant_id):
    """A pack reads only remembered goals, so its cost does not grow with the number of sessions that had one."""
    connection = Counting(address)
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)
    graph.remember("Finish the staging migration", kind="goal")

    def cost(numbers):
        graph.ingest(line for n in numbers for line in repaired_deployment(f"d{n}", tenant=tenant_id))
        before = connection.hits
        assert "staging migration" in graph.pack("Why?").text
        return connection.hits - before

    few = cost(range(20))
    assert cost(range(20, 60)) == few
    connection.close()


def test_the_rest_of_an_id_is_found_without_events(graph, tenant_id, hits):
    """Completing an id reads events only if no artifact, memory, conflict, record or task matches."""

    def found(prefix):
        return hits("explore/ids", tenant_id=tenant_id, prefix=prefix)

    graph.record_artifact(policy("p-of-staging", "Use it"))
    graph.ingest(sessions(tenant_id, range(20)))
    few = found("p-of")
    graph.ingest(sessions(tenant_id, range(20, 100)))
    assert found("p-of") == few
    assert (few[1], found("s99/")[1]) == (1, 1)


def test_sessions_of_an_older_release_are_found_after_the_upgrade(graph, connection, tenant_id, address):
    """The upgrade adds the id prefix by which sessions are found to those of an older release."""
    graph.ingest(sessions(tenant_id, range(2)))
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        removal = "MATCH (session:Session {tenant_id: $tenant_id}) REMOVE session.id_start"
        driver.execute_query(removal, tenant_id=tenant_id, database_=address.database)
    assert not graph.query("explore/session_story", session_id="s1").rows
    [upgrade] = [step for step in packaged_schema().upgrades if step.version == 13]
    connection.perform(write(partial(send_all, upgrade.statements)))
    assert len(graph.query("explore/session_story", session_id="s1").rows) == 1


@pytest.fixture
def deployed(graph, tenant_id, hits):
    """Returns an erasure statement's database hits per row for one of *count* similar sessions, compiled."""
    tenancy = Tenancy.of(tenant_id)

    def deployed(name, count):
        graph.ingest(line for number in range(count) for line in repaired_deployment(f"d{number}", tenant=tenant_id))
        graph.compile()
        batch = {"session_keys": [tenancy.node_key("d0")], "event_keys": [tenancy.node_key("d0/1")]}
        accesses, rows = hits(name, tenant_id=tenant_id, batch=batch, compiler=COMPILER, lineages=LINEAGES)
        return accesses / rows

    return deployed


@pytest.mark.parametrize("name", ["retention/compiled_from", "retention/dependents"])
def test_erasing_costs_what_is_erased(deployed, name):
    """Erasing a session does not read the other evidence of its artifacts, entities and memories."""
    few = deployed(name, 4)
    assert deployed(name, 40) < 1.5 * few


def test_what_has_expired_is_found_without_the_rest(graph, tenant_id, hits):
    """Finding expired events costs the same however many events have not expired."""
    chosen = {"event_keys": None, "session_key": None, "agent_id": None, "source": None, "before_us": None}
    chosen |= {"user_keys": None, "expired_us": START + 60_000_000}

    def page():
        where = {"tenant_id": tenant_id, "chosen": chosen, "after": 0, "after_key": "", "limit": 10}
        return hits(retention._selection(chosen), **where)

    message = {"role": "user", "text": "Deploy"}
    graph.ingest(event(f"t{n}", n, "message", message, tenant=tenant_id, ttl_seconds=10**n) for n in range(4))
    graph.ingest(sessions(tenant_id, range(20)))
    few = page()
    graph.ingest(sessions(tenant_id, range(20, 100)))
    assert page() == few
    assert few[1] == 2


def test_forgetting_a_user_costs_what_names_the_user(address, tenant_id):
    """Forgetting a user costs the same however many events there are of others."""
    connection = Counting(address)
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)

    def said(user, numbers):
        text = {"role": "user", "text": "Deploy staging"}
        graph.ingest(
            event(f"{user}{n % 7}", n, "message", text, tenant=tenant_id, metadata={"user_id": user}) for n in numbers
        )

    def cost(user):
        said(user, range(20))
        said("last", range(1_000, 1_001))  # forgetting the latest event sets the clock back
        before = connection.hits
        assert len(graph.forget(user_id=user).events) == 20
        return connection.hits - before

    costs = []
    for user, others in (("ann", 20), ("bea", 1_000)):
        said("others", range(others))
        costs.append(cost(user))
    connection.close()
    assert costs[1] < 1.1 * costs[0]


@pytest.mark.parametrize("asked", ["latest_us", "from_us"])
def test_the_latest_events_are_read_without_the_rest(graph, tenant_id, hits, asked):
    """A pack reads the latest events straight from the index, however many there are."""
    tenancy = Tenancy.of(tenant_id)
    never = 2**62
    nothing = {
        "anchors": [],
        "long_events": [],
        "most_mentions": 30,
        "session_key": "",
        "latest_us": never,
        "from_us": never,
    }
    nothing |= {"named": [], "related": False, "most_links": 30, "sessions": [], "calls": [], "unanswered": []}
    nothing |= {"worths": [], "if_failed": 1.0, "trails": [], "examples": 0, "short_session": 0, "long_session": 0}
    where = {"tenant_id": tenant_id, "tenant_key": tenancy.key, "as_of_us": never, "to_us": never, **nothing, asked: 0}

    def events(numbers):
        for number in numbers:
            yield event(f"t{number}", number, "message", {"role": "user", "text": "Deploy"}, tenant=tenant_id)

    graph.ingest(events(range(200)))
    few = hits("recall/surroundings", **where)
    graph.ingest(events(range(200, 1_200)))
    assert hits("recall/surroundings", **where) == few


def test_a_page_of_artifacts_costs_what_it_holds(graph, tenant_id, hits):
    """A page of artifacts costs the same however many artifacts there are."""
    asked = {"status": "active", "artifact_type": None, "compiled_by": None, "tags": [], "terms": []}
    asked |= {"agent_id": None, "situation": [], "after_us": None, "after_id": "", "limit": 3}
    asked |= {"as_of_us": ALWAYS, "moment_us": ALWAYS, "until_us": ALWAYS}

    def page():
        return hits("artifacts/list", tenant_id=tenant_id, **asked)

    def record(numbers):
        for number in numbers:
            graph.record_artifact(policy(f"a{number}", f"Take path {number}", second=number))

    record(range(10))
    few = page()
    record(range(10, 60))
    assert page() == few
    assert few[1] == 3


def test_a_page_of_memories_costs_what_it_holds(graph, tenant_id, hits):
    """First and later pages of memories cost the same however many memories there are."""
    asked = {"kind": None, "status": None, "subject": None, "as_of_us": None, "until_us": ALWAYS, "limit": 3}
    later = {"until_us": START + 8_000_000, "after_us": START + 8_000_000, "after_id": ""}

    def pages():
        first = hits("memories/list", tenant_id=tenant_id, after_us=None, after_id=None, **asked)
        return first, hits("memories/list", tenant_id=tenant_id, **asked | later)

    def remember(numbers):
        for number in numbers:
            graph.remember(f"Service {number} listens on port {number}", at=iso(START + number * 1_000_000))

    remember(range(10))
    few = pages()
    remember(range(10, 60))
    assert pages() == few
    assert [rows for _, rows in few] == [3, 3]


def test_a_page_to_verify_costs_what_it_holds(graph, tenant_id, hits):
    """Verifying a page of events costs the same however many events follow it."""
    message = {"role": "user", "text": "Deploy"}

    def cost(numbers):
        graph.ingest(event("v", number, "message", message, tenant=tenant_id) for number in numbers)
        return hits("verify/events", tenant_id=tenant_id, after_us=START, after_key="", limit=10)

    few, rows = cost(range(20))
    assert cost(range(20, 100)) <= (few, rows)
    assert rows == 10


NOBODY = "+tenant_scope:nobody"
OF_A_SESSION = {
    "events/neighbours": {},
    "compiler/session_start": {"limit": 20},
    "compiler/session_end": {"sequence": 0, "time_us": 0, "event_id": "", "limit": 20},
    "recall/events": {
        "query": NOBODY,
        "terms": [NOBODY],
        "weights": [1.0],
        "most": 1,
        "few": 1_000,
        "limit": 1,
        "reach": 1,
        "windows": 1,
        "works": True,
        "model_key": "",
        "models": [],
        "guided": False,
    },
    "recall/surroundings": {
        "anchors": [],
        "trails": [],
        "named": [],
        "related": True,
        "most_links": 30,
        "long_events": [],
        "most_mentions": 30,
        "latest_us": ALWAYS,
        "from_us": ALWAYS,
        "to_us": ALWAYS,
        "worths": [1.0],
        "if_failed": 1.0,
        "examples": 4,
        "short_session": 128,
        "long_session": 256,
    },
}


@pytest.mark.parametrize("name", OF_A_SESSION)
def test_a_long_session_costs_what_is_read_of_it(graph, tenant_id, hits, name):
    """Reading part of a session through the index costs the same however long the session is."""
    tenancy = Tenancy.of(tenant_id)
    session_key = tenancy.node_key("long")

    def cost(begin, end):
        work = {"tool_name": "make", "arguments": {}}
        graph.ingest(event("long", number, "tool_call", work, tenant=tenant_id) for number in range(begin, end))
        late = {"session_key": session_key, "sequence": end - 1}
        given = {"tenant_id": tenant_id, "tenant_key": tenancy.key, "session_key": session_key}
        call = tenancy.node_key(f"long/{end - 1}")
        given |= {"sessions": [session_key], "calls": [call], "unanswered": [call]}
        given |= {"as_of_us": ALWAYS, "batch": {"late": [late]}, **OF_A_SESSION[name]}
        return hits(name, **{parameter: given[parameter] for parameter in query(name).parameters})

    few = cost(0, 300)
    assert cost(300, 900) == few


@pytest.mark.parametrize("second", [0, 1], ids=["one time", "a time each"])
def test_late_events_with_one_sequence_number_cost_little_more(address, tenant_id, second):
    """Late events whose sequence number many stored events have too cost a few times what appended ones cost."""
    connection = Counting(address)
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)

    def cost(session_id, numbers, sequence):
        before, documents = connection.hits, []
        for number in numbers:
            document = event(
                session_id, number, "message", {"role": "user", "text": "yes"}, tenant=tenant_id
            ).document()
            times = iso(START + second * number * 1_000_000)
            documents.append(document | {"timestamp": times, "sequence": sequence(number)})
        graph.ingest(documents)
        return connection.hits - before

    cost("ordered", range(1, 600), lambda number: number)
    appended = cost("ordered", range(600, 800), lambda number: number)
    cost("tied", [*range(1, 1_200, 2), 1_200], lambda _: 1)
    late = cost("tied", range(400, 800, 2), lambda _: 1)
    connection.close()
    assert late < 4 * appended


def test_a_long_session_costs_what_its_ends_cost(address, tenant_id):
    """Beyond 2,000 events, the cost of packs, compilations, suggestions and erasures stops growing with the session."""
    connection = Counting(address)
    graph = hmxgraph.KnowledgeGraph(address, tenant_id, connection=connection)

    def work(begin, end):
        graph.ingest(service_work("long", range(begin, end), tenant=tenant_id))

    def hits(call):
        before = connection.hits
        call()
        return connection.hits - before

    def costs(begin, end):
        work(begin, end)
        graph.compile()
        work(end, end + 1)
        return {
            "compile": hits(graph.compile),
            "suggest": hits(lambda: graph.suggest(session_id="long")),
            "pack": hits(lambda: graph.pack("Restart service 12", session_id="long")),
            "pack of no work": hits(lambda: graph.pack("Who likes zebras?", session_id="long")),
            "forget": hits(lambda: graph.forget(event_id=f"long/{begin + 1_000}")),
        }

    few, many = costs(0, 2_600), costs(2_601, 7_200)
    connection.close()
    assert {name: many[name] for name in few if many[name] > 1.2 * few[name]} == {}


def test_the_latest_reports_are_read_without_the_rest(graph, tenant_id, hits):
    """An export reads the latest pack reports straight from the index, however many there are."""

    def judge(numbers):
        for number in numbers:
            graph.feedback(graph.pack(f"How is service {number} deployed?"), at=iso(START + number * 1_000_000))

    graph.ingest(sessions(tenant_id, range(3)))
    judge(range(10))
    few = hits("fingerprints/reports", tenant_id=tenant_id, limit=4)
    judge(range(10, 40))
    assert hits("fingerprints/reports", tenant_id=tenant_id, limit=4) == few
    assert few[1] == 4


def test_relations_that_exclude_each_other_are_found_without_the_rest(graph, tenant_id, hits):
    """Finding mutually exclusive relations does not read relations of other types."""

    def cost(numbers):
        graph.ingest(service_work("long", numbers, tenant=tenant_id))
        return hits("conflicts/opposed_relations", tenant_id=tenant_id, pairs=OPPOSED_RELATIONS)

    few = cost(range(6))
    before = graph.digest().relation_count
    assert cost(range(6, 120)) == few
    assert graph.digest().relation_count > before


@pytest.mark.parametrize("status", ["open", None])
def test_a_page_of_conflicts_costs_what_it_holds(graph, tenant_id, hits, status):
    """A page of conflicts costs about the same however many conflicts there are."""

    def page():
        standing = [status] if status else ["open", "resolved"]
        asked = {"status": status, "standing": standing, "as_of_us": ALWAYS, "newest": "", "limit": 3}
        return hits("conflicts/list", tenant_id=tenant_id, after_key="", **asked)[0]

    def contradict(numbers):
        for number in numbers:
            for answer in ("Lock the table", "Migrate online"):
                graph.record_artifact(
                    policy(f"{answer}{number}", answer, condition=f"The table is {number}", second=number)
                )

    contradict(range(6))
    few = page()
    contradict(range(6, 30))
    assert page() <= few + 3


def test_comparing_artifacts_costs_what_there_is_to_compare(graph, tenant_id, hits):
    """Of artifacts about one condition, each pair costs the same to compare however many conflicts they have."""

    def per_pair(numbers):
        for number in numbers:
            graph.record_artifact(policy(f"p{number}", f"Use {number}"))
        keys = [Tenancy.of(tenant_id).node_key(f"p{number}") for number in numbers]
        return hits("conflicts/claims", tenant_id=tenant_id, keys=keys)[0] / (len(keys) * max(numbers))

    few = per_pair(range(10))
    assert per_pair(range(10, 50)) < 2 * few
