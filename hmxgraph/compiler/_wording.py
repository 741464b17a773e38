"""Text for people: titles, lists, and the phrases and topics that requests share."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from hmxgraph.compiler._verbs import is_action, kind_of, noun_words, read_action
from hmxgraph.compiler._vocabulary import (
    COUNT_WORDS,
    FINITE_VERBS,
    OTHERS_VERBS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    REQUEST_VERBS,
    TROUBLES,
    VERB_LEADS,
    informative_words,
)
from hmxgraph.text.lines import cited
from hmxgraph.text.terms import most_first, terms

# Maximum characters of a title.
LONGEST_TITLE = 120
# A token: a masked value, a word or file name, a name with digits, or other characters. "\0" stands for a dot inside a
# file name.
_TOKEN = re.compile(r"<[a-z_]+>|[A-Za-z][A-Za-z'/\0-]*+(?!\w)|[A-Za-z][\w'/\0-]*|[^\sA-Za-z<]+|<")
# A dot inside a file name, which does not end a sentence.
_INNER_DOT = re.compile(r"(?<=\w)\.(?=[a-z])")
# Characters that plain words do not contain.
_NO_WORD = re.compile(r"[\d_]")
# Words that make a request a complaint: "problem", "can't", "stopped working".
_COMPLAINT = re.compile(
    rf"\b(?:{'|'.join(sorted(TROUBLES))}|can['\u2019]t|cannot|unable|won['\u2019]t|(?:not|stops|stopped) working)\b",
    re.IGNORECASE,
)
# A status in quotation marks, of one to four words that begin with a capital: 'No Service'.
_QUOTED = re.compile(r"(?<!\w)[\"'\u201c\u2018]([A-Z][\w-]*(?: [\w-]+){0,3})[\"'\u201d\u2019](?!\w)")
# Punctuation after which a new part of a sentence begins.
_BREAKS = ".!?:;,\n-\u2013\u2014(\u201c\"'*•/"
# Limits: words of a phrase, changes or subjects named in a purpose, and minimum informative words of a phrase.
_LONGEST_PHRASE = 8
_MOST_GOALS = 3
_LEAST_INFORMATIVE = 2
# Nouns for the form of a lookup's result, not for its subject.
_RESULT_FORMS = frozenset({"details", "detail", "info", "information", "data", "record", "records"})
# Pronouns that refer to a noun mentioned before.
_REFERRING_PRONOUNS = frozenset({"it", "them", "this", "that", "these", "those"})
_ARTICLES = frozenset({"the", "a", "an", "my", "our", "your", "this", "that"})
# Words of users that titles replace: "my order" becomes "the order".
_IMPERSONAL = {"my": "the", "our": "the"}


def _tokens(request: str) -> list[str]:
    """The words and other parts of a request, in order, as ``_TOKEN`` splits it."""
    return [token.replace("\0", ".") for token in _TOKEN.findall(_INNER_DOT.sub("\0", request))]


def listed(parts: Sequence[str], link: str = "and", most: int = 6) -> str:
    """The first *most* parts as an English list; "more" stands for further ones.

    >>> listed(["name", "zip", "email"]), listed([])
    ('name, zip and email', '')
    """
    shown = [*parts[:most], *(["more"] if len(parts) > most else [])]
    return f" {link} ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def approval_for(inputs: Sequence[str]) -> str:
    """The phrase for the approval that these inputs state. Instructions to obtain it contain the phrase.

    >>> approval_for(["approved_by"]), approval_for(["override", "reason"])
    ('approval that approved_by stands for', 'approval that override and reason stand for')
    """
    return f"approval that {listed(inputs)} {'stands' if len(inputs) == 1 else 'stand'} for"


def capital(text: str) -> str:
    """*text* with a capital first letter."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """*text* with a lower-case first letter, for the middle of a sentence."""
    return text[:1].lower() + text[1:]


def goal_phrase(actions: Sequence[str], link: str = "and") -> str:
    """The purpose of *actions*: the first three changes among them, or without changes, the subject of their lookups.

    *link* joins the changes: "and" if all of them are made, else "or".

    >>> goal_phrase(["get_order_details", "modify_order_items", "modify_order_address"])
    'modify the order items and the order address'
    >>> goal_phrase(["expenses.create", "expenses.submit"])
    'create and submit the expenses'
    >>> goal_phrase(["get_order_details"]), goal_phrase(["fetch"])
    ('answer a question about the order', 'use fetch')
    """
    changes = [read_action(name) for name in actions if is_action(name)]
    if changes:
        return _joined([(reading.verb, reading.subject) for reading in changes], link)
    if subjects_text := looked_up_subjects(actions):
        return f"answer a question about {subjects_text}"
    lookups = [name for name in actions if kind_of(name) == "lookup"]
    return _joined([_verb_and_object(name) for name in lookups or actions])


def looked_up_subjects(actions: Iterable[str]) -> str:
    """The first three subjects that *actions* look up; searches and lists do not count; "" if their names state none.

    >>> looked_up_subjects(["get_user_details", "get_order_details", "transfer_to_agent"])
    'the user and the order'
    """
    lookups = (read_action(name) for name in actions if kind_of(name) == "lookup")
    subjects = (_lookup_subject(reading.subject) for reading in lookups if reading.verb == "look up")
    return listed(list(dict.fromkeys(filter(None, subjects)))[:_MOST_GOALS])


def _lookup_subject(subject: str) -> str:
    """*subject* without the key after "by" and without the form of the result; "" if nothing remains.

    >>> [_lookup_subject(text) for text in ("the order details", "the customer by phone", "the details by id")]
    ['the order', 'the customer', '']
    """
    words = [word for word in subject.partition(" by ")[0].split() if word not in _RESULT_FORMS]
    return " ".join(words) if words != ["the"] else ""


def _verb_and_object(action: str) -> tuple[str, str]:
    """Verb and object of an action; "use" and the name for a lookup whose name has no object."""
    reading = read_action(action)
    has_no_object = reading.kind == "lookup" and reading.subject in {"", "it"}
    return ("use", action) if has_no_object else (reading.verb, reading.subject)


def common_phrase(requests: Sequence[str], share: float) -> str:
    """The most informative phrase in at least *share* of the requests, as an instruction; "" if there is none.

    A phrase begins with a request verb or a word for trouble ("error"). It contains no proper names.

    >>> common_phrase(["Deploy the staging environment", "please deploy the staging environment now"], 0.6)
    'deploy the staging environment'
    >>> common_phrase(["Book a one-way flight", "Please book a one-way ticket"], 0.6)
    ''
    >>> common_phrase(["create src/main.py which prints hello", "create src/main.py"], 0.6)
    'create src/main.py'
    >>> common_phrase(["Edit the config file using your tools", "edit the config file using sed"], 0.6)
    'edit the config file'
    """
    needed = max(min(2, len(requests)), math.ceil(share * len(requests)))
    counts: Counter[tuple[str, ...]] = Counter()
    for request in requests:
        counts.update(_phrases(request))
    common = [
        phrase
        for phrase, count in counts.items()
        if count >= needed and _phrase_score(phrase) and not _is_cut_short(phrase, requests)
    ]
    best = max(common, key=lambda phrase: (_phrase_score(phrase), counts[phrase], -len(phrase), phrase), default=())
    if not best:
        return ""
    text = " ".join(_IMPERSONAL.get(word, word) for word in best)
    return text if best[0] in REQUEST_VERBS else f"resolve the {text}"


def common_complaint(requests: Sequence[str], share: float) -> str:
    """What at least *share* of the requests complain about, as an instruction; "" if they share no complaint.

    A quoted status takes precedence over the most informative phrase that the complaints share.

    >>> common_complaint(["My phone shows 'No Service'", "I can't call, it says “No Service”"], 0.6)
    'resolve “No Service”'
    >>> common_complaint(["I can't send those picture messages", "I have trouble with picture messages"], 0.6)
    'resolve the trouble with picture messages'
    """
    needed = max(min(2, len(requests)), math.ceil(share * len(requests)))
    complaints = [request for request in requests if _COMPLAINT.search(request)]
    quoted = Counter(status for request in requests for status in set(_QUOTED.findall(request)))
    if complaints and (status := next(iter(most_first(quoted)), "")) and quoted[status] >= needed:
        return f"resolve “{status}”"
    if not requests or len(complaints) < needed:
        return ""
    if (phrase := common_phrase(complaints, needed / len(complaints))).startswith("resolve "):
        return phrase
    counts = Counter(phrase for request in complaints for phrase in _phrases(request))
    common = [phrase for phrase, count in counts.items() if count >= needed and REQUEST_VERBS.isdisjoint(phrase)]
    best = max(
        common, key=lambda phrase: (_count_informative(phrase), -len(phrase), counts[phrase], phrase), default=()
    )
    if _count_informative(best) < _LEAST_INFORMATIVE:
        return ""
    return f"resolve the trouble with {' '.join(_IMPERSONAL.get(word, word) for word in best)}"


def asks_for_change(request: str) -> bool:
    """Whether a request asks for a change and not only for an answer.

    >>> asks_for_change("I'd like to cancel my order"), asks_for_change("What does it cost? Please show me the price")
    (True, False)
    >>> asks_for_change("Where do we set the size?")
    False
    """
    tokens = _tokens(request)
    return any(
        token.lower() in REQUEST_VERBS
        and kind_of(f"{token.lower()}_it") == "action"
        and _is_request_verb(tokens, index)
        and not _is_in_question(tokens, index)
        for index, token in enumerate(tokens)
    )


def asks_question(request: str) -> bool:
    """Whether a request asks for information.

    >>> asks_question("I want to check how much I paid"), asks_question("Can you help me with my booking?")
    (True, False)
    """
    question_words = QUESTION_WORDS | {"how", "whether"}
    return any(token.lower() in question_words for token in _tokens(request))


def common_topics(requests: Sequence[str], share: float, most: int) -> list[str]:
    """The first *most* words that at least *share* of the requests use, the most frequent first.

    >>> common_topics(["my phone has no service", "No service on the phone", "phone broken"], 0.6, 2)
    ['phone', 'service']
    """
    request_counts, spellings = term_counts(requests), spelling(requests)
    shared = [spellings[term] for term in most_first(request_counts) if request_counts[term] >= share * len(requests)]
    return [word for word in plain_words(shared, requests) if word not in COUNT_WORDS][:most]


def link_between(verb: str, noun: str, request: str) -> str | None:
    """The words that connect *noun* with *verb* in *request*: a preposition, and "the" if an article follows it.

    "the" alone if *noun*, or a pronoun that refers to it, is the object of *verb*; None if the two are not connected.

    >>> link_between("add", "page", "Add an export to the report page")
    'to the'
    >>> link_between("fix", "tests", "The cart tests fail, please fix them")
    'the'
    """
    tokens = [token.lower() for token in _tokens(request)]
    if verb not in tokens:
        return None
    start = tokens.index(verb)
    if noun not in tokens[start:]:
        following = tokens[start + 1 : start + 2]
        return "the" if following and following[0] in _REFERRING_PRONOUNS and noun in tokens[:start] else None
    noun_index = tokens.index(noun, start)
    between, after = tokens[start + 1 : noun_index], tokens[noun_index + 1 : noun_index + 2]
    if after and _is_content_word(after[0]) and after[0] not in PREPOSITIONS:
        # In "the staging environment", "staging" is not the object.
        return None
    if len(between) >= _LONGEST_PHRASE or any(token[-1] in _BREAKS for token in between):
        return None
    indexes = [index for index, token in enumerate(between) if token in PREPOSITIONS]
    if not indexes:
        return "the"
    preposition, following = between[indexes[-1]], between[indexes[-1] + 1 : indexes[-1] + 2]
    return preposition if _ARTICLES.isdisjoint(following) else f"{preposition} the"


def distinctive(requests: Sequence[str], all_counts: Counter[str], total: int, most: int) -> list[str]:
    """The first *most* words that distinguish these requests from others, in their usual spelling, the best first.

    They are ranked by their log-odds with a prior, times their frequency. *all_counts* counts the terms of all
    requests, *total* the requests.
    """
    counts, other_requests = term_counts(requests), total - len(requests)
    spellings = spelling(requests)
    scores = {
        term: count
        * math.log((count + 0.5) / (len(requests) + 1) * (other_requests + 1) / (all_counts[term] - count + 0.5))
        for term, count in counts.items()
        if count >= min(2, len(requests))
    }
    return [spellings[term] for term in most_first(scores) if scores[term] > 0][:most]


def common_words(words: Sequence[str], requests: Sequence[str], share: float) -> list[str]:
    """Those of *words* that at least *share* of the requests use.

    >>> common_words(["refund", "poem"], ["A refund", "Refund and poem", "refund it"], 0.5)
    ['refund']
    """
    request_counts = term_counts(requests)
    return [word for word in words if terms(word) and request_counts[terms(word)[0]] >= share * len(requests)]


def subjects(actions: Iterable[str]) -> list[str]:
    """The nouns in the names of *actions*, the most frequent first."""
    return most_first(Counter(word for name in actions for word in noun_words(name) if len(word) > 2))


def plain_words(words: Sequence[str], requests: Sequence[str]) -> list[str]:
    """Those of *words* that the requests write in lower case, which excludes proper names.

    >>> plain_words(["refund", "ann"], ["A refund for Ann", "I want a refund"])
    ['refund']
    """
    lower_case = frozenset[str]().union(*(_lower_case_words(request) for request in requests))
    return [word for word in words if word in lower_case]


@lru_cache(maxsize=20_000)
def _lower_case_words(request: str) -> frozenset[str]:
    """The informative words that a request writes in lower case."""
    tokens = _tokens(request)
    lower_case = (
        token for index, token in enumerate(tokens) if token[0].islower() and _is_common_word(token, index, tokens)
    )
    return frozenset(word for token in lower_case for word in informative_words(token))


def title(text: str) -> str:
    """*text* as a title: capitalised, without a full stop, cut between words if too long.

    >>> title("cancel the order.")
    'Cancel the order'
    """
    return _shortened(capital(text.strip().rstrip(".")), LONGEST_TITLE)


# Participles that cannot end a phrase, because an object must follow.
_TAKES_OBJECT = frozenset({"using", "including", "containing", "following", "regarding", "concerning", "returning"})
# Minimum characters of a message that a title quotes, even if the text before it is long.
_LEAST_CITED = 24


def citing(before: str, message: str) -> str:
    """A title that ends with a message of a tool, in quotation marks to separate it from the compiler's own words.

    >>> citing("df fails: ", "disk “a” is full.")
    'df fails: “disk "a" is full”'
    """
    words = _shortened(message.strip().rstrip("."), max(LONGEST_TITLE - len(before) - 2, _LEAST_CITED))
    return f"{before}{cited(words)}"


def _shortened(text: str, most: int) -> str:
    """*text* in at most *most* characters, cut between words."""
    return text if len(text) <= most else text[: most - 4].rsplit(" ", 1)[0] + " ..."


def _joined(pairs: Sequence[tuple[str, str]], link: str = "and") -> str:
    """The first few verbs with their objects; repeated verbs and objects are merged."""
    grouped: dict[str, list[str]] = {}
    for verb, subject in pairs[:_MOST_GOALS]:
        grouped.setdefault(verb, []).append(subject)
    verbs: dict[str, list[str]] = {}
    for verb, subjects in grouped.items():
        verbs.setdefault(listed(subjects, link), []).append(verb)
    return listed([f"{listed(names, link)} {subject}".strip() for subject, names in verbs.items()], link)


def _phrase_score(phrase: Sequence[str]) -> int:
    """The number of informative words of a phrase; 0 if it cannot serve as a title.

    It must begin with a request verb or a word for trouble, have several informative words, and not end in a quantity
    or in a participle without its object ("trouble sending", "edit the file using").
    """
    last = phrase[-1]
    is_incomplete = last in COUNT_WORDS | _TAKES_OBJECT or (
        last.endswith("ing") and phrase[-2:-1] and phrase[-2] in TROUBLES
    )
    informative = _count_informative(phrase)
    starts_well = phrase[0] in REQUEST_VERBS or phrase[0] in TROUBLES
    return informative if informative >= _LEAST_INFORMATIVE and starts_well and not is_incomplete else 0


def _is_cut_short(phrase: Sequence[str], requests: Iterable[str]) -> bool:
    """Whether most requests with this phrase continue it with an informative word: "book a one-way", then "flight"."""
    containing = [request for request in requests if tuple(phrase) in _phrases(request)]
    continued = [any(_extends(longer, phrase) for longer in _phrases(request)) for request in containing]
    return sum(continued) > len(continued) / 2


def _extends(longer: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether *longer* is *phrase* with one more word."""
    length = len(phrase)
    return len(longer) == length + 1 and longer[:length] == tuple(phrase) and longer[-1] not in _TAKES_OBJECT


@lru_cache(maxsize=20_000)
def _phrases(request: str) -> frozenset[tuple[str, ...]]:
    """All phrases of a request: successive common words, of which the first and the last are informative.

    A proper name ends a phrase. A verb at the start of a phrase must be the verb of a request.
    """
    tokens = _tokens(request)
    # The common words of the request; "" stands for any other token.
    common = [
        _normal_case(token) if _is_common_word(token, index, tokens) else "" for index, token in enumerate(tokens)
    ]
    is_informative = [bool(word) and bool(informative_words(word)) for word in common]
    phrases = set()
    for start in range(len(common)):
        may_start = is_informative[start] and (common[start] not in REQUEST_VERBS or _is_request_verb(tokens, start))
        for end in range(start + 1, min(len(common), start + _LONGEST_PHRASE)):
            if not common[start] or not common[end]:
                break
            if may_start and is_informative[end]:
                phrases.add(tuple(common[start : end + 1]))
    return frozenset(phrases)


def _normal_case(token: str) -> str:
    """*token* in lower case, unless it is an acronym."""
    return token if _is_acronym(token) else token.lower()


def asked_to(verb: str, requests: Sequence[str]) -> bool:
    """Whether most occurrences of the word *verb* in these requests are verbs: "list my orders", not "the price list".

    >>> [asked_to("list", [request]) for request in ("List my orders", "Fetch the price list", "Open shop.list")]
    [True, False, False]
    """
    are_verbs = [
        _is_request_verb(tokens, index)
        for tokens in map(_tokens, requests)
        for index, token in enumerate(tokens)
        if token.lower() == verb
    ]
    return sum(are_verbs) > len(are_verbs) / 2


def _is_request_verb(tokens: Sequence[str], index: int) -> bool:
    """Whether the word at *index* is the verb of a request, and not a noun as in "the search is slow"."""
    after = [token.lower() for token in tokens[index + 1 : index + 3]]
    is_subject = bool(after) and (
        after[0] in FINITE_VERBS or (after[0].endswith("ed") and (len(after) < 2 or not _is_content_word(after[1])))
    )
    return not is_subject and _may_start_request(tokens, index)


def _is_in_question(tokens: Sequence[str], index: int) -> bool:
    """Whether the sentence that contains *index* begins with a question word."""
    start = max((earlier + 1 for earlier, token in enumerate(tokens[:index]) if token[-1] in ".!?\n"), default=0)
    return tokens[start].lower() in QUESTION_WORDS


def _may_start_request(tokens: Sequence[str], index: int) -> bool:
    """Whether the words before *index* allow the verb of a request to follow."""
    before = [token.lower() for token in tokens[max(0, index - 2) : index]]
    if not before or before[-1][-1] in _BREAKS:
        return True
    # "I have to" and "we want to" make a request; "legal has to" describes what somebody else must do.
    by_others = before[-1] == "to" and before[0] in OTHERS_VERBS
    return before[-1] in VERB_LEADS and not by_others


def _is_content_word(word: str) -> bool:
    return word[0].isalpha() and bool(informative_words(word))


def _is_common_word(token: str, index: int, tokens: Sequence[str]) -> bool:
    """Whether a token is a word and not a proper name, which is capitalised inside a sentence."""
    starts_sentence = index == 0 or tokens[index - 1][-1] in ".!?:\n"
    is_word = token[0].isalpha() and not _NO_WORD.search(token)
    return is_word and (token[0].islower() or starts_sentence or _is_acronym(token)) and token.lower() not in PRONOUNS


def _is_acronym(token: str) -> bool:
    return len(token) > 1 and token.isupper()


def _count_informative(phrase: Sequence[str]) -> int:
    """The number of distinct informative words of a phrase, without words of quantity."""
    return len(set(informative_words(" ".join(phrase))) - COUNT_WORDS)


def term_counts(requests: Iterable[str]) -> Counter[str]:
    """For each term, the number of requests that use it."""
    return Counter(term for request in requests for term in {term for term, _ in _terms_and_words(request)})


def spelling(requests: Sequence[str]) -> dict[str, str]:
    """The usual spelling of each term of the requests."""
    spellings: dict[str, Counter[str]] = {}
    for request in requests:
        for term, word in _terms_and_words(request):
            spellings.setdefault(term, Counter())[word] += 1
    return {term: most_first(counts)[0] for term, counts in sorted(spellings.items())}


@lru_cache(maxsize=20_000)
def _terms_and_words(request: str) -> tuple[tuple[str, str], ...]:
    """The informative words of a request, each as (search term, word)."""
    return tuple((word_terms[0], word) for word in informative_words(request) if (word_terms := terms(word)))
