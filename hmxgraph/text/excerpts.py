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
# At the beginning of an excerpt, it means that the text began earlier.
_EARLIER_GAP = "[…] "
# The boundary between two records of a list.
_RECORD_END = re.compile(r"\}\s*,\s*\{")
# Replaces omitted text with such a boundary, so that a later value does not seem to belong to the earlier record.
_NEXT_RECORD = "}, {[…] "
# Adjacent marks, as in an excerpt of an excerpt; they are merged.
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
# The first piece of a text is kept for orientation only if it has at least this many terms.
_FEW_TERMS = 3
# A piece can be relevant only if it has at least this many terms.
_LEAST_TERMS = 2
_SENTENCE_ENDS = (".", "!", "?", ";", "\n")
_FENCE = "```"
# A field without a value: "reason: null,".
_EMPTY = re.compile(r"\s*\w{1,40}(?::\s|=)(?:null|none|nil|\[\]|\{\}|\"\"|'')?[\s}\]),]*", re.IGNORECASE)
# The beginning of a closing phrase of an assistant: "Let me know if ...". Such a sentence repeats words of the
# question, but adds nothing to the answer.
_CLOSING = re.compile(
    r"\W*(?:by following (?:these|this|the above)|if you (?:still )?(?:have|need|encounter|run into|would like)\b"
    r"|(?:please )?(?:let me know|feel free)|would you like|is there anything|i hope th(?:is|at|ese))\b",
    re.IGNORECASE,
)
# A sentence with one of these words ("only", "cannot") says what is possible, allowed or required. Its worth is
# multiplied by ``_DECISIVE``.
_DECIDES = re.compile(
    r"\b(?:can ?not|\w+n['\u2019]t|unable|impossible|not (?:possible|allowed|available|eligible)|only|once|must|instead"
    r"|unfortunately|required?|has to|have to|needs? to)\b",
    re.IGNORECASE,
)
_DECISIVE = 1.5
# The old text that a call to edit a file passes before the new one.
_OLD_TEXT = re.compile(r"\bold_(str|string|text|source)=.*?, (?=new_\1=)", re.DOTALL)
# A piece with the line breaks or space after it. It extends to the end of a line, sentence or field. If that is more
# than ``_LONGEST`` characters away, it extends to the last space before that limit or, without a space, to the limit.
_PIECE = re.compile(
    rf"[^\n]{{1,{_LONGEST}}}?(?:\n+|{_SENTENCE_END}|{_FIELD_END}|\Z)|[^\n]{{1,{_LONGEST}}}(?:\s+|\Z)|\S{{1,{_LONGEST}}}|\n+"
)


@dataclass(frozen=True)
class Passages:
    """A text in pieces, with the worth of each: its relevance to the wanted terms.

    ``hidden`` are the indexes of pieces that no excerpt shows.
    """

    pieces: tuple[str, ...]
    worth: tuple[float, ...]
    hidden: frozenset[int] = frozenset()

    @classmethod
    def of(cls, text: str, weight_by_term: Mapping[str, float]) -> "Passages":
        """Split *text*; the worth of a piece is the total weight of its terms, times 1.5 if it matches ``_DECIDES``.

        The worth is 0 for headings, closing phrases, repeated pieces and pieces with a single term. Fields without a
        value are hidden, except in the first piece. In prose with fenced code, the code is hidden unless nothing else
        is relevant, because single lines of code say little.

        >>> Passages.of("Run the suite. Account 7 is unknown.", {"account": 2.0})
        Passages(pieces=('Run the suite. ', 'Account 7 is unknown.'), worth=(0.0, 2.0), hidden=frozenset())

        """
        pieces, piece_terms, factors, code, empty = _pieces(text)
        wanted = frozenset(weight_by_term)
        # Sets have no stable order, and a plain sum of floats depends on the order.
        worth = tuple(
            0.0 if wanted.isdisjoint(own_terms) else factor * fsum(weight_by_term[term] for term in wanted & own_terms)
            for own_terms, factor in zip(piece_terms, factors, strict=True)
        )
        prose_is_relevant = any(own_worth for index, own_worth in enumerate(worth) if index not in code)
        hidden = code | empty if prose_is_relevant else empty
        return cls(
            pieces, tuple(0.0 if index in hidden else own_worth for index, own_worth in enumerate(worth)), hidden
        )

    def preferring(self, fields: Container[str]) -> "Passages":
        """Return a copy in which the pieces that state one of *fields* are worth more than all other pieces.

        >>> record = Passages.of("id: 7, colour: red lamp, status: sent back", {"lamp": 1.0})
        >>> record.preferring({"status: sent back"}).worth
        (0.0, 1.0, 2.0)
        """
        gain = 1.0 + max(self.worth)
        preferred = (index not in self.hidden and _field(piece) in fields for index, piece in enumerate(self.pieces))
        worth = (own_worth + gain * is_preferred for own_worth, is_preferred in zip(self.worth, preferred, strict=True))
        return replace(self, worth=tuple(worth))

    def anything_after(self, beginning: int) -> bool:
        """Whether a piece that ends after the first *beginning* characters has any worth."""
        ends = accumulate(map(len, self.pieces))
        return any(worth and end > beginning for worth, end in zip(self.worth, ends, strict=True))

    def excerpt(self, limit: int, *, from_beginning: bool = True) -> str:
        r"""Return at most *limit* characters: the beginning, then the most relevant passages, then their neighbours.

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
        used = len(_EARLIER_GAP)
        for index in self._order if from_beginning else self._best_first:
            size = len(self.pieces[index]) + len(GAP) * (1 - len(chosen.keys() & {index - 1, index + 1}))
            size -= 0 if index else len(_EARLIER_GAP)
            if used + size <= limit:
                chosen[index] = None
                used += size
            elif not self.worth[index]:
                break
        # Marks between records may take more room than was reserved.
        while len(shown := self._shown(chosen)) > max(limit, 0):
            chosen.popitem()
        return shown

    def _shown(self, chosen: Iterable[int]) -> str:
        """Return the *chosen* pieces in text order, with marks between them."""
        indexes = set(chosen)
        # A heading is useless without the text after it.
        headings = {index for index in indexes if index and _is_heading(self.pieces[index])}
        indexes -= {index for index in headings if index + 1 not in indexes}
        return _GAPS.sub(_one_gap, "".join(self._joined(indexes))).rstrip()

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """The indexes of pieces in order of choice.

        The first piece comes first, then the relevant pieces (best first), then the others by distance to these.
        """
        best = sorted((index for index, worth in enumerate(self.worth) if worth), key=lambda index: -self.worth[index])
        indexes = [index for index in range(len(self.pieces)) if index not in self.hidden]
        ordered = dict.fromkeys([*indexes[:1], *best])
        # Spread from each of them in both directions, up to the next index that is already in order.
        frontier = [(index, side) for index in (*best, *indexes[:1]) for side in (1, -1)]
        while frontier and len(ordered) < len(indexes):
            reached, frontier = [(index + side, side) for index, side in frontier], []
            for index, side in reached:
                if 0 <= index < len(self.pieces) and index not in ordered:
                    frontier.append((index, side))
                    if index not in self.hidden:
                        ordered[index] = None
        return tuple(ordered)

    @property
    def _best_first(self) -> tuple[int, ...]:
        """The order with the best piece before the first, if the best is worth more and begins a sentence.

        The first piece then only gives orientation. If it has fewer than three terms ("Certainly!"), it is left out.
        """
        if len(self._order) < 2:
            return self._order
        first, best, *others = self._order
        is_better = self.worth[best] > self.worth[first]
        begins_sentence = self.pieces[best - 1].rstrip(" ").endswith(_SENTENCE_ENDS)
        if not (is_better and begins_sentence):
            return self._order
        return (best, *others) if len(terms(self.pieces[first])) < _FEW_TERMS else (best, first, *others)

    def _joined(self, chosen: set[int]) -> Iterator[str]:
        if chosen and 0 not in chosen:
            yield _EARLIER_GAP
        for index in sorted(chosen):
            piece = self.pieces[index]
            if index + 1 in chosen or index + 1 == len(self.pieces):
                yield piece
            elif self._ends_record(index, chosen):
                yield piece.rstrip() + GAP + _NEXT_RECORD
            else:
                yield piece.rstrip() + GAP + ("\n" if piece.endswith("\n") else " ")

    def _ends_record(self, index: int, chosen: set[int]) -> bool:
        """Whether the text omitted after the piece at *index* ends one record of a list and begins the next."""
        next_index = min((later for later in chosen if later > index), default=None)
        return next_index is not None and any(map(_RECORD_END.search, self.pieces[index + 1 : next_index]))


def fields_of(text: str) -> frozenset[str]:
    """Return the pieces of *text*, such as the fields of a record, without the comma at their end.

    Fields without a value are left out, unless the text begins with one.

    >>> sorted(fields_of("id: 7, status: sent back, reason: null"))
    ['id: 7', 'status: sent back']
    """
    split = _pieces(text)
    return frozenset(_field(piece) for index, piece in enumerate(split.pieces) if index not in split.empty)


def _field(piece: str) -> str:
    return piece.strip().rstrip(",")


def without_old_text(call: str) -> str:
    """Return the *call* to edit a file without the old text, which would take up the space for the new text.

    >>> without_old_text("Edit(path=a.py, old_string=x = 1, new_string=x = 2)")
    'Edit(path=a.py, old_string=[…], new_string=x = 2)'
    """
    return _OLD_TEXT.sub(rf"old_\1={_EARLIER_GAP.rstrip()}, ", call) if "old_" in call else call


def _one_gap(gaps: re.Match[str]) -> str:
    return str(gaps[1]) + ("\n" if "\n" in gaps[0] else " ")


def _piece_terms(piece: str) -> frozenset[str]:
    """Return the terms of a piece; none if it is a heading or a closing phrase, or has only one term."""
    if _is_heading(piece) or _CLOSING.match(piece):
        return frozenset()
    own_terms = frozenset(terms(piece))
    return own_terms if len(own_terms) >= _LEAST_TERMS else frozenset()


def _is_heading(piece: str) -> bool:
    return piece.rstrip().endswith(":") or piece.startswith("#")


class _Pieces(NamedTuple):
    """The pieces of a text, the terms of each, the factors on their worth, and the indexes of code and empty fields."""

    pieces: tuple[str, ...]
    terms: tuple[frozenset[str], ...]
    factors: tuple[float, ...]
    code: frozenset[int]
    empty: frozenset[int]


@lru_cache(maxsize=_CACHED_TEXTS)
def _pieces(text: str) -> _Pieces:
    """Split *text*.

    A piece that repeats an earlier one has no terms, because logs give the same warning many times. The result is
    cached, because packs of one tenant split the same texts again and again.
    """
    pieces = tuple(_PIECE.findall(text))
    first_by_piece: dict[str, int] = {}
    firsts = [first_by_piece.setdefault(piece.strip(), index) for index, piece in enumerate(pieces)]
    piece_terms = tuple(
        _piece_terms(piece) if first == index else frozenset[str]()
        for index, (first, piece) in enumerate(zip(firsts, pieces, strict=True))
    )
    factors = tuple(_DECISIVE if _DECIDES.search(piece) else 1.0 for piece in pieces)
    empty = frozenset(index for index, piece in enumerate(pieces) if index and _EMPTY.fullmatch(piece))
    return _Pieces(pieces, piece_terms, factors, frozenset(_code(pieces)), empty)


def _code(pieces: Sequence[str]) -> Iterator[int]:
    """Yield the indexes of code between fences (CommonMark 4.5), including the fences."""
    is_inside = False
    for index, piece in enumerate(pieces):
        is_fence = piece.lstrip().startswith(_FENCE)
        if is_inside or is_fence:
            yield index
        is_inside ^= is_fence
