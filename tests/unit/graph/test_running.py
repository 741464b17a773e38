"""Plans and procedures driven by hand: no server, no mocks, only generators."""

import pytest

from hmxgraph.errors import NewerStore
from hmxgraph.graph.connection import perform
from hmxgraph.graph.plan import ask, bind, query_names, read, write
from hmxgraph.graph.schema import migrate

STATE = bind("tenants/state", tenant_id="t", tenant_key="k")


def answers(plan, *rows):
    """What *plan* returns when its statements are answered with *rows* in turn."""
    next(plan)
    for answer in rows:
        try:
            plan.send(answer)
        except StopIteration as stop:
            return stop.value
    raise AssertionError("the plan wants more rows")


def test_a_plan_returns_its_rows():
    """The smallest plan yields one statement and returns what was answered."""
    assert answers(ask(STATE), [{"state_version": 1}]) == [{"state_version": 1}]


def test_a_procedure_is_a_row_of_works():
    """Each work reaches the transaction function in order, and its value comes back to the procedure."""

    def procedure():
        first = yield from read(lambda: ask(STATE))
        second = yield from write(lambda: ask(STATE))
        return [first, second]

    seen = []

    def transact(work):
        seen.append(work.mode)
        return len(seen)

    assert perform(procedure(), transact) == [1, 2]
    assert seen == ["read", "write"]


def test_migration_applies_only_what_is_missing():
    """Steps that the graph already records are left alone."""
    steps = []

    def transact(work):
        plan = work.factory()
        steps.append((work.mode, next(plan).name))
        return transact.applied if work.mode == "read" else None

    transact.applied = frozenset()
    every = perform(migrate(), transact)
    steps.clear()
    transact.applied = frozenset(every[:-1])
    assert perform(migrate(), transact) == every[-1:]
    assert [name for _, name in steps] == [
        "schema_steps/applied",
        every[-1],
        "schema_steps/await",
        "schema_steps/record",
    ]


def test_a_step_that_was_given_up_is_no_newer_release():
    """Only what comes after all known steps is: a database may be older than a step's end."""
    every = query_names("schema")
    assert perform(migrate(), lambda _: frozenset({*every, "schema/096_failed_name"})) == ()
    with pytest.raises(NewerStore, match="schema/999_later"):
        perform(migrate(), lambda _: frozenset({*every, "schema/999_later"}))
