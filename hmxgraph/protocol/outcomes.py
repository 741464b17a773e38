"""How what an event tells of went, as far as it says so (HMX-E 4.3, 4.5): decided here and nowhere else."""

from collections.abc import Mapping
from typing import Any

# MCP tells a failed call by "isError", messages APIs by "is_error".
_FLAWS = ("isError", "is_error")
_CODES = ("exit_code", "exit_status", "returncode", "return_code")
_FIRST_HTTP_ERROR = 400
_GOOD = frozenset({"passed", "pass", "ok", "success", "succeeded"})


def went_well(event_type: str, content: Mapping[str, Any]) -> bool | None:
    """True or False for an error, or for work that tells its end; None where it does not say, and for all else.

    ``success`` of a tool result is what HMX-E 4.3 asks for; where it is missing, what tools report instead counts: exit
    codes, HTTP states, errors, in the result or beside it. HMX-E gives commands, edits, tests, browser actions and API
    results no fields: these are read in the same way.

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
        case "command_exec" | "file_edit" | "api_result" | "browser_action":
            return _work(content)
        case _:
            return None


def _result(content: Mapping[str, Any]) -> bool | None:
    if isinstance(content.get("success"), bool):
        return bool(content["success"])
    inner = content.get("result")
    told = _work(inner) if isinstance(inner, Mapping) else None
    return _work(content) if told is None else told


def _test(content: Mapping[str, Any]) -> bool | None:
    failed = content.get("failed", content.get("failures"))
    if isinstance(failed, int):
        return failed == 0
    if isinstance(content.get("passed"), bool):
        return bool(content["passed"])
    if isinstance(content.get("status"), str):
        return content["status"].lower() in _GOOD
    return _work(content)


def _work(content: Mapping[str, Any]) -> bool | None:
    for field in ("success", "ok"):
        if isinstance(content.get(field), bool):
            return bool(content[field])
    for field in _FLAWS:
        if isinstance(content.get(field), bool):
            return not content[field]
    for field in _CODES:
        if type(content.get(field)) is int:
            return bool(content[field] == 0)
    for field in ("status_code", "status"):
        if type(content.get(field)) is int:
            return bool(content[field] < _FIRST_HTTP_ERROR)
    return False if content.get("error") else None
