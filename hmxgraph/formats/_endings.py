"""How a call ended, as far as its result says so in words: exit codes, errors, tracebacks."""

import re
from collections.abc import Mapping
from typing import Any

from hmxgraph.formats.conversion import JsonObject

_EXIT_CODE = re.compile(
    r"(?:^|\n)\W{0,3}(?:(?:process|command|program) )?"
    r"(?:exited with (?:code|status) |exit (?:code|status)[: =] ?|<exit_code>)(?P<code>-?\d{1,10})\b",
    re.IGNORECASE,
)
# Harnesses put the code into the first lines of what they return.
_NEAR = 400
_ERROR = re.compile(
    r"\s*(?:<tool_use_error>|\[?(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*)?(?:Error|Exception)\b\]?(?:\(|:)|Traceback \(most)"
)


def exit_code(written: str) -> int | None:
    r"""The exit code that the result of a command names in its first lines.

    >>> exit_code("Exit code 128\nfatal: no upstream"), exit_code("Process exited with code 0\nOutput: ok")
    (128, 0)
    >>> exit_code("status 7 of 9 done"), exit_code("the code: 5 apples")
    (None, None)
    """
    match = _EXIT_CODE.search(written[:_NEAR])
    return int(match["code"]) if match else None


def is_error_text(written: str) -> bool:
    """Whether a result's first words say that it is an error.

    >>> is_error_text("Error: user not found"), is_error_text("ValueError: bad"), is_error_text("Errors were few")
    (True, True, False)
    """
    return _ERROR.match(written) is not None


def ending(result: Any) -> JsonObject:
    """``success`` and ``exit_code`` of a result that carries no flag, as far as its words say.

    >>> ending("Error: user not found"), ending("12 rows"), ending({"exit_code": 1})
    ({'success': False}, {}, {})
    """
    if isinstance(result, Mapping):
        return {"success": False} if result.get("isError") is True else {}
    if not isinstance(result, str):
        return {}
    code = exit_code(result)
    if code is not None:
        return {"success": code == 0, "exit_code": code}
    return {"success": False} if is_error_text(result) else {}
