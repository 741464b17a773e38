"""A pack request and the analysis of its question: search terms, intent, quoted error, named time."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from hmxgraph.errors import BudgetTooSmall, InvalidRequest, UnknownChoice
from hmxgraph.protocol.canonical import MAX_INTEGER
from hmxgraph.protocol.packs import SECTION_PRIORITY, STRATEGIES
from hmxgraph.protocol.parsing import checked_text, quoted
from hmxgraph.protocol.timestamps import iso
from hmxgraph.recall._time_rules import MONTH_NAMES, OCCASIONS
from hmxgraph.recall._times import NamedTime, Span, named_time
from hmxgraph.text.terms import DEFAULT_ENCODING, ENCODINGS, STOP_WORDS, TokenCounter, counter, terms, words

# Question analysis with regular expressions and word lists, without a language model.

# Number of characters of a question that are analysed; the rest is ignored.
LONGEST_QUESTION = 20_000
# Number of texts for which the result of :func:`asks` is cached.
_CACHED_TEXTS = 8_192
# Maximum number of search terms taken from a question.
MOST_TERMS = 64
# A name with more terms than this is not recognised in a question.
LONGEST_NAME = 8
# Names are recognised only in this many terms from the beginning of a question, repeated terms included.
_TERMS_WITH_NAMES = 4 * MOST_TERMS
_QUESTION_WORDS = "who|whom|whose|what|when|where|which|why|how"
_AUXILIARIES = "did|does|do|is|are|am|was|were|has|have|had|can|could|would|will|should|might|shall"
# The beginning of a question, possibly with a preposition: "Did you ...", "In which city ...".
_QUESTION_START = re.compile(
    rf"^\W*(?:(?:in|at|on|for|to|from|by|with|of|about)\s+)?(?:{_QUESTION_WORDS}|{_AUXILIARIES})\b", re.IGNORECASE
)
# The beginning of a sentence that asks how something is or was: "How are they stored?"
_ABOUT_FACTS = re.compile(rf"^\W*(?:{_QUESTION_WORDS}|did|does|do|is|are|was|were|has|have|had)\b", re.IGNORECASE)
# The same question within a request: "tell them whether it is open".
_WHETHER = re.compile(r"\bwhether\b", re.IGNORECASE)
# Words for the asker and the assistant.
_PARTIES = re.compile(r"\b(?:i|me|my|mine|you|your|yours)\b", re.IGNORECASE)
# A question about how to do something, or what to do: "how do I ...", "what can we try".
_HOW_TO = re.compile(
    r"\bhow (?:to|(?:do|can|could|should|would|shall) (?:i|we|you|one))\b|\bsteps? to\b"
    r"|\bwhat (?:can|could|do|should|shall|must) (?:i|we|you|one) (?:(?:have|need) to )?(?:do|try|offer)\b"
    r"|(?:\b(?:what|where|whom?|which(?: [\w-]+){0,5}) |^\W*)(?:should|shall|must) (?:i|we|one)\b(?! have\b)",
    re.IGNORECASE,
)
# A question about a time: "when did she call". "I typed it wrong when I ordered" and "Is it deleted when a review is
# closed?" are not.
_WHEN = re.compile(
    r"\b(?:(?:tell|remind) (?:me|us)|know|say|said|remember|recall|sure|exactly|and|of|between) when\b"
    rf"|\bwhen(?:['\u2019]s|,?(?: (?:exactly|precisely|roughly|again|next|last|else|ever),?)? (?:{_AUXILIARIES}))\b"
    r"|\b(?:what|which) (?:year|month|day|date|time|week)\b|\bhow long\b|\bsince\b",
    re.IGNORECASE,
)
# A question about a choice or a decision: "which do you prefer".
_CHOICE = re.compile(r"\b(?:should|which|whether|better|prefer|choose|decide|decision)\b", re.IGNORECASE)
# A report of a failure: "crashed", "it was refused", "is not found", but not "0 errors" or "without errors".
_TROUBLE = re.compile(
    r"(?<!\b0 )(?<!\bno )(?<!\bzero )(?<!\bwithout )(?<!\bwithout any )"
    r"\b(?:errors?|fail(?:s|ed|ing|ures?)?|exceptions?|broken|crash(?:es|ed)?|bugs?|timeouts?|stuck"
    r"|[45]\d\ds|(?:return(?:s|ed|ing)?|http|status|gives?|giving|throws?|throwing|shows?) (?:an? )?[45]\d\d"
    r"|out of memory|(?:is|are|went|goes) (?:down|red)(?! \w)|could not (?:resolve|load|read|write|parse|start|build)"
    r"|fatal(?=:)|abort(?:s|ed)|tracebacks?|(?-i:\w+(?:Error|Exception)s?)"
    r"|refuses|rejects|(?:refused|rejected|denied|blocked) by|(?:do|does)(?:n['\u2019]t| not) work|not working"
    r"|(?:is|are|gets?|getting|being) (?:refused|rejected|denied|blocked|declined)"
    r"|(?:it|this|that|(?:the|my|our) [\w-]+) (?:was|got|has been) (?:refused|rejected|denied|blocked|declined)"
    r"|won['\u2019]t (?:start|run|build|compile|load|open|go through)"
    r"|(?:can['\u2019]t|cannot|can not|could ?n['\u2019]t|could not) (?:be found|find|open|reach|connect|log ?in)"
    r"|(?:is|was|are|were)(?:n['\u2019]t| not) (?:known|found|recogni[sz]ed|accepted))\b",
    re.IGNORECASE,
)
# A question for a person or company.
_WHO = re.compile(
    r"(?:and |so |hi,? )?(?:who|whom|whose|which (?:person|colleague|contact|company|supplier|vendor|customer))\b",
    re.IGNORECASE,
)
# The verb of a question about the present.
_PRESENT = re.compile(r"\b(?:is|are|do|does)\b", re.IGNORECASE)
# A question for a value.
_VALUE = re.compile(
    r"(?:and |so |hi,? )?(?:(?:from|since|until|till|at|in|for|by|to) )?"
    r"(?:which|when|where|how (?:much|many|long|often|old|far|late|early)"
    r"|what (?:is|are|does|(?!do\b)[a-z]+ (?:[a-z]+ )?(?:is|are|does|do)|time|price|date|value|number|name|address)"
    r"|is|are|does|do)\b",
    re.IGNORECASE,
)
# Before these units, "last" is part of a time ("the last two weeks", "last Monday") and does not mean "latest".
_SPANS = (
    "seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|quarters?|years?|decades?"
    "|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
# A question about the latest of something: "the last error", "my current address", "What did I buy last?"
_LATEST = re.compile(
    r"\b(?:latest|newest|most recent|current|currently|(?<!what )now|nowadays|these days|at (?:the moment|present)"
    r"|so far|just)\b"
    r"|(?:\b(?:the|my|our|your|his|her|its|their)|['\u2019]s) (?:very )?(?:last|previous)\b"
    rf"(?!\W+(?:\w+\W+){{0,2}}(?:{_SPANS})\b)"
    r"|\blast\W*$|\b(?:seconds?|minutes?|hours?) ago\b",
    re.IGNORECASE,
)
# A question about how something ended ("How did you fix it?") or what caused it ("What was the root cause?").
_ENDED = re.compile(
    r"\b(?:in the end|eventually|finally|at last|(?:real|root|actual|true) (?:cause|reason|problem|fix|solution))\b"
    r"|\bwhat (?:was|is|had been) (?:really|actually) (?:wrong|the (?:matter|problem|cause|reason))\b"
    r"|\b(?:how|what) (?:was|were|did|got|has|have)\b[^.?!]{0,80}?\b(?:solved?|fix(?:ed)?|resolved?)\b"
    r"|\bhow did (?:i|we|you|he|she|they)\b[^.?!]{0,40}?\bget (?:it|this|that|them)\b"
    r"|\bwas the (?:cause|fix|solution)\b",
    re.IGNORECASE,
)
# A question about the progress of work: "Have the tests been merged?", "Where did we stop?", "What is still to do?"
_STATE = re.compile(
    rf"\b(?:{_AUXILIARIES})(?:n['\u2019]t| not)?(?: \w+){{0,2}}? [\w-]+[^.?!]{{0,30}}?"
    r"\b(?:finish(?:ed)?|completed?|done|closed|merged?|push(?:ed)?|commit(?:ted)?|shipped|released)\b[^.?!]{0,60}\?"
    r"|\b(?:tak(?:e|es|ing)|took|hand(?:s|ed|ing)?) over\b|\bpick(?:s|ed|ing)? up (?:the work|where)\b"
    r"|\bwhere (?:did|have) (?:i|we|you|they) (?:stop(?:ped)?|le(?:ave|ft) off)\b"
    r"|\b(?:left|still|remains?|remaining) (?:open|undone|over|lying|to (?:be )?do(?:ne)?)\b",
    re.IGNORECASE,
)
# A question about how an assistant should answer ("How do I want answers written?"): any standing instruction may
# apply. "How do we answer 'is it free?'" asks what to say, not how, and does not match.
_MANNER = re.compile(
    r"\b(?:how|what|which)\b[^.?!]{0,60}\b(?:want|like|prefer|expect|wish|need)s?\b[^.?!]{0,60}"
    r"\b(?:answers?|answered|replies|reply|replied|responses?|respond(?:ed)?|explanations?|explained|written|formatted)\b"
    r"|\bhow (?:do|should|shall|must|can) (?:i|we|you)\b[^.?!]{0,30}\b(?:answer|reply|respond|phrase|word|format)\b"
    r"(?!(?: to)? (?:['\"“\u2018]|(?:an?|if|that|when|whether|who)\b))"
    r"|\b(?:my|his|her|their|our|standing) (?:instructions|preferences)\b",
    re.IGNORECASE,
)
# A question asks for all rules if it has at least one of ``_RULE_TERMS`` and otherwise only ``_GENERIC_TERMS``: "Which
# rules do I have to follow in this repo?", but not "Which rules apply to refunds?". For goals, likewise.
_RULE_TERMS = frozenset(terms("rules conventions guidelines policies instructions preferences constraints"))
_GOAL_TERMS = frozenset(terms("goals aims objectives"))
_GENERIC_TERMS = frozenset(
    terms("follow obey respect apply keep remember know given told stand standing general current active list all any"
          " here repo repository project team company work working")
)  # fmt: skip
# A question about what can be done, asked by whoever does the work: "what can I offer them?". "Can I return it?" is a
# request for work instead.
_ADVICE = re.compile(
    r"\b(?:what|how|which) (?:can|could|should|do|may|else|options?)\b[^.?!]{0,60}"
    r"\b(?:we|i|do|offer|options?|tell|say|suggest)\b"
    r"|\b(?:can|could|may|should|are) we\b|\bam i allowed\b|\bis (?:that|this|it) (?:possible|allowed)\b",
    re.IGNORECASE,
)
# Idioms, some of whose words say nothing about the subject: "what are they called" is not about calls, "what kinds of"
# not about kinds, "how is it coming along" not about coming.
_IDIOM = re.compile(
    rf"\bwhat(?:['\u2019]s| (?:{_AUXILIARIES})) [^.?!]{{0,60}}?\bcalled\b|\b(?:what|which) (?:kind|sort|type)s? of\b"
    r"|\b(?:come|comes|coming|came|get|gets|getting|got) along\b"
    r"|\bhow far (?:has|have|had|is|are|was|were|did)\b[^.?!]{0,60}?\b(?:come|came|gone|got|gotten|get)\b",
    re.IGNORECASE,
)
# Words that are not used as search terms if they occur in such an idiom.
_IDIOMATIC = re.compile(r"\b(?:called|along|(?:kind|sort|type)s?|far|come|came|gone)\b", re.IGNORECASE)
# Phrases for the present are not used as search terms, because they occur in events of any time.
_TODAY = re.compile(r"\b(?:these days|nowadays|at (?:the moment|present)|right now|so far)\b", re.IGNORECASE)
# Terms common in playbooks and failure reports: they do not show which failure is meant.
ANY_FAILURE = frozenset(
    terms(
        "fail fails failed failing failure error errors exception problem issue fix happen wrong"
        " stop tell user call run try again then go before prevent check make sure given corrected work worked help"
    )
)
# What may be an error message:
# - a quotation after a word that introduces program output ('fails with "..."', group ``gives``): certainly an error;
# - a quotation after a word such as "says" or after a colon: perhaps an error;
# - unquoted text from "Error:", "error TS2345:", "failed:" or "RuntimeError)" to the end of the sentence.
_MESSAGE = re.compile(
    r"(?:\b(?:(?P<gives>errors?|returns?|returned|gives?|gets?|got|throws?|raises?|prints?|fails with)"
    r"|messages?|by|with|says?|said|sees?|saw|shows?|reports?)\W{0,3}|:\s+)[\"\u201c`](?P<quoted>[^\"\u201d`]{12,300})"
    r"|(?:\b|\()(?P<error>(?:(?:error|exception)\b[^\"\u201d`\n:]{0,20}:|(?:fail(?:s|ed)?|fatal):"
    r"|\w+(?:error|exception)[:)])\s+[^\"\u201d`\n]{12,300}?)(?=[\"\u201d`\n]|[.?!](?:\s|$)|$)",
    re.IGNORECASE,
)
# Words that may precede an objection: "Oh, sorry, ...".
_FILLERS = r"^\W*(?:(?:oh|ah|u[hm]+|hm+|well|sorry|wait|hold on|hey|but|ok(?:ay)?|thanks|thank you)\b\W*){0,3}"
# "No", but neither in "no problem" nor in "No, that's all".
_NO_WORD = (
    r"(?:nope|no(?!\W+(?:problem|worries|thanks?|need|rush|doubt|matter|idea|(?:further|more) \w+)\b))\b"
    r"(?!\W+(?:it|that|this)(?:['\u2019]s| is| was| covers|['\u2019]ll be| will be)?"
    r"\W+(?:all|everything|ok(?:ay)?|fine|good|enough|it)\b)"
)
# A bare "no" at the beginning of a message: an objection to a statement, but possibly just the answer to a question.
_NO = re.compile(_FILLERS + _NO_WORD, re.IGNORECASE)
# An objection to a statement or a question: "No, I said GLS", "Actually, ...", "That's not right".
_OBJECTION = re.compile(
    rf"{_FILLERS}(?:{_NO_WORD}\W+(?:it|that|this|you|i (?:said|meant|wanted|asked))\b"
    r"|(?:wrong|incorrect|correction|actually(?!\W+(?:yes|can|could|may|before|also|one more)\b))\b"
    r"|not (?:quite|right|true|correct)\b"
    r"|(?:that|this|it)(?:['\u2019]s| is| was)? (?:\w+ )?"
    r"(?:wrong|incorrect|false|outdated|not (?:right|true|correct|what|how))\b"
    r"|(?:that|this|it) (?:is|was)n['\u2019]t (?:right|true|correct|what|how)\b"
    r"|you(?:['\u2019]re| are| were) (?:wrong|mistaken)\b|you (?:got|have) (?:it|that|this) wrong\b"
    r"|i (?:meant|did(?:n['\u2019]t| not) (?:say|mean|ask|want))\b)",
    re.IGNORECASE,
)
# A request in the form of a statement: "I would like to return it".
_REQUEST = re.compile(
    r"\b(?:please|help me|let'?s|i (?:want|need)|i(?:'d|\u2019d| would) like"
    r"|i(?:'m|\u2019m| am| was) (?:hoping|looking|trying|wondering))\b",
    re.IGNORECASE,
)
# A request in the form of a question: "can you", "may I", "is there any way to", but not "can you remind me".
_ASKING = (
    r"(?:(?:can|could|would|will) you\b(?! (?:please )?(?:remind|tell|recall|remember|say|know|think)\b)"
    r"|(?:(?:can|could|may) (?:i|we)|(?:am|are) (?:i|we) able to"
    r"|(?:is|would) it (?:be )?possible (?:for (?:me|us|you) )?to)\b(?! (?:please )?(?:see|know|ask|say|tell)\b)"
    r"|(?:(?:can|could) (?:it|this|that|they|(?:the|my|our) (?:[\w-]+ ){1,2})\W*(?:be|go)"
    r"|is there (?:a|any) (?:way|chance) (?:(?:for|that) )?(?:i|we|you|me|us|to|of)"
    r"|(?:any|what are the) chances? (?:of|to|that|you)|(?:would|do) you mind)\b)"
)
# The same at the beginning of a text, possibly after a greeting: "Hi there, can you ..."
_POLITE_REQUEST = re.compile(rf"^\W*(?:\w+(?: there)?[,!]\s+)?{_ASKING}", re.IGNORECASE)
# The same after a statement: "The build is broken, can you fix it?"
_CLOSING_REQUEST = re.compile(rf"[,;:\u2013\u2014-]\s+(?:(?:so|and|but|then|please)\s+)?{_ASKING}", re.IGNORECASE)
# A request to be told something: "Remind me when ..."
_REMINDER = re.compile(r"^\W*(?:please,? )?(?:remind|recall|recap|summari[sz]e|tell me)\b", re.IGNORECASE)
# The parts of a time expression that are used as search terms, because they may be what the question is about.
_MONTH_OR_YEAR = re.compile(rf"\b(?:{MONTH_NAMES}|{OCCASIONS}|(?:19|20)\d\d)\b", re.IGNORECASE)
# A question about everything that happened at a time: "What happened on 3 May?", "Summarise last week".
_OVERVIEW = re.compile(r"\bwhat\b(?! happens\b)|\b(?:summar\w+|recap|overview|everything|list|show)\b", re.IGNORECASE)
# A question with any term besides these and those of the time names a subject, so that it does not ask for everything.
_NO_SUBJECT = frozenset(
    terms(
        "happen occur event go went do take place say said tell talk discuss work since between give list show"
        " everything summarise summarize summary recap overview change decide agree new news update"
    )
)
_OWN = re.compile(r"\b(?:i|my|mine)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# The beginning of a sentence that asks whether something may or must be done: "Are we allowed to ...", "Must I ...?"
_PERMISSION = re.compile(
    r"\W*(?:(?:so|and|but|hi|hello|hey)\W+)?(?:(?:can|may|could|should|must|shall|do|does|need)(?! you\b) [^.!]*\?"
    r"|(?:am i|are we|are they|is (?:it|he|she|this|that)) (?:allowed|permitted|ok|okay|fine|possible|supposed)\b)",
    re.IGNORECASE,
)
# A statement that something changed: "I cancelled it", "moved to Friday", "not in Leeds any more", "Correction: ...".
_WITHDRAWAL = re.compile(
    r"\b(?:cancel(?:led|ed)|called (?:it |that )?off|gave up|dropped out|withdr(?:ew|awn)|postponed|rescheduled"
    r"|(?:moved|pushed|shifted|changed|switched|delayed|raised|lowered|increased|reduced|cut) (?:\w+ ){0,4}?"
    r"(?:from|to|back)|handed (?:\w+ )?over|no longer|(?:is|are|has|have) (?:retir(?:ing|ed)|left|closed|gone)"
    r"|retires|replace[sd]|took over|(?:not|\wn['\u2019]t) [^.!?]{0,60}\bany ?more|instead of|correction)\b",
    re.IGNORECASE,
)
# Every match of this pattern contains one of these signs. Texts are tested for them first, because the pattern is slow:
# without the test, it took 4 of the 18 ms of a pack about a chat.
_WITHDRAWAL_SIGNS = (
    "cancel", "called", "gave up", "dropped out", "withdr", "postponed", "rescheduled", "moved", "pushed", "shifted",
    "changed", "switched", "delayed", "raised", "lowered", "increased", "reduced", "cut ", "handed", "no longer",
    "retir", "left", "closed", "gone", "replace", "took over", "any more", "anymore", "instead of", "correction",
)  # fmt: skip
# The "and" between two questions in one sentence: "How much is the deposit and what does parking cost?"
_AND_ANOTHER = re.compile(rf",? and (?=(?:{_QUESTION_WORDS}|does|did)\b[^.?!]{{0,500}}\?)", re.IGNORECASE)
# Words that refer to something said before.
_REFERS_BACK = re.compile(
    r"\b(?:its?|he|him|his|she|hers?|they|them|theirs?|this|that|these|those|ones?)\b", re.IGNORECASE
)
# A question with more parts than this is not ranked by parts.
_MOST_PARTS = 4
# A text with more question marks than this is not split into parts.
_MOST_QUESTIONS = 16
# An auxiliary verb and the word after it: "did Ann" in "When did Ann call?".
_SUBJECT = re.compile(rf"\b(?:{_AUXILIARIES})(?:n't)?\s+([^\W\d_][\w'\u2019-]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question or request.

    Words:

    - ``terms``: its search terms.
    - ``keywords``: its words, unstemmed, without stop words.
    - ``runs``: each sequence of up to ``LONGEST_NAME`` consecutive terms, for recognising names and titles.
    - ``names``: the names that extraction recognised.
    - ``subjects``: the words after auxiliary verbs, as terms: "ann" in "When did Ann call?".

    Kind:

    - ``intent``: its class in HMX-C 5, such as "temporal".
    - ``recalls``: asks about the past. Every question counts as such, unless it asks how to do something.
    - ``works``: requests work ("Deploy staging", "Can you fix it?").
    - ``latest``: asks for the latest of something.
    - ``ended``: asks how something ended or how far it has got.
    - ``of_manner``: asks how an assistant should answer, or for all rules.
    - ``seeks_advice``: asks what can be done.
    - ``when``: asks for a time.
    - ``own``: has "I", "my" or "mine".

    Failure:

    - ``troubled``: has a word for a failure.
    - ``error``: the message in it that may be an error, or "": "no key" in 'It says "no key"'.
    - ``reports_error``: that message is certainly an error.

    Parts:

    - ``parts``: the questions in it, if there are several that can be understood separately.
    - ``clauses``: the terms of each question in it, where two questions joined by "and" in one sentence count as two;
      empty if there is only one.

    Time:

    - ``span``: the time that it names.
    - ``dated``: this time is a calendar date ("in May 2023"), neither relative ("last week") nor an open range
      ("before May").
    - ``months``: the terms of the months, seasons and holidays in the name of this time.
    - ``overview``: asks only what happened at that time.
    """

    text: str
    terms: tuple[str, ...]
    keywords: tuple[str, ...]
    runs: frozenset[str]
    intent: str
    recalls: bool
    works: bool
    troubled: bool
    error: str
    reports_error: bool
    latest: bool
    ended: bool
    of_manner: bool
    seeks_advice: bool
    when: bool
    own: bool
    subjects: frozenset[str]
    span: Span | None = None
    dated: bool = False
    months: tuple[str, ...] = ()
    overview: bool = False
    names: tuple[str, ...] = field(default=())
    parts: tuple["Question", ...] = field(default=(), repr=False)
    clauses: tuple[frozenset[str], ...] = field(default=(), repr=False)

    def mentions(self, name_terms: str) -> bool:
        """Whether the space-separated terms of a name occur in the question one after the other."""
        return name_terms in self.runs

    def corrected(self, spelling: Mapping[str, str]) -> "Question":
        """Return the question with each term in *spelling* replaced by its correction; names match in both spellings.

        >>> understood("eror handling?", 0).corrected({"eror": "error"}).mentions("error handl")
        True

        """
        if not spelling:
            return self
        corrected = [spelling.get(term, term) for term in terms(self.text[:LONGEST_QUESTION])]
        own_terms = tuple(dict.fromkeys(spelling.get(term, term) for term in self.terms))
        runs = self.runs | frozenset(_runs(corrected[:_TERMS_WITH_NAMES]))
        clauses = tuple(frozenset(spelling.get(term, term) for term in clause) for clause in self.clauses)
        return replace(self, terms=own_terms, runs=runs, clauses=clauses)


def asks_for_goals(question_terms: Iterable[str]) -> bool:
    """Whether a question with these terms asks for goals in general, not for those of a subject.

    >>> asks_for_goals(["current", "goal"]), asks_for_goals(["goal", "depot"])
    (True, False)

    """
    specific_terms = set(question_terms) - _GENERIC_TERMS
    return bool(specific_terms) and specific_terms <= _GOAL_TERMS


def _asks_for_all_rules(question_terms: Iterable[str]) -> bool:
    """Whether a question with these terms asks for rules in general, not for those about a subject.

    >>> _asks_for_all_rules(["rule", "follow", "repo"]), _asks_for_all_rules(["refund", "rule"])
    (True, False)

    """
    specific_terms = set(question_terms) - _GENERIC_TERMS
    return bool(specific_terms) and specific_terms <= _RULE_TERMS


def understood(text: str, as_of_us: int, names: Iterable[str] = ()) -> Question:
    """Analyse *text* as a question asked at *as_of_us*; *names* are the names that extraction found in it.

    >>> question = understood("When did Ann deploy to staging?", 0)
    >>> question.intent, question.terms, question.when
    ('temporal', ('ann', 'deploy', 'stage'), True)
    >>> understood("Is it deleted when the review is closed?", 0).when
    False
    >>> understood("Deploy the staging environment", 0).intent
    'procedural'

    """
    beginning = text[:LONGEST_QUESTION]
    time = named_time(beginning, as_of_us)
    searched = _TODAY.sub(" ", beginning if time is None else _reduce_time(beginning, time))
    searched = _IDIOM.sub(lambda idiom: _IDIOMATIC.sub(" ", idiom[0]), searched)
    question_terms = terms(searched) if time is None else _without_may(terms(searched))
    recalls, works, names = _asks_about_past(beginning), asks_for_work(beginning), tuple(dict.fromkeys(names))
    parts, clauses = _parts(beginning, names), _parts(_AND_ANOTHER.sub("? ", beginning), names)
    return Question(
        text,
        tuple(dict.fromkeys(question_terms))[:MOST_TERMS],
        tuple(dict.fromkeys(word for word in words(beginning) if word not in STOP_WORDS))[:MOST_TERMS],
        frozenset(_runs(question_terms[:_TERMS_WITH_NAMES])),
        _intent(beginning, recalls=recalls),
        recalls,
        works,
        speaks_of_trouble(beginning),
        _quoted_error(beginning),
        _reports_error(beginning),
        bool(_LATEST.search(beginning)),
        bool(_ENDED.search(beginning) or _STATE.search(beginning)),
        bool(_MANNER.search(beginning)) or _asks_for_all_rules(question_terms),
        bool(_ADVICE.search(beginning)),
        bool(_WHEN.search(beginning)),
        bool(_OWN.search(beginning)),
        frozenset(" ".join(terms(match[1])) for match in _SUBJECT.finditer(beginning)),
        None if time is None else time.span,
        time is not None and time.is_bounded,
        () if time is None else _months(beginning[time.start : time.end]),
        time is not None and _asks_for_overview(beginning, question_terms, time),
        names,
        tuple(understood(part, as_of_us, [name for name in names if name in part]) for part in parts),
        tuple(frozenset(terms(clause)) for clause in clauses),
    )


def _parts(text: str, names: Collection[str]) -> list[str]:
    """Return the questions in *text*, each with the statements before it; empty if there is only one or too many.

    A question that has no terms ("Why?"), or a pronoun that refers back, is joined to the question before it. A pronoun
    after one of the *names* refers to that name, not back.

    >>> _parts("Where does Ann live? Has she moved? What does Bob do when he is ill?", ["Ann", "Bob"])
    ['Where does Ann live? Has she moved?', 'What does Bob do when he is ill?']
    >>> _parts("Where does Ann live? Why?", []), _parts("I met Bob. What does Bob do?", ["Bob"])
    ([], [])

    """
    if not 1 < text.count("?") <= _MOST_QUESTIONS:
        return []
    parts: list[str] = []
    part = ""
    for sentence in _SENTENCE_END.split(text.strip()):
        part = f"{part} {sentence}".lstrip()
        if not sentence.endswith("?") or not (terms(part) or parts):
            continue
        if parts and (_refers_back(part, names) or not terms(part)):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
        part = ""
    return parts if 1 < len(parts) <= _MOST_PARTS else []


def _refers_back(part: str, names: Collection[str]) -> bool:
    """Whether *part* has a pronoun and none of the *names* before it."""
    pronoun = _REFERS_BACK.search(part)
    return pronoun is not None and not any(name in part[: pronoun.start()] for name in names)


def _reduce_time(text: str, time: NamedTime) -> str:
    """Return *text* with the expression that names *time* reduced to its months, seasons, holidays and years.

    Its other words would match unrelated text: "last" occurs in other time expressions, numbers in versions.
    """
    kept_words = " ".join(_MONTH_OR_YEAR.findall(text[time.start : time.end]))
    return f"{text[: time.start]} {kept_words} {text[time.end :]}"


def _months(time: str) -> tuple[str, ...]:
    """Return the terms of the months, seasons and holidays in *time*, the text of a time expression."""
    return tuple(_without_may(terms(" ".join(name for name in _MONTH_OR_YEAR.findall(time) if not name.isdigit()))))


def _asks_for_overview(text: str, question_terms: Iterable[str], time: NamedTime) -> bool:
    """Whether *text* asks only what happened at the *time* that it names.

    >>> [understood(text, 0).overview for text in ("What happened between 3 and 6 May 2023?", "Recap last week")]
    [True, True]
    >>> questions = ("What happened to the lift on 3 May?", "What happened?", "Did it work yesterday?")
    >>> [understood(text, 0).overview for text in (*questions, "What should I do today?")]
    [False, False, False, False]

    """
    of_time = terms(" ".join(_MONTH_OR_YEAR.findall(text[time.start : time.end])))
    asks_for_past = _OVERVIEW.search(text) and not (_HOW_TO.search(text) or _WHEN.search(text))
    return bool(asks_for_past) and _NO_SUBJECT.union(of_time).issuperset(question_terms)


def _without_may(terms_in_order: list[str]) -> list[str]:
    """Return the terms without "may", which is nearly always a verb."""
    return [term for term in terms_in_order if term != "may"]


def asks_for_work(text: str) -> bool:
    """Whether the text requests work, however politely. Every text does, except a plain question about the past.

    >>> asks_for_work("Could you return my order?"), asks_for_work("When did I say that I need a bike?")
    (True, False)
    >>> asks_for_work("My card is short. Can I split the payment?"), asks_for_work("Where can I split the payment?")
    (True, False)
    >>> asks_for_work("Hi, I was hoping to change my order, if that's okay?")
    True
    >>> asks_for_work("The build is broken, can you fix it?"), asks_for_work("You met Ann, can you tell me when?")
    (True, False)

    """
    return not _asks_about_past(text) or any(map(_is_request, _SENTENCE_END.split(text)))


@lru_cache(maxsize=_CACHED_TEXTS)
def asks(text: str) -> bool:
    """Whether the text asks a question or requests something.

    >>> asks("Hi, I'd like to cancel my flight."), asks("My name is Ann.")
    (True, False)

    """
    return "?" in text or any(map(_is_request, _SENTENCE_END.split(text)))


def asks_how_it_is(text: str) -> bool:
    """Whether a sentence of the text asks how something is or was, without mentioning the asker or the assistant.

    >>> asks_how_it_is("I want to show the remarks. How are they stored?"), asks_how_it_is("Can you show the remarks?")
    (True, False)
    >>> asks_how_it_is("Show the remarks. What do you need?"), asks_how_it_is("How do I show them?")
    (False, False)
    >>> asks_how_it_is("Tell the customer whether the shop is open on Monday")
    True

    """
    return any(
        (_ABOUT_FACTS.search(sentence) or _WHETHER.search(sentence)) and not _HOW_TO.search(sentence)
        for sentence in _SENTENCE_END.split(text[:LONGEST_QUESTION])
        if not _PARTIES.search(sentence)
    )


def asks_permission(text: str) -> bool:
    """Whether a sentence of the text asks whether something may or must be done.

    >>> asks_permission("Can invoice 12 be paid?"), asks_permission("Hi! Are we allowed to ship batteries?")
    (True, True)
    >>> asks_permission("Who pays invoice 12?"), asks_permission("Can you hear me?")
    (False, False)

    """
    return any(map(_PERMISSION.match, _SENTENCE_END.split(text[:LONGEST_QUESTION])))


def asks_who(text: str) -> bool:
    """Whether the text asks for a person or company.

    >>> [asks_who(text) for text in ("Who do we write to?", "Which supplier sends the hoses?", "Tell me who won")]
    [True, True, False]

    """
    return bool(_WHO.match(text))


def asks_for_value(text: str) -> bool:
    """Whether the text asks for a name, a time, a place or an amount, which no course of events answers.

    >>> [asks_for_value(text) for text in ("From which value on?", "How long is it open?", "How was it fixed?")]
    [True, True, False]

    """
    return bool(_VALUE.match(text)) or asks_who(text)


def sentences(text: str) -> list[str]:
    """Return the sentences of *text*."""
    return _SENTENCE_END.split(text)


def asks_for_present(text: str) -> bool:
    """Whether the text asks for a value that holds now.

    >>> [asks_for_present(text) for text in ("What is the rate?", "Which size do we use?", "What was the rate in May?")]
    [True, True, False]
    """
    return asks_for_value(text) and bool(_PRESENT.search(text))


def objects(text: str, *, to_question: bool = False) -> bool:
    """Whether a message objects to the message before it.

    A bare "no" is an objection, unless that message was a question (*to_question*).

    >>> objects("No, it's GLS, look at the label."), objects("hm, that's not what I asked for")
    (True, True)
    >>> objects("No problem!"), objects("No, that's all."), objects("No"), objects("No", to_question=True)
    (False, False, True, False)

    """
    return bool(_OBJECTION.match(text) or (not to_question and _NO.match(text)))


# Terms of questions about food, and the terms by which diets and allergies are found for them.
_FOOD = frozenset(
    terms("eat food meal breakfast brunch lunch dinner supper snack cook bake recipe menu restaurant cafe catering cake"
          " dish grocery groceries barbecue picnic buffet dessert ingredient")
)  # fmt: skip
_DIETS = tuple(terms("allergic eat drink vegetarian vegan pescatarian coeliac celiac diabetic intolerant halal kosher"))


def diet_terms(question_terms: Collection[str]) -> tuple[str, ...]:
    """Return terms of diets and allergies if a question with these terms is about food; else none.

    >>> diet_terms(["plan", "dinner"])[:2], diet_terms(["plan", "trip"])
    (('allerg', 'eat'), ())

    """
    return () if _FOOD.isdisjoint(question_terms) else _DIETS


def withdrawn(text: str) -> str:
    """Return the sentences of *text*, except questions, that say that something ended, changed or was replaced.

    >>> withdrawn("I cancelled Valencia because of the knee. The new goal is Porto.")
    'I cancelled Valencia because of the knee.'
    >>> withdrawn("Cancel my order. Did you cancel Valencia? We moved here in May.")
    ''

    """
    lowered = text.lower()
    if not any(sign in lowered for sign in _WITHDRAWAL_SIGNS):
        return ""
    sentences = (sentence for sentence in _SENTENCE_END.split(text) if not sentence.endswith("?"))
    return " ".join(filter(_WITHDRAWAL.search, sentences))


def speaks_of_trouble(text: str) -> bool:
    """Whether the text has a word for a failure, and does not say that there was none.

    >>> speaks_of_trouble("2 tests, 1 failure"), speaks_of_trouble("20 tests, 0 failures")
    (True, False)
    >>> speaks_of_trouble("The commit was refused"), speaks_of_trouble("She refused to come")
    (True, False)
    >>> speaks_of_trouble("A hook refuses my commits"), speaks_of_trouble("Rejected by the server")
    (True, True)

    """
    return bool(_TROUBLE.search(text))


def _quoted_error(text: str) -> str:
    """Return the message in *text* that may be an error, or "".

    >>> _quoted_error('The push fails with "no upstream branch". Why?')
    'no upstream branch'
    >>> _quoted_error('git will not add my file: "The following paths are ignored"')
    'The following paths are ignored'
    >>> _quoted_error("ship: Error: no carrier here. Why?")
    'Error: no carrier here'
    >>> _quoted_error("** (RuntimeError) no key is configured")
    'RuntimeError) no key is configured'
    >>> _quoted_error("build failed: no such file or folder")
    'failed: no such file or folder'

    """
    match = _MESSAGE.search(text)
    return _message(match) if match else ""


def _reports_error(text: str) -> bool:
    """Whether the message in *text* is certainly an error: a program gave it, or it has a word for a failure.

    >>> _reports_error('I get "unable to locate package"'), _reports_error('She says "I am ready to go"')
    (True, False)

    """
    match = _MESSAGE.search(text)
    return match is not None and bool(match["gives"] or match["error"] or speaks_of_trouble(_message(match)))


def _message(match: re.Match[str]) -> str:
    return str(match["quoted"] or match["error"])


def without_reporting_verb(text: str) -> str:
    """Return *text* without the word and the quotation mark before a quoted error message.

    >>> without_reporting_verb('fetch returned "Error: all gone"')
    'fetch Error: all gone"'

    """
    return _MESSAGE.sub(_message, text)


def _is_request(sentence: str) -> bool:
    if _POLITE_REQUEST.match(sentence):
        return True
    request = _REQUEST.search(sentence) or _CLOSING_REQUEST.search(sentence)
    return bool(request) and not (_QUESTION_START.match(sentence) or _REMINDER.match(sentence))


def _asks_about_past(text: str) -> bool:
    """Whether the text is a question or begins like "remind me", and does not ask how to do something.

    Such texts are treated as questions about the past.
    """
    is_question = "?" in text or bool(_QUESTION_START.search(text) or _REMINDER.search(text))
    return is_question and not _HOW_TO.search(text)


def _intent(text: str, *, recalls: bool) -> str:
    if recalls and _WHEN.search(text):
        return "temporal"
    if _TROUBLE.search(text):
        return "diagnostic"
    if _CHOICE.search(text):
        return "decision"
    return "factual" if recalls else "procedural"


def _runs(terms_in_order: list[str]) -> Iterator[str]:
    """Yield each sequence of up to ``LONGEST_NAME`` consecutive terms, joined by spaces."""
    for start in range(len(terms_in_order)):
        for end in range(start + 1, min(start + LONGEST_NAME, len(terms_in_order)) + 1):
            yield " ".join(terms_in_order[start:end])


# The pack request: question, budget and filters.

DEFAULT_BUDGET = 2048
# Maximum length of an id in characters.
LONGEST_ID = 1_024
# Maximum number of characters of the question that a pack quotes, because a pack is limited to 256 KB.
LONGEST_QUOTE = 8_000
# Appended to a truncated text.
CUT = " [truncated]"


@dataclass(frozen=True, slots=True)
class PackRequest:
    """A checked request for a context pack (HMX-C 2, 4, 5).

    - ``sections``: the requested sections in priority order.
    - ``priors``: the context priors of a fingerprint (HMX-F 7), for the strategy ``fingerprint_guided``.
    - ``encoding``: how tokens are counted: the name of a tokenizer, or a function that counts the tokens of a text.
    - ``scopes``: if not empty, memories of other scopes are left out.
    """

    query: str
    budget: int = DEFAULT_BUDGET
    strategy: str = "ranked"
    as_of_us: int | None = None
    session_id: str | None = None
    agent_id: str | None = None
    sections: tuple[str, ...] = SECTION_PRIORITY
    min_confidence: float = 0.0
    priors: Mapping[str, Any] | None = None
    encoding: str | TokenCounter = DEFAULT_ENCODING
    user_id: str | None = None
    scopes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject invalid values, sort the sections and scopes, and make the query valid Unicode.

        Raises:
            BudgetTooSmall: a budget below one token.
            InvalidRequest: an argument of the wrong type, a budget that JSON cannot hold exactly, or an id that is too
                long or not valid Unicode.
            UnknownChoice: a strategy or section that HMX-C does not list, an unknown encoding, or a confidence outside
                [0, 1].

        """
        if not isinstance(self.query, str):
            raise _invalid("query", self.query, "text", 'ask in words, such as "Deploy staging"')
        _check_budget(self.budget)
        _check("strategy", self.strategy, STRATEGIES)
        _check_id("session_id", self.session_id)
        _check_id("agent_id", self.agent_id)
        _check_id("user_id", self.user_id)
        for scope in self.scopes:
            _check_id("scope", scope)
        _check_confidence(self.min_confidence)
        _check_encoding(self.encoding)
        object.__setattr__(self, "sections", _in_order(self.sections))
        object.__setattr__(self, "scopes", tuple(sorted(set(self.scopes))))
        object.__setattr__(self, "query", self.query.encode("utf-8", "replace").decode("utf-8"))

    @property
    def measure(self) -> str:
        """The name of the encoding, or of the function that counts tokens."""
        name = self.encoding if isinstance(self.encoding, str) else getattr(self.encoding, "__qualname__", "")
        return name or type(self.encoding).__qualname__

    @property
    def stored_counts(self) -> bool:
        """Whether the token counts stored with events are in the encoding of the request."""
        return self.encoding == DEFAULT_ENCODING

    @property
    def count_tokens(self) -> TokenCounter:
        """The token counter of the request; every count from a caller's own function is checked."""
        return counter(self.encoding) if isinstance(self.encoding, str) else _checked_counter(self.encoding)

    @property
    def quote(self) -> str:
        """The question as the pack quotes it, truncated if too long."""
        return self.query if len(self.query) <= LONGEST_QUOTE else self.query[:LONGEST_QUOTE] + CUT

    def document(self) -> dict[str, Any]:
        """Return the request as JSON values; equal requests have equal documents."""
        optional_fields = {
            "session_id": self.session_id,
            "agent_id": self.agent_id,
            "user_id": self.user_id,
            "scope": list(self.scopes) or None,
            "priors": self.priors,
            "encoding": None if self.stored_counts else self.measure,
        }
        return {
            "query": self.query,
            "budget": self.budget,
            "strategy": self.strategy,
            "as_of": None if self.as_of_us is None else iso(self.as_of_us),
            "sections": list(self.sections),
            "min_confidence": float(self.min_confidence),
            **{name: value for name, value in optional_fields.items() if value is not None},
        }


def _check(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UnknownChoice(name, str(value), choices)


def _check_budget(budget: object) -> None:
    if not isinstance(budget, int) or isinstance(budget, bool):
        raise _invalid("budget", budget, "a number of tokens", f"give an integer, such as {DEFAULT_BUDGET}")
    if abs(budget) > MAX_INTEGER:
        raise _invalid("budget", budget, "an integer that JSON holds exactly", f"give at most {MAX_INTEGER}")
    if budget < 1:
        raise BudgetTooSmall(budget, 1)


def _check_id(name: str, value: object) -> None:
    if value is None:
        return
    text = checked_text(name, value, "spell the id as in the events")
    if len(text) > LONGEST_ID:
        expected = f"at most {LONGEST_ID} characters"
        raise _invalid(name, text, expected, f"it has {len(text)}; spell the id as in the events")


def _check_confidence(value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _invalid("min_confidence", value, "a number", "give 0.0 to 1.0")
    if not 0 <= value <= 1:
        raise UnknownChoice("min_confidence", quoted(value), ("0.0 to 1.0",))


def _check_encoding(value: object) -> None:
    if isinstance(value, str):
        counter(value)
    elif not callable(value):
        way_out = f"give one of {', '.join(ENCODINGS)}, or a function that counts the tokens of a text"
        raise _invalid("encoding", value, "the name of an encoding, or a function", way_out)


def _checked_counter(count: TokenCounter) -> TokenCounter:
    def checked(text: str) -> int:
        tokens: object = count(text)
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
            way_out = "return an integer from your function, such as len(text.split())"
            raise _invalid("encoding", tokens, "a whole number of tokens", way_out)
        return tokens

    return checked


def _in_order(sections: Iterable[str]) -> tuple[str, ...]:
    """Return the requested sections in priority order; all of them if none is given."""
    if isinstance(sections, str) or not isinstance(sections, Iterable):
        raise _invalid("sections", sections, "a list of names", 'write sections=["core", "episodes"]')
    chosen = tuple(sections)
    for section in chosen:
        _check("section", section, SECTION_PRIORITY)
    return tuple(section for section in SECTION_PRIORITY if section in chosen) or SECTION_PRIORITY


def _invalid(name: str, value: object, expected: str, way_out: str) -> InvalidRequest:
    return InvalidRequest(name, quoted(value), expected, way_out)
