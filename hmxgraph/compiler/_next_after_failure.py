"""Predict the next action after an error from what the error message says.

It may be a lookup of the right value or of an item's state, another attempt, or another change. Which inputs an action
takes, and which other actions supply their values, is learned from calls that did not fail.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from hmxgraph.compiler._verbs import is_action, kind_of, read_action
from hmxgraph.compiler._vocabulary import BETWEEN_WORDS
from hmxgraph.compiler.failures import SPOKEN, WRONG_VALUE
from hmxgraph.compiler.summary import FROM_USER, SessionSummary
from hmxgraph.text.terms import most_first, terms

# An input of an action counts if at least this share of the calls have it.
_USUAL = 0.5
_MOST_INPUTS, _MOST_SOURCES = 12, 5
# A lookup supplies an input if at least this number, and this share, of the values of known origin came from it.
_LEAST_VALUES, _LEAST_SHARE = 2, 0.05
# An action depends on a lookup if at least this share of the values of one of its inputs came from it.
_DEPENDS = 0.5
# A masked part of an error message, such as "<amount>".
_MASK = re.compile(r"<([^<>]*)>")
# Words in the names of inputs that do not say what the input is.
_FILLERS = frozenset(("id", "ids", "new", "old", "name", "number", "in"))

# Probability that a lookup of the right value comes next, if the error says that a value is wrong.
_LOOKED_UP = 0.5
# Factors by which probabilities are multiplied: of a lookup that shows the state of the item named in the error, of an
# action that needs the result of the failed lookup, of another attempt when the user has answered, and of the first
# change that the user then asks for.
#
# They were measured on the next actions after errors, in four-fold cross-validation over tasks. In runs of airline
# agents, on which the factors were tuned, 29 of 45 actions were predicted with these rules and 24 without; in runs of
# retail agents, 44 and 43 of 63.
_STATE_LOOKUP, _DEPENDENT, _ANSWERED, _ASKED = 5.0, 0.1, 2.0, 4.0
# Added to a probability before it is multiplied, so that a factor can raise one of 0.
_SMOOTHING = 0.002


@dataclass(frozen=True, slots=True)
class CallInputs:
    """For each action its usual inputs, and for each input how often its value came from each origin.

    An origin is the name of an action, "user", or "" if unknown.
    """

    by_action: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    def named_inputs(self, action: str, error: str) -> list[str]:
        """The inputs of *action* that an error names, by "<name>" in place of a value, else by a word of their name.

        >>> inputs = CallInputs({"charge": {"payment_id": {}, "amount": {}}})
        >>> inputs.named_inputs("charge", "payment method not found")
        ['payment_id']
        >>> inputs.named_inputs("charge", "<amount> is too much to pay")
        ['amount']
        """
        names, masked_names = sorted(self.by_action.get(action, ())), set(_MASK.findall(error))
        error_terms = set(terms(error))
        return [name for name in names if name in masked_names] or [
            name for name in names if error_terms & _input_terms(name)
        ]

    def sources(self, action: str, name: str) -> Iterator[str]:
        """Yield the lookups that supply the input *name* of *action*."""
        counts = self.by_action.get(action, {}).get(name, {})
        known_count = sum(count for origin, count in counts.items() if origin)
        for origin, count in counts.items():
            if count >= max(_LEAST_VALUES, _LEAST_SHARE * known_count) and origin != FROM_USER and _is_lookup(origin):
                yield origin

    def lookups_taking(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the lookups that take one of these inputs."""
        input_names = set(names)
        for action, inputs in self.by_action.items():
            if _is_lookup(action) and not input_names.isdisjoint(inputs):
                yield action

    def dependents(self, lookup: str) -> Iterator[str]:
        """Yield the actions with an input whose value usually comes from *lookup*."""
        for action, inputs in self.by_action.items():
            if any(counts.get(lookup, 0) >= _DEPENDS * sum(counts.values()) > 0 for counts in inputs.values()):
                yield action

    def document(self) -> dict[str, Any]:
        """The inputs as plain JSON values."""
        return {
            action: {name: dict(counts) for name, counts in inputs.items()} for action, inputs in self.by_action.items()
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The inputs stored in *document*."""
        return cls(document)


def learn_inputs(summaries: Iterable[SessionSummary]) -> CallInputs:
    """Learn the usual inputs of each action, with the origins of their values; calls that failed do not count."""
    calls = Counter[str]()
    calls_with_input: defaultdict[str, Counter[str]] = defaultdict(Counter)
    origins: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for step in (step for summary in summaries for step in summary.steps if step.ok is not False and step.inputs):
        calls[step.action] += 1
        calls_with_input[step.action].update({name for name, _ in step.inputs})
        for name, origin in step.inputs:
            origins[step.action, name][origin] += 1
    return CallInputs(
        {
            action: {
                name: {
                    origin: origins[action, name][origin]
                    for origin in most_first(origins[action, name])[:_MOST_SOURCES]
                }
                for name in most_first(calls_with_input[action])[:_MOST_INPUTS]
                if calls_with_input[action][name] >= _USUAL * calls[action]
            }
            for action in sorted(calls)
        }
    )


def as_the_error_asks(chances: Mapping[str, float], running: SessionSummary, inputs: CallInputs) -> dict[str, float]:
    """The probabilities of the next actions, adapted to the latest failure if no action has followed it yet.

    - If the error says that a value is wrong, a lookup that supplies such values and was not called yet probably comes
      next, unless the user has spoken.
    - If the error names an item for another reason, a lookup of the item becomes more likely.
    - Actions that need the result of a failed lookup become unlikely, unless the same lookup also worked once.
    - If the user has answered, another attempt and the first change that the user asks for become more likely.
    """
    step = running.failures[-1].step if running.ahead.failure and running.failures else -1
    if step < 0:
        return dict(chances)
    failed_action, error, spoken = running.steps[step].action, running.ahead.failure, running.ahead.since in SPOKEN
    named_inputs, called_actions = inputs.named_inputs(failed_action, error), {failed_action, *running.actions}
    factors: defaultdict[str, float] = defaultdict(lambda: 1.0)
    value_is_wrong = WRONG_VALUE.search(error) is not None
    if not value_is_wrong:
        factors |= dict.fromkeys(set(inputs.lookups_taking(named_inputs)) - called_actions, _STATE_LOOKUP)
    if _is_lookup(failed_action) and not any(other.ok and other.action == failed_action for other in running.steps):
        factors |= dict.fromkeys(inputs.dependents(failed_action), _DEPENDENT)
    if spoken:
        factors[failed_action] *= _ANSWERED
        for action in _first_asked(running.ahead.heard, chances):
            factors[action] *= _ASKED
    adapted = _multiplied(chances, factors)
    suppliers = {source for name in named_inputs for source in inputs.sources(failed_action, name)} - called_actions
    return _mixed(adapted, suppliers) if value_is_wrong and not spoken else adapted


def _first_asked(heard: str, actions: Iterable[str]) -> list[str]:
    """The changes whose verb comes first in *heard*, the terms of the last user message."""
    heard_terms = heard.split()
    verb_indexes = {
        action: min(heard_terms.index(term) for term in verbs)
        for action in actions
        if is_action(action) and (verbs := set(terms(read_action(action).verb)).intersection(heard_terms))
    }
    return [action for action, index in verb_indexes.items() if index == min(verb_indexes.values())]


def _multiplied(chances: Mapping[str, float], factors: Mapping[str, float]) -> dict[str, float]:
    """The *chances* times the *factors*, scaled so that they sum to one."""
    scaled = {
        name: (chance + _SMOOTHING) * factors[name] if name in factors else chance for name, chance in chances.items()
    }
    total = sum(scaled.values()) or 1.0
    return {name: chance / total for name, chance in scaled.items()}


def _mixed(chances: Mapping[str, float], suppliers: Iterable[str]) -> dict[str, float]:
    """The *chances*, scaled down so that the *suppliers* get ``_LOOKED_UP`` in equal parts; unchanged without any."""
    names = sorted(suppliers)
    mixed = {name: (1 - _LOOKED_UP) * chance for name, chance in chances.items()} if names else dict(chances)
    for name in names:
        mixed[name] = mixed.get(name, 0.0) + _LOOKED_UP / len(names)
    return mixed


def _input_terms(name: str) -> set[str]:
    """The terms that say what an input is.

    >>> sorted(_input_terms("new_payment_method_id")), sorted(_input_terms("paymentMethodId"))
    (['method', 'payment'], ['method', 'payment'])
    """
    return set(terms(" ".join(part for part in BETWEEN_WORDS.split(name) if part.lower() not in _FILLERS)))


def _is_lookup(action: str) -> bool:
    return kind_of(action) == "lookup"
