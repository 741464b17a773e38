"""Filling the budget: duplicates and drops, section shares, redistribution (HMX-C 4, 8)."""

import re
import unicodedata
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, zip_longest
from math import ceil
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from hmxgraph.protocol.packs import MAX_ENTRIES, SECTION_PRIORITY
from hmxgraph.recall.appraised import Contest
from hmxgraph.recall.candidates import SAID_BY, SECTION, THRESHOLD, Candidate, Dropped, Ranked
from hmxgraph.recall.knowledge import NO_PRIORS, REMEMBERED, Priors
from hmxgraph.recall.pack import Costs, groups
from hmxgraph.recall.question import CUT
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.excerpts import Passages
from hmxgraph.text.terms import word_trigrams

# Duplicate texts: the Jaccard index of the word trigrams, after normalisation, is at least 0.92.

ALIKE = 0.92
# Sets of fewer trigrams reach this index only if they are equal: 11/12 is less than 0.92.
FEW_TRIGRAMS = 12
# Number of texts whose words and trigrams are cached, some kilobytes each. Packs of one tenant compare the same texts.
_CACHED_TEXTS = 4_096
# Punctuation around a word that does not change its meaning; "-5", ".5", "!ready", "C#" and "<b" are left unchanged.
_QUOTES = "\"'`*_\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e\u300c\u300d\u300e\u300f"
_SENTENCE = ".,;:!?\u2026\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
_BEFORE = _QUOTES + "([{\u00a1\u00bf\uff08"
_AFTER = _QUOTES + _SENTENCE + ")]}\uff09"
# Words of only these characters are dropped; ":(" and "[]" carry meaning and stay.
_MEANINGLESS = _QUOTES + _SENTENCE + "#\u2022"
# Characters of scripts without spaces between words.
_WITHOUT_SPACES = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])")
_Trigrams: TypeAlias = frozenset[int]


class Shape(NamedTuple):
    """The trigram hashes of a text, and a few of them (the prefix): any similar text contains at least one of these.

    The prefix is empty for sets smaller than ``FEW_TRIGRAMS``, which are compared for equality.
    """

    trigrams: _Trigrams
    prefix: tuple[int, ...]


class Duplicates:
    """The texts seen so far, to detect duplicates.

    If two sets share 92 % of their members, they also share one of their first few members, in any fixed order (prefix
    filter, Bayardo, Ma and Srikant 2007). Each text is therefore compared with only a handful of others.
    """

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._small_sets: set[_Trigrams] = set()
        self._by_trigram: dict[int, list[_Trigrams]] = {}

    def repeats(self, text: str) -> bool:
        """Whether *text* duplicates an earlier one; if not, remember it. Blank texts are never duplicates.

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
        return self._nearly_repeats(shape) if shape.prefix else self._exactly_repeats(shape.trigrams)

    def _exactly_repeats(self, trigrams: _Trigrams) -> bool:
        is_known = trigrams in self._small_sets
        self._small_sets.add(trigrams)
        return is_known

    def _nearly_repeats(self, shape: Shape) -> bool:
        trigrams, prefix = shape
        least, most = ALIKE * len(trigrams), len(trigrams) / ALIKE
        for trigram in prefix:
            for other in self._by_trigram.get(trigram, ()):
                if least <= len(other) <= most and jaccard(trigrams, other) >= ALIKE:
                    return True
        for trigram in prefix:
            self._by_trigram.setdefault(trigram, []).append(trigrams)
        return False


@lru_cache(maxsize=_CACHED_TEXTS)
def _shape(text: str) -> Shape:
    trigrams = frozenset(map(hash, word_trigrams(_normalised_words(text))))
    # Any fixed order works for the prefix filter; hash order is the fastest.
    size = len(trigrams) - ceil(ALIKE * len(trigrams)) + 1
    return Shape(trigrams, tuple(sorted(trigrams)[:size]) if len(trigrams) >= FEW_TRIGRAMS else ())


@lru_cache(maxsize=_CACHED_TEXTS)
def _normalised_words(text: str) -> tuple[str, ...]:
    """Return the blank-separated words of *text*, case-folded, without the punctuation and markup around them.

    All other characters are part of the word: "can't" is not "can", "-5" not "5", "C#" not "C++". A text that consists
    only of punctuation keeps it. Each Chinese, Japanese or Korean character is a word.

    >>> _normalised_words('**Always** use "C#" (not C++), or "can\u2019t"!'), _normalised_words("!!!")
    (('always', 'use', 'c#', 'not', 'c++', 'or', "can't"), ('!!!',))

    """
    raw_words = (text.casefold() if text.isascii() else _folded(text)).split()
    return tuple(bare for word in raw_words if (bare := word if word.isalnum() else _bare(word))) or tuple(raw_words)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFC", text.casefold()).replace("\u2019", "'")
    return _WITHOUT_SPACES.sub(r" \1 ", plain)


def _bare(word: str) -> str:
    """Return *word* without surrounding punctuation; "" if it consists of meaningless punctuation only."""
    return (word.lstrip(_BEFORE).rstrip(_AFTER) or word) if word.strip(_MEANINGLESS) else ""


# Which candidates may be included, and why each of the others is dropped (HMX-C 8).

# The sections that contain rules.
RULES = frozenset({"core", "constraints"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """The eligible candidates by rank, the dropped ones, and the ids of the candidates in undecided conflicts."""

    eligible: tuple[Ranked, ...]
    dropped: tuple[Dropped, ...]
    disputed: tuple[str, ...] = ()


class Repeats:
    """The candidates accepted so far (their sources, texts and statements), to detect duplicates."""

    def __init__(self) -> None:
        self._texts = Duplicates()
        self._sources: set[tuple[str, str]] = set()
        self._statements: set[tuple[str, ...]] = set()

    def reason(self, candidate: Candidate) -> str:
        """Return ``duplicate`` if *candidate* repeats an accepted candidate; otherwise accept it and return "".

        Candidates of the sections workflow and conflicts are neither compared nor remembered.
        """
        source = (candidate.source_type, candidate.source_id)
        if candidate.section in {"workflow", "conflicts"}:
            return ""
        if source in self._sources or self._restates(candidate) or self._texts.repeats(candidate.content):
            return "duplicate"
        self._sources.add(source)
        return ""

    def only_statements(self) -> "Repeats":
        """Return a copy that remembers only the statements of the accepted memories, not the sources and texts."""
        copy = Repeats()
        copy._statements = set(self._statements)
        return copy

    def _restates(self, candidate: Candidate) -> bool:
        """Whether a memory or an event has exactly the words of an earlier memory; remember the words of a memory."""
        if candidate.source_type not in {"memory", "policy", "episode"}:
            return False
        own_statement = statement(candidate)
        is_known = own_statement in self._statements
        if candidate.source_type != "episode":
            self._statements.add(own_statement)
        return is_known


def statement(candidate: Candidate) -> tuple[str, ...]:
    """Return the normalised words of the candidate without the name of the speaker."""
    text = candidate.content.removeprefix(f"{candidate.speaker}: ") if candidate.speaker else candidate.content
    if candidate.source_type in {"memory", "policy"}:
        text = SAID_BY.sub("", text, count=1)
    return _normalised_words(text)


def repeated_memories(box: "Box") -> list[Ranked]:
    """Return the memories and task records in *box* whose words an event in *box* contains one after the other.

    Rules, pinned memories and memories that someone asked to remember are not returned.
    """
    events = [
        " ".join(("", *statement(packed.ranked.candidate), ""))
        for packed in box.packed.values()
        if packed.section == SECTION
    ]
    memories = (packed.ranked for packed in box.packed.values() if packed.ranked.candidate.source_type == "memory")
    return [
        ranked
        for ranked in memories
        if not ranked.candidate.exempt
        and ranked.candidate.origin != REMEMBERED
        and any(" ".join(("", *statement(ranked.candidate), "")) in text for text in events)
    ]


def judged(ranking: Sequence[Ranked], contest: Contest, repeats: Repeats) -> Judgement:
    """Divide the candidates of *ranking* into eligible and dropped ones; the eligible ones are added to *repeats*."""
    eligible, dropped = [], []
    for ranked in sorted(ranking, key=lambda ranked: not _wins_over_events(ranked.candidate)):
        reason = _reason(ranked.candidate, contest.losers) or repeats.reason(ranked.candidate)
        if reason:
            dropped.append(Dropped(ranked, reason))
        else:
            eligible.append(ranked)
    eligible.sort(key=_rank)
    disputed = contest.disputed.intersection(ranked.candidate.source_id for ranked in ranking)
    return Judgement(tuple(eligible), tuple(dropped), tuple(sorted(disputed)))


def _wins_over_events(candidate: Candidate) -> bool:
    """Whether the candidate is a rule, memory or task record, which is kept instead of an event that repeats it."""
    return candidate.section in RULES or candidate.source_type == "memory"


def _rank(ranked: Ranked) -> int:
    return ranked.rank


def _reason(candidate: Candidate, losers: Collection[str]) -> str:
    if candidate.verdict:
        return candidate.verdict
    if not candidate.exempt and candidate.score < THRESHOLD:
        return "low_relevance"
    return "conflict" if candidate.source_id in losers else ""


# Section budgets (HMX-C 4).

# Shares of the budget, in sixteenths if all of these sections are present. Other sections get what these leave unused.
SHARES: Mapping[str, int] = {
    "core": 2,
    "constraints": 1,
    "procedures": 4,
    "facts": 4,
    "episodes": 3,
    "graph_relations": 2,
}


def section_budgets(total: int, sections: Iterable[str], priors: Priors = NO_PRIORS) -> dict[str, int]:
    """Return the initial token budget of each of *sections* in priority order; at most *total* together.

    The sections divide the total in proportion to their ``SHARES``, weighted by *priors*. Sections without a share get
    nothing; if no section has a share, all get the same.

    >>> section_budgets(4096, ["core", "facts", "procedures", "episodes", "graph_relations", "constraints"])
    {'core': 512, 'constraints': 256, 'procedures': 1024, 'facts': 1024, 'episodes': 768, 'graph_relations': 512}
    >>> section_budgets(512, ["episodes"])
    {'episodes': 512}

    """
    chosen = set(sections)
    shares = {name: SHARES.get(name, 0) * priors.weight(name) for name in SECTION_PRIORITY if name in chosen}
    if not any(shares.values()):
        shares = dict.fromkeys(shares, 1.0)
    whole = sum(shares.values())
    return {name: int(total * share / whole) for name, share in shares.items()}


# Filling: the best entry of each section, section shares, then redistribution (HMX-C 4).

# Minimum number of tokens to which an entry may be truncated.
LEAST_CUT = 24
NO_WEIGHTS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Packed:
    """An entry of the pack: the ranked candidate, its tokens, and whether it is truncated to them."""

    ranked: Ranked
    tokens: int
    cut: bool = False

    @property
    def section(self) -> str:
        """The section of the entry."""
        return self.ranked.candidate.section

    @property
    def order(self) -> tuple[float, int, str]:
        """The sort key within the section (HMX-C 3.3), with the tokens after truncation."""
        candidate = self.ranked.candidate
        return -candidate.score, self.tokens, candidate.source_id


@dataclass
class Box:
    """The budget while it is filled: entries by rank, and the tokens used, including headings and dates.

    - ``budgets``: the tokens allotted to each section, without headings.
    - ``in_section``: the tokens used by each section, without headings.
    - ``opened``: the keys of the headings, dates and the notice that are already counted
      (:func:`~hmxgraph.recall.pack.groups`).
    """

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
        """Tokens left in the budget."""
        return self.total - self.used

    def overhead(self, ranked: Ranked) -> int:
        """Return the tokens of the headings, date and notice that an entry would add."""
        return sum(map(self.costs.of, self._headings(ranked) - self.opened))

    def fits(self, ranked: Ranked) -> bool:
        """Whether the whole entry fits."""
        needed, free = ranked.candidate.tokens, self.free
        return needed <= free and len(self.packed) < MAX_ENTRIES and needed + self.overhead(ranked) <= free

    def fits_section(self, ranked: Ranked) -> bool:
        """Whether the whole entry fits, and its section's own budget holds it."""
        section = ranked.candidate.section
        return self.fits(ranked) and self.in_section.get(section, 0) + ranked.candidate.tokens <= self.budgets[section]

    def add(self, ranked: Ranked, tokens: int | None = None) -> None:
        """Add an entry, truncated to *tokens* if given."""
        needed = ranked.candidate.tokens if tokens is None else tokens
        self.used += needed + self.overhead(ranked)
        self.packed[ranked.rank] = Packed(ranked, needed, cut=tokens is not None)
        self.in_section[ranked.candidate.section] = self.in_section.get(ranked.candidate.section, 0) + needed
        self.opened |= self._headings(ranked)

    def add_cut(self, ranked: Ranked, limit: int) -> bool:
        """Add an entry, truncated if longer than *limit* or the rest of the budget; return whether it was added.

        It is not added if less than ``LEAST_CUT`` tokens of it would remain, or if the pack has ``MAX_ENTRIES``
        entries.
        """
        tokens = min(ranked.candidate.tokens, limit, self.free - self.overhead(ranked))
        if tokens < min(LEAST_CUT, ranked.candidate.tokens) or len(self.packed) >= MAX_ENTRIES:
            return False
        self.add(ranked, tokens if tokens < ranked.candidate.tokens else None)
        return True

    def remove(self, ranked: Ranked) -> None:
        """Remove an entry; its headings stay counted."""
        packed = self.packed.pop(ranked.rank)
        self.used -= packed.tokens
        self.in_section[packed.section] -= packed.tokens

    def _headings(self, ranked: Ranked) -> frozenset[Hashable]:
        """Return the keys of an entry's headings, cached because each entry is tried several times."""
        if ranked.rank not in self._groups:
            self._groups[ranked.rank] = frozenset(groups(ranked.candidate))
        return self._groups[ranked.rank]


# A strategy: it gets the entries of each section, best first, and yields them in the order in which they are tried.
_Filling = Callable[[Box, Mapping[str, Sequence[Ranked]]], Iterable[Ranked]]


def fill(box: Box, eligible: Sequence[Ranked], strategy: str, limited: Container[str] = ()) -> None:
    """Fill *box* with the best entry of each section, then with all that fit, tried in the order of *strategy*.

    Finally, one more entry is cut to the rest of the budget. The *limited* sections get no more than their shares,
    except for their best entry.
    """
    sections = _by_section(eligible)
    _guarantee(box, sections)
    for ranked in _STRATEGIES.get(strategy, _shares)(box, sections):
        fits = box.fits_section if ranked.candidate.section in limited else box.fits
        if ranked.rank not in box.packed and fits(ranked):
            box.add(ranked)
    _last_cut(box, {name: members for name, members in sections.items() if name not in limited})


def _by_section(eligible: Sequence[Ranked]) -> dict[str, list[Ranked]]:
    return {
        section: members
        for section in SECTION_PRIORITY
        if (members := [ranked for ranked in eligible if ranked.candidate.section == section])
    }


def _guarantee(box: Box, sections: Mapping[str, Sequence[Ranked]]) -> None:
    """Add the best entry of each section, truncated if needed to leave room for the beginning of each later one."""
    best_entries = [members[0] for members in sections.values()]
    for number, ranked in enumerate(best_entries, start=1):
        later = sum(min(other.candidate.tokens, LEAST_CUT) + box.overhead(other) for other in best_entries[number:])
        limit = max(box.free - box.overhead(ranked) - later, LEAST_CUT)
        box.add_cut(ranked, max(min(limit, ranked.candidate.tokens), min(LEAST_CUT, ranked.candidate.tokens)))


def _shares(box: Box, sections: Mapping[str, Sequence[Ranked]]) -> Iterator[Ranked]:
    """Yield the entries that fit the section budgets, then all entries, both by section priority and rank."""
    for members in sections.values():
        yield from (ranked for ranked in members if ranked.rank not in box.packed and box.fits_section(ranked))
    yield from chain.from_iterable(sections.values())


def _breadth(_box: Box, sections: Mapping[str, Sequence[Ranked]]) -> Iterator[Ranked]:
    """Yield the best entry of each section, then the second best of each, and so on."""
    for equally_ranked in zip_longest(*sections.values()):
        yield from (ranked for ranked in equally_ranked if ranked is not None)


def _depth(_box: Box, sections: Mapping[str, Sequence[Ranked]]) -> Iterator[Ranked]:
    """Yield all entries of the section with the best-ranked entry, then those of the other sections."""
    best_section = min(sections, key=lambda section: sections[section][0].rank, default=None)
    if best_section is not None:
        yield from sections[best_section]
    yield from chain.from_iterable(sections.values())


def _last_cut(box: Box, sections: Mapping[str, Sequence[Ranked]]) -> None:
    """Add the best entry that did not fit, cut to the rest of the budget, if that is at least twice ``LEAST_CUT``."""
    remaining = (ranked for members in sections.values() for ranked in members if ranked.rank not in box.packed)
    best = min(remaining, key=lambda ranked: ranked.rank, default=None)
    if best is not None and box.free - box.overhead(best) >= 2 * LEAST_CUT:
        box.add_cut(best, box.free)


_STRATEGIES: dict[str, _Filling] = {"breadth_first": _breadth, "depth_first": _depth}


def truncated_to(
    text: str, tokens: int, count_tokens: Callable[[str], int], weight_by_term: Mapping[str, float] = NO_WEIGHTS
) -> str:
    """Return an excerpt of *text* that fits *tokens* together with the truncation mark at its end.

    It consists of the beginning and the passages with terms of *weight_by_term*, or of the longest prefix that fits if
    the prefix contains all these passages.

    >>> truncated_to("one two three four five six", 5, lambda text: len(text.split()))
    'one two three four [truncated]'
    >>> truncated_to("One two. Three. Four five. Six seven.", 7, lambda text: len(text.split()), {"six": 1.0})
    'One two. […] Six seven. [truncated]'

    """
    beginning = _longest(lambda size: text[:size].rstrip(), len(text), lambda cut: count_tokens(cut + CUT) <= tokens)
    passages = Passages.of(text, weight_by_term)
    if not passages.anything_after(len(beginning)):
        return beginning + CUT
    return (_longest(passages.excerpt, len(text), lambda cut: count_tokens(cut + CUT) <= tokens) or beginning) + CUT


def _longest(cut: Callable[[int], str], most: int, fits: Callable[[str], bool]) -> str:
    """Return the longest result of *cut* that *fits*, by binary search on the size passed to *cut*."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(cut(middle)) else (low, middle - 1)
    return cut(low)
