"""decision_policy: actions that depend on the result of a lookup (HMX-A 4.3).

A statement is a short line of a result, such as "status: pending". There are two kinds of rules:

- An action waits for a statement if the lookup nearly always returned it before the action worked, but returns it much
  less often in general. For example, only pending orders are cancelled.
- A statement calls for an action if successful sessions nearly always take the action after it, and much less often
  otherwise. For example, a mode that is on is switched off.

A rule of the first kind is changed to the second kind if the action always followed the statement and no request named
the object of the action.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from hmxgraph.compiler._drafts import MOST_SCOPE_WORDS, ArtifactDraft, Observations, evidence, tags
from hmxgraph.compiler._step_wording import done_by_user
from hmxgraph.compiler._verbs import kind_of, noun_words
from hmxgraph.compiler._wording import LONGEST_TITLE, capital, listed, subjects, title
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Step
from hmxgraph.text.artifacts import of_times
from hmxgraph.text.lines import plain_quotes
from hmxgraph.text.terms import terms

# Minimum share of cases in which a rule holds, minimum difference from the usual share, and maximum probability that
# chance explains this, after correction for the number of comparisons (Bonferroni).
_NEARLY_ALWAYS, _LEAST_DIFFERENCE, _BY_CHANCE = 0.8, 0.25, 0.05
# A statement calls for an action only if the lookup made it about at least this many items for which the action was
# taken, in at least as many sessions. Fewer may coincide by chance, because successful sessions are similar to each
# other. Items alone do not suffice, because one handover concerns all items of its session.
_LEAST_ITEMS = 5
# Minimum and maximum number of values of a field on which an action may depend: nothing depends on a field with a
# single value, and a field with many values identifies items.
_SEVERAL_VALUES, _FEW_VALUES = 2, 12
# Maximum statements in one policy.
_MOST_BRANCHES = 6


class _Case(NamedTuple):
    """An action that worked, and the latest result of a lookup before it about the same item, or about no named item.

    ``step`` is the action and ``step_index`` its index in the session. A handover concerns all items of its session.
    """

    session: SessionSummary
    lookup: Step
    step: Step
    step_index: int

    @property
    def item(self) -> str:
        """The item that both the lookup and the action concern; the session if the lookup names none."""
        return _item(self.session, self.lookup)


def _item(session: SessionSummary, lookup: Step) -> str:
    """The item with which *lookup* was called, named by its identifiers; the session if there are none."""
    return " ".join(lookup.about) or session.session_id


@dataclass(frozen=True, slots=True)
class ResultRule:
    """A statement of a lookup that an action waits for or, with ``called_for``, that calls for the action.

    The rule holds in ``holds`` of ``count`` cases, or items with ``called_for``. ``chance`` is the probability that the
    statement and the action occur together by chance, multiplied by the number of comparisons.
    """

    action: str
    lookup: str
    statement: str
    holds: int
    count: int
    chance: float
    cases: tuple[_Case, ...]
    called_for: bool = False

    @property
    def condition(self) -> str:
        """The condition of the action as a procedure states it: "get_order says “status: pending”"."""
        return f"{self.lookup} says {self.quotation}"

    @property
    def quotation(self) -> str:
        """The statement in quotation marks."""
        return f"“{plain_quotes(self.statement)}”"

    @property
    def how_often(self) -> str:
        """How often the rule held: "true 8 of 8 times it worked" or "done 5 of 5 times in sessions that went well"."""
        return _how_often([self])


def result_rules(sessions: Iterable[SessionSummary], profile: CompilerProfile) -> list[ResultRule]:
    """The rules learned from *sessions*, at most one of each kind for an action and a lookup.

    The rule that is least likely due to chance comes first.
    """
    records = _Records(sorted(sessions, key=lambda session: session.session_id))
    rules = [
        rule for action, lookup in sorted(records.cases) for rule in _rules(action, lookup, records, profile.min_cases)
    ]
    return sorted(rules, key=lambda rule: (rule.chance, rule.action, rule.lookup))


def rule_for_each(rules: Iterable[ResultRule], *, called_for: bool) -> dict[str, ResultRule]:
    """The first rule for each action.

    Rules whose ``called_for`` equals *called_for* come first; the others are used only for actions without such a rule.
    """
    rule_by_action = dict[str, ResultRule]()
    for rule in sorted(rules, key=lambda rule: rule.called_for is not called_for):
        rule_by_action.setdefault(rule.action, rule)
    return rule_by_action


def result_policies(rules: Sequence[ResultRule], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """Yield a policy for each lookup on whose results actions depend.

    It contains all rules that call for an action and, for an action without such a rule, the first of its other rules.
    At most ``_MOST_BRANCHES`` statements are included.
    """
    by_lookup: defaultdict[str, list[ResultRule]] = defaultdict(list)
    first_rules = rule_for_each(rules, called_for=True)
    for rule in rules:
        if rule.called_for or rule is first_rules[rule.action]:
            by_lookup[rule.lookup].append(rule)
    for lookup in sorted(by_lookup):
        yield _policy(lookup, by_lookup[lookup], profile)


def waiting_changes(rules: Iterable[ResultRule]) -> dict[str, ResultRule]:
    """For each action that waits for a statement, the first of *rules* that says so."""
    return rule_for_each([rule for rule in rules if not rule.called_for], called_for=False)


def refused_calls(rules: Iterable[ResultRule], sessions: Iterable[SessionSummary]) -> dict[str, ResultRule]:
    """The rules that explain failures, by the event id of the failure: the action did not wait for its statement."""
    waiting = waiting_changes(rules)
    return {
        failure.event_id: rule
        for session in sessions
        for failure in session.failures
        if failure.step >= 0
        and (rule := waiting.get(session.steps[failure.step].action)) is not None
        and (result := _result_before(failure.step, rule.lookup, session)) is not None
        and rule.statement not in result.statements
    }


def _result_before(index: int, lookup: str, session: SessionSummary) -> Step | None:
    """The latest result of *lookup* before the step at *index*, about the same item or no named item."""
    about = session.steps[index].about
    results = (step for step in reversed(session.steps[:index]) if step.action == lookup and step.statements)
    return next((step for step in results if not step.about or not set(step.about).isdisjoint(about)), None)


class _Records:
    """All results of lookups, and the cases of actions after them."""

    def __init__(self, sessions: Sequence[SessionSummary]) -> None:
        self._sessions = sessions
        self._results: defaultdict[str, list[tuple[SessionSummary, int, Step]]] = defaultdict(list)
        self._statements: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for session in sessions:
            for index, step in enumerate(session.steps):
                if step.statements:
                    self._results[step.action].append((session, index, step))
                    self._statements[step.action].update(step.statements)

    @cached_property
    def cases(self) -> Mapping[tuple[str, str], list[_Case]]:
        """The cases of successful sessions by action and lookup; only the first for each session and item."""
        cases: defaultdict[tuple[str, str], dict[tuple[str, str], _Case]] = defaultdict(dict)
        for session in self._sessions:
            for case in _cases(session) if session.succeeded else ():
                cases[case.step.action, case.lookup.action].setdefault((session.session_id, case.item), case)
        return {key: list(by_item.values()) for key, by_item in cases.items()}

    def statements_before(self, action: str, lookup: str) -> Mapping[str, frozenset[str]]:
        """The statements of *lookup* about each item in successful sessions, until *action* was taken for the item."""
        index_of_action = {(case.session.session_id, case.item): case.step_index for case in self.cases[action, lookup]}
        statements_by_item: defaultdict[str, set[str]] = defaultdict(set)
        for session, index, step in self._results[lookup]:
            item = _item(session, step)
            if session.succeeded and index < index_of_action.get((session.session_id, item), len(session.steps)):
                statements_by_item[item].update(step.statements)
        return {item: frozenset(statements) for item, statements in statements_by_item.items()}

    def actions_after(self, lookup: str) -> int:
        """The number of different actions taken after *lookup*."""
        return sum(other == lookup for _, other in self.cases)

    def lookups_before(self, action: str) -> int:
        """The number of different lookups made before *action*."""
        return sum(other == action for other, _ in self.cases)

    def share(self, lookup: str, statement: str) -> Fraction:
        """The share of the results of *lookup* with this statement."""
        return Fraction(self._statements[lookup][statement], len(self._results[lookup]))

    def may_decide(self, lookup: str, statement: str) -> bool:
        """Whether an action may depend on *statement*: its field has a few values, or it is a line without a field."""
        name, separator, _ = statement.partition(": ")
        if not separator:
            return True
        values = sum(other.startswith(name + separator) for other in self._statements[lookup])
        return _SEVERAL_VALUES <= values <= _FEW_VALUES


def _cases(session: SessionSummary) -> Iterator[_Case]:
    """Yield each change or handover that worked, with each latest result of a lookup that it may depend on."""
    latest_results = dict[tuple[str, tuple[str, ...]], Step]()
    for index, step in enumerate(session.steps):
        kind = kind_of(step.action)
        if kind == "lookup" and step.statements:
            latest_results[step.action, step.about] = step
        elif step.ok and kind in {"handover", "action"}:
            for lookup in latest_results.values():
                if kind == "handover" or not lookup.about or not set(lookup.about).isdisjoint(step.about):
                    yield _Case(session, lookup, step, index)


def _rules(action: str, lookup: str, records: _Records, least: int) -> list[ResultRule]:
    """The rules for an action after a lookup, at most one of each kind."""
    calling_rule, waiting_rule = _calling_rule(action, lookup, records), _waiting_rule(action, lookup, records, least)
    if calling_rule is not None and waiting_rule is not None and waiting_rule.called_for:
        # Both say that a statement calls for the action.
        return [calling_rule]
    return [rule for rule in (calling_rule, waiting_rule) if rule is not None]


def _waiting_rule(action: str, lookup: str, records: _Records, least: int) -> ResultRule | None:
    """The rule for the statement that *action* most clearly waits for, if *least* items and as many sessions show it.

    Items are counted, because many sessions about one item show nothing about others. If a statement shares no noun
    with the action, its chance is also multiplied by the number of lookups made before the action: among many lookups,
    some statement always fits by coincidence. If the action followed the statement for every item, and no request
    contains a noun of the action, the statement calls for the action.
    """
    cases = records.cases[action, lookup]
    items_by_statement: defaultdict[str, set[str]] = defaultdict(set)
    for case in cases:
        for statement in case.lookup.statements:
            items_by_statement[statement].add(case.item)
    total = _count_distinct(case.item for case in cases)
    chances = {
        statement: len(items_by_statement)
        * (1 if _shared_nouns(action, statement) else records.lookups_before(action))
        * _chance(len(items), total, records.share(lookup, statement))
        for statement, items in items_by_statement.items()
        if len(items) >= least and records.may_decide(lookup, statement)
    }
    statement = _clearest(chances, action)
    with_statement = [case for case in cases if statement in case.lookup.statements]
    if not statement or _count_distinct(case.session.session_id for case in with_statement) < least:
        return None
    rule = ResultRule(action, lookup, statement, len(with_statement), len(cases), chances[statement], tuple(cases))
    items = {item for item, statements in records.statements_before(action, lookup).items() if statement in statements}
    acted_on = {case.item for case in with_statement}
    if items <= acted_on and not any(_is_requested(action, case.session) for case in cases):
        return replace(rule, holds=len(items), count=len(items), called_for=True)
    return rule


def _is_requested(action: str, session: SessionSummary) -> bool:
    """Whether the request of *session* contains a noun of *action*."""
    return bool(_shared_nouns(action, session.request))


def _calling_rule(action: str, lookup: str, records: _Records) -> ResultRule | None:
    """The rule for the statement that most clearly calls for *action*, because the action is more frequent after it."""
    cases, statements_by_item = records.cases[action, lookup], records.statements_before(action, lookup)
    items_acted_on = {case.item for case in cases}
    statements = {statement for case in cases for statement in case.lookup.statements}
    items_by_statement = {
        statement: {item for item in statements_by_item if statement in statements_by_item[item]}
        for statement in sorted(statements)
    }
    comparisons = len(items_by_statement) * records.actions_after(lookup)
    chances = {}
    for statement, items in items_by_statement.items():
        both = len(items_acted_on & items)
        sessions = _count_distinct(case.session.session_id for case in cases if case.item in items)
        enough = sessions >= _LEAST_ITEMS and both >= max(_LEAST_ITEMS, _NEARLY_ALWAYS * len(items))
        more_frequent = both / len(items_acted_on) - records.share(lookup, statement) >= _LEAST_DIFFERENCE
        if enough and more_frequent and records.may_decide(lookup, statement):
            coincidence = _chance_of_both(both, len(items), len(items_acted_on), len(statements_by_item))
            chances[statement] = comparisons * coincidence
    statement = _clearest(chances, action)
    if not statement:
        return None
    with_statement = tuple(case for case in cases if statement in statements_by_item[case.item])
    counts = len(items_acted_on & items_by_statement[statement]), len(items_by_statement[statement])
    return ResultRule(action, lookup, statement, *counts, chances[statement], with_statement, called_for=True)


def _clearest(chances: Mapping[str, float], action: str) -> str:
    """The statement with the lowest chance, if it is significant; else "".

    Of several with the same chance, the one with the most nouns of the action is taken.
    """
    lowest_chance, _, statement = min(
        ((chance, -_shared_nouns(action, statement), statement) for statement, chance in chances.items()),
        default=(1.0, 0, ""),
    )
    return statement if lowest_chance <= _BY_CHANCE else ""


def _shared_nouns(action: str, statement: str) -> int:
    """The number of nouns of *action* in *statement*."""
    return len(set(terms(" ".join(noun_words(action)))).intersection(terms(statement)))


def _count_distinct(values: Iterable[str]) -> int:
    return len(set(values))


def _chance(count: int, total: int, usual: Fraction) -> float:
    """The probability of at least *count* successes in *total* trials with the probability *usual* (binomial test).

    1 if *count* is too low for a rule. It is computed in integers, so that it is the same on every machine, and does
    not overflow for thousands of cases.

    >>> round(_chance(8, 8, Fraction(1, 2)), 4), _chance(6, 8, Fraction(7, 10))
    (0.0039, 1.0)

    """
    if count < _NEARLY_ALWAYS * total or count / total - usual < _LEAST_DIFFERENCE:
        return 1.0
    yes, no = usual.numerator, usual.denominator - usual.numerator
    ways: int = sum(math.comb(total, hits) * yes**hits * no ** (total - hits) for hits in range(count, total + 1))
    return float(ways / usual.denominator**total)


def _chance_of_both(both: int, first: int, second: int, total: int) -> float:
    """The probability that independent subsets of *first* and *second* of *total* items share *both* items or more.

    This is Fisher's exact test.

    >>> _chance_of_both(5, 5, 5, 10) == 1 / math.comb(10, 5), _chance_of_both(4, 4, 8, 8)
    (True, 1.0)

    """
    shared_counts = range(both, min(first, second) + 1)
    ways = sum(math.comb(second, shared) * math.comb(total - second, first - shared) for shared in shared_counts)
    return ways / math.comb(total, first)


def _policy(lookup: str, rules: Iterable[ResultRule], profile: CompilerProfile) -> ArtifactDraft:
    # A branch holds the rules of one kind for one statement.
    all_branches: defaultdict[tuple[bool, str], list[ResultRule]] = defaultdict(list)
    for rule in sorted(rules, key=lambda rule: (not rule.called_for, -rule.holds, rule.action)):
        all_branches[rule.called_for, rule.statement].append(rule)
    branches = list(all_branches.values())[:_MOST_BRANCHES]
    included_rules = [rule for branch in branches for rule in branch]
    actions, cases = [rule.action for rule in included_rules], [case for rule in included_rules for case in rule.cases]
    heading = f"The result of {lookup} decides whether to use {listed(actions)}"
    scope = subjects([lookup, *actions])[:MOST_SCOPE_WORDS]
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"result:{lookup}",
        title=title(heading if len(heading) <= LONGEST_TITLE else f"The result of {lookup} decides what to do"),
        summary=f"When {lookup} is done: {'; '.join(map(_advice, branches))}.",
        content={
            "condition": f"{lookup} is done",
            "recommendation": f"{'. '.join(capital(advice) for advice in map(_advice_with_counts, branches))}.",
            "alternatives": [],
            "outcomes": [_outcome(rule) for rule in included_rules],
            "scope": scope,
        },
        seen=Observations(
            _count_distinct(case.session.session_id for case in cases),
            sum(rule.count for rule in included_rules),
            sum(rule.holds for rule in included_rules),
        ),
        source_events=evidence(
            ([case.lookup.event_id, case.step.event_id, case.session.outcome_event_id] for case in cases),
            profile.max_evidence,
        ),
        tags=tags(["decision", *scope]),
        metadata={"origin": "results", "tools": [lookup, *actions]},
    )


def _advice(branch: Sequence[ResultRule]) -> str:
    """What to do if the lookup returns the statement of these rules, or only if it does."""
    actions = [rule.action for rule in branch]
    use = "have the user use" if done_by_user([case.step for rule in branch for case in rule.cases]) else "use"
    if branch[0].called_for:
        return f"where it says {branch[0].quotation}, {use} {listed(actions)}"
    return f"{use} {listed(actions, 'or')} only where it says {branch[0].quotation}"


def _advice_with_counts(branch: Sequence[ResultRule]) -> str:
    """The advice, with how often it held for all its actions together."""
    return f"{_advice(branch)} ({_how_often(branch)})"


def _how_often(branch: Sequence[ResultRule]) -> str:
    counts = of_times(sum(rule.holds for rule in branch), sum(rule.count for rule in branch))
    if branch[0].called_for:
        return f"done {counts} in sessions that went well"
    return f"true {counts} {'they' if len(branch) > 1 else 'it'} worked"


def _outcome(rule: ResultRule) -> dict[str, Any]:
    return {
        "decision": rule.action,
        "outcome": f"{rule.quotation}: {rule.how_often}",
        "positive": True,
        "source_memory_id": rule.cases[0].step.event_id,
    }
