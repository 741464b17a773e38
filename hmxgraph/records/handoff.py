"""The account of a task for the agent that continues it: goal, findings, open points and next steps.

Apart from runs, a text is listed only once. The texts of rejected records are listed as rejected and nowhere else.
Three things are shown even if rejected: the goal of a task start, the status of a finish, the command and status of
a run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.display import short_text
from hmxgraph.protocol.record_results import Account, RecordView
from hmxgraph.protocol.records import TaskRecord
from hmxgraph.protocol.timestamps import iso
from hmxgraph.records.board import lease_of
from hmxgraph.records.search import means_failure
from hmxgraph.records.trust import OPEN, agent_key

# An account lists at most this many runs and sets of parameters, the latest ones.
_MOST_RUNS = 5


# The kind of record whose main projection has this kind (see `effective_kind`).
_KIND_OF_PROJECTION: Mapping[str, str] = {
    "task_goal": "task_start",
    "task_summary": "task_progress",
    "evidence": "evidence",
    "decision": "decision",
    "validation": "verification",
}
# Kinds whose summary says where the task stands, and kinds that show work on it.
_SUMMARISING = frozenset({"task_progress", "task_finish"})
_WORKING = frozenset({"task_progress", "task_finish", "run_start", "run_finish"})


def effective_kind(view: RecordView) -> str:
    """The kind of *view*; a revision that replaced a record counts as the kind that its main projection stands for.

    Any other revision is a remark and stays a ``revision``.
    """
    record = view.record
    if record.artifact_kind != "revision" or record.relation_kind != "supersedes" or not view.projections:
        return record.artifact_kind
    return _KIND_OF_PROJECTION.get(view.projections[0].kind, record.artifact_kind)


def account(records: Sequence[RecordView]) -> Account:
    """The account of one task's visible *records*, oldest first."""
    moves = [view.record for view in records if view.record.is_move or view.artifact_kind == "task_finish"]
    records = [view for view in records if not view.record.is_move]
    not_rejected = [view for view in records if not view.rejected_by]
    texts: dict[str, Any] = {
        name: _last(getattr(view.record, name) for view in not_rejected) or "" for name in _BACKGROUND
    }
    texts["goal"] = _goal(records)
    texts["status"] = _status(moves)
    listed_texts = {_bare(text) for text in texts.values() if text}
    lists: dict[str, Any] = {
        name: _unlisted(lines_of(records if name in _FROM_ALL_RECORDS else not_rejected), listed_texts)
        for name, lines_of in _LISTS.items()
    }
    lists["open"] = (*_holder_lines(moves), *lists["open"])
    summary = _last(view.record.summary for view in not_rejected if effective_kind(view) in _SUMMARISING) or ""
    texts["summary"] = summary if _bare(summary) not in listed_texts else ""
    if not any(effective_kind(view) in _SUMMARISING for view in records):
        texts["summary"] = "started"
    return Account(**texts, **lists)


_BACKGROUND = ("motivation", "hypothesis", "scientific_question", "method_summary")
# A line of an account: the bare text by which repetitions are recognised, and the line itself.
_Line = tuple[str, str]


def _status(moves: Sequence[TaskRecord]) -> str:
    """The status of a task after these *moves* (board steps and finishes): that of the last finish unless reopened."""
    ends = [move for move in moves if move.artifact_kind == "task_finish" or move.artifact_role == "reopen"]
    return (ends[-1].status if ends and ends[-1].artifact_kind == "task_finish" else None) or OPEN


def _holder_lines(moves: Sequence[TaskRecord]) -> tuple[str, ...]:
    """Who holds the task, or why it was reopened, according to the last move; empty after a release or a finish."""
    if not moves or moves[-1].artifact_kind == "task_finish":
        return ()
    last = moves[-1]
    if last.artifact_role == "claim":
        until_us = last.created_us + lease_of(last) * 1_000_000
        return (f"held by {(last.agent_id or '').strip()} until {iso(until_us)}",)
    return (f"reopened{_author_suffix(last)}: {last.summary}",) if last.artifact_role == "reopen" else ()


def _unlisted(lines: Iterable[_Line], seen: set[str]) -> tuple[str, ...]:
    """The lines whose bare text is not yet in *seen*; adds these texts to it."""
    kept = []
    for bare, line in lines:
        if bare and _bare(bare) not in seen:
            seen.add(_bare(bare))
            kept.append(line)
    return tuple(kept)


def _bare(text: str) -> str:
    """*text* without differences in case, white space and full stops at its end."""
    return " ".join(text.split()).rstrip(".").casefold()


def _plain(texts: Iterable[str]) -> Iterator[_Line]:
    """Each text as its own line."""
    return ((text, text) for text in texts)


def _goal(records: Sequence[RecordView]) -> str:
    """The goal in the last task start that states one, even if that start was rejected."""
    starts = [view.record for view in records if effective_kind(view) == "task_start"]
    return _last(start.goal or start.summary for start in starts) or ""


# The lists.


def _blockers(records: Sequence[RecordView]) -> Iterator[_Line]:
    """The blockers stated last. Progress or a finish by any agent clears them; a run clears those of its own agent."""
    blockers: tuple[str, ...] = ()
    author = None
    for view in records:
        record = view.record
        by_author = agent_key(record.agent_id) == author
        if record.blockers is not None:
            blockers, author = record.blockers, agent_key(record.agent_id)
        elif record.artifact_kind in _SUMMARISING or (record.artifact_kind in _WORKING and by_author):
            blockers = ()
    return _plain(blockers)


def _followups(records: Sequence[RecordView]) -> Iterator[_Line]:
    """The next steps: those of the last checkpoint or finish, and those that later replies and results add."""
    steps: list[str] = []
    for view in records:
        if view.record.followups is not None:
            steps = [] if view.artifact_kind in _SUMMARISING else steps
            steps += view.record.followups
        elif view.artifact_kind == "task_finish":
            steps = []
    return _plain(steps)


def _open(records: Sequence[RecordView]) -> Iterator[_Line]:
    """Runs without an end, requests without an answer, and outputs expected but not reported."""
    ended = {view.record.reply_to_artifact_id for view in records if view.artifact_kind == "run_finish"}
    for view in records:
        record = view.record
        is_ended = record.artifact_id in ended or _closed_after(record, records)
        if record.artifact_kind == "run_start" and not is_ended:
            yield record.artifact_id, f"run {record.artifact_id} is open: {record.command}{_author_suffix(record)}"
        if view.rejected_by:
            continue
        if record.requested_action and not _answered(record, records):
            yield record.requested_action, f"{record.requested_action} (asked{_author_suffix(record)})"
    reported_outputs = {_bare(text) for view in records if not view.rejected_by for text in view.record.outputs or ()}
    for view in records:
        for text in () if view.rejected_by else view.record.expected_outputs or ():
            if _bare(text) not in reported_outputs:
                yield text, f"expected output: {text}"


def _closed_after(start: TaskRecord, records: Sequence[RecordView]) -> bool:
    """Whether the task ended after a run's start, which abandons the run."""
    return any(view.artifact_kind == "task_finish" and view.record.created_us >= start.created_us for view in records)


def _answered(asking: TaskRecord, records: Sequence[RecordView]) -> bool:
    """Whether another agent has since replied to a request, or to the record that it is about."""
    about = {asking.artifact_id, asking.reply_to_artifact_id} - {None}
    asker = agent_key(asking.agent_id)
    return any(
        view.record.reply_to_artifact_id in about
        and view.record.created_us >= asking.created_us
        and agent_key(view.record.agent_id) != asker
        for view in records
    )


def _decisions(records: Sequence[RecordView]) -> Iterator[_Line]:
    for view in records:
        if effective_kind(view) == "decision" and not view.rejected_by:
            record = view.record
            why = f", because {_inner(record.why_chosen)}" if record.why_chosen else ""
            yield record.summary or "", f"{(record.summary or '').rstrip('.')}{why}{_trust(view, records)}"


def _evidence(records: Sequence[RecordView]) -> Iterator[_Line]:
    for view in records:
        if effective_kind(view) == "evidence" and view.artifact_kind != "review" and not view.rejected_by:
            record = view.record
            against = " (contradicts the claim)" if record.supports_claim is False else ""
            metrics = f" {canonical_text(record.metrics)}" if record.metrics else ""
            yield record.summary or "", f"{record.summary}{metrics}{against}{_trust(view, records)}"


def _validation(records: Sequence[RecordView]) -> Iterator[_Line]:
    """What was validated, and the judgements of records, except for those that reject one."""
    views_by_id = {view.artifact_id: view for view in records}
    for view in records:
        record = view.record
        if view.rejected_by:
            continue
        yield from _plain(record.validation or ())
        if (
            record.artifact_kind in {"verification", "review", "revision"}
            and effective_kind(view) == record.artifact_kind
        ):
            parent = views_by_id.get(record.reply_to_artifact_id or "")
            if not (parent and view.artifact_id in parent.rejected_by):
                verdict = {True: "confirmed", False: "doubted", None: "remark"}[record.supports_claim]
                yield record.summary or "", f"{verdict}{_author_suffix(record)}: {record.summary}"


def _rejected(records: Sequence[RecordView]) -> Iterator[_Line]:
    """The records that were rejected, with the reasons."""
    records_by_id = {view.artifact_id: view.record for view in records}
    for view in records:
        reasons = [records_by_id[name] for name in view.rejected_by if name in records_by_id]
        if view.rejected_by:
            text = view.record.summary or view.text
            why = "; ".join(f"{reason.summary}{_author_suffix(reason)}" for reason in reasons)
            line = f"{text.rstrip('.')} (rejected: {why})" if why else f"{text} (rejected)"
            # The text of a rejected start is the goal, which must not hide the rejection.
            yield line if effective_kind(view) == "task_start" else text, line


def _worked(records: Sequence[RecordView]) -> Iterator[_Line]:
    return _plain(text for view in records for text in view.record.what_worked or ())


def _failed(records: Sequence[RecordView]) -> Iterator[_Line]:
    """What failed; if a failed record does not say what, its summary."""
    for view in records:
        record = view.record
        summary = (record.summary,) if means_failure(record.status) and record.summary else ()
        yield from _plain(record.what_failed or summary)


def _uncertainty(records: Sequence[RecordView]) -> Iterator[_Line]:
    return _plain(text for view in records for text in view.record.uncertainty or ())


def _runs(records: Sequence[RecordView]) -> Iterator[_Line]:
    """The latest runs, newest first, each with its status, and with its summary unless it failed or was rejected."""
    ends = {view.record.reply_to_artifact_id: view for view in records if view.artifact_kind == "run_finish"}
    starts = [view.record for view in records if view.artifact_kind == "run_start"]
    for start in starts[: -_MOST_RUNS - 1 : -1]:
        end = ends.get(start.artifact_id)
        line = f"{start.command} -> {end.record.status if end else OPEN}"
        stands = end and not end.rejected_by and not means_failure(end.record.status)
        text = short_text(end.record.summary or "") if end and stands else ""
        yield start.artifact_id, f"{line}: {text}" if text else line


def _tools(records: Sequence[RecordView]) -> Iterator[_Line]:
    """The tools (or commands) of runs, with the reasons for choosing them."""
    for view in records:
        record = view.record
        if record.artifact_kind == "run_start" and record.why_chosen:
            tool = " ".join(filter(None, (record.tool_name, record.tool_version))) or record.command or ""
            yield f"{tool}: {record.why_chosen}", f"{tool}: {record.why_chosen}"


def _parameters(records: Sequence[RecordView]) -> Iterator[_Line]:
    parametrised = [view.record for view in records if view.record.parameters]
    for record in parametrised[-_MOST_RUNS:]:
        values = record.parameters
        text = canonical_text(values)
        if isinstance(values, Mapping):
            text = ", ".join(f"{name}={_value(value)}" for name, value in values.items())
        subject = record.command or record.tool_name
        yield f"{subject}: {text}", f"{subject}: {text}" if subject else text


def _value(value: Any) -> str:
    return value if isinstance(value, str) else canonical_text(value)


def _inputs(records: Sequence[RecordView]) -> Iterator[_Line]:
    return _plain(text for view in records for text in view.record.inputs or ())


def _outputs(records: Sequence[RecordView]) -> Iterator[_Line]:
    return _plain(text for view in records for text in view.record.outputs or ())


def _datasets(records: Sequence[RecordView]) -> Iterator[_Line]:
    for view in records:
        for dataset in view.record.dataset_refs or ():
            name = " ".join(filter(None, (dataset.name, dataset.version)))
            yield name, f"{name}: {dataset.description}" if dataset.description else name


def _trust(view: RecordView, records: Sequence[RecordView]) -> str:
    """A note that names the agents who verified a record, or says that nobody signed it; empty for other records."""
    records_by_id = {record_view.artifact_id: record_view.record for record_view in records}
    signers = [records_by_id[name].agent_id or "" for name in view.verified_by if name in records_by_id]
    if view.trust_tier == "verified_record":
        return f" [verified by {', '.join(signers)}]" if signers else " [verified]"
    return "" if agent_key(view.record.agent_id) else " [unsigned]"


def _author_suffix(record: TaskRecord) -> str:
    return f" by {record.agent_id.strip()}" if record.agent_id and record.agent_id.strip() else ""


def _inner(text: str) -> str:
    """*text* without its full stop; its first letter in lower case, unless it starts with an acronym, a code or "I"."""
    stripped = text.strip().rstrip(".")
    keeps_capital = stripped[1:2].isupper() or stripped[1:2] in tuple("-'0123456789") or stripped.startswith("I ")
    return stripped if keeps_capital else stripped[:1].lower() + stripped[1:]


def _last(values: Iterable[Any]) -> Any:
    """The last value that is not None."""
    last = None
    for value in values:
        last = last if value is None else value
    return last


# Lists whose functions get rejected records too; the other functions get only records that nobody rejected.
_FROM_ALL_RECORDS = frozenset({"rejected", "decisions", "evidence", "open", "validation", "recent_runs"})
# In order of precedence: a text is listed only in the first list that has it.
_LISTS: Mapping[str, Callable[[Sequence[RecordView]], Iterable[_Line]]] = {
    "rejected": _rejected,
    "blockers": _blockers,
    "what_failed": _failed,
    "what_worked": _worked,
    "decisions": _decisions,
    "evidence": _evidence,
    "uncertainty": _uncertainty,
    "followups": _followups,
    "open": _open,
    "validation": _validation,
    "recent_runs": _runs,
    "tools": _tools,
    "parameters": _parameters,
    "inputs": _inputs,
    "outputs": _outputs,
    "datasets": _datasets,
}
