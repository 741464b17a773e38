"""What agents did next in situations like this one: a maximum entropy model over all that went before.

Successful and failed sessions teach it alike: what is usual next hardly differs between them, and there is never
too much to learn from. What works is the business of the artifacts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hmxgraph.compiler.models.learning import Bare, Matrix, softmax, softmax_weights
from hmxgraph.compiler.models.situations import is_worded, positions, track_of
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.sessions.summary import SessionSummary
from hmxgraph.text.counts import most_first

_DIGITS = 3
_NEGLIGIBLE = 0.01


@dataclass(frozen=True, slots=True)
class Habits:
    """Actions, and for each feature what it adds to the score of each action (rows by feature)."""

    actions: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    weights: Matrix = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def chances(self, running: SessionSummary) -> list[tuple[str, float]]:
        """Every known action with its chance to come next in *running*, likeliest first."""
        if not self.actions:
            return []
        index = {feature: row for row, feature in enumerate(self.features)}
        found = [index[name] for name in track_of(running).features(running.ahead) if name in index]
        chances = softmax(self.weights[found].sum(axis=0, keepdims=True))[0]
        ranked = sorted(zip(self.actions, map(float, chances), strict=True), key=lambda pair: (-pair[1], pair[0]))
        return [(action, round(chance, 4)) for action, chance in ranked]

    def document(self) -> dict[str, Any]:
        """Plain JSON values; weights in thousandths, those that hardly matter left out."""
        whole = np.rint(self.weights * 10**_DIGITS).astype(int).tolist()
        rows = [[part for column, weight in enumerate(row) if weight for part in (column, weight)] for row in whole]
        return {"actions": list(self.actions), "features": list(self.features), "weights": rows}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """The habits with this document."""
        weights = np.zeros((len(document["features"]), len(document["actions"])), np.float32)
        for row, pairs in enumerate(document["weights"]):
            weights[row, pairs[::2]] = np.asarray(pairs[1::2], np.float32) / 10**_DIGITS
        return cls(tuple(document["actions"]), tuple(document["features"]), weights)


def learn_habits(summaries: Iterable[SessionSummary], profile: CompilerProfile) -> Habits:
    """The habits of these sessions, whatever their order.

    Each position is learnt twice, the second time lightly and without what was said, so that a session of bare
    actions can be continued too.
    """
    ordered = sorted(summaries, key=lambda summary: summary.session_id)
    shown = [[track.features(step.situation) for track, step in positions(summary)] for summary in ordered]
    taken = [step.action for summary in ordered for step in summary.steps]
    features, actions = _features(shown, profile), sorted(set(taken))
    if not features or not actions:
        return Habits()
    inputs = _inputs([names for session in shown for names in session], features)
    bare = Bare(sum(not is_worded(name) for name in features), profile.habit_bare_weight)
    start = np.zeros((len(features), len(actions)), np.float32)
    weights = softmax_weights(
        inputs, _targets(taken, actions), bare, (profile.habit_penalty, profile.habit_rounds), start
    )
    weights[np.abs(weights) < _NEGLIGIBLE] = 0
    return Habits(tuple(actions), tuple(features), np.round(weights, _DIGITS))


def _features(shown: Sequence[Sequence[Sequence[str]]], profile: CompilerProfile) -> list[str]:
    """The features that enough sessions show, those of words last; of too many the most shared."""
    shared: Counter[str] = Counter()
    for session in shown:
        shared.update({name for names in session for name in names})
    least = profile.habit_sessions if len(shown) >= profile.habit_sessions else 1
    ranked = most_first({name: count for name, count in shared.items() if count >= least})
    return sorted(ranked[: profile.habit_features], key=lambda name: (is_worded(name), -shared[name], name))


def _inputs(shown: Sequence[Sequence[str]], features: Sequence[str]) -> Matrix:
    """One row for each position, 1 where it shows the column's feature."""
    index = {name: column for column, name in enumerate(features)}
    inputs = np.zeros((len(shown), len(features)), np.float32)
    for row, names in enumerate(shown):
        inputs[row, [index[name] for name in names if name in index]] = 1
    return inputs


def _targets(taken: Sequence[str], actions: Sequence[str]) -> Matrix:
    classes = {name: column for column, name in enumerate(actions)}
    targets = np.zeros((len(taken), len(actions)), np.float32)
    targets[np.arange(len(taken)), [classes[name] for name in taken]] = 1
    return targets
