"""Texts as they may travel: on one line, without secrets or private names, and not longer than their tier allows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hmxgraph.fingerprint._masking import asks_for_secret, travelling
from hmxgraph.fingerprint.measures import most_frequent
from hmxgraph.fingerprint.state import PrivateName
from hmxgraph.protocol.showing import cut

# No field of a fingerprint may be longer, so that no entry can fill a tier by itself.
LONGEST_TEXT = 1_000
LONGEST_LIST = 64
LONGEST_NAME = 64
LONGEST_TITLE = 120
# So much is read of a text of which so much less can be told: room for keys that shrink to a mark.
_LONGEST_READ = 8 * LONGEST_TEXT
_SHORTEST_NAME = 3
# What the types of a map that are not told one by one are called together.
OTHER = "other"
_TYPE = re.compile(rf"\w[\w.:/-]{{0,{LONGEST_NAME - 1}}}")
_CONTROL = dict.fromkeys((*range(32), 127), " ")


class Disclosure:
    """Cleans texts: secrets and personal data masked, names of private entities replaced by their type."""

    def __init__(self, texts: Iterable[str], names: Iterable[PrivateName] = ()) -> None:
        whole = "\n".join(texts)
        folded = whole.casefold()
        kept = sorted(name for name in set(names) if _occurs(name.name, whole, folded))
        self._marks = {_key(name.name): f"[{name.type}]" for name in reversed(kept)}
        longest_first = sorted({name.name for name in kept}, key=lambda name: (-len(name), name))
        words = "|".join(map(_pattern, longest_first))
        self._told: dict[str, str] = {}
        self._names = re.compile(rf"(?<!\w)(?:{words})(?!\w)") if words else None

    def text(self, text: str) -> str:
        """*text* as it may travel.

        >>> Disclosure(["Ask Ann"], [PrivateName("person", "Ann")]).text("Ask Ann, password=hunter2")
        'Ask [person], password=[password]'

        """
        if text not in self._told:
            masked = one_line(travelling(text[:_LONGEST_READ]))
            self._told[text] = self._names.sub(self._mark, masked) if self._names else masked
        return self._told[text]

    def _mark(self, found: re.Match[str]) -> str:
        return self._marks.get(_key(found.group()), "[name]")

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it as it may travel, keys of objects left alone."""
        match value:
            case str():
                return self.text(value)
            case list() | tuple():
                return [self._part(before, part) for before, part in zip(("", *value), value, strict=False)]
            case Mapping():
                return {key: self.value(part) for key, part in value.items()}
            case _:
                return value

    def _part(self, before: Any, part: Any) -> Any:
        """One entry of a list: a secret where the one before asks for it, as arguments of a command do."""
        asked = isinstance(part, str) and isinstance(before, str) and asks_for_secret(before)
        return "[password]" if asked else self.value(part)

    def names(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Counts by names as they may travel; names that become the same are added up."""
        clean: dict[str, int] = {}
        for name in sorted(counts):
            told = cut(self.text(name), LONGEST_NAME)
            clean[told] = clean.get(told, 0) + counts[name]
        return clean

    def types(self, counts: Mapping[str, int], most: int) -> dict[str, int]:
        """Counts by types: the *most* frequent ones by name, all others together.

        Whoever records what work is about names its type. Only what is a single word is one; a sentence may tell of
        anybody, and is counted with the others.

        >>> Disclosure([]).types({"tool": 3, "gene": 1, "patient Ann Lee": 1, "[person]": 1}, 1)
        {'other': 3, 'tool': 3}

        """
        words = {name: count for name, count in counts.items() if _TYPE.fullmatch(name) and self.text(name) == name}
        kept = most_frequent({name: count for name, count in words.items() if name != OTHER}, most)
        rest = sum(counts.values()) - sum(kept.values())
        return dict(sorted((kept | ({OTHER: rest} if rest else {})).items()))


def _occurs(name: str, whole: str, folded: str) -> bool:
    return len(name) >= _SHORTEST_NAME and (name in whole if name.isalpha() else name.casefold() in folded)


def _key(name: str) -> str:
    return name if name.isalpha() else name.casefold()


def _pattern(name: str) -> str:
    # "Will" is a person, "will" is a word; of all that is not a single word the case tells nothing.
    return re.escape(name) if name.isalpha() else f"(?i:{re.escape(name)})"


def one_line(text: str) -> str:
    r"""*text* without control characters and repeated white space, so that its JSON is plain.

    >>> one_line("a\n\tb\x00 c ")
    'a b c'

    """
    return " ".join(text.translate(_CONTROL).split())


def shortened(value: Any, longest_text: int, longest_list: int) -> Any:
    """A JSON value with texts and lists no longer than that."""
    match value:
        case str():
            return cut(value, longest_text)
        case list():
            return [shortened(part, longest_text, longest_list) for part in value[:longest_list]]
        case dict():
            return {key: shortened(part, longest_text, longest_list) for key, part in value.items()}
        case _:
            return value


def texts_in(values: Sequence[Any]) -> Iterator[str]:
    """Every text inside JSON values, keys left out."""
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
