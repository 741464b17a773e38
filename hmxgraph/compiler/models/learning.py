"""Logistic models by plain numerical mathematics: the same data give the same weights."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.floating[Any]]
Objective: TypeAlias = Callable[[Matrix], tuple[float, Matrix]]
_MEMORY = 8
_SMALLEST_STEP = 1e-4
_TOLERANCE = 1e-5
# The number of multiplications up to which OpenBLAS keeps to one thread.
_ONE_THREAD = 4 * 65_536


@dataclass(frozen=True, slots=True)
class Bare:
    """The same observations once more with their first columns only, at a weight of their own."""

    columns: int
    weight: float


@dataclass(frozen=True, slots=True)
class Marks:
    """Observations by features of which each is 1 or 0: where the ones are. A matrix would hold mostly zeros."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    shape: tuple[int, int]

    @classmethod
    def of(cls, marked: Sequence[Sequence[int]], columns: int) -> Self:
        """The marks of observations, given by the columns that are 1 in each."""
        rows = np.repeat(np.arange(len(marked), dtype=np.intp), [len(one) for one in marked])
        return cls(rows, np.fromiter(chain.from_iterable(marked), np.intp, len(rows)), (len(marked), columns))

    def product(self, right: Matrix) -> Matrix:
        """The matrix product with *right*, summed in the order of the observations."""
        return _summed(self.rows, self.columns, right, self.shape[0])

    def turned_product(self, right: Matrix) -> Matrix:
        """The same, of features by observations."""
        return _summed(self.columns, self.rows, right, self.shape[1])


def _summed(places: NDArray[np.intp], taken: NDArray[np.intp], right: Matrix, rows: int) -> Matrix:
    """For each place the sum of the rows of *right* that are taken for it, column by column."""
    found = np.empty((rows, right.shape[1]))
    for column, values in enumerate(np.ascontiguousarray(right.T)):
        found[:, column] = np.bincount(places, values[taken], rows)
    return found


def softmax_weights(inputs: Matrix, targets: Matrix, bare: Bare, bounds: tuple[float, int], start: Matrix) -> Matrix:
    """Weights (features by classes) of the maximum entropy model with an L2 penalty (Berger et al. 1996).

    *inputs* are observations by features, *targets* observations by classes with 1 at the class observed, *bounds*
    the penalty and the number of rounds.
    """
    penalty, rounds = bounds
    first, later = np.ascontiguousarray(inputs[:, : bare.columns]), np.ascontiguousarray(inputs[:, bare.columns :])
    first_turned, later_turned = np.ascontiguousarray(first.T), np.ascontiguousarray(later.T)

    def objective(weights: Matrix) -> tuple[float, Matrix]:
        scores = product(first, weights[: bare.columns])
        full, partial = softmax(scores + product(later, weights[bare.columns :])), softmax(scores)
        loss = penalty / 2 * float((weights * weights).sum()) - _likelihood(full, targets)
        loss -= bare.weight * _likelihood(partial, targets)
        off = full - targets
        slope = penalty * weights
        slope[: bare.columns] += product(first_turned, off + bare.weight * (partial - targets))
        slope[bare.columns :] += product(later_turned, off)
        return loss, slope

    return minimum(objective, start, rounds)


def _likelihood(chances: Matrix, targets: Matrix) -> float:
    """The logarithm of the chance that *chances* gave to what was observed."""
    return float((targets * np.log(chances + 1e-12)).sum())


def logistic_weights(inputs: Marks, targets: Matrix, mass: Matrix, penalty: float, rounds: int) -> Matrix:
    """Weights (features by labels) of independent logistic models; the first feature, a constant, goes unpenalised."""
    shape = (inputs.shape[1], targets.shape[1])
    penalties = np.full(shape, penalty)
    penalties[0] = penalty / 100

    def objective(weights: Matrix) -> tuple[float, Matrix]:
        scores = inputs.product(weights)
        loss = float((mass * (np.logaddexp(0.0, scores) - targets * scores)).sum())
        slope = inputs.turned_product(mass * (sigmoid(scores) - targets)) + penalties * weights
        return loss + float((penalties * weights * weights).sum()) / 2, slope

    return minimum(objective, np.zeros(shape), rounds)


def product(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product, a few rows at a time, so that no threads are used.

    Threads would make the last digits depend on the number of processors, and on a busy machine they wait for each
    other for longer than they work.
    """
    rows = max(2, _ONE_THREAD // max(1, left.shape[1] * right.shape[1]))
    found = np.empty((left.shape[0], right.shape[1]), np.result_type(left, right))
    for start in range(0, left.shape[0], rows):
        np.matmul(left[start : start + rows], right, out=found[start : start + rows])
    return found


def softmax(scores: Matrix) -> Matrix:
    """Each row of *scores* as chances that add up to one."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return chances


def sigmoid(scores: Matrix) -> Matrix:
    """Each score as a chance."""
    return 1.0 / (1.0 + np.exp(-np.clip(scores, -40.0, 40.0)))


def minimum(objective: Objective, start: Matrix, rounds: int) -> Matrix:
    """Where *objective* is least, by L-BFGS (Liu, Nocedal 1989) with halved steps, after at most *rounds* rounds."""
    here = start
    value, slope = objective(here)
    history: deque[tuple[Matrix, Matrix, float]] = deque(maxlen=_MEMORY)
    for _ in range(rounds):
        direction = _direction(slope, history)
        there, new_value, new_slope = _step(objective, here, value, slope, direction)
        moved, turned = there - here, new_slope - slope
        curvature = float((moved * turned).sum())
        if curvature > 1e-12:
            history.append((moved, turned, 1.0 / curvature))
        settled = value - new_value <= _TOLERANCE * max(abs(value), 1.0)
        here, value, slope = there, new_value, new_slope
        if settled:
            break
    return here


def _direction(slope: Matrix, history: deque[tuple[Matrix, Matrix, float]]) -> Matrix:
    """The slope, bent by the curvature of the last steps (the two loops of L-BFGS)."""
    if not history:
        return slope / max(1.0, float(np.abs(slope).max()))
    bent, shares = slope.copy(), []
    for moved, turned, inverse in reversed(history):
        share = inverse * float((moved * bent).sum())
        shares.append(share)
        bent -= share * turned
    moved, turned, inverse = history[-1]
    bent /= inverse * float((turned * turned).sum())
    for (moved, turned, inverse), share in zip(history, reversed(shares), strict=True):
        bent += moved * (share - inverse * float((turned * bent).sum()))
    return bent


def _step(
    objective: Objective, here: Matrix, value: float, slope: Matrix, direction: Matrix
) -> tuple[Matrix, float, Matrix]:
    """The first point along *direction* that is clearly lower (Armijo)."""
    descent, length = float((slope * direction).sum()), 1.0
    while True:
        there = here - length * direction
        new_value, new_slope = objective(there)
        if new_value <= value - 1e-4 * length * descent or length < _SMALLEST_STEP:
            return there, new_value, new_slope
        length /= 2
