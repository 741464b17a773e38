"""How a budget is divided among the sections (HMX-C 4, DESIGN 6)."""

from collections.abc import Iterable, Mapping

from hmxgraph.protocol.packs import SECTION_PRIORITY
from hmxgraph.recall.known.priors import NO_PRIORS, Priors

# Sixteenths; other sections live on what these leave over.
SHARES: Mapping[str, int] = {
    "core": 2,
    "constraints": 1,
    "procedures": 4,
    "facts": 4,
    "episodes": 3,
    "graph_relations": 2,
}


def section_budgets(total: int, sections: Iterable[str], priors: Priors = NO_PRIORS) -> dict[str, int]:
    """The tokens that each of *sections* may use at first, in the order of their priority; at most *total* together.

    Shares are sixteenths of the total; where only some sections are wanted, they divide all of it among them.

    >>> section_budgets(4096, ["core", "facts", "procedures", "episodes", "graph_relations", "constraints"])
    {'core': 512, 'constraints': 256, 'procedures': 1024, 'facts': 1024, 'episodes': 768, 'graph_relations': 512}
    >>> section_budgets(512, ["episodes"])
    {'episodes': 512}

    """
    wanted = set(sections)
    shares = {name: SHARES.get(name, 0) * priors.weight(name) for name in SECTION_PRIORITY if name in wanted}
    if not any(shares.values()):
        shares = dict.fromkeys(shares, 1.0)
    whole = sum(shares.values())
    return {name: int(total * share / whole) for name, share in shares.items()}
