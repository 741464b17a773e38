"""How relevant each event is to the question: words, cues and the walk brought together on [0, 1]."""

from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest

import numpy as np

from hmxgraph.recall.arrays import Floats
from hmxgraph.recall.asking.question import Question
from hmxgraph.recall.ranking.cues import cue_scores, speakers_named
from hmxgraph.recall.ranking.feedback import feedback_scores
from hmxgraph.recall.ranking.field import Nearby, WordMatch, field_scores, match_words
from hmxgraph.recall.ranking.pool import EventPool
from hmxgraph.recall.ranking.walk import Neighbourhood, bridges, closeness
from hmxgraph.text.excerpts import GAP
from hmxgraph.text.terms import terms

# Sharpens the match of words: the best events stand out against those that share a common word only.
SHARPNESS = 1.5
TITLE = 1.0
CLOSENESS = 0.3
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
        return (found / best) ** SHARPNESS if best else found

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
        near = self.first + CLOSENESS * closeness(self.question, self.pool, around, self.words)
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
