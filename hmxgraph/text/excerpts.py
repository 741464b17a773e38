"""Excerpts of long texts: the beginning, for orientation, and the passages relevant to a question."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from math import fsum
from typing import NamedTuple

from hmxgraph.text.terms import terms

# Marks omitted text; at the end of an excerpt, it means that the text continues.
GAP = " […]"
# Marks that the text began earlier.
_BEGUN = "[…] "
# Where one record of a list ends and the next begins.
_RECORD_END = re.compile(r"\}\s*,\s*\{")
# Stands in the excerpt for omitted text with such a place, so that a later value does not seem to belong to the earlier
# record.
_NEXT_RECORD = "}, {[…] "
# Adjacent marks, as in an excerpt of an excerpt, are merged.
_GAPS = re.compile(r"( ?\[…\])(?:\s*\[…\])+ ?")
# A piece is a sentence, a line, a field of a record or an argument of a call. A piece with more characters than this is
# split at a space, or anywhere if there is none.
_LONGEST = 160
# A comma before the next field or argument: "name: " or "name=".
_FIELD_END = r",\s(?=\w{1,40}(?::\s|=))"
# Number of texts whose pieces are cached.
_CACHED_TEXTS = 2_048
# White space after a sentence. The number of a list item ("1.") does not end a sentence.
_SENTENCE_END = r"(?<=[.!?;])(?<!\b\d\.)(?<!\b\d\d\.)\s+"
# A first piece is kept for orientation only if it has at least this many terms.
_FEW_TERMS = 3
# A piece can be relevant only if it has at least this many terms.
_LEAST_TERMS = 2
_SENTENCE_ENDS = (".", "!", "?", ";", "\n")
_FENCE = "```"
# A field without a value: "reason: null,".
_EMPTY = re.compile(r"\s*\w{1,40}(?::\s|=)(?:null|none|nil|\[\]|\{\}|\"\"|'')?[\s}\]),]*", re.IGNORECASE)
# How assistants end an answer ("Let me know if ..."): these sentences repeat the words of the question after everything
# has been said.
_CLOSING = re.compile(
    r"\W*(?:by following (?:these|this|the above)|if you (?:still )?(?:have|need|encounter|run into|would like)\b"
    r"|(?:please )?(?:let me know|feel free)|would you like|is there anything|i hope th(?:is|at|ese))\b",
    re.IGNORECASE,
)
# A sentence with such a word ("only", "cannot") says what is possible, allowed or required. Its worth is multiplied by
# ``_DECISIVE``.
_DECIDES = re.compile(
    r"\b(?:can ?not|\w+n['\u2019]t|unable|impossible|not (?:possible|allowed|available|eligible)|only|once|must|instead"
    r"|unfortunately|required?|has to|have to|needs? to)\b",
    re.IGNORECASE,
)
_DECISIVE = 1.5
# The old text that a call to edit a file passes before the new one.
_OLD_TEXT = re.compile(r"\bold_(str|string|text|source)=.*?, (?=new_\1=)", re.DOTALL)
# A piece with the line breaks or space after it. It extends to the end of a line, sentence or field; if that is more
# than ``_LONGEST`` characters away, to the last space before; without a space, to exactly that many characters.
_PIECE = re.compile(
    rf"[^\n]{{1,{_LONGEST}}}?(?:\n+|{_SENTENCE_END}|{_FIELD_END}|\Z)|[^\n]{{1,{_LONGEST}}}(?:\s+|\Z)|\S{{1,{_LONGEST}}}|\n+"
)


@dataclass(frozen=True)
class Passages:
    """A text in pieces, with the worth of each: its relevance to the wanted terms.

    No excerpt shows the pieces whose places are in ``hidden``.
    """

    pieces: tuple[str, ...]
    worth: tuple[float, ...]
    hidden: frozenset[int] = frozenset()

    @classmethod
    def of(cls, text: str, weight_by_term: Mapping[str, float]) -> "Passages":
        """Split *text*; the worth of a piece is the total weight of its terms, times 1.5 if it matches ``_DECIDES``.

        The worth is 0 for headings, closing phrases, repeated pieces and pieces with a single term. Fields without a
        value are hidden, except in the first piece. In prose with fenced code, the code is hidden unless nothing else
        is relevant: a single line of code says little.

        >>> Passages.of("Run the suite. Account 7 is unknown.", {"account": 2.0})
        Passages(pieces=('Run the suite. ', 'Account 7 is unknown.'), worth=(0.0, 2.0), hidden=frozenset())

        """
        pieces, piece_terms, factors, code, empty = _pieces(text)
        wanted = frozenset(weight_by_term)
        # Sets have no stable order, and a plain sum of floats depends on the order.
        worth = tuple(
            0.0 if wanted.isdisjoint(own) else factor * fsum(weight_by_term[term] for term in wanted & own)
            for own, factor in zip(piece_terms, factors, strict=True)
        )
        hidden = code | empty if any(each for place, each in enumerate(worth) if place not in code) else empty
        return cls(pieces, tuple(0.0 if place in hidden else each for place, each in enumerate(worth)), hidden)

    def preferring(self, fields: Container[str]) -> "Passages":
        """Return a copy in which the pieces that state one of *fields* are worth more than all other pieces.

        >>> record = Passages.of("id: 7, colour: red lamp, status: sent back", {"lamp": 1.0})
        >>> record.preferring({"status: sent back"}).worth
        (0.0, 1.0, 2.0)
        """
        gain = 1.0 + max(self.worth)
        preferred = (place not in self.hidden and _field(piece) in fields for place, piece in enumerate(self.pieces))
        return replace(self, worth=tuple(each + gain * own for each, own in zip(self.worth, preferred, strict=True)))

    def anything_after(self, beginning: int) -> bool:
        """Whether a piece that ends after the first *beginning* characters has any worth."""
        ends = accumulate(map(len, self.pieces))
        return any(worth and end > beginning for worth, end in zip(self.worth, ends, strict=True))

    def excerpt(self, limit: int, *, from_beginning: bool = True) -> str:
        r"""At most *limit* characters: the beginning, then the most relevant passages, then their neighbours.

        If nothing is relevant, it is only the beginning; if *limit* is shorter than a piece, it may be empty. Without
        *from_beginning*, the best passage is chosen before the beginning if it is worth more and begins a sentence.

        >>> log = "run the suite\n" + 9 * "case passed\n" + "Error: unknown account\n" + 9 * "cleaned up\n"
        >>> print(Passages.of(log, {"account": 1.0}).excerpt(75))
        run the suite […]
        case passed
        Error: unknown account
        cleaned up […]

        """
        chosen: dict[int, None] = {}
        # Reserve room for a mark before the first passage; the beginning of the text needs none.
        used = len(_BEGUN)
        for place in self._order if from_beginning else self._best_first:
            size = len(self.pieces[place]) + len(GAP) * (1 - len(chosen.keys() & {place - 1, place + 1}))
            size -= 0 if place else len(_BEGUN)
            if used + size <= limit:
                chosen[place] = None
                used += size
            elif not self.worth[place]:
                break
        # Marks between records may take more room than was reserved.
        while len(shown := self._shown(chosen)) > max(limit, 0):
            chosen.popitem()
        return shown

    def _shown(self, chosen: Iterable[int]) -> str:
        """The *chosen* pieces in text order, with marks between them."""
        places = set(chosen)
        # A heading says nothing without what follows it.
        places -= {at for at in places if at and at + 1 not in places and _is_heading(self.pieces[at])}
        return _GAPS.sub(_one_gap, "".join(self._joined(places))).rstrip()

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """Places in order of choice: the first piece, relevant pieces (best first), the others by distance to these."""
        best = sorted((place for place, worth in enumerate(self.worth) if worth), key=lambda place: -self.worth[place])
        places = [place for place in range(len(self.pieces)) if place not in self.hidden]
        ordered = dict.fromkeys([*places[:1], *best])
        # Spread from each of them in both directions, up to the next place that is already ordered.
        frontier = [(place, side) for place in (*best, *places[:1]) for side in (1, -1)]
        while frontier and len(ordered) < len(places):
            reached, frontier = [(place + side, side) for place, side in frontier], []
            for place, side in reached:
                if 0 <= place < len(self.pieces) and place not in ordered:
                    frontier.append((place, side))
                    if place not in self.hidden:
                        ordered[place] = None
        return tuple(ordered)

    @property
    def _best_first(self) -> tuple[int, ...]:
        """The order with the best piece before the first, if the best is worth more and begins a sentence.

        The first piece then only gives orientation. With only a term or two ("Certainly!"), it is left out.
        """
        if len(self._order) < 2:
            return self._order
        first, best, *others = self._order
        better = self.worth[best] > self.worth[first]
        begins_sentence = self.pieces[best - 1].rstrip(" ").endswith(_SENTENCE_ENDS)
        if not (better and begins_sentence):
            return self._order
        return (best, *others) if len(terms(self.pieces[first])) < _FEW_TERMS else (best, first, *others)

    def _joined(self, chosen: set[int]) -> Iterator[str]:
        if chosen and 0 not in chosen:
            yield _BEGUN
        for place in sorted(chosen):
            piece = self.pieces[place]
            if place + 1 in chosen or place + 1 == len(self.pieces):
                yield piece
            elif self._ends_record(place, chosen):
                yield piece.rstrip() + GAP + _NEXT_RECORD
            else:
                yield piece.rstrip() + GAP + ("\n" if piece.endswith("\n") else " ")

    def _ends_record(self, place: int, chosen: set[int]) -> bool:
        """Whether the text omitted after *place* ends one record of a list and begins the next."""
        shown = min((later for later in chosen if later > place), default=None)
        return shown is not None and any(_RECORD_END.search(piece) for piece in self.pieces[place + 1 : shown])


def fields_of(text: str) -> frozenset[str]:
    """The pieces of *text*, such as the fields of a record, without the comma at their end.

    Fields without a value are left out, unless the text begins with one.

    >>> sorted(fields_of("id: 7, status: sent back, reason: null"))
    ['id: 7', 'status: sent back']
    """
    split = _pieces(text)
    return frozenset(_field(piece) for place, piece in enumerate(split.pieces) if place not in split.empty)


def _field(piece: str) -> str:
    return piece.strip().rstrip(",")


def without_old_text(call: str) -> str:
    """The *call* to edit a file without the old text, which would take the space of the new one.

    >>> without_old_text("Edit(path=a.py, old_string=x = 1, new_string=x = 2)")
    'Edit(path=a.py, old_string=[…], new_string=x = 2)'
    """
    return _OLD_TEXT.sub(rf"old_\1={_BEGUN.rstrip()}, ", call) if "old_" in call else call


def _one_gap(gaps: re.Match[str]) -> str:
    return str(gaps[1]) + ("\n" if "\n" in gaps[0] else " ")


def _piece_terms(piece: str) -> frozenset[str]:
    """The terms of a piece; none for a heading, a closing phrase or a single term."""
    if _is_heading(piece) or _CLOSING.match(piece):
        return frozenset()
    own = frozenset(terms(piece))
    return own if len(own) >= _LEAST_TERMS else frozenset()


def _is_heading(piece: str) -> bool:
    return piece.rstrip().endswith(":") or piece.startswith("#")


class _Pieces(NamedTuple):
    """The pieces of a text, the terms of each, the factor on its worth, and the places of code and of empty fields."""

    pieces: tuple[str, ...]
    terms: tuple[frozenset[str], ...]
    factors: tuple[float, ...]
    code: frozenset[int]
    empty: frozenset[int]


@lru_cache(maxsize=_CACHED_TEXTS)
def _pieces(text: str) -> _Pieces:
    """Split *text*.

    A piece that repeats an earlier one has no terms: logs give the same warning many times. Cached, because packs of
    one tenant split the same texts again and again.
    """
    pieces = tuple(_PIECE.findall(text))
    firsts: dict[str, int] = {}
    places = [firsts.setdefault(piece.strip(), place) for place, piece in enumerate(pieces)]
    piece_terms = tuple(
        _piece_terms(piece) if first == place else frozenset[str]()
        for place, (first, piece) in enumerate(zip(places, pieces, strict=True))
    )
    factors = tuple(_DECISIVE if _DECIDES.search(piece) else 1.0 for piece in pieces)
    empty = frozenset(place for place, piece in enumerate(pieces) if place and _EMPTY.fullmatch(piece))
    return _Pieces(pieces, piece_terms, factors, frozenset(_code(pieces)), empty)


def _code(pieces: Sequence[str]) -> Iterator[int]:
    """Yield the places of code between fences (CommonMark 4.5), including the fences."""
    inside = False
    for place, piece in enumerate(pieces):
        fence = piece.lstrip().startswith(_FENCE)
        if inside or fence:
            yield place
        inside ^= fence
