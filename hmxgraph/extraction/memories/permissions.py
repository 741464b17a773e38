"""Rules taken back: what may be done now, what need not be done any more, and rules that are to be forgotten."""

import re
from typing import NamedTuple

from hmxgraph.extraction.memories.directives import DEFINITE, is_of_the_moment, undressed
from hmxgraph.extraction.phrases import pattern
from hmxgraph.extraction.verbs import BASE_VERBS

_NOW = r"(?: now| again| once more| also)*"
_ANY_MORE = r"(?:any ?more|any longer|from now on)\b"
_AS_OF_NOW = r"(?:now|again|once more|from now on)\b"
_FINE = r"(?:fine|ok|okay|all right|alright|allowed|permitted|acceptable)"
_ANYBODY = r"(?:you|we|everyone|everybody|anyone|anybody)"
# What holds only in some case leaves the rule for all others.
_CONDITION = pattern(r"\b(?:if|unless|once|when|whenever|until|only|as long as|provided|except)\b")
_MAY = (
    pattern(rf"{_ANYBODY}{_NOW} may{_NOW} (?P<matter>.+)"),
    pattern(rf"{_ANYBODY}(?: are|'re| is|'s){_NOW} (?:allowed|permitted|free|welcome) to{_NOW} (?P<matter>.+)"),
    pattern(rf"feel free to (?P<matter>.+?) {_AS_OF_NOW}"),
    pattern(rf"(?P<matter>\w+ing .+) is (?:now |again )?{_FINE} {_AS_OF_NOW}|(?P<matter2>\w+ing .+) is now {_FINE}"),
    pattern(r"(?P<matter>\w+ing .+) is no longer (?:forbidden|prohibited|banned)\b"),
    pattern(rf"it(?:'s| is){_NOW} {_FINE}{_NOW}(?: for (?:you|us))? to (?P<matter>.+)"),
)
# Who can do something is able to, or allowed to.
_CAN = (
    pattern(rf"{_ANYBODY}{_NOW} can (?:now|again|once more) (?P<matter>.+)"),
    pattern(rf"{_ANYBODY} can (?P<matter>.+?) {_AS_OF_NOW}\W*$"),
)
_NEED_NOT = (
    pattern(
        rf"{_ANYBODY} (?:don't|do not|doesn't|does not|needn't|need not) (?:(?:have|need) to )?"
        rf"(?P<matter>.+?) {_ANY_MORE}"
    ),
    pattern(rf"{_ANYBODY} no longer (?:have|has|need|needs) to (?P<matter>.+)"),
    pattern(rf"(?:there(?:'s| is) )?no need to (?P<matter>.+?) {_ANY_MORE}"),
    pattern(rf"{_ANYBODY}{_NOW} (?:may|can){_NOW} stop (?P<matter>\w+ing .+)"),
    pattern(r"(?P<matter>\w+ing .+) is no longer (?:necessary|required|needed|mandatory)\b"),
    pattern(r"it(?:'s| is) no longer (?:necessary|required|needed|mandatory) to (?P<matter>.+)"),
)
_RULE = r"(?:\w+ ){0,2}?(?:rules?|polic(?:y|ies)|instructions?|bans?|restrictions?|requirements?|orders?|directives?)"
_ABOUT = r"(?:about|on|against|of|for|to|regarding|concerning|that (?:you|we) (?:must|should|have to)(?: not| never)?)"
_FORGET = (
    pattern(
        r"(?:forget|never mind|drop|ignore|scrap|scratch|disregard|lift|remove|delete) (?:about )?(?:"
        rf"(?:the|my|our|that|your) {_RULE} {_ABOUT}|what (?:i|we) (?:said|told you) (?:about|on)) (?P<matter>.+)"
    ),
    pattern(
        rf"(?:the|my|our|that|your) {_RULE} {_ABOUT} (?P<matter>.+?) (?:no longer (?:applies|apply|holds?|counts?)"
        r"|(?:is|are) (?:off|void|gone|lifted|obsolete|history|no longer in force))\b"
    ),
)
_CLAUSES = re.compile(r"[,;]\s+|\s+-+\s+|\s+(?:and|so|because|since)\s+(?=you\b|we\b|it\b|it's\b|the\b)")
_TRAILING = pattern(r"(?:[\s,]*\b(?:now|again|any ?more|any longer|from now on|please|then|too|though|after all))*\W*$")
# Words without one of which no rule is taken back.
CUES = frozenset(
    """
    may allowed permitted free welcome now again fine ok okay alright right acceptable longer anymore more rule rules
    policy policies instruction instructions ban bans restriction restrictions requirement requirements order orders
    directive directives forget stop
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# What "may" happens rather than is allowed.
_BEFALLS = frozenset({"get", "find", "look", "hold", "miss", "notice"})


class Lifted(NamedTuple):
    """A rule taken back: the words, what is allowed or need not be, which of both; ``forgotten`` is either."""

    text: str
    matter: str
    confidence: float
    need_not: bool = False
    forgotten: bool = False


def lifted(sentence: str) -> Lifted | None:
    """The rule that *sentence* takes back for good, if it does.

    >>> lifted("Forget the rule about pushing to main, you may push to main directly now.").matter
    'push to main directly'
    >>> lifted("You don't have to run the linter before you commit any more.").need_not
    True
    >>> lifted("You may push if the tests pass"), lifted("You may not push"), lifted("You may get errors")
    (None, None, None)
    """
    if sentence.endswith("?") or _CONDITION.search(sentence) or sentence.count(" ") > 45:
        return None
    found = list(filter(None, map(_of_clause, _CLAUSES.split(undressed(sentence)))))
    return next((one for one in found if not one.forgotten), found[0] if found else None)


def _of_clause(clause: str) -> Lifted | None:
    told = undressed(clause).strip()
    text = f"{told[:1].upper()}{told[1:].rstrip(' .!')}."
    for forms, sure in ((_NEED_NOT, 0.75), (_MAY, 0.75), (_CAN, 0.6), (_FORGET, 0.8)):
        for form in forms:
            if (found := form.match(told)) and (matter := _matter(found)):
                definite = DEFINITE.search(matter) and forms is not _FORGET
                return Lifted(text, matter, 0.6 if definite else sure, forms is _NEED_NOT, forms is _FORGET)
    return None


def _matter(found: re.Match[str]) -> str:
    """What is spoken of, where it is something to be done, and nothing of the moment."""
    groups = found.groupdict()
    matter = _TRAILING.sub("", groups["matter"] or groups["matter2"])
    verb = matter.split(" ", 1)[0].lower()
    done = verb.endswith("ing") or verb in BASE_VERBS - _BEFALLS
    return matter if done and not is_of_the_moment(matter) else ""
