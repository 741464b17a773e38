"""Recognise directives: the standing rules that people give, the values that they set, and those they withdraw."""

import re
from typing import NamedTuple

from hmxgraph.extraction._entity_forms import is_id
from hmxgraph.extraction.language import BASE_VERBS, NOT_IMPERATIVE, one_of, pattern

# Policies: standing instructions about what to do or avoid.
#
# A sentence is a directive because of its head: the words "always", "make sure" and the like, after an optional opening
# such as "From now on". The heads "always" and "never" are strong. Milder heads give a lower confidence, and some count
# only together with a general word: "use tabs" is a directive only in "use tabs in every file".

# Announcements. Whatever follows one is a standing rule: "New rule from the manager: ...".
_HOW_MANY = r"(?:(?:an?|one|two|three|four|five|\d|some|a few|our|the|my) )?"
_ANNOUNCED = (
    rf"(?:here(?:'s| is|'re| are) )?{_HOW_MANY}"
    r"(?:(?:(?:new|another|updated|general|standing|house|additional|important|more|team|company|golden) ){1,2}"
    r"(?:rules?|polic(?:y|ies)|guidelines?|conventions?|restrictions?|standing orders?)"
    r"|changes? (?:of|to) (?:the |our )?(?:rules?|polic(?:y|ies))|(?:rule|policy) (?:change|update)s?)"
)
_ANNOUNCEMENT = pattern(
    rf"{_ANNOUNCED}(?: (?:from|by) [^,:;.!?]{{2,40}})?(?:(?: (?:is|are))?(?: as follows)?\s*[:-]+\s+| is that )"
)
# The same announcement anywhere in the opening of a directive: "one more rule", "policy change".
_ANNOUNCES = pattern(rf"(?:{_ANNOUNCED})\b")
# Minimum number of spaces in an announced rule, which has at least three words.
_LEAST_SPACES = 2
# Optional words before a directive, such as greetings: "Ok thanks, and please ".
_LEAD = pattern(
    rf"(?:{_ANNOUNCEMENT.pattern}|"
    r"(?:and|but|so|also|ok|okay|yes|yep|sure|no|(?:ok |okay )?thanks|thank you|great|oh|well|alright|perfect|hi"
    r"|hello|hey|btw"
    rf"|by the way|(?:please )?note|important|reminder|remember|{_HOW_MANY}rules?|policy|instructions?|preferences?"
    r"|additionally|finally|lastly|actually|again|one (?:(?:more|last|other) )?thing|understood|got it"
    r"|for (?:the record|(?:(?:your|our|future) )?reference|next time|everyone|clarity|what it(?:'s| is) worth)|fyi"
    r"|heads[ -]?up|(?:(?:quick|side|small|friendly|gentle|final|last|another) )?(?:note|reminder)|to be clear|p\.?s\b"
    r"|lessons? (?:learn(?:ed|t)|for next time)|(?:please )?(?:keep|bear) in mind|just so (?:you|we all) know"
    r"|just to be clear|every(?:one|body)|all(?: of you)?|(?:(?:the )?(?:whole|entire) )?team)"
    r"(?: there| everyone| all| team)?"
    r"\s*[,:;!.-]+\s*"
    r"|(?:and|but|so|also|just|please|kindly|actually|plus|now|then|btw|by the way|fyi|oh|ok|okay|hey|note that"
    r"|(?:keep|bear) in mind that|remember that)\s+)+"
)
# Adverbials of general validity.
_ADVERBIAL = one_of(
    "from now on", "going forward", "moving forward", "in (?:the )?future", "next time", "henceforth", "by default",
    "as a rule", "in general", "generally", "without (?:any )?exception", "at all times", "(?:when|where)ever possible",
)  # fmt: skip
# First words of a phrase for particular things ("the build", "these files", "3 hosts"), not for a kind of thing.
_PARTICULAR = r"\d|(?:the|th[ei]s|that|those|these|my|your|our|his|her|its|their|such|one|two|three|few|some|other)\b"
# A plural that names a kind of thing ("small pull requests"), but not a period of time ("weeks").
_KIND = (
    rf"(?!{_PARTICULAR})(?:[a-z-]+ ){{0,3}}?"
    r"(?!(?:day|week|month|year|hour|minute|term|case|time|detail)s\b)[a-z-]{2,}s\b"
)
# The beginning of a clause or phrase that says on which occasions a directive holds: "whenever", "before you ...".
_OCCASION = one_of(
    "whenever", r"no matter\b", "every time", "each time", "any time", r"when (?:\w+ing|you|we|i|a|an|the)\b",
    r"(?:before|after) (?:\w+ing|you|we|any|every|each|a|an)\b", r"if\b", r"unless\b", r"once\b", r"while\b",
    r"until\b", r"for (?:all|any|every|each)\b", r"in (?:all|any|every|each|your)\b", r"during\b",
    r"on (?:mondays|tuesdays|wednesdays|thursdays|fridays|weekends|any|every|all)\b",
    rf"(?:for|in|on|with|at|during) {_KIND}",
)  # fmt: skip
# Openings that say when or for what a directive holds: "Rule for releases: ", "From now on, ", "Before you push, ".
_CONDITION_CLAUSE = pattern(
    rf"(?:(?:{_ANNOUNCED}|rules?|policy) (?:for|on|about|in|during) [^,:;.!?]{{2,40}}:\s*"
    rf"|{_ADVERBIAL}\s*(?:[,:]|-+)?\s*"
    rf"|{_OCCASION}[^,:.;!?]{{0,100}}?(?:[,:]\s*|\s+(?=you (?:must|should|have to|need to|are to)\b)))+"
)
# Openings that ask the listener to do something: "I'd like you to ", "Could you please ", "You should ".
_REQUEST_OPENING = pattern(
    r"(?:i(?: would|'d) like you to|i (?:want|need|expect|ask) you to|(?:can|could|would|will) you(?: please)?"
    r"|you (?:should|must(?! not\b)|need to|have to|are to|will)|you're to|it(?: is|'s) important (?:that you|to))\s+"
)
# Strong heads and the verb after them: "always verify", "never push".
_STRONG = pattern(
    r"(?:please\s+)?(?:always|never(?:,? ever)?|do not ever|don't ever|under no circumstances(?: should you)?)\s+"
    r"(?P<verb>[a-z][a-z'-]*)"
)
# Heads that are enough by themselves.
_INSISTING_HEADS = (
    "make sure", "be sure", "ensure", "remember to", "don't forget to", "do not forget to", "do not", "don't", "avoid",
    "refrain from", "only", "no longer",
)  # fmt: skip
# These heads must be followed by at least three words: "make sure no changes" is too short to be a lasting rule.
_ASSURING_HEADS = ("make sure", "be sure", "ensure")
_LEAST_WORDS_ASSURED = 3
# Heads before a name ("call me Ann"), also enough by themselves.
_NAMING_HEADS = ("address me as", "refer to me as", "call me")
# Heads that need a general word such as "every" in the sentence.
_CASUAL_HEADS = (
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
# A milder head and the word after it.
_MILD = pattern(
    rf"(?:please\s+)?(?P<head>{one_of(*_INSISTING_HEADS, *_NAMING_HEADS, *_CASUAL_HEADS)})\s+(?P<word>[\w'-]+)"
)
# Heads that need a word after them that can be a verb.
_HEADS_BEFORE_VERB = frozenset({"do not", "don't", "remember to", "don't forget to", "do not forget to"})
# Heads that need a known base verb after them.
_HEADS_BEFORE_PLAIN_VERB = frozenset({"only", "no longer"})
# Directives about style: "Keep your answers short".
_STYLE = pattern(
    r"keep (?:\w+ ){1,4}(?:short|brief|concise|simple|formal|informal|small|clean|consistent|up to date)\b"
)
# Words of obligation or prohibition.
_MUST = pattern(
    r"(?:must|should (?:always|never)|may (?:not|only)|(?:is|are) (?:not allowed|required|forbidden|prohibited))\b"
)
# "All commits must be signed", up to "must".
_UNIVERSAL = pattern(r"(?:all|every|each|any|no)\b[^,.;]{3,60}? ", _MUST.pattern)
# Rules for everybody: "nobody may ...", "everyone must ...".
_FOR_ANYONE = pattern(
    r"(?:no(?:body|[ -]one)(?: else| (?:but|except) \w+)? (?:may|must|shall|is (?:(?:allowed|permitted) )?to)"
    r"|(?:every|any)(?:body|one)(?: else| (?:but|except) \w+)? (?:must(?: not| never| always)?|should (?:always|never)"
    r"|may (?:not|only)|shall(?: not)?|is required to)"
    r"|only (?!if\b|when\b)(?:[\w'-]+ ){1,4}?(?:may|(?:is|are) allowed to))(?: ever)? "
)
# Past participles that end in neither "-ed" nor "-en".
_IRREGULAR = (
    "(?:bought|brought|built|caught|cut|dealt|done|drawn|fed|held|hung|kept|known|laid|led|left|lent|lost|made|met|paid"
    "|put|read|run|sent|set|shown|shut|sold|spent|split|taught|thrown|told|worn)"
)
# Rules about a kind of thing, recognised by "no" or a plural: "Commit messages must start with a verb".
_FOR_A_KIND = pattern(
    r"(?:no [^,.;!?]{3,60}? (?:may|must|shall)"
    r"|(?!(?:there|things|this|his|its|us|guess|sometimes|always|yes|thanks|as|unless|whereas|perhaps)\b)"
    r"(?:[a-z-]+ ){0,3}?[a-z-]{2,}s(?: (?:over|above|under|below|of|in|for|from|to|on|without|with) [^,.;!?]{1,40}?)?"
    r" (?:must(?: not| never| always| only)?|may only|should (?:always|never)|(?:are|is) not allowed to))"
    rf" (?P<passive>be (?:[a-z]+(?:ed|en)|{_IRREGULAR})\b)?"
)
# Prohibitions addressed to the listener: "you must not ...".
_FORBIDDEN = pattern(
    r"you(?: (?:(?:must|shall) not|mustn't|aren't allowed to)|(?: are|'re) (?:not|never) (?:allowed|permitted) to) "
)
# A ban without a verb: "No emojis in commit messages"; not a report: "No more changes to commit".
_BAN = pattern(
    r"no (?!(?:more|further|such|new) |changes to )"
    r"(?:[a-z-]+ ){0,2}?[a-z-]+(?:s|ing) (?:in|on|at|before|after|during|for|from|to|with|without|inside"
    r"|outside|within) [^,.;:!?]{3,60}(?:, (?:ever|please|thanks))?\W*$"
)
# A ban on what somebody has not approved: "No discounts above 10 % without my ok".
_BAN_WITHOUT_PERMISSION = pattern(
    r"no (?!(?:problem|issue|change|question|progress|answer|news)s?\b)[a-z-]+(?: [^\s,.;:!?]+){0,8}?"
    r" without (?:my|our|a manager's|the \w+'s) (?:ok|okay|approval|permission|consent|agreement|sign-?off|say-so)\b"
    r"(?:,? (?:ever|please|thanks))*\W*$"
)
# A ban for all time: "No emojis ever, please"; not a report: "No problems ever".
_BAN_FOREVER = pattern(
    r"no (?!(?:problem|issue|complaint|regret|trouble|question|one|body)s?\b)(?:[a-z-]+ ){0,3}?[a-z-]+(?:s|ing),?"
    r" ever\b(?:,? (?:again|please|thanks))*\W*$"
)
# In a system prompt, these words anywhere make a rule.
_NORM = pattern(
    r"\b(?:must(?: not| never| always)?|may (?:not|only)|shall(?: not)?|should (?:always|never|not)"
    r"|(?:is|are) (?:not allowed|required|forbidden|prohibited|mandatory))\b"
)
# Words that make a directive last beyond the present case.
_LASTING = pattern(
    r"\b(?:always|never|whenever|(?:every|each|any) time|from now on|(?<!before )(?<!keep )(?:going|moving) forward"
    r"|in (?:the )?future|next time|by default|as a rule|in general|under no circumstances|at all times"
    r"|without exception|no matter|henceforth|when(?:ever)? (?:i|you) ask|unless i)\b"
)
# The same at the end: "Use the formal form in mails to clients, always."
_LASTING_END = pattern(r",? (?:always|every time|from now on|in (?:the )?future|at all times)(?:,? please)?\W*$")
# Words that make a mild directive general: "before each", "instead of".
_GENERAL = pattern(
    r"\b(?:(?:for|in|on|to|before|after|with|at|of) (?:all|every|any|each)|all|every|each"
    r"|(?:when|before|after) \w+ing|instead of|rather than|unless)\b"
)
# Openings that name a recurring occasion: "before you push", "after every release".
_HABIT = pattern(
    r"\b(?:(?:before|after|when) (?:\w+ing|a|an|any|every|each|you (?:commit|push|merge|deploy|release|ship|publish"
    r"|answer|reply|respond|write|edit|delete)|you [a-z-]+ (?:an?|any(?:thing|one|body)?|every|each))"
    r"|(?:for|in|on) (?:all|any|every|each))\b"
)
# Words of habit after the verb: "Run the linter before every commit".
_EACH_TIME = pattern(
    r" (?:(?:before|after) (?:(?:you )?[a-z-]+ )?(?:any|every|each)(?:thing|one|body)?"
    r"|when you [a-z-]+ (?:an?|any(?:thing|one|body)?))\b"
)
# "Me" after the verb, which does not tie a directive to the moment: "ask me before ...", "stop asking me".
_ME_AS_OBJECT = pattern(r"^([a-z]+) (?:me|us)\b")
_ME_AS_STOPPED = pattern(r"^((?:please )?stop [a-z]+) (?:me|us)\b")
# Pronouns that may refer back to the opening: "whenever a guest comes, greet them".
_ANAPHORA = pattern(r"\b(?:it|its|them|they)\b")
# Words that limit a system prompt's directive to certain occasions.
_CONDITIONAL = pattern(r"\b(?:when|whenever|if|before|after|unless|until|every|each|any|all)\b")
# Words that tie a directive to the moment in which it is given.
_PRESENT_CONDITION = pattern(r"(?:\w+[,:]? )?(?:if|once|before you|after you|until)\b")
# With a limit, "everything" is a kind of thing: "everything under 20 kg".
_LIMIT = r"(?:under|over|above|below|up to|from|between)\b"
# Words that refer to the moment, or to something said or shown before: "fix this", "do it now", "use it instead".
_POINTING = pattern(
    r"\b(?:this|that|these|those|it|its|it's|them|they|here|there|ones?|(?:above|below)(?! \W?\d)|same|again|today"
    rf"|tomorrow|tonight|now|soon|asap|quickly|yet|anything else|everything(?! {_LIMIT})|both|either|option)\b"
    r"|\binstead\W*$"
)
# Words that tie a directive to the people or things of the moment: "mine", "the other", "the original".
_AT_HAND = pattern(r"\b(?:i|me|my|mine|we|us|our|ours|others?|original|rest)\b")
# Words that show that "no ..." forbids something, and does not just report that it is missing: "please", ", ever".
_EMPHATIC_BAN = pattern(r"\bplease\b|, ever\b")
# Start of a clause that does not belong to the instruction itself: ", which ...", " because ...".
_NEXT_CLAUSE = pattern(
    r",(?! (?:and|or|nor|but|then|just|only|not|unless|except|if|once|until|please)\b)"
    r"| (?:because|since|as (?=it|they|we|i|the|this|that|he|she))\b"
)
# Determiners that point at one particular thing.
_DEFINITE = pattern(r"\b(?:the|my|his|her|our|your|their)\b")
# Names in program code: an instruction that contains one usually concerns the code under discussion.
_CODE = re.compile(r"`|\w\(|[a-z]\.[a-z]|\w_\w|[a-z][A-Z]")
# Idioms and talk that begin like a directive: "never mind", "don't worry".
_NOT_A_DIRECTIVE = pattern(
    one_of(
        "(?:let|tell) (?:me|us) know",
        "feel free",
        "(?:always|never) (?:mind|fear|forget|remember|believe|look on|be (?:yourself|afraid)|give up|say never|be too"
        "|stop (?:believing|dreaming|learning|being))",
        r"(?:do not|don't) (?:worry|mention|be |give up|forget(?! to)|you |know|hesitate|think|mind|get me|let |see "
        r"|understand|have|want|need|like|remember|feel|believe|wait|stop|sweat|beat)",
        "(?:keep|stop) (?:up|in mind|it|me|going|the good|being|by|pushing|smiling|shining|believing|on|doing|at)",
        r"use (?:that|this|option)\b",
        "only (?:if|when|because|one|two|the|a|thing|problem|then|after|once|at|in|just)",
        "make sure (?:to (?:stay|enjoy|take care|keep in touch|have fun|share|rest)|you (?:enjoy|take care|rest"
        "|get some))",
        "(?:remember to|don't forget to|do not forget to) (?:stay|enjoy|take care|breathe|relax|smile|have fun|pause"
        "|be)",
        "(?:write|reply|respond|answer) (?:back|soon|me|a|an|the|my)",
    )
)
# Minimum confidence of a rule after a label (`_LABEL`); strong heads, "you must not" and system prompts reach it.
_SURE = 0.85
# Words that allow no exception.
_ABSOLUTE = pattern(
    r"\b(?:never|nobody|no one|must|mandatory|forbidden|prohibited|under no circumstances|not ever|not allowed|shall)\b"
    r"|n't (?:ever|allowed|permitted)\b|\bmustn't\b"
)
# "Use the blue one": an instruction about one particular thing. It is a directive only with a lasting word.
_ONE_THING = pattern(r"use (?:the|my|your|an?)\b")
# What to use for a kind of thing: "Use small pull requests for bug fixes", "use GLS for everything under 20 kg".
_FOR_A_PURPOSE = pattern(
    rf"(?:please )?use (?!{_PARTICULAR}|(?:an?|it|them|both|any|all)\b)(?:[\w'-]+ ){{1,4}}?"
    rf"for (?:{_KIND}(?!:)|everything {_LIMIT})"
)
# "Stop apologising ...", "stop adding ...". Such a habit of talking or writing goes on until somebody forbids it, so
# the directive lasts even without a general word.
_STOP_MANNER = pattern(
    r"(?:please )?stop (?![^.!?]*\b(?:the|my|his|her|our|their|him)\b)(?:add|apologi[sz]|ask|assum|call|cit|comment|end"
    r"|explain|guess|includ|invent|mention|offer|prefix|quot|recommend|repeat|repl(?:y|ac)|respond|start|suggest"
    r"|summari[sz]|thank|translat|us|writ)ing (?=\S+ ?\S)"
)
# A label, the words up to the colon in "From now on do this: never push without tests".
_LABEL = pattern(r"(?![^:]*\b(?:i|he|she|it|they|we|you|who)\b)[^:.!?\"]{3,60}: (?=[a-z])")
# Announced "rules" with these words tell a story, or comment on a rule: "New rule: he said that ...".
_NARRATIVE = pattern(
    r"(?:which|as|that|what)\b|[^.]*\b(?:i|me|my|mine|he|she|him|his|her|they|said|told|says|tells|hates?|fined)\b"
    r"|[^.]* - "
)
# How to reach the speaker: "only text me, never call".
_REACH_ME = pattern(
    r"(?:only )?(?:text|phone|ring|call|message|e-?mail|write|contact|reach) (?:to )?(?:me|us)\b[^.!?]*?,? "
    r"(?:and |but )?never (?:text|phone|ring|call|message|e-?mail|write|contact|visit|by)\b"
)
# Cheap prefilter: every user directive contains at least one of these heads or scope words.
_SIGNS = re.compile(
    r"\b"
    + one_of(
        rf"{one_of(*_INSISTING_HEADS, *_NAMING_HEADS)}\s",
        r"no [^,.;!?]{3,60} (?:may|shall)\b",
        _EACH_TIME.pattern.lstrip(),
        r"(?:rules?|polic(?:y|ies)|guidelines?|conventions?|restrictions?|orders?)\b[^.!?]{0,60}(?::| ?-|\bthat\b)",
        r"stop [a-z]+ing ",
        *(sign.pattern for sign in (_FOR_A_PURPOSE, _STYLE, _MUST, _FORBIDDEN, _FOR_ANYONE)),
        _BAN.pattern.removesuffix(r"\W*$"),  # another sentence may follow
        _BAN_FOREVER.pattern.removesuffix(r"\W*$"),
        _BAN_WITHOUT_PERMISSION.pattern.removesuffix(r"\W*$"),
        *(sign.pattern for sign in (_LASTING, _GENERAL, _HABIT)),
    )
)


class Directive(NamedTuple):
    """A directive: its text, the confidence that it holds beyond the moment, and whether it is a hard rule.

    It is hard if its confidence is at least 0.8 and its words allow no exception ("never", "must").
    """

    text: str
    confidence: float
    hard: bool


def may_contain_directive(lowered: str) -> bool:
    """Whether a lower-case user text may contain a directive. False guarantees that :func:`directive_in` finds none.

    >>> may_contain_directive("use british spelling from now on"), may_contain_directive("use the blue one")
    (True, False)
    """
    return bool(_SIGNS.search(lowered))


def directive_in(sentence: str, *, system: bool = False) -> Directive | None:
    """Return the directive in *sentence*, if any; *system* marks text written by the operator of the agent.

    >>> directive_in("From now on, always run the tests before you push.").confidence
    0.9
    >>> directive_in("I always forget my keys."), directive_in("Never mind!")
    (None, None)
    """
    # Longer sentences tell a story.
    if not 3 <= sentence.count(" ") + 1 <= 45 or (sentence.endswith("?") and not _LASTING.search(sentence)):
        return None
    core = _strip_leading(sentence, _LEAD, _CONDITION_CLAUSE, _LEAD, _REQUEST_OPENING)
    confidence = _confidence(core, sentence, system=system) or _labelled_confidence(core, sentence, system=system)
    if not confidence:
        return None
    return Directive(
        without_greeting(sentence), confidence, hard=confidence >= 0.8 and bool(_ABSOLUTE.search(sentence))
    )


def _strip_opening(sentence: str) -> str:
    """Strip leading greetings, announcements and occasions from *sentence*.

    >>> _strip_opening("Ok thanks, from now on you may push.")
    'you may push.'
    """
    return _strip_leading(sentence, _LEAD, _CONDITION_CLAUSE, _LEAD)


def _strip_leading(sentence: str, *parts: re.Pattern[str]) -> str:
    """*sentence* without the *parts* that it begins with, in this order."""
    for part in parts:
        match = part.match(sentence)
        if match:
            sentence = sentence[match.end() :]
    return sentence


def _confidence(core: str, sentence: str, *, system: bool) -> float:
    """Confidence that *core*, the *sentence* without its opening, is a lasting directive; 0 if it is none."""
    opening = sentence[: len(sentence) - len(core)]
    if _NOT_A_DIRECTIVE.match(core) or (_ONE_THING.match(core) and not _is_lasting(core, opening)):
        return 0.0
    strong = _STRONG.match(core)
    if strong:
        return (0.95 if system else 0.9) if _imperative(strong["verb"]) else 0.0
    if _REACH_ME.match(core):
        return 0.8
    mild = _MILD.match(core)
    if mild and _fits_head(mild):
        return 0.85 if system else _mild_confidence(mild["head"].lower(), core, opening)
    if _UNIVERSAL.match(core) or _rules_anyone(core) or _rules_a_kind(core) or (system and _NORM.search(core)):
        return 0.85 if system else 0.75
    return (
        _prohibition_confidence(core, sentence, system=system)
        or _plain_confidence(core, opening, system=system)
        or _announced_confidence(core, opening)
    )


def _is_lasting(core: str, opening: str) -> bool:
    """Whether *opening* or the instruction in *core* has a lasting word, or *core* ends with one.

    Further clauses of *core* do not count.
    """
    return bool(_LASTING.search(opening) or _LASTING.search(first_clause(core)) or _LASTING_END.search(core))


def _labelled_confidence(core: str, sentence: str, *, system: bool) -> float:
    """Confidence that a rule follows a label with a lasting word: "From now on do this: never push without tests"."""
    label = _LABEL.match(core)
    opening = sentence[: len(sentence) - len(core)]
    if label and not core.endswith("?") and (_LASTING.search(opening) or _LASTING.search(label.group())):
        confidence = _confidence(core[label.end() :], sentence, system=system)
        return confidence if confidence >= _SURE else 0.0
    return 0.0


def _announced_confidence(core: str, opening: str) -> float:
    """Confidence that *core* is a rule because it is announced as one, whatever its form."""
    is_announced = _ANNOUNCES.search(opening) and core.count(" ") >= _LEAST_SPACES
    is_no_rule = _POINTING.search(core) or _NARRATIVE.match(core) or core.endswith((":", "?"))
    return 0.7 if is_announced and not is_no_rule else 0.0


def _prohibition_confidence(core: str, sentence: str, *, system: bool) -> float:
    """Confidence that *core* forbids something: "you must not push", "no emojis in commit messages"."""
    forbidden = _FORBIDDEN.match(core)
    if forbidden and _starts_with_verb(action := core[forbidden.end() :]):
        return 0.0 if is_momentary(first_clause(action)) else 0.85
    if _BAN_FOREVER.match(core) or _BAN_WITHOUT_PERMISSION.match(core):
        return 0.8
    if _BAN.match(core):
        return 0.85 if system else _ban_confidence(core, sentence)
    return 0.0


def points_at_hand(text: str) -> bool:
    """Whether *text* refers to the moment, or to something that was said or shown before it: "it", "today"."""
    return bool(_POINTING.search(text))


def _refers_to_moment(core: str, opening: str) -> bool:
    """Whether a directive concerns only the present moment.

    After an opening with a lasting word, "it" and "them" refer to the occasion: "whenever a guest comes, greet them".
    """
    instruction = first_clause(core)
    return bool(_POINTING.search(_ANAPHORA.sub("", instruction) if _LASTING.search(opening) else instruction))


def _rules_a_kind(core: str) -> bool:
    """Whether *core* is a rule about a kind of thing: "commit messages must start with a verb"."""
    match = _FOR_A_KIND.match(core)
    return match is not None and (match["passive"] is not None or _starts_with_verb(core[match.end() :]))


def _rules_anyone(core: str) -> bool:
    """Whether *core* is a rule for everybody, or for some people alone: "nobody may push"."""
    match = _FOR_ANYONE.match(core)
    return match is not None and _starts_with_verb(core[match.end() :])


def _mild_confidence(head: str, core: str, opening: str) -> float:
    """Confidence that a mild directive holds beyond the moment."""
    if head in {*_NAMING_HEADS, "no longer"} or _STYLE.match(core) or _is_lasting(core, opening):
        return 0.8
    instruction = _ME_AS_STOPPED.sub(r"\1", first_clause(core))
    if is_momentary(instruction) or _PRESENT_CONDITION.match(opening) or _says_too_little(head, instruction, core):
        return 0.0
    if _GENERAL.search(core) or _HABIT.search(opening) or _FOR_A_PURPOSE.match(core) or _STOP_MANNER.match(core):
        return 0.6
    return _insisting_confidence(instruction) if head in _INSISTING_HEADS else 0.0


def _insisting_confidence(instruction: str) -> float:
    """Confidence in an insisting instruction without a general word; lower if it is about definite things or code."""
    if _DEFINITE.search(instruction):
        return 0.5 if instruction.count(" ") >= 5 else 0.0
    return 0.5 if _CODE.search(instruction) else 0.6


def _says_too_little(head: str, instruction: str, core: str) -> bool:
    """Whether an instruction has too few words: after "make sure", or after its explaining clauses were removed."""
    if head in _ASSURING_HEADS and instruction.count(" ") - head.count(" ") < _LEAST_WORDS_ASSURED:
        return True
    return instruction != core and instruction.count(" ") < 2


def is_momentary(instruction: str) -> bool:
    """Whether an instruction refers to the moment, to the people or things of the moment, or to an id."""
    return bool(_POINTING.search(instruction) or _AT_HAND.search(instruction) or any(map(is_id, instruction.split())))


def _ban_confidence(core: str, sentence: str) -> float:
    """Confidence that a user's verbless "no ..." is a ban and not a report that something is missing."""
    if _LASTING.search(sentence):
        return 0.8
    emphatic = _EMPHATIC_BAN.search(sentence) and not (is_momentary(core) or _DEFINITE.search(core))
    return 0.6 if emphatic else 0.0


def first_clause(core: str) -> str:
    """The instruction or statement itself, without the clauses that explain it."""
    return _NEXT_CLAUSE.split(core, maxsplit=1)[0]


def _starts_with_verb(core: str) -> bool:
    """Whether *core* begins with a verb in base form."""
    return core.split(" ", 1)[0].lower().rstrip(".,!;:") in BASE_VERBS


def _plain_confidence(core: str, opening: str, *, system: bool) -> float:
    """Confidence that a plain imperative holds beyond the moment.

    It needs words such as "from now on" or "before every commit"; in a system prompt, any opening or condition.
    """
    if not _starts_with_verb(core) or _refers_to_moment(core, opening):
        return 0.0
    if _LASTING.search(opening) or _LASTING.search(core):
        return 0.8
    each_time = _EACH_TIME.search(core) and not _AT_HAND.search(_ME_AS_OBJECT.sub(r"\1", core))
    if each_time or (" " in core and _HABIT.search(opening) and not _AT_HAND.search(core)):
        return 0.6
    return 0.7 if system and (opening or _CONDITIONAL.search(core)) else 0.0


def _fits_head(match: re.Match[str]) -> bool:
    """Whether the word after a mild head fits it: "do not use", "only use", "call me Ann"."""
    head, word = match["head"].lower(), match["word"].lower()
    if head in _NAMING_HEADS:
        return match["word"][0].isupper()
    if head in _HEADS_BEFORE_PLAIN_VERB:
        return word in BASE_VERBS
    return head not in _HEADS_BEFORE_VERB or word in {"always", "never"} or _imperative(word)


def _imperative(verb: str) -> bool:
    """Whether *verb* can head an instruction: a base verb, or a word without signs of another form or word class."""
    plain = verb.lower()
    return plain in BASE_VERBS or not (
        plain in NOT_IMPERATIVE or plain.endswith(("ing", "ed", "'s", "n't", "ly", "s", "ful"))
    )


def without_greeting(sentence: str) -> str:
    """*sentence* without leading greetings and announcements, capitalised; a leading "please" stays."""
    match = _LEAD.match(sentence)
    polite = match and match.group().lower().startswith(("please", "kindly"))
    directive = sentence[match.end() :] if match and not polite else sentence
    return directive[:1].upper() + directive[1:]


# The values that a directive sets, such as a language or a name: a later directive with another value replaces it.

_LANGUAGE = one_of(
    "Arabic", "Bulgarian", "Chinese", "Croatian", "Czech", "Danish", "Dutch", "English", "Estonian", "Finnish",
    "French", "German", "Greek", "Hebrew", "Hindi", "Hungarian", "Italian", "Japanese", "Korean", "Latvian",
    "Lithuanian", "Mandarin", "Norwegian", "Polish", "Portuguese", "Romanian", "Russian", "Serbian", "Slovak",
    "Slovenian", "Spanish", "Swedish", "Turkish", "Ukrainian", "Vietnamese",
)  # fmt: skip
_COUNT = r"(?P<value>\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)"
# Kinds of values, each with the pattern that finds its values. Two values of a kind exclude each other only if they are
# demanded: "never answer in German" and "never answer in French" can both hold. Times and limits are left out, because
# several can hold at once: "not before 9 am", "not after 9 pm"; "8 workers", "under 100 GB".
_CHOICES = (
    ("count", pattern(rf"\bretry {_COUNT}(?= times\b)")),
    (
        "language",
        pattern(
            r"\b(?:answer|reply|respond|speak|talk|write|chat|communicate)(?: [\w-]+){0,3} in "
            rf"(?P<value>{_LANGUAGE})\b(?!-| [a-z]+s\b)"
        ),
    ),
    ("units", pattern(r"\b(?P<value>metric|imperial) (?:units?|measures?|system)\b")),
    ("spelling", pattern(r"\b(?P<value>British|American) (?:English|spelling)\b")),
    ("indentation", pattern(r"\b(?:use|with) (?P<value>tabs|spaces)\b(?! (?:instead|rather))")),
    (
        "name",
        pattern(r"\b(?:call me|(?:address|refer to) me as) (?P<value>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)*)"),
    ),
)

# Words that limit a rule to some occasions or people. Its value says nothing about others.
_LIMITS = pattern(r"\b(?:when|whenever|if|unless|while|during|until|customers?|users?|clients?|guests?)\b")


class Valued(NamedTuple):
    """A directive with each value replaced by its kind, and the values."""

    text: str
    values: str


def without_values(text: str, *, demanded: bool) -> Valued:
    """Replace the values in the directive *text* by their kinds.

    The text stays as it is if the directive forbids something instead of *demanding* it, or if it holds only on some
    occasions or for some people. Two values of the same kind stay, because the text compares them.

    >>> without_values("Always answer in German", demanded=True)
    Valued(text='Always answer in language', values='German')
    >>> without_values("If a user asks in German, answer in German", demanded=True).values
    ''
    >>> without_values("Answer in German and write the comments in English", demanded=True).values
    ''
    """
    values = []
    for kind, form in () if not demanded or _LIMITS.search(text) else _CHOICES:
        matches = list(form.finditer(text))
        if len(matches) == 1:
            start, end = matches[0].span("value")
            values.append(text[start:end])
            text = f"{text[:start]}{kind}{text[end:]}"
    return Valued(text, " ".join(values))


# Withdrawals: statements that something is now allowed, or no longer required, or that a rule is dropped.

# Words around "may" and "can": "you may now push".
_NOW = r"(?: now| again| once more| also)*"
_ANY_MORE = r"(?:any ?more|any longer|from now on)\b"
_AS_OF_NOW = r"(?:now|again|once more|from now on)\b"
_FINE = r"(?:fine|ok|okay|all right|alright|allowed|permitted|acceptable)"
_PERSONS = r"(?:you|we|everyone|everybody|anyone|anybody)"
# With one of these words, a permission leaves the rule in force for other cases.
_PERMISSION_CONDITION = pattern(r"\b(?:if|unless|once|when|whenever|until|only|as long as|provided|except)\b")
# Statements that something is allowed; ``matter`` is the action.
_ALLOWED = (
    pattern(rf"{_PERSONS}{_NOW} may{_NOW} (?P<matter>.+)"),
    pattern(rf"{_PERSONS}(?: are|'re| is|'s){_NOW} (?:allowed|permitted|free|welcome) to{_NOW} (?P<matter>.+)"),
    pattern(rf"feel free to (?P<matter>.+?) {_AS_OF_NOW}"),
    pattern(rf"(?P<matter>\w+ing .+) is (?:now |again )?{_FINE} {_AS_OF_NOW}|(?P<matter2>\w+ing .+) is now {_FINE}"),
    pattern(r"(?P<matter>\w+ing .+) is no longer (?:forbidden|prohibited|banned)\b"),
    pattern(rf"it(?:'s| is){_NOW} {_FINE}{_NOW}(?: for (?:you|us))? to (?P<matter>.+)"),
)
# The speaker as the object of a rule: "call me".
_SPEAKER = pattern(r"\b(?:me|us)\b")
# Words which show that the action was forbidden before: "you can call me again".
_AGAIN = pattern(r"\b(?:again|once more|any ?more|any longer|no longer)\b")
# "Calls are fine again". Only for ways to reach the speaker: "the servers are fine again" just reports a state.
_REACHING = pattern(
    r"(?:phone |text |video )?(?P<means>call|text|e-?mail|visit)s (?:(?:to|from) \w+ )?are"
    rf"(?: (?:now|again|once more) {_FINE}| {_FINE} {_AS_OF_NOW})(?:,? (?:too|again|as well|for me|please|thanks))*\W*$"
)
# "Can" is ambiguous between ability and permission.
_CAN = (
    pattern(rf"{_PERSONS}{_NOW} can (?:now|again|once more) (?P<matter>.+)"),
    pattern(rf"{_PERSONS} can (?P<matter>.+?) {_AS_OF_NOW}\W*$"),
)
# Statements that something is no longer required.
_NEED_NOT = (
    pattern(
        rf"{_PERSONS} (?:don't|do not|doesn't|does not|needn't|need not) (?:(?:have|need) to )?"
        rf"(?P<matter>.+?) {_ANY_MORE}"
    ),
    pattern(rf"{_PERSONS} no longer (?:have|has|need|needs) to (?P<matter>.+)"),
    pattern(rf"(?:there(?:'s| is) )?no need to (?P<matter>.+?) {_ANY_MORE}"),
    pattern(rf"{_PERSONS}{_NOW} (?:may|can){_NOW} stop (?P<matter>\w+ing .+)"),
    pattern(r"(?P<matter>\w+ing .+) is no longer (?:necessary|required|needed|mandatory)\b"),
    pattern(r"it(?:'s| is) no longer (?:necessary|required|needed|mandatory) to (?P<matter>.+)"),
)
# A word for a rule, with up to two words before it: "the new naming rule".
_RULE_NOUN = (
    r"(?:\w+ ){0,2}?(?:rules?|polic(?:y|ies)|instructions?|bans?|restrictions?|requirements?|orders?|directives?)"
)
# Between a rule and its matter: "the ban on emojis", "the rule that you must sign".
_ABOUT = r"(?:about|on|against|of|for|to|regarding|concerning|that (?:you|we) (?:must|should|have to)(?: not| never)?)"
# Withdrawals that drop a rule: "Forget the rule about pushing to main", "the ban on emojis is lifted".
_FORGET = (
    pattern(
        r"(?:forget|never mind|drop|ignore|scrap|scratch|disregard|lift|remove|delete) (?:about )?(?:"
        rf"(?:the|my|our|that|your) {_RULE_NOUN} {_ABOUT}|what (?:i|we) (?:said|told you) (?:about|on)) (?P<matter>.+)"
    ),
    pattern(
        rf"(?:the|my|our|that|your) {_RULE_NOUN} {_ABOUT} (?P<matter>.+?) (?:no longer (?:applies|apply|holds?|counts?)"
        r"|(?:is|are) (?:off|void|gone|lifted|obsolete|history|no longer in force))\b"
    ),
)
# A rule called by its name: "the 10:00 rule no longer applies". "The old rule" points at a rule without naming it.
_RULE_BY_NAME = (
    r"(?:the|our|that|your) (?!(?:new|old|last|first|other|same|whole|previous|general|current|golden|following)\b)"
    r"(?P<matter>[\w:.'-]+(?: [\w:.'-]+){0,2}?) (?:rule|policy|ban|restriction|requirement|limit)"
)
# Words for the withdrawal of a rule: "no longer applies", "is off", "has been withdrawn".
_IS_WITHDRAWN = (
    r"(?:(?:no longer|does(?:n't| not)) (?:appl(?:y|ies)|holds?|counts?)|(?:is|has been) (?:now )?(?:off|void|gone"
    r"|lifted|obsolete|history|no longer in force|cancelled|withdrawn|dropped|abolished|scrapped))"
)
# Withdrawals that give the name of a rule: "The 10:00 rule no longer applies", "please forget the emoji ban".
_NAMED_RULES = (
    pattern(rf"{_RULE_BY_NAME} {_IS_WITHDRAWN}(?: (?:now|{_ANY_MORE}))*\W*$"),
    pattern(
        rf"(?:please )?(?:forget|drop|ignore|scrap|disregard|lift) (?:about )?{_RULE_BY_NAME}"
        rf"(?: (?:now|{_ANY_MORE}))*\W*$"
    ),
)
# Between clauses, each of which may hold a withdrawal.
_CLAUSES = re.compile(r"[,;]\s+|\s+-+\s+|\s+(?:and|so|because|since)\s+(?=you\b|we\b|it\b|it's\b|the\b)")
# Words at the end of a clause that are not part of the action.
_TRAILING = pattern(r"(?:[\s,]*\b(?:now|again|any ?more|any longer|from now on|please|then|too|though|after all))*\W*$")
# Every withdrawal contains at least one of these words.
CUES = frozenset(
    """
    may allowed permitted free welcome now again fine ok okay alright right acceptable longer anymore more rule rules
    policy policies instruction instructions ban bans restriction restrictions requirement requirements order orders
    directive directives forget mind drop ignore scrap scratch disregard lift remove delete stop
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Verbs of contact that are nouns elsewhere.
_CONTACT_VERBS = frozenset({"phone", "ring", "text", "message"})
# Verbs with which "may" usually expresses possibility, not permission.
_EVENT_VERBS = frozenset({"get", "find", "look", "hold", "miss", "notice"})


class Withdrawal(NamedTuple):
    """A withdrawal of a rule: its own words, and in ``matter`` the action that the rule is about, or the rule's name.

    ``need_not`` says that the action is no longer required, otherwise it is allowed. ``forgotten`` says that the words
    only drop the rule, without saying what is allowed.
    """

    text: str
    matter: str
    confidence: float
    need_not: bool = False
    forgotten: bool = False

    @property
    def about_speaker(self) -> bool:
        """Whether the withdrawn rule is about the speaker: "never call me"."""
        return bool(_SPEAKER.search(self.matter))


def withdrawal_in(sentence: str) -> Withdrawal | None:
    """Return the unconditional withdrawal of a rule in *sentence*, if any.

    If several clauses withdraw something, the first one counts that says what is allowed or no longer required; if none
    does, the first clause that drops a rule.

    >>> withdrawal_in("Forget the rule about pushing to main, you may push to main directly now.").matter
    'push to main directly'
    >>> withdrawal_in("You don't have to run the linter before you commit any more.").need_not
    True
    >>> withdrawal_in("You may push if the tests pass"), withdrawal_in("You may get errors")
    (None, None)
    """
    if sentence.endswith("?") or _PERMISSION_CONDITION.search(sentence) or sentence.count(" ") > 45:
        return None
    withdrawals = list(filter(None, map(_withdrawal_in_clause, _CLAUSES.split(_strip_opening(sentence)))))
    return min(withdrawals, key=lambda withdrawal: withdrawal.forgotten, default=None)


def _withdrawal_in_clause(clause: str) -> Withdrawal | None:
    """The withdrawal in a clause.

    The confidence is lower if the matter is one definite thing ("the server"), and lowest if the clause only gives the
    name of a rule, because there may be no rule of that name.
    """
    statement = _strip_opening(clause).strip()
    text = f"{statement[:1].upper()}{statement[1:].rstrip(' .!')}."
    for patterns, confidence in ((_NEED_NOT, 0.75), (_ALLOWED, 0.75), (_CAN, 0.6), (_FORGET, 0.8)):
        for candidate in patterns:
            if (match := candidate.match(statement)) and (matter := _matter(match)):
                definite = _DEFINITE.search(matter) and patterns is not _FORGET
                return Withdrawal(
                    text, matter, 0.6 if definite else confidence, patterns is _NEED_NOT, patterns is _FORGET
                )
    reaching = _REACHING.match(statement)
    if reaching:
        return Withdrawal(text, f"{reaching['means'].lower()} me", 0.8)
    named_rule = next(filter(None, (form.match(statement) for form in _NAMED_RULES)), None)
    return Withdrawal(text, named_rule["matter"], 0.5, forgotten=True) if named_rule else None


def _matter(match: re.Match[str]) -> str:
    """The action that is allowed or no longer required; empty if it is no action or concerns only the moment."""
    groups = match.groupdict()
    matter = _TRAILING.sub("", groups["matter"] or groups["matter2"])
    verb = matter.split(" ", 1)[0].lower()
    is_action = verb.endswith("ing") or verb in (BASE_VERBS | _CONTACT_VERBS) - _EVENT_VERBS
    # "You can call me again" is about a rule, "you can call me now" about the moment.
    action = _ME_AS_OBJECT.sub(r"\1", matter) if _AGAIN.search(match.string) else matter
    return matter if is_action and not is_momentary(action) else ""
