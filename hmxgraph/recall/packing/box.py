"""Into the budget: a guarantee for each section, the sections' shares, then what is left over (HMX-C 4, DESIGN 6)."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from types import MappingProxyType

from hmxgraph.protocol.packs import MAX_ENTRIES, SECTION_PRIORITY
from hmxgraph.recall.asking.request import CUT
from hmxgraph.recall.candidates import Ranked
from hmxgraph.recall.rendering.layout import Costs, groups
from hmxgraph.text.excerpts import Passages

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


Filling = Callable[[Box, Mapping[str, Sequence[Ranked]]], Iterable[Ranked]]


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


_STRATEGIES: dict[str, Filling] = {"breadth_first": _breadth, "depth_first": _depth}


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
