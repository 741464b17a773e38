"""Similarity of two texts, and whether they contradict each other."""

import re
from collections.abc import Hashable, Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from hmxgraph.text.terms import STOP_WORDS, signs, terms, trigrams, words

# Similarity of texts and sets, in [0, 1].


def jaccard(a: Iterable[Hashable], b: Iterable[Hashable]) -> float:
    """Return the Jaccard index: shared members over all members; 1 for two empty collections.

    >>> jaccard(["deploy", "staging"], ["deploy", "production"])
    0.3333333333333333

    """
    left: AbstractSet[Hashable] = a if isinstance(a, AbstractSet) else set(a)
    right: AbstractSet[Hashable] = b if isinstance(b, AbstractSet) else set(b)
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 1.0


def trigram_jaccard(text_a: str, text_b: str) -> float:
    """Return the Jaccard index of two texts' word trigrams.

    >>> trigram_jaccard("Verify the rollout!", "verify the rollout")
    1.0

    """
    return jaccard(trigrams(text_a), trigrams(text_b))


# Whether two short directives or statements are opposed, judged by their words alone.

# Two texts have the same subject if they share this part of all their terms, or this part of the terms of the shorter
# text.
SIMILAR = 0.6
_CONTAINED = 0.8
# "n't" in "don't" and "isn't"; "'t" in "can't" and "not" in "cannot".
_SHORT_NOT = re.compile(r"(?<!\bca)(?<=\w)n['\u2019]t\b|(?<=\bcan)(?:['\u2019]t|not)\b", re.IGNORECASE)
# Words for the duration and scope of a directive ("from now on"), and for permission ("may", "are allowed to"; but not
# the month in "in May"). They are removed, because they are not part of the subject of a directive.
_SCOPE_WORDS = re.compile(
    r"(?i:\b(?:from now on|(?:going|moving) forward|in (?:the )?future|henceforth|as a rule|in general|by default"
    r"|at all times|without (?:any )?exceptions?|no matter|any ?more|any longer|ever again)\b)"
    r"|(?<!\bin )(?<!\bof )(?<!\b(?:last|next|this) )\bmay(?= [a-z])"
    r"|(?:(?<=\bis )|(?<='re )|(?<=\b(?:are|not) ))(?:allowed|permitted) to\b"
)
# Other words for "not": "no longer", "nobody", and "stop" before a verb ("stop deploying").
_NOT = re.compile(r"\b(?:(?:no longer|nobody|no[ -]one|under no circumstances)\b|stop(?= \w+ing\b))", re.IGNORECASE)
# Clauses that say when or why a directive holds. A negation in such a clause does not negate the directive. The clause
# ends at a punctuation mark or, without one, before the auxiliary verb of the main clause.
_CLAUSE = r"(?!\s(?:do not|never|must|may not|can not|will not|shall|should)\b)(?:[^,;.!?]|\.(?=\S))"
_CIRCUMSTANCE = re.compile(
    r"\b(?:when(?:ever)?|if|unless|until|while|once|because|since|although|as long as|in case|so that)\b"
    rf"(?:{_CLAUSE})*",
    re.IGNORECASE,
)
_NEGATIONS = frozenset(
    (
        "not",
        "never",
        "no",
        "without",
        "avoid",
        "avoids",
        "avoiding",
        "refrain",
        "forbid",
        "forbids",
        "forbidden",
        "prohibit",
        "prohibits",
        "prohibited",
        "disallow",
        "disallowed",
        "neither",
        "nor",
        "prevent",
        "prevents",
    )
)
# Pairs of opposites: the second word counts as the negation of the first. No second word occurs twice.
_ANTONYMS = (
    "add remove",
    "allow deny",
    "allow block",
    "approve reject",
    "before after",
    "enable disable",
    "fast slow",
    "faster slower",
    "increase decrease",
    "increase reduce",
    "keep delete",
    "lock unlock",
    "online offline",
    "open close",
    "pass fail",
    "run skip",
    "start stop",
    "up down",
    "success failure",
    "valid invalid",
    "safe unsafe",
    "healthy unhealthy",
    "grow shrink",
    "rise fall",
)
# Terms that are not part of the subject of a text.
_NOT_IN_SUBJECTS = frozenset(terms("always must ever please use using used should shall need every"))

# Confidence of relations that are known only from the arguments of calls, which may fail.
REQUESTED = 0.6

# Relation types that contradict each other between the same two entities, each pair in alphabetical order.
OPPOSED_RELATIONS = [
    ["allows", "forbids"],
    ["avoids", "prefers"],
    ["blocks", "enables"],
    ["causes", "prevents"],
    ["contradicts", "supports"],
    ["dislikes", "likes"],
    ["excludes", "requires"],
]


class _Stance(NamedTuple):
    """The subject of a text, and whether the text speaks against that subject."""

    subject: frozenset[str]
    against: bool


def stance(text: str) -> _Stance:
    """Return the search terms of the subject of *text*, and whether *text* speaks against this subject.

    It speaks against it if it has an odd number of negations. One word of each pair of opposites counts as a negation
    of the other: "disable" means "not enable". Negations in a clause that says when or why ("when nobody answers") do
    not count.

    >>> stance("Never deploy on Fridays") == _Stance(frozenset({"deploy", "friday"}), against=True)
    True
    >>> stance("Don't avoid retries").against
    False
    >>> stance("From now on nobody may deploy on Fridays") == stance("Never deploy on Fridays")
    True
    """
    normalised = _SCOPE_WORDS.sub("", _NOT.sub(" not", _SHORT_NOT.sub(" not", text)))
    circumstances = _circumstances(normalised)
    main = _CIRCUMSTANCE.sub(" ", normalised) if circumstances else normalised
    words_and_bases = [(word, _base(word)) for word in words(main)]
    negations = sum(word in _NEGATIONS or base in _OPPOSITES for word, base in words_and_bases)
    aligned = [_OPPOSITES.get(base, base) for word, base in words_and_bases if word not in _NEGATIONS]
    aligned += ["not" if word in _NEGATIONS else _base(word) for word in words(circumstances)]
    subject = frozenset(base for base in aligned if base in _MEANINGFUL or base not in STOP_WORDS)
    return _Stance(subject - _NOT_IN_SUBJECTS, against=negations % 2 == 1)


def _circumstances(text: str) -> str:
    """Return the clauses of *text* that say when or why; empty if nothing else would remain, as in the second example.

    >>> _circumstances("Call Ada when the build does not finish"), _circumstances("If it does not finish call Ada")
    ('when the build does not finish', '')
    """
    clauses = _CIRCUMSTANCE.findall(text)
    return " ".join(clauses) if words(_CIRCUMSTANCE.sub(" ", text)) else ""


# Plain statements that cannot both be true: the same words except for a negation or an amount.

# The digits of each number word.
_AMOUNTS = {
    name: str(number)
    for number, name in enumerate(words("one two three four five six seven eight nine ten eleven twelve"), start=1)
}
# After one of these words a number is an amount; after a noun it is a name ("ticket 17", "port 80").
_BEFORE_AMOUNT = frozenset(
    words(
        "is are was were be been has have had needs need takes take runs run uses use costs cost contains contain gets"
        " get allows allow lasts last keeps keep holds hold requires require supports support serves serve stores store"
        " only least most than about roughly around exactly within every after of"
    )
)
_TIME = r"(?:\d{1,2}:\d{2}(?: ?[ap]\.?m\b)?|\d{1,2} ?[ap]\.?m\b|noon\b|midnight\b)"
# One or more times of the day, as in "9:00 to 17:00".
_CLOCK_TIMES = rf"{_TIME}(?:(?: and | or | to | ?[-\u2013] ?|, ){_TIME})*"
# A preposition and such times: "at 9:00". "Before" and "after" are not included, because "quiet before 9:00" and "quiet
# after 21:00" do not contradict each other.
_CLOCK = re.compile(rf"(?<=\s)(at|by|until|till|from) ({_CLOCK_TIMES})", re.IGNORECASE)
# One of these times: hour and minutes, "5 pm", "noon" or "midnight".
_HOUR = re.compile(r"(\d{1,2})(?::(\d{2}))?(?: ?([ap])\.?m)?|(noon)|midnight", re.IGNORECASE)
# Sums of money. The currency is part of the answer, so that "2 EUR" contradicts "2 USD" and "nothing". A statement with
# a number without a currency has another topic, because it may mean the same sum.
_CURRENCIES = {
    name: code
    for code, names in {
        "eur": "eur euro euros \u20ac",
        "usd": "usd dollar dollars $",
        "gbp": "gbp pound pounds \u00a3",
        "chf": "chf franc francs",
        "jpy": "jpy yen \u00a5",
    }.items()
    for name in names.split()
}
_CURRENCY = "|".join(map(re.escape, sorted(_CURRENCIES, reverse=True)))
_NUMBER = r"\d+(?:[.,]\d+)*"
# A word that precedes an amount, then a sum with the currency on either side: "costs EUR 5", "costs 5 EUR".
_SUM = re.compile(
    rf"\b({'|'.join(sorted(_BEFORE_AMOUNT))}) (?:({_CURRENCY}) ?({_NUMBER})|({_NUMBER}) ?({_CURRENCY})(?!\w))",
    re.IGNORECASE,
)
# A number whose separators all separate thousands ("1,500"), and the decimals of any other number (",50" in "12,50").
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\.\d{3})+)")
_DECIMALS = re.compile(r"[.,](\d+)$")
# "costs nothing", "is free of charge": treated as a sum of 0.
_FREE = re.compile(r"\b(?:costs? (?:nothing|zero)|(?:is|are) free of charge)\b", re.IGNORECASE)
_FILLER_WORDS = frozenset(words("a an the our do does did now currently still exactly only already"))
# Words that mention a change.
_RENEWED = re.compile(
    r"\b(?:now(?:adays)?|currently|no longer|any ?more|meanwhile|from now on|today|since)\b", re.IGNORECASE
)


class Claim(NamedTuple):
    """The topic of a statement, what it says about the topic, and whether it mentions a change ("now", "no longer")."""

    topic: str
    answer: str
    renewed: bool


def claim(text: str) -> Claim:
    """Split a plain statement into its topic (words and signs) and its answer (negations, amounts, sums and times).

    Filler words belong to neither. Two statements with equal topics and different answers contradict each other. A
    topic of fewer than two words is too short to be compared and is returned as "".

    >>> claim("The staging cluster has three nodes").answer, claim("Staging cluster has 5 nodes.").answer
    ('3', '5')
    >>> claim("Backups run at 02:00").topic == claim("Backups run at 4 am").topic
    True
    >>> claim("The cache is enabled").topic == claim("The cache isn't enabled").topic
    True
    >>> claim("Ticket 17 is closed").topic == claim("Ticket 18 is closed").topic
    False
    >>> claim("Parking costs $2").topic == claim("Parking costs nothing").topic
    True
    >>> claim("The limit is > 5").topic == claim("The limit is < 5").topic
    False
    """
    text = _FREE.sub("cost 0 eur", text)
    sums = [_sum_of_money(match) for match in _SUM.finditer(text)]
    text = _SUM.sub(r"\1 ", text)
    times = [str(_minutes(time)) for match in _CLOCK.finditer(text) for time in _HOUR.finditer(match[2])]
    remaining = words(_CLOCK.sub(r"\1 ", _NOT.sub(" not", _SHORT_NOT.sub(" not", text))))
    topic, amounts, negations = list[str](), list[str](), 0
    for before, word in zip(("", *remaining), remaining, strict=False):
        base = _base(word)
        amount = _AMOUNTS.get(word, word)
        if amount.replace(".", "").isdigit() and before in _BEFORE_AMOUNT:
            amounts.append(amount)
        elif word in _NEGATIONS:
            negations += 1
        elif word not in _FILLER_WORDS:
            negations += base in _OPPOSITES
            topic.append(_OPPOSITES.get(base, base))
    answer = " ".join([*(["not"] if negations % 2 else []), *amounts, *sums, *times])
    measure = "money" if sums else ""
    subject = " ".join(filter(None, (*topic, measure, signs(text)))) if len(topic) > 1 else ""
    return Claim(subject, answer, bool(_RENEWED.search(text)))


def _sum_of_money(match: re.Match[str]) -> str:
    """Return the amount and the currency; for 0 no currency, because 0 is the same in all of them."""
    currency, number = (match[2], match[3]) if match[2] else (match[5], match[4])
    amount = _plain_number(number)
    return f"{amount} {_CURRENCIES[currency.lower()]}" if amount != "0" else "0"


def _plain_number(number: str) -> str:
    """Return *number* with a decimal point, and without separators of thousands or zeros at the end of its decimals.

    >>> [_plain_number(text) for text in ("12,50", "12.5", "5,000", "5.000", "1.234,50", "0,125", "0.00")]
    ['12.5', '12.5', '5000', '5000', '1234.5', '0.125', '0']
    """
    decimals = None if _THOUSANDS.fullmatch(number) else _DECIMALS.search(number)
    whole = number[: decimals.start()] if decimals else number
    fraction = decimals[1].rstrip("0") if decimals else ""
    digits = whole.replace(",", "").replace(".", "").lstrip("0") or "0"
    return f"{digits}.{fraction}" if fraction else digits


def _minutes(time: re.Match[str]) -> int:
    """Return the minutes from midnight to a time of the day.

    >>> [_minutes(_HOUR.fullmatch(text)) for text in ("5 pm", "17:00", "noon", "12 am")]
    [1020, 1020, 720, 0]
    """
    hour, minute, am_or_pm, noon = time.groups()
    if hour is None:
        return 12 * 60 if noon else 0
    hours = int(hour) if am_or_pm is None else int(hour) % 12 + (12 if am_or_pm.lower() == "p" else 0)
    return 60 * hours + int(minute or 0)


def opposed(first: str, second: str) -> bool:
    """Whether both texts have the same subject, and one speaks for it, the other against it.

    >>> opposed("Use ALTER TABLE directly", "Never use ALTER TABLE directly")
    True
    >>> opposed("Use ALTER TABLE directly", "Never deploy on Fridays")
    False
    """
    left, right = stance(first), stance(second)
    return left.against != right.against and _same_subject(left.subject, right.subject)


def differs(first: str, second: str) -> bool:
    """Whether two answers to the same question differ: their words differ, or one says the opposite of the other.

    An answer that only adds detail does not differ.

    >>> differs("Use an online migration", "Use a blue-green switch"), differs("Retry twice.", "retry twice, then wait")
    (True, False)
    """
    left, right = stance(first), stance(second)
    return left.against != right.against or _containment(left.subject, right.subject) < _CONTAINED


def _same_subject(left: frozenset[str], right: frozenset[str]) -> bool:
    if min(len(left), len(right)) > 1:
        return jaccard(left, right) >= SIMILAR or _containment(left, right) >= _CONTAINED
    return bool(left) and jaccard(left, right) >= SIMILAR


def _containment(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the overlap coefficient: the share of the smaller set that the larger one contains."""
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else float(left == right)


def _base(word: str) -> str:
    """Return the search term of a word; a stop word is returned unchanged."""
    return (terms(word) or [word])[0]


# The first word of each pair in ``_ANTONYMS``, keyed by the second.
_OPPOSITES = {_base(second): _base(first) for first, second in (pair.split() for pair in _ANTONYMS)}
# Stop words that stay in the subject of a text: "before" and "up", which replace "after" and "down", and "not" in a
# clause that says when or why.
_MEANINGFUL = frozenset({"before", "up", "not"})
