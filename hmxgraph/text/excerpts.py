"""The passages of a long text that a question asks for: its beginning tells what it is, the rest is read on demand."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import fsum

from hmxgraph.text.terms import terms

# Stands where something was left out; a text that ends with it goes on.
GAP = " […]"
# A sentence or a line; what is longer is parted at a blank, or anywhere where there is none.
_LONGEST = 160
_PIECE = re.compile(
    rf"[^\n]{{1,{_LONGEST}}}?(?:\n+|(?<=[.!?;])\s+|\Z)|[^\n]{{1,{_LONGEST}}}(?:\s+|\Z)|\S{{1,{_LONGEST}}}|\n+"
)


@dataclass(frozen=True)
class Passages:
    """A text in pieces, each with what it is worth to somebody who looks for certain terms."""

    pieces: tuple[str, ...]
    worth: tuple[float, ...]

    @classmethod
    def of(cls, text: str, wanted: Mapping[str, float]) -> "Passages":
        """The pieces of *text*, worth what those *wanted* terms weigh that stand in them.

        >>> Passages.of("Run the suite. Account 7 is unknown.", {"account": 2.0})
        Passages(pieces=('Run the suite. ', 'Account 7 is unknown.'), worth=(0.0, 2.0))

        """
        pieces = tuple(_PIECE.findall(text))
        # A set has no order of its own, and a plain sum of floats depends on one.
        return cls(pieces, tuple(fsum(wanted.get(term, 0.0) for term in set(terms(piece))) for piece in pieces))

    def anything_after(self, beginning: int) -> bool:
        """Whether a piece that does not end within so many characters of the *beginning* is worth something."""
        ends = accumulate(map(len, self.pieces))
        return any(worth and end > beginning for worth, end in zip(self.worth, ends, strict=True))

    def excerpt(self, limit: int) -> str:
        r"""At most *limit* characters: the beginning, then the passages worth most, then what stands around these.

        Where nothing is worth anything, that is the beginning alone; empty where not even one piece fits.

        >>> log = "run the suite\n" + 9 * "case passed\n" + "Error: unknown account\n" + 9 * "cleaned up\n"
        >>> print(Passages.of(log, {"account": 1.0}).excerpt(75))
        run the suite […]
        case passed
        Error: unknown account
        cleaned up […]

        """
        chosen = set[int]()
        taken = 0
        for place in self._order:
            takes = len(self.pieces[place]) + len(GAP) * (1 - len(chosen & {place - 1, place + 1}))
            if taken + takes <= limit:
                chosen.add(place)
                taken += takes
            elif not self.worth[place]:
                break
        return "".join(self._told(chosen)).rstrip()

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """The first piece, those worth something, the best first, and the others by how near they are to these."""
        best = sorted((place for place, worth in enumerate(self.worth) if worth), key=lambda place: -self.worth[place])
        known = dict.fromkeys([0, *best] if self.pieces else [])
        for step in range(1, len(self.pieces)):
            if len(known) == len(self.pieces):
                break
            around = (place + side for place in (*best, 0) for side in (step, -step))
            known |= dict.fromkeys(place for place in around if 0 <= place < len(self.pieces) and place not in known)
        return tuple(known)

    def _told(self, chosen: set[int]) -> Iterator[str]:
        for place in sorted(chosen):
            piece = self.pieces[place]
            whole = place + 1 in chosen or place + 1 == len(self.pieces)
            yield piece if whole else piece.rstrip() + GAP + ("\n" if piece.endswith("\n") else " ")
