"""What everything known is valued by: how much of the question it has, how new it is, what the priors make of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hmxgraph.recall.asking.question import Question
from hmxgraph.recall.known.guidance import NO_GUIDANCE, Guidance
from hmxgraph.recall.known.priors import Priors
from hmxgraph.recall.scoring import Clock, Components
from hmxgraph.text.terms import search_text
from hmxgraph.text.tokens import TokenCounter

# Knowledge with less of the question than this has nothing to do with it, however new and well founded it is.
LEAST_SHARE = 0.1
# As much of a question as so many of its most telling terms is as much as one record can be expected to have.
ENOUGH_TERMS = 6


@dataclass(frozen=True)
class Appraisal:
    """How a question values what is known: its terms with their rarity, its clock, the priors in force."""

    question: Question
    weights: Mapping[str, float]
    clock: Clock
    priors: Priors
    count_tokens: TokenCounter
    guidance: Guidance = NO_GUIDANCE

    @cached_property
    def _enough(self) -> float:
        return sum(sorted(self.weights.values(), reverse=True)[:ENOUGH_TERMS])

    def share(self, words: str) -> float:
        """How much of the question's information *words* have, in [0, 1]; 1 for all of it or as much as is enough."""
        found = set(words.split())
        met = sum(weight for term, weight in self.weights.items() if term in found)
        return min(met / self._enough, 1.0) if self._enough else 0.0

    def verdict(self, relevance: float, least: float = LEAST_SHARE) -> str:
        """The reason to leave out what has nothing to do with the question; none where the question says nothing."""
        return "low_relevance" if self._enough and relevance < least else ""

    @property
    def now_us(self) -> int:
        """The moment from which the question is asked."""
        return self.clock.now_us

    def names(self, name: str) -> bool:
        """Whether the question names this name."""
        return self.question.mentions(search_text(name))

    def components(self, relevance: float, time_us: int, provenance: float, salience: float) -> Components:
        """The four components of a record that was last true at *time_us*."""
        return Components(relevance, self.clock.recency(time_us), provenance, salience)
