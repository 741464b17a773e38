"""What was decisive in a past session: terms that its results and its messages share, and fields that calls changed."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from hmxgraph.recall.pool import EventPool, Flags
from hmxgraph.text.excerpts import fields_of

# A term in at least this share of a session's events is too common to be decisive.
_EVERYWHERE = 0.5


def decisive_weights(pool: EventPool, in_session: Flags, weight_by_term: Mapping[str, float]) -> Mapping[str, float]:
    """Return *weight_by_term* with decisive terms added: those that both results and messages of a session contain.

    *in_session* marks the events of the session. If a request was refused, its reason, which a lookup returned and the
    agent mentioned, thus gets into excerpts. The rarer a decisive term is in the session, the higher its weight, always
    below that of the question's weightiest term.
    """
    events = np.flatnonzero(in_session).tolist()
    terms_of = {index: frozenset(pool.words[index].split()) for index in events}
    result_terms = frozenset().union(*(terms_of[index] for index in events if pool.results[index]))
    message_terms = frozenset().union(*(terms_of[index] for index in events if not pool.kinds[index]))
    counts = Counter(term for terms in terms_of.values() for term in terms)
    most, top = _EVERYWHERE * len(events), max(weight_by_term.values(), default=1.0)
    decisive = {term: top * (1.0 - counts[term] / most) for term in result_terms & message_terms if counts[term] < most}
    return {**decisive, **weight_by_term}


def changed_fields(pool: EventPool, in_session: Flags) -> dict[int, frozenset[str]]:
    """Return the new fields of each successful result, by its index, if earlier results have at least half its fields.

    *in_session* marks the events of the session. A call that changes a record usually returns the whole record. Its
    fields that no earlier result has show what was changed.
    """
    changed, known = dict[int, frozenset[str]](), set[str]()
    for index in np.flatnonzero(in_session & pool.successes).tolist():
        fields = fields_of(pool.text[index])
        if 2 * len(fields - known) <= len(fields):
            changed[index] = fields - known
        known |= fields
    return changed
