"""Relevance of each event to the question: BM25, cues, pseudo-relevance feedback and the walk."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest

import numpy as np

from hmxgraph.recall.pool import EventPool, Floats, Nearby, WordMatch, field_scores, match_words, rarity, weighted
from hmxgraph.recall.question import Question
from hmxgraph.recall.walk import Neighbourhood, bridges, closeness
from hmxgraph.text.excerpts import GAP
from hmxgraph.text.terms import terms

# What speaks for an event besides words: who said it, and whether it says the kind of thing that is asked for.
#
# Each cue gives zero where it does not apply, so one ranking serves conversations, documents and tool runs. When
# something was said is the clock's part of the score (``scoring``).

# What a cue adds to a relevance on which the best match of words is 1.
SPEAKER = 0.5
_SUBJECT = 0.2
TIME_WORDS = 0.2
QUESTION_TURN = -0.15
# What each doubling of its length beyond that of a message takes: a long text has some word of every question.
# No more than that: what alone has the words that are asked for is not outdone by what has none.
_LENGTH = -0.3
_MOST_DOUBLINGS = 2.5
_MESSAGE_TOKENS = 96
# A turn with fewer words of its own than these, none of them asked for, says little, whatever is said around it.
_FEW_WORDS = 5
_HARDLY_A_WORD = -0.5
# What is told for the first time says more of it than what is said of it later; it counts by the share of its words
# that nobody used before.
FIRST_TOLD = 0.15
# An event that repeats the request and adds less than this of its own words tells nothing new.
_NEWS = 0.5
_ECHO = -1.0
_TIME_WORDS = frozenset(
    terms(
        "yesterday today tonight tomorrow ago last next week weekend month year morning night evening recently soon"
        " since monday tuesday wednesday thursday friday saturday sunday"
    )
)


def speakers_named(question: Question, pool: EventPool) -> dict[str, str]:
    """The speakers in *pool* that the question names, by the terms of their names."""
    names = {speaker: " ".join(terms(speaker)) for speaker in sorted(set(pool.speaker)) if speaker}
    return {name: speaker for speaker, name in names.items() if name and question.mentions(name)}


def cue_scores(question: Question, pool: EventPool) -> Floats:
    """The sum of all cues for each event."""
    heard = _speaker(question, pool) + _time_words(question, pool) + QUESTION_TURN * pool.questions
    said = _length(pool) + _hardly_a_word(question, pool)
    return heard + said + (_first_told(question, pool) if question.recalls else _echoes(question, pool))


def _length(pool: EventPool) -> Floats:
    """Long talk stands back; a document with a title is about one subject and as long as that needs."""
    doublings: Floats = np.log2(np.maximum(pool.lengths / _MESSAGE_TOKENS, 1.0))
    return _LENGTH * pool.talk * np.minimum(doublings, _MOST_DOUBLINGS)


def _first_told(question: Question, pool: EventPool) -> Floats:
    """Of talk about what was; a question about what is wants what was said of it last."""
    if question.latest:
        return np.zeros(len(pool))
    return FIRST_TOLD * pool.talk * pool.occurrences.first_told(pool.ages)


def _hardly_a_word(question: Question, pool: EventPool) -> Floats:
    """Thanks and greetings stand beside what is asked for, and take the place of what tells something."""
    lacking = _HARDLY_A_WORD * np.maximum(1.0 - pool.occurrences.vocabulary / _FEW_WORDS, 0.0)
    return np.where(pool.occurrences.met(question.terms) == 0, lacking, 0.0)


def _echoes(question: Question, pool: EventPool) -> Floats:
    """Earlier requests of the same kind: an agent at work is helped by what came of them, not by their words."""
    news = 1.0 - pool.occurrences.met(question.terms) / np.maximum(pool.occurrences.vocabulary, 1)
    return _ECHO * np.maximum(1.0 - news / _NEWS, 0.0)


def _speaker(question: Question, pool: EventPool) -> Floats:
    named = speakers_named(question, pool)
    if len(named) == 1:
        return SPEAKER * _spoken_by(set(named.values()), pool)
    return _SUBJECT * _spoken_by({speaker for name, speaker in named.items() if name in question.subjects}, pool)


def _spoken_by(speakers: set[str], pool: EventPool) -> Floats:
    return np.array([speaker in speakers for speaker in pool.speaker], dtype=np.float64)


def _time_words(question: Question, pool: EventPool) -> Floats:
    """Turns that say when, for a question that asks when."""
    if not question.when:
        return np.zeros(len(pool))
    return np.where(pool.occurrences.met(_TIME_WORDS) > 0, TIME_WORDS, 0.0)


# Words that the best events share beyond those of the question: pseudo-relevance feedback.
#
# Answers come in other words than questions. What the best events have in common, and few others have, is likely to be
# about the same matter: it is looked for as well, far below the question's own words. Rocchio 1971, "Relevance feedback
# in information retrieval"; Lavrenko and Croft 2001, "Relevance-based language models".
#
# Of talk only. A document with a title is about one subject, and others are reached from it by the names that they
# share
# (``walk``); words that similar documents share lead back to where one is (multi-hop passages: 3 points of recall
# less).

# So many events are believed, as far as their words meet the question this well; so many of their words are taken.
_BELIEVED = 10
_LEAST_MATCH = 0.2
MOST_WORDS = 15
# In how many of them a word has to stand, and beyond which part of all events it tells nothing.
_SHARED_BY = 2
COMMON = 0.15
# What it adds to a relevance on which the best match of words is 1, and how it fades below the best.
WEIGHT = 0.2
_FADING = 0.7


def feedback_scores(
    pool: EventPool, near: Nearby, first: Floats, words: Floats, asked: Collection[str], event_count: int
) -> Floats:
    """What each event gains, at most ``WEIGHT``.

    *first* are the scores so far, *words* their part that is the match of words; *asked* is not looked for again.
    """
    talk = pool.talk > 0
    good = np.argsort(-first, kind="stable")[:_BELIEVED]
    best = good[(words[good] > _LEAST_MATCH) & talk[good]].tolist()
    shared = _shared(pool, best, asked)
    if not shared:
        return np.zeros(len(pool))
    found = field_scores(_telling(pool, shared, {at: max(float(first[at]), 0.0) for at in best}, event_count), near)
    top = found.max(initial=0.0)
    return np.where(talk, WEIGHT * (found / top) ** _FADING, 0.0) if top else found


def _shared(pool: EventPool, best: Sequence[int], asked: Collection[str]) -> list[str]:
    shared = pool.occurrences.shared(best, _SHARED_BY) if best else []
    return [word for word in shared if word not in asked and not word.isdigit()]


def _telling(pool: EventPool, shared: Sequence[str], believed: dict[int, float], event_count: int) -> WordMatch:
    """The most telling of the *shared* words: those of the best events that are rare elsewhere."""
    counts = pool.occurrences.counts(shared)
    frequency = (counts > 0).sum(axis=1)
    places = list(believed)
    belief = weighted(np.array([believed[at] for at in places]), (counts[:, places] > 0).T)
    worth = np.where(frequency <= COMMON * len(pool), belief * np.log((len(pool) + 1) / (frequency + 0.5)), 0.0)
    order = np.argsort(-worth, kind="stable")[:MOST_WORDS]
    chosen = order[worth[order] > 0]
    weights = rarity(frequency[chosen], max(event_count, len(pool))) * worth[chosen] / worth.max(initial=1e-9)
    return WordMatch(tuple(shared[int(row)] for row in chosen), counts[chosen], weights)


# How relevant each event is to the question: words, cues and the walk brought together on [0, 1].

# Sharpens the match of words: the best events stand out against those that share a common word only.
_SHARPNESS = 1.5
TITLE = 1.0
_CLOSENESS = 0.3
# The best words alone are not the best that can be: a question that names nothing known stays below this.
SURE = 0.6
# The least relevance of an event that has as much of the question itself, for each such share of it.
ANSWERS = 0.15


@dataclass(frozen=True)
class Ranking:
    """One question against one pool: first by words and cues, then with the walk over what the best events share."""

    question: Question
    pool: EventPool
    event_count: int

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The question's terms without the names of speakers: who speaks is a cue of its own."""
        named = speakers_named(self.question, self.pool)
        skipped = {term for name in named for term in name.split()}
        kept = tuple(term for term in self.question.terms if term not in skipped)
        return kept or self.question.terms

    @cached_property
    def match(self) -> WordMatch:
        """Where the terms stand."""
        return match_words(self.terms, self.pool, self.event_count)

    @cached_property
    def near(self) -> Nearby:
        """How far words reach."""
        return Nearby(self.pool)

    @cached_property
    def words(self) -> Floats:
        """The match of words, 1 for the best."""
        found = field_scores(self.match, self.near)
        best = found.max(initial=0.0)
        return (found / best) ** _SHARPNESS if best else found

    @cached_property
    def first(self) -> Floats:
        """The score by words, titles and cues, and by the words that the best of these share."""
        found = self.words + TITLE * self._titles() + cue_scores(self.question, self.pool)
        asked = {*self.question.terms, *(term for name in set(self.pool.speaker) for term in terms(name))}
        return found + feedback_scores(self.pool, self.near, found, self.words, asked, self.event_count)

    def anchors(self, most: int) -> tuple[str, ...]:
        """The ids of the *most* best events: where the walk begins."""
        ranks = zip((-self.first).tolist(), self.pool.event_id, strict=True)
        return tuple(event_id for score, event_id in nsmallest(most, ranks) if score < 0)

    def going_on(self, most: int) -> tuple[str, ...]:
        """The ids of the *most* best events whose text is longer than what is here of it."""
        cut = [at for at, text in enumerate(self.pool.text) if text.endswith(GAP)]
        ranks = ((-float(self.first[at]), self.pool.event_id[at]) for at in cut)
        return tuple(event_id for score, event_id in nsmallest(most, ranks) if score < 0)

    def scores(self, around: Neighbourhood) -> Floats:
        """The final score: what words, titles and cues give, with what the walk adds."""
        if not around.mentions:
            return self.first
        near = self.first + _CLOSENESS * closeness(self.question, self.pool, around, self.words)
        return near + bridges(self.question, self.pool, around, self.match, near)

    def relevance(self, around: Neighbourhood) -> Floats:
        """The scores on [0, 1], 1 for the best event; cues alone, where no word is met, are what they are.

        What has the words that are asked for has to do with the question, however much else it says.
        """
        scores = np.maximum(self.scores(around), 0.0)
        best = scores.max(initial=0.0)
        found = scores / best if best and self.words.any() else scores.clip(0.0, 1.0)
        return np.maximum(found, self._answers) if self.question.recalls else found

    @property
    def _answers(self) -> Floats:
        share = self.match.share
        return np.where(share >= SURE, ANSWERS * share, 0.0)

    @cached_property
    def assurance(self) -> float:
        """How far the best events meet the question at all, in (0, 1]."""
        named = 1.0 if self.question.span is not None else 0.0
        share = float(self.match.share.max(initial=0.0)) if len(self.match.terms) else named
        return min(1.0, max(share, named * 0.5) / SURE)

    def _titles(self) -> Floats:
        """How much of the question's most telling term the title of each event explains, where it stands in it."""
        values = self.match.worth
        top = max(values.values(), default=0.0)
        if not top or not any(self.pool.title):
            return np.zeros(len(self.pool))
        return np.array([self._title(title, values) / top for title in self.pool.title]).clip(0, 1)

    def _title(self, title: str, values: dict[str, float]) -> float:
        name = " ".join(terms(title.split(" (", maxsplit=1)[0])) if title else ""
        return sum(values.get(term, 0.0) for term in name.split()) if self.question.mentions(name) else 0.0
