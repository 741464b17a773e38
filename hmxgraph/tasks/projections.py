"""What a record offers to search, as texts of nine kinds derived from it (memd: Retrieval Projection)."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.records import TaskRecord

FAILED = frozenset({"failed", "failure", "error", "aborted", "abandoned", "cancelled", "timeout", "crashed"})


class Projection(NamedTuple):
    """One text of a record: its kind and words."""

    kind: str
    text: str


def failed(status: str | None) -> bool:
    """Whether *status* says that something went wrong.

    >>> failed("Failed"), failed("completed"), failed(None)
    (True, False, False)
    """
    return status is not None and status.strip().lower() in FAILED


def projections(record: TaskRecord) -> tuple[Projection, ...]:
    """The texts of *record*, its main one first; the record itself stays the source of truth.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="task_finish", task_id="t", tenant_id="a",
    ...     timestamp_created=0, status="completed", summary="Leak closed", what_worked=["valgrind"])
    >>> projections(record)
    (Projection(kind='task_summary', text='completed. Leak closed'), Projection(kind='worked', text='valgrind'))
    """
    main = Projection(_MAIN[record.artifact_kind], _main_text(record))
    # A digest tells what others worked out; it never counts as a failure or a success itself.
    wanted = {} if record.artifact_kind == "digest" else _FURTHER
    further = (Projection(kind, sentences(*parts(record))) for kind, parts in wanted.items())
    return tuple(part for part in (main, *further) if part.text)


def record_text(record: TaskRecord) -> str:
    """The whole readable text of *record*: each projection under its name."""
    parts = projections(record)
    lines = [f"{_NAMES[part.kind]}: {part.text}" for part in parts[1:]]
    return "\n".join([f"{record.artifact_kind.replace('_', ' ')}: {parts[0].text}", *lines]) if parts else ""


def _main_text(record: TaskRecord) -> str:
    return sentences(*_TEXTS.get(record.artifact_kind, _plain)(record))


def _goal(record: TaskRecord) -> Iterator[str | None]:
    yield record.goal
    yield record.motivation
    yield record.hypothesis
    yield record.scientific_question
    yield record.method_summary
    yield record.summary


def _plain(record: TaskRecord) -> Iterator[str | None]:
    yield record.summary
    yield record.why_chosen
    yield from _listed("Blockers", record.blockers)
    yield from _listed("Next", record.followups)
    yield from _listed("Uncertain", record.uncertainty)


def _run(record: TaskRecord) -> Iterator[str | None]:
    yield record.command
    yield _outcome(record)
    yield record.summary
    yield record.why_chosen
    yield from _listed("Inputs", record.inputs)
    yield from _listed("Outputs", record.outputs)
    if record.metrics:
        yield f"Metrics: {canonical_text(record.metrics)}"


def _finish(record: TaskRecord) -> Iterator[str | None]:
    yield record.status
    yield from _plain(record)


def _evidence(record: TaskRecord) -> Iterator[str | None]:
    yield record.summary
    if record.supports_claim is not None:
        yield "Supports the claim" if record.supports_claim else "Speaks against the claim"
    yield from _listed("Outputs", record.outputs)
    if record.metrics:
        yield f"Metrics: {canonical_text(record.metrics)}"


def _digest(record: TaskRecord) -> Iterator[str | None]:
    yield from _plain(record)
    yield from _listed("Worked", record.what_worked)
    yield from _listed("Failed", record.what_failed)
    yield from _listed("Validated", record.validation)
    yield from _listed("Runs", record.outputs)


def _outcome(record: TaskRecord) -> str | None:
    tool = " ".join(part for part in (record.tool_name, record.tool_version) if part)
    return sentences(tool, record.status)


def _listed(name: str, values: tuple[str, ...] | None) -> Iterator[str]:
    if values:
        yield f"{name}: {'; '.join(values)}"


def sentences(*parts: str | None) -> str:
    """What of *parts* says something, as sentences of one text.

    >>> sentences("Leak closed.", None, " valgrind ")
    'Leak closed. valgrind'
    """
    return ". ".join(part.strip().rstrip(".") for part in parts if part and part.strip())


_Parts = Callable[[TaskRecord], Iterator[str | None]]
_MAIN: Mapping[str, str] = {
    "task_start": "task_goal",
    "task_progress": "task_summary",
    "run_start": "run",
    "run_finish": "run",
    "evidence": "evidence",
    "review": "evidence",
    "revision": "task_summary",
    "verification": "validation",
    "decision": "decision",
    "digest": "digest",
    "task_finish": "task_summary",
}
_TEXTS: Mapping[str, _Parts] = {
    "task_start": _goal,
    "run_start": _run,
    "run_finish": _run,
    "evidence": _evidence,
    "review": _evidence,
    "verification": _evidence,
    "digest": _digest,
    "task_finish": _finish,
}


def _worked(record: TaskRecord) -> Iterator[str | None]:
    yield "; ".join(record.what_worked or ())


def _failed(record: TaskRecord) -> Iterator[str | None]:
    yield "; ".join(record.what_failed or ())
    if failed(record.status) and not record.what_failed:
        yield record.summary or record.command or record.status


def _validation(record: TaskRecord) -> Iterator[str | None]:
    yield "; ".join(record.validation or ())


_FURTHER: Mapping[str, _Parts] = {"worked": _worked, "failed": _failed, "validation": _validation}
_NAMES = {"worked": "worked", "failed": "failed", "validation": "validated"}
