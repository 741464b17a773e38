"""Handing work over: after a day with several agents, the resume and the brief answer the next agent's questions."""

import pytest

from tests.claims.working_day import DAY, TASK, is_answered, work

GOAL = 0.95


@pytest.fixture
def worked_day(graph):
    """A graph after the scripted working day."""
    work(graph)
    return graph


def test_the_resume_answers_the_next_agents_questions(worked_day):
    """The resume alone answers at least 95 % of the questions about a working day."""
    text = worked_day.tasks.resume(TASK).text
    wrong = [question["asks"] for question in DAY["question"] if not is_answered(question, text)]
    assert len(wrong) <= (1 - GOAL) * len(DAY["question"])


def test_nothing_is_said_twice(worked_day):
    """No recorded statement appears twice in the resume."""
    resume = worked_day.tasks.resume(TASK)
    text = " ".join(resume.text.split())
    stated = [step["summary"] for step in DAY["step"] if "summary" in step]
    stated += [line for step in DAY["step"] for name in ("what_worked", "followups") for line in step.get(name, ())]
    assert {part: text.count(part) for part in stated if text.count(part) > 1} == {}


def test_the_project_brief_answers_the_same_questions(worked_day):
    """The project brief answers at least 95 % of the same questions."""
    worked_day.memory.compact(project_id="river", digest_modes=["brief_project"])
    (hit,) = worked_day.records.search(artifact_role="project_brief", project_id="river")
    text = hit.view.text
    wrong = [question["asks"] for question in DAY["question"] if not _in_brief(question, text)]
    assert len(wrong) <= (1 - GOAL) * len(DAY["question"])


def _in_brief(question, text):
    """Whether the brief answers the question; it omits the titles "Failed: ", "Worked: " and "Next: " of the resume."""
    expected = {name: [_untitled(part) for part in question.get(name, ())] for name in ("says", "not")}
    return is_answered(expected, text)


def _untitled(part):
    return part.partition(": ")[2] if part.startswith(("Failed: ", "Worked: ", "Next: ")) else part


def test_blockers_end_when_the_work_goes_on(graph):
    """A blocker ends with the next checkpoint, or with a run by the same agent but not by another one."""
    task_id = graph.tasks.start("Find the leak", agent_id="ana").task_id
    blocked = {"summary": "stuck", "next_step": "ask", "blockers": ["no access"], "agent_id": "ana"}
    graph.tasks.progress(task_id, **blocked)
    run = {"command": "make", "why_chosen": "fast", "inputs": ["src"]}
    graph.tasks.run_start(task_id, agent_id="bo", **run)
    assert graph.tasks.resume(task_id).blockers == ("no access",)
    graph.tasks.run_start(task_id, agent_id="Ana", **run)
    assert graph.tasks.resume(task_id).blockers == ()
    graph.tasks.progress(task_id, **blocked)
    graph.tasks.progress(task_id, summary="on again", next_step="go on", agent_id="bo")
    assert graph.tasks.resume(task_id).blockers == ()
