"""Kinds of requests: sessions that are asked for the same and, as far as can be foreseen, do the same."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from hmxgraph.compiler._models import Goals, request_terms, telling_terms
from hmxgraph.compiler._verbs import is_action, kind_of
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.terms import most_first

Key = frozenset[str]
Groups = dict[Key, list[SessionSummary]]


@dataclass(frozen=True, slots=True)
class GoalClass:
    """One kind of request: the actions it is known by, its sessions, and the steps that its successes share.

    ``steps`` are in order of work, each with the share of successful sessions that took it.
    """

    key: Key
    members: tuple[SessionSummary, ...]
    steps: tuple[tuple[str, float], ...]

    @property
    def name(self) -> str:
        """The text that names the class: the same for the same key."""
        return "|".join(sorted(self.key))

    @property
    def models(self) -> tuple[SessionSummary, ...]:
        """The sessions to learn from: the successful ones; where no outcome is known, all."""
        good = tuple(one for one in self.members if one.succeeded)
        return good or tuple(one for one in self.members if one.outcome == "unknown")

    @property
    def requests(self) -> tuple[str, ...]:
        """What was asked for."""
        return tuple(one.request for one in self.members if one.request)


def goal_classes(summaries: Sequence[SessionSummary], goals: Goals, profile: CompilerProfile) -> list[GoalClass]:
    """The kinds of requests in these sessions, largest first; each has something to learn from."""
    told = [one for one in summaries if one.request and one.steps]
    mute = [one for one in summaries if not one.request and one.steps]
    heard, unheard = _heard(told, goals, profile)
    groups = _settled(_merged(_grouped(heard), profile), profile)
    silent = _settled(_grouped((_changes(one), one) for one in mute), profile)
    found = [
        GoalClass(key, tuple(sorted(members, key=lambda one: one.session_id)), ())
        for key, members in _joined(_joined(groups, silent), _grouped(unheard)).items()
    ]
    repairs = repairs_of(summaries)
    finished = [GoalClass(one.key, one.members, _steps(one, repairs, profile)) for one in found]
    united = _united([one for one in finished if one.steps], repairs, profile)
    return sorted(united, key=lambda one: (-len(one.members), one.name))


def _united(classes: Sequence[GoalClass], repairs: Container[str], profile: CompilerProfile) -> list[GoalClass]:
    """Classes that come to the same changes in much the same steps are one, in whatever words they are asked for.

    The largest gives the key.
    """
    united: list[GoalClass] = []
    for one in sorted(classes, key=lambda one: (-len(one.members), one.name)):
        place = next((place for place, other in enumerate(united) if _same_work(one, other, profile)), None)
        if place is None:
            united.append(one)
            continue
        members = sorted((*united[place].members, *one.members), key=lambda one: one.session_id)
        whole = GoalClass(united[place].key, tuple(members), ())
        united[place] = GoalClass(whole.key, whole.members, _steps(whole, repairs, profile))
    return united


def _same_work(one: GoalClass, other: GoalClass, profile: CompilerProfile) -> bool:
    """Whether they make the same changes in much the same steps; where nothing is changed, in the very same."""
    steps, others = ([name for name, _ in found.steps] for found in (one, other))
    changes, theirs = (set(filter(is_action, names)) for names in (steps, others))
    return changes == theirs and jaccard(steps, others) >= (profile.unite_steps if changes else 1.0)


def expected(chances: Mapping[str, float], profile: CompilerProfile) -> Key:
    """The actions worth expecting: a change is worth naming at lower odds than a look-up, being what was asked for."""
    chosen = {name for name, chance in chances.items() if chance >= threshold(name, profile)}
    return frozenset(chosen or most_first(chances)[:1])


def threshold(action: str, profile: CompilerProfile) -> float:
    """The chance from which *action* is expected of a request."""
    by_kind = {"lookup": profile.goal_lookup, "action": profile.goal_action}
    return by_kind.get(kind_of(action), profile.scratch_share)


def fit(key: Iterable[str], chances: Mapping[str, float], profile: CompilerProfile) -> float:
    """How well a class with this key answers a request with these chances: the surplus of chance over threshold."""
    # A key is a set, which has no order of its own; a plain sum of floats depends on one.
    return fsum(chances.get(name, 0.0) - threshold(name, profile) for name in key)


def _heard(
    told: Sequence[SessionSummary], goals: Goals, profile: CompilerProfile
) -> tuple[list[tuple[Key, SessionSummary]], list[tuple[Key, SessionSummary]]]:
    """The sessions with their keys: those asked for in words that others use too, and those in words of their own.

    Of the latter those that do what is usual are taken for the usual; the others are known by what they did, and
    where that failed nobody knows what was asked.
    """
    heard, unheard = [], []
    company = _company(told)
    for one, chances in zip(told, goals.modelled([request_terms(one.request) for one in told]), strict=True):
        akin = {name: chances[name] for name in _akin(one, company)}
        usual, taken = expected(chances, profile), frozenset(one.actions)
        if akin or usual <= taken:
            heard.append((expected(akin or chances, profile), one))
        elif one.outcome != "failure":
            unheard.append((expected(dict.fromkeys(taken, 1.0), profile), one))
    return heard, unheard


def _company(told: Iterable[SessionSummary]) -> dict[str, Counter[str]]:
    """For each telling term how many of the sessions whose requests say it took each action."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in told:
        for term in telling_terms(one.request):
            found[term].update(set(one.actions))
    return found


def _akin(summary: SessionSummary, company: Mapping[str, Counter[str]]) -> set[str]:
    """The actions of the other sessions that share a telling term with this one."""
    taken = frozenset(summary.actions)
    counts = (company[term] for term in telling_terms(summary.request))
    return {name for one in counts for name, count in one.items() if count > (name in taken)}


def _grouped(pairs: Iterable[tuple[Key, SessionSummary]]) -> Groups:
    groups: defaultdict[Key, list[SessionSummary]] = defaultdict(list)
    for key, summary in pairs:
        groups[key].append(summary)
    return {key: groups[key] for key in sorted(groups, key=sorted)}


def _joined(told: Groups, silent: Groups) -> Groups:
    """Both, where a key names one class: sessions that nobody asked for in words belong to those that do the same."""
    return {key: told.get(key, []) + silent.get(key, []) for key in told | silent}


def _changes(summary: SessionSummary) -> Key:
    return frozenset(name for name in summary.actions if is_action(name))


def _merged(groups: Groups, profile: CompilerProfile) -> Groups:
    """Groups that are asked for in the same words and do much the same are one; the larger gives the key."""
    merged = dict(groups)
    words = {key: _word_shares(members) for key, members in groups.items()}
    near = _near(groups, profile)
    alike = {pair: _overlap(words[pair[0]], words[pair[1]]) for pair in near}
    while pair := _closest(alike, profile):
        large, small = sorted(pair, key=lambda key: (-len(merged[key]), sorted(key)))
        merged[large] = merged[large] + merged.pop(small)
        words[large] = _word_shares(merged[large])
        alike = {pair: share for pair, share in alike.items() if small not in pair}
        alike |= {pair: _overlap(words[pair[0]], words[pair[1]]) for pair in alike if large in pair}
    return merged


def _near(groups: Iterable[Key], profile: CompilerProfile) -> list[tuple[Key, Key]]:
    """The pairs of keys that share enough of their actions, in order."""
    keys = sorted(groups, key=sorted)
    return [
        (one, other)
        for place, one in enumerate(keys)
        for other in keys[place + 1 :]
        if jaccard(one, other) >= profile.merge_actions
    ]


def _closest(alike: Mapping[tuple[Key, Key], float], profile: CompilerProfile) -> tuple[Key, Key] | None:
    """The pair that is asked for in the likest words, if any is alike enough; of equals the first."""
    best = max(alike.values(), default=0.0)
    return (
        next((pair for pair, share in alike.items() if share == best), None) if best >= profile.merge_requests else None
    )


def _word_shares(members: Sequence[SessionSummary]) -> dict[str, float]:
    """For each term the share of requests that use it."""
    counts = Counter(term for one in members for term in set(request_terms(one.request)))
    return {term: count / len(members) for term, count in sorted(counts.items())}


def _overlap(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Shared weight over all weight (weighted Jaccard)."""
    shared = sum(min(share, other[term]) for term, share in one.items() if term in other)
    total = sum(one.values()) + sum(other.values()) - shared
    return shared / total if total else 1.0


def _settled(groups: Groups, profile: CompilerProfile) -> Groups:
    """Groups without enough successes join the likest that has; those that are like none stay as they are."""
    firm = {key: list(members) for key, members in groups.items() if _supported(members, profile)}
    alone: Groups = {}
    for key, members in groups.items():
        if key in firm:
            continue
        likest = min(firm, key=lambda other: (-_likeness(key, other), -len(groups[other]), sorted(other)), default=None)
        if likest is not None and _likeness(key, likest):
            firm[likest] += members
        else:
            alone[key] = members
    return firm | alone


def _supported(members: Sequence[SessionSummary], profile: CompilerProfile) -> bool:
    return sum(one.outcome != "failure" for one in members) >= profile.min_support


def _likeness(one: Key, other: Key) -> float:
    """Twice the shared over the sum (Dice 1945)."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _steps(found: GoalClass, repairs: Container[str], profile: CompilerProfile) -> tuple[tuple[str, float], ...]:
    models = found.models
    if not models:
        return ()
    counts = Counter(name for one in models for name in set(one.actions))
    shares = {name: count / len(models) for name, count in counts.items()}
    usual = [name for name in sorted(shares) if shares[name] >= _share_needed(name, models, profile)]
    # What never went well is no way to success, though all tried it first: what was done instead is.
    went = [name for name in usual if not only_failed(name, models)]
    # What mostly answers a failure belongs to a playbook, unless no success does without and others take it of itself.
    answers = repairs_of(models) - {
        name for name in went if shares[name] >= profile.required_share and name not in repairs
    }
    chosen = [name for name in went if len(went) < len(usual) or name not in answers]
    chosen = chosen or most_first(shares)[:1]
    place = {name: _place(name, models) for name in chosen}
    return tuple((name, round(shares[name], 4)) for name in sorted(chosen, key=lambda name: (place[name], name)))


def _share_needed(action: str, models: Sequence[SessionSummary], profile: CompilerProfile) -> float:
    """The share of sessions from which an action is a step: changes, and what checks on them, count at less."""
    match kind_of(action):
        case "action":
            return profile.action_share
        case "lookup":
            return profile.check_share if _checks(action, models) else profile.lookup_share
        case _:
            return profile.scratch_share


def _checks(action: str, models: Sequence[SessionSummary]) -> bool:
    """Whether a look-up mostly comes for the first time after the last change: then it checks the result."""
    found = []
    for one in models:
        names = one.actions
        changes = [place for place, name in enumerate(names) if is_action(name)]
        if action in names:
            found.append(bool(changes) and names.index(action) > changes[-1])
    return sum(found) > len(found) / 2


def only_failed(action: str, models: Sequence[SessionSummary]) -> bool:
    """Whether *action* failed each time that it was taken, or led to an error at once."""
    return all(
        _led_to_failure(one, place) for one in models for place, name in enumerate(one.actions) if name == action
    )


def _led_to_failure(summary: SessionSummary, place: int) -> bool:
    return summary.steps[place].ok is False or any(failure.step == place for failure in summary.failures)


def repairs_of(summaries: Iterable[SessionSummary]) -> frozenset[str]:
    """The actions that mostly answer a failure in these sessions."""
    taken, answers = Counter[str](), Counter[str]()
    for one in summaries:
        taken.update(one.actions)
        answers.update(step.action for step in one.steps if step.situation.failure)
    return frozenset(name for name in answers if answers[name] > taken[name] / 2)


def _place(action: str, models: Sequence[SessionSummary]) -> float:
    """How far into the work *action* is first taken, on average; 0 is the start, 1 the end."""
    places = []
    for one in models:
        order = list(dict.fromkeys(one.actions))
        if action in order:
            places.append(order.index(action) / len(order))
    return statistics.fmean(places)
