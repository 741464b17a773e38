"""Split a text into statements, and judge whether each speaks for or against a claim.

The judgement depends on words alone: subject, negation, comparison and quantities. A question or a guess states
nothing, and neither does a plan, unless the text records a decision.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Literal, TypeAlias

from hmxgraph.records.quantities import Quantity, agreement, read_quantities
from hmxgraph.text.comparison import stance

Side: TypeAlias = Literal["for", "against"]
# A statement that omits at most one of every six terms of a claim is still about all of it.
_TERMS_PER_GAP = 6
# The fraction of a claim's terms that a general denial must name: "the parser does not leak" denies "the parser leaks
# on reload".
_GENERAL_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Statement:
    """One clause: its terms, each with a sign; whether it is denied as a whole; its quantities and numbered names.

    ``labels`` are the numbered names, such as "seed 7". The sign of a term is False where the text excludes it
    ("without errors") or names its opposite ("slower" for "faster"). ``compared`` are the terms before and after
    "than". The clause is compared only with claims that name all terms in ``about``: the clause's own terms, if it
    takes others from the clause before it ("it halves them", "the others do not").
    """

    terms: Mapping[str, bool]
    denied: bool = False
    quantities: tuple[Quantity, ...] = ()
    labels: frozenset[str] = frozenset()
    compared: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    about: frozenset[str] = frozenset()

    @property
    def subject(self) -> frozenset[str]:
        """The first term: a sentence begins with what it is about."""
        return frozenset(islice(self.terms, 1))

    def denial(self) -> "Statement":
        """The same clause, denied."""
        return replace(self, denied=not self.denied)


# Reading a text.

# Where a text is split into sentences.
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
# A clause that leaves out what the clause before it says: "refunds carry a key, charges do not".
_ELLIPSIS = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|can|could)(?: not|n['\u2019]t)?[\s.!;]*$", re.IGNORECASE
)
# Where a sentence is split into clauses: "A is fast, but B is slow", "it works without restarting".
_CLAUSE_END = re.compile(
    r",?\s+\b(?:but|although|though|however|whereas|yet|while|despite)\b\s*|, and\s+|:\s+"
    rf"|,\s+(?=[^,]+{_ELLIPSIS.pattern})|,?\s+(?=without \w+ing\b)|,\s+(?=not\b|with(?:out)? (?:it|them)\b)",
    re.IGNORECASE,
)
# A reference to the subject of the clause before: "it halves them", "without shrinking the bundle".
_BACK_REFERENCE = re.compile(r"^(?:(?i:it|they)\b(?! (?i:is|was) (?:\w+ ){1,2}(?:that|to)\b)|without(?= \w+ing\b))")
# "The second one": its noun is in the clause before.
_ONE = re.compile(r"\b(the \w+) ones?\b", re.IGNORECASE)
# Verbs that begin a separate instruction after "and": "drop moment.js and keep date-fns".
_CHANGING = r"(?:add|delete|disable|drop|enable|keep|remove|replace|skip|start|stop)\s"
_INSTRUCTION = re.compile(rf"(?:we |please )?{_CHANGING}", re.IGNORECASE)
_NEXT_INSTRUCTION = re.compile(rf"\s+and\s+(?={_CHANGING})", re.IGNORECASE)
# Words of a guess: "might leak", "it is unclear whether". "May" with a capital is a month.
_GUESS = re.compile(
    r"\bmay\b|(?i:\bmight\b|\bcould\b(?! not|n['\u2019]t)|\b(?:perhaps|maybe|possibly|probably|likely|unlikely"
    r"|presumably|apparently|allegedly|supposedly|unclear|unknown|uncertain|unsure|whether|unverified|unconfirmed"
    r"|untested)\b|\b(?:suspect|suppose|assum|guess|wonder|hypothes|conjectur|speculat)\w*"
    r"|\b(?:seem|appear)s?\b(?! (?:in|on|at|under|with|when|after|once|twice)\b)"
    r"|\bnot (?:yet )?(?:clear|known|sure|tested|checked|confirmed|measured)\b)"
)
# Words of a plan or an open task: "should leak less", "to be tested".
_PLAN = re.compile(
    r"\b(?:will|should|would|plans? to|planned to|wants? to|needs? to|going to|todo|to do|try to|trying to|intends? to"
    r"|aims? to|hopes? to|expect(?:s|ed)?|let us|let['\u2019]s|to be (?:done|checked|confirmed|tested|seen|verified)"
    r"|(?:check|test|verify|prove|show|see|find out|ask)(?:ing)? (?:if|that|how|why))\b",
    re.IGNORECASE,
)
# "Unless the cache is on", "with caching enabled".
_CONDITION = re.compile(
    r"\b(?:if|unless|provided that|in case|assuming)\b"
    r"|\bwith(?:out)? [\w -]{1,40}?(?:enabled|disabled|(?:turned|switched) (?:on|off))\b",
    re.IGNORECASE,
)


def statements(text: str, *, decides: bool = False) -> tuple[Statement, ...]:
    """The statements in *text*, one per clause that states something; with *decides*, plans are statements, too.

    >>> [sorted(part.terms) for part in statements("The buffer leaks. Does the parser leak? The lexer might.")]
    [['buffer', 'leak']]
    """
    stated: list[Statement] = []
    previous: Statement | None = None
    for clause in _asserted(_BLANKS.sub(" ", text), decides=decides):
        previous = _resolved(clause, previous) if clause else None
        if previous and previous.terms:
            stated.append(previous)
    return tuple(stated)


def failure(text: str) -> tuple[Statement, ...]:
    """The statement "<subject> does not pass" for *text*, whose first clause reports a failure of its subject.

    >>> lock, load = claims("Locking the row fails")[0], claims("The load fails")[0]
    >>> stated = failure("Locking the row deadlocked under load")[0]
    >>> side(lock, stated), side(load, stated)
    ('for', None)
    """
    parts = statements(f"{text.rstrip(' .!')} passes")[:1]
    (passes,) = _word("passes")[0]
    affirmed = (part for part in parts if part.terms.get(passes) and not part.denied)
    return tuple(replace(part.denial(), about=part.subject | {passes}) for part in affirmed)


def claims(text: str) -> tuple[Statement, ...]:
    """The clauses of a claim; a question is read as the statement that it asks about."""
    collapsed = _BLANKS.sub(" ", text)
    clauses = (clause for sentence in _SENTENCE.split(collapsed) for clause in _clauses(sentence.strip(" ?!.")))
    claimed: list[Statement] = []
    for clause in clauses:
        part = _resolved(clause, claimed[-1] if claimed else None)
        if part.terms:
            claimed.append(part)
    return tuple(claimed)


def _asserted(text: str, *, decides: bool) -> Iterator[str | None]:
    """The clauses of a text; None for each question, guess and plan (unless the text *decides*)."""
    for sentence in _SENTENCE.split(text):
        if sentence.rstrip(" )\"'").endswith("?"):
            yield None
            continue
        for clause in _clauses(sentence):
            if _GUESS.search(clause) or (not decides and _PLAN.search(clause)):
                yield None
            else:
                yield clause


def _clauses(sentence: str) -> Iterator[str]:
    """The clauses of a sentence; "drop moment.js and keep date-fns" has two."""
    for clause in _CLAUSE_END.split(sentence):
        yield from _NEXT_INSTRUCTION.split(clause) if _INSTRUCTION.match(clause) else (clause,)


def _resolved(clause: str, previous: Statement | None) -> Statement:
    """The statement of a clause; terms that it leaves out are taken from the previous one."""
    if previous is None:
        return _statement(clause)
    own_statement = _statement(_BACK_REFERENCE.sub(_without_reference, clause))
    if not own_statement.terms:
        return own_statement
    own_terms = frozenset(own_statement.terms)
    terms = {**previous.terms, **own_statement.terms}
    if _ELLIPSIS.search(clause) or clause.startswith("not "):
        return replace(own_statement, terms=terms, quantities=previous.quantities, about=own_terms)
    if _BACK_REFERENCE.match(clause):
        return replace(
            own_statement,
            terms=terms,
            labels=previous.labels | own_statement.labels,
            about=own_terms | previous.subject,
        )
    return replace(own_statement, terms=terms, about=own_terms) if _ONE.search(clause) else own_statement


def _without_reference(reference: re.Match[str]) -> str:
    """The replacement for a back reference: "not" for "without" ("without shrinking" is a denial), else nothing."""
    return "not" if reference[0].lower() == "without" else ""


# "0 errors", which means no errors; but not "0 seconds".
_NONE = re.compile(
    r"(?<![\w.,])(?:0|zero) (?!(?:mins?|minutes?|secs?|seconds?|hours?|days?|bytes?|percent|times)\b)(?=[a-z]{3})",
    re.IGNORECASE,
)
# "Neither A nor B" denies both.
_NEITHER = re.compile(r"\bneither\b(.{0,200}?)\bnor\b", re.IGNORECASE)
# Runs of blanks are collapsed first: a pattern that begins with blanks would be tried from every blank of a run, in
# quadratic time.
_BLANKS = re.compile(r"[ \t]{2,}")
# The end of "isn't", and "cannot".
_NOT = re.compile(r"(?<=\w)n['\u2019]t\b|\bcan(?:not|['\u2019]t)\b", re.IGNORECASE)
# Phrases rewritten to the plain words that follow; the order matters.
_PHRASES = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), plain)
    for pattern, plain in (
        ("not only", ""),
        ("using|used|uses|chooses?|chose|chosen|adopts?|adopted|selects?|selected|picks?|picked", "use"),
        ("go with|switch(?:ed)? to", "use"),
        ("no evidence (?:of|that|for)|no sign of|no trace of|none of", "not"),
        ("(?:fails?|failed|failing|unable|refuses?|refused) to", "not"),
        ("it is (?:false|untrue|wrong|not true) that", "not"),
        ("free of|free from|lacks|lack of|lacking|in the absence of", "without"),
        ("instead of|rather than|as opposed to|in place of|in favou?r over", "without"),
        ("(?:hardly|scarcely|barely|rarely) ?(?:ever)?", "not"),
        ("works?|working|worked|succeeds|succeeded|succeed|successful|successfully|fine|ok|okay", "passes"),
        ("breaks|broke|crashes|crashed|times out|timed out|unsuccessful", "fails"),
        ("fewer|less", "not more"),
        ("worse", "not better"),
        ("lower", "not higher"),
        ("smaller", "not larger"),
        ("shorter", "not longer"),
        ("incorrect|wrong|false|untrue", "not correct"),
        ("true|right", "correct"),
        ("unstable", "not stable"),
        ("different|differs?|differed", "not alike"),
        ("identical|equal|unchanged|same", "alike"),
        ("impossible", "not possible"),
        ("unnecessary|needless", "not necessary"),
        ("absent|missing", "not present"),
        ("drop(?:ped|ping|s)?|decreas(?:ed|es|ing)|reduc(?:e|ed|es|ing)|lower(?:s|ed|ing)", "decrease"),
        ("fell|falls|falling|fallen|shr(?:ank|unk|ink|inks|inking)", "decrease"),
        ("rose|rises|rising|risen|gr(?:ew|ow|ows|own|owing)|increas(?:ed|es|ing)|rais(?:e|ed|es|ing)", "increase"),
    )
)
# "Drop" at the beginning is an instruction to delete, elsewhere a decrease.
_DROP = re.compile(r"^(?:we |please )?drop\b", re.IGNORECASE)
# "Twice as much rain as" is rewritten to "twice more rain than".
_AS_MUCH = tuple(
    (re.compile(rf"\b{pattern}\b(.*?)\bas\b", re.IGNORECASE), plain)
    for pattern, plain in (
        ("(twice|times) as (?:much|many)", r"\1 more\2than"),
        ("(twice|times) as (fast|high|long|slow|old|small|short|cheap)", r"\1 \2er\3than"),
        ("(twice|times) as (large)", r"\1 \2r\3than"),
        ("half as (?:much|many)", r"less\1than"),
    )
)
# "Unaffected" and "non-linear" deny one term; "unzipped" and "unit" do not. "Unlocked" is left to
# :func:`hmxgraph.text.comparison.stance`, which knows it as the opposite of "locked".
_UN = re.compile(
    r"\b(?:un(?!it|der|i(?:on|que|fi|ver)|lock|pack|zip|load|install|mount|wind|fold|subscrib|do)|non-)"
    r"(\w{3,}(?:ed|able|ible)|safe|healthy|common|(?<=-)\w+)\b",
    re.IGNORECASE,
)
# Words that do not change the meaning of a statement.
_LIGHT = frozenset(
    """
    already also actually amount amounts became become becomes can clearly completely could currently decide decided
    does entirely equals evidence exactly find found gave get gets give gives got indeed confirm confirmed measure
    measured need needs now observe observed out ran reach reached reaches really remain remained remains report
    reported result results see seen show showed shown shows stay stayed stays still take taken takes there together
    took turn turned turns we would
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)


def _statement(clause: str) -> Statement:
    """The statement that a clause makes by itself."""
    rewritten = _ONE.sub(r"\1", _DROP.sub("delete", clause.strip()))
    for pattern, plain in _AS_MUCH:
        rewritten = pattern.sub(plain, rewritten)
    reading = read_quantities(_NONE.sub("no ", rewritten))
    text = _NEITHER.sub(r"not\1and", _NOT.sub(" not", reading.rest))
    # The "not" of an antonym, as in "not higher", negates one term; that of the clause negates the whole.
    for pattern, plain in _PHRASES:
        text = pattern.sub(plain.replace("not ", "not~") if " " in plain else plain, text)
    text = _UN.sub(r"not~\1", text)
    parts = re.split(r"\bthan\b", text, maxsplit=1, flags=re.IGNORECASE)
    term_signs, denied = _signed(" ".join(parts))
    quantities = reading.quantities
    if denied and any(quantity.is_bound for quantity in quantities):
        quantities = tuple(q.complement() if q.is_bound else q for q in quantities)
        denied = False
    if _CONDITION.search(clause):
        term_signs["if"] = True
    compared = _compared(parts, rewritten, reading.labels) if len(parts) > 1 else (frozenset(), frozenset())
    return Statement(term_signs, denied, quantities, reading.labels, compared)


def _compared(parts: list[str], clause: str, labels: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The terms and numbered names ("GCC 13") before and after the "than" of a clause."""
    before, after = (frozenset(_signed(part)[0]) for part in parts)
    second = clause.casefold().rpartition("than")[2]
    late = frozenset(label for label in labels if label in second)
    return before | (labels - late), after | late


# A single capital other than "I" is a name, as in "station B". "A" at the beginning of a clause is an article, unless
# one of these words follows: "A is faster".
_LETTER = re.compile(r"[A-HJ-Z]\.?")
_AFTER_NAME = frozenset({"is", "was", "has", "had"})


def _signed(text: str) -> tuple[dict[str, bool], bool]:
    """The terms of a clause with their signs, and whether it is denied as a whole."""
    signs: dict[str, bool] = {}
    denied = excluded = False
    words = re.findall(r"[\w~\u2019'.+#/-]+|,", text)
    for index, word in enumerate(words):
        if _LETTER.fullmatch(word) and (word != "A" or index or not words[1:] or words[1] in _AFTER_NAME):
            signs.setdefault(word.lower(), not excluded)
        elif word.lower() == "without":
            excluded = True
        elif word == ",":
            excluded = False
        elif word.startswith("not~"):
            signs |= dict.fromkeys(_word(word[4:])[0], excluded)
        else:
            about, against = _word(word)
            signs |= {term: against == excluded for term in about if term not in signs}
            denied ^= against and not about
    return signs, denied


# Stop words that are significant here.
_KEPT = frozenset({"use", "more"})


@lru_cache(maxsize=50_000)
def _word(word: str) -> tuple[tuple[str, ...], bool]:
    """The terms of a word without its negation, and whether it negates."""
    if word.lower().strip(".'") in _LIGHT:
        return (), False
    if word.lower() in _KEPT:
        return (word.lower(),), False
    word_stance = stance(word)
    return tuple(sorted(word_stance.subject)), word_stance.against


# Comparing a statement with a claim.


def side(claim: Statement, statement: Statement) -> Side | None:
    """Whether *statement* speaks for or against *claim*; None if it is about something else or leaves it open.

    >>> claim, other = (claims(text)[0] for text in ("Import works with a lock", "Import fails with a lock"))
    >>> side(claim, other), side(claim, claims("It rains")[0])
    ('against', None)
    """
    if not statement.about <= claim.terms.keys():
        return None
    opposed = _opposed(claim, statement)
    if not _covers(statement, claim):
        return "against" if opposed and _denies_generally(statement, claim) else None
    match agreement(claim.quantities, statement.quantities):
        case "same":
            return "against" if opposed else "for"
        case "different" if not (opposed or claim.denied or statement.denied):
            return "against"
        case _:
            return None


def _covers(statement: Statement, claim: Statement) -> bool:
    """Whether *statement* is about all of *claim*: it may omit some terms, but no label, and add no condition."""
    missing = claim.terms.keys() - statement.terms.keys()
    if statement.terms.get("if") and not claim.terms.get("if"):
        return False
    return claim.labels <= statement.labels and len(missing) <= len(claim.terms) // _TERMS_PER_GAP


def _denies_generally(statement: Statement, claim: Statement) -> bool:
    """Whether *statement* adds nothing to the claim, and names at least half of its terms, two or more."""
    shared = claim.terms.keys() & statement.terms.keys()
    inside = statement.terms.keys() <= claim.terms.keys() and statement.labels <= claim.labels
    return inside and len(shared) > 1 and len(shared) >= _GENERAL_SHARE * len(claim.terms) and not statement.quantities


def _opposed(claim: Statement, statement: Statement) -> bool:
    """Whether the two contradict each other in what they share."""
    # Several terms with the opposite sign count as one contradiction: "slower and larger" does not cancel itself out.
    # Only a denial of the whole clause cancels it ("not slower").
    turned = any(sign != claim.terms[term] for term, sign in statement.terms.items() if term in claim.terms)
    return (claim.denied != statement.denied) ^ turned ^ _swapped(claim, statement)


def _swapped(claim: Statement, statement: Statement) -> bool:
    """Whether both compare the same two things, the other way round."""
    (left, right), (first, second) = (_compared_things(part.compared) for part in (claim, statement))
    return bool(left & second) and len(right & first) > len(right & second)


def _compared_things(compared: tuple[frozenset[str], frozenset[str]]) -> tuple[frozenset[str], frozenset[str]]:
    """The terms before and after "than" that are on one side only, without the word that compares, such as "faster"."""
    return compared[0] - compared[1] - _COMPARING, compared[1] - compared[0]


_COMPARING = frozenset(term for word in ("faster", "higher", "better", "longer", "more") for term in _word(word)[0])
