"""What decided a past session: the facts of its results that were spoken of."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from hmxgraph.recall.pool import EventPool, Flags

# A word in more than this share of the events of a session decides nothing in it.
_EVERYWHERE = 0.5


def decisive_weights(pool: EventPool, own: Flags, weight_by_term: Mapping[str, float]) -> Mapping[str, float]:
    """Return *weight_by_term* with the terms of the *own* session's results that were spoken of there, too.

    An excerpt of a request that was refused holds the reason then: what a lookup returned and the agent named. The
    rarer a term is in the session, the more it weighs, at most as much as the question's weightiest one.
    """
    events = np.flatnonzero(own).tolist()
    terms_of = {at: frozenset(pool.words[at].split()) for at in events}
    returned = frozenset().union(*(terms_of[at] for at in events if pool.results[at]))
    spoken = frozenset().union(*(terms_of[at] for at in events if not pool.kinds[at]))
    counts = Counter(term for terms in terms_of.values() for term in terms)
    most, top = _EVERYWHERE * len(events), max(weight_by_term.values(), default=1.0)
    decisive = {term: top * (1.0 - counts[term] / most) for term in returned & spoken if counts[term] < most}
    return {**decisive, **weight_by_term}
