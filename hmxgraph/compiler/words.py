"""Texts as the sets of search terms that the compiler compares; nothing secret and no numbers among them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from hmxgraph.compiler.vocabulary import POLITE_WORDS
from hmxgraph.text.masking import mask_secrets
from hmxgraph.text.terms import terms, words

LONGEST_TERM = 24
_MARK = re.compile(r"<[a-z_]+>|\[[a-z ]+\]")
LONGEST_TEXT = 4000


def text_terms(text: str, limit: int) -> str:
    """The distinct terms of *text* in order, blank-separated, at most *limit*.

    >>> text_terms("Cancel my order 4711, the order for ann@example.com", 64)
    'cancel order email'
    """
    return " ".join(_distinct(_terms(text[:LONGEST_TEXT]), limit))


def value_terms(value: Any, limit: int) -> str:
    """The distinct terms of the texts and flags inside a JSON value.

    >>> value_terms({"status": "delivered", "paid": True, "items": [{"name": "Desk Lamp"}]}, 64)
    'deliv paid=true desk lamp'
    """
    return " ".join(_distinct((term for text in _texts(value) for term in text), limit))


def telling_words(text: str) -> list[str]:
    """The words of *text* as written, lower case, that tell what it is about.

    Politeness, stop words and the marks of what was masked are left out.

    >>> telling_words("Hi! I'd like to return the two skateboards of order <number>, please.")
    ['return', 'two', 'skateboards', 'order']
    """
    return [word for word in words(_MARK.sub(" ", text)) if word not in POLITE_WORDS and _telling(word)]


def _distinct(found: Iterable[str], limit: int) -> list[str]:
    kept: dict[str, None] = {}
    for term in found:
        kept[term] = None
        if len(kept) == limit:
            break
    return list(kept)


@lru_cache(maxsize=4096)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(
        term for term in terms(mask_secrets(text)) if 1 < len(term) <= LONGEST_TERM and not any(map(str.isdigit, term))
    )


def _texts(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, ...]]:
    match value:
        case bool():
            yield (f"{name}={value}".lower(),)
        case str():
            yield _terms(value[:LONGEST_TEXT])
        case Mapping() if depth < 6:
            for key, part in value.items():
                yield from _texts(part, str(key)[:LONGEST_TERM], depth + 1)
        case list() if depth < 6:
            for part in value[:50]:
                yield from _texts(part, name, depth + 1)
        case _:
            return


@lru_cache(maxsize=50_000)
def _telling(word: str) -> bool:
    return bool(terms(word)) and len(word) > 1 and not any(map(str.isdigit, word))
