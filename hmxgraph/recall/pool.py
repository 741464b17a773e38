"""The pool of events that may go into a pack: their words as columns, and BM25 over a field of neighbours."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hmxgraph.text.terms import terms as terms_of

# The two kinds of columns that events are ranked in.

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


# Words as numbers, so that the words of some hundred events are counted in columns.
#
# Packs rank the same events again and again, and most words stand in many of them: numbers are given once, and what was
# counted is kept. Which number a word has depends on what was asked before; nothing that is counted does.

# What a related word counts beside the very word that was asked for: allergy, allergic.
FAMILY = 0.3
_SHARED_BEGINNING = 5
_LONGEST_ENDING = 4
# Texts whose words are kept as numbers, a kilobyte or two each, and words from which on all is begun anew.
_REMEMBERED = 8_192
_MOST_WORDS = 200_000


class Lexicon(dict[str, int]):
    """The number of each word; one that is new gets the next. Threads may share it.

    >>> lexicon = Lexicon()
    >>> lexicon["deploy"] == lexicon["deploy"] != lexicon["stage"]
    True

    """

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[int, str] = {}
        self.counted = lru_cache(maxsize=_REMEMBERED)(self._counted)
        self._next = count()
        self._families: dict[str, dict[str, int]] = {}

    def __missing__(self, word: str) -> int:
        own = next(self._next)
        self.words[own] = word
        # The family first: a thread that finds the word finds it there too.
        first = self._families.setdefault(word[:_SHARED_BEGINNING], {}) if word.isalpha() else self
        number = self[word] = first.setdefault(word, own)
        return number

    def _counted(self, text: str) -> Integers:
        """The numbers of the blank-separated words of *text*, each once, and below them how often each occurs."""
        times = Counter(text.split())
        return np.array([[*map(self.__getitem__, times)], [*times.values()]], dtype=np.int64)

    def kin(self, word: str) -> list[tuple[str, int]]:
        """The other words met so far that are of the family of *word*, with their numbers.

        They share its beginning and differ in the ending only; numbers and identifiers that do are strangers.

        >>> lexicon = Lexicon()
        >>> numbers = [lexicon[word] for word in ("allergi", "allerg", "bread", "order12345", "order12346")]
        >>> lexicon.kin("allergi") == [("allerg", numbers[1])], lexicon.kin("order12345")
        (True, [])

        """
        if len(word) < _SHARED_BEGINNING or not word.isalpha():
            return []
        lengths = range(len(word) - _LONGEST_ENDING, len(word) + _LONGEST_ENDING + 1)
        family = self._families.get(word[:_SHARED_BEGINNING], {}).copy()
        return [(other, number) for other, number in family.items() if other != word and len(other) in lengths]


_current = Lexicon()


def lexicon() -> Lexicon:
    """The one in use; a new one where the old one has grown too large."""
    global _current  # noqa: PLW0603 - replaced whole, so that who works with the old one goes on with it
    if len(_current) > _MOST_WORDS:
        _current = Lexicon()
    return _current


# Which search terms stand in which events, and how often, as columns.


class Occurrences:
    """The search terms of some events, given as the blank-separated words of each.

    >>> Occurrences(["deploy stage deploy", "stage"]).counts(["deploy", "cluster"]).tolist()
    [[2.0, 0.0], [0.0, 0.0]]

    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._lexicon = lexicon()
        counted = [self._lexicon.counted(text) for text in texts]
        self._numbers, self._times = np.concatenate(counted, axis=1) if counted else np.zeros((2, 0), dtype=np.int64)
        self._events = np.repeat(np.arange(len(texts)), [own.shape[1] for own in counted])
        self._size = len(texts)

    @cached_property
    def vocabulary(self) -> Integers:
        """How many different terms each event has."""
        return np.bincount(self._events, minlength=self._size)

    def first_told(self, ranks: Integers) -> Floats:
        """The share of each event's terms that no event of a lower rank has; *ranks* are all different.

        >>> Occurrences(["deploy stage", "stage cluster", "stage"]).first_told(np.array([0, 1, 2])).tolist()
        [1.0, 0.5, 0.0]

        """
        own = ranks[self._events]
        first = np.full(self._end, self._size)
        np.minimum.at(first, self._numbers, own)
        news = np.bincount(self._events[own == first[self._numbers]], minlength=self._size)
        return news / np.maximum(self.vocabulary, 1)

    def met(self, words: Iterable[str]) -> Integers:
        """How many of *words* each event has."""
        wanted = self._marked([number for word in words if (number := self._lexicon.get(word)) is not None])
        return np.bincount(self._events[wanted[self._numbers] >= 0], minlength=self._size)

    def counts(self, words: Sequence[str]) -> Floats:
        """How often each of *words* occurs in each event (words by events)."""
        return self._occurrences([self._lexicon[word] for word in words])

    def related_counts(self, words: Sequence[str]) -> Floats:
        """The same, with words of the same family counted in part."""
        counts = self.counts(words)
        kin = [(row, number) for row, word in enumerate(words) for number in self._kin(word, words)]
        places = {number: place for place, number in enumerate(dict.fromkeys(number for _, number in kin))}
        found = self._occurrences(list(places))
        for row, number in kin:
            counts[row] += FAMILY * found[places[number]]
        return counts

    def _kin(self, word: str, asked: Sequence[str]) -> list[int]:
        """The numbers of the words here that are kin to *word* and not asked for themselves, as the alphabet has them.

        The order is that in which fractions are added up.
        """
        alike = self._lexicon.kin(word)
        here = [(other, number) for other, number in alike if number < self._end and self._here[number]]
        return [number for other, number in sorted(here) if other not in asked]

    def shared(self, events: Sequence[int], least: int) -> list[str]:
        """The terms that at least so many of *events* have, in the order of the alphabet."""
        chosen = np.zeros(self._size, dtype=bool)
        chosen[list(events)] = True
        numbers, times = np.unique(self._numbers[chosen[self._events]], return_counts=True)
        return sorted(self._lexicon.words[number] for number in numbers[times >= least].tolist())

    def _occurrences(self, numbers: Sequence[int]) -> Floats:
        places = self._marked(numbers)[self._numbers]
        found = places >= 0
        cells = places[found] * self._size + self._events[found]
        shape = len(numbers), self._size
        return np.bincount(cells, self._times[found], shape[0] * shape[1]).astype(np.float64, copy=False).reshape(shape)

    def _marked(self, numbers: Sequence[int]) -> Integers:
        """For each number of a term its place among *numbers*, -1 where it has none."""
        places = np.full(self._end, -1)
        for place, number in enumerate(numbers):
            if number < self._end:
                places[number] = place
        return places

    @cached_property
    def _here(self) -> NDArray[np.bool_]:
        """For each number whether an event has that term."""
        found = np.zeros(self._end, dtype=bool)
        found[self._numbers] = True
        return found

    @cached_property
    def _end(self) -> int:
        """The numbers of all terms are below it."""
        return int(self._numbers.max(initial=-1)) + 1


# The events that may go into a pack, as columns.

# How far words reach to the turns around them.
REACH = 4
_APART = REACH + 1


@dataclass(frozen=True)
class EventPool:
    """Candidate events in a canonical order: by session, then as the session tells them.

    The fields are those of a row of ``graph.rows.recall_rows.pool_rows``, in this order. ``tokens`` are those of the
    line that a pack writes for it, ``label`` says whose words they are where they came from outside. The last field is
    the pool's: the ids of those events that have the ``REACH`` events before and after them here too.
    """

    event_id: tuple[str, ...] = ()
    session_id: tuple[str, ...] = ()
    speaker: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    sequence: tuple[int, ...] = ()
    time_us: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()
    salience: tuple[float, ...] = ()
    asks: tuple[bool, ...] = ()
    label: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    centres: frozenset[str] = field(default=frozenset(), kw_only=True)

    def __len__(self) -> int:
        return len(self.event_id)

    @classmethod
    def of(cls, *parts: Iterable[Sequence[Any]], centres: frozenset[str] = frozenset()) -> "EventPool":
        """The pool of all events in *parts*, each row with the fields in their order; one given twice counts once."""
        rows = {row[0]: row for part in parts for row in part}
        ordered = sorted(rows.values(), key=_place)
        return cls(*zip(*ordered, strict=True), centres=centres) if ordered else cls()

    @cached_property
    def index(self) -> dict[str, int]:
        """Where each event stands."""
        return {event_id: at for at, event_id in enumerate(self.event_id)}

    @cached_property
    def occurrences(self) -> Occurrences:
        """The search terms of the events."""
        return Occurrences(self.words)

    @cached_property
    def times(self) -> Integers:
        """UTC microseconds."""
        return np.array(self.time_us, dtype=np.int64)

    @cached_property
    def ages(self) -> Integers:
        """The rank of each event by time, 0 for the first; of one time in the pool's order."""
        ranks = np.empty(len(self), dtype=np.int64)
        ranks[np.argsort(self.times, kind="stable")] = np.arange(len(self))
        return ranks

    @cached_property
    def talk(self) -> Floats:
        """1 for each event without a title, 0 for documents."""
        return np.array([not title for title in self.title], dtype=np.float64)

    @cached_property
    def lengths(self) -> Floats:
        """Tokens of each text."""
        return np.array(self.tokens, dtype=np.float64)

    @cached_property
    def questions(self) -> NDArray[np.bool_]:
        """Which events end in a question mark."""
        return np.array(self.asks, dtype=bool)

    @cached_property
    def sessions(self) -> Integers:
        """A number for each event's session."""
        numbers = {session: number for number, session in enumerate(dict.fromkeys(self.session_id))}
        return np.array([numbers[session] for session in self.session_id], dtype=np.int64)

    @cached_property
    def places(self) -> Integers:
        """Where each event stands among its session's; neighbours in it differ by one, strangers by more.

        Where no centre is near, neighbours are those whose sequence numbers follow upon each other.
        """
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        together = np.diff(self.sessions) == 0
        gaps = np.diff(np.array(self.sequence, dtype=np.int64))
        apart = np.where(gaps == 1, 1, np.clip(gaps, 2, _APART))
        steps = np.where(together, np.where(self._linked, 1, apart), _APART)
        return np.concatenate(([0], np.cumsum(steps)))

    @cached_property
    def _linked(self) -> NDArray[np.bool_]:
        """For each event but the last, whether a centre tells that nothing comes between it and the next one.

        Sequence numbers may leave out any number, so that they alone do not tell it.
        """
        centres = np.fromiter(map(self.centres.__contains__, self.event_id), dtype=bool, count=len(self))
        linked = np.zeros(len(self) - 1, dtype=bool)
        for shift in range(1, min(REACH + 1, len(self))):
            together = self.sessions[shift:] == self.sessions[:-shift]
            linked[shift - 1 :] |= together & centres[:-shift]
            linked[: len(linked) - shift + 1] |= together & centres[shift:]
        return linked


def _place(row: Sequence[Any]) -> tuple[str, int, int, str]:
    """Session, then the total order of its events: sequence, time, id (HMX-E 7)."""
    return row[1], row[5], row[6], row[0]


# How well the words of a question meet an event and the turns around it: BM25 over a field of neighbours.
#
# A turn rarely repeats what the turn before it asked about; so the words of up to four turns before and after count for
# it too, weaker with each step. Formula: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework".

_K1 = 1.5
B = 0.75
# What words weigh one turn later and one turn earlier: an answer follows its question more often than the reverse.
LATER = 0.65
_EARLIER = 0.6
# Words by which questions are put say less about the answer than words of the matter.
_ASKING = 0.5
_ASKING_WORDS = frozenset(
    terms_of(
        "kind type sort many much long often way thing something mention describe say tell name "
        "according different various"
        " specific first recent recently"
    )
)
# A matching question turn passes that much more on to the turn that answers it.
_ANSWERED = 0.4


@dataclass(frozen=True, slots=True)
class WordMatch:
    """Occurrences of the question's terms in each event (terms by events), and what each term is worth."""

    terms: tuple[str, ...]
    counts: Floats
    weights: Floats

    @property
    def worth(self) -> dict[str, float]:
        """What each term is worth."""
        return dict(zip(self.terms, self.weights.tolist(), strict=True))

    @property
    def share(self) -> Floats:
        """The part of the question's information that each event has itself, in [0, 1]."""
        total = self.weights.sum()
        return weighted(self.weights, self.counts > 0) / total if total else np.zeros(self.counts.shape[1])


def match_words(terms: Sequence[str], pool: EventPool, event_count: int) -> WordMatch:
    """Where the *terms* occur in the *pool*, weighted by how rare they are among the tenant's events."""
    counts = pool.occurrences.related_counts(terms)
    rare = rarity((counts >= 1).sum(axis=1), max(event_count, len(pool)))
    return WordMatch(tuple(terms), counts, rare * [_ASKING if term in _ASKING_WORDS else 1.0 for term in terms])


def rarity(frequency: Floats | Sequence[int], size: int) -> Floats:
    """Inverse document frequency of terms that stand in *frequency* of *size* documents.

    >>> bool(rarity([1], 100)[0] > rarity([50], 100)[0] > 0)
    True

    """
    known = np.asarray(frequency, dtype=np.float64)
    return np.log1p((size - known + 0.5) / (known + 0.5))


def field_scores(match: WordMatch, near: "Nearby") -> Floats:
    """BM25 of the question over each event's neighbourhood; zeros where nothing matches."""
    met = match.counts.any(axis=1)
    counts = near.spread(match.counts[met], boosted=True)
    return weighted(match.weights[met], counts * (_K1 + 1) / (counts + near.norms))


def weighted(weights: Floats, values: Floats | NDArray[np.bool_]) -> Floats:
    """The sums of *values* (rows by columns) over their rows, each row with its weight.

    Not by matrix product: that goes to a library with threads of its own, which wait by spinning, on the processors
    that the server works on, and sum in an order that depends on the machine.

    >>> weighted(np.array([1.0, 0.5]), np.array([[1.0, 0.0], [2.0, 4.0]])).tolist()
    [2.0, 2.0]

    """
    found: Floats = np.einsum("r,rc->c", weights, values)
    return found


class Nearby:
    """How much the words of each event count for those before and after it, by how far they are apart in the pool."""

    def __init__(self, pool: EventPool) -> None:
        self._shares = [self._at(pool, shift) for shift in range(1, min(REACH + 1, len(pool)))]
        lengths = self.spread(pool.lengths[np.newaxis, :], boosted=False)[0]
        # Events without a single token have no length to compare.
        mean = (lengths.mean() if len(pool) else 0.0) or 1.0
        self.norms: Floats = _K1 * (1 - B + B * lengths / mean)

    @staticmethod
    def _at(pool: EventPool, shift: int) -> tuple[int, Floats, Floats, Floats]:
        """What goes to the later event, the same where a question is answered, and what goes to the earlier one."""
        gaps = pool.places[shift:] - pool.places[:-shift]
        steps = np.minimum(gaps, REACH + 1)
        later = _shares(LATER)[steps]
        answers = later * (1 + _ANSWERED * (pool.questions[:-shift] & (gaps == 1)))
        return shift, later, answers, _shares(_EARLIER)[steps]

    def spread(self, values: Floats, *, boosted: bool) -> Floats:
        """*values* (rows by events) with what neighbours pass on."""
        total = values.copy()
        for shift, later, answers, earlier in self._shares:
            total[:, shift:] += values[:, :-shift] * (answers if boosted else later)
            total[:, :-shift] += values[:, shift:] * earlier
        return total


def _shares(each_step: float) -> Floats:
    """What is passed on over 0, 1, 2, ... steps; nothing beyond reach."""
    return np.array([*(each_step**step for step in range(REACH + 1)), 0.0])
