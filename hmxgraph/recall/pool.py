"""The pool of candidate events: their term counts as arrays, and BM25 over each event with its neighbours."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import chain, count
from math import fsum
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hmxgraph.text.lines import foreign
from hmxgraph.text.terms import terms as terms_of

# The column types used in ranking.

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


# Words as integers, so that the terms of hundreds of events are counted in arrays.
#
# Packs rank the same events repeatedly and most words recur, so each word gets its number once and the counts of texts
# are cached. The number of a word depends on earlier requests; its counts do not.

# Weight of a related word (allergic, for the query term allergy) relative to the query term itself.
FAMILY = 0.3
# Related words have this many first letters in common.
_SHARED_BEGINNING = 5
# Their lengths differ by at most this many letters.
_LONGEST_ENDING = 4
# Number of texts whose counts are cached, one or two kilobytes each.
_CACHED_TEXTS = 8_192
# Vocabulary size at which the lexicon is replaced.
_MOST_WORDS = 200_000


class Lexicon(dict[str, int]):
    """Maps each word to a number; a word that is looked up for the first time gets a new number. Thread-safe.

    >>> lexicon = Lexicon()
    >>> lexicon["deploy"] == lexicon["deploy"] != lexicon["stage"]
    True

    """

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[int, str] = {}
        self.counted = lru_cache(maxsize=_CACHED_TEXTS)(self._counted)
        self._next = count()
        # The words with the same first letters, a family, and their numbers, by these letters.
        self._families: dict[str, dict[str, int]] = {}

    def __missing__(self, word: str) -> int:
        new_number = next(self._next)
        self.words[new_number] = word
        # Add the word to its family first, so that a thread that finds the word also finds it in the family.
        registry = self._families.setdefault(word[:_SHARED_BEGINNING], {}) if word.isalpha() else self
        number = self[word] = registry.setdefault(word, new_number)
        return number

    def _counted(self, text: str) -> Integers:
        """Return the distinct word numbers of *text* (row 0) and their counts (row 1)."""
        counts = Counter(text.split())
        return np.array([[*map(self.__getitem__, counts)], [*counts.values()]], dtype=np.int64)

    def related_words(self, word: str) -> list[tuple[str, int]]:
        """Return the other known words that are related to *word*, with their numbers.

        They begin with the same letters and have a similar length; a word with digits has no related words.

        >>> lexicon = Lexicon()
        >>> numbers = [lexicon[word] for word in ("allergi", "allerg", "bread", "order12345", "order12346")]
        >>> lexicon.related_words("allergi") == [("allerg", numbers[1])], lexicon.related_words("order12345")
        (True, [])

        """
        if len(word) < _SHARED_BEGINNING or not word.isalpha():
            return []
        lengths = range(len(word) - _LONGEST_ENDING, len(word) + _LONGEST_ENDING + 1)
        family = self._families.get(word[:_SHARED_BEGINNING], {}).copy()
        return [(other, number) for other, number in family.items() if other != word and len(other) in lengths]


_current = Lexicon()


def lexicon() -> Lexicon:
    """Return the shared lexicon, replaced by an empty one once it has grown too large."""
    global _current  # noqa: PLW0603 - replaced as a whole, so that current users keep the old one
    if len(_current) > _MOST_WORDS:
        _current = Lexicon()
    return _current


# Term occurrences per event, as columns.


class Occurrences:
    """Term counts of a list of events, each given as space-separated terms.

    >>> Occurrences(["deploy stage deploy", "stage"]).counts(["deploy", "cluster"]).tolist()
    [[2.0, 0.0], [0.0, 0.0]]

    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._lexicon = lexicon()
        counted = [self._lexicon.counted(text) for text in texts]
        self._numbers, self._counts = np.concatenate(counted, axis=1) if counted else np.zeros((2, 0), dtype=np.int64)
        self._events = np.repeat(np.arange(len(texts)), [numbers_and_counts.shape[1] for numbers_and_counts in counted])
        self._size = len(texts)

    @cached_property
    def vocabulary(self) -> Integers:
        """Number of distinct terms of each event."""
        return np.bincount(self._events, minlength=self._size)

    def novelty(self, ranks: Integers) -> Floats:
        """Return the share of each event's terms that no event of lower rank has; *ranks* are distinct.

        >>> Occurrences(["deploy stage", "stage cluster", "stage"]).novelty(np.array([0, 1, 2])).tolist()
        [1.0, 0.5, 0.0]

        """
        event_ranks = ranks[self._events]
        first = np.full(self._end, self._size)
        np.minimum.at(first, self._numbers, event_ranks)
        new_terms = np.bincount(self._events[event_ranks == first[self._numbers]], minlength=self._size)
        return new_terms / np.maximum(self.vocabulary, 1)

    def matched(self, words: Iterable[str]) -> Integers:
        """Return how many of *words* each event contains."""
        marks = self._marked([number for word in words if (number := self._lexicon.get(word)) is not None])
        return np.bincount(self._events[marks[self._numbers] >= 0], minlength=self._size)

    def counts(self, words: Sequence[str]) -> Floats:
        """Return the count of each of *words* in each event (words by events)."""
        return self._occurrences([self._lexicon[word] for word in words])

    def related_counts(self, words: Sequence[str]) -> Floats:
        """Return :meth:`counts`, with those of words that mean nearly the same added.

        A related word adds ``FAMILY`` times its count. Two adjacent *words* written as one add theirs in full:
        "roadtrip" counts for "road" and for "trip".
        """
        counts = self.counts(words)
        related_words = [
            (row, number) for row, word in enumerate(words) for number in self._related_numbers(word, words)
        ]
        rows = {number: row for row, number in enumerate(dict.fromkeys(number for _, number in related_words))}
        occurrences = self._occurrences(list(rows))
        for row, number in related_words:
            counts[row] += FAMILY * occurrences[rows[number]]
        for row, word in enumerate(words[1:]):
            if self._is_present(words[row] + word):
                counts[row : row + 2] += self.counts([words[row] + word])
        return counts

    def _is_present(self, word: str) -> bool:
        number = self._lexicon.get(word)
        return number is not None and number < self._end and bool(self._present[number])

    def _related_numbers(self, word: str, query_terms: Sequence[str]) -> list[int]:
        """Return the numbers of words in these events that are related to *word* and are not query terms themselves.

        They are in alphabetical order of the words, which keeps floating-point sums reproducible.
        """
        related = self._lexicon.related_words(word)
        present = [(other, number) for other, number in related if number < self._end and self._present[number]]
        return [number for other, number in sorted(present) if other not in query_terms]

    def shared(self, events: Sequence[int], least: int) -> list[str]:
        """Return the terms that at least *least* of *events* contain, in alphabetical order."""
        chosen = np.zeros(self._size, dtype=bool)
        chosen[list(events)] = True
        numbers, counts = np.unique(self._numbers[chosen[self._events]], return_counts=True)
        return sorted(self._lexicon.words[number] for number in numbers[counts >= least].tolist())

    def _occurrences(self, numbers: Sequence[int]) -> Floats:
        indexes = self._marked(numbers)[self._numbers]
        known = indexes >= 0
        cells = indexes[known] * self._size + self._events[known]
        shape = len(numbers), self._size
        return (
            np.bincount(cells, self._counts[known], shape[0] * shape[1]).astype(np.float64, copy=False).reshape(shape)
        )

    def _marked(self, numbers: Sequence[int]) -> Integers:
        """Return, for each term number, its index in *numbers*, or -1."""
        indexes = np.full(self._end, -1)
        for index, number in enumerate(numbers):
            if number < self._end:
                indexes[number] = index
        return indexes

    @cached_property
    def _present(self) -> NDArray[np.bool_]:
        """For each term number, whether some event contains it."""
        present = np.zeros(self._end, dtype=bool)
        present[self._numbers] = True
        return present

    @cached_property
    def _end(self) -> int:
        """Exclusive upper bound of the term numbers."""
        return int(self._numbers.max(initial=-1)) + 1


# Candidate events as columns.

# The separators after a tool's name in texts: of a call ("sh(ls)"), of the result of a successful call ("sh -> a.txt"),
# and of the result of a failed call ("sh failed: no such file").
CALLED, WORKED, FAILED = "(", " -> ", " failed: "
# A tool's name and one of these separators at the beginning of a text.
_OF_TOOL = re.compile(rf"([^\s(]+)(\{CALLED}|{WORKED}|{FAILED})")
# Feedback with a comment of at most two words ("positive feedback: great job"): it says only how the session went,
# which the line with the session's date shows already.
_BARE_FEEDBACK = re.compile(r"(?:positive|negative) feedback(?::\s+\w+(?:\s+\w+)?)?\W*")
# The names that logs use for assistants, and for the senders of system prompts.
_ASSISTANTS = frozenset({"assistant", "agent", "ai", "bot", "model"})
_SYSTEMS = frozenset({"system", "developer"})
# "I'm Ana" or "My name is Ana Costa". Each branch begins with a rare letter and checks what precedes it afterwards,
# which makes the search four times as fast.
_INTRODUCTION = re.compile(
    r"(?:I(?<!\wI)(?:['\u2019]m| am)|y(?<=\b[Mm]y) name is) ([A-Z][^\W\d_]*)(?!\w)(?: ([A-Z][^\W\d_]*)(?!\w))?"
)
# An abbreviation in parentheses, as it follows the full name: "Newark Airport (EWR)".
_SHORT = r"\((?P<short>[A-Z][A-Z0-9]{1,5})\)"
_IN_PARENTHESES = re.compile(_SHORT)
# The sort key of a row: session, then sequence, time and id (HMX-E 7).
_POOL_ORDER = itemgetter(1, 5, 6, 0)
# The words of an event also count for events up to this many turns away.
REACH = 4
# The distance assumed between events that are too far apart to be neighbours.
_APART = REACH + 1


@dataclass(frozen=True)
class EventPool:
    """Candidate events in canonical order: by session, then in session order.

    The fields up to ``user_id`` are columns with one value per event, in the order of a row of
    ``graph._events.pool_rows``.

    - ``title``: of a document; "" for other events.
    - ``words``: the search terms of the event, separated by blanks.
    - ``tokens``: the length of its rendered line.
    - ``asks``: whether its text ends with a question mark.
    - ``label``: the origin of outside text, such as a tool.
    - ``user_id``: the user whom a message names, or "".
    - ``centres``: the ids of the events whose ``REACH`` neighbours on both sides are in the pool, too.
    - ``said_by``: the speakers as lines show them, if any differs from ``speaker``; otherwise empty.
    - ``withheld``: the ids of the events that must not answer this question, because other users speak about
      themselves; their words are empty.
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
    user_id: tuple[str, ...] = ()
    centres: frozenset[str] = field(default=frozenset(), kw_only=True)
    said_by: tuple[str, ...] = field(default=(), kw_only=True)
    withheld: frozenset[str] = field(default=frozenset(), kw_only=True)

    def __len__(self) -> int:
        return len(self.event_id)

    @classmethod
    def of(cls, *parts: Iterable[Sequence[Any]], centres: frozenset[str] = frozenset()) -> "EventPool":
        """Build the pool from the rows in *parts*, with values in the order of the fields; duplicates are removed."""
        rows = {row[0]: row for part in parts for row in part}
        ordered = sorted(rows.values(), key=_POOL_ORDER)
        return cls(*zip(*ordered, strict=True), centres=centres) if ordered else cls()

    @property
    def shown_speaker(self) -> tuple[str, ...]:
        """The speaker of each event as its line shows it."""
        return self.said_by or self.speaker

    def with_lines(self, text: Sequence[str], tokens: Sequence[int]) -> "EventPool":
        """Return the pool with these texts and token counts, keeping the cached columns that do not depend on them.

        >>> pool = EventPool(("e1",), text=("sh(ls -l)",), speaker=("",))
        >>> pool.kinds, pool.with_lines(["sh -> a.txt"], [4]).kinds
        (['('], [' -> '])

        """
        pool = replace(self, text=tuple(text), tokens=tuple(tokens))
        changed = (pair for pair in zip(self.text, pool.text, strict=True) if pair[0] is not pair[1])
        stale = _OF_LINES if all(tool_in(old) == tool_in(new) for old, new in changed) else _OF_LINES | _OF_TOOLS
        vars(pool).update((name, vars(self)[name]) for name in vars(self).keys() - vars(pool).keys() - stale)
        return pool

    @cached_property
    def index(self) -> dict[str, int]:
        """Index of each event by id."""
        return {event_id: index for index, event_id in enumerate(self.event_id)}

    @cached_property
    def occurrences(self) -> Occurrences:
        """Term counts of the events."""
        return Occurrences(self.words)

    @cached_property
    def is_withheld(self) -> Flags:
        """Which events are withheld."""
        return np.fromiter(map(self.withheld.__contains__, self.event_id), dtype=np.bool_, count=len(self))

    @cached_property
    def times(self) -> Integers:
        """Event times in UTC microseconds."""
        return np.array(self.time_us, dtype=np.int64)

    @cached_property
    def time_ranks(self) -> Integers:
        """Rank of each event by time, 0 for the earliest; ties in pool order."""
        ranks = np.empty(len(self), dtype=np.int64)
        ranks[np.argsort(self.times, kind="stable")] = np.arange(len(self))
        return ranks

    @cached_property
    def talk(self) -> Floats:
        """1 for events without a title, 0 for documents."""
        return np.array([not title for title in self.title], dtype=np.float64)

    @cached_property
    def lengths(self) -> Floats:
        """Token count of each event."""
        return np.array(self.tokens, dtype=np.float64)

    @cached_property
    def questions(self) -> NDArray[np.bool_]:
        """Whether each event ends with a question mark."""
        return np.array(self.asks, dtype=bool)

    @cached_property
    def results(self) -> Flags:
        """Which events are results: text from tools, the web or other outside sources."""
        return np.array([foreign(label) for label in self.label], dtype=np.bool_)

    @cached_property
    def of_tools(self) -> bool:
        """Whether most of the events belong to sessions with results other than documents."""
        in_tool_sessions = self.in_sessions_of(self.results & (self.talk > 0))
        return 2 * int(np.count_nonzero(in_tool_sessions)) > len(self)

    @cached_property
    def speakers(self) -> dict[str, str]:
        """The blank-separated terms of each speaker's name, by name in alphabetical order."""
        return {speaker: " ".join(terms_of(speaker)) for speaker in sorted(set(self.speaker)) if speaker}

    @cached_property
    def introduced(self) -> dict[str, str]:
        """The speaker who told an assistant his name, keyed by the terms of the first name and of the full name.

        After "My name is Ana Costa", both "ana" and "ana costa" lead to this speaker. Empty if introductions give
        different first names, or if messages without an introduction contain the name: "German" in "I'm German" is not
        a name. Also empty if there are several users, or if most events are of work with tools, because such sessions
        serve several people and a name tells the sessions apart.
        """
        if not self.by_assistants.any() or self.of_tools or len(set(filter(None, self.user_id))) > 1:
            return {}
        by_people = np.flatnonzero(self.by_people).tolist()
        introductions = [
            (index, match[1], match[2]) for index in by_people for match in _INTRODUCTION.finditer(self.text[index])
        ]
        first_names = {first for _, first, _ in introductions}
        if len(first_names) != 1:
            return {}
        uses_name = self.occurrences.matched(terms_of(first_names.pop())) > 0
        if np.count_nonzero(uses_name[by_people]) > len({index for index, _, _ in introductions}):
            return {}
        names = (
            (index, name)
            for index, first, last in introductions
            for name in (first, f"{first} {last}" if last else first)
        )
        return {" ".join(terms_of(name)): self.speaker[index] for index, name in names}

    @cached_property
    def spoken(self) -> Flags:
        """Which events have a speaker."""
        return np.array(list(map(bool, self.speaker)), dtype=np.bool_)

    @cached_property
    def abbreviating(self) -> Flags:
        """Which events have an abbreviation in parentheses in their text."""
        return np.array(["(" in text and bool(_IN_PARENTHESES.search(text)) for text in self.text], dtype=np.bool_)

    @cached_property
    def prompts(self) -> Flags:
        """Which events are system prompts; an agent's sessions usually all begin with the same one."""
        return np.array([speaker in _SYSTEMS for speaker in self.speaker], dtype=np.bool_)

    @cached_property
    def by_people(self) -> Flags:
        """Which events are messages of people, not of assistants or systems."""
        messages: Flags = self.spoken & ~self.by_assistants & ~self.prompts & ~self.results
        return messages

    @cached_property
    def by_assistants(self) -> Flags:
        """Which events were spoken by an assistant."""
        return np.array(list(map(is_assistant, self.speaker)), dtype=np.bool_)

    @cached_property
    def empty(self) -> Flags:
        """Which events are results that contain only the name of their tool, or feedback with almost no comment."""
        empty = self.results & (self.occurrences.vocabulary <= 1)
        for index, (text, result) in enumerate(zip(self.text, self.results.tolist(), strict=True)):
            if (result and text.rstrip().endswith((":", "->"))) or _BARE_FEEDBACK.fullmatch(text):
                empty[index] = True
        return empty

    @cached_property
    def tools(self) -> list[tuple[str, str] | None]:
        """For each event, the tool and the kind of the call or result that its text begins with, or None."""
        return list(map(tool_in, self.text))

    @cached_property
    def kinds(self) -> list[str]:
        """``CALLED``, ``WORKED`` or ``FAILED`` for tool calls and results; "" for other events."""
        parts = zip(self.tools, self.speaker, strict=True)
        return ["" if tool is None or speaker else tool[1] for tool, speaker in parts]

    @cached_property
    def call_of(self) -> tuple[int, ...]:
        """For each event, the index of the call whose result it probably is, or -1.

        A result is matched with the earliest unanswered call of its tool in the latest run of consecutive calls, or
        else the earliest before that run. After a gap in the session, calls before the gap are no longer matched.
        """
        call_of = [-1] * len(self)
        unanswered: dict[str, list[int]] = {}
        run_start = 0
        for index, (kind, tool) in enumerate(zip(self.kinds, self.tools, strict=True)):
            if not self.follows[index]:
                unanswered.clear()
            calls = unanswered.setdefault(tool[0] if tool else "", [])
            if kind == CALLED:
                run_start = run_start if self.follows[index] and self.kinds[index - 1] == CALLED else index
                calls.append(index)
            elif kind and calls:
                call_of[index] = next((call for call in calls if call >= run_start), calls[0])
                calls.remove(call_of[index])
        return tuple(call_of)

    @cached_property
    def calls(self) -> Flags:
        """Which events are tool calls."""
        return self._of_kind(CALLED)

    def with_tools(self, tools: Container[str]) -> Flags:
        """Which events are calls of these *tools*, or their results."""
        return np.array([part is not None and part[0] in tools for part in self.tools], dtype=np.bool_)

    @cached_property
    def successes(self) -> Flags:
        """Which events are results of calls that did not fail."""
        return self._of_kind(WORKED)

    @cached_property
    def failures(self) -> Flags:
        """Which events are results of calls that failed."""
        return self._of_kind(FAILED)

    def _of_kind(self, kind: str) -> Flags:
        return np.array([own_kind == kind for own_kind in self.kinds], dtype=np.bool_)

    def calls_with(self, results: Flags) -> frozenset[int]:
        """Return the indexes of the calls whose results are among *results*."""
        return frozenset(self.call_of[index] for index in np.flatnonzero(results).tolist()) - {-1}

    @property
    def unanswered(self) -> list[str]:
        """The ids of the calls whose results are not in the pool."""
        answered = frozenset(self.call_of)
        return [
            self.event_id[index] for index, kind in enumerate(self.kinds) if kind == CALLED and index not in answered
        ]

    @cached_property
    def follows(self) -> Flags:
        """Which events directly follow, in their session, the event before them in the pool."""
        follows: Flags = np.diff(self.places, prepend=-np.inf) == 1
        return follows

    @cached_property
    def sessions(self) -> Integers:
        """Session number of each event."""
        return np.array(list(map(self._session_numbers.__getitem__, self.session_id)), dtype=np.int64)

    @cached_property
    def _session_numbers(self) -> dict[str, int]:
        return {session_id: number for number, session_id in enumerate(dict.fromkeys(self.session_id))}

    def of_session(self, session_id: str | None) -> Flags:
        """Which events belong to this session."""
        return self.of_sessions((session_id,))

    def of_sessions(self, session_ids: Container[str | None]) -> Flags:
        """Which events belong to one of these sessions."""
        chosen = np.array([session_id in session_ids for session_id in self._session_numbers], dtype=np.bool_)
        return chosen[self.sessions]

    def in_sessions_of(self, events: Flags) -> Flags:
        """Which events belong to a session with one of these *events*."""
        chosen = np.zeros(len(self._session_numbers), dtype=np.bool_)
        chosen[self.sessions[events]] = True
        return chosen[self.sessions]

    @cached_property
    def places(self) -> Integers:
        """Position of each event, counted through all sessions: adjacent events differ by one, others by more.

        Events that are not near one of the ``centres`` count as adjacent if their sequence numbers are consecutive.
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
        """For each event but the last, whether a centre within ``REACH`` proves that the next one follows it directly.

        All neighbours of a centre are in the pool. A gap in the sequence numbers alone would not prove that an event is
        missing.
        """
        centres = np.fromiter(map(self.centres.__contains__, self.event_id), dtype=bool, count=len(self))
        linked = np.zeros(len(self) - 1, dtype=bool)
        for shift in range(1, min(REACH + 1, len(self))):
            together = self.sessions[shift:] == self.sessions[:-shift]
            linked[shift - 1 :] |= together & centres[:-shift]
            linked[: len(linked) - shift + 1] |= together & centres[shift:]
        return linked


# The cached properties that depend on ``text`` or ``tokens``.
_OF_LINES = frozenset({"lengths", "empty", "abbreviating", "introduced"})
# The cached properties that depend on the tool and the kind with which each text begins.
_OF_TOOLS = frozenset({"tools", "kinds", "calls", "successes", "failures", "call_of"})


def tool_in(text: str) -> tuple[str, str] | None:
    """Return the tool and the kind of the call or result that *text* begins with, or None."""
    # The added space completes the arrow of an empty result.
    match = _OF_TOOL.match(f"{text} ")
    return None if match is None else (match[1], match[2])


def is_assistant(speaker: str) -> bool:
    """Whether *speaker* is a name that logs use for an assistant."""
    return speaker.lower() in _ASSISTANTS


# BM25 over a neighbour field: term matches in an event and in the turns around it.
#
# A turn rarely repeats the question it answers, so the words of up to four turns on both sides count as well, decaying
# with distance. Counts are divided by the length of their own event first (BM25F), so that an assistant's long answer
# does not drown the short messages around it. Formulas: Robertson and Zaragoza 2009, "The Probabilistic Relevance
# Framework".

# The parameter k1 of BM25: the larger, the more a repeated term counts.
_K1 = 1.5
# Length normalisation (the parameter b of BM25) of an event's own counts, and of its neighbour field.
B = 0.6
B_FIELD = 0.75
# Weight of a word in the next turn and in the one before: answers usually follow questions.
LATER = 0.65
_EARLIER = 0.6
# Weight of words that merely phrase a question: they say less about the answer than topic words.
_PHRASING = 0.5
_PHRASING_WORDS = frozenset(
    terms_of(
        "kind type sort many much long often way thing something mention describe say tell name according "
        "different various specific first recent recently "
        "get got go gone went want try find found let make made take took give gave put know knew think thought need "
        "come came bring brought keep kept use used happen without far else back away still even also really ever "
        "always around little "
        "hi hello hey please thanks okay right sure"
    )
)
# Extra weight that a matching question turn passes to the turn that answers it.
_ANSWER_BONUS = 0.4


@dataclass(frozen=True)
class WordMatch:
    """Counts of the query terms in each event (terms by events), and the weight of each term."""

    terms: tuple[str, ...]
    counts: Floats
    weights: Floats

    @property
    def factors(self) -> Floats:
        """Weight of each term apart from its rarity: lower for words that merely phrase a question."""
        return np.array([_PHRASING if term in _PHRASING_WORDS else 1.0 for term in self.terms])

    @property
    def weight_by_term(self) -> dict[str, float]:
        """Weight by term."""
        return dict(zip(self.terms, self.weights.tolist(), strict=True))

    @cached_property
    def share(self) -> Floats:
        """Share of the total term weight that each event itself matches, in [0, 1]."""
        total = self.weights.sum()
        return weighted(self.weights, self.counts > 0) / total if total else np.zeros(self.counts.shape[1])


def match_words(terms: Sequence[str], pool: EventPool, event_count: int, *, works: bool = False) -> WordMatch:
    """Count *terms* in the *pool*; the fewer of the tenant's *event_count* events contain a term, the more it weighs.

    Events outside the pool are assumed not to contain it. Words that merely phrase a question weigh half. In a request
    for work (*works*), a term that no event contains weighs no more than the rarest known term, because it may be a
    mere detail. In a question it keeps its full weight, because it may be the subject, which nobody mentioned.
    """
    counts = pool.occurrences.related_counts(terms)
    known = (counts >= 1).sum(axis=1)
    rare = rarity(known, max(event_count, len(pool)))
    if works and known.any():
        rare = np.minimum(rare, rare[known > 0].max())
    return WordMatch(tuple(terms), counts, rare * [_PHRASING if term in _PHRASING_WORDS else 1.0 for term in terms])


# A name in a question: capitalised words, such as "Newark Airport".
_NAME = re.compile(r"\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
# The text allowed between a name and its abbreviation.
_BEFORE_SHORT = r"[^()\n.]{0,40}"
# An abbreviation is the usual one if at least this many events give it for the name, and if they are at least this
# share of the events that give any abbreviation for the name.
_LEAST_EVENTS, _LEAST_SHARE = 3, 0.6


def with_abbreviations(match: WordMatch, pool: EventPool, question: str) -> WordMatch:
    """Return *match* with the usual abbreviation of each name in the *question* counted like the name.

    The abbreviation counts only in messages, because tool results list the abbreviations of many things.

    >>> pool = EventPool(("e1", "e2", "e3", "e4"), words=("newark ewr",) * 3 + ("ewr",),
    ...     text=("Newark (EWR) to ORD",) * 3 + ("EWR",), speaker=("user",) * 4)
    >>> asked = match_words(("newark",), pool, 4)
    >>> with_abbreviations(asked, pool, "From Newark?").counts.tolist(), asked.counts.tolist()
    ([[1.0, 1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0, 0.0]])

    """
    counts = match.counts.copy()
    for name in dict.fromkeys(chain.from_iterable(map(_suffixes, _NAME.findall(question)))):
        rows = [match.terms.index(term) for term in terms_of(name) if term in match.terms]
        if rows and (short := _abbreviation(name, pool, match.counts[rows])):
            in_messages = pool.occurrences.counts(terms_of(short)) * pool.spoken
            counts[rows] = np.maximum(counts[rows], in_messages)
    return replace(match, counts=counts)


def _suffixes(name: str) -> list[str]:
    """Return the *name*, then without its first word, its first two words, and so on.

    The first capitalised words may not belong to the name: "Did" in "Did Ann call?".
    """
    words = name.split(" ")
    return [" ".join(words[first:]) for first in range(len(words))]


def _abbreviation(name: str, pool: EventPool, counts: Floats) -> str:
    """Return the usual abbreviation of *name*, or ""; *counts* has a row for each term of the name."""
    events = np.flatnonzero(pool.abbreviating & (counts >= 1).all(axis=0)).tolist()
    if len(events) < _LEAST_EVENTS:
        return ""
    pattern = re.compile(rf"\b{re.escape(name)}\b{_BEFORE_SHORT}{_SHORT}")
    event_counts = Counter(match["short"] for index in events if (match := pattern.search(pool.text[index])))
    usual = max(event_counts, key=lambda short: (event_counts[short], short), default="")
    return usual if event_counts[usual] >= max(_LEAST_EVENTS, _LEAST_SHARE * event_counts.total()) else ""


def rarity(frequency: Floats | Sequence[int], size: int) -> Floats:
    """Return the inverse document frequency of terms that occur in *frequency* of *size* documents.

    >>> bool(rarity([1], 100)[0] > rarity([50], 100)[0] > 0)
    True

    """
    documents = np.asarray(frequency, dtype=np.float64)
    return np.log1p((size - documents + 0.5) / (documents + 0.5))


# The length of a passage in words, in multiples of the number of words searched for.
_SPAN = 4


def together(weights: Mapping[str, float], pool: EventPool, least: float) -> Flags:
    """Which events contain, in one passage, words that carry at least the share *least* of the total of *weights*.

    >>> pool = EventPool(("e1", "e2"), words=("no key set", "key " + "other " * 9 + "set"))
    >>> together({"key": 1.0, "set": 1.0}, pool, 0.6).tolist()
    [True, False]

    """
    enough = least * fsum(weights.values())
    counts = pool.occurrences.counts(list(weights))
    matched = weighted(np.array(list(weights.values())), counts > 0)
    chosen: Flags = (matched >= enough) & (matched > 0)
    for index in np.flatnonzero(chosen).tolist():
        chosen[index] = _densest(pool.words[index].split(), weights) >= enough
    return chosen


def _densest(words: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return the largest total weight that the distinct words in one passage have."""
    matches, span = [index for index, word in enumerate(words) if word in weights], _SPAN * len(weights)
    passages = (matches[first : bisect_left(matches, start + span)] for first, start in enumerate(matches))
    distinct_weights = ({words[index]: weights[words[index]] for index in passage} for passage in passages)
    return max((fsum(weight_by_word.values()) for weight_by_word in distinct_weights), default=0.0)


def field_scores(match: WordMatch, near: "Nearby") -> Floats:
    """Return the BM25 score of each event and the turns around it; zero without a match."""
    matched = match.counts.any(axis=1)
    counts = near.spread(match.counts[matched] / near.lengths, boosted=True)
    return bm25(match.weights[matched], counts, near.norms)


def bm25(weights: Floats, counts: Floats, norms: Floats) -> Floats:
    """Return the BM25 score of texts from the *counts* of terms in them (terms by texts) and their :func:`norms`.

    >>> bm25(np.array([1.0]), np.array([[1.0, 1.0, 0.0]]), norms(np.array([10.0, 20.0, 5.0]))).round(2).tolist()
    [1.07, 0.76, 0.0]

    """
    return weighted(weights, counts * (_K1 + 1) / (counts + norms))


def norms(lengths: Floats) -> Floats:
    """Return the number that BM25 adds to each count in the denominator; it grows with the length of the text."""
    return _K1 * _relative_lengths(lengths, B_FIELD)


def weighted(weights: Floats, values: Floats | NDArray[np.bool_]) -> Floats:
    """Return the weighted sum of the rows of *values* (rows by columns).

    Avoids a matrix product: BLAS threads spin on the cores that the server needs, and their order of summation depends
    on the machine.

    >>> weighted(np.array([1.0, 0.5]), np.array([[1.0, 0.0], [2.0, 4.0]])).tolist()
    [2.0, 2.0]

    """
    totals: Floats = np.einsum("r,rc->c", weights, values)
    return totals


class Nearby:
    """How much the words of each event count for its neighbours, by their distance in the session."""

    def __init__(self, pool: EventPool) -> None:
        self._weights = [self._weights_at(pool, shift) for shift in range(1, min(REACH + 1, len(pool)))]
        # The length of a document with a title is not normalised: however long it is, it covers one subject.
        self.lengths: Floats = np.where(pool.talk > 0, _relative_lengths(pool.lengths, B), 1.0)
        field_lengths = self.spread((pool.lengths / self.lengths)[np.newaxis, :], boosted=False)[0]
        self.norms = norms(field_lengths)

    @staticmethod
    def _weights_at(pool: EventPool, shift: int) -> tuple[int, Floats, Floats, Floats]:
        """Return *shift*, then three weights for each pair of events whose indexes in the pool differ by it.

        The first is the weight of the earlier event's words in the later event, the second adds the bonus for answers
        to it, the third is the weight of the later event's words in the earlier event.
        """
        gaps = pool.places[shift:] - pool.places[:-shift]
        steps = np.minimum(gaps, REACH + 1)
        later = _decay(LATER)[steps]
        answers = later * (1 + _ANSWER_BONUS * (pool.questions[:-shift] & (gaps == 1)))
        return shift, later, answers, _decay(_EARLIER)[steps]

    def coverage(self, match: WordMatch) -> Floats:
        """Return the share of the term weight that each event and its neighbours cover, decaying with distance."""
        present = match.counts.clip(0, 1)
        near = present.copy()
        for shift, later, _, earlier in self._weights:
            near[:, shift:] = np.maximum(near[:, shift:], present[:, :-shift] * later)
            near[:, :-shift] = np.maximum(near[:, :-shift], present[:, shift:] * earlier)
        total = match.weights.sum()
        return weighted(match.weights, near) / total if total else np.zeros(match.counts.shape[1])

    def spread(self, values: Floats, *, boosted: bool) -> Floats:
        """Return *values* (rows by events) plus those of neighbours, decayed with distance.

        With *boosted*, a question's values count more in the turn after it, its answer.
        """
        total = values.copy()
        for shift, later, answers, earlier in self._weights:
            total[:, shift:] += values[:, :-shift] * (answers if boosted else later)
            total[:, :-shift] += values[:, shift:] * earlier
        return total


def _relative_lengths(lengths: Floats, b: float) -> Floats:
    """Return the length normalisation of BM25: ``1 - b + b * length / mean``."""
    # Guard against pools without a single token.
    mean = (lengths.mean() if len(lengths) else 0.0) or 1.0
    return 1 - b + b * lengths / mean


@cache
def _decay(factor: float) -> Floats:
    """Return the weight of a word that is 0, 1, 2, ... turns away: *factor* per turn; 0 beyond ``REACH``."""
    return np.array([*(factor**distance for distance in range(REACH + 1)), 0.0])
