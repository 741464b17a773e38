"""Names in running text: runs of capitalised words, with small words inside, and what stands in quotation marks.

A capital at the start of a sentence says nothing. There, words that commonly open sentences are taken off, and a
single word that is left counts only in prose about a titled subject, or where the text uses it as a name elsewhere.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hmxgraph.extraction.entities.forms import is_id
from hmxgraph.extraction.entities.vocabulary import (
    DATES,
    DEMONYMS,
    HONORIFICS,
    NEVER_NAMES,
    NUMBERED,
    OFFICES,
    OPENERS,
    PLAIN,
)
from hmxgraph.extraction.sentences import QUOTES, plain_signs
from hmxgraph.extraction.verbs import BASE_VERBS

_UPPER = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x530) if chr(code).isupper())
_TITLES = "Dr|Mr|Mrs|Ms|St|Mt|Ft|Lt|Col|Gen|Rev|Prof|Sgt|Capt"
# No group is repeated possessively: Python before 3.11.5 goes wrong there (CPython issue 106052).
_CAPITALISED = (
    rf"(?:(?:[{_UPPER}]\.){{2,}}|[{_UPPER}]\.(?=\ [{_UPPER}])|(?:{_TITLES})\.(?=\ )|[{_UPPER}]\w*+(?:['.&-]\w++)*)"
)
_SMALL = (
    "of\\ the|of|and\\ the|and|the|de\\ la|de\\ los|de|del|della|di|da|du|des|la|le|van\\ der|van\\ den|van|von\\ der"
    "|von|zu|bin|ibn|ap|al|el|&"
)
_SPAN = re.compile(
    rf"""(?<![\w.#@/'-])
    {_CAPITALISED}
    (?: [\ \xa0] (?: (?:{_SMALL})\  )? {_CAPITALISED}  |  [\ \xa0] \d{{1,4}} (?![\w-]|[.,:%/]\d) )*
    """,
    re.VERBOSE,
)
_QUOTED = re.compile(r"\"([^\"\n]{2,60}?)[,.!?]?\"")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_CAPITAL = re.compile(rf"[{_UPPER}]")
_SMALL_IN_TITLE = frozenset(
    """
    a an and as at by for from in into is of on or the to vs with de la du von van & no my
    """.split()  # noqa: SIM905 - as in vocabulary
)
_BEFORE_SENTENCE = frozenset(".!?:;\u2026\n*-\u2022\u2013\u2014>|")
_OPENING = frozenset("\"'([{*_~")
# What a text may be scanned for; beyond this many characters a document repeats itself.
LONGEST_TEXT = 20_000
# What needs no second look: words that are no names by themselves, as they are usually written.
_ALONE = PLAIN | NEVER_NAMES | DATES | DEMONYMS | NUMBERED
_NO_NAMES = frozenset(
    {word.capitalize() for word in _ALONE}
    | {word.upper() for word in NEVER_NAMES | NUMBERED}
    | {f"{word.capitalize()}'{ending}" for word in OPENERS | {"i"} for ending in ("s", "m", "re", "ll", "d", "ve", "t")}
)


class Span(NamedTuple):
    """A name as written, whether it names a person for sure, and how sure it is that it is a name."""

    name: str
    person: bool
    confidence: float


def spans(text: str, *, titled: bool = False, listing: bool = False) -> list[Span]:
    """The names in *text* in order; *titled* says that it is prose about one subject, not talk.

    *listing* says that the text may be formatted for display, where single words are capitalised by custom: they
    count only within a running sentence.

    >>> [span.name for span in spans("Thanks Mel! We met Omar Davis of Nine Inch Nails at the University of Vienna.")]
    ['Mel', 'Omar Davis of Nine Inch Nails', 'Omar Davis', 'Nine Inch Nails', 'University of Vienna', 'Vienna']
    """
    plain = _readable(text)
    found: list[Span] = []
    doubtful: list[str] = []
    for match in _SPAN.finditer(plain):
        run = match.group()
        if run in _NO_NAMES or "_" in run:
            continue
        start, end = match.span()
        if plain[end : end + 4].lstrip("*_ ")[:1] == ":":
            continue
        words = run.split()
        opening = _opens_sentence(plain, start)
        kept = _trimmed(words, opening=opening)
        if not kept:
            continue
        if len(kept) == 1 and kept[0] is words[0] and not _shaped(kept[0]):
            if opening:
                doubtful.append(kept[0])
                continue
            if listing and not plain[start - 2].islower() and not kept[0].isupper():
                continue
        found.extend(_names(kept))
    if doubtful:
        found.extend(_settled(doubtful, found, titled=titled))
    if '"' in plain:
        found.extend(_quoted(plain))
    return found


def _readable(text: str) -> str:
    # Dashes stay: they part names.
    plain = plain_signs(text[:LONGEST_TEXT], QUOTES)
    if "```" in plain:
        plain = _FENCED.sub("\n", plain)
    return _HEADING.sub("", plain) if "# " in plain else plain


def _opens_sentence(text: str, start: int) -> bool:
    at = start - 1
    while at >= 0 and text[at] in _OPENING:
        at -= 1
    if at < 0 or text[at] == "\n":
        return True
    while at >= 0 and text[at] in " \xa0\"')*_":
        at -= 1
    return at < 0 or text[at] in _BEFORE_SENTENCE


def _trimmed(words: list[str], *, opening: bool) -> list[str]:
    """*words* without those at either end that belong to no name."""
    first, last = 0, len(words)
    while last > first and _ends(words[last - 1]):
        last -= 1
    if last - first > 1 and _goes_before(words, opening=opening):
        first += 1
    while first < last and _drops(words[first], opening=opening, alone=last - first == 1):
        first += 1
    while first < last and words[first].islower():
        first += 1
    kept = words[first:last]
    return kept if kept and _nameable(kept) else []


def _goes_before(words: list[str], *, opening: bool) -> bool:
    """Whether the first word only stands before a name: "L. The" of two sentences, "Return the Garden Hose"."""
    if len(words[0]) == 2 and words[0][1] == ".":
        return words[1].lower() in OPENERS
    return opening and words[1] == "the" and words[0].lower() in BASE_VERBS


def _drops(word: str, *, opening: bool, alone: bool) -> bool:
    plain = _stem(word)
    if plain in DATES or word[0].isdigit() or plain == "i":
        return True
    if alone:
        return plain in NEVER_NAMES or plain in DEMONYMS or (plain in PLAIN and word[-1] != ".")
    return opening and plain in OPENERS and word[-1] != "."


def _ends(word: str) -> bool:
    plain = _stem(word)
    return plain in DATES or plain == "i" or word in _SMALL_IN_TITLE or not (word.isalpha() or is_id(word) is None)


def _stem(word: str) -> str:
    plain = word.lower()
    return plain.split("'", 1)[0] if "'" in plain else plain.rstrip(".")


def _nameable(words: list[str]) -> bool:
    """Whether *words* can name something: not "Step 3", not shouting, not customary capitals only."""
    first = words[0]
    if len(words) == 1:
        return len(first) > 1 and first[0].isupper() and _stem(first) not in NUMBERED
    if len(words) == 2 and words[1][0].isdigit() and _stem(first) in NUMBERED:
        return False
    stems = [_stem(word) for word in words]
    if all(stem in NEVER_NAMES or stem in NUMBERED for stem in stems):
        return False
    return not (all(word.isupper() for word in words) and any(stem in OPENERS for stem in stems))


def _shaped(word: str) -> bool:
    """Whether the word is spelt as only names are: a capital or a digit further on."""
    return any(sign.isupper() or sign.isdigit() for sign in word[1:]) and not word.isupper()


def _settled(doubtful: list[str], found: list[Span], *, titled: bool) -> Iterator[Span]:
    """Words that open a sentence and are names all the same."""
    known = {span.name for span in found}
    for word in doubtful:
        name = _without_ending(word)
        if name in known:
            yield Span(name, person=False, confidence=0.6)
        elif titled and not name.endswith(("ing", "ly", "ed")):
            yield Span(name, person=False, confidence=0.5)


def _names(words: list[str]) -> Iterator[Span]:
    """The name that *words* are, and the names inside it."""
    if "and" in words:
        yield from _joined(words)
    elif "of" in words:
        yield from _owned(words)
    else:
        yield from _single(words)


def _joined(words: list[str]) -> Iterator[Span]:
    at = words.index("and")
    for part in (words[:at], words[at + 1 :]):
        kept = _trimmed(part, opening=False)
        if kept:
            yield from _names(kept)


def _owned(words: list[str]) -> Iterator[Span]:
    at = words.index("of")
    left, right = words[:at], words[at + 1 :]
    if right[0] == "the":
        right = right[1:] if len(right) > 2 else []  # the Rings, the Wind: no names without what they are of
    yield _span(words, 0.8)
    if len(left) > 1:
        yield from _single(left)
    kept = _trimmed(right, opening=False)
    if kept:
        yield from _names(kept)


def _single(words: list[str]) -> Iterator[Span]:
    yield _span(words, 0.8 if len(words) > 1 else 0.6)
    office = next((at for at in range(len(words) - 2, -1, -1) if words[at].lower() in OFFICES), -1)
    if 0 <= office < len(words) - 2:
        yield _span(words[office + 1 :], 0.7)


def _span(words: list[str], confidence: float) -> Span:
    person = _stem(words[0]) in HONORIFICS and len(words) > 1
    kept = words[1:] if person else words
    return Span(_without_ending(" ".join(kept)), person, confidence)


def _without_ending(name: str) -> str:
    return name[:-2] if name.endswith("'s") else name.rstrip("'-.&")


def _quoted(text: str) -> Iterator[Span]:
    """Titles in quotation marks: capitalised throughout but for small words, or two words and more in capitals."""
    for match in _QUOTED.finditer(text):
        words = match.group(1).split()
        if (
            len(words) <= 10
            and len(match.group(1).strip(" .,-&")) > 1
            and _titled(words)
            and _trimmed(words, opening=False) == words
        ):
            yield Span(" ".join(words), person=False, confidence=0.7)


def _titled(words: list[str]) -> bool:
    if not _CAPITAL.match(words[0]):
        return False
    small = sum(1 for word in words[1:] if not (word[0].isupper() or word[0].isdigit() or word in _SMALL_IN_TITLE))
    return small == 0 and (len(words) > 1 or words[0].lower() not in OPENERS)
