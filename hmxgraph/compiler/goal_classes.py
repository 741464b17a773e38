"""Goal classes: sessions whose requests are similar and lead to the same actions.

Sessions without a request form classes by the changes that they made.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from hmxgraph.compiler._cases import Cases, changes_of, done_without_failing
from hmxgraph.compiler._models import Goals, informative_terms, request_terms
from hmxgraph.compiler._verbs import is_action, kind_of, serves_any_purpose
from hmxgraph.compiler._wording import asks_for_change
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.terms import most_first

# The actions that identify a class.
Key = frozenset[str]
Groups = dict[Key, list[SessionSummary]]
# The usual changes must occur in at least this many times the cases of any other combination of changes.
_LEAST_RATIO = 2


@dataclass(frozen=True, slots=True)
class GoalClass:
    """One kind of request: the actions that identify it, its sessions, and the steps shared by its examples.

    A case is one piece of work, such as one order, which may take several sessions. ``examples`` holds sessions that
    show how the work is done. Each case has the same number of examples, because repetitions of one case are not
    evidence for others. ``cases`` counts the cases. ``steps`` are in the order in which they are usually taken, each
    with the share of examples that took it.
    """

    key: Key
    members: tuple[SessionSummary, ...]
    examples: tuple[SessionSummary, ...] = ()
    cases: int = 0
    steps: tuple[tuple[str, float], ...] = ()

    @property
    def name(self) -> str:
        """The stable name of the class, derived from its key."""
        return "|".join(sorted(self.key))

    @property
    def training_sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions to learn from: the successful ones, or those without an outcome if none succeeded."""
        successful = tuple(member for member in self.members if member.succeeded)
        return successful or tuple(member for member in self.members if member.outcome == "unknown")

    @property
    def requests(self) -> tuple[str, ...]:
        """The requests of its sessions."""
        return tuple(member.request for member in self.members if member.request)


def goal_classes(summaries: Sequence[SessionSummary], goals: Goals, profile: CompilerProfile) -> list[GoalClass]:
    """The goal classes of these sessions, largest first.

    Sessions without steps are omitted, and so are those that failed with a request unlike any other.
    """
    with_request = [summary for summary in summaries if summary.request and summary.steps]
    without_request = [summary for summary in summaries if not summary.request and summary.steps]
    shared, unique = _by_wording(with_request, goals, profile)
    groups = _with_support(_merge_similar(_grouped(shared), profile), profile)
    by_changes = _with_support(_grouped((_changes(summary), summary) for summary in without_request), profile)
    classes = [
        GoalClass(key, tuple(sorted(members, key=lambda member: member.session_id)))
        for key, members in _joined(_joined(groups, by_changes), _grouped(unique)).items()
    ]
    learning = _Learning(summaries, profile)
    with_steps = [goal_class for goal_class in map(learning.with_steps, classes) if goal_class.steps]
    merged = _merge_same_work(with_steps, learning)
    return sorted(merged, key=lambda goal_class: (-len(goal_class.members), goal_class.name))


class _Learning:
    """Finds the examples of a class and the steps that they share; *summaries* are all sessions."""

    def __init__(self, summaries: Sequence[SessionSummary], profile: CompilerProfile) -> None:
        self._profile = profile
        self._cases = Cases(summaries)
        self._by_changes: defaultdict[Key, list[SessionSummary]] = defaultdict(list)
        for session in summaries:
            if session.succeeded:
                self._by_changes[changes_of(session)].append(session)

    def with_steps(self, goal_class: GoalClass) -> GoalClass:
        """The class with its examples and steps."""
        sessions = self._exemplary_sessions(goal_class.training_sessions)
        examples, cases = self._cases.examples(sessions), self._count_cases(sessions)
        return replace(goal_class, examples=examples, cases=cases, steps=_steps(examples, self._profile))

    def _exemplary_sessions(self, training_sessions: Sequence[SessionSummary]) -> Sequence[SessionSummary]:
        """The sessions that show how the work of a class is done.

        The usual changes are those that the most cases among *training_sessions* made. All successful sessions of the
        tenant that made exactly these changes are returned; if there are none, the training sessions that made them.

        There are two exceptions. All training sessions are returned if no changes clearly prevail, or if
        general-purpose programs made them, because such programs are used for any work. If most cases changed nothing,
        the training sessions that changed nothing, and were not asked to, are returned.
        """
        sessions_by_changes: defaultdict[Key, list[SessionSummary]] = defaultdict(list)
        for session in training_sessions:
            changes = changes_of(session)
            if changes or not asks_for_change(session.request):
                sessions_by_changes[changes].append(session)
        cases = {changes: self._count_cases(sessions_by_changes[changes]) for changes in sessions_by_changes}
        usual = max(
            sessions_by_changes,
            key=lambda changes: (cases[changes], len(sessions_by_changes[changes]), sorted(changes)),
            default=Key(),
        )
        if not usual:
            return sessions_by_changes[usual] or training_sessions
        next_most_cases = max((cases[changes] for changes in cases if changes and changes != usual), default=0)
        if cases[usual] < _LEAST_RATIO * next_most_cases or any(map(serves_any_purpose, usual)):
            return training_sessions
        return self._by_changes[usual] or sessions_by_changes[usual]

    def same_work(self, goal_class: GoalClass, candidate: GoalClass) -> bool:
        """Whether two classes have the same examples, or make the same changes in similar steps.

        Classes without changes must have equal steps. Steps that usually follow a failure are ignored, because they
        depend on the failures that occurred, not on the request.
        """
        if goal_class.examples == candidate.examples:
            return True
        repairs = repairs_of((*goal_class.examples, *candidate.examples))
        steps, candidate_steps = (
            [name for name, _ in compared.steps if name not in repairs] for compared in (goal_class, candidate)
        )
        changes, candidate_changes = (set(filter(is_action, names)) for names in (steps, candidate_steps))
        least = self._profile.unite_steps if changes else 1.0
        return changes == candidate_changes and jaccard(steps, candidate_steps) >= least

    def _count_cases(self, sessions: Sequence[SessionSummary]) -> int:
        return len(self._cases.grouped(sessions))


def _merge_same_work(classes: Sequence[GoalClass], learning: _Learning) -> list[GoalClass]:
    """Merge classes of the same work, even if their requests use other words; the largest determines the key."""
    merged: list[GoalClass] = []
    for goal_class in sorted(classes, key=lambda goal_class: (-len(goal_class.members), goal_class.name)):
        index = next((index for index, larger in enumerate(merged) if learning.same_work(goal_class, larger)), None)
        if index is None:
            merged.append(goal_class)
            continue
        members = sorted((*merged[index].members, *goal_class.members), key=lambda member: member.session_id)
        merged[index] = learning.with_steps(GoalClass(merged[index].key, tuple(members)))
    return merged


def expected(chances: Mapping[str, float], profile: CompilerProfile) -> Key:
    """The actions to expect: those of *chances* that reach their threshold, else the most probable one."""
    likely = {name for name, chance in chances.items() if chance >= threshold(name, profile)}
    return frozenset(likely or most_first(chances)[:1])


def threshold(action: str, profile: CompilerProfile) -> float:
    """The probability from which *action* is expected; lower for changes, because they are the purpose of a request."""
    by_kind = {"lookup": profile.goal_lookup, "action": profile.goal_action}
    return by_kind.get(kind_of(action), profile.scratch_share)


def fit(key: Iterable[str], chances: Mapping[str, float], profile: CompilerProfile) -> float:
    """How well a class with this *key* fits these probabilities: the sum of probability minus threshold."""
    # The key is an unordered set. Unlike sum(), fsum() does not depend on the order.
    return fsum(chances.get(name, 0.0) - threshold(name, profile) for name in key)


def _by_wording(
    requested: Sequence[SessionSummary], goals: Goals, profile: CompilerProfile
) -> tuple[list[tuple[Key, SessionSummary]], list[tuple[Key, SessionSummary]]]:
    """Two lists of sessions with their keys: those whose requests share informative words, and those with unique ones.

    A session whose request shares no words still belongs to the first list if it took the actions usual for any
    request. The key of a session with a unique request is made of its own actions; it is left out if it failed.
    """
    shared, unique = [], []
    counts_by_term = _actions_by_term(requested)
    for session, chances in zip(
        requested, goals.logistic_chances([request_terms(session.request) for session in requested]), strict=True
    ):
        related_chances = {name: chances[name] for name in _related_actions(session, counts_by_term)}
        usual, actions = expected(chances, profile), frozenset(session.actions)
        if related_chances or usual <= actions:
            shared.append((expected(related_chances or chances, profile), session))
        elif session.outcome != "failure":
            unique.append((expected(dict.fromkeys(actions, 1.0), profile), session))
    return shared, unique


def _actions_by_term(sessions: Iterable[SessionSummary]) -> dict[str, Counter[str]]:
    """For each informative term, the number of sessions with this term that took each action."""
    counts_by_term: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for session in sessions:
        for term in informative_terms(session.request):
            counts_by_term[term].update(set(session.actions))
    return counts_by_term


def _related_actions(summary: SessionSummary, counts_by_term: Mapping[str, Counter[str]]) -> set[str]:
    """The actions of other sessions that share an informative term with this one."""
    own_actions = frozenset(summary.actions)
    counts_of_terms = (counts_by_term[term] for term in informative_terms(summary.request))
    return {name for counts in counts_of_terms for name, count in counts.items() if count > (name in own_actions)}


def _grouped(pairs: Iterable[tuple[Key, SessionSummary]]) -> Groups:
    groups: defaultdict[Key, list[SessionSummary]] = defaultdict(list)
    for key, summary in pairs:
        groups[key].append(summary)
    return {key: groups[key] for key in sorted(groups, key=sorted)}


def _joined(left: Groups, right: Groups) -> Groups:
    """The groups of both; those with the same key become one."""
    return {key: left.get(key, []) + right.get(key, []) for key in left | right}


def _changes(summary: SessionSummary) -> Key:
    """All changes of a session, including those that failed."""
    return frozenset(name for name in summary.actions if is_action(name))


def _merge_similar(groups: Groups, profile: CompilerProfile) -> Groups:
    """Merge groups with similar wording and similar actions; the larger group determines the key."""
    merged = dict(groups)
    words = {key: _word_shares(members) for key, members in groups.items()}
    pairs = _pairs_sharing_actions(groups, profile)
    overlaps = {pair: _overlap(words[pair[0]], words[pair[1]]) for pair in pairs}
    while pair := _closest(overlaps, profile):
        large, small = sorted(pair, key=lambda key: (-len(merged[key]), sorted(key)))
        merged[large] = merged[large] + merged.pop(small)
        words[large] = _word_shares(merged[large])
        overlaps = {pair: share for pair, share in overlaps.items() if small not in pair}
        overlaps |= {pair: _overlap(words[pair[0]], words[pair[1]]) for pair in overlaps if large in pair}
    return merged


def _pairs_sharing_actions(groups: Iterable[Key], profile: CompilerProfile) -> list[tuple[Key, Key]]:
    """The pairs of keys that share enough of their actions, in order."""
    keys = sorted(groups, key=sorted)
    return [
        (left, right)
        for index, left in enumerate(keys)
        for right in keys[index + 1 :]
        if jaccard(left, right) >= profile.merge_actions
    ]


def _closest(overlaps: Mapping[tuple[Key, Key], float], profile: CompilerProfile) -> tuple[Key, Key] | None:
    """The pair of groups with the most similar wording, the first of equals; None if none is similar enough."""
    best = max(overlaps.values(), default=0.0)
    return (
        next((pair for pair, share in overlaps.items() if share == best), None)
        if best >= profile.merge_requests
        else None
    )


def _word_shares(members: Sequence[SessionSummary]) -> dict[str, float]:
    """For each term, the share of requests that use it."""
    counts = Counter(term for member in members for term in set(request_terms(member.request)))
    return {term: count / len(members) for term, count in sorted(counts.items())}


def _overlap(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """The weighted Jaccard index: the shared weight divided by the total weight."""
    shared = sum(min(share, right[term]) for term, share in left.items() if term in right)
    total = sum(left.values()) + sum(right.values()) - shared
    return shared / total if total else 1.0


def _with_support(groups: Groups, profile: CompilerProfile) -> Groups:
    """Merge each group that has too few sessions into the most similar group that has enough.

    Sessions that failed do not count. A group without any similar group stays as it is.
    """
    supported = {key: list(members) for key, members in groups.items() if _is_supported(members, profile)}
    unsupported: Groups = {}
    for key, members in groups.items():
        if key in supported:
            continue
        closest = min(
            supported,
            key=lambda candidate: (-_similarity(key, candidate), -len(groups[candidate]), sorted(candidate)),
            default=None,
        )
        if closest is not None and _similarity(key, closest):
            supported[closest] += members
        else:
            unsupported[key] = members
    return supported | unsupported


def _is_supported(members: Sequence[SessionSummary], profile: CompilerProfile) -> bool:
    return sum(member.outcome != "failure" for member in members) >= profile.min_support


def _similarity(left: Key, right: Key) -> float:
    """The share of actions that two keys have in common (Dice coefficient, 1945); 1 for two empty keys."""
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 1.0


def _steps(sessions: Sequence[SessionSummary], profile: CompilerProfile) -> tuple[tuple[str, float], ...]:
    """The steps that enough of these sessions share, in their usual order, each with the share of sessions with it."""
    if not sessions:
        return ()
    # Actions that only failed do not count, unless nothing in the session worked.
    counts = Counter(name for session in sessions for name in done_without_failing(session) or set(session.actions))
    shares = {name: count / len(sessions) for name, count in counts.items()}
    usual = [name for name in sorted(shares) if shares[name] >= _share_needed(name, sessions, profile)]
    worked = [name for name in usual if not only_failed(name, sessions)]
    # Repairs belong to playbooks, unless nearly every example needs them. If an action always failed, what looks like a
    # repair may be its replacement, which is a step.
    repairs = repairs_of(sessions) - {name for name in worked if shares[name] >= profile.required_share}
    steps = [name for name in worked if len(worked) < len(usual) or name not in repairs]
    steps = steps or most_first(shares)[:1]
    return tuple((name, round(shares[name], 4)) for name in in_order_of_work(steps, sessions))


def _share_needed(action: str, sessions: Sequence[SessionSummary], profile: CompilerProfile) -> float:
    """The minimum share of sessions for an action to be a step; lower for changes, and for checks after them."""
    match kind_of(action):
        case "action":
            return profile.action_share
        case "lookup":
            return profile.check_share if _is_check(action, sessions) else profile.lookup_share
        case _:
            return profile.scratch_share


def _is_check(action: str, sessions: Sequence[SessionSummary]) -> bool:
    """Whether a lookup is usually first used after the last change, which makes it a check."""
    after_last_change = []
    for session in sessions:
        names = session.actions
        change_indexes = [index for index, name in enumerate(names) if is_action(name)]
        if action in names:
            after_last_change.append(bool(change_indexes) and names.index(action) > change_indexes[-1])
    return sum(after_last_change) > len(after_last_change) / 2


def only_failed(action: str, sessions: Sequence[SessionSummary]) -> bool:
    """Whether every use of *action* failed."""
    return all(
        _has_failed(session, index)
        for session in sessions
        for index, name in enumerate(session.actions)
        if name == action
    )


def _has_failed(summary: SessionSummary, index: int) -> bool:
    """Whether the step at *index* failed by its result or by an error event."""
    return summary.steps[index].ok is False or any(failure.step == index for failure in summary.failures)


def repairs_of(summaries: Iterable[SessionSummary]) -> frozenset[str]:
    """The actions that usually follow a failure in these sessions: right after it, or before the next attempt."""
    action_counts, reaction_counts = Counter[str](), Counter[str]()
    for session in summaries:
        action_counts.update(session.actions)
        reaction_counts.update(session.actions[index] for index in _reactions(session))
    return frozenset(name for name in reaction_counts if reaction_counts[name] > action_counts[name] / 2)


def _reactions(session: SessionSummary) -> set[int]:
    """The indexes of steps right after a failure, and of all steps between a failed action and its next attempt."""
    indexes = {index for index, step in enumerate(session.steps) if step.situation.failure}
    for failed in (failure.step for failure in session.failures if failure.step >= 0):
        action, later = session.actions[failed], session.actions[failed + 1 :]
        if action in later:
            indexes.update(range(failed + 1, failed + 1 + later.index(action)))
    return indexes


def in_order_of_work(actions: Collection[str], sessions: Sequence[SessionSummary]) -> list[str]:
    """These actions in the order in which sessions usually took them.

    They are sorted by the number of other actions that they follow in most sessions that took both. Mean positions only
    break ties: they can mislead, because different sessions took different actions. Of several calls of an action, the
    first that did not fail counts, so that what made it work comes before it.
    """
    relative_positions = [
        {name: index / len(order) for index, name in enumerate(order)}
        for order in (_actions_in_order(session) for session in dict.fromkeys(sessions))
    ]
    with_action = {name: [session for session in relative_positions if name in session] for name in sorted(actions)}
    mean = {name: statistics.fmean(session[name] for session in with_action[name]) for name in with_action}

    def follows(name: str, other: str) -> bool:
        both = [session for session in with_action[name] if other in session]
        later = sum(session[name] > session[other] for session in both)
        return 2 * later > len(both) or (2 * later == len(both) and mean[name] > mean[other])

    return sorted(with_action, key=lambda name: (sum(follows(name, other) for other in with_action), mean[name], name))


def _actions_in_order(session: SessionSummary) -> list[str]:
    """The actions of a session, each once, in order of the first call that did not fail, else of the first call."""
    last_to_first = [*enumerate(session.steps)][::-1]
    first = {step.action: index for index, step in last_to_first}
    first_not_failed = {step.action: index for index, step in last_to_first if step.ok is not False}
    return sorted(first, key=(first | first_not_failed).__getitem__)
