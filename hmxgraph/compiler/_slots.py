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
# A masked value or a slot: "<id>".
_MASK = re.compile(r"<[a-z_]+>")
# What makes a word an identifier: a digit, inner capitals, a symbol between letters, or the start of a path ("a1",
# "webApp", "web-a", "~/app").
_IDENTIFIER = re.compile(r"\d|[a-z][A-Z]|[\w)][-_/.@:][\w(]|^[~/.]")
# Forms of values after which slots are named: a path ("src/app", "setup.cfg"), a host ("db-1.shop.example") and a
# version ("1.2").
_PATH = re.compile(r"[/\\]|\.[a-z]{1,4}$")
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+){2,}|.*\.(?:com|net|org|io|local)$", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+\S*|<(?:n|number|version)>")
_PARTICIPLE = re.compile(r"(?:ed|ing)$")
# Messages are grouped only if they have at least this many words, and this many informative ones besides the word that
# differs. One informative word is enough if all values of the word that differs are identifiers.
_LEAST_WORDS, _LEAST_INFORMATIVE = 4, 2
# Minimum distinct values of a slot, if not all of them are known to be names of something.
_LEAST_PLAIN_VALUES = 3
# Maximum slots of a message. In a message of more than eleven words, up to a third of the words may be slots.
_MOST_SLOTS = 3


@dataclass(frozen=True, slots=True)
class Template:
    """The common form of several messages, with named slots in place of what varies.

    ``values`` holds, for each original message, the pairs (value, slot): ("login-page", "<branch>").
    """

    text: str
    values: tuple[tuple[tuple[str, str], ...], ...]


def template(messages: Sequence[str]) -> Template:
    """The common form of *messages*, with a slot for each word that varies.

    Only messages with the most frequent number of words are compared; the others get no slots. If no word varies, or
    too many do, the template is the most frequent message.

    >>> template(["the branch a-b has no upstream", "the branch c-d has no upstream"]).text
    'the branch <branch> has no upstream'
    >>> template(["failed to restart cron.service: denied", "failed to restart redis.service: denied"]).text
    'failed to restart <name>: denied'
    """
    rows = [tuple(message.split(" ")) for message in messages]
    length, _ = max(Counter(map(len, rows)).items(), key=lambda pair: (pair[1], pair[0]))
    same_length = [row for row in rows if len(row) == length]
    columns = [[_core(row[index]) for row in same_length] for index in range(length)]
    varying = [index for index in range(length) if len({" ".join(terms(word)) or word for word in columns[index]}) > 1]
    if not varying or len(varying) > max(_MOST_SLOTS, length // 3):
        return Template(most_first(Counter(messages))[0], tuple(() for _ in messages))
    usual = max(same_length, key=lambda row: (same_length.count(row), row))
    names: dict[int, str] = {}
    for index in varying:
        equal_index = next((earlier for earlier in names if columns[earlier] == columns[index]), None)
        names[index] = (
            names[equal_index]
            if equal_index is not None
            else _slot_name(columns[index], usual, index, set(names.values()))
        )
    text = " ".join(
        token.replace(_core(token) or token, names[index]) if index in names else token
        for index, token in enumerate(usual)
    )
    values = tuple(
        tuple((_core(row[index]), names[index]) for index in varying if _core(row[index])) if len(row) == length else ()
        for row in rows
    )
    return Template(text, values)


def filled(text: str, values: Iterable[tuple[str, str]]) -> str:
    """*text* with each slot value replaced by its slot.

    >>> filled("git push --set-upstream origin a-b", [("a-b", "<branch>")])
    'git push --set-upstream origin <branch>'
    """
    for value, slot in sorted(values, key=lambda pair: (-len(pair[0]), pair)):
        if len(value) > 1:
            text = re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", slot, text)
    return text


def merged(messages: Mapping[str, str], related: Callable[[str, str], bool]) -> dict[str, str]:
    """For each key of *messages*, the key of the group to which it belongs; its own key if it belongs to none.

    Messages belong together if they differ in one word only, which may occur several times, and if this word is an
    identifier in each message, or *related* to the message's key. If the word has three or more distinct values, this
    need only be true for half of the messages. If only one of the other words is informative, the word must have three
    or more values, all of them identifiers. Messages of fewer than four words are not grouped.
    """
    # For each message with one word masked, the messages that have this form, with the masked word.
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
        is_informative = sum(bool(informative_words(token)) for token in masked) >= _LEAST_INFORMATIVE
        belong_together = _are_names(values, related) if is_informative else _are_identifiers(values)
        if len(set(values.values())) > 1 and belong_together:
            roots = sorted({_root(owner, key) for key in values})
            owner.update(dict.fromkeys(roots, roots[0]))
    return {key: _root(owner, key) for key in messages}


def _are_names(values: Mapping[str, str], related: Callable[[str, str], bool]) -> bool:
    """Whether the *values*, by key, are identifiers or related to their keys: all, or half of at least three."""
    identifiers = [key for key, value in values.items() if _IDENTIFIER.search(value) or _MASK.search(value)]
    related_keys = [key for key, value in values.items() if related(key, value)]
    name_count = len({*identifiers, *related_keys})
    several_values = len(set(values.values())) >= _LEAST_PLAIN_VALUES
    return name_count == len(values) or (several_values and name_count * 2 >= len(values))


def _are_identifiers(values: Mapping[str, str]) -> bool:
    """Whether there are at least three distinct values, all of them identifiers."""
    return len(set(values.values())) >= _LEAST_PLAIN_VALUES and all(map(_IDENTIFIER.search, values.values()))


def _root(owner: Mapping[str, str], key: str) -> str:
    """The key of the group of *key* (union-find)."""
    while owner[key] != key:
        key = owner[key]
    return key


def _slot_name(values: Sequence[str], row: Sequence[str], index: int, taken: set[str]) -> str:
    """The slot for *values*, such as "<host>", named after the first of these that exists.

    These are the form of the values, the noun before them, their common start, and the word after them. A word after
    "to" is a verb and no name, as in "failed to restart nginx". *row* is a message with a value at *index*.
    """
    unmasked = [value for value in values if not _MASK.fullmatch(value)]
    if not unmasked:
        return most_first(Counter(values))[0]
    if all(map(_VERSION.fullmatch, unmasked)):
        name = "version"
    elif all(_HOST.fullmatch(value) and "/" not in value for value in unmasked):
        name = "host"
    else:
        # The three words before the slot may name it; the fourth is read because it may be "to".
        before = [_core(token).lower() for token in reversed(row[max(0, index - 4) : index])]
        # If punctuation follows the value, the next word belongs to another part of the sentence.
        after = [_core(token).lower() for token in row[index + 1 : index + 2] if row[index].endswith(_core(row[index]))]
        nouns = [
            word
            for word, earlier in zip(before[:3], [*before[1:], ""], strict=False)
            if word.isalpha() and informative_words(word) and not _PARTICIPLE.search(word) and earlier != "to"
        ]
        are_paths = all(map(_PATH.search, unmasked))
        candidates = nouns or _shared_start(unmasked) or [word for word in after if word.isalpha()]
        name = "path" if are_paths else next(iter(candidates), "name")
    slot = f"<{name}>"
    return slot if slot not in taken else f"<{name}_{len(taken) + 1}>"


def _shared_start(values: Sequence[str]) -> list[str]:
    """The word with which all *values* begin: "test" for test_cart and test_login; empty if there is none."""
    starts = {re.split(r"[^A-Za-z]", value)[0].lower() for value in values}
    return sorted(starts) if len(starts) == 1 and len(set(values)) > 1 and "" not in starts else []


def _core(word: str) -> str:
    """*word* without the punctuation around it."""
    return word.strip(_PUNCTUATION)
