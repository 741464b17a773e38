"""What an error asks for next: a lookup of the right value or of an item's state, another attempt, another change.

Which inputs actions take, and which actions supply them, is learned from calls that did not fail.
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

# An input counts if at least this share of the calls of its action have it.
_USUAL = 0.5
_MOST_INPUTS, _MOST_SOURCES = 12, 5
# A lookup supplies an input if at least this number and this share of the input's known values came from it.
_LEAST_VALUES, _LEAST_SHARE = 2, 0.05
# An action depends on a lookup from which at least this share of the values of one of its inputs came.
_DEPENDS = 0.5
# A masked part of an error message, such as "<amount>".
_SLOT = re.compile(r"<([^<>]*)>")
# Parts of input names that say nothing about what the input is.
_FILLERS = frozenset(("id", "ids", "new", "old", "name", "number", "in"))

# Probability that a lookup of the right value comes next, if the error calls a value wrong.
_LOOKED_UP = 0.5
# Factors by which the probabilities of other actions are multiplied: the lookup that shows the state of the named item,
# actions that need the result of the failed lookup, another attempt when the user has answered, and the first change
# that the user then asks for. Measured on next actions after errors, each quarter of the tasks predicted from the other
# three: of 45 in runs of airline agents, on which the factors were tuned, 29 were predicted with these rules and 24
# without; of 63 in runs of retail agents, 44 and 43.
_STATE_LOOKUP, _DEPENDENT, _ANSWERED, _ASKED = 5.0, 0.1, 2.0, 4.0
# Added to a probability before it is multiplied, so that a factor can raise one of 0.
_SMOOTHING = 0.002


@dataclass(frozen=True, slots=True)
class CallInputs:
    """For each action its usual inputs, and for each input how often its value came from each origin.

    Origins are actions, the user, or "" if unknown.
    """

    by_action: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    def named_inputs(self, action: str, error: str) -> list[str]:
        """The inputs of *action* that an error names: by a mask in place of the value, else by a word of their names.

        >>> inputs = CallInputs({"charge": {"payment_id": {}, "amount": {}}})
        >>> inputs.named_inputs("charge", "payment method not found")
        ['payment_id']
        >>> inputs.named_inputs("charge", "<amount> is too much to pay")
        ['amount']
        """
        names, slots = sorted(self.by_action.get(action, ())), set(_SLOT.findall(error))
        words = set(terms(error))
        return [name for name in names if name in slots] or [name for name in names if words & _input_terms(name)]

    def sources(self, action: str, name: str) -> Iterator[str]:
        """The lookups that supply this input of *action*."""
        counts = self.by_action.get(action, {}).get(name, {})
        known_count = sum(count for origin, count in counts.items() if origin)
        for origin, count in counts.items():
            if count >= max(_LEAST_VALUES, _LEAST_SHARE * known_count) and origin != FROM_USER and _is_lookup(origin):
                yield origin

    def lookups_taking(self, names: Iterable[str]) -> Iterator[str]:
        """The lookups that take one of these inputs."""
        wanted_names = set(names)
        for action, inputs in self.by_action.items():
            if _is_lookup(action) and not wanted_names.isdisjoint(inputs):
                yield action

    def dependents(self, lookup: str) -> Iterator[str]:
        """The actions with an input that usually comes from *lookup*."""
        for action, inputs in self.by_action.items():
            if any(counts.get(lookup, 0) >= _DEPENDS * sum(counts.values()) > 0 for counts in inputs.values()):
                yield action

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            action: {name: dict(counts) for name, counts in inputs.items()} for action, inputs in self.by_action.items()
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The inputs stored in *document*."""
        return cls(document)


def learn_inputs(summaries: Iterable[SessionSummary]) -> CallInputs:
    """The usual inputs of each action, with the origins of their values; calls that failed do not count."""
    calls = Counter[str]()
    having: defaultdict[str, Counter[str]] = defaultdict(Counter)
    origins: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for step in (step for summary in summaries for step in summary.steps if step.ok is not False and step.inputs):
        calls[step.action] += 1
        having[step.action].update({name for name, _ in step.inputs})
        for name, origin in step.inputs:
            origins[step.action, name][origin] += 1
    return CallInputs(
        {
            action: {
                name: {
                    origin: origins[action, name][origin]
                    for origin in most_first(origins[action, name])[:_MOST_SOURCES]
                }
                for name in most_first(having[action])[:_MOST_INPUTS]
                if having[action][name] >= _USUAL * calls[action]
            }
            for action in sorted(calls)
        }
    )


def as_the_error_asks(chances: Mapping[str, float], running: SessionSummary, inputs: CallInputs) -> dict[str, float]:
    """The probabilities of the next actions, adapted to the failure that the session has not reacted to yet.

    If the error names a value that is wrong, and a lookup that supplies such values was not called yet, that lookup
    probably comes next, unless the user has spoken. If the error names an item for another reason, the lookup that
    shows the item becomes more likely. Actions that need the result of the failed lookup become unlikely, unless it has
    also worked. When the user has answered, another attempt becomes more likely, and so does the first change that the
    user asks for.
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
    """The changes whose verb comes first among the terms that the user said."""
    heard_terms = heard.split()
    places = {
        action: min(heard_terms.index(term) for term in verbs)
        for action in actions
        if is_action(action) and (verbs := set(terms(read_action(action).verb)).intersection(heard_terms))
    }
    return [action for action, place in places.items() if place == min(places.values())]


def _multiplied(chances: Mapping[str, float], factors: Mapping[str, float]) -> dict[str, float]:
    """The *chances* times the *factors*, scaled so that they sum to one."""
    scaled = {
        name: (chance + _SMOOTHING) * factors[name] if name in factors else chance for name, chance in chances.items()
    }
    total = sum(scaled.values()) or 1.0
    return {name: chance / total for name, chance in scaled.items()}


def _mixed(chances: Mapping[str, float], suppliers: Iterable[str]) -> dict[str, float]:
    """The *chances*, scaled down to leave ``_LOOKED_UP`` to the *suppliers* in equal parts; unchanged without any."""
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
