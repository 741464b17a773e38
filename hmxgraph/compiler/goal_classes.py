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

# The actions by which sessions form a class.
Key = frozenset[str]
Groups = dict[Key, list[SessionSummary]]
# Minimum ratio of the cases with the usual changes to the cases with any other combination of changes.
_CLEARLY = 2


@dataclass(frozen=True, slots=True)
class GoalClass:
    """One kind of request: its identifying actions, its sessions, and the steps shared by its examples.

    ``examples`` holds sessions in which the work was done, equally many of each case: repetitions of one case are not
    evidence for others. ``cases`` counts the cases. ``steps`` are in order of work, each with the share of examples
    that took it.
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
    def models(self) -> tuple[SessionSummary, ...]:
        """The sessions to learn from: the successful ones, or those without an outcome if none succeeded."""
        good = tuple(member for member in self.members if member.succeeded)
        return good or tuple(member for member in self.members if member.outcome == "unknown")

    @property
    def requests(self) -> tuple[str, ...]:
        """The requests of its sessions."""
        return tuple(member.request for member in self.members if member.request)


def goal_classes(summaries: Sequence[SessionSummary], goals: Goals, profile: CompilerProfile) -> list[GoalClass]:
    """The goal classes of these sessions, largest first.

    Sessions without steps are omitted, and so are those that failed with a request unlike any other.
    """
    requested = [summary for summary in summaries if summary.request and summary.steps]
    unrequested = [summary for summary in summaries if not summary.request and summary.steps]
    shared, unique = _by_wording(requested, goals, profile)
    groups = _with_support(_merge_similar(_grouped(shared), profile), profile)
    by_changes = _with_support(_grouped((_changes(summary), summary) for summary in unrequested), profile)
    classes = [
        GoalClass(key, tuple(sorted(members, key=lambda member: member.session_id)))
        for key, members in _joined(_joined(groups, by_changes), _grouped(unique)).items()
    ]
    learning = _Learning(summaries, profile)
    united = _merge_same_work([learned for learned in map(learning.with_steps, classes) if learned.steps], learning)
    return sorted(united, key=lambda goal_class: (-len(goal_class.members), goal_class.name))


class _Learning:
    """Finds the examples of a class and the steps that they share."""

    def __init__(self, summaries: Sequence[SessionSummary], profile: CompilerProfile) -> None:
        self._profile = profile
        self._cases = Cases(summaries)
        self._by_changes: defaultdict[Key, list[SessionSummary]] = defaultdict(list)
        for session in summaries:
            if session.succeeded:
                self._by_changes[changes_of(session)].append(session)

    def with_steps(self, goal_class: GoalClass) -> GoalClass:
        """The class with its examples and steps."""
        working = self._at_work(goal_class.models)
        examples, cases = self._cases.examples(working), self._count_cases(working)
        return replace(goal_class, examples=examples, cases=cases, steps=_steps(examples, self._profile))

    def _at_work(self, models: Sequence[SessionSummary]) -> Sequence[SessionSummary]:
        """The sessions that show how this work is done: all successful ones that made exactly its usual changes.

        The usual changes are those made in the most cases among *models*. If no session succeeded with them, the
        sessions of *models* that made them are returned. All *models* are returned if the changes do not clearly
        prevail, or if general-purpose programs made them: these do not distinguish work. If most cases change nothing,
        the sessions of *models* that changed nothing, and were not asked to, are returned.
        """
        models_by_changes: defaultdict[Key, list[SessionSummary]] = defaultdict(list)
        for model in models:
            changes = changes_of(model)
            if changes or not asks_for_change(model.request):
                models_by_changes[changes].append(model)
        cases = {changes: self._count_cases(models_by_changes[changes]) for changes in models_by_changes}
        usual = max(
            models_by_changes,
            key=lambda changes: (cases[changes], len(models_by_changes[changes]), sorted(changes)),
            default=Key(),
        )
        if not usual:
            return models_by_changes[usual] or models
        rivals = max((cases[changes] for changes in cases if changes and changes != usual), default=0)
        if cases[usual] < _CLEARLY * rivals or any(map(serves_any_purpose, usual)):
            return models
        return self._by_changes[usual] or models_by_changes[usual]

    def same_work(self, goal_class: GoalClass, candidate: GoalClass) -> bool:
        """Whether two classes have the same examples, or make the same changes in similar steps.

        Read-only classes must have equal steps. Steps that usually follow a failure do not count: they depend on the
        failures that the agent met, not on the request.
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
    """Merge classes of the same work, whatever the wording of their requests; the largest determines the key."""
    united: list[GoalClass] = []
    for goal_class in sorted(classes, key=lambda goal_class: (-len(goal_class.members), goal_class.name)):
        place = next((place for place, larger in enumerate(united) if learning.same_work(goal_class, larger)), None)
        if place is None:
            united.append(goal_class)
            continue
        members = sorted((*united[place].members, *goal_class.members), key=lambda member: member.session_id)
        united[place] = learning.with_steps(GoalClass(united[place].key, tuple(members)))
    return united


def expected(chances: Mapping[str, float], profile: CompilerProfile) -> Key:
    """The actions to expect, at least one of *chances*; changes, the purpose of a request, need lower probabilities."""
    chosen = {name for name, chance in chances.items() if chance >= threshold(name, profile)}
    return frozenset(chosen or most_first(chances)[:1])


def threshold(action: str, profile: CompilerProfile) -> float:
    """The probability from which *action* is expected."""
    by_kind = {"lookup": profile.goal_lookup, "action": profile.goal_action}
    return by_kind.get(kind_of(action), profile.scratch_share)


def fit(key: Iterable[str], chances: Mapping[str, float], profile: CompilerProfile) -> float:
    """How well a class with this key fits these probabilities: the sum of probability minus threshold."""
    # A key is an unordered set, and a plain float sum depends on order.
    return fsum(chances.get(name, 0.0) - threshold(name, profile) for name in key)


def _by_wording(
    requested: Sequence[SessionSummary], goals: Goals, profile: CompilerProfile
) -> tuple[list[tuple[Key, SessionSummary]], list[tuple[Key, SessionSummary]]]:
    """The sessions with their keys: those whose requests share informative words with others, and then the rest.

    A session whose request shares no words counts among the first if it takes the usual actions. Otherwise its key is
    made of its own actions, and it is left out if it failed.
    """
    shared, unique = [], []
    counts_by_term = _actions_by_term(requested)
    for session, chances in zip(
        requested, goals.logistic_chances([request_terms(session.request) for session in requested]), strict=True
    ):
        related = {name: chances[name] for name in _related_actions(session, counts_by_term)}
        usual, actions = expected(chances, profile), frozenset(session.actions)
        if related or usual <= actions:
            shared.append((expected(related or chances, profile), session))
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
    """The union of both groupings; groups with the same key are joined."""
    return {key: left.get(key, []) + right.get(key, []) for key in left | right}


def _changes(summary: SessionSummary) -> Key:
    return frozenset(name for name in summary.actions if is_action(name))


def _merge_similar(groups: Groups, profile: CompilerProfile) -> Groups:
    """Merge groups with similar wording and similar actions; the larger group determines the key."""
    merged = dict(groups)
    words = {key: _word_shares(members) for key, members in groups.items()}
    near = _pairs_sharing_actions(groups, profile)
    overlaps = {pair: _overlap(words[pair[0]], words[pair[1]]) for pair in near}
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
        for place, left in enumerate(keys)
        for right in keys[place + 1 :]
        if jaccard(left, right) >= profile.merge_actions
    ]


def _closest(overlaps: Mapping[tuple[Key, Key], float], profile: CompilerProfile) -> tuple[Key, Key] | None:
    """The pair with the most similar wording, if similar enough; ties go to the first."""
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
    """Shared weight over all weight (weighted Jaccard)."""
    shared = sum(min(share, right[term]) for term, share in left.items() if term in right)
    total = sum(left.values()) + sum(right.values()) - shared
    return shared / total if total else 1.0


def _with_support(groups: Groups, profile: CompilerProfile) -> Groups:
    """Merge each group with too few sessions that did not fail into the most similar group with enough, if any."""
    firm = {key: list(members) for key, members in groups.items() if _supported(members, profile)}
    alone: Groups = {}
    for key, members in groups.items():
        if key in firm:
            continue
        closest = min(
            firm,
            key=lambda firm_key: (-_similarity(key, firm_key), -len(groups[firm_key]), sorted(firm_key)),
            default=None,
        )
        if closest is not None and _similarity(key, closest):
            firm[closest] += members
        else:
            alone[key] = members
    return firm | alone


def _supported(members: Sequence[SessionSummary], profile: CompilerProfile) -> bool:
    return sum(member.outcome != "failure" for member in members) >= profile.min_support


def _similarity(left: Key, right: Key) -> float:
    """The share of actions that two keys have in common (Dice coefficient, 1945); 1 for two empty keys."""
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 1.0


def _steps(sessions: Sequence[SessionSummary], profile: CompilerProfile) -> tuple[tuple[str, float], ...]:
    """The steps that enough of these sessions share, in order of work, each with the share of sessions that took it."""
    if not sessions:
        return ()
    # Do not count actions that only failed, unless all actions of a session did.
    counts = Counter(name for session in sessions for name in done_without_failing(session) or set(session.actions))
    shares = {name: count / len(sessions) for name, count in counts.items()}
    usual = [name for name in sorted(shares) if shares[name] >= _share_needed(name, sessions, profile)]
    # An action that always failed is not a step, but its replacement is.
    worked = [name for name in usual if not only_failed(name, sessions)]
    # Repairs belong to playbooks, unless nearly every example needs them.
    repairs = repairs_of(sessions) - {name for name in worked if shares[name] >= profile.required_share}
    chosen = [name for name in worked if len(worked) < len(usual) or name not in repairs]
    chosen = chosen or most_first(shares)[:1]
    return tuple((name, round(shares[name], 4)) for name in in_order_of_work(chosen, sessions))


def _share_needed(action: str, sessions: Sequence[SessionSummary], profile: CompilerProfile) -> float:
    """The share of sessions from which an action is a step; lower for changes and for the checks after them."""
    match kind_of(action):
        case "action":
            return profile.action_share
        case "lookup":
            return profile.check_share if _is_check(action, sessions) else profile.lookup_share
        case _:
            return profile.scratch_share


def _is_check(action: str, sessions: Sequence[SessionSummary]) -> bool:
    """Whether a lookup is usually first used after the last change, which makes it a check."""
    checked = []
    for session in sessions:
        names = session.actions
        changes = [place for place, name in enumerate(names) if is_action(name)]
        if action in names:
            checked.append(bool(changes) and names.index(action) > changes[-1])
    return sum(checked) > len(checked) / 2


def only_failed(action: str, sessions: Sequence[SessionSummary]) -> bool:
    """Whether every use of *action* failed or led to an error."""
    return all(
        _led_to_failure(session, place)
        for session in sessions
        for place, name in enumerate(session.actions)
        if name == action
    )


def _led_to_failure(summary: SessionSummary, place: int) -> bool:
    return summary.steps[place].ok is False or any(failure.step == place for failure in summary.failures)


def repairs_of(summaries: Iterable[SessionSummary]) -> frozenset[str]:
    """The actions that usually follow a failure in these sessions: right after it, or before the next attempt."""
    action_counts, reaction_counts = Counter[str](), Counter[str]()
    for session in summaries:
        action_counts.update(session.actions)
        reaction_counts.update(session.actions[place] for place in _reactions(session))
    return frozenset(name for name in reaction_counts if reaction_counts[name] > action_counts[name] / 2)


def _reactions(session: SessionSummary) -> set[int]:
    """The positions of steps right after a failure, and of all steps before the next attempt at the failed action."""
    positions = {place for place, step in enumerate(session.steps) if step.situation.failure}
    for failed in (failure.step for failure in session.failures if failure.step >= 0):
        action, later = session.actions[failed], session.actions[failed + 1 :]
        if action in later:
            positions.update(range(failed + 1, failed + 1 + later.index(action)))
    return positions


def in_order_of_work(actions: Collection[str], sessions: Sequence[SessionSummary]) -> list[str]:
    """These actions sorted by how many of the others they follow in most sessions that took both.

    An action counts at its first call that did not fail, if there is one, so that what made it work comes before it.
    Mean positions can contradict this order, because different sessions took different actions; they only break ties.
    """
    positions = [
        {name: place / len(order) for place, name in enumerate(order)}
        for order in (_actions_in_order(session) for session in dict.fromkeys(sessions))
    ]
    with_action = {name: [session for session in positions if name in session] for name in sorted(actions)}
    mean = {name: statistics.fmean(session[name] for session in with_action[name]) for name in with_action}

    def follows(name: str, other: str) -> bool:
        both = [session for session in with_action[name] if other in session]
        later = sum(session[name] > session[other] for session in both)
        return 2 * later > len(both) or (2 * later == len(both) and mean[name] > mean[other])

    return sorted(with_action, key=lambda name: (sum(follows(name, other) for other in with_action), mean[name], name))


def _actions_in_order(session: SessionSummary) -> list[str]:
    """The actions of a session, each once, in order of the first call that did not fail, else of the first call."""
    steps = [*enumerate(session.steps)][::-1]
    first = {step.action: at for at, step in steps}
    worked = {step.action: at for at, step in steps if step.ok is not False}
    return sorted(first, key=(first | worked).__getitem__)
