"""What the last events of a session show: whether its request was carried out, and what a user adds at the end."""

import re
from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from hmxgraph.recall.pool import is_assistant
from hmxgraph.recall.question import asks, objects, speaks_of_trouble

# Words by which a user accepts what was done.
_ACCEPTS = re.compile(
    r"^\W*(?:(?:many |ok(?:ay)?,? )?thanks?|thx|ok(?:ay)?|great|perfect|cool|nice|good|excellent|awesome|wonderful"
    r"|no,? (?:thanks?|that)|that(?:['\u2019]s| is| was| will be) (?:all|it|everything|great|perfect|fine|good))\b",
    re.IGNORECASE,
)
# Offers of more help ("Anything else?"): the only questions that may end work.
_OFFERS_MORE = re.compile(r"\b(?:anything|something|else|further|more) [^.?!]*\?\W*$", re.IGNORECASE)
# Words for work that was not done.
_NOT_DONE = re.compile(
    r"\b(?:can(?: ?not|['\u2019]t)|(?:could|did|does|do|has|have|was|is|are)(?:n['\u2019]t| not)|unable|still|sorry"
    r"|failed to)\b",
    re.IGNORECASE,
)
# Words of thanks and farewells, and words for the speaker and the assistant.
_COURTESY = re.compile(
    r"\b(?:i|i['\u2019]\w+|me|my|mine|you|you['\u2019]\w+|your|thanks?|thank|thx|appreciated?|bye|goodbye|day|that['\u2019]s"
    r"|everything|all set|help(?:ful)?|please)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
# A remark has at least this many words.
_REMARK = 6


class Turn(NamedTuple):
    """One of the last events of a session: its type, its speaker, whether it failed, and the end of its text."""

    event_type: str
    speaker: str | None
    failed: bool
    text: str


def is_carried_out(ending: Sequence[Turn]) -> bool:
    """Whether the end of a session, latest event first, shows that what was asked for was done.

    The latest result must not be a failure. After it, the assistant must report, without a question or words for what
    was not done, and the user may only accept that.

    >>> done = Turn("tool_result", None, False, "deployed 2.3.1")
    >>> report = Turn("message", "assistant", False, "It is deployed. Anything else I can do?")
    >>> is_carried_out([report, done]), is_carried_out([Turn("message", None, False, "Thanks!"), report, done])
    (True, True)
    >>> is_carried_out([Turn("message", None, False, "No, that's wrong"), report, done]), is_carried_out([report])
    (False, False)

    """
    turns = deque(ending)
    while turns and _is_message(turns[0]) and not is_assistant(turns[0].speaker or "") and _accepts(turns[0].text):
        turns.popleft()
    reports = list(takewhile(lambda turn: _is_message(turn) and is_assistant(turn.speaker or ""), turns))
    result = turns[len(reports)] if 0 < len(reports) < len(turns) else None
    succeeded = result is not None and result.event_type == "tool_result" and not result.failed
    return succeeded and _reports_work(reports[0].text)


def adds_a_remark(farewell: str) -> bool:
    """Whether a user's last message says more than thanks: a sentence about neither the speaker nor the assistant.

    >>> adds_a_remark("Thanks. For the record: the nightly backup runs from 02:00 to 03:00."), adds_a_remark(
    ...     "Perfect, thank you so much for your help! I'll keep an eye out for the email. Have a great day!"
    ... )
    (True, False)

    """
    return any(
        len(sentence.split()) >= _REMARK and not (_COURTESY.search(sentence) or sentence.endswith("?"))
        for sentence in _SENTENCE_END.split(farewell)
    )


def _is_message(turn: Turn) -> bool:
    return turn.event_type == "message"


def _accepts(text: str) -> bool:
    return bool(_ACCEPTS.match(text)) and not (asks(text) or objects(text) or speaks_of_trouble(text))


def _reports_work(text: str) -> bool:
    """Whether a message ends work: with no other question than an offer, and no word for what was not done.

    >>> _reports_work("It is deployed."), _reports_work("Which version?"), _reports_work("Now I run the tests:")
    (True, False, False)

    """
    stated = text.rstrip()
    open_question = stated.endswith("?") and not _OFFERS_MORE.search(stated)
    return not (open_question or stated.endswith(":") or _NOT_DONE.search(stated))
