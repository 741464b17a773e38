"""The task board: listing, claims with a lease, release and reopening."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hmxgraph import TaskError

AT = "2026-03-14T03:{:02}:00Z"


@pytest.fixture
def task_id(graph):
    """A started task in a project."""
    return graph.tasks.start("Find the leak", agent_id="ana", project_id="p", at=AT.format(0)).task_id


def holders(graph, **chosen):
    """Each task on the board with its assignee."""
    return [(entry.task_id, entry.assignee) for entry in graph.tasks.list(**chosen)]


def test_the_board_lists_by_project_status_and_assignee(graph, task_id):
    """The board filters by project, status and assignee, ignoring case and extra spaces; the latest comes first."""
    other = graph.tasks.start("Close it", project_id="q", at=AT.format(1)).task_id
    graph.tasks.claim(task_id, agent_id="Ana B", lease=600, at=AT.format(2))
    graph.tasks.finish(other, at=AT.format(3))
    now = {"at": AT.format(4)}
    assert holders(graph, **now) == [(other, None), (task_id, "Ana B")]
    assert holders(graph, project_id="p", **now) == [(task_id, "Ana B")]
    assert holders(graph, status="Completed", **now) == [(other, None)]
    assert holders(graph, assignee=" ana  b", **now) == [(task_id, "Ana B")]
    assert holders(graph, assignee="bo", **now) == []
    (row,) = [row for row in graph.query("explore/task_board") if row["task_id"] == task_id]
    assert (row["status"], row["assignee"], row["goal"]) == ("open", "Ana B", "Find the leak")


def test_a_claim_lasts_as_long_as_its_lease(graph, task_id):
    """Other agents are refused until the lease ends; the holder can extend it; afterwards the task is free."""
    graph.tasks.claim(task_id, agent_id="ana", lease=60, at=AT.format(1))
    with pytest.raises(TaskError, match=r"is held by 'ana' until 2026-03-14T03:02:00\.000Z"):
        graph.tasks.claim(task_id, agent_id="bo", at=AT.format(1))
    graph.tasks.claim(task_id, agent_id="ANA", lease=120, at=AT.format(2))
    assert holders(graph, at=AT.format(3)) == [(task_id, "ANA")]
    assert holders(graph, at=AT.format(4)) == [(task_id, None)]
    graph.tasks.claim(task_id, agent_id="bo", lease=60, at=AT.format(5))
    assert "held by bo until 2026-03-14T03:06:00.000Z" in graph.tasks.resume(task_id).open


def test_a_finished_task_does_not_return_to_whose_lease_was_over(graph, task_id):
    """A finished task keeps the assignee that held it when it was finished, not one whose lease had ended."""
    graph.tasks.claim(task_id, agent_id="ana", lease=60, at=AT.format(1))
    held = graph.tasks.start("Close it", at=AT.format(1)).task_id
    graph.tasks.claim(held, agent_id="bo", lease=600, at=AT.format(1))
    for name in (task_id, held):
        graph.tasks.finish(name, at=AT.format(4))
    assert dict(holders(graph, at=AT.format(5))) == {task_id: None, held: "bo"}


def test_release_and_reopen(graph, task_id):
    """Only the holder can release a task; a finished task must be reopened before it can be claimed."""
    graph.tasks.claim(task_id, agent_id="ana", at=AT.format(1))
    with pytest.raises(TaskError, match="is held by 'ana'"):
        graph.tasks.release(task_id, agent_id="bo", at=AT.format(2))
    graph.tasks.release(task_id, agent_id="Ana", at=AT.format(3))
    with pytest.raises(TaskError, match="nobody holds task"):
        graph.tasks.release(task_id, agent_id="ana", at=AT.format(4))
    graph.tasks.finish(task_id, summary="closed", at=AT.format(5))
    with pytest.raises(TaskError, match=r"is finished .completed.; reopen it first"):
        graph.tasks.claim(task_id, agent_id="bo", at=AT.format(6))
    graph.tasks.reopen(task_id, summary="it leaks again", agent_id="bo", at=AT.format(7))
    resume = graph.tasks.resume(task_id)
    assert (resume.status, resume.open) == ("open", ("reopened by bo: it leaks again",))
    graph.tasks.progress(task_id, summary="found", next_step="fix", at=AT.format(8))
    assert graph.tasks.get(task_id).status == "open"
    with pytest.raises(TaskError, match="is not finished"):
        graph.tasks.reopen(task_id, summary="again", at=AT.format(9))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"agent_id": ""}, "agent_id is missing"), ({"agent_id": "ana", "lease": 0}, "lease of 0 is not a whole number")],
)
def test_a_claim_names_its_agent_and_lease(graph, task_id, fields, reason):
    """A claim without an agent, or with a lease of 0, is refused."""
    with pytest.raises(TaskError, match=reason):
        graph.tasks.claim(task_id, **fields)


def test_of_many_who_claim_at_once_a_single_agent_gets_the_task(graph, task_id):
    """Of many agents that claim a task at the same time, exactly one gets it."""

    def claimed(agent):
        try:
            graph.tasks.claim(task_id, agent_id=agent, at=AT.format(1))
        except TaskError:
            return None
        return agent

    with ThreadPoolExecutor(6) as pool:
        winners = [agent for agent in pool.map(claimed, ("ana", "bo", "cy", "dan", "eva", "flo")) if agent]
    assert holders(graph, at=AT.format(2)) == [(task_id, winners[0])]
    assert len(winners) == 1
