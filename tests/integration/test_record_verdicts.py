"""Verdicts on the real server: who owns them, who may withdraw them, and what does not count as one."""

import pytest

from hmxgraph.errors import TaskError
from hmxgraph.records.digests import WIDE_ROLES, DigestName
from tests.task_makers import memory_of, records_of

AT = "2026-03-14T03:00:{:02d}Z"
CLAIM = "The parser buffer leaks on every line"


@pytest.fixture
def claim(tasks):
    """The id of evidence that ana adds to her task."""
    task_id = tasks.start("Find the leak", agent_id="ana", at=AT.format(0)).task_id
    return tasks.add_evidence(task_id, summary=CLAIM, agent_id="ana", at=AT.format(1)).artifact_id


@pytest.fixture
def rejection(records, claim):
    """The id of bo's rejection of the claim that cy verified."""
    records.verification(claim, summary="reproduced", supports_claim=True, agent_id="cy", at=AT.format(2))
    return records.verification(
        claim, summary="not here", supports_claim=False, agent_id="bo", at=AT.format(3)
    ).artifact_id


@pytest.mark.parametrize("agent", ["ana", "cy", None])
@pytest.mark.parametrize("kind", ["revision", "evidence", "decision"])
def test_nobody_else_takes_a_rejection_back(records, claim, rejection, kind, agent):
    """Neither the author of the record nor a third agent can supersede a rejection, with any kind of record."""
    signed = {} if agent is None else {"agent_id": agent}
    with pytest.raises(TaskError, match=f"{kind}: '{rejection}' is a verdict of 'bo', which only its author"):
        records.create(kind, reply_to_artifact_id=rejection, relation_kind="supersedes", summary="withdrawn", **signed)
    assert (records.get(claim).trust_tier, records.get(claim).rejected_by) == ("canonical_record", (rejection,))


def test_an_agent_takes_its_own_rejection_back(graph, records, claim, rejection):
    """An agent may withdraw its own rejection; as-of packs still show it for the time before."""
    records.revision(rejection, summary="my mistake", supersedes=True, agent_id="bo", at=AT.format(9))
    assert (records.get(claim).trust_tier, records.get(claim).rejected_by) == ("verified_record", ())
    verified = f"- evidence by ana, verified by another agent: {CLAIM}"
    for as_of, line in ((None, verified), (AT.format(5), f"[rejected by bo] evidence by ana: {CLAIM}")):
        assert line in graph.pack("Does the parser buffer leak?", as_of=as_of).text


def test_a_countersignature_is_its_authors(records, claim):
    """A decision that countersigns can be superseded only by its author, any other by anyone."""
    signed = records.decision(reply_to_artifact_id=claim, summary="ok", supports_claim=True, agent_id="bo")
    with pytest.raises(TaskError, match="only its author may supersede"):
        records.revision(signed.artifact_id, summary="no", supersedes=True, agent_id="cy")
    assert records.get(claim).verified_by == (signed.artifact_id,)
    plain = records.decision(reply_to_artifact_id=claim, summary="Use valgrind", agent_id="bo")
    records.revision(plain.artifact_id, summary="Use asan", supersedes=True, agent_id="cy")
    assert records.get(plain.artifact_id).hidden_reason == "superseded"


@pytest.mark.parametrize(
    ("agent", "reason"), [("", "is blank"), (" \t", "is blank"), ("ana ", "has leading or trailing white space")]
)
def test_blanks_sign_nothing(records, claim, agent, reason):
    """A blank agent name, or one padded with blanks, is refused and leaves the record's trust unchanged."""
    with pytest.raises(TaskError, match=f"verification: agent_id .*{reason}"):
        records.verification(claim, summary="ok", supports_claim=True, agent_id=agent)
    assert records.get(claim).trust_tier == "canonical_record"


def test_a_verification_says_one_thing(records, claim):
    """A verification whose status contradicts its verdict is refused."""
    for supports, status in ((True, "rejected"), (True, " Refuted"), (False, "verified")):
        with pytest.raises(TaskError, match=r"verification: supports_claim=.* contradict each other; make them agree"):
            records.verification(claim, summary="x", supports_claim=supports, verification_status=status, agent_id="bo")
    records.verification(claim, summary="x", supports_claim=True, verification_status="pending", agent_id="bo")
    assert records.get(claim).trust_tier == "verified_record"


@pytest.mark.parametrize("role", ["task_resume", *WIDE_ROLES])
def test_agents_cannot_take_the_id_of_a_digest(graph, tasks, records, claim, role):
    """The ids of engine digests are reserved, whatever the kind of record, even before the digest exists."""
    task_id = records.get(claim).record.task_id
    name = DigestName(role, task_id if role == "task_resume" else "*")
    taken = name.artifact_id(graph.tenant_id)
    for kind in ("digest", "evidence"):
        with pytest.raises(TaskError, match=f"{kind}: ids that begin with 'digest:' are reserved for digests"):
            records.create(kind, task_id=task_id, artifact_id=taken, artifact_role=role, summary="POISON")
    tasks.add_evidence(task_id, summary="seen", what_worked=["valgrind"], what_failed=["asan"])
    records.decision(task_id, summary="Use valgrind")
    made = tasks.resume(task_id).digest if role == "task_resume" else _library(graph, role)
    assert made.artifact_id == taken
    assert "POISON" not in made.text


def _library(graph, role):
    """The digest with this role over all records."""
    memory_of(graph).compact(digest_modes=[role])
    return records_of(graph).get(DigestName(role, "*").artifact_id(graph.tenant_id))
