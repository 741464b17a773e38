"""Long events read to the end: what a pack shows of them are the passages that the question asks for."""

from collections.abc import Mapping
from dataclasses import replace

from hmxgraph.recall.ranking.pool import EventPool
from hmxgraph.text.excerpts import Passages
from hmxgraph.text.lines import event_line
from hmxgraph.text.tokens import TokenCounter


def read_on(
    pool: EventPool, whole: Mapping[str, str], wanted: Mapping[str, float], count_tokens: TokenCounter
) -> EventPool:
    """*pool* with an excerpt in the place of each beginning whose *whole* text has more of what is *wanted*.

    An excerpt is no longer than the beginning was.
    """
    texts, tokens = list(pool.text), list(pool.tokens)
    for event_id, text in whole.items():
        at = pool.index[event_id]
        passages = Passages.of(text, wanted)
        if passages.anything_after(len(texts[at])):
            texts[at] = passages.excerpt(len(texts[at]))
            tokens[at] = count_tokens(event_line(texts[at], pool.label[at], pool.speaker[at]))
    return replace(pool, text=tuple(texts), tokens=tuple(tokens)) if whole else pool
