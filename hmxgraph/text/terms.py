"""Words and search terms: the one analysis that indexed text and questions share.

The full-text indexes split at white space only, so ``search_text`` is these terms joined by blanks, and a question
finds exactly what was indexed under the same rules.
"""

import re
import unicodedata
from functools import lru_cache

import Stemmer

from hmxgraph.text.stop_words import STOP_WORDS

# The index splits longer words; nobody asks for them either.
LONGEST_WORD = 64
_WORD = re.compile(r"[^\W_]+")
# What parts words in ASCII: splitting there costs a quarter of what the pattern costs.
_GAPS = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
_ENDING = re.compile(r"(?<=\w)['\u2019](?:s|t|m|d|re|ve|ll)\b")
_ACCENT = re.compile("[\u0300-\u036f]")
# Relations, operations and currencies are told by their kind, in the order of the text; a minus is one before a number.
_MEANT = frozenset({"Sm", "Sc"})
_MEANT_TOO = frozenset("%#")
_MINUS = re.compile(r"(?<![\w)\]])[-\u2212](?=[.,]?\d)")
_WITHOUT_SPACES = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+)")
_stemmer = Stemmer.Stemmer("english", 0)


def words(text: str) -> list[str]:
    """The words of *text* in order: lower case, without accents, possessive endings and punctuation.

    Scripts written without spaces give pairs of neighbouring characters, also beside digits and letters.

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
    """What *text* says, however it is spelt: its words, and the signs that make them mean something else.

    A text of neither is what it is.

    >>> wording("The limit is > 5%."), wording("the Limit is: -5")
    ('the limit is 5 >%', 'the limit is 5 -')
    >>> wording("Use C++!"), wording("C, please, or C#"), wording("???")
    ('use c ++', 'c please or c #', '???')

    """
    return " ".join(filter(None, (*words(text), signs(text)))) or text.strip()


def signs(text: str) -> str:
    """The signs of *text* that change what its words mean: mathematical ones, currencies, per cent, number signs.

    >>> signs("x != y costs $5, not -5 or 3-5")
    '=$-'

    """
    return "".join(sign for sign in _MINUS.sub("\u2212", text) if _meant(sign)).replace("\u2212", "-")


def _meant(sign: str) -> bool:
    return not sign.isalnum() and (sign in _MEANT_TOO or unicodedata.category(sign) in _MEANT)


def terms(text: str) -> list[str]:
    """The search terms of *text* in order: words, English stop words left out, stemmed (Snowball).

    >>> terms("The pods were restarting in staging")
    ['pod', 'restart', 'stage']

    """
    return list(filter(None, map(_term, words(text))))


def search_text(text: str) -> str:
    """What a node offers to the full-text index: its terms, blank-separated.

    >>> search_text("Rolled back to v1.4.2")
    'roll back v1 4 2'

    """
    return " ".join(terms(text))


@lru_cache(maxsize=200_000)
def _term(word: str) -> str:
    if word in STOP_WORDS:
        return ""
    stem: str = _stemmer.stemWord(word[:LONGEST_WORD])
    return stem


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold())))


def _pairs(found: list[str]) -> list[str]:
    pieces: list[str] = []
    for word in found:
        for run in filter(None, _WITHOUT_SPACES.split(word)):
            pairs = len(run) > 1 and _WITHOUT_SPACES.fullmatch(run)
            pieces.extend((run[at : at + 2] for at in range(len(run) - 1)) if pairs else [run])
    return pieces
