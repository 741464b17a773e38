"""The account of a task: each text once, rejections apart, the current board and blockers."""

from hmxgraph.records.handoff import account
from tests.unit.records.making import made, view

START = view(made("task_start", "start", goal="Find the leak", agent_id="ana"))


def test_a_rejected_end_is_no_summary():
    """What a rejected finish claims is listed as rejected, with the reason, and nowhere else; the task is finished."""
    end = made("task_finish", "end", status="completed", summary="Leak closed", what_worked=["Tiles"], agent_id="ana")
    no = made("verification", "no", summary="It still leaks", supports_claim=False, reply_to_artifact_id="end")
    summary = account([START, view(end, rejected_by=("no",)), view(no)])
    assert (summary.status, summary.summary, summary.what_worked, summary.validation) == ("completed", "", (), ())
    assert summary.rejected == ("Leak closed (rejected: It still leaks)",)
    half = view(made("task_progress", "half", summary="Half of it is found", followups=["Look on"], agent_id="ana"))
    assert account([START, half, view(end, rejected_by=("no",)), view(no)]).summary == "Half of it is found"


def test_a_rejected_run_has_taken_place():
    """Its command and status stay among the runs, but what its end claims and reports counts for nothing."""
    start = view(made("run_start", "run", command="make", expected_outputs=["a table"], agent_id="ana"))
    claimed = {"status": "completed", "summary": "Twice as fast", "outputs": ["a table"], "agent_id": "ana"}
    end = made("run_finish", "end", reply_to_artifact_id="run", **claimed)
    no = view(made("verification", "no", summary="It is not", supports_claim=False, reply_to_artifact_id="end"))
    kept, rejected = (account([START, start, view(end, rejected_by=by), no]) for by in ((), ("no",)))
    assert (kept.recent_runs, kept.open) == (("make -> completed: Twice as fast",), ())
    assert (rejected.recent_runs, rejected.open) == (("make -> completed",), ("expected output: a table",))


def test_a_rejected_goal_is_shown_as_rejected():
    """The goal of a rejected start is still the goal, and the next agent sees who rejected it."""
    no = view(made("verification", "no", summary="It is dry", supports_claim=False, agent_id="bo"))
    summary = account([view(START.record, rejected_by=("no",)), no])
    assert (summary.goal, summary.rejected) == ("Find the leak", ("Find the leak (rejected: It is dry by bo)",))


def test_a_refuted_lead_is_not_handed_over():
    """A rejected record adds no blockers, steps, inputs, values or requests."""
    lead = made(
        "evidence",
        "lead",
        summary="The cache leaks",
        followups=["Patch the cache"],
        blockers=["No access to the cache"],
        parameters={"size": 9},
        inputs=["cache.log"],
        requested_action="Look at it",
        expected_outputs=["a patch"],
        agent_id="ana",
    )
    no = view(made("verification", "no", summary="It does not", supports_claim=False, reply_to_artifact_id="lead"))
    kept, refuted = (account([START, view(lead, rejected_by=by), no]) for by in ((), ("no",)))
    lists = ("blockers", "followups", "parameters", "inputs", "open")
    assert all(getattr(kept, name) for name in lists)
    assert not any(getattr(refuted, name) for name in lists)


def test_a_text_appears_once_where_it_matters_most():
    """The same words as evidence, as a success and as a summary appear once, among what worked."""
    seen = made("evidence", "seen", summary="Tiles are fast.", agent_id="ana")
    end = made("task_finish", "end", status="completed", summary="tiles are  fast", what_worked=["Tiles are fast"])
    summary = account([START, view(seen), view(end)])
    assert (summary.what_worked, summary.evidence, summary.summary) == (("Tiles are fast",), (), "")


def test_a_revised_decision_is_a_decision():
    """A revision that replaces a record counts as that record's kind; any other revision is a remark."""
    revised = made("revision", "new", summary="Use rows", relation_kind="supersedes", agent_id="bo")
    remark = made("revision", "more", summary="Rows of 4", relation_kind="revises", agent_id="bo")
    summary = account([START, view(revised, inherited=("decision",)), view(remark)])
    assert (summary.decisions, summary.validation) == (("Use rows",), ("remark by bo: Rows of 4",))


def test_a_claim_and_a_reopening_show_who_has_the_task():
    """The last move counts: a claim until its end, a reopening with its reason, nothing after the task's end."""
    claim = made("task_progress", "c", artifact_role="claim", agent_id="bo", parameters={"lease_seconds": 59})
    end = made("task_finish", "end", status="completed")
    again = made("task_progress", "r", artifact_role="reopen", summary="It leaks", agent_id="cy")
    moves = [view(record) for record in (claim, end, again)]
    assert account([START, moves[0]]).open == ("held by bo until 1970-01-01T00:01:00.000Z",)
    assert (account([START, *moves[:2]]).open, account([START, *moves[:2]]).status) == ((), "completed")
    assert (account([START, *moves]).open, account([START, *moves]).status) == (("reopened by cy: It leaks",), "open")


def test_a_request_is_open_until_somebody_answers():
    """A reply by another agent answers; the asker's own does not."""
    ask = made("review", "ask", summary="Unclear", requested_action="Rerun it", reply_to_artifact_id="e", agent_id="bo")
    own = made("review", "own", summary="Still", reply_to_artifact_id="ask", agent_id="Bo")
    answer = made("revision", "done", summary="Rerun", reply_to_artifact_id="ask", agent_id="ana")
    assert account([START, view(ask), view(own)]).open == ("Rerun it (asked by bo)",)
    assert account([START, view(ask), view(own), view(answer)]).open == ()
