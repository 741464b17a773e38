"""Slots: the parts of a message that vary between its occurrences, found by comparing them."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hmxgraph.compiler._vocabulary import informative_words
from hmxgraph.text.terms import most_first, terms

# The words of a message.
Tokens = tuple[str, ...]
_PUNCTUATION = ".,:;!?'\"`()[]{}"
_MARK = re.compile(r"<[a-z_]+>")
# A digit, inner capitals, a sign between letters, or the start of a path: "a1", "webApp", "web-a", "~/app".
_IDENTIFIER = re.compile(r"\d|[a-z][A-Z]|[\w)][-_/.@:][\w(]|^[~/.]")
# The shapes by which slots are named: a path ("src/app", "setup.cfg"), a host ("db-1.shop.example"), a version ("1.2").
_PATH = re.compile(r"[/\\]|\.[a-z]{1,4}$")
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+){2,}|.*\.(?:com|net|org|io|local)$", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+\S*|<(?:n|number|version)>")
_PARTICIPLE = re.compile(r"(?:ed|ing)$")
# Messages are grouped only if they have at least this many words, and this many informative ones besides the word that
# differs. A single informative one is enough if all values of that word are identifiers.
_LEAST_WORDS, _LEAST_TELLING = 4, 2
# Minimum distinct values of a slot, if not all of them are known to be names of something.
_PLAIN_VALUES = 3
# Maximum slots of a message of fewer than twelve words; a longer one may have a third of its words.
_MOST_SLOTS = 3


@dataclass(frozen=True, slots=True)
class Template:
    """A message with named slots; ``values`` holds the pairs (slot value, slot mark) of each original message."""

    text: str
    values: tuple[tuple[tuple[str, str], ...], ...]


def template(messages: Sequence[str]) -> Template:
    """The common form of *messages*, with a slot for each word that varies.

    Only messages of the most frequent number of words are compared; the others get no slots. If no word varies, or too
    many do, the template is the most common message.

    >>> template(["the branch a-b has no upstream", "the branch c-d has no upstream"]).text
    'the branch <branch> has no upstream'
    >>> template(["failed to restart cron.service: denied", "failed to restart redis.service: denied"]).text
    'failed to restart <name>: denied'
    """
    rows = [tuple(message.split(" ")) for message in messages]
    length, _ = max(Counter(map(len, rows)).items(), key=lambda pair: (pair[1], pair[0]))
    same_length = [row for row in rows if len(row) == length]
    columns = [[_core(row[place]) for row in same_length] for place in range(length)]
    varying = [place for place in range(length) if len({" ".join(terms(word)) or word for word in columns[place]}) > 1]
    if not varying or len(varying) > max(_MOST_SLOTS, length // 3):
        return Template(most_first(Counter(messages))[0], tuple(() for _ in messages))
    usual = max(same_length, key=lambda row: (same_length.count(row), row))
    names: dict[int, str] = {}
    for place in varying:
        same = next((other for other in names if columns[other] == columns[place]), None)
        names[place] = (
            names[same] if same is not None else _slot_name(columns[place], usual, place, set(names.values()))
        )
    text = " ".join(
        token.replace(_core(token) or token, names[place]) if place in names else token
        for place, token in enumerate(usual)
    )
    values = tuple(
        tuple((_core(row[place]), names[place]) for place in varying if _core(row[place])) if len(row) == length else ()
        for row in rows
    )
    return Template(text, values)


def filled(text: str, values: Iterable[tuple[str, str]]) -> str:
    """*text* with each slot value replaced by its slot.

    >>> filled("git push --set-upstream origin a-b", [("a-b", "<branch>")])
    'git push --set-upstream origin <branch>'
    """
    for value, mark in sorted(values, key=lambda pair: (-len(pair[0]), pair)):
        if len(value) > 1:
            text = re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", mark, text)
    return text


def merged(messages: Mapping[str, str], related: Callable[[str, str], bool]) -> dict[str, str]:
    """For each key of *messages*, the key of the group that it belongs to; its own key if it joins none.

    Messages belong together if they differ in one word only, which may occur several times, and if this word is an
    identifier in each message, or *related* to the message's key. If the word has three or more distinct values, this
    need only hold for half of the messages. If only one of the other words is informative, the word must have three or
    more values, all of them identifiers. Messages of fewer than four words stay alone.
    """
    groups: defaultdict[Tokens, dict[str, str]] = defaultdict(dict)
    for key in sorted(messages):
        tokens = tuple(_core(token).lower() for token in messages[key].split(" "))
        for value in sorted(set(tokens)):
            masked = tuple("<>" if token == value else token for token in tokens)
            if any(informative_words(token) for token in masked) and len(masked) >= _LEAST_WORDS:
                groups[masked].setdefault(key, value)
    owner = {key: key for key in messages}
    for masked in sorted(groups, key=lambda tokens: (-len(groups[tokens]), tokens)):
        values = groups[masked]
        says_enough = sum(bool(informative_words(token)) for token in masked) >= _LEAST_TELLING
        if len(set(values.values())) > 1 and (_are_names(values, related) if says_enough else _are_identifiers(values)):
            roots = sorted({_root(owner, key) for key in values})
            owner.update(dict.fromkeys(roots, roots[0]))
    return {key: _root(owner, key) for key in messages}


def _are_names(values: Mapping[str, str], related: Callable[[str, str], bool]) -> bool:
    """Whether the *values* by key are identifiers or related to their keys: all, or half of at least three."""
    identifiers = [key for key, value in values.items() if _IDENTIFIER.search(value) or _MARK.search(value)]
    links = [key for key, value in values.items() if related(key, value)]
    named = len({*identifiers, *links})
    return named == len(values) or (len(set(values.values())) >= _PLAIN_VALUES and named * 2 >= len(values))


def _are_identifiers(values: Mapping[str, str]) -> bool:
    """Whether the values are several identifiers, which are slots even if the other words say little."""
    return len(set(values.values())) >= _PLAIN_VALUES and all(map(_IDENTIFIER.search, values.values()))


def _root(owner: Mapping[str, str], key: str) -> str:
    while owner[key] != key:
        key = owner[key]
    return key


def _slot_name(values: Sequence[str], row: Sequence[str], place: int, taken: set[str]) -> str:
    """The mark of a slot: the shape of its values, else the noun before it, their common start or the word after.

    A word after "to" is a verb, as in "failed to restart nginx".
    """
    unmasked = [value for value in values if not _MARK.fullmatch(value)]
    if not unmasked:
        return most_first(Counter(values))[0]
    if all(map(_VERSION.fullmatch, unmasked)):
        name = "version"
    elif all(_HOST.fullmatch(value) and "/" not in value for value in unmasked):
        name = "host"
    else:
        # Three words may name the slot; the fourth is read because it may be "to".
        before = [_core(token).lower() for token in reversed(row[max(0, place - 4) : place])]
        # After a punctuation mark, another part of the sentence begins.
        after = [_core(token).lower() for token in row[place + 1 : place + 2] if row[place].endswith(_core(row[place]))]
        nouns = [
            word
            for word, earlier in zip(before[:3], [*before[1:], ""], strict=False)
            if word.isalpha() and informative_words(word) and not _PARTICIPLE.search(word) and earlier != "to"
        ]
        path = all(map(_PATH.search, unmasked))
        likely = nouns or _shared_part(unmasked) or [word for word in after if word.isalpha()]
        name = "path" if path else next(iter(likely), "name")
    mark = f"<{name}>"
    return mark if mark not in taken else f"<{name}_{len(taken) + 1}>"


def _shared_part(values: Sequence[str]) -> list[str]:
    """The word with which all *values* begin: "test" for test_cart and test_login; empty if there is none."""
    first = {re.split(r"[^A-Za-z]", value)[0].lower() for value in values}
    return sorted(first) if len(first) == 1 and len(set(values)) > 1 and "" not in first else []


def _core(word: str) -> str:
    """*word* without punctuation around it."""
    return word.strip(_PUNCTUATION)
