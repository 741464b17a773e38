"""Whether a text opens with an error, whoever printed it."""

import re

_OPENS = re.compile(
    r"\W*(?:tool_use_error>|traceback \(most|(?:an? (?:\w+ )?)?(?:[a-z_]\w*\.)*\w*(?:error|exception)"
    r"(?:\(| ?[\])}>]?:|[\])}>]| (?:occurred|when|while|during|calling|executing|invoking|running|processing)\b))",
    re.IGNORECASE,
)


def opens_with_error(text: str) -> bool:
    """Whether the first words of *text* say that it is an error.

    >>> opens_with_error("Error: user not found"), opens_with_error("ValueError: bad"), opens_with_error("Errors: 0")
    (True, True, False)
    >>> opens_with_error("Error executing tool get_order: no such order"), opens_with_error("Error handling in Rust")
    (True, False)
    """
    return _OPENS.match(text) is not None
