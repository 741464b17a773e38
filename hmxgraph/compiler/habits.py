"""What agents did next in situations like this one: a maximum entropy model over all that went before.

Successful and failed sessions teach it alike: what is usual next hardly differs between them, and there is never
too much to learn from. What works is the business of the artifacts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hmxgraph.compiler.learning import Matrix, softmax, softmax_weights
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.situations import Track, is_worded, positions, track_of
from hmxgraph.compiler.summary import SessionSummary, Situation

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
    features = _features(ordered, profile)
    actions = sorted({step.action for summary in ordered for step in summary.steps})
    if not features or not actions:
        return Habits()
    observed = [_observations(ordered, features, actions, Track.features)]
    if profile.habit_bare_weight:
        bare = [name for name in features if not is_worded(name)]
        inputs, targets = _observations(ordered, bare, actions, Track.bare_features)
        observed.append((inputs, targets * np.float32(profile.habit_bare_weight)))
    start = np.zeros((len(features), len(actions)), np.float32)
    weights = softmax_weights(observed, profile.habit_penalty, profile.habit_rounds, start)
    weights[np.abs(weights) < _NEGLIGIBLE] = 0
    return Habits(tuple(actions), tuple(features), np.round(weights, _DIGITS))


def _features(summaries: Sequence[SessionSummary], profile: CompilerProfile) -> list[str]:
    """The features that enough sessions show, those of words last; of too many the most shared."""
    shared: Counter[str] = Counter()
    for summary in summaries:
        shared.update({name for track, step in positions(summary) for name in track.features(step.situation)})
    least = profile.habit_sessions if len(summaries) >= profile.habit_sessions else 1
    ranked = sorted((name for name in shared if shared[name] >= least), key=lambda name: (-shared[name], name))
    return sorted(ranked[: profile.habit_features], key=lambda name: (is_worded(name), -shared[name], name))


def _observations(
    summaries: Sequence[SessionSummary],
    features: Sequence[str],
    actions: Sequence[str],
    seen: Callable[[Track, Situation], list[str]],
) -> tuple[Matrix, Matrix]:
    index = {name: column for column, name in enumerate(features)}
    classes = {name: column for column, name in enumerate(actions)}
    count = sum(len(summary.steps) for summary in summaries)
    inputs = np.zeros((count, len(features)), np.float32)
    targets = np.zeros((count, len(actions)), np.float32)
    every = ((track, step) for summary in summaries for track, step in positions(summary))
    for row, (track, step) in enumerate(every):
        inputs[row, [index[name] for name in seen(track, step.situation) if name in index]] = 1
        targets[row, classes[step.action]] = 1
    return inputs, targets
