"""Search results cut to what the caller asked to see: compact hits, and as many of them as a token budget holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from hmxgraph.graph.rows.tasks.wanted import Shape
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.text.tokens import TokenCounter, counter


class Shapeable(Protocol):
    """A hit that can be written out, and written shorter."""

    def document(self) -> Mapping[str, Any]:
        """The hit as a JSON-able dict."""
        ...

    def compacted(self) -> Self:
        """The same hit, shorter; ids, trust and visibility stay."""
        ...


H = TypeVar("H", bound=Shapeable)


class Budgeted(NamedTuple):
    """What a budget cost and what it left out."""

    omitted: int = 0
    token_estimate: int | None = None


def shaped(hits: Sequence[H], shape: Shape) -> tuple[tuple[H, ...], Budgeted]:
    """*hits* in the *shape* asked for; those in rank order until the next one would break the budget."""
    if not shape.compact and shape.token_budget is None:
        return tuple(hits), Budgeted()
    short = tuple(hit.compacted() for hit in hits)
    if shape.token_budget is None:
        return short, Budgeted()
    kept = tuple(_within(short, shape.token_budget, counter()))
    return kept, Budgeted(len(short) - len(kept), sum(cost(hit, counter()) for hit in kept))


def cost(hit: Shapeable, count_tokens: TokenCounter) -> int:
    """The tokens of a hit as it is written out."""
    return count_tokens(canonical_text(hit.document()))


def _within(hits: Sequence[H], budget: int, count_tokens: TokenCounter) -> Iterator[H]:
    left = budget
    for hit in hits:
        left -= cost(hit, count_tokens)
        if left < 0:
            return
        yield hit
