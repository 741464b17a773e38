"""Two models: one predicts the actions of a session from its request, the other the next action of a session."""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from statistics import fmean
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hmxgraph.compiler._verbs import noun_words
from hmxgraph.compiler._vocabulary import informative_words, text_terms
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Situation, Step
from hmxgraph.text.terms import most_first
from hmxgraph.text.terms import terms as search_terms

# Logistic regression in plain numpy, so that the same data give the same weights on every machine.

_Matrix: TypeAlias = NDArray[np.floating[Any]]
_Objective: TypeAlias = Callable[[_Matrix], tuple[float, _Matrix]]
# Parameters of the minimiser L-BFGS: the number of earlier steps that it uses, the smallest step length, the relative
# decrease at which it stops, the minimum share of the expected decrease that a step must reach, and the minimum
# curvature of a step that is remembered.
_HISTORY, _SMALLEST_STEP, _TOLERANCE, _SUFFICIENT, _LEAST_CURVATURE = 8, 1e-4, 1e-5, 1e-4, 1e-12
# Rows of a matrix product that are computed at once: few enough for the processor's cache.
_ROWS_AT_ONCE = 32


@dataclass(frozen=True)
class BinaryMatrix:
    """A sparse binary matrix of observations by features, stored as the rows and columns of its ones.

    Unlike BLAS, its products add rows in the same order on every machine. For 370 real sessions, with one in 26
    features set, they took a ninth of the time of dense products.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    shape: tuple[int, int]

    @classmethod
    def of_columns(cls, columns_by_row: Sequence[Sequence[int]], count: int) -> Self:
        """The matrix with *count* columns whose row i has ones in the columns ``columns_by_row[i]``."""
        rows = np.repeat(np.arange(len(columns_by_row), dtype=np.intp), [len(columns) for columns in columns_by_row])
        columns = np.fromiter(chain.from_iterable(columns_by_row), np.intp, len(rows))
        return cls(rows, columns, (len(columns_by_row), count))

    def product(self, right: _Matrix) -> _Matrix:
        """The matrix product with *right*."""
        return self._by_row.of_rows(right)

    def transposed_product(self, right: _Matrix) -> _Matrix:
        """The matrix product of the transpose with *right*."""
        return self._by_column.of_rows(right)

    @cached_property
    def _by_row(self) -> "_RowSums":
        return _RowSums.grouped(self.rows, self.columns, self.shape[0])

    @cached_property
    def _by_column(self) -> "_RowSums":
        return _RowSums.grouped(self.columns, self.rows, self.shape[1])


@dataclass(frozen=True, slots=True)
class _RowSums:
    """Which rows of a matrix to add up to get each row of a product.

    Row ``targets[i]`` of the product is the sum of the rows ``sources[begins[i]:ends[i]]`` of the matrix. ``count`` is
    the number of rows of the product.
    """

    targets: NDArray[np.intp]
    begins: NDArray[np.intp]
    ends: NDArray[np.intp]
    sources: NDArray[np.intp]
    count: int

    @classmethod
    def grouped(cls, targets: NDArray[np.intp], sources: NDArray[np.intp], count: int) -> Self:
        """The sums that add row ``sources[i]`` of the matrix to row ``targets[i]`` of the product."""
        sizes = np.bincount(targets, minlength=count)
        ends, filled = np.cumsum(sizes), np.flatnonzero(sizes)
        return cls(filled, (ends - sizes)[filled], ends[filled], sources[np.argsort(targets, kind="stable")], count)

    def of_rows(self, right: _Matrix) -> _Matrix:
        """The sums of rows of *right*; zeros where nothing is added."""
        sums = np.zeros((self.count, right.shape[1]), right.dtype)
        for first in range(0, len(self.targets), _ROWS_AT_ONCE):
            begins, ends = self.begins[first : first + _ROWS_AT_ONCE], self.ends[first : first + _ROWS_AT_ONCE]
            rows = right[self.sources[begins[0] : ends[-1]]]
            sums[self.targets[first : first + _ROWS_AT_ONCE]] = np.add.reduceat(rows, begins - begins[0], axis=0)
        return sums


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The features of the observations: those that do not come from texts (``bare``), and those that do (``text``).

    Each observation is learned a second time from its bare features alone, with the weight ``bare_weight``.
    """

    bare: BinaryMatrix
    text: BinaryMatrix
    bare_weight: float


def _softmax_weights(inputs: _Inputs, targets: _Matrix, penalty: float, rounds: int) -> _Matrix:
    """Weights (features by classes) of the maximum entropy model with an L2 penalty (Berger et al. 1996).

    *targets* is a matrix of observations by classes, with 1 at the observed class.
    """
    bare, text = inputs.bare, inputs.text
    columns = bare.shape[1]

    def objective(weights: _Matrix) -> tuple[float, _Matrix]:
        scores = bare.product(weights[:columns])
        full, partial = _softmax(scores + text.product(weights[columns:])), _softmax(scores)
        loss = penalty / 2 * float((weights * weights).sum()) - _log_likelihood(full, targets)
        loss -= inputs.bare_weight * _log_likelihood(partial, targets)
        residual = full - targets
        gradient = penalty * weights
        gradient[:columns] += bare.transposed_product(residual + inputs.bare_weight * (partial - targets))
        gradient[columns:] += text.transposed_product(residual)
        return loss, gradient

    return minimum(objective, np.zeros((columns + text.shape[1], targets.shape[1]), np.float32), rounds)


def _log_likelihood(chances: _Matrix, targets: _Matrix) -> float:
    """The log-likelihood of the observed classes."""
    return float((targets * np.log(chances + 1e-12)).sum())


def _logistic_weights(
    inputs: BinaryMatrix, targets: _Matrix, observation_weights: _Matrix, penalty: float, rounds: int
) -> _Matrix:
    """Weights (features by labels) of independent logistic models with an L2 penalty.

    The first feature is constant and hardly penalised, so that frequent labels get a high base rate.
    """
    shape = (inputs.shape[1], targets.shape[1])
    penalties = np.full(shape, penalty)
    penalties[0] = penalty / 100

    def objective(weights: _Matrix) -> tuple[float, _Matrix]:
        scores = inputs.product(weights)
        loss = float((observation_weights * (np.logaddexp(0.0, scores) - targets * scores)).sum())
        gradient = inputs.transposed_product(observation_weights * (_sigmoid(scores) - targets)) + penalties * weights
        return loss + float((penalties * weights * weights).sum()) / 2, gradient

    return minimum(objective, np.zeros(shape), rounds)


def _softmax(scores: _Matrix) -> _Matrix:
    """Turn each row of *scores* into probabilities that sum to one."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances: _Matrix = powers / powers.sum(axis=1, keepdims=True)
    return chances


def _sigmoid(scores: _Matrix) -> _Matrix:
    """Turn each score into a probability."""
    return 1.0 / (1.0 + np.exp(-np.clip(scores, -40.0, 40.0)))


def minimum(objective: _Objective, start: _Matrix, rounds: int) -> _Matrix:
    """The lowest point of *objective* that at most *rounds* rounds of L-BFGS find (Liu, Nocedal 1989).

    *objective* returns the value and the gradient at a point. Each step is halved until the value decreases enough.
    """
    point = start
    value, gradient = objective(point)
    history: deque[tuple[_Matrix, _Matrix, float]] = deque(maxlen=_HISTORY)
    for _ in range(rounds):
        direction = _direction(gradient, history)
        next_point, new_value, new_gradient = _step(objective, point, value, gradient, direction)
        move, gradient_change = next_point - point, new_gradient - gradient
        curvature = float((move * gradient_change).sum())
        if curvature > _LEAST_CURVATURE:
            history.append((move, gradient_change, 1.0 / curvature))
        converged = value - new_value <= _TOLERANCE * max(abs(value), 1.0)
        point, value, gradient = next_point, new_value, new_gradient
        if converged:
            break
    return point


def _direction(gradient: _Matrix, history: deque[tuple[_Matrix, _Matrix, float]]) -> _Matrix:
    """The direction opposite to the next step, by the two-loop recursion of L-BFGS."""
    if not history:
        return gradient / max(1.0, float(np.abs(gradient).max()))
    direction, alphas = gradient.copy(), []
    for move, gradient_change, inverse in reversed(history):
        alpha = inverse * float((move * direction).sum())
        alphas.append(alpha)
        direction -= alpha * gradient_change
    move, gradient_change, inverse = history[-1]
    direction /= inverse * float((gradient_change * gradient_change).sum())
    for (move, gradient_change, inverse), alpha in zip(history, reversed(alphas), strict=True):
        direction += move * (alpha - inverse * float((gradient_change * direction).sum()))
    return direction


def _step(
    objective: _Objective, point: _Matrix, value: float, gradient: _Matrix, direction: _Matrix
) -> tuple[_Matrix, float, _Matrix]:
    """Point, value and gradient after the first step with sufficient decrease (Armijo), or after the smallest step."""
    descent, length = float((gradient * direction).sum()), 1.0
    while True:
        next_point = point - length * direction
        new_value, new_gradient = objective(next_point)
        if new_value <= value - _SUFFICIENT * length * descent or length < _SMALLEST_STEP:
            return next_point, new_value, new_gradient
        length /= 2


# The features from which the next action is predicted.

# Limits above which counts of one action, and positions in a session, are not distinguished.
_LARGEST_COUNT, _LAST_POSITION = 4, 8
# Stands for an action before the start of the session.
_START = "^"


class _Track:
    """The actions taken so far in a session, reduced to what the model needs to predict the next one."""

    def __init__(self, agent_id: str = "") -> None:
        self._agent = agent_id
        self._last = (_START, _START, _START)
        self._counts: Counter[str] = Counter()
        self._length = 0

    def add(self, action: str) -> None:
        """Append *action*."""
        self._last = (*self._last[1:], action)
        self._counts[action] += 1
        self._length += 1

    def features(self, now: Situation) -> list[str]:
        """The features of the situation *now* after these actions.

        Text features begin with "w:" for words of the user, "s:" for what the agent said, or "r:" for the last result.
        """
        return [
            *self.bare_features(now),
            *_text_features("w", now.heard),
            *_text_features("s", now.said),
            *_text_features("r", now.seen),
        ]

    def bare_features(self, now: Situation) -> list[str]:
        """The features that do not come from texts.

        The digits in their names count back from the last action: "1" is the last action, "2" the one before it, so
        that "12=search>open" means that "open" came last, after "search". An "s" after the digits adds
        ``Situation.since``.
        """
        third, second, first = self._last
        since = f"{now.since}{'+' if now.pending else ''}"
        names = [
            "always",
            f"at={min(self._length, _LAST_POSITION)}",
            f"since={since}",
            f"1={first}",
            f"2={second}",
            f"12={second}>{first}",
            f"123={third}>{second}>{first}",
            f"1s={first}|{since}",
            f"12s={second}>{first}|{since}",
            f"agent={self._agent}",
            f"agent1={self._agent}|{first}",
            f"agent1s={self._agent}|{first}|{since}",
        ]
        if now.failure:
            names += ["failed", f"failed={now.failure}", f"failed1={now.failure}|{first}", f"after failed={first}"]
            # Agents differ more in how they react to failures than in other choices.
            names += [f"agent failed={self._agent}", f"agent failed1={self._agent}|{first}"]
            # After a failure, agents either look things up at once, or try again when the user has answered.
            failure_names = ("failed", f"failed={now.failure}", f"after failed={first}", f"agent failed={self._agent}")
            names += [f"{name}|{since}" for name in failure_names]
        for action in sorted(self._counts):
            names += [f"used={action}", f"times={action}|{min(self._counts[action], _LARGEST_COUNT)}"]
        return names


def positions(summary: SessionSummary) -> Iterator[tuple[_Track, Step]]:
    """Yield each step of a session with the track of the steps before it; the same track object is reused."""
    track = _Track(summary.agent_id)
    for step in summary.steps:
        yield track, step
        track.add(step.action)


def _track_of(summary: SessionSummary) -> _Track:
    """The track of all steps of a session."""
    track = _Track(summary.agent_id)
    for step in summary.steps:
        track.add(step.action)
    return track


def _is_text_feature(feature: str) -> bool:
    """Whether *feature* comes from a text."""
    return feature[1:2] == ":"


def _text_features(kind: str, text: str) -> list[str]:
    """The text features of *text*, one for each term."""
    return [f"{kind}:{term}" for term in text.split()]


# The habit model predicts the next action by maximum entropy from everything before it.
#
# Successful and failed sessions have the same weight, because their next actions hardly differ and data are scarce.
# What works is learned by the artifacts.

# Decimals of stored weights, and the size below which a weight is stored as 0.
_DIGITS, _NEGLIGIBLE = 3, 0.01


@dataclass(frozen=True, slots=True)
class Habits:
    """The habit model: actions, features, and weights (one row per feature, one column per action)."""

    actions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    weights: _Matrix = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def chances(self, running: SessionSummary) -> list[tuple[str, float]]:
        """Every known action with its probability of being the next one in the session *running*, most likely first."""
        if not self.actions:
            return []
        index = {feature: row for row, feature in enumerate(self.features)}
        rows = [index[name] for name in _track_of(running).features(running.ahead) if name in index]
        chances = _softmax(self.weights[rows].sum(axis=0, keepdims=True))[0]
        ranked = sorted(zip(self.actions, map(float, chances), strict=True), key=lambda pair: (-pair[1], pair[0]))
        return [(action, round(chance, 4)) for action, chance in ranked]

    def document(self) -> dict[str, Any]:
        """The model as plain JSON values.

        Each row of weights is a flat list of column, weight, column, weight and so on, with weights in thousandths and
        without those that are zero.
        """
        thousandths = np.rint(self.weights * 10**_DIGITS).astype(int).tolist()
        rows = [
            [part for column, weight in enumerate(row) if weight for part in (column, weight)] for row in thousandths
        ]
        return {"actions": list(self.actions), "features": list(self.features), "weights": rows}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """The habit model stored in *document*."""
        weights = np.zeros((len(document["features"]), len(document["actions"])), np.float32)
        for row, pairs in enumerate(document["weights"]):
            weights[row, pairs[::2]] = np.asarray(pairs[1::2], np.float32) / 10**_DIGITS
        return cls(tuple(document["actions"]), tuple(document["features"]), weights)


def learn_habits(summaries: Iterable[SessionSummary], profile: CompilerProfile) -> Habits:
    """Learn the habit model of these sessions; their order does not matter.

    Each step is learned twice, the second time with less weight and without text features, so that the model can also
    predict sessions without texts.
    """
    ordered = sorted(summaries, key=lambda summary: summary.session_id)
    features_by_session = [
        [track.features(step.situation) for track, step in positions(summary)] for summary in ordered
    ]
    actions_taken = [step.action for summary in ordered for step in summary.steps]
    features, actions = _features(features_by_session, profile), sorted(set(actions_taken))
    if not features or not actions:
        return Habits()
    inputs = _habit_inputs(
        [names for session in features_by_session for names in session], features, profile.habit_bare_weight
    )
    weights = _softmax_weights(inputs, _targets(actions_taken, actions), profile.habit_penalty, profile.habit_rounds)
    weights[np.abs(weights) < _NEGLIGIBLE] = 0
    return Habits(tuple(actions), tuple(features), np.round(weights, _DIGITS))


def _features(features_by_session: Sequence[Sequence[Sequence[str]]], profile: CompilerProfile) -> list[str]:
    """The features shared by enough sessions, at most ``habit_features`` of them; text features come last."""
    shared: Counter[str] = Counter()
    for session in features_by_session:
        shared.update({name for names in session for name in names})
    least = profile.habit_sessions if len(features_by_session) >= profile.habit_sessions else 1
    ranked = most_first({name: count for name, count in shared.items() if count >= least})
    return sorted(ranked[: profile.habit_features], key=lambda name: (_is_text_feature(name), -shared[name], name))


def _habit_inputs(
    features_by_position: Sequence[Sequence[str]], features: Sequence[str], bare_weight: float
) -> _Inputs:
    """The features of each step as matrices; text features come last in *features*."""
    bare_count = sum(not _is_text_feature(name) for name in features)
    index = {name: column for column, name in enumerate(features)}
    columns_by_row = [[index[name] for name in dict.fromkeys(names) if name in index] for names in features_by_position]
    return _Inputs(
        BinaryMatrix.of_columns(
            [[column for column in columns if column < bare_count] for columns in columns_by_row], bare_count
        ),
        BinaryMatrix.of_columns(
            [[column - bare_count for column in columns if column >= bare_count] for columns in columns_by_row],
            len(features) - bare_count,
        ),
        bare_weight,
    )


def _targets(actions_taken: Sequence[str], actions: Sequence[str]) -> _Matrix:
    """The matrix of steps by *actions*, with 1 at the action taken."""
    classes = {name: column for column, name in enumerate(actions)}
    targets = np.zeros((len(actions_taken), len(actions)), np.float32)
    targets[np.arange(len(actions_taken)), [classes[name] for name in actions_taken]] = 1
    return targets


# The request model predicts the actions of a session from its request.
#
# It is the weighted average of two models: a logistic model for each action over the words of requests, and a vote of
# the sessions with the most similar requests. Both learn from all sessions of a tenant and need no domain vocabulary.

# Decimals of probabilities and learned weights, and maximum rounds of the minimiser.
_GOAL_DIGITS, _GOAL_ROUNDS = 6, 60
_REQUEST_TERMS = 64
# Number of sessions at which the penalty is half of the full one.
_HALF_PENALTY_SESSIONS = 20


@dataclass(frozen=True, slots=True)
class _Exemplar:
    """One session that the model remembers: the terms of its request, its actions, and whether it succeeded."""

    terms: tuple[str, ...]
    actions: tuple[str, ...]
    succeeded: bool


@dataclass(frozen=True)
class Goals:
    """The request model.

    ``weights`` are those of the logistic model: one row for the constant, then one row per word, and one column per
    action. ``exemplars`` are the latest sessions. Of these, the most similar successful ones, as many as
    ``neighbours``, vote on the actions, each with its similarity raised to ``power``. The result is the average of
    their vote, with the weight ``share``, and of the logistic model.
    """

    words: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    weights: _Matrix = field(default_factory=lambda: np.zeros((1, 0)))
    exemplars: tuple[_Exemplar, ...] = ()
    neighbours: int = 20
    power: float = 4.0
    share: float = 0.5

    def chances(self, request: str) -> dict[str, float]:
        """For each action, the probability that a session with this request takes it."""
        terms = request_terms(request)
        logistic = next(self.logistic_chances([terms]))
        neighbour_shares = self._neighbour_shares(terms)
        if neighbour_shares is None:
            return logistic
        names = sorted(logistic.keys() | neighbour_shares.keys())
        mixed = {
            name: (1 - self.share) * logistic.get(name, 0.0) + self.share * neighbour_shares.get(name, 0.0)
            for name in names
        }
        return {name: round(chance, _GOAL_DIGITS) for name, chance in mixed.items()}

    def logistic_chances(self, requests: Sequence[Sequence[str]]) -> Iterator[dict[str, float]]:
        """Yield the probability of each action by the logistic model, for each request given as its terms."""
        for row in _sigmoid(_goal_inputs(requests, self.words).product(self.weights)):
            yield {name: round(float(chance), _GOAL_DIGITS) for name, chance in zip(self.actions, row, strict=True)}

    def related_actions(self, request: str, taken: Iterable[str]) -> frozenset[str]:
        """The actions related to this request or to the actions already *taken*.

        An action is related if its name contains a term of the request, or if an exemplar that took it shares a term
        with the request or an action with *taken*.
        """
        by_term, by_action = self._related
        related = [by_term.get(term, ()) for term in informative_terms(request)]
        related += [by_action.get(name, ()) for name in taken]
        return frozenset[str]().union(*related)

    def in_order(self, actions: AbstractSet[str]) -> list[str]:
        """These *actions* in the order in which sessions usually took them."""
        relative_positions = defaultdict[str, list[float]](list)
        for exemplar in self.exemplars:
            for index, name in enumerate(exemplar.actions):
                if name in actions:
                    relative_positions[name].append(index / len(exemplar.actions))
        return sorted(actions, key=lambda name: (fmean(relative_positions[name] or [1.0]), name))

    def document(self) -> dict[str, Any]:
        """The model as plain JSON values; weights are rounded to four decimals."""
        return {
            "words": list(self.words),
            "actions": list(self.actions),
            "weights": np.round(self.weights, 4).tolist(),
            "exemplars": [
                [" ".join(exemplar.terms), list(exemplar.actions), exemplar.succeeded] for exemplar in self.exemplars
            ],
            "neighbours": [self.neighbours, self.power, self.share],
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The request model stored in *document*."""
        weights = np.asarray(document["weights"], np.float64).reshape(len(document["words"]) + 1, -1)
        exemplars = (_Exemplar(tuple(terms.split()), tuple(done), ok) for terms, done, ok in document["exemplars"])
        neighbours, power, share = document["neighbours"]
        return cls(
            tuple(document["words"]), tuple(document["actions"]), weights, tuple(exemplars), neighbours, power, share
        )

    @cached_property
    def _related(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """The actions related to each term, and the actions taken in the same sessions as each action."""
        by_term: defaultdict[str, set[str]] = defaultdict(set)
        by_action: defaultdict[str, set[str]] = defaultdict(set)
        for exemplar in self.exemplars:
            for term in exemplar.terms:
                by_term[term].update(exemplar.actions)
            for name in exemplar.actions:
                by_action[name].update(exemplar.actions)
        # For a term that occurs only in sessions too old to be exemplars, the weights show the related actions.
        for term, weights in zip(self.words, self.weights[1:], strict=True):
            if term not in by_term:
                by_term[term] = {name for name, weight in zip(self.actions, weights, strict=True) if weight > 0}
        for name in self.actions:
            for term in search_terms(" ".join(noun_words(name))):
                by_term[term].add(name)
        return dict(by_term), dict(by_action)

    @cached_property
    def _postings(self) -> tuple[list[_Exemplar], dict[str, float], dict[str, list[tuple[int, float]]]]:
        """The successful exemplars, the rarity of their terms (idf), and an inverted index.

        The index lists, for each term, the exemplars with that term (by index) and its weight in each.
        """
        successes = [exemplar for exemplar in self.exemplars if exemplar.succeeded]
        rarity = _rarity(successes)
        postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for index, exemplar in enumerate(successes):
            for term, weight in _vector(exemplar.terms, rarity).items():
                postings[term].append((index, weight))
        return successes, rarity, dict(postings)

    def _neighbour_shares(self, request: Sequence[str]) -> dict[str, float] | None:
        """For each action, the share of the most similar successful sessions that took it; None if none is similar.

        A session counts with its cosine similarity raised to ``power``.
        """
        successes, rarity, postings = self._postings
        cosines: defaultdict[int, float] = defaultdict(float)
        for term, weight in _vector(request, rarity).items():
            for index, exemplar_weight in postings[term]:
                cosines[index] += weight * exemplar_weight
        votes: defaultdict[str, float] = defaultdict(float)
        total = 0.0
        for index, cosine in sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))[: self.neighbours]:
            weight = cosine**self.power
            total += weight
            for name in successes[index].actions:
                votes[name] += weight
        return {name: votes[name] / total for name in sorted(votes)} if total > 0 else None


def request_terms(request: str) -> tuple[str, ...]:
    """The terms by which requests are compared, at most ``_REQUEST_TERMS``."""
    return tuple(text_terms(request, _REQUEST_TERMS).split())


@lru_cache(maxsize=20_000)
def informative_terms(request: str) -> frozenset[str]:
    """The informative terms of a request, without polite phrases.

    >>> sorted(informative_terms("Could you please cancel my order?"))
    ['cancel', 'order']
    """
    return frozenset(term for word in informative_words(request) for term in search_terms(word))


def learn_goals(summaries: Sequence[SessionSummary], profile: CompilerProfile) -> Goals:
    """Learn the request model of these sessions; sessions without a request or without actions are ignored."""
    eligible = sorted(
        (summary for summary in summaries if summary.request and summary.steps),
        key=lambda summary: (-summary.last_us, summary.session_id),
    )
    if not eligible:
        return Goals()
    exemplars = tuple(
        _Exemplar(request_terms(session.request), tuple(dict.fromkeys(session.actions)), session.succeeded)
        for session in eligible
    )
    shared = Counter(term for session in exemplars for term in session.terms)
    words = tuple(sorted(term for term in shared if shared[term] >= min(profile.min_support, len(exemplars))))
    actions = tuple(sorted({name for session in exemplars for name in session.actions}))
    targets = np.array([[float(name in session.actions) for name in actions] for session in exemplars])
    session_weights = np.array([[1.0 if session.succeeded else profile.failed_session_weight] for session in exemplars])
    inputs = _goal_inputs([session.terms for session in exemplars], words)
    # With few sessions the full penalty would suppress all weights.
    penalty = profile.goal_penalty * len(exemplars) / (len(exemplars) + _HALF_PENALTY_SESSIONS)
    weights = _logistic_weights(inputs, targets, session_weights, penalty, _GOAL_ROUNDS)
    return Goals(
        words,
        actions,
        np.round(weights, _GOAL_DIGITS),
        exemplars[: profile.exemplars],
        profile.neighbours,
        profile.neighbour_power,
        profile.neighbour_weight,
    )


def _goal_inputs(requests: Sequence[Sequence[str]], words: Sequence[str]) -> BinaryMatrix:
    """The matrix of requests by words; its first column is the constant, which is always set."""
    index = {word: column for column, word in enumerate(words, start=1)}
    columns_by_row = [[0, *(index[term] for term in dict.fromkeys(terms) if term in index)] for terms in requests]
    return BinaryMatrix.of_columns(columns_by_row, len(words) + 1)


def _rarity(exemplars: Sequence[_Exemplar]) -> dict[str, float]:
    """The inverse document frequency of each term."""
    shared = Counter(term for exemplar in exemplars for term in exemplar.terms)
    return {term: math.log((len(exemplars) + 1) / (count + 0.5)) for term, count in shared.items()}


def _vector(terms: Sequence[str], rarity: Mapping[str, float]) -> dict[str, float]:
    """The weight of each term by its rarity, as a vector of length one."""
    weights = {term: rarity[term] for term in terms if term in rarity}
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {term: weight / length for term, weight in weights.items()}
