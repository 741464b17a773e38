"""What recall ranks an event by, kept as one text on its node: written with the event, gone when it is erased.

For each property that is asked of a node the server goes along the chain of all its properties. Of some hundred
candidates it reads a dozen properties each: that was half the time of the statement, and one text takes a sixth of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from hmxgraph.text.lines import event_line, label_of, speaker_name
from hmxgraph.text.tokens import DEFAULT_ENCODING, counter

# Characters of search terms: the beginning of a long result tells what it is about.
MOST_WORDS = 1_500
_EXPIRES = 11


def recall_row(properties: Mapping[str, Any]) -> str:
    """The row of a prepared event: a JSON array in the order of ``EventPool``, with its expiry in the last place."""
    of = properties
    return orjson.dumps(
        [
            of["event_id"],
            of["session_id"],
            speaker_name(of.get("speaker", "")),
            of.get("title", ""),
            of["search_text"][:MOST_WORDS],
            of["sequence"],
            of["time_us"],
            _tokens(of),
            of["salience"],
            of["text"].endswith("?"),
            label_of(of["event_type"], of.get("source", "")),
            of.get("expires_us"),
        ]
    ).decode()


def pool_rows(found: Iterable[Sequence[str | None]], as_of_us: int) -> list[list[Any]]:
    """Pairs of a row and the next event's id as rows of the pool: those that were there, and not expired, as of then.

    >>> row = '["e1","s1","Ann","","hello",1,5,4,0.5,false,"",null]'
    >>> pool_rows([[row, "e2"], [None, ""]], 5)
    [['e1', 's1', 'Ann', '', 'hello', 1, 5, 4, 0.5, False, '', 'e2']]
    >>> pool_rows([[row, "e2"]], 4)
    []

    """
    known = [(row, next_id) for row, next_id in found if row is not None]
    rows: list[list[Any]] = orjson.loads(f"[{','.join(row for row, _ in known)}]")
    kept = []
    for row, (_, next_id) in zip(rows, known, strict=True):
        expires_us = row[_EXPIRES]
        if row[6] <= as_of_us and (expires_us is None or expires_us > as_of_us):
            row[_EXPIRES] = next_id
            kept.append(row)
    return kept


def _tokens(of: Mapping[str, Any]) -> int:
    """The tokens of the event's line as packs count them."""
    if of["tokenizer"] == DEFAULT_ENCODING:
        tokens: int = of["token_count"]
        return tokens
    return counter()(event_line(of["text"], of["event_type"], of.get("source", ""), of.get("speaker", "")))
