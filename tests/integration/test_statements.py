"""Every packaged statement on the real server: it plans without warnings and does what its mode says."""

import re
from collections import Counter

import pytest
from neo4j import GraphDatabase

from hmxgraph.graph.plan import query, query_names
from tests.databases import local_database

QUERY_TYPES = {"read": {"r"}, "write": {"w", "rw"}, "schema": {"s", "r", "w", "rw"}}
DATABASE = "neo4j"
SCANS = ("NodeByLabelScan", "AllNodesScan", "RelationshipTypeScan", "AllRelationshipsScan")
SCANS_OF_PACKS = ("Scan",)
WRITES_BY_KEY = [name for name in query_names() if query(name).mode == "write" and "{key: " in query(name).text]
TENANT_READS = [name for name in query_names() if query(name).mode == "read" and "tenant_id" in query(name).parameters]


@pytest.fixture(scope="module")
def young(tmp_path_factory):
    """A driver for a fresh database with only its schema.

    It holds no names or data of other tests that could change plans or hide warnings.
    """
    with (
        local_database(tmp_path_factory.mktemp("young")) as own,
        GraphDatabase.driver(own.uri, auth=(own.user, own.password)) as driver,
    ):
        yield driver


def example(parameter):
    """A value the planner accepts for *parameter*: a number for counts, else null."""
    return 10 if parameter.endswith(("limit", "skip", "hops")) else None


@pytest.mark.parametrize("name", [name for name in query_names() if not name.startswith("databases/")])
def test_statement_plans_without_complaint(young, name):
    """On a fresh database the statement plans without warnings and matches its declared mode and columns."""
    packaged = query(name)
    parameters = {parameter: example(parameter) for parameter in packaged.parameters}
    with young.session(database=DATABASE) as session:
        result = session.run("EXPLAIN " + packaged.text, parameters)
        columns = tuple(result.keys())
        summary = result.consume()
    # The server classifies its own procedures (dbms.components) as schema queries.
    allowed = QUERY_TYPES[packaged.mode] | ({"s"} if name.startswith("health/") else set())
    assert summary.query_type in allowed
    assert columns == packaged.row
    assert [status for status in summary.gql_status_objects if status.is_notification] == []


def test_a_task_is_locked_before_it_is_there(young):
    """Locking a task locks its key even before its node exists, so a second starter waits for the first."""
    packaged = query("tasks/lock")
    parameters = dict.fromkeys(packaged.parameters)
    plan = young.execute_query(f"EXPLAIN {packaged.text}", parameters, database_=DATABASE).summary.plan
    assert "NodeUniqueIndexSeek(Locking)" in operators(plan)


def test_the_newest_records_of_a_facet_come_from_the_index_in_order(young):
    """The newest records of a facet are read from an index in order, up to the limit, without sorting."""
    packaged = query("tasks/newest_with_facet")
    parameters = {parameter: example(parameter) for parameter in packaged.parameters}
    plan = young.execute_query(f"EXPLAIN {packaged.text}", parameters, database_=DATABASE).summary.plan
    assert {"DirectedRelationshipIndexSeek", "Limit", "PartialTop"} <= operators(plan)
    assert not {"Sort", "Top"} & operators(plan)


def test_pages_of_changed_sessions_come_from_one_index_in_order(young):
    """Pages of changed sessions are read in order, from one index, on a database without data too."""
    packaged = query("compiler/unread_sessions")
    parameters = {parameter: example(parameter) for parameter in packaged.parameters}
    plan = young.execute_query(f"EXPLAIN {packaged.text}", parameters, database_=DATABASE).summary.plan
    assert "PartialTop" in operators(plan)
    assert not {"Union", "Top"} & operators(plan)


@pytest.mark.parametrize("name", WRITES_BY_KEY)
def test_what_is_given_by_its_key_is_not_looked_for_otherwise(young, name):
    """Each node that a writing statement gives by its key alone is found by it.

    On a database without data the planner may prefer an index that later finds thousands, such as tenant and status.
    """
    packaged = query(name)
    parameters = {parameter: example(parameter) for parameter in packaged.parameters}
    plan = young.execute_query(f"EXPLAIN {packaged.text}", parameters, database_=DATABASE).summary.plan
    given = Counter(re.findall(r"MATCH \((\w+):\w+ \{key: [^()]*\)$", packaged.text, re.MULTILINE))
    seeks = [re.search(r"(\w+):\w+\((?:.*, )?key\b", details) for details in details_of(plan, "Seek")]
    assert given <= Counter(seek[1] for seek in seeks if seek)


@pytest.mark.parametrize("name", TENANT_READS)
def test_no_read_goes_through_all_tenants(young, name):
    """Every read seeks by key or tenant, so that other tenants' data do not slow it down.

    Packs do not scan even a whole index: they read by key, word, session and time only.
    """
    packaged = query(name)
    parameters = {parameter: example(parameter) for parameter in packaged.parameters}
    plan = young.execute_query(f"EXPLAIN {packaged.text}", parameters, database_=DATABASE).summary.plan
    assert not {
        operator
        for operator in operators(plan)
        if operator.endswith(SCANS_OF_PACKS if name.startswith("recall/") else SCANS)
    }


def operators(plan):
    """The operators of a plan."""
    below = (operator for child in plan.get("children", ()) for operator in operators(child))
    return {plan["operatorType"].removesuffix("@neo4j"), *below}


def details_of(plan, kind):
    """The details of the operators of a plan whose names contain *kind*."""
    own = [plan["args"].get("Details", "")] if kind in plan["operatorType"] else []
    return [*own, *(details for child in plan.get("children", ()) for details in details_of(child, kind))]
