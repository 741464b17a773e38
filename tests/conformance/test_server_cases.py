"""Every case of the kit that needs a store, played on the real graph through the public interface."""

import pytest
from neo4j import GraphDatabase

from hmxgraph.errors import HmxGraphError
from hmxgraph.graph.records import write_record
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.packs import SECTION_PRIORITY
from hmxgraph.protocol.records import TaskRecord
from tests.conformance.kit import at, built, cases, digest

CASES = [pytest.param(case, id=name) for name, case in cases(server=True).items()]
ORDER = """
MATCH (event:Event {tenant_id: $tenant_id, session_id: $session_id})
OPTIONAL MATCH (event)-[:NEXT]->(after:Event)
RETURN event.event_id AS event_id, after.event_id AS after
"""
STATE = "MATCH (tenant:Tenant {tenant_id: $tenant_id}) RETURN tenant.state_version AS version"


class Store:
    """The steps and the side effects of cases, on one tenant."""

    def __init__(self, graph, driver, database):
        self.graph = graph
        self._driver = driver
        self._database = database

    def do(self, step):
        """What one step results in, as a JSON-able document."""
        ((name, given),) = step.items()
        result = getattr(self, f"_{name}")(given)
        return result if isinstance(result, dict) else result.document()

    def asked(self, text, **parameters):
        """The rows of a bare statement about this tenant."""
        given = {"tenant_id": self.graph.tenant_id, **parameters}
        return self._driver.execute_query(text, given, database_=self._database).records

    def version(self):
        """The version of the tenant's state; 0 before the first write."""
        rows = self.asked(STATE)
        return rows[0]["version"] if rows else 0

    def holds(self, name, value, before):
        """Whether a side effect is there to be seen."""
        match name:
            case "none":
                return True
            case "unchanged":
                return self.version() == before
            case "status":
                return self.graph.artifact(value["artifact_id"]).status == value["is"]
            case "chain":
                return [one.artifact_id for one in self.graph.chain(value["of"]).versions] == value["is"]
            case "order":
                return self._order(value["session_id"]) == value["is"]
            case "trust":
                return self.graph.records.get(value["artifact_id"]).trust_tier == value["is"]
        raise AssertionError(f"the kit knows no side effect {name!r}")

    def _document(self, described):
        document = built(described)
        return document | {"tenant_id": self.graph.tenant_id} if "tenant_id" in document else document

    def _ingest(self, events):
        return self.graph.ingest([self._document(event) for event in events])

    def _record_artifact(self, artifact):
        return self.graph.record_artifact(self._document(artifact))

    def _supersede(self, given):
        return self.graph.supersede(given["old"], self._document(given["artifact"]))

    def _transition(self, given):
        return self.graph.transition(given["artifact_id"], given["status"])

    def _chain(self, given):
        return self.graph.chain(given["of"])

    def _pack(self, given):
        return self.graph.pack(**given)

    def _export_fingerprint(self, given):
        return self.graph.export_fingerprint(tier=given["tier"])

    def _import_fingerprint(self, described):
        return self.graph.import_fingerprint(built(described))

    def _record_task(self, record):
        # The face drafts records from fields; whole documents come in by the procedure behind it.
        given = TaskRecord.parse(self._document(record))
        return self.graph._perform(write_record(Tenancy.of(self.graph.tenant_id), given))

    def _search_tasks(self, given):
        found = self.graph.records.search(given["query"], **given["filters"])
        return {"artifact_ids": [hit.artifact_id for hit in found.hits]}

    def _order(self, session_id):
        after = {row["event_id"]: row["after"] for row in self.asked(ORDER, session_id=session_id)}
        event_id = next((name for name in after if name not in after.values()), None)
        chain = []
        while event_id is not None and len(chain) < len(after):
            chain.append(event_id)
            event_id = after[event_id]
        return chain


@pytest.fixture(scope="module")
def driver(address):
    """A bare driver, to look at what a step left behind."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        yield driver


@pytest.fixture
def store(graph, driver, address):
    """The real graph on an empty tenant."""
    return Store(graph, driver, address.database)


@pytest.mark.parametrize("case", CASES)
def test_server_case(store, case):
    """The step ends as the case says and leaves behind what the case says."""
    earlier = None
    for step in case["given"]:
        earlier = store.do(step)
    before = store.version()
    then = case["then"]
    if "error" in then:
        refused(lambda: store.do(case["when"]), then)
    else:
        fits(store.do(case["when"]), earlier, then)
    for effect in case["side_effects"]:
        for name, value in effect.items():
            assert store.holds(name, value, before), (name, value)


def refused(step, then):
    """The step raises the error of that name, with those fields."""
    with pytest.raises(HmxGraphError) as caught:
        step()
    assert type(caught.value).__name__ == then["error"]
    for name, value in then.get("fields", {}).items():
        assert getattr(caught.value, name) == value


def fits(result, earlier, then):
    """The result has the values, endings and sources, stays under the limits, is in order, or is the same as before."""
    for pointer, value in then.get("result", {}).items():
        assert at(result, pointer) == value
    for pointer, limit in then.get("at_most", {}).items():
        assert at(result, pointer) <= limit
    for pointer, ending in then.get("ends", {}).items():
        assert at(result, pointer).endswith(ending)
    for pointer, ids in then.get("sources", {}).items():
        assert sorted(entry["source_id"] for entry in at(result, pointer)) == sorted(ids)
    if "ordered" in then:
        entries = at(result, then["ordered"])
        assert entries == sorted(entries, key=place)
    if "same_as_before" in then:
        assert alike(result, then["same_as_before"]) == alike(earlier, then["same_as_before"])


def place(entry):
    """The place of an entry by HMX-C 3.3."""
    section = SECTION_PRIORITY.index(entry["section"])
    return section, -entry["relevance_score"], entry["token_estimate"], entry["source_id"]


def alike(result, which):
    """What of a result is compared: the values at some pointers, or the canonical rest without them."""
    if "only" in which:
        return [at(result, pointer) for pointer in which["only"]]
    for pointer in which.get("except", ()):
        parent, _, name = pointer.rpartition("/")
        at(result, parent).pop(name, None)
    return digest(result)
