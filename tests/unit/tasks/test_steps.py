"""Which step may follow which, and what each must say."""

import pytest

from hmxgraph.errors import TaskError
from hmxgraph.protocol.records import ARTIFACT_KINDS
from hmxgraph.records.board import holder_at
from hmxgraph.records.steps import Standing, check_said, check_step, run_to_finish
from hmxgraph.records.trust import COUNTERSIGNING, Parent
from tests.unit.tasks.making import made

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
OPEN = Standing("t1", "open")
DONE = Standing("t1", "completed")
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
    """Each kind that agents write is accepted with what it must say."""
    check_said(made(kind, **SAID))


@pytest.mark.parametrize(("kind", "field"), MISSING)
def test_what_is_missing_is_named_with_the_way_out(kind, field):
    """A field that a kind must say is named, with the way to give it."""
    given = {name: value for name, value in SAID.items() if name != field}
    with pytest.raises(TaskError, match=f"^{kind}: {field} is missing: .*; .*[(].*=.*[)]$"):
        check_said(made(kind, **given))


@pytest.mark.parametrize("blank", ["", "   "])
def test_blank_text_says_nothing(blank):
    """White space is no goal."""
    with pytest.raises(TaskError, match="goal is missing"):
        check_said(made("task_start", goal=blank))


def test_no_agent_makes_its_own_record_verified():
    """Promotion to verified is refused whoever asks for it; raw and canonical may be stated."""
    with pytest.raises(TaskError, match="another agent's countersignature"):
        check_said(made(**SAID, promotion_state="verified"))
    check_said(made(**SAID, promotion_state="raw"))


def test_summarized_belongs_to_digests():
    """Only a digest is summarized."""
    with pytest.raises(TaskError, match="is only for digests"):
        check_said(made(**SAID, promotion_state="summarized"))


@pytest.mark.parametrize("kind", [kind for kind in ARTIFACT_KINDS if kind != "task_start"])
def test_nothing_comes_before_the_start(kind):
    """Every other kind needs a task that was started."""
    with pytest.raises(
        TaskError, match=r"there is no task 't1', and .* before its start; start it first .*, or look up"
    ):
        check_step(made(kind, **SAID), Standing("t1"), None)


def test_a_claim_of_no_task_is_named_as_a_claim():
    """A mistyped task id in a claim is no fault of a checkpoint."""
    with pytest.raises(TaskError, match=r"^claim: there is no task 't1'"):
        check_step(made("task_progress", **SAID, artifact_role="claim"), Standing("t1"), None)


@pytest.mark.parametrize("standing", [OPEN, DONE])
def test_a_task_starts_once(standing):
    """A second start is refused, during the task and after it."""
    with pytest.raises(TaskError, match="was started before"):
        check_step(made("task_start", goal="Again"), standing, None)


@pytest.mark.parametrize("kind", ["task_progress", "run_start", "run_finish", "evidence", "task_finish"])
def test_a_finished_task_goes_no_further(kind):
    """After the finish there are no more steps; the way out is a task that continues it."""
    with pytest.raises(TaskError, match=r"is finished .completed., and only .*; .* with parent_task_id='t1'"):
        check_step(made(kind, **SAID), DONE, None)


@pytest.mark.parametrize("kind", ["review", "verification", "decision", "revision"])
def test_a_finished_task_can_still_be_judged(kind):
    """What others say about a record may come after its task's end."""
    check_step(made(kind, **SAID), DONE, Parent("r0", "evidence", "t1"))


def test_a_reply_needs_its_record():
    """A reply to a record that is not stored is refused."""
    with pytest.raises(TaskError, match="there is no record 'r0' to reply to"):
        check_step(made("review", **SAID), OPEN, None)


def test_only_a_head_is_superseded():
    """What was superseded once names its successor; a digest is never superseded."""
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
    """Whoever signed it may take it back; unsigned ones and what is no judgement anybody may supersede."""
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
    """The status of what goes on is no way to end."""
    with pytest.raises(TaskError, match=f"^{kind}: status '{status}' is not final; write status="):
        check_said(made(kind, **SAID | {"status": status}))


@pytest.mark.parametrize("kind", ["review", "revision", "verification", "decision"])
@pytest.mark.parametrize(("supports", "status"), [(True, "Rejected"), (True, "failed"), (False, " verified")])
def test_a_judgement_says_one_thing(kind, supports, status):
    """Its status does not undo it; evidence may tell of a failed check that supports a claim."""
    said = SAID | {"supports_claim": supports, "verification_status": status}
    with pytest.raises(TaskError, match=f"^{kind}: supports_claim={supports} and .* contradict each other"):
        check_said(made(kind, **said))
    check_said(made("evidence", **said))
    check_said(made(kind, **said | {"verification_status": "pending"}))


@pytest.mark.parametrize("agent", ["", " ", "\u00a0", "ana ", "\nana"])
def test_blanks_are_no_part_of_a_name(agent):
    """An agent has a name, and nothing around it."""
    with pytest.raises(TaskError, match=r"^evidence: agent_id "):
        check_said(made("evidence", **SAID, agent_id=agent))
    check_said(made("evidence", **SAID, agent_id="ana maria"))


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
    """Neither a digest nor what would make a record look like one."""
    with pytest.raises(TaskError, match=reason):
        check_said(made(kind, **SAID, **fields))


@pytest.mark.parametrize("kind", ARTIFACT_KINDS)
def test_ids_of_digests_are_the_engines(kind):
    """No kind of record takes one."""
    with pytest.raises(TaskError, match=f"^{kind}: ids that begin with 'digest:' .*; choose another artifact_id"):
        check_said(made(kind, artifact_id="digest:1", **SAID))


def test_a_run_finish_finds_its_run():
    """The only open run is meant; several must be told apart; others are refused with the reason."""
    two = Standing("t1", "open", ("a", "b"), ("a", "b", "c"))
    assert run_to_finish(Standing("t1", "open", ("a",), ("a", "c")), None) == "a"
    assert run_to_finish(two, "b") == "b"
    for standing, run_id, reason in (
        (two, None, "2 runs of task 't1' are open, and .*; name it .run_id=....: a, b"),
        (two, "c", "run 'c' of task 't1' is finished, and a run finishes only once; start another"),
        (two, "x", "has no run 'x'; give the artifact_id of one of its run_start records .run_id=....: a, b"),
        (Standing("t1", "open"), None, "no run of task 't1' is open; start one first"),
    ):
        with pytest.raises(TaskError, match=reason):
            run_to_finish(standing, run_id)


def test_a_lease_ends_at_its_end():
    """Nobody holds a task from the very instant on at which the lease is over."""
    task = Standing("t", "open", assignee="ana", lease_until_us=5)
    assert (holder_at(task, 4), holder_at(task, 5), holder_at(task, 6)) == ("ana", None, None)


@pytest.mark.parametrize("kind", sorted(COUNTERSIGNING))
def test_nothing_is_left_to_judge_in_an_erased_record(kind):
    """Whoever judges it is refused; evidence that replies to it is still taken."""
    parent = Parent("r0", "evidence", "t1", agent_id="ana", erased=True)
    with pytest.raises(TaskError, match="was erased"):
        check_step(made(kind, reply_to_artifact_id="r0", agent_id="bo"), OPEN, parent)
    check_step(made("evidence", reply_to_artifact_id="r0", agent_id="bo"), OPEN, parent)
