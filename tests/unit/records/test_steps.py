"""Which step may follow which, and the required fields of each."""

import pytest

from hmxgraph.errors import TaskError
from hmxgraph.protocol.records import ARTIFACT_KINDS
from hmxgraph.records.board import holder_at
from hmxgraph.records.steps import TaskState, check_fields, check_step, run_to_finish
from hmxgraph.records.trust import COUNTERSIGNING, Parent
from tests.unit.records.making import made

SAID = {
    "goal": "Find it",
    "summary": "found",
    "followups": ["next"],
    "command": "make",
    "why_chosen": "fast",
    "inputs": ["src"],
    "status": "completed",
    "supports_claim": True,
    "reply_to_artifact_id": "r0",
}
OPEN = TaskState("t1", "open")
DONE = TaskState("t1", "completed")
MISSING = [
    ("task_start", "goal"),
    ("task_progress", "summary"),
    ("task_progress", "followups"),
    ("run_start", "command"),
    ("run_start", "why_chosen"),
    ("run_start", "inputs"),
    ("run_finish", "status"),
    ("evidence", "summary"),
    ("review", "summary"),
    ("review", "reply_to_artifact_id"),
    ("revision", "summary"),
    ("revision", "reply_to_artifact_id"),
    ("verification", "summary"),
    ("verification", "supports_claim"),
    ("verification", "reply_to_artifact_id"),
    ("decision", "summary"),
    ("digest", "summary"),
    ("task_finish", "status"),
]


@pytest.mark.parametrize("kind", [kind for kind in ARTIFACT_KINDS if kind != "digest"])
def test_a_record_that_says_all_is_accepted(kind):
    """Each kind that agents write is accepted with its required fields."""
    check_fields(made(kind, **SAID))


@pytest.mark.parametrize(("kind", "field"), MISSING)
def test_what_is_missing_is_named_with_the_way_out(kind, field):
    """The error names the missing required field, and how to give it."""
    given = {name: value for name, value in SAID.items() if name != field}
    with pytest.raises(TaskError, match=f"^{kind}: {field} is missing: .*; .*[(].*=.*[)]$"):
        check_fields(made(kind, **given))


@pytest.mark.parametrize("blank", ["", "   "])
def test_blank_text_says_nothing(blank):
    """A goal of white space counts as missing."""
    with pytest.raises(TaskError, match="goal is missing"):
        check_fields(made("task_start", goal=blank))


def test_no_agent_makes_its_own_record_verified():
    """A record cannot state that it is verified; it may state raw or canonical."""
    with pytest.raises(TaskError, match="another agent's countersignature"):
        check_fields(made(**SAID, promotion_state="verified"))
    check_fields(made(**SAID, promotion_state="raw"))


def test_summarized_belongs_to_digests():
    """Only a digest may state that it is summarized."""
    with pytest.raises(TaskError, match="is only for digests"):
        check_fields(made(**SAID, promotion_state="summarized"))


@pytest.mark.parametrize("kind", [kind for kind in ARTIFACT_KINDS if kind != "task_start"])
def test_nothing_comes_before_the_start(kind):
    """Every other kind needs a task that was started."""
    with pytest.raises(
        TaskError, match=r"there is no task 't1', and .* before its start; start it first .*, or look up"
    ):
        check_step(made(kind, **SAID), TaskState("t1"), None)


def test_a_claim_of_no_task_is_named_as_a_claim():
    """If a claim names an unknown task, the error speaks of a claim, not of a checkpoint."""
    with pytest.raises(TaskError, match=r"^claim: there is no task 't1'"):
        check_step(made("task_progress", **SAID, artifact_role="claim"), TaskState("t1"), None)


@pytest.mark.parametrize("task_state", [OPEN, DONE])
def test_a_task_starts_once(task_state):
    """A second start is refused, during the task and after it."""
    with pytest.raises(TaskError, match="was started before"):
        check_step(made("task_start", goal="Again"), task_state, None)


@pytest.mark.parametrize("kind", ["task_progress", "run_start", "run_finish", "evidence", "task_finish"])
def test_a_finished_task_goes_no_further(kind):
    """A finished task accepts no more steps; the error suggests to reopen it or to start a task that continues it."""
    with pytest.raises(TaskError, match=r"is finished .completed., and only .*; .* with parent_task_id='t1'"):
        check_step(made(kind, **SAID), DONE, None)


@pytest.mark.parametrize("kind", ["review", "verification", "decision", "revision"])
def test_a_finished_task_can_still_be_judged(kind):
    """Replies and decisions may follow the end of a task."""
    check_step(made(kind, **SAID), DONE, Parent("r0", "evidence", "t1"))


def test_a_reply_needs_its_record():
    """A reply to a record that is not stored is refused."""
    with pytest.raises(TaskError, match="there is no record 'r0' to reply to"):
        check_step(made("review", **SAID), OPEN, None)


def test_only_a_head_is_superseded():
    """The error for a superseded record names its successor; a digest is never superseded."""
    record = made("revision", **SAID, relation_kind="supersedes")
    check_step(record, OPEN, Parent("r0", "evidence", "t1"))
    with pytest.raises(TaskError, match=r"already superseded by 'r9', and .*; supersede that one instead"):
        check_step(record, OPEN, Parent("r0", "evidence", "t1", superseded_by="r9"))
    with pytest.raises(TaskError, match=r"'r0' is a digest, .*; reply to one of its sources"):
        check_step(record, OPEN, Parent("r0", "digest", "t1"))


@pytest.mark.parametrize(
    ("parent", "refused"),
    [
        (Parent("r0", "verification", "t1", agent_id="bo"), True),
        (Parent("r0", "review", "t1", agent_id="bo"), True),
        (Parent("r0", "decision", "t1", agent_id="bo", supports_claim=True), True),
        (Parent("r0", "revision", "t1", agent_id=" bo", supports_claim=True), True),
        (Parent("r0", "decision", "t1", agent_id="bo"), False),
        (Parent("r0", "evidence", "t1", agent_id="bo", supports_claim=True), False),
        (Parent("r0", "verification", "t1"), False),
        (Parent("r0", "verification", "t1", agent_id=" "), False),
    ],
)
def test_a_judgement_is_superseded_by_its_author_alone(parent, refused):
    """Only the author may supersede a signed verdict; anyone may supersede unsigned ones and other records."""
    check_step(made("revision", **SAID, relation_kind="supersedes", agent_id="bo"), OPEN, parent)
    for agent in ({"agent_id": "ana"}, {}):
        record = made("revision", **SAID, relation_kind="supersedes", **agent)
        if refused:
            with pytest.raises(TaskError, match="'r0' is a verdict of 'bo', which only its author may supersede"):
                check_step(record, OPEN, parent)
        else:
            check_step(record, OPEN, parent)


@pytest.mark.parametrize("kind", ["run_finish", "task_finish"])
@pytest.mark.parametrize("status", ["open", "OPEN "])
def test_an_end_is_not_open(kind, status):
    """A run or task cannot finish with the status open."""
    with pytest.raises(TaskError, match=f"^{kind}: status '{status}' is not final; write status="):
        check_fields(made(kind, **SAID | {"status": status}))


@pytest.mark.parametrize("kind", ["review", "revision", "verification", "decision"])
@pytest.mark.parametrize(("supports", "status"), [(True, "Rejected"), (True, "failed"), (False, " verified")])
def test_a_judgement_says_one_thing(kind, supports, status):
    """A verdict and its status must agree; evidence may report a failed check that supports a claim."""
    said = SAID | {"supports_claim": supports, "verification_status": status}
    with pytest.raises(TaskError, match=f"^{kind}: supports_claim={supports} and .* contradict each other"):
        check_fields(made(kind, **said))
    check_fields(made("evidence", **said))
    check_fields(made(kind, **said | {"verification_status": "pending"}))


@pytest.mark.parametrize("agent", ["", " ", "\u00a0", "ana ", "\nana"])
def test_blanks_are_no_part_of_a_name(agent):
    """A blank agent id, or one with surrounding white space, is refused."""
    with pytest.raises(TaskError, match=r"^evidence: agent_id "):
        check_fields(made("evidence", **SAID, agent_id=agent))
    check_fields(made("evidence", **SAID, agent_id="ana maria"))


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("digest", {}, "digests are composed by the engine"),
        ("evidence", {"artifact_role": "project_brief"}, "artifact_role 'project_brief' is only for digests"),
        ("evidence", {"digest_key": "project_brief:p"}, "digest_key 'project_brief:p' is only for digests"),
        ("decision", {"source_updated_at_ms": 1}, "source_updated_at_ms 1 is only for digests"),
    ],
)
def test_agents_write_no_digests(kind, fields, reason):
    """Agents may not write digests, nor fields that would make a record look like one."""
    with pytest.raises(TaskError, match=reason):
        check_fields(made(kind, **SAID, **fields))


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_ids_of_digests_are_the_engines(kind):
    """No record of any kind may use an id reserved for digests."""
    with pytest.raises(TaskError, match=f"^{kind}: ids that begin with 'digest:' .*; choose another artifact_id"):
        check_fields(made(kind, artifact_id="digest:1", **SAID))


def test_a_run_finish_finds_its_run():
    """The only open run is the default; several need an id; unknown and finished runs are refused with the reason."""
    two = TaskState("t1", "open", ("a", "b"), ("a", "b", "c"))
    assert run_to_finish(TaskState("t1", "open", ("a",), ("a", "c")), None) == "a"
    assert run_to_finish(two, "b") == "b"
    for task_state, run_id, reason in (
        (two, None, "2 runs of task 't1' are open, and .*; name it .run_id=....: a, b"),
        (two, "c", "run 'c' of task 't1' is finished, and a run finishes only once; start another"),
        (two, "x", "has no run 'x'; give the artifact_id of one of its run_start records .run_id=....: a, b"),
        (TaskState("t1", "open"), None, "no run of task 't1' is open; start one first"),
    ):
        with pytest.raises(TaskError, match=reason):
            run_to_finish(task_state, run_id)


def test_a_lease_ends_at_its_end():
    """At the instant when its lease ends, a task has no holder."""
    task = TaskState("t", "open", assignee="ana", lease_until_us=5)
    assert (holder_at(task, 4), holder_at(task, 5), holder_at(task, 6)) == ("ana", None, None)


@pytest.mark.parametrize("kind", sorted(COUNTERSIGNING))
def test_nothing_is_left_to_judge_in_an_erased_record(kind):
    """A verdict on an erased record is refused; evidence that replies to it is accepted."""
    parent = Parent("r0", "evidence", "t1", agent_id="ana", erased=True)
    with pytest.raises(TaskError, match="was erased"):
        check_step(made(kind, reply_to_artifact_id="r0", agent_id="bo"), OPEN, parent)
    check_step(made("evidence", reply_to_artifact_id="r0", agent_id="bo"), OPEN, parent)
