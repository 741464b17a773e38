"""Pages and full-text queries: opaque cursors, and search terms as Lucene syntax."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterable
from math import isfinite
from typing import Any

from hmxgraph.errors import NotFound
from hmxgraph.protocol.canonical import MAX_INTEGER, canonical_bytes
from hmxgraph.protocol.parsing import checked_integer, parse_json
from hmxgraph.text.terms import SHORTEST_MISSPELT

_UNCHANGED = "pass the cursor of the previous page unchanged"

# Pages: their size, and the position where a page ended, as an opaque cursor that the next call passes back.


def check_limit(limit: int) -> None:
    """Refuse a page size below 1 or above the largest integer on the wire.

    Raises:
        InvalidRequest: *limit* is not a whole number, or outside 1..9007199254740991.

    """
    checked_integer("limit", limit, "a page size", 1, MAX_INTEGER)


def cursor(time_us: int, row_id: str) -> str:
    """The cursor of a page whose last row has this time and id."""
    return urlsafe_b64encode(canonical_bytes([str(time_us), row_id])).decode()


def place(text: str | None) -> tuple[int | None, str | None]:
    """The time and id in the cursor *text*; (None, None) for the first page.

    Raises:
        NotFound: *text* was not made by :func:`cursor`.

    >>> place(cursor(5, "a"))
    (5, 'a')

    """
    if text is None:
        return None, None
    try:
        return _place(parse_json(urlsafe_b64decode(text.encode())))
    except (binascii.Error, ValueError) as error:
        raise NotFound("cursor", text, hint=_UNCHANGED) from error


def number_cursor(number: float, row_id: str) -> str:
    """The cursor of a page sorted by a number whose last row has this number and id."""
    return urlsafe_b64encode(canonical_bytes(["number", repr(number), row_id])).decode()


def number_place(text: str | None) -> tuple[float | None, str | None]:
    """The number and id in the cursor *text*; (None, None) for the first page.

    Raises:
        NotFound: *text* was not made by :func:`number_cursor`.

    >>> number_place(number_cursor(-0.5, "a"))
    (-0.5, 'a')

    """
    if text is None:
        return None, None
    try:
        match parse_json(urlsafe_b64decode(text.encode())):
            case ["number", str(number), str(row_id)] if isfinite(float(number)):
                return float(number), row_id
    except (binascii.Error, ValueError) as error:
        raise NotFound("cursor", text, hint=_UNCHANGED) from error
    raise NotFound("cursor", text, hint=_UNCHANGED)


# Characters of the longest 64-bit integer, -2^63: the database holds no others.
_LONGEST_TIME = 20


def _place(value: Any) -> tuple[int, str]:
    match value:
        case [str(time_us), str(row_id)] if len(time_us) <= _LONGEST_TIME and -(2**63) <= int(time_us) < 2**63:
            return int(time_us), row_id
        case _:
            raise ValueError(f"{value!r} is not a time and an id")


# Search terms as a Lucene query: user text never becomes syntax.

# Maximum number of distinct terms in a query.
MOST_TERMS = 64
# Weight of a name relative to other words: in a conversation, the participants' names are everywhere.
NAME_WEIGHT = 0.5
# Weight of a similarly spelt term. Such terms are added only to queries of at most this many terms.
_FUZZY_WEIGHT = 0.1
_MOST_TERMS_IF_FUZZY = 12


def term_query(scope: str, terms: Iterable[str], names: Collection[str] = ()) -> str:
    r"""The query for nodes of one tenant's *scope* that have any of *terms*; without terms it finds nothing.

    Each term is quoted, and the two characters with a meaning inside quotes are escaped, so that the text of a question
    can neither widen nor break the search. At most 64 terms are used. Those in *names* have half the weight.

    >>> term_query("t1t", ["deploy", 'a"b'])
    '+scope:"t1t" +(search_text:"deploy" search_text:"a\\"b")'
    >>> term_query("t1t", ["ann", "deploy"], {"ann"})
    '+scope:"t1t" +(search_text:"ann"^0.5 search_text:"deploy")'
    >>> term_query("t1t", [])
    '+scope:"t1t" -scope:"t1t"'

    """
    distinct_terms = _distinct(terms)
    if not distinct_terms:
        return f"+scope:{_quoted(scope)} -scope:{_quoted(scope)}"
    weighted_terms = (
        f"search_text:{_quoted(term)}{f'^{NAME_WEIGHT}' if term in names else ''}" for term in distinct_terms
    )
    return f"+scope:{_quoted(scope)} +({' '.join(weighted_terms)})"


def each_term(scope: str, terms: Iterable[str]) -> list[str]:
    r"""A query for each of *terms*, at most 64, which finds the nodes of one tenant's *scope* that have the term.

    >>> each_term("t1t", ["deploy", 'a"b'])
    ['+scope:"t1t" +search_text:"deploy"', '+scope:"t1t" +search_text:"a\\"b"']

    """
    distinct_terms = _distinct(terms)
    return [f"+scope:{_quoted(scope)} +search_text:{_quoted(term)}" for term in distinct_terms]


def knowledge_query(scope: str, terms: Iterable[str]) -> str:
    """The query for nodes of one tenant's *scope* with any of *terms* or, at a lower weight, a term spelt similarly.

    Similar spellings (one letter more, less or different, or two swapped) are searched only in queries of at most 12
    terms, for terms that consist of four or more ASCII letters: letters have no meaning in Lucene's syntax, so these
    terms need no quotes.

    >>> knowledge_query("t1t", ["eror", "42"])
    '+scope:"t1t" +(search_text:"eror" search_text:"42" search_text:eror~1^0.1)'

    """
    distinct_terms = _distinct(terms)
    words = [term for term in distinct_terms if term.isascii() and term.isalpha() and len(term) >= SHORTEST_MISSPELT]
    exact = term_query(scope, distinct_terms)
    if not words or len(distinct_terms) > _MOST_TERMS_IF_FUZZY:
        return exact
    return f"{exact[:-1]} {' '.join(f'search_text:{term}~1^{_FUZZY_WEIGHT}' for term in words)})"


def record_query(
    scope: str,
    terms: Iterable[str],
    required: Iterable[str] = (),
    any_of: Iterable[str] = (),
    preferred: Iterable[str] = (),
    without: Iterable[str] = (),
) -> str:
    """The query for task records of one tenant's *scope* with all *required* words, any of *any_of*, none of *without*.

    These words filter without ranking (weight 0). A record must also have any of *terms*, which rank; *preferred* words
    raise the records that have them. If *terms* or *any_of* is empty, its condition does not apply.

    >>> record_query("t1t", ["leak"], ["f2"], [], ["f3"], ["hidden"])
    '+scope:"t1t"^0 +scope:"f2"^0 +(search_text:"leak") scope:"f3" -scope:"hidden"'

    """
    distinct_terms = _distinct(terms)
    required_clauses = [f"+scope:{_quoted(word)}^0" for word in (scope, *required)]
    any_clauses = " ".join(f"scope:{_quoted(word)}" for word in any_of)
    ranking = " ".join(f"search_text:{_quoted(term)}" for term in distinct_terms)
    preferred_clauses = [f"scope:{_quoted(word)}" for word in preferred]
    excluded_clauses = [f"-scope:{_quoted(word)}" for word in without]
    groups = [*([f"+({any_clauses})^0"] if any_clauses else []), *([f"+({ranking})"] if distinct_terms else [])]
    return " ".join([*required_clauses, *groups, *preferred_clauses, *excluded_clauses])


def _distinct(terms: Iterable[str]) -> list[str]:
    """The first 64 distinct terms, without empty ones."""
    return list(dict.fromkeys(term for term in terms if term))[:MOST_TERMS]


def _quoted(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
