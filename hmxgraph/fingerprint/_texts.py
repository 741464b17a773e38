"""Clean texts for export: on one line, without secrets or private names, and within the limits of their tier."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.fingerprint.measures import most_frequent
from hmxgraph.fingerprint.state import PrivateName
from hmxgraph.protocol.display import truncate
from hmxgraph.text.terms import STOP_WORDS, terms

# Maximum lengths of texts, names and titles (characters) and of lists (elements), so that a single summary cannot fill
# the whole fingerprint.
LONGEST_TEXT = 1_000
LONGEST_LIST = 64
LONGEST_NAME = 64
LONGEST_TITLE = 120
# Read extra characters: masking shortens secrets.
_LONGEST_READ = 8 * LONGEST_TEXT
# Shorter names are not searched for in texts, because they match too many words.
_SHORTEST_NAME = 3
# The name under which all types are counted that are not listed separately.
OTHER = "other"
# The form of a type name that may be exported: a single word.
_TYPE = re.compile(rf"\w[\w.:/-]{{0,{LONGEST_NAME - 1}}}")
_CONTROL = dict.fromkeys((*range(32), 127), " ")


class Disclosure:
    """Cleans texts for export: masks secrets and personal data, replaces names of private entities by their type.

    *texts* are the texts to be exported: private *names* that occur in none of them need not be searched for. With
    *allowed*, words that :func:`only_allowed` does not keep become ``[...]``.
    """

    def __init__(
        self, texts: Iterable[str], names: Iterable[PrivateName] = (), allowed: frozenset[str] | None = None
    ) -> None:
        self._allowed = allowed
        all_text = "\n".join(texts)
        case_folded = all_text.casefold()
        occurring = sorted(name for name in set(names) if _occurs(name.name, all_text, case_folded))
        self._marks = {_key(name.name): f"[{name.type}]" for name in reversed(occurring)}
        longest_first = sorted({name.name for name in occurring}, key=lambda name: (-len(name), name))
        words = "|".join(map(_pattern, longest_first))
        self._clean: dict[str, str] = {}
        self._names = re.compile(rf"(?<!\w)(?:{words})(?!\w)") if words else None

    def text(self, text: str) -> str:
        """*text* without secrets and private names.

        >>> Disclosure(["Ask Ann"], [PrivateName("person", "Ann")]).text("Ask Ann, password=hunter2")
        'Ask [person], password=[password]'

        """
        from hmxgraph.fingerprint._masking import mask_for_export  # noqa: PLC0415 - compiles its rules when imported

        if text not in self._clean:
            masked = one_line(mask_for_export(text[:_LONGEST_READ]))
            named = self._names.sub(self._mark, masked) if self._names else masked
            self._clean[text] = named if self._allowed is None else only_allowed(named, self._allowed)
        return self._clean[text]

    def _mark(self, match: re.Match[str]) -> str:
        return self._marks.get(_key(match.group()), "[name]")

    def value(self, value: Any) -> Any:
        """A JSON value with every text cleaned; keys are not changed."""
        match value:
            case str():
                return self.text(value)
            case list() | tuple():
                return [self._list_entry(before, part) for before, part in zip(("", *value), value, strict=False)]
            case Mapping():
                return {key: self.value(part) for key, part in value.items()}
            case _:
                return value

    def _list_entry(self, before: Any, part: Any) -> Any:
        """One list entry, masked if the entry before it announces a secret, as in the arguments of a command."""
        from hmxgraph.fingerprint._masking import asks_for_secret  # noqa: PLC0415 - compiles its rules when imported

        is_secret = isinstance(part, str) and isinstance(before, str) and asks_for_secret(before)
        return "[password]" if is_secret else self.value(part)

    def names(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Counts by cleaned name; if several names become equal, their counts are added."""
        clean: dict[str, int] = {}
        for name in sorted(counts):
            clean_name = truncate(self.text(name), LONGEST_NAME)
            clean[clean_name] = clean.get(clean_name, 0) + counts[name]
        return clean

    def types(self, counts: Mapping[str, int], most: int) -> dict[str, int]:
        """Counts by type, sorted by name: the *most* most frequent types; all others are counted as ``other``.

        Agents choose type names freely. A name of several words may contain the name of a person, so it is counted as
        ``other``.

        >>> Disclosure([]).types({"tool": 3, "gene": 1, "patient Ann Lee": 1, "[person]": 1}, 1)
        {'other': 3, 'tool': 3}

        """
        words = {name: count for name, count in counts.items() if _TYPE.fullmatch(name) and self.text(name) == name}
        listed = most_frequent({name: count for name, count in words.items() if name != OTHER}, most)
        unlisted = sum(counts.values()) - sum(listed.values())
        return dict(sorted((listed | ({OTHER: unlisted} if unlisted else {})).items()))


def _occurs(name: str, all_text: str, case_folded: str) -> bool:
    return len(name) >= _SHORTEST_NAME and (name in all_text if name.isalpha() else name.casefold() in case_folded)


def _key(name: str) -> str:
    """The form in which names are compared: a single word keeps its case, other names do not."""
    return name if name.isalpha() else name.casefold()


def _pattern(name: str) -> str:
    # Single words are case-sensitive: "Will" is a person, "will" is a word.
    return re.escape(name) if name.isalpha() else f"(?i:{re.escape(name)})"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that the compiler itself adds to artifacts, around texts from events.
_WORDING = _words(
    """add answer ask call check compare create decide delete deploy do done fail failed fails failure find
    first fix get handle help helped instead install last list make mention mentions move next once open order
    outcome put question read recover remove repeat report request requests restart retry return roll run
    search send set show start step steps stop succeed succeeded task then time times tool try update use
    verify wait work worked works write went well called calling reported success"""
)
_WORD = re.compile(r"\[[\w .]+\]|\w+(?:['-]\w+)*")
_UNKNOWN = "[...]"
# Matches all but the last of several ``[...]`` in a row.
_REPEATED_UNKNOWN = re.compile(r"(?:\[\.\.\.\][\s_./:-]*)+(?=\[\.\.\.\])")
# Maximum number of digits of an exported number: longer numbers may identify something.
_LONGEST_NUMBER = 3


def only_allowed(text: str, allowed: frozenset[str]) -> str:
    """*text* with ``[...]`` in place of all words except *allowed*, compiler wording, stop words and short numbers.

    Marks such as ``[password]`` stay. Several ``[...]`` in a row become one.

    >>> only_allowed("Restart zeppelin, then wait 10 s; [password]", frozenset({"s"}))
    'Restart [...], then wait 10 s; [password]'

    """

    def masked_word(match: re.Match[str]) -> str:
        word = match.group()
        return word if word.startswith("[") or _is_allowed(word, allowed) else _UNKNOWN

    return _REPEATED_UNKNOWN.sub("", _WORD.sub(masked_word, text))


def _is_allowed(word: str, allowed: frozenset[str]) -> bool:
    """Whether *word* stays in an export with an allow list, by itself or because all its search terms are allowed."""
    lowered = word.lower()
    if lowered in allowed or lowered in _WORDING or lowered in STOP_WORDS:
        return True
    if word.isdecimal() and len(word) <= _LONGEST_NUMBER:
        return True
    parts = terms(word)
    return bool(parts) and all(part in allowed or part in _WORDING for part in parts)


def one_line(text: str) -> str:
    r"""*text* without control characters and repeated white space, so that its JSON is plain.

    >>> one_line("a\n\tb\x00 c ")
    'a b c'

    """
    return " ".join(text.translate(_CONTROL).split())


def limited(value: Any, longest_text: int, longest_list: int) -> Any:
    """A JSON value with its texts and lists cut to these lengths, at any depth."""
    match value:
        case str():
            return truncate(value, longest_text)
        case list():
            return [limited(part, longest_text, longest_list) for part in value[:longest_list]]
        case dict():
            return {key: limited(part, longest_text, longest_list) for key, part in value.items()}
        case _:
            return value


def texts_in(values: Sequence[Any]) -> Iterator[str]:
    """Every text inside JSON values, without keys."""
    for value in values:
        match value:
            case str():
                yield value
            case Mapping():
                yield from texts_in(list(value.values()))
            case list() | tuple():
                yield from texts_in(value)
            case _:
                pass
