"""How what an event tells of went, as far as it says so (HMX-E 4.3, 4.5): decided here and nowhere else."""

from collections.abc import Mapping
from typing import Any

# MCP tells a failed call by "isError", messages APIs by "is_error".
_FLAWS = ("isError", "is_error")
# What is done and tells its end in one event (HMX-E 3).
WORK = frozenset({"command_exec", "file_edit", "test_run", "browser_action", "api_result"})
CODES: tuple[str, ...] = (
    "exit_code",
    "exit_status",
    "returncode",
    "return_code",
    "exitCode",
    "exitStatus",
    "returnCode",
)
HTTP_STATES: tuple[str, ...] = ("status_code", "statusCode", "http_status", "status")
_FIRST_HTTP_ERROR = 400
_GOOD = frozenset({"passed", "pass", "ok", "success", "succeeded", "successful"})
_BAD = frozenset({"failed", "fail", "failure", "error", "errored", "timeout", "timed_out", "aborted", "crashed"})
# Where test runners count or list what went wrong.
_COUNTS = ("failed", "failures", "errors")
_Content = Mapping[str, Any]


def went_well(event_type: str, content: Mapping[str, Any]) -> bool | None:
    """True or False for an error, or for work that tells its end; None where it does not say, and for all else.

    ``success`` of a tool result is what HMX-E 4.3 asks for; where it is missing, what tools report instead counts: exit
    codes, HTTP states, errors, in the result or beside it. HMX-E gives commands, edits, tests, browser actions and API
    results no fields: these are read in the same way, and what they name their state. In a result, a state may be that
    of what was looked up.

    >>> went_well("tool_result", {"tool_name": "bash", "result": {"exit_code": 2}})
    False
    >>> went_well("test_run", {"command": "pytest", "passed": 12, "failed": 0})
    True
    >>> went_well("message", {"role": "user", "text": "it failed"}) is None
    True

    """
    match event_type:
        case "error":
            return False
        case "tool_result":
            return _result(content)
        case "test_run":
            return _test(content)
        case _:
            return _work(content) if event_type in WORK else None


def _result(content: _Content) -> bool | None:
    if isinstance(content.get("success"), bool):
        return bool(content["success"])
    inner = content.get("result")
    told = _fields(inner) if isinstance(inner, Mapping) else None
    return _work(content) if told is None else told


def _test(content: _Content) -> bool | None:
    """What tells of a failure outweighs what does not: no test fails where none could be collected."""
    wrong = [content[name] for name in _COUNTS if isinstance(content.get(name), int | list)]
    verdict = content["passed"] if isinstance(content.get("passed"), bool) else None
    found = [not any(wrong) if wrong else None, verdict, _work(content)]
    return False if False in found else True if True in found else None


def _work(content: _Content) -> bool | None:
    """What fields say, else the state that the work names; an answer may stand in a field of its own."""
    if (told := _fields(content)) is not None:
        return told
    if isinstance(content.get("status"), str):
        state = content["status"].strip().lower().replace(" ", "_").replace("-", "_")
        return True if state in _GOOD else False if state in _BAD else None
    inner = (content[name] for name in ("response", "result") if isinstance(content.get(name), Mapping))
    return next((told for part in inner if (told := _fields(part)) is not None), None)


def _fields(content: _Content) -> bool | None:
    for field in ("success", "ok"):
        if isinstance(content.get(field), bool):
            return bool(content[field])
    for field in _FLAWS:
        if isinstance(content.get(field), bool):
            return not content[field]
    if True in (content.get("timed_out"), content.get("timedOut")):
        return False
    for field in CODES:
        if type(content.get(field)) is int:
            return bool(content[field] == 0)
    for field in HTTP_STATES:
        if type(content.get(field)) is int:
            return bool(content[field] < _FIRST_HTTP_ERROR)
    return False if content.get("error") else None
