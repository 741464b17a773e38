"""The scripted day: its steps recorded, and how many of its questions a text answers."""

import tomllib
from pathlib import Path

DAY = tomllib.loads(Path(__file__).with_name("day.toml").read_text(encoding="utf-8"))
TASK = "gauge"


def work(graph):
    """Record the day, a quarter of an hour for each step; the ids of the named records."""
    ids = {}
    for place, given in enumerate(DAY["step"]):
        fields = dict(given)
        call, name = fields.pop("call"), fields.pop("name", None)
        at = f"2026-03-14T{8 + place // 4:02}:{15 * (place % 4):02}:00Z"
        receipt = _CALLS[call](graph, ids, fields | {"at": at})
        ids[name] = receipt.artifact_id
    return ids


def is_answered(question, text):
    """Whether *text* says what the question wants to know, and nothing that is over."""
    plain = " ".join(text.split()).casefold()
    says = all(part.casefold() in plain for part in question["says"])
    return says and not any(part.casefold() in plain for part in question.get("not", ()))


def _start(graph, ids, fields):
    return graph.tasks.start(DAY["goal"], task_id=TASK, **fields)


def _evidence(graph, ids, fields):
    return graph.tasks.add_evidence(TASK, **fields)


def _progress(graph, ids, fields):
    return graph.tasks.progress(TASK, **fields)


def _run_start(graph, ids, fields):
    return graph.tasks.run_start(TASK, **fields)


def _run_finish(graph, ids, fields):
    return graph.tasks.run_finish(TASK, run_id=ids[fields.pop("run")], **fields)


def _decision(graph, ids, fields):
    return graph.records.decision(TASK, **fields)


def _reply(kind):
    def reply(graph, ids, fields):
        return getattr(graph.records, kind)(ids[fields.pop("reply")], **fields)

    return reply


_CALLS = {
    "start": _start,
    "evidence": _evidence,
    "progress": _progress,
    "run_start": _run_start,
    "run_finish": _run_finish,
    "decision": _decision,
    **{kind: _reply(kind) for kind in ("review", "revision", "verification")},
}
