"""Group sessions by case, such as one order, so that several sessions about the same case do not count as many."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, cycle, islice, repeat
from math import fsum, log

from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.comparison import jaccard

# Minimum similarity, weighted by rarity, of the identifiers of a session to those of the first session of its case.
_SAME_CASE = 0.3
# An identifier used by more than this share of sessions is common.
_COMMON = 0.2
# Maximum number of example sessions per case.
_MOST_EXAMPLES = 4
# Upper bound on the relative rounding error of a sum of weights.
_ROUNDING = 1e-9


class Cases:
    """Groups sessions by case: sessions that call tools with the same rare identifiers are about the same case.

    Identifiers that many sessions use, such as the only customer of a tenant, do not distinguish cases. A session
    without any rare identifier is a separate case.
    """

    def __init__(self, sessions: Sequence[SessionSummary]) -> None:
        counts = Counter(value for session in sessions for value in session.about)
        most = _COMMON * len(sessions)
        self._rarity = {value: log(len(sessions) / count) for value, count in counts.items() if count <= most}
        # Cached, because goal classes, playbooks and stated rules each group the same sessions repeatedly.
        self._weight_of = cache(self._weight)
        self._rarest_of = cache(self._rarest)

    def examples(self, sessions: Iterable[SessionSummary]) -> tuple[SessionSummary, ...]:
        """The most typical sessions of each case, in order of session id.

        Each case contributes the same number of sessions, so that all cases weigh the same. If a case has fewer, its
        sessions are repeated.
        """
        cases = self.grouped(sessions)
        per_case = min(_MOST_EXAMPLES, max(map(len, cases), default=0))
        examples = [session for case in cases for session in islice(cycle(_most_typical(case)), per_case)]
        return tuple(sorted(examples, key=lambda session: session.session_id))

    def grouped(self, sessions: Iterable[SessionSummary]) -> list[list[SessionSummary]]:
        """The *sessions* by case.

        Each session joins the case with the most similar first session, or starts a case if none is similar enough.
        """
        groups: list[list[SessionSummary]] = []
        groups_by_value: defaultdict[str, list[int]] = defaultdict(list)
        for session in sorted(sessions, key=lambda session: (-self._weight_of(session.about), session.session_id)):
            rarest = self._rarest_of(session.about)
            candidates = sorted({index for value in rarest for index in groups_by_value[value]})
            similarity = {index: self._similarity(session, groups[index][0]) for index in candidates}
            best = max(similarity, key=similarity.__getitem__, default=None)
            if best is not None and similarity[best] >= _SAME_CASE:
                groups[best].append(session)
                continue
            for value in rarest:
                groups_by_value[value].append(len(groups))
            groups.append([session])
        return groups

    def _rarest(self, about: tuple[str, ...]) -> list[str]:
        """The rarest identifiers of a session: enough of them to find every case that it may join (prefix filtering).

        The most common ones are left out, as long as their total weight is below what two sessions of one case must
        share. Two sessions that share none of the remaining ones can therefore not belong to one case.
        """
        ranked = sorted(set(about), key=lambda value: (-self._rarity.get(value, 0.0), value))
        omissible = _SAME_CASE * (1 - _ROUNDING) * self._weight(ranked)
        while ranked and (omissible := omissible - self._rarity.get(ranked[-1], 0.0)) > 0:
            ranked.pop()
        return [value for value in ranked if value in self._rarity]

    def _similarity(self, session: SessionSummary, other: SessionSummary) -> float:
        """The Jaccard similarity of the identifiers of two sessions, weighted by rarity."""
        values, other_values = set(session.about), set(other.about)
        total = self._weight(values | other_values)
        return self._weight(values & other_values) / total if total else 0.0

    def _weight(self, values: Iterable[str]) -> float:
        return fsum(self._rarity.get(value, 0.0) for value in values)


def _most_typical(sessions: Sequence[SessionSummary]) -> list[SessionSummary]:
    """At most ``_MOST_EXAMPLES`` of *sessions*: those whose actions are most similar to those of all, best first."""
    counts = Counter(session.actions for session in sessions)
    similarity = {
        actions: fsum(chain.from_iterable(repeat(jaccard(actions, other), counts[other]) for other in counts))
        for actions in counts
    }
    return sorted(sessions, key=lambda session: (-similarity[session.actions], session.session_id))[:_MOST_EXAMPLES]


def done_without_failing(session: SessionSummary) -> set[str]:
    """The actions that a session took at least once without failing, and that the user did not ask to undo."""
    return {step.action for step in session.steps if step.ok is not False and not step.undone}


def changes_of(session: SessionSummary) -> frozenset[str]:
    """The actions among those of :func:`done_without_failing` that change something."""
    return frozenset(filter(is_action, done_without_failing(session)))
