"""What the last events of a session show: whether its request was carried out, and what a user adds at the end."""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

from hmxgraph.recall.pool import is_assistant, tool_in
from hmxgraph.recall.question import objects, speaks_of_trouble

# Words by which a user accepts what was done.
_ACCEPTS = re.compile(
    r"\b(?:thanks?|thx|ok(?:ay)?|great|perfect|cool|nice|good|excellent|awesome|wonderful|fine"
    r"|that(?:['\u2019]s| is| was| will be) (?:all|it|everything))\b",
    re.IGNORECASE,
)
# A sentence that consists only of thanks, praise and farewells; it may end with what the thanks are for.
_THANKS_WORDS = "|".join(
    """
    a again all alright also an and appreciated awesome be brilliant bye cheers cool day done else evening
    everything exactly excellent fantastic fine good goodbye got great have help helpful i is it looks lot lovely
    many much nice night no now of ok okay perfect really rest right set so sounds super thank thanks that the this
    thx today too very was weekend will wonderful working works yeah yes you your
    """.split()  # noqa: SIM905 - a block of words is easier to read than a list
)
_THANKS = re.compile(
    rf"(?!for\b)(?:\W|\b(?:{_THANKS_WORDS}"
    r"|(?<=\bthat['\u2019])s|(?<=\bit['\u2019])s|(?<=\beverything['\u2019])s|(?<=\bi['\u2019])m"
    r"|(?<=\ball i )need(?:ed)?|(?<=\beverything i )need(?:ed)?|don['\u2019]t need anything)\b)*"
    r"(?:\b(?:for|appreciate)\b"
    r"(?:(?!\b(?:but|though|although|however|except|instead|not|please|wrong)\b|n['\u2019]t\b)[^,;:])*)?",
    re.IGNORECASE,
)
# Marks that simulated users put at the end of a conversation: ###STOP###.
_MARKER = re.compile(r"###\w+###")
# Offers of more help ("Anything else?"). A report that the work is done may end with no other question.
_OFFERS_MORE = re.compile(r"\b(?:anything|something|else|further|more) [^.?!]*\?\W*$", re.IGNORECASE)
# Words that say that something was not done.
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
# A sentence with fewer words than this is no remark.
_REMARK = 6


class Turn(NamedTuple):
    """One of the last events of a session: its type, its speaker, and whether it failed.

    ``text`` is the end of the text of a message, and the beginning of the text of any other event.
    """

    event_type: str
    speaker: str | None
    failed: bool
    text: str


def is_carried_out(ending: Sequence[Turn], is_change: Callable[[str], bool]) -> bool:
    """Whether the end of a session, latest event first, shows that what was asked for was done.

    The latest result must not be a failure, and a tool must have changed something (*is_change* is true for its name),
    because a lookup may only prepare a decision that is still open. After the result, the assistant must report without
    a question and without words for what was not done. Then the user may only give thanks, to which the assistant may
    reply.

    >>> done = Turn("tool_result", None, False, "deploy -> deployed 2.3.1")
    >>> report = Turn("message", "assistant", False, "It is deployed. Anything else I can do?")
    >>> thanks, reply = Turn("message", None, False, "Thanks!"), Turn("message", "assistant", False, "You're welcome!")
    >>> [is_carried_out(turns, {"deploy"}.__contains__) for turns in ([report, done], [reply, thanks, report, done])]
    [True, True]
    >>> wrong = Turn("message", None, False, "No, that's wrong")
    >>> [is_carried_out(turns, {"deploy"}.__contains__) for turns in ([wrong, report, done], [report])]
    [False, False]

    """
    turns = list(ending)
    while turns and (accepted := _accepted(turns)):
        del turns[:accepted]
    reports = list(takewhile(_is_report, turns))
    before = turns[len(reports) :]
    succeeded = bool(reports and before) and before[0].event_type == "tool_result" and not before[0].failed
    changed = any(_changes(turn, is_change) for turn in before)
    return succeeded and changed and _reports_work(reports[0].text)


def _accepted(turns: Sequence[Turn]) -> int:
    """Return the number of *turns*, latest first, in which the user gives thanks and the assistant replies to them."""
    is_reply = len(turns) > 1 and _is_report(turns[0]) and _reports_work(turns[0].text)
    thanks = turns[1 if is_reply else 0]
    return (2 if is_reply else 1) if _is_message(thanks) and not _is_report(thanks) and _accepts(thanks.text) else 0


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


def _is_report(turn: Turn) -> bool:
    return _is_message(turn) and is_assistant(turn.speaker or "")


def _changes(turn: Turn, is_change: Callable[[str], bool]) -> bool:
    """Whether *turn* is the result of a change; a tool without a name may change anything."""
    tool = tool_in(turn.text)
    return turn.event_type == "tool_result" and not turn.failed and (tool is None or is_change(tool[0]))


def _accepts(text: str) -> bool:
    """Whether a message consists only of thanks, without a request or an objection.

    >>> _accepts("Great, that's all. Thanks for the quick help!"), _accepts("Thanks, but I wanted Friday")
    (True, False)

    """
    words = _MARKER.sub("", text).strip()
    sentences = [sentence for sentence in _SENTENCE_END.split(words) if sentence]
    only_thanks = bool(_ACCEPTS.search(words)) and all(map(_THANKS.fullmatch, sentences))
    return only_thanks and not ("?" in text or objects(text) or speaks_of_trouble(text))


def _reports_work(text: str) -> bool:
    """Whether a message ends work: no question except an offer of more help, and no word for what was not done.

    >>> _reports_work("It is deployed."), _reports_work("Which version?"), _reports_work("Now I run the tests:")
    (True, False, False)

    """
    report = text.rstrip()
    asks = report.endswith("?") and not _OFFERS_MORE.search(report)
    return not (asks or report.endswith(":") or _NOT_DONE.search(report))
