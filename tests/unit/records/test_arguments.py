"""Wrong arguments of tasks, records and memory: one error, which names the right argument."""

import asyncio
import inspect
import re

import pytest

from hmxgraph.api._async import AsyncMemoryOperations, AsyncRecords, AsyncTasks
from hmxgraph.api.memory import MemoryOperations
from hmxgraph.api.records import Records
from hmxgraph.api.tasks import Tasks
from hmxgraph.errors import InvalidRequest

FACES = {
    "tasks": (Tasks, AsyncTasks),
    "records": (Records, AsyncRecords),
    "memory": (MemoryOperations, AsyncMemoryOperations),
}
METHODS = [
    (face, name)
    for face, (subject, _) in FACES.items()
    for name, member in inspect.getmembers(subject, inspect.isfunction)
    if not name.startswith("_")
]
WRONG = [
    ("tasks", "start", ["Find it"], {"agent": "ana"}, "did you mean agent_id="),
    ("tasks", "start", ["Find it"], {"blocker": ["x"]}, "did you mean blockers="),
    ("tasks", "start", ["Find it", "t1"], {}, "argument 2 't1': expected at most 1 positional.*name.*task_id="),
    ("tasks", "progress", ["t"], {"sumary": "x"}, "did you mean summary="),
    ("tasks", "progress", ["t"], {"next": "x"}, "did you mean next_step="),
    ("tasks", "progress", [], {"summary": "x"}, "invalid task_id .missing."),
    ("tasks", "run_finish", ["t"], {"reply_to_artifact_id": "r"}, "did you mean run_id="),
    ("tasks", "add_evidence", ["t"], {"supports": True}, "did you mean supports_claim="),
    ("tasks", "add_evidence", ["t"], {"supports_claim": "no"}, "invalid supports_claim 'no': expected True or False"),
    ("tasks", "search", ["leak"], {"taskid": "t"}, "did you mean task_id="),
    ("tasks", "list", [], {"owner": "ana"}, "did you mean assignee="),
    ("tasks", "claim", ["t"], {"agent_id": "ana", "lease_seconds": 5}, "did you mean lease="),
    ("tasks", "claim", ["t"], {}, "invalid agent_id .missing."),
    ("tasks", "get", ["t"], {"task_id": "t"}, "given by position and by name"),
    ("tasks", "resume", ["t"], {"budget": 5}, "choose from task_id"),
    ("records", "review", ["r"], {"reply_to_artifact_id": "r"}, "did you mean reply_to="),
    ("records", "create", ["evidence"], {"sumary": "x"}, "did you mean summary="),
    ("records", "find_related", ["leak"], {"project": "p"}, "did you mean project_id="),
    ("records", "list_thread", ["t"], {"include_hidden": "no"}, "expected True or False"),
    ("memory", "search", ["leak"], {"top_k": 3}, "did you mean limit="),
    ("memory", "add", ["leak"], {"tag": ["x"]}, "did you mean tags="),
    ("memory", "dream", [], {"dry_run": "no"}, "invalid dry_run 'no': expected True or False"),
    ("memory", "record_outcome", [["m"]], {}, "invalid outcome .missing."),
]


def refused(face, method, args, named):
    """The error of both faces; no connection is needed, because the arguments are checked first."""
    subject, twin = FACES[face]
    with pytest.raises(InvalidRequest) as error:
        getattr(object.__new__(subject), method)(*args, **named)
    with pytest.raises(InvalidRequest) as awaited:
        asyncio.run(getattr(object.__new__(twin), method)(*args, **named))
    assert str(error.value) == str(awaited.value)
    return str(error.value)


@pytest.mark.parametrize(("face", "method", "args", "named", "message"), WRONG)
def test_a_wrong_argument_is_refused_with_the_right_name(face, method, args, named, message):
    """Unknown, misplaced, missing and repeated arguments raise one error that says what to write instead."""
    assert re.search(message, refused(face, method, args, named))


@pytest.mark.parametrize(("face", "method"), METHODS)
def test_every_method_refuses_what_it_does_not_know(face, method):
    """Every method refuses an unknown argument with InvalidRequest; nothing is ignored silently."""
    subject, _ = FACES[face]
    required = [
        parameter.name
        for parameter in list(inspect.signature(getattr(subject, method)).parameters.values())[1:]
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    named = dict.fromkeys(required, "x") | {"zzz_unknown": 1}
    assert f"invalid zzz_unknown 1: expected an argument of {method}()" in refused(face, method, [], named)
