"""From a request to the actions that it will take: what sessions with such a request went on to do.

Two views of the same sessions, averaged: a logistic model for each action over the words of first requests, and the
nearest requests with what was done for them. Both know the whole tenant; neither knows the words of a domain.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np

from hmxgraph.compiler.models.learning import Marks, Matrix, logistic_weights, sigmoid
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.sessions.summary import SessionSummary
from hmxgraph.compiler.verbs import noun_words
from hmxgraph.compiler.words import telling_words, text_terms
from hmxgraph.text.terms import terms as search_terms

_DIGITS = 6
_ROUNDS = 60
_FEW = 20


@dataclass(frozen=True, slots=True)
class Exemplar:
    """One session's request, as terms, and the actions it took."""

    terms: tuple[str, ...]
    actions: tuple[str, ...]
    succeeded: bool


@dataclass(frozen=True)
class Goals:
    """What is known of requests: words, actions, their weights (rows by word, the first row the constant)."""

    words: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    weights: Matrix = field(default_factory=lambda: np.zeros((1, 0)))
    exemplars: tuple[Exemplar, ...] = ()
    neighbours: int = 20
    power: float = 4.0
    share: float = 0.5

    def chances(self, request: str) -> dict[str, float]:
        """For each action the chance that a session with this request takes it."""
        found = request_terms(request)
        modelled = next(self.modelled([found]))
        near = self._neighbours(found)
        if near is None:
            return modelled
        names = sorted(modelled.keys() | near.keys())
        mixed = {name: (1 - self.share) * modelled.get(name, 0.0) + self.share * near.get(name, 0.0) for name in names}
        return {name: round(chance, _DIGITS) for name, chance in mixed.items()}

    def modelled(self, requests: Sequence[Sequence[str]]) -> Iterator[dict[str, float]]:
        """The logistic model's chances for each of several requests, given as terms."""
        for row in sigmoid(_inputs(requests, self.words).product(self.weights)):
            yield {name: round(float(chance), _DIGITS) for name, chance in zip(self.actions, row, strict=True)}

    def akin(self, request: str, done: Iterable[str]) -> frozenset[str]:
        """The actions that this request, or what was *done*, has anything to do with.

        These are named by a word of it, or were taken in sessions that share a telling word or an action with it.
        """
        said, company = self._bonds
        found = [said.get(term, ()) for term in telling_terms(request)] + [company.get(name, ()) for name in done]
        return frozenset[str]().union(*found)

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "words": list(self.words),
            "actions": list(self.actions),
            "weights": np.round(self.weights, 4).tolist(),
            "exemplars": [[" ".join(one.terms), list(one.actions), one.succeeded] for one in self.exemplars],
            "neighbours": [self.neighbours, self.power, self.share],
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The goals with this document."""
        weights = np.asarray(document["weights"], np.float64).reshape(len(document["words"]) + 1, -1)
        exemplars = (Exemplar(tuple(terms.split()), tuple(done), ok) for terms, done, ok in document["exemplars"])
        neighbours, power, share = document["neighbours"]
        return cls(
            tuple(document["words"]), tuple(document["actions"]), weights, tuple(exemplars), neighbours, power, share
        )

    @cached_property
    def _bonds(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """For each term the actions that it names or that were taken where it was said; for each action its company."""
        said: defaultdict[str, set[str]] = defaultdict(set)
        company: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.exemplars:
            for term in one.terms:
                said[term].update(one.actions)
            for name in one.actions:
                company[name].update(one.actions)
        # What only sessions long ago were asked in is known by its weight.
        for term, weights in zip(self.words, self.weights[1:], strict=True):
            if term not in said:
                said[term] = {name for name, weight in zip(self.actions, weights, strict=True) if weight > 0}
        for name in self.actions:
            for term in search_terms(" ".join(noun_words(name))):
                said[term].add(name)
        return dict(said), dict(company)

    @cached_property
    def _compared(self) -> tuple[list[Exemplar], dict[str, float], dict[str, list[tuple[int, float]]]]:
        """The successful sessions, the rarity of their terms, and for each term whose requests have it, at what weight.

        The same for all that is asked.
        """
        successes = [one for one in self.exemplars if one.succeeded]
        rarity = _rarity(successes)
        postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, one in enumerate(successes):
            for term, weight in _vector(one.terms, rarity).items():
                postings[term].append((place, weight))
        return successes, rarity, dict(postings)

    def _neighbours(self, request: Sequence[str]) -> dict[str, float] | None:
        """What the successful sessions with the likest requests did, each counting by its likeness."""
        successes, rarity, postings = self._compared
        cosines: defaultdict[int, float] = defaultdict(float)
        for term, weight in _vector(request, rarity).items():
            for place, other in postings[term]:
                cosines[place] += weight * other
        votes: defaultdict[str, float] = defaultdict(float)
        total = 0.0
        for place, alike in sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))[: self.neighbours]:
            weight = alike**self.power
            total += weight
            for name in successes[place].actions:
                votes[name] += weight
        return {name: votes[name] / total for name in sorted(votes)} if total > 0 else None


def request_terms(request: str) -> tuple[str, ...]:
    """The terms by which requests are compared."""
    return tuple(text_terms(request, 64).split())


@lru_cache(maxsize=20_000)
def telling_terms(request: str) -> frozenset[str]:
    """Those of its terms by which a request can be known to be like another: politeness makes none like any.

    >>> sorted(telling_terms("Could you please cancel my order?"))
    ['cancel', 'order']
    """
    return frozenset(term for word in telling_words(request) for term in search_terms(word))


def learn_goals(summaries: Sequence[SessionSummary], profile: CompilerProfile) -> Goals:
    """The goals of these sessions; those without a request or without actions teach nothing."""
    told = sorted(
        (summary for summary in summaries if summary.request and summary.steps),
        key=lambda summary: (-summary.last_us, summary.session_id),
    )
    if not told:
        return Goals()
    exemplars = tuple(
        Exemplar(request_terms(one.request), tuple(dict.fromkeys(one.actions)), one.succeeded) for one in told
    )
    shared = Counter(term for one in exemplars for term in one.terms)
    words = tuple(sorted(term for term in shared if shared[term] >= min(profile.min_support, len(exemplars))))
    actions = tuple(sorted({name for one in exemplars for name in one.actions}))
    targets = np.array([[float(name in one.actions) for name in actions] for one in exemplars])
    mass = np.array([[1.0 if one.succeeded else profile.failed_session_weight] for one in exemplars])
    inputs = _inputs([one.terms for one in exemplars], words)
    # The fewer sessions there are, the more each of their words must be trusted.
    penalty = profile.goal_penalty * len(exemplars) / (len(exemplars) + _FEW)
    weights = logistic_weights(inputs, targets, mass, penalty, _ROUNDS)
    return Goals(
        words,
        actions,
        np.round(weights, _DIGITS),
        exemplars[: profile.exemplars],
        profile.neighbours,
        profile.neighbour_power,
        profile.neighbour_weight,
    )


def _inputs(requests: Sequence[Sequence[str]], words: Sequence[str]) -> Marks:
    """The words of each request, as columns; the first column, the constant, is in all."""
    index = {word: column for column, word in enumerate(words, start=1)}
    marked = [[0, *(index[term] for term in dict.fromkeys(terms) if term in index)] for terms in requests]
    return Marks.of(marked, len(words) + 1)


def _rarity(exemplars: Sequence[Exemplar]) -> dict[str, float]:
    shared = Counter(term for one in exemplars for term in one.terms)
    return {term: math.log((len(exemplars) + 1) / (count + 0.5)) for term, count in shared.items()}


def _vector(terms: Sequence[str], rarity: Mapping[str, float]) -> dict[str, float]:
    known = {term: rarity[term] for term in terms if term in rarity}
    length = math.sqrt(sum(weight * weight for weight in known.values())) or 1.0
    return {term: weight / length for term, weight in known.items()}
