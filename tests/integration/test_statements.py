"""Every packaged statement on the real server: it plans, it does what its mode says, the planner has no complaint."""

import pytest
from neo4j import GraphDatabase

from hmxgraph.graph.catalogue import query, query_names

QUERY_TYPES = {"read": {"r"}, "write": {"w", "rw"}, "schema": {"s", "r", "w", "rw"}}
SCANS = ("NodeByLabelScan", "AllNodesScan", "RelationshipTypeScan", "AllRelationshipsScan")
TENANT_READS = [name for name in query_names() if query(name).mode == "read" and "tenant_id" in query(name).parameters]


@pytest.fixture(scope="module")
def driver(address):
    """A bare driver, for EXPLAIN."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        yield driver


def example(parameter):
    """A value that the planner accepts for *parameter*: counts are numbers, the rest is unknown."""
    return 10 if parameter.endswith(("limit", "skip", "hops")) else None


@pytest.mark.parametrize("name", [name for name in query_names() if not name.startswith("databases/")])
def test_statement_plans_without_complaint(driver, address, name):
    """The server plans the statement, agrees with its mode and columns, and warns of nothing."""
    packaged = query(name)
    parameters = {parameter: example(parameter) for parameter in packaged.parameters}
    with driver.session(database=address.database) as session:
        result = session.run("EXPLAIN " + packaged.text, parameters)
        columns = tuple(result.keys())
        summary = result.consume()
    # The server counts its own procedures (dbms.components) as administration.
    allowed = QUERY_TYPES[packaged.mode] | ({"s"} if name.startswith("health/") else set())
    assert summary.query_type in allowed
    assert columns == packaged.row
    assert [status for status in summary.gql_status_objects if status.is_notification] == []


def test_a_task_is_locked_before_it_is_there(driver, address):
    """The lock of a task holds its key even where there is no node yet; who starts it second waits for the first."""
    packaged = query("tasks/lock")
    parameters = dict.fromkeys(packaged.parameters)
    plan = driver.execute_query(f"EXPLAIN {packaged.text}", parameters, database_=address.database).summary.plan
    assert "NodeUniqueIndexSeek(Locking)" in operators(plan)


@pytest.mark.parametrize("name", TENANT_READS)
def test_no_read_goes_through_all_tenants(driver, address, name):
    """What is read is looked for in an index, by key or by tenant: what others store makes nobody slower."""
    packaged = query(name)
    parameters = {parameter: example(parameter) for parameter in packaged.parameters}
    plan = driver.execute_query(f"EXPLAIN {packaged.text}", parameters, database_=address.database).summary.plan
    assert not {one for one in operators(plan) if one.endswith(SCANS)}


def operators(plan):
    """The operators of a plan."""
    below = (one for child in plan.get("children", ()) for one in operators(child))
    return {plan["operatorType"].removesuffix("@neo4j"), *below}
