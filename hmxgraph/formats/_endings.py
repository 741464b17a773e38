"""How a call ended, according to its result: an exit code, an error message, or fields that report success."""

import re
from collections.abc import Mapping
from typing import Any

from hmxgraph.formats.conversion import JsonObject
from hmxgraph.protocol.events import went_well
from hmxgraph.text.error_texts import opens_with_error

# "Exit code: 1", "[exited with status 1", "Process exited with code 1", "make completed with exit code 1" or
# "<exit_code>1", each at the start of a line.
_EXIT_CODE = re.compile(
    r"(?:^|\n)\W{0,3}(?:(?:process|command|program) |[^\n]{0,60} completed with )?"
    r"(?:exited with (?:code|status) |exit (?:code|status)[: =] ?|<exit_code>)(?P<code>-?\d{1,10})\b",
    re.IGNORECASE,
)
# Characters searched at the start and at the end of a result: harnesses put the code into the first or last lines.
_FIRST, _LAST = 400, 120
# Only punctuation up to the end of the text, such as the bracket after "[exited with status 1".
_ONLY_PUNCTUATION = re.compile(r"\W*$")


def exit_code(text: str) -> int | None:
    r"""The exit code in the first lines or at the end of a command's result; None if there is none.

    >>> exit_code("Exit code 128\nfatal: no upstream"), exit_code("Process exited with code 0\nOutput: ok")
    (128, 0)
    >>> exit_code("ok\n" * 200 + "Exit Code: 101"), exit_code("status 7 of 9 done"), exit_code("the code: 5 apples")
    (101, None, None)
    """
    match = _EXIT_CODE.search(text[:_FIRST]) or _at_end(text)
    return int(match["code"]) if match else None


def _at_end(text: str) -> re.Match[str] | None:
    match = _EXIT_CODE.search(text, max(len(text) - _LAST, 0))
    return match if match and _ONLY_PUNCTUATION.match(text, match.end()) else None


def ending(result: Any) -> JsonObject:
    """``success`` and ``exit_code``, if the text of a result or its flag ``isError`` shows them.

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
    return {"success": False} if opens_with_error(result) else {}


def fields_say_failure(result: Any) -> bool:
    """Whether the fields of a result, or of each of several results, report a failure.

    >>> fields_say_failure({"result": "", "error": "old_text is missing", "success": False})
    True
    >>> fields_say_failure([{"success": True}, {"success": False}]), fields_say_failure("12 rows")
    (False, False)
    """
    parts = result if isinstance(result, list) and result else [result]
    return all(isinstance(part, Mapping) and went_well("tool_result", {"result": part}) is False for part in parts)
