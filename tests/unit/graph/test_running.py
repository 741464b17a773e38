"""Plans and procedures driven by hand: no server, no mocks, only generators."""

from hmxgraph.graph.connection import perform
from hmxgraph.graph.plan import ask, bind, read, write

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
    """The smallest plan yields one statement and returns its rows."""
    assert answers(ask(STATE), [{"state_version": 1}]) == [{"state_version": 1}]


def test_a_procedure_is_a_row_of_works():
    """Each work is passed to the transaction function in order, and its value is sent back to the procedure."""

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
