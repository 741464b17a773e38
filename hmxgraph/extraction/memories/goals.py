"""What somebody wants to reach: the first request of a session, and aims stated as such."""

import re
from typing import NamedTuple

from hmxgraph.extraction.verbs import BASE_VERBS

_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|thanks|ok|okay|so|yes|sure|please|well"
    r"|dear)\b(?: there| again| everyone| team| all)?[\s,.!-]*)+",
    re.IGNORECASE,
)
_VERB = r"(?P<verb>[a-z][a-z-]+)"
_REQUESTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:can|could|would|will) you (?:please |kindly )?(?:help me (?:to |with )?)?{_VERB}",
        rf"(?:i|we)(?: would|'d) (?:really )?like (?:you )?to {_VERB}",
        rf"(?:i|we)(?: really| just| urgently)? (?:want|need|have)(?: you)? to {_VERB}",
        rf"(?:i|we)(?:'m| am|'re| are) (?:trying|looking|hoping|calling|writing|reaching out|here) to {_VERB}",
        rf"(?:please )?help me (?:to |with )?{_VERB}",
        r"(?:i|we)(?: really)? need (?:some )?(?:help|assistance|support) (?:with |in )(?P<verb>[a-z]+)",
        (
            r"(?:i|we)(?:'m| am|'re| are| keep) (?:having|experiencing|running into|seeing|getting) "
            r"(?P<verb>(?:some |a lot of |an? |ongoing |serious |real )*(?:trouble|problem|issue|difficult|error))"
        ),
    )
)
_EMPTY = re.compile(
    r"(?:(?:help|assist|do|know|ask|see|look|talk|speak|be|get|let|start|have|hear|explain)\b(?: (?:me|you|us|with"
    r"|that|this|it|out|to|into|please|somebody|someone|a human|an agent|a few|some|questions?|something|things?))*"
    r"|(?:with |in )?(?:that|this|it|something|an?|my|the|some|(?:a )?(?:couple(?: of)?|few)|two|three)? ?"
    r"(?:issues?|problems?|things?|questions?|requests?|trouble|changes?)?)\W*$",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:that|this|it|them|those|these|there|here|above|below|same)\b", re.IGNORECASE)
# A verb in its plain form that is a noun here, as what follows it tells: "Work was fine", "Back from Lisbon".
_NO_VERB = re.compile(
    r"(?:[a-z-]+ (?:[a-z-]+s? )??(?<!who )(?<!what )(?<!which )(?<!that )(?<!it )(?<!this )(?<!there )"
    r"(?:was|were|is|are|has|had|isn't|wasn't|went|came|told|looks?|seems?|arrived|changed)\b"
    r"|back (?!up\b))",
    re.IGNORECASE,
)
_AIM = re.compile(
    r"(?<![\w'])(?P<text>(?:[Mm]y (?:main |biggest |ultimate |long-term |next |current )?(?:goal|aim|dream|plan"
    r"|objective)(?: (?:right now|this year|for \w+(?: \w+)?))? is (?:to|that)"
    r"|(?:I(?:'m| am)|[Ww]e(?:'re| are)) (?:currently |now |actually |also )?(?:planning|aiming|training|saving up"
    r"|preparing|studying) (?:to|for|towards?)"
    r"|I (?:plan|aim|intend|hope|want) to(?= (?:become|learn|open|start|launch|run|write|finish|publish|build|visit"
    r"|travel|create|improve|earn|lose|quit|teach|volunteer|set up)\b)) (?P<object>[^.!?;]+))"
)
# Words without one of which no aim is recognised.
CUES = frozenset(
    """
    goal aim aiming dream planning plan objective training saving preparing studying intend hope want
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)


class Goal(NamedTuple):
    """What is wanted, in the words it was said in."""

    text: str
    object: str
    confidence: float


def request(sentence: str) -> Goal | None:
    """The request that *sentence* makes of an agent, if it says what is wanted.

    >>> request("Hi there! I'd like to change my flight reservation.").text
    "I'd like to change my flight reservation."
    >>> request("Can you help me with that?"), request("Hello!")
    (None, None)
    """
    greeting = _GREETING.match(sentence)
    core = sentence[greeting.end() :] if greeting else sentence
    if not 3 <= core.count(" ") + 1 <= 50 or ":" in core[:25] or core.endswith(":"):
        return None
    first = re.split(r"[\s,]", core, maxsplit=1)[0].lower()
    if first in BASE_VERBS and not core.endswith("?") and not _NO_VERB.match(core):
        return _wanted(core, core, 0.7)
    for pattern in _REQUESTS:
        found = pattern.search(core)
        if found:
            return _wanted(core, core[found.start("verb") :], 0.75)
    return None


def aim(sentence: str) -> Goal | None:
    """The aim that *sentence* states about who speaks.

    >>> aim("My goal is to give kids a loving home.").object
    'give kids a loving home'
    """
    found = _AIM.search(sentence)
    if not found or sentence.endswith("?"):
        return None
    about = re.split(r"\s-+\s|,? (?:but|because|so|'cause|which)\b|, (?:and|so|it)\b| - ", found["object"], maxsplit=1)[
        0
    ].strip(" ,")
    if (
        len(about) < 8
        or re.match(r"(?:it|that|this|them|for (?:it|that)|on (?:it|that|this))\b", about)
        or _POINTING.search(about)
    ):
        return None
    text = sentence[found.start("text") : found.start("object") + len(about)]
    return Goal(f"{text}.", about, 0.7)


def _wanted(core: str, wanted: str, confidence: float) -> Goal | None:
    """*core* as a goal, unless it leaves open what is wanted."""
    if _EMPTY.match(wanted) or wanted.count(" ") < 1:
        return None
    if _POINTING.search(" ".join(wanted.split()[:4])) or re.search(r"\b(?:this|that|it)\W*$", wanted):
        return None
    return Goal(core[:1].upper() + core[1:], wanted.strip(" .!?"), confidence)
