"""Directives and permissions: rules that people give, and rules that they take back."""

import re
from typing import NamedTuple

from hmxgraph.extraction._entity_forms import is_id
from hmxgraph.extraction.language import BASE_VERBS, NOT_ORDERED, one_of, pattern

# Policies: what somebody who may give orders tells to be done or left, always or from now on.
#
# An order is recognised by its head: an imperative after what may introduce it. "Always" and "never" make it a policy;
# milder heads need a word that makes it general, and count as tentative without one.

# In front of the order: greetings and the like, an occasion, a polite opening.
_LEAD = pattern(
    r"(?:(?:and|but|so|also|ok|okay|yes|yep|sure|no|(?:ok |okay )?thanks|thank you|great|oh|well|alright|perfect|hi"
    r"|hello|hey|btw"
    r"|by the way|note|important|reminder|remember|rules?|policy|instructions?|preferences?|additionally|finally"
    r"|lastly|actually|again|one more thing|understood|got it)(?: there| everyone| all| team)?\s*[,:;!.-]+\s*"
    r"|(?:and|but|so|also|just|please|kindly|plus|now|then|btw|by the way|fyi|oh|ok|okay|hey)\s+)+"
)
_ADVERBIAL = one_of(
    "from now on", "going forward", "moving forward", "in (?:the )?future", "next time", "henceforth", "by default",
    "as a rule", "in general", "generally", "without (?:any )?exception", "at all times", "(?:when|where)ever possible",
)  # fmt: skip
_OCCASION = one_of(
    "whenever", r"no matter\b", "every time", "each time", "any time", r"when (?:\w+ing|you|we|i|a|an|the)\b",
    r"(?:before|after) (?:\w+ing|you|we|any|every|each|a|an)\b", r"if\b", r"unless\b", r"once\b", r"while\b",
    r"until\b", r"for (?:all|any|every|each)\b", r"in (?:all|any|every|each|your)\b", r"during\b",
    r"on (?:mondays|tuesdays|wednesdays|thursdays|fridays|weekends|any|every|all)\b",
    # A kind of things, by its plural, but no time and nothing of the moment.
    r"(?:for|in|on|with|at|during) (?!\d|(?:the|th[ei]s|that|those|these|my|your|our|his|her|its|their|such|one|two"
    r"|three|few|some|other)\b)(?:[a-z-]+ ){0,3}?(?!(?:day|week|month|year|hour|minute|term|case|time|detail)s\b)"
    r"[a-z-]{2,}s\b",
)  # fmt: skip
_OPENING = pattern(
    rf"(?:{_ADVERBIAL}\s*,?\s*"
    rf"|{_OCCASION}[^,.;!?]{{0,100}}?(?:,\s*|\s+(?=you (?:must|should|have to|need to|are to)\b)))+"
)
_ASKED = pattern(
    r"(?:i(?: would|'d) like you to|i (?:want|need|expect|ask) you to|(?:can|could|would|will) you(?: please)?"
    r"|you (?:should|must(?! not\b)|need to|have to|are to|will)|you're to|it(?: is|'s) important (?:that you|to))\s+"
)
# The heads.
_STRONG = pattern(
    r"(?:please\s+)?(?:always|never(?:,? ever)?|do not ever|don't ever|under no circumstances(?: should you)?)\s+"
    r"(?P<verb>[a-z][a-z'-]*)"
)
# Heads that order something even where nothing says how often, and those that need to be told.
_INSISTING = (
    "make sure", "be sure", "ensure", "remember to", "don't forget to", "do not forget to", "do not", "don't", "avoid",
    "refrain from", "only", "no longer",
)  # fmt: skip
_NAMING = ("address me as", "refer to me as", "call me")
_BY_THE_WAY = (
    "stop",
    "use",
    "keep",
    "stick to",
    "stick with",
    "include",
    "answer",
    "respond",
    "reply",
    "write",
    "format",
)
_MILD = pattern(rf"(?:please\s+)?(?P<how>{one_of(*_INSISTING, *_NAMING, *_BY_THE_WAY)})\s+(?P<verb>[\w'-]+)")
_OF_A_VERB = frozenset({"do not", "don't", "remember to", "don't forget to", "do not forget to"})
_OF_A_PLAIN_VERB = frozenset({"only", "no longer"})
_STYLE = pattern(
    r"keep (?:\w+ ){1,4}(?:short|brief|concise|simple|formal|informal|small|clean|consistent|up to date)\b"
)
_MUST = pattern(
    r"(?:must|should (?:always|never)|may (?:not|only)|(?:is|are) (?:not allowed|required|forbidden|prohibited))\b"
)
_EVERY = pattern(r"(?:all|every|each|any|no)\b[^,.;]{3,60}? ", _MUST.pattern)
# Of anybody: in front of what they may not do, or have to.
_ANYBODY = pattern(
    r"(?:no(?:body|[ -]one)(?: else| (?:but|except) \w+)? (?:may|must|shall|is (?:(?:allowed|permitted) )?to)"
    r"|(?:every|any)(?:body|one)(?: else| (?:but|except) \w+)? (?:must(?: not| never| always)?|should (?:always|never)"
    r"|may (?:not|only)|shall(?: not)?|is required to)"
    r"|only (?!if\b|when\b)(?:[\w'-]+ ){1,4}?(?:may|(?:is|are) allowed to))(?: ever)? "
)
# Of what is done with things of a kind, told by its plural: "Commit messages must start with a verb".
_OF_A_KIND = pattern(
    r"(?:no [^,.;!?]{3,60}? (?:may|must|shall)"
    r"|(?!(?:there|things|this|his|its|us|guess|sometimes|always|yes|thanks|as|unless|whereas|perhaps)\b)"
    r"(?:[a-z-]+ ){0,3}?[a-z-]{2,}s(?: (?:over|above|under|below|of|in|for|from|to|on|without|with) [^,.;!?]{1,40}?)?"
    r" (?:must(?: not| never| always| only)?|may only|should (?:always|never)|(?:are|is) not allowed to))"
    r" (?P<undergo>be [a-z]+(?:ed|en)\b)?"
)
# Of whoever is spoken to: what he may not do.
_FORBIDDEN = pattern(
    r"you (?:(?:must|shall) not|mustn't|(?:are|'re) (?:not|never) (?:allowed|permitted) to|aren't allowed to) "
)
# A ban without a verb: "No emojis in commit messages".
_BAN = pattern(
    r"no (?:[a-z-]+ ){0,2}?[a-z-]+(?:s|ing) (?:in|on|at|before|after|during|for|from|to|with|without|inside"
    r"|outside|within) [^,.;:!?]{3,60}(?:, (?:ever|please|thanks))?\W*$"
)
_NORM = pattern(
    r"\b(?:must(?: not| never| always)?|may (?:not|only)|shall(?: not)?|should (?:always|never|not)"
    r"|(?:is|are) (?:not allowed|required|forbidden|prohibited|mandatory))\b"
)
# Words that say for how long: for good, or at least not for this one case only.
_LASTING = pattern(
    r"\b(?:always|never|whenever|(?:every|each|any) time|from now on|(?<!before )(?<!keep )(?:going|moving) forward"
    r"|in (?:the )?future|next time|by default|as a rule|in general|under no circumstances|at all times"
    r"|without exception|no matter|henceforth|when(?:ever)? (?:i|you) ask|unless i)\b"
)
_WIDE = pattern(
    r"\b(?:(?:for|in|on|to|before|after|with|at|of) (?:all|every|any|each)|all|every|each"
    r"|(?:when|before|after) \w+ing|instead of|rather than|unless)\b"
)
_HABIT = pattern(
    r"\b(?:(?:before|after|when) (?:\w+ing|a|an|any|every|each|you (?:commit|push|merge|deploy|release|ship|publish"
    r"|answer|reply|respond|write|edit|delete)|you [a-z-]+ (?:an?|any(?:thing|one|body)?|every|each))"
    r"|(?:for|in|on) (?:all|any|every|each))\b"
)
# The same behind the order: "Run the linter before every commit".
_EACH_TIME = pattern(
    r" (?:(?:before|after) (?:(?:you )?[a-z-]+ )?(?:any|every|each)(?:thing|one|body)?"
    r"|when you [a-z-]+ (?:an?|any(?:thing|one|body)?))\b"
)
# Who is to be asked or told each time, is so for good.
_TO_ME = pattern(r"^([a-z]+) (?:me|us)\b")
# What may stand for something that an occasion such as "whenever a guest comes" speaks of.
_BOUND = pattern(r"\b(?:it|its|them|they)\b")
# In a system prompt, what makes an order one for certain occasions.
_GIVEN = pattern(r"\b(?:when|whenever|if|before|after|unless|until|every|each|any|all)\b")
# Words that tie an order to the moment it is given in.
_CONDITION = pattern(r"(?:\w+[,:]? )?(?:if|once|before you|after you|until)\b")
_POINTING = pattern(
    r"\b(?:this|that|these|those|it|its|it's|them|they|here|there|ones?|above|below|same|again|today|tomorrow|tonight"
    r"|now|soon|asap|quickly|yet|anything else|everything|both|either|option)\b|\binstead\W*$"
)
# Who gives an order of the moment speaks of the matter in hand: theirs, the other one, the original.
_IN_HAND = pattern(r"\b(?:i|me|my|mine|we|us|our|ours|others?|original|rest)\b")
_FOR_GOOD = pattern(r"\bplease\b|, ever\b")
# Where another clause begins, which does not say what is to be done.
_FURTHER = pattern(
    r",(?! (?:and|or|nor|but|then|just|only|not|unless|except|if|once|until|please)\b)"
    r"| (?:because|since|as (?=it|they|we|i|the|this|that|he|she))\b"
)
# What only the moment tells: that very one.
_DEFINITE = pattern(r"\b(?:the|my|his|her|our|your|their)\b")
_NO_ORDER = pattern(
    one_of(
        "(?:let|tell) (?:me|us) know",
        "feel free",
        "(?:always|never) (?:mind|fear|forget|remember|believe|look on|be (?:yourself|afraid)|give up|say never|be too"
        "|stop (?:believing|dreaming|learning|being))",
        r"(?:do not|don't) (?:worry|mention|be |give up|forget(?! to)|you |know|hesitate|think|mind|get me|let |see "
        r"|understand|have|want|need|like|remember|feel|believe|wait|stop|sweat|beat)",
        "(?:keep|stop) (?:up|in mind|it|me|going|the good|being|by|pushing|smiling|shining|believing|on|doing|at)",
        r"use (?:the|my|that|this|your|option|a|an)\b",
        "only (?:if|when|because|one|two|the|a|thing|problem|then|after|once|at|in|just)",
        "make sure (?:to (?:stay|enjoy|take care|keep in touch|have fun|share|rest)|you (?:enjoy|take care|rest"
        "|get some))",
        "(?:remember to|don't forget to|do not forget to) (?:stay|enjoy|take care|breathe|relax|smile|have fun|pause"
        "|be)",
        "(?:write|reply|respond|answer) (?:back|soon|me|a|an|the|my)",
    )
)
_ABSOLUTE = pattern(
    r"\b(?:never|nobody|no one|must|mandatory|forbidden|prohibited|under no circumstances|not ever|not allowed|shall)\b"
    r"|n't ever\b"
)
# What no order can be without: the heads that insist, and the words that say how long or how widely it holds.
_SIGNS = re.compile(
    r"\b"
    + one_of(
        rf"{one_of(*_INSISTING, *_NAMING)}\s",
        r"no [^,.;!?]{3,60} (?:may|shall)\b",
        *(sign.pattern for sign in (_STYLE, _MUST, _ANYBODY, _BAN, _LASTING, _WIDE, _HABIT)),
    )
)


class Order(NamedTuple):
    """A directive: its words, how sure it is that it holds beyond the moment, whether it leaves no exception."""

    text: str
    confidence: float
    hard: bool


def may_order(lowered: str) -> bool:
    """Whether a lower-case text has a sign of an order that a user gives; without one, :func:`order` finds none.

    >>> may_order("use british spelling from now on"), may_order("use the blue one")
    (True, False)
    """
    return bool(_SIGNS.search(lowered))


def order(sentence: str, *, system: bool = False) -> Order | None:
    """The directive that *sentence* gives, if it gives one; *system* says that it comes from whoever runs the agent.

    >>> order("From now on, always run the tests before you push.").confidence
    0.9
    >>> order("I always forget my keys."), order("Never mind!"), order("Please make sure it works.")
    (None, None, None)
    """
    if not 3 <= sentence.count(" ") + 1 <= 45 or (sentence.endswith("?") and not _LASTING.search(sentence)):
        return None
    confidence = _confidence(_without(sentence, _LEAD, _OPENING, _LEAD, _ASKED), sentence, system=system)
    if not confidence:
        return None
    return Order(_told(sentence), confidence, hard=confidence >= 0.8 and bool(_ABSOLUTE.search(sentence)))


def _undressed(sentence: str) -> str:
    """*sentence* without greetings and occasions in front of it.

    >>> _undressed("Ok thanks, from now on you may push.")
    'you may push.'
    """
    return _without(sentence, _LEAD, _OPENING, _LEAD)


def _without(sentence: str, *parts: re.Pattern[str]) -> str:
    for part in parts:
        found = part.match(sentence)
        if found:
            sentence = sentence[found.end() :]
    return sentence


def _confidence(core: str, sentence: str, *, system: bool) -> float:
    if _NO_ORDER.match(core):
        return 0.0
    strong = _STRONG.match(core)
    if strong:
        return (0.95 if system else 0.9) if _imperative(strong["verb"]) else 0.0
    opening = sentence[: len(sentence) - len(core)]
    mild = _MILD.match(core)
    if mild and _follows(mild):
        return 0.85 if system else _mild(mild["how"].lower(), core, opening)
    if _EVERY.match(core) or _of_anybody(core) or _of_a_kind(core) or (system and _NORM.search(core)):
        return 0.85 if system else 0.75
    return _banned(core, sentence, system=system) or _plain(core, opening, system=system)


def _banned(core: str, sentence: str, *, system: bool) -> float:
    ban = _FORBIDDEN.match(core)
    if ban and _verb(told := core[ban.end() :]):
        return 0.0 if _is_of_the_moment(_own(told)) else 0.85
    if _BAN.match(core):
        return 0.85 if system else _ban(core, sentence)
    return 0.0


def _points(core: str, opening: str) -> bool:
    """Whether an order points at what is in hand, and not at what its occasion speaks of."""
    told = _own(core)
    return bool(_POINTING.search(_BOUND.sub("", told) if _LASTING.search(opening) else told))


def _of_a_kind(core: str) -> bool:
    found = _OF_A_KIND.match(core)
    return found is not None and (found["undergo"] is not None or _verb(core[found.end() :]))


def _of_anybody(core: str) -> bool:
    found = _ANYBODY.match(core)
    return found is not None and _verb(core[found.end() :])


def _mild(how: str, core: str, opening: str) -> float:
    """How sure a mild order is to hold beyond the moment."""
    if _LASTING.search(core) or _LASTING.search(opening) or how in {*_NAMING, "no longer"} or _STYLE.match(core):
        return 0.8
    told = _own(core)
    if _is_of_the_moment(told) or _CONDITION.match(opening) or (told != core and told.count(" ") < 2):
        return 0.0
    if _WIDE.search(core) or _HABIT.search(opening):
        return 0.6
    if how in _INSISTING and _DEFINITE.search(told):
        return 0.5 if told.count(" ") >= 5 else 0.0
    return 0.6 if how in _INSISTING else 0.0


def _is_of_the_moment(told: str) -> bool:
    """Whether an order speaks of what is in hand just now."""
    return bool(_POINTING.search(told) or _IN_HAND.search(told) or any(map(is_id, told.split())))


def _ban(core: str, sentence: str) -> float:
    """How sure a ban without a verb is to be one, and no report of what is not there."""
    if _LASTING.search(sentence):
        return 0.8
    told = _FOR_GOOD.search(sentence) and not (_is_of_the_moment(core) or _DEFINITE.search(core))
    return 0.6 if told else 0.0


def _own(core: str) -> str:
    """The clause of the order itself, without what is told to explain it."""
    return _FURTHER.split(core, maxsplit=1)[0]


def _verb(core: str) -> bool:
    """Whether *core* begins with a verb in its plain form."""
    return core.split(" ", 1)[0].lower().rstrip(".,!;:") in BASE_VERBS


def _plain(core: str, opening: str, *, system: bool) -> float:
    """How sure a plain imperative is to hold beyond the moment, by the words that say how long."""
    if not _verb(core) or _points(core, opening):
        return 0.0
    if _LASTING.search(opening) or _LASTING.search(core):
        return 0.8
    each_time = _EACH_TIME.search(core) and not _IN_HAND.search(_TO_ME.sub(r"\1", core))
    if each_time or (" " in core and _HABIT.search(opening) and not _IN_HAND.search(core)):
        return 0.6
    return 0.7 if system and (opening or _GIVEN.search(core)) else 0.0


def _follows(found: re.Match[str]) -> bool:
    """Whether the word after a mild head goes with it: "avoid using", "do not use", "make sure that"."""
    how, verb = found["how"].lower(), found["verb"].lower()
    if how in _NAMING:
        return found["verb"][0].isupper()
    if how in _OF_A_PLAIN_VERB:
        return verb in BASE_VERBS
    return how not in _OF_A_VERB or verb in {"always", "never"} or _imperative(verb)


def _imperative(verb: str) -> bool:
    """Whether *verb* can be what is ordered: a plain verb, not a participle, a noun phrase or an aside."""
    plain = verb.lower()
    return plain in BASE_VERBS or not (
        plain in NOT_ORDERED or plain.endswith(("ing", "ed", "'s", "n't", "ly", "s", "ful"))
    )


def _told(sentence: str) -> str:
    """*sentence* without a greeting in front of it."""
    found = _LEAD.match(sentence)
    polite = found and found.group().lower().startswith(("please", "kindly"))
    kept = sentence[found.end() :] if found and not polite else sentence
    return kept[:1].upper() + kept[1:]


# Rules taken back: what may be done now, what need not be done any more, and rules that are to be forgotten.

_NOW = r"(?: now| again| once more| also)*"
_ANY_MORE = r"(?:any ?more|any longer|from now on)\b"
_AS_OF_NOW = r"(?:now|again|once more|from now on)\b"
_FINE = r"(?:fine|ok|okay|all right|alright|allowed|permitted|acceptable)"
_PERMITTED = r"(?:you|we|everyone|everybody|anyone|anybody)"
# What holds only in some case leaves the rule for all others.
_PERMISSION_CONDITION = pattern(r"\b(?:if|unless|once|when|whenever|until|only|as long as|provided|except)\b")
_MAY = (
    pattern(rf"{_PERMITTED}{_NOW} may{_NOW} (?P<matter>.+)"),
    pattern(rf"{_PERMITTED}(?: are|'re| is|'s){_NOW} (?:allowed|permitted|free|welcome) to{_NOW} (?P<matter>.+)"),
    pattern(rf"feel free to (?P<matter>.+?) {_AS_OF_NOW}"),
    pattern(rf"(?P<matter>\w+ing .+) is (?:now |again )?{_FINE} {_AS_OF_NOW}|(?P<matter2>\w+ing .+) is now {_FINE}"),
    pattern(r"(?P<matter>\w+ing .+) is no longer (?:forbidden|prohibited|banned)\b"),
    pattern(rf"it(?:'s| is){_NOW} {_FINE}{_NOW}(?: for (?:you|us))? to (?P<matter>.+)"),
)
# Who can do something is able to, or allowed to.
_CAN = (
    pattern(rf"{_PERMITTED}{_NOW} can (?:now|again|once more) (?P<matter>.+)"),
    pattern(rf"{_PERMITTED} can (?P<matter>.+?) {_AS_OF_NOW}\W*$"),
)
_NEED_NOT = (
    pattern(
        rf"{_PERMITTED} (?:don't|do not|doesn't|does not|needn't|need not) (?:(?:have|need) to )?"
        rf"(?P<matter>.+?) {_ANY_MORE}"
    ),
    pattern(rf"{_PERMITTED} no longer (?:have|has|need|needs) to (?P<matter>.+)"),
    pattern(rf"(?:there(?:'s| is) )?no need to (?P<matter>.+?) {_ANY_MORE}"),
    pattern(rf"{_PERMITTED}{_NOW} (?:may|can){_NOW} stop (?P<matter>\w+ing .+)"),
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
    if sentence.endswith("?") or _PERMISSION_CONDITION.search(sentence) or sentence.count(" ") > 45:
        return None
    found = list(filter(None, map(_of_clause, _CLAUSES.split(_undressed(sentence)))))
    return next((one for one in found if not one.forgotten), found[0] if found else None)


def _of_clause(clause: str) -> Lifted | None:
    told = _undressed(clause).strip()
    text = f"{told[:1].upper()}{told[1:].rstrip(' .!')}."
    for forms, sure in ((_NEED_NOT, 0.75), (_MAY, 0.75), (_CAN, 0.6), (_FORGET, 0.8)):
        for form in forms:
            if (found := form.match(told)) and (matter := _matter(found)):
                definite = _DEFINITE.search(matter) and forms is not _FORGET
                return Lifted(text, matter, 0.6 if definite else sure, forms is _NEED_NOT, forms is _FORGET)
    return None


def _matter(found: re.Match[str]) -> str:
    """What is spoken of, where it is something to be done, and nothing of the moment."""
    groups = found.groupdict()
    matter = _TRAILING.sub("", groups["matter"] or groups["matter2"])
    verb = matter.split(" ", 1)[0].lower()
    done = verb.endswith("ing") or verb in BASE_VERBS - _BEFALLS
    return matter if done and not _is_of_the_moment(matter) else ""
