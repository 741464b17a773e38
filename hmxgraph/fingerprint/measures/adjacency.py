"""An undirected graph as two arrays, in which every node has a neighbour."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Nodes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Compressed rows: the neighbours of node *n* are ``neighbours[starts[n]:starts[n + 1]]``, sorted."""

    starts: Nodes
    neighbours: Nodes

    @classmethod
    def of_links(cls, links: Iterable[tuple[str, Sequence[str]]]) -> "Adjacency":
        """The graph of ``(source, targets)`` rows: direction, repetition and links to oneself make no difference.

        >>> Adjacency.of_links([("a", ["b", "a"]), ("b", ["a"]), ("c", ["c"])]).size
        2

        """
        rows = [(source, targets) for source, targets in links if targets]
        if not rows:
            return cls(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
        names = np.array([*(source for source, _ in rows), *chain.from_iterable(targets for _, targets in rows)])
        numbers = np.unique(names, return_inverse=True)[1].astype(np.int64)
        sources = np.repeat(numbers[: len(rows)], [len(targets) for _, targets in rows])
        return cls.of_pairs(sources, numbers[len(rows) :])

    @classmethod
    def of_pairs(cls, sources: Nodes, targets: Nodes) -> "Adjacency":
        """The graph of pairs of numbers; nodes are numbered anew, those linked to nobody else left out."""
        proper = sources != targets
        ends, numbered = np.unique(np.concatenate((sources[proper], targets[proper])), return_inverse=True)
        one, other = np.split(numbered.astype(np.int64), 2)
        pairs = distinct(np.concatenate((one * len(ends) + other, other * len(ends) + one)))
        counts = np.bincount(pairs // len(ends), minlength=len(ends)) if len(ends) else np.zeros(0, dtype=np.int64)
        return cls(np.concatenate(([0], np.cumsum(counts))), pairs % max(len(ends), 1))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.starts) - 1

    @property
    def degrees(self) -> Nodes:
        """The number of neighbours of each node."""
        return np.diff(self.starts)

    @property
    def origins(self) -> Nodes:
        """The node at the other end of each entry of ``neighbours``."""
        return np.repeat(np.arange(self.size), self.degrees)

    def restricted_to(self, members: Nodes) -> "Adjacency":
        """The graph of *members* alone, which must be whole components."""
        inside = np.zeros(self.size, dtype=bool)
        inside[members] = True
        origins = self.origins
        kept = inside[origins]
        return Adjacency.of_pairs(origins[kept], self.neighbours[kept])

    def components(self) -> Nodes:
        """For each node the smallest number in its component: labels hooked onto smaller ones and shortened."""
        label = np.arange(self.size)
        origins = self.origins
        while True:
            smaller = label.copy()
            np.minimum.at(smaller, label[origins], label[self.neighbours])
            while not np.array_equal(smaller[smaller], smaller):
                smaller = smaller[smaller]
            if np.array_equal(smaller, label):
                return label
            label = smaller

    def distances(self, sources: Nodes) -> Nodes:
        """For each node the number of steps from the nearest of *sources*, -1 where there is no way."""
        distance = np.full(self.size, -1, dtype=np.int64)
        distance[sources] = 0
        frontier, steps = sources, 0
        while len(frontier):
            steps += 1
            frontier = self._beyond(frontier, distance)
            distance[frontier] = steps
        return distance

    def _beyond(self, frontier: Nodes, distance: Nodes) -> Nodes:
        counts = self.starts[frontier + 1] - self.starts[frontier]
        skipped = np.repeat(self.starts[frontier] - np.cumsum(counts) + counts, counts)
        met = self.neighbours[skipped + np.arange(len(skipped))]
        return distinct(met[distance[met] < 0])


def distinct(numbers: Nodes) -> Nodes:
    """*numbers* once each, in order; sorting is several times faster here than hashing, as ``np.unique`` does it.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]

    """
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]
