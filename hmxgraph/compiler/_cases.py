"""Cases: sessions about the same identifiers (such as one order), so that several runs of one case count as one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, cycle, islice, repeat
from math import fsum, log

from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.comparison import jaccard

# Minimum share of identifiers, weighted by rarity, that a session has in common with the first of its case.
_SAME_CASE = 0.3
# An identifier used by more than this share of sessions is common.
_COMMON = 0.2
# Maximum number of example sessions per case.
_MOST_EXAMPLES = 4
# Upper bound on the relative error of a sum of weights.
_ROUNDING = 1e-9


class Cases:
    """Groups sessions by case: sessions that call tools with the same rare identifiers are about the same case.

    Identifiers that many sessions use, such as the only customer of a tenant, do not distinguish cases; a session
    without a rarer identifier is a case of its own.
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

        Each case contributes equally many sessions, so that cases weigh the same; a case with fewer repeats them.
        """
        cases = self.grouped(sessions)
        depth = min(_MOST_EXAMPLES, max(map(len, cases), default=0))
        examples = [session for runs in cases for session in islice(cycle(_most_typical(runs)), depth)]
        return tuple(sorted(examples, key=lambda session: session.session_id))

    def grouped(self, sessions: Iterable[SessionSummary]) -> list[list[SessionSummary]]:
        """The *sessions* by case.

        Each session joins the case whose first session is most similar, or starts a case if none is similar enough.
        """
        groups: list[list[SessionSummary]] = []
        groups_by_value: defaultdict[str, list[int]] = defaultdict(list)
        for session in sorted(sessions, key=lambda session: (-self._weight_of(session.about), session.session_id)):
            rarest = self._rarest_of(session.about)
            candidates = sorted({place for value in rarest for place in groups_by_value[value]})
            similarity = {place: self._similarity(session, groups[place][0]) for place in candidates}
            best = max(similarity, key=similarity.__getitem__, default=None)
            if best is not None and similarity[best] >= _SAME_CASE:
                groups[best].append(session)
                continue
            for value in rarest:
                groups_by_value[value].append(len(groups))
            groups.append([session])
        return groups

    def _rarest(self, about: tuple[str, ...]) -> list[str]:
        """The rarest identifiers of a session: enough of them to find every case that it may join.

        The least rare are left out, as long as they weigh less together than two sessions of one case must share. Two
        sessions that share none of the remaining ones are therefore never of one case (prefix filtering).
        """
        ranked = sorted(set(about), key=lambda value: (-self._rarity.get(value, 0.0), value))
        omissible = _SAME_CASE * (1 - _ROUNDING) * self._weight(ranked)
        while ranked and (omissible := omissible - self._rarity.get(ranked[-1], 0.0)) > 0:
            ranked.pop()
        return [value for value in ranked if value in self._rarity]

    def _similarity(self, session: SessionSummary, other: SessionSummary) -> float:
        """The weighted Jaccard similarity of what two sessions are about."""
        values, other_values = set(session.about), set(other.about)
        total = self._weight(values | other_values)
        return self._weight(values & other_values) / total if total else 0.0

    def _weight(self, values: Iterable[str]) -> float:
        return fsum(self._rarity.get(value, 0.0) for value in values)


def _most_typical(runs: Sequence[SessionSummary]) -> list[SessionSummary]:
    """At most ``_MOST_EXAMPLES`` sessions whose actions most resemble those of all *runs*, the most typical first."""
    counts = Counter(run.actions for run in runs)
    similarity = {
        actions: fsum(chain.from_iterable(repeat(jaccard(actions, other), counts[other]) for other in counts))
        for actions in counts
    }
    return sorted(runs, key=lambda run: (-similarity[run.actions], run.session_id))[:_MOST_EXAMPLES]


def done_without_failing(session: SessionSummary) -> set[str]:
    """The actions that a session took at least once without failing, and that the user did not ask to undo."""
    return {step.action for step in session.steps if step.ok is not False and not step.undone}


def changes_of(session: SessionSummary) -> frozenset[str]:
    """The changes that a session made without failing."""
    return frozenset(filter(is_action, done_without_failing(session)))
