"""The diameter of the largest component of the entity graph: the ``max_depth`` of a digest."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

# An undirected graph without isolated nodes, as two arrays.

Nodes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Adjacency:
    """A graph in compressed rows: the sorted neighbours of node *n* are ``neighbours[starts[n]:starts[n + 1]]``."""

    starts: Nodes
    neighbours: Nodes

    @classmethod
    def of_links(cls, links: Iterable[tuple[str, Sequence[str]]]) -> "_Adjacency":
        """The graph of ``(source, targets)`` rows; direction, repetitions and self-links are ignored.

        >>> _Adjacency.of_links([("a", ["b", "a"]), ("b", ["a"]), ("c", ["c"])]).size
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
    def of_pairs(cls, sources: Nodes, targets: Nodes) -> "_Adjacency":
        """The graph with a link between each source and its target; nodes are renumbered, isolated ones dropped."""
        is_link = sources != targets
        ends, numbered = np.unique(np.concatenate((sources[is_link], targets[is_link])), return_inverse=True)
        first, second = np.split(numbered.astype(np.int64), 2)
        pairs = distinct(np.concatenate((first * len(ends) + second, second * len(ends) + first)))
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
        """For each entry of ``neighbours``, the node whose neighbour it is."""
        return np.repeat(np.arange(self.size), self.degrees)

    def restricted_to(self, members: Nodes) -> "_Adjacency":
        """The graph of *members* alone, which must be whole components."""
        inside = np.zeros(self.size, dtype=bool)
        inside[members] = True
        origins = self.origins
        is_inside = inside[origins]
        return _Adjacency.of_pairs(origins[is_inside], self.neighbours[is_inside])

    def components(self) -> Nodes:
        """For each node, the smallest node number in its component (by hooking and pointer jumping)."""
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
        """For each node, the number of steps from the nearest of *sources*; -1 if it cannot be reached."""
        distance = np.full(self.size, -1, dtype=np.int64)
        distance[sources] = 0
        frontier, steps = sources, 0
        while len(frontier):
            steps += 1
            frontier = self._unreached_neighbours(frontier, distance)
            distance[frontier] = steps
        return distance

    def _unreached_neighbours(self, frontier: Nodes, distance: Nodes) -> Nodes:
        """The neighbours of *frontier* whose *distance* is not known yet."""
        counts = self.starts[frontier + 1] - self.starts[frontier]
        # Added to 0, 1, 2, ..., these offsets give the positions of all neighbours of the first node, the second, ...
        offsets = np.repeat(self.starts[frontier] - np.cumsum(counts) + counts, counts)
        reached = self.neighbours[offsets + np.arange(len(offsets))]
        return distinct(reached[distance[reached] < 0])


def distinct(numbers: Nodes) -> Nodes:
    """The distinct *numbers*, sorted; several times faster here than the hashing of ``np.unique``.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]

    """
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]


# The ``max_depth`` of a graph digest: the diameter of the largest component.

# Maximum number of entities for which the diameter is exact; computing it for more would take too long.
_EXACT_UP_TO = 5_000
# Number of single breadth-first searches before the nodes that are still undecided are searched in parallel.
_SWEEPS = 16
# 64-bit words of neighbour bits gathered in one step of the parallel search: at most 64 MB.
_WORDS_AT_ONCE = 8_000_000


class Depth(NamedTuple):
    """A diameter (a number of relations), and whether it is exact; otherwise it is a lower bound."""

    value: int
    exact: bool


def max_depth(links: Iterable[tuple[str, Sequence[str]]]) -> Depth:
    """The diameter of the largest component of the undirected graph given as ``(source, targets)`` rows.

    If several components are largest, it is the largest of their diameters, so that it depends only on the shape of the
    graph. Exact if those components hold up to 5,000 entities together, else the lower bound of a double sweep.

    >>> max_depth([("a", ["b"]), ("b", ["c"]), ("x", ["y"])])
    Depth(value=2, exact=True)

    """
    graph = _Adjacency.of_links(links)
    components = tuple(largest(graph.components()))
    if not components:
        return Depth(0, exact=True)
    if sum(len(members) for members in components) > _EXACT_UP_TO:
        return Depth(_double_sweep(graph, components), exact=False)
    return Depth(max(diameter(graph.restricted_to(members)) for members in components), exact=True)


def largest(component_of: Nodes) -> Iterator[Nodes]:
    """The members of each component of the largest size; *component_of* holds the component of every node."""
    if not len(component_of):
        return
    sizes = np.bincount(component_of)
    order = np.argsort(component_of, kind="stable")
    ends = np.cumsum(sizes)
    for component in np.flatnonzero(sizes == sizes.max()):
        yield order[ends[component] - sizes[component] : ends[component]]


def _double_sweep(graph: _Adjacency, components: Sequence[Nodes]) -> int:
    """A lower bound of the diameter, by two searches.

    The first starts at the best-connected node, the second at the node farthest from it. All components are searched at
    once, because they are disjoint. Magnien, Latapy, Habib: "Fast computation of empirically tight bounds for the
    diameter of massive graphs" (2009).
    """
    hubs = np.array([members[np.argmax(graph.degrees[members])] for members in components])
    from_hubs = graph.distances(hubs)
    farthest = np.array([members[np.argmax(from_hubs[members])] for members in components])
    return int(graph.distances(farthest).max())


def diameter(graph: _Adjacency) -> int:
    """The exact diameter of a connected graph.

    The eccentricity of a node is the distance of the node farthest from it; the diameter is the greatest eccentricity.
    Each breadth-first search tightens the bounds on every node's eccentricity (Takes, Kosters: "Determining the
    diameter of small world networks", 2011). Nodes still undecided after sixteen searches are searched in parallel.
    """
    lower = np.zeros(graph.size, dtype=np.int64)
    upper = np.full(graph.size, graph.size, dtype=np.int64)
    undecided = np.arange(graph.size)
    for sweep in range(_SWEEPS):
        source = _next_source(graph, undecided, lower, upper, sweep)
        distance = graph.distances(np.array([source]))
        eccentricity = distance.max()
        lower = np.maximum(lower, np.maximum(distance, eccentricity - distance))
        upper = np.minimum(upper, eccentricity + distance)
        undecided = np.flatnonzero(upper > lower.max())
        if not len(undecided):
            return int(lower.max())
    return max(int(lower.max()), _greatest_eccentricity(graph, undecided))


def _greatest_eccentricity(graph: _Adjacency, sources: Nodes) -> int:
    """The greatest eccentricity of *sources*, by parallel search: see `_spread`."""
    at_once = 64 * max(1, _WORDS_AT_ONCE // len(graph.neighbours))
    return max(_spread(graph, sources[first : first + at_once]) for first in range(0, len(sources), at_once))


def _next_source(graph: _Adjacency, undecided: Nodes, lower: Nodes, upper: Nodes, sweep: int) -> int:
    """The undecided node to search from next; among equals, the node with the most neighbours."""
    # Alternate: the most central node tightens the upper bounds, the most peripheral one the lower bounds.
    bound = -upper[undecided] if sweep % 2 else lower[undecided]
    return int(undecided[np.lexsort((-graph.degrees[undecided], bound))[0]])


def _spread(graph: _Adjacency, sources: Nodes) -> int:
    """The greatest eccentricity of *sources*, found in one search.

    Each source has a bit, which spreads to the neighbours in each step, until every node has the bits of all sources.
    """
    columns = np.arange(len(sources))
    reached = np.zeros((graph.size, -(-len(sources) // 64)), dtype=np.uint64)
    reached[sources, columns // 64] = np.left_shift(np.uint64(1), (columns % 64).astype(np.uint64))
    steps = 0
    while True:
        further = reached | np.bitwise_or.reduceat(reached[graph.neighbours], graph.starts[:-1], axis=0)
        if np.array_equal(further, reached):
            return steps
        reached, steps = further, steps + 1
