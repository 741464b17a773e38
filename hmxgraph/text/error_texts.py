"""Whether a text begins with an error message, and whether its beginning says that the user declined a call."""

import re

# The name of an error with what follows it at the beginning of a message: "ValueError: ...", "an error occurred".
_OPENS = re.compile(
    r"\W*(?:tool_use_error>|traceback \(most|(?:an? (?:\w+ )?)?(?:[a-z_]\w*\.)*\w*(?:error|exception)"
    r"(?:\(| ?[\])}>]?:|[\])}>]| (?:occurred|when|while|during|calling|executing|invoking|running|processing)\b))",
    re.IGNORECASE,
)

# A statement that the user did not allow a call: "the user doesn't want to proceed", "rejected by the user".
_DECLINED = re.compile(
    r"\buser (?:has )?(?:does(?:n['\u2019]t| not) want to (?:proceed|take)|(?:denied|declined|rejected|refused) |"
    r"did(?:n['\u2019]t| not) (?:approve|allow|permit))|\b(?:denied|declined|rejected|not approved) by (?:the )?user\b",
    re.IGNORECASE,
)
# Number of characters searched. Later in a long result, "rejected by the user" may be about something else.
_BEGINNING = 200


def says_declined(text: str) -> bool:
    """Whether the first 200 characters of a result say that the user did not allow the call.

    >>> says_declined("[Operation Cancelled] Reason: User denied execution."), says_declined("3 users denied it")
    (True, False)
    >>> says_declined("The user doesn't want to proceed with this tool use."), says_declined("the user is known")
    (True, False)
    """
    return _DECLINED.search(text[:_BEGINNING]) is not None


def opens_with_error(text: str) -> bool:
    """Whether the first words of *text* say that it is an error.

    >>> opens_with_error("Error: user not found"), opens_with_error("ValueError: bad"), opens_with_error("Errors: 0")
    (True, True, False)
    >>> opens_with_error("Error executing tool get_order: no such order"), opens_with_error("Error handling in Rust")
    (True, False)
    """
    return _OPENS.match(text) is not None
