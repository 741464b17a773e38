"""How far apart the entities of the largest component can be: the ``max_depth`` of a graph digest (DESIGN 6)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hmxgraph.fingerprint.measures.adjacency import Adjacency, Nodes

EXACT_UP_TO = 5_000
_SWEEPS = 16
_WORDS_AT_ONCE = 8_000_000


class Depth(NamedTuple):
    """A diameter in relations, and whether it is exact or the lower bound of a double sweep."""

    value: int
    exact: bool


def max_depth(links: Iterable[tuple[str, Sequence[str]]]) -> Depth:
    """The diameter of the largest component of the undirected graph given as ``(source, targets)`` rows.

    Where several components are largest, it is the largest of their diameters, so that it depends on the graph's
    shape alone. Exact while those components hold up to 5,000 entities, else the lower bound of one double sweep.

    >>> max_depth([("a", ["b"]), ("b", ["c"]), ("x", ["y"])])
    Depth(value=2, exact=True)

    """
    graph = Adjacency.of_links(links)
    components = tuple(largest(graph.components()))
    if not components:
        return Depth(0, exact=True)
    if sum(len(members) for members in components) > EXACT_UP_TO:
        return Depth(double_sweep(graph, components), exact=False)
    return Depth(max(diameter(graph.restricted_to(members)) for members in components), exact=True)


def largest(component_of: Nodes) -> Iterator[Nodes]:
    """The members of each component of the greatest size; *component_of* names the component of every node."""
    if not len(component_of):
        return
    sizes = np.bincount(component_of)
    order = np.argsort(component_of, kind="stable")
    ends = np.cumsum(sizes)
    for component in np.flatnonzero(sizes == sizes.max()):
        yield order[ends[component] - sizes[component] : ends[component]]


def double_sweep(graph: Adjacency, components: Sequence[Nodes]) -> int:
    """The distance from the farthest node of the best connected one to the farthest from there; never too large.

    The components are walked at once: they do not touch. Magnien, Latapy, Habib: "Fast computation of empirically
    tight bounds for the diameter of massive graphs" (2009).
    """
    hubs = np.array([members[np.argmax(graph.degrees[members])] for members in components])
    from_hubs = graph.distances(hubs)
    rims = np.array([members[np.argmax(from_hubs[members])] for members in components])
    return int(graph.distances(rims).max())


def diameter(graph: Adjacency) -> int:
    """The exact diameter of a connected graph.

    Bounds on every node's eccentricity shrink with each breadth-first search (Takes, Kosters: "Determining the
    diameter of small world networks", 2011). Nodes that sixteen searches leave in doubt are searched all at once.
    """
    lower = np.zeros(graph.size, dtype=np.int64)
    upper = np.full(graph.size, graph.size, dtype=np.int64)
    doubtful = np.arange(graph.size)
    for sweep in range(_SWEEPS):
        source = _next_source(graph, doubtful, lower, upper, sweep)
        distance = graph.distances(np.array([source]))
        eccentricity = distance.max()
        lower = np.maximum(lower, np.maximum(distance, eccentricity - distance))
        upper = np.minimum(upper, eccentricity + distance)
        doubtful = np.flatnonzero(upper > lower.max())
        if not len(doubtful):
            return int(lower.max())
    return max(int(lower.max()), eccentricities(graph, doubtful))


def eccentricities(graph: Adjacency, sources: Nodes) -> int:
    """The greatest eccentricity of *sources*, one bit for each, all spreading together until nothing changes."""
    at_once = 64 * max(1, _WORDS_AT_ONCE // len(graph.neighbours))
    return max(_spread(graph, sources[first : first + at_once]) for first in range(0, len(sources), at_once))


def _next_source(graph: Adjacency, doubtful: Nodes, lower: Nodes, upper: Nodes, sweep: int) -> int:
    # Turn about: who may lie farthest out tightens the lower bound, who lies most central the upper one.
    bound = -upper[doubtful] if sweep % 2 else lower[doubtful]
    return int(doubtful[np.lexsort((-graph.degrees[doubtful], bound))[0]])


def _spread(graph: Adjacency, sources: Nodes) -> int:
    columns = np.arange(len(sources))
    reached = np.zeros((graph.size, -(-len(sources) // 64)), dtype=np.uint64)
    reached[sources, columns // 64] = np.left_shift(np.uint64(1), (columns % 64).astype(np.uint64))
    steps = 0
    while True:
        further = reached | np.bitwise_or.reduceat(reached[graph.neighbours], graph.starts[:-1], axis=0)
        if np.array_equal(further, reached):
            return steps
        reached, steps = further, steps + 1
