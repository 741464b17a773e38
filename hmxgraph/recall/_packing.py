"""What goes into the budget: duplicates and drops judged, section shares, then the rest (HMX-C 4, 8, DESIGN 6)."""

import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, zip_longest
from math import ceil
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from hmxgraph.protocol.packs import MAX_ENTRIES, SECTION_PRIORITY
from hmxgraph.recall.candidates import THRESHOLD, Candidate, Dropped, Ranked
from hmxgraph.recall.draft import Contest
from hmxgraph.recall.knowledge import NO_PRIORS, REMEMBERED, Priors
from hmxgraph.recall.pack import Costs, groups
from hmxgraph.recall.question import CUT
from hmxgraph.text.comparison import jaccard, word_trigrams
from hmxgraph.text.excerpts import Passages

# Texts that say the same: equal once normalised, or sharing at least 0.92 of their word trigrams (DESIGN 6).

ALIKE = 0.92
# Of sets with fewer members only equal ones share that much: one more than 11 out of 12 is not enough.
FEW = 12
# Packs of one tenant read the same texts again and again: so many are kept, some kilobytes each.
_REMEMBERED = 4_096
# What may stand around a word and changes nothing of what is said; "-5", ".5", "!ready", "C#" and "<b" are other words.
_QUOTES = "\"'`*_\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e\u300c\u300d\u300e\u300f"
_SENTENCE = ".,;:!?\u2026\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
_BEFORE = _QUOTES + "([{\u00a1\u00bf\uff08"
_AFTER = _QUOTES + _SENTENCE + ")]}\uff09"
# A word of nothing else ends or marks up a sentence; ":(" and "[]" tell something.
_UNTOLD = _QUOTES + _SENTENCE + "#\u2022"
_WITHOUT_SPACES = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])")
_Trigrams: TypeAlias = frozenset[int]


class Shape(NamedTuple):
    """A text's trigrams, as numbers, and the few of them of which a text like it has to have one."""

    trigrams: _Trigrams
    telling: tuple[int, ...]


class Duplicates:
    """The texts seen so far; asks of each new one whether it repeats an earlier one.

    Two sets that share 92 % of their members share one of their first few in any fixed order (prefix filter, Bayardo,
    Ma and Srikant 2007), so that only a handful of candidates is ever compared.
    """

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._few: set[_Trigrams] = set()
        self._by_trigram: dict[int, list[_Trigrams]] = {}

    def repeats(self, text: str) -> bool:
        """Whether *text* says what an earlier one said; remembers it if not.

        >>> seen = Duplicates()
        >>> seen.repeats("Always verify the rollout."), seen.repeats("always verify the ROLLOUT")
        (False, True)
        >>> seen.repeats("Agents can deploy"), seen.repeats("Agents can't deploy")
        (False, False)

        """
        if text in self._texts:
            return True
        shape = _shape(text)
        if not shape.trigrams:
            return False
        self._texts.add(text)
        return self._repeats_most(shape) if shape.telling else self._repeats_all(shape.trigrams)

    def _repeats_all(self, shape: _Trigrams) -> bool:
        known = shape in self._few
        self._few.add(shape)
        return known

    def _repeats_most(self, shape: Shape) -> bool:
        own, telling = shape
        least, most = ALIKE * len(own), len(own) / ALIKE
        for start in telling:
            for other in self._by_trigram.get(start, ()):
                if least <= len(other) <= most and jaccard(own, other) >= ALIKE:
                    return True
        for start in telling:
            self._by_trigram.setdefault(start, []).append(own)
        return False


@lru_cache(maxsize=_REMEMBERED)
def _shape(text: str) -> Shape:
    own = frozenset(map(hash, word_trigrams(_said(text))))
    # Any order will do, as long as it is one: that of hashes is the quickest to make.
    telling = sorted(own)[: len(own) - ceil(ALIKE * len(own)) + 1] if len(own) >= FEW else ()
    return Shape(own, tuple(telling))


def _said(text: str) -> list[str]:
    """The words of *text* between blanks, in one case, without what only ends, quotes or marks up a sentence.

    Everything inside a word and every other mark is part of it: "can't" is not "can", "-5" not "5", "C#" not "C++".
    A text of nothing else is what it is. In scripts without blanks each character is a word.

    >>> _said('**Always** use "C#" (not C++), or "can\u2019t"!'), _said("!!!")
    (['always', 'use', 'c#', 'not', 'c++', 'or', "can't"], ['!!!'])

    """
    written = (text.casefold() if text.isascii() else _folded(text)).split()
    return [bare for word in written if (bare := word if word.isalnum() else _bare(word))] or written


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFC", text.casefold()).replace("\u2019", "'")
    return _WITHOUT_SPACES.sub(r" \1 ", plain)


def _bare(word: str) -> str:
    """*word* without what surrounds it; "" where that is all, unless it tells something."""
    return (word.lstrip(_BEFORE).rstrip(_AFTER) or word) if word.strip(_UNTOLD) else ""


# Which candidates may go in, and the reason of each that may not (HMX-C 8).

# The sections of rules.
RULES = frozenset({"core", "constraints"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """The candidates that may go in, in order, and those that may not; ids of sides that contradict each other."""

    eligible: tuple[Ranked, ...]
    dropped: tuple[Dropped, ...]
    disputed: tuple[str, ...] = ()


class Repeats:
    """What stands already: events and texts; asks of each further candidate whether it repeats one."""

    def __init__(self) -> None:
        self._texts = Duplicates()
        self._places: set[tuple[str, str]] = set()

    def reason(self, candidate: Candidate) -> str:
        """``duplicate`` for an event or a text that stands already, else nothing; hints and conflicts never repeat."""
        place = (candidate.source_type, candidate.source_id)
        if candidate.section in {"workflow", "conflicts"}:
            return ""
        if place in self._places or self._texts.repeats(candidate.content):
            return "duplicate"
        self._places.add(place)
        return ""


def judged(ranking: Sequence[Ranked], contest: Contest, repeats: Repeats) -> Judgement:
    """Every one of *ranking* as eligible or dropped; texts that could be read are compared with each other.

    *repeats* knows of all that is eligible afterwards.
    """
    eligible, dropped = [], []
    for ranked in sorted(ranking, key=lambda ranked: not _stands_first(ranked.candidate)):
        reason = _reason(ranked.candidate, contest.losers) or repeats.reason(ranked.candidate)
        if reason:
            dropped.append(Dropped(ranked, reason))
        else:
            eligible.append(ranked)
    eligible.sort(key=_rank)
    disputed = contest.disputed.intersection(ranked.candidate.source_id for ranked in ranking)
    return Judgement(tuple(eligible), tuple(dropped), tuple(sorted(disputed)))


def _stands_first(candidate: Candidate) -> bool:
    """Whether it is not dropped for the words by which it was laid down, or told to be remembered."""
    return candidate.section in RULES or candidate.origin == REMEMBERED


def _rank(ranked: Ranked) -> int:
    return ranked.rank


def _reason(candidate: Candidate, losers: Collection[str]) -> str:
    if candidate.verdict:
        return candidate.verdict
    if not candidate.exempt and candidate.score < THRESHOLD:
        return "low_relevance"
    return "conflict" if candidate.source_id in losers else ""


# How a budget is divided among the sections (HMX-C 4, DESIGN 6).

# Sixteenths; other sections live on what these leave over.
SHARES: Mapping[str, int] = {
    "core": 2,
    "constraints": 1,
    "procedures": 4,
    "facts": 4,
    "episodes": 3,
    "graph_relations": 2,
}


def section_budgets(total: int, sections: Iterable[str], priors: Priors = NO_PRIORS) -> dict[str, int]:
    """The tokens that each of *sections* may use at first, in the order of their priority; at most *total* together.

    Shares are sixteenths of the total; where only some sections are wanted, they divide all of it among them.

    >>> section_budgets(4096, ["core", "facts", "procedures", "episodes", "graph_relations", "constraints"])
    {'core': 512, 'constraints': 256, 'procedures': 1024, 'facts': 1024, 'episodes': 768, 'graph_relations': 512}
    >>> section_budgets(512, ["episodes"])
    {'episodes': 512}

    """
    wanted = set(sections)
    shares = {name: SHARES.get(name, 0) * priors.weight(name) for name in SECTION_PRIORITY if name in wanted}
    if not any(shares.values()):
        shares = dict.fromkeys(shares, 1.0)
    whole = sum(shares.values())
    return {name: int(total * share / whole) for name, share in shares.items()}


# Into the budget: a guarantee for each section, the sections' shares, then what is left over (HMX-C 4, DESIGN 6).

# An entry is cut only where this much of it is left to read.
LEAST_CUT = 24
NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Packed:
    """An entry in the pack: the ranked candidate, the tokens it takes, and whether it has to be cut to them."""

    ranked: Ranked
    tokens: int
    cut: bool = False

    @property
    def section(self) -> str:
        """Where it stands."""
        return self.ranked.candidate.section

    @property
    def order(self) -> tuple[float, int, str]:
        """Its place in the section (HMX-C 3.3): of equal scores the shorter; what was cut is shorter now."""
        of = self.ranked.candidate
        return -of.score, self.tokens, of.source_id


@dataclass
class Box:
    """The budget while it is being filled: what has gone in, what it takes with headings and dates."""

    total: int
    budgets: Mapping[str, int]
    costs: Costs
    packed: dict[int, Packed] = field(default_factory=dict)
    used: int = 0
    in_section: dict[str, int] = field(default_factory=dict)
    opened: set[Hashable] = field(default_factory=set)
    _groups: dict[int, frozenset[Hashable]] = field(default_factory=dict)

    @property
    def free(self) -> int:
        """Tokens that are left."""
        return self.total - self.used

    def overhead(self, ranked: Ranked) -> int:
        """What an entry costs beside its own tokens."""
        return sum(map(self.costs.of, self._under(ranked) - self.opened))

    def fits(self, ranked: Ranked) -> bool:
        """Whether the whole entry still goes in."""
        takes, free = ranked.candidate.tokens, self.free
        return takes <= free and len(self.packed) < MAX_ENTRIES and takes + self.overhead(ranked) <= free

    def fits_section(self, ranked: Ranked) -> bool:
        """Whether it goes in within its section's own budget."""
        section = ranked.candidate.section
        return self.fits(ranked) and self.in_section.get(section, 0) + ranked.candidate.tokens <= self.budgets[section]

    def add(self, ranked: Ranked, tokens: int | None = None) -> None:
        """Put an entry in; with *tokens* given, cut to them."""
        takes = ranked.candidate.tokens if tokens is None else tokens
        self.used += takes + self.overhead(ranked)
        self.packed[ranked.rank] = Packed(ranked, takes, cut=tokens is not None)
        self.in_section[ranked.candidate.section] = self.in_section.get(ranked.candidate.section, 0) + takes
        self.opened |= self._under(ranked)

    def add_cut(self, ranked: Ranked, limit: int) -> bool:
        """Put an entry in, cut to at most *limit* tokens, where enough of it is left to read."""
        tokens = min(ranked.candidate.tokens, limit, self.free - self.overhead(ranked))
        if tokens < min(LEAST_CUT, ranked.candidate.tokens) or len(self.packed) >= MAX_ENTRIES:
            return False
        self.add(ranked, tokens if tokens < ranked.candidate.tokens else None)
        return True

    def _under(self, ranked: Ranked) -> frozenset[Hashable]:
        """Under which lines it stands; each entry is tried several times."""
        if ranked.rank not in self._groups:
            self._groups[ranked.rank] = frozenset(groups(ranked.candidate))
        return self._groups[ranked.rank]


_Filling = Callable[[Box, Mapping[str, Sequence[Ranked]]], Iterable[Ranked]]


def fill(box: Box, eligible: Sequence[Ranked], strategy: str) -> None:
    """Fill *box* with the best of *eligible*: guarantee, shares, redistribution, and one entry cut to what is left."""
    sections = _by_section(eligible)
    _guarantee(box, sections)
    for ranked in _STRATEGIES.get(strategy, _shares)(box, sections):
        if ranked.rank not in box.packed and box.fits(ranked):
            box.add(ranked)
    _last_cut(box, sections)


def _by_section(eligible: Sequence[Ranked]) -> dict[str, list[Ranked]]:
    return {
        section: found
        for section in SECTION_PRIORITY
        if (found := [ranked for ranked in eligible if ranked.candidate.section == section])
    }


def _guarantee(box: Box, sections: Mapping[str, Sequence[Ranked]]) -> None:
    """The best entry of each section; a long one is cut where the sections after it would get nothing."""
    waiting = [found[0] for found in sections.values()]
    for place, ranked in enumerate(waiting):
        later = sum(min(other.candidate.tokens, LEAST_CUT) + box.overhead(other) for other in waiting[place + 1 :])
        limit = max(box.free - box.overhead(ranked) - later, LEAST_CUT)
        box.add_cut(ranked, max(min(limit, ranked.candidate.tokens), min(LEAST_CUT, ranked.candidate.tokens)))


def _shares(box: Box, sections: Mapping[str, Sequence[Ranked]]) -> Iterator[Ranked]:
    """First what fits the sections' own budgets, then everything by (priority, rank)."""
    for found in sections.values():
        yield from (ranked for ranked in found if ranked.rank not in box.packed and box.fits_section(ranked))
    yield from chain.from_iterable(sections.values())


def _breadth(_box: Box, sections: Mapping[str, Sequence[Ranked]]) -> Iterator[Ranked]:
    """The sections in turn, one entry each."""
    for turn in zip_longest(*sections.values()):
        yield from (ranked for ranked in turn if ranked is not None)


def _depth(_box: Box, sections: Mapping[str, Sequence[Ranked]]) -> Iterator[Ranked]:
    """All of the section that holds the best entry, then the others."""
    deepest = min(sections, key=lambda section: sections[section][0].rank, default=None)
    if deepest is not None:
        yield from sections[deepest]
    yield from chain.from_iterable(sections.values())


def _last_cut(box: Box, sections: Mapping[str, Sequence[Ranked]]) -> None:
    """Use what is left for the best entry that did not fit whole."""
    waiting = (ranked for found in sections.values() for ranked in found if ranked.rank not in box.packed)
    best = min(waiting, key=lambda ranked: ranked.rank, default=None)
    if best is not None and box.free - box.overhead(best) >= 2 * LEAST_CUT:
        box.add_cut(best, box.free)


_STRATEGIES: dict[str, _Filling] = {"breadth_first": _breadth, "depth_first": _depth}


def cut_to(text: str, tokens: int, count_tokens: Callable[[str], int], wanted: Mapping[str, float] = NOTHING) -> str:
    """The passages of *text* with what is *wanted* that fit *tokens* together with the mark that it was cut.

    Its longest beginning, where nothing wanted comes after that.

    >>> cut_to("one two three four five six", 5, lambda text: len(text.split()))
    'one two three four [truncated]'
    >>> cut_to("One two. Three. Four five. Six seven.", 7, lambda text: len(text.split()), {"six": 1.0})
    'One two. […] Six seven. [truncated]'

    """
    beginning = _longest(lambda size: text[:size].rstrip(), len(text), lambda cut: count_tokens(cut + CUT) <= tokens)
    passages = Passages.of(text, wanted)
    if not passages.anything_after(len(beginning)):
        return beginning + CUT
    return (_longest(passages.excerpt, len(text), lambda cut: count_tokens(cut + CUT) <= tokens) or beginning) + CUT


def _longest(cut: Callable[[int], str], most: int, fits: Callable[[str], bool]) -> str:
    """The longest *cut* to so many characters that *fits*, found by halving."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(cut(middle)) else (low, middle - 1)
    return cut(low)
