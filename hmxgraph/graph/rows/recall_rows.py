"""What recall ranks an event by, kept as one text on its node: written with the event, gone when it is erased.

For each property that is asked of a node the server goes along the chain of all its properties. Of some hundred
candidates it reads a dozen properties each: that was half the time of the statement, and one text takes a sixth of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from hmxgraph.text.lines import event_line, speaker_name
from hmxgraph.text.tokens import DEFAULT_ENCODING, counter

# Characters of search terms: the beginning of a long result tells what it is about. Of what comes after it counts only
# that it is there.
MOST_WORDS = 1_500
MOST_FURTHER = 6_000
_TIME = 6


def recall_row(properties: Mapping[str, Any]) -> str:
    """The row of a prepared event: a JSON array in the order of ``EventPool``, with its expiry in the last place."""
    of = properties
    return orjson.dumps(
        [
            of["event_id"],
            of["session_id"],
            speaker_name(of.get("speaker", "")),
            of.get("title", ""),
            ranked_words(of["search_text"]),
            of["sequence"],
            of["time_us"],
            _tokens(of),
            of["salience"],
            of["text"].endswith("?"),
            of.get("label", ""),
            of.get("expires_us"),
        ]
    ).decode()


def ranked_words(search_text: str) -> str:
    """The search terms that an event is ranked by: those it begins with, then every further one once, the last first.

    >>> ranked_words("error on line 7")
    'error on line 7'
    >>> ranked_words("pass " * 300 + "line pass unknown account")[-30:]
    'pass pass account unknown line'

    """
    if len(search_text) <= MOST_WORDS:
        return search_text
    beginning, _, rest = search_text[:MOST_WORDS].rpartition(" ")
    known = frozenset(beginning.split())
    told = reversed(f"{rest}{search_text[MOST_WORDS:]}".split())
    further = " ".join(dict.fromkeys(term for term in told if term not in known))
    kept = further if len(further) <= MOST_FURTHER else further[:MOST_FURTHER].rpartition(" ")[0]
    return f"{beginning} {kept}".rstrip()


def pool_rows(as_of_us: int, events: Sequence[str], *beside: Sequence[str]) -> list[list[Any]]:
    """Rows of the pool: of those *events* that were there, and not expired, as of then, with what stands *beside*.

    >>> row = '["e1","s1","Ann","","hello",1,5,4,0.5,false,"",null]'
    >>> pool_rows(5, [row, ""], ["Hello!", ""])
    [['e1', 's1', 'Ann', '', 'hello', 1, 5, 4, 0.5, False, '', 'Hello!']]
    >>> pool_rows(4, [row], ["Hello!"])
    []

    """
    rows: list[list[Any] | None] = orjson.loads(f"[{','.join(row or 'null' for row in events)}]")
    kept = []
    for row, *more in zip(rows, *beside, strict=True):
        if row is not None and row[_TIME] <= as_of_us and ((expires := row.pop()) is None or expires > as_of_us):
            kept.append(row + more)
    return kept


def _tokens(of: Mapping[str, Any]) -> int:
    """The tokens of the event's line as packs count them."""
    if of["tokenizer"] == DEFAULT_ENCODING:
        tokens: int = of["token_count"]
        return tokens
    return counter()(event_line(of["text"], of.get("label", ""), of.get("speaker", "")))
