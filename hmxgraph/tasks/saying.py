"""What no record may say, however its task stands."""

from collections.abc import Iterator

from hmxgraph.errors import TaskError
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.tasks.digest_names import OWN_DIGESTS
from hmxgraph.tasks.standing import OPEN
from hmxgraph.tasks.verdicts import contradicts_itself, signature

# The most characters of a word that a record is classed by; ids and names may have any length.
LONGEST_WORD = 256
_CLASSING = ("status", "artifact_role", "verification_status", "relation_kind")
_ENDING = frozenset({"run_finish", "task_finish"})


def check_sense(record: TaskRecord) -> None:
    """Refuse a record that contradicts itself, ends nothing, claims trust, or takes a name that is not to be had.

    Raises:
        TaskError: what is wrong, and the way out.

    >>> check_sense(TaskRecord(artifact_id="r", artifact_kind="task_finish", task_id="t", tenant_id="a",
    ...     timestamp_created=0, status="open"))
    Traceback (most recent call last):
    hmxgraph.errors.TaskError: task_finish: status 'open' is no end; say how it ended (status='completed' or 'failed')
    """
    for check in (_check_name, _check_end, _check_verdict, _check_promotion, _check_words):
        check(record)


def _check_name(record: TaskRecord) -> None:
    kind, agent_id = record.artifact_kind, record.agent_id
    if record.artifact_id.startswith(OWN_DIGESTS):
        reason = f"ids that begin with {OWN_DIGESTS!r} are those of the digests that the engine composes itself"
        raise TaskError(kind, reason, "choose another artifact_id, or leave it out")
    if agent_id is None or agent_id == signature(agent_id):
        return
    if signature(agent_id) is None:
        raise TaskError(kind, "agent_id is blank, and a blank signs nothing", "name the agent, or leave agent_id out")
    reason = f"agent_id {agent_id!r:.60} has blanks around it, and blanks make no other agent"
    raise TaskError(kind, reason, "give the name without them")


def _check_end(record: TaskRecord) -> None:
    if record.artifact_kind in _ENDING and (record.status or "").strip().lower() == OPEN:
        reason = f"status {record.status!r} is no end"
        raise TaskError(record.artifact_kind, reason, "say how it ended (status='completed' or 'failed')")


def _check_verdict(record: TaskRecord) -> None:
    kind, supports, status = record.artifact_kind, record.supports_claim, record.verification_status
    if contradicts_itself(kind, supports, status):
        reason = f"supports_claim={supports} and verification_status {status!r:.60} contradict each other"
        raise TaskError(kind, reason, "say one thing; verification_status may be left out")


def _check_promotion(record: TaskRecord) -> None:
    kind, stated = record.artifact_kind, record.promotion_state
    if stated == "verified":
        reason = "an agent cannot make its own record verified"
        raise TaskError(kind, reason, "leave promotion_state out; another agent's countersignature verifies it")
    if stated == "summarized" and kind != "digest":
        raise TaskError(kind, "promotion_state 'summarized' belongs to digests alone", "say raw or canonical")


def _check_words(record: TaskRecord) -> None:
    for name, word in _words(record):
        if len(word) > LONGEST_WORD:
            reason = f"{name} has {len(word)} characters, and a word that records are classed by has {LONGEST_WORD}"
            raise TaskError(record.artifact_kind, reason, "give a short word, and say the rest in the summary")


def _words(record: TaskRecord) -> Iterator[tuple[str, str]]:
    """The words by which *record* is classed."""
    yield from ((name, word) for name in _CLASSING if (word := getattr(record, name)) is not None)
    yield from (("entity_type", one.entity_type) for one in record.entity_refs or ())
