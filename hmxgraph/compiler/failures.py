"""What happened after each failure, and comparison of shares by stratum."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hmxgraph.compiler._signatures import mask_numbers, mask_quoted
from hmxgraph.compiler._verbs import kind_of
from hmxgraph.compiler.actions import tried_again
from hmxgraph.compiler.summary import Failure, SessionSummary, Step
from hmxgraph.text.terms import most_first, terms

# Shares are compared within each kind of request, so that actions needed only by hard requests are not blamed.


@dataclass(frozen=True, slots=True)
class Stratum:
    """The sessions of one kind of request with and without a property, and how many of each show the effect."""

    having: int
    affected: int
    others: int
    others_affected: int

    @property
    def expected(self) -> float:
        """The expected number of affected sessions with the property if it made no difference."""
        return self.having * (self.affected + self.others_affected) / (self.having + self.others)

    @property
    def variance(self) -> float:
        """The variance of that number (hypergeometric)."""
        total, affected = self.having + self.others, self.affected + self.others_affected
        return self.having * self.others * affected * (total - affected) / (total * total * (total - 1))


def strata(observed: Iterable[tuple[str, bool, bool]]) -> dict[str, Stratum]:
    """The strata with both kinds of sessions, from (kind, has the property, shows the effect) for each session.

    >>> strata([("a", True, True), ("a", False, False), ("b", True, True)])
    {'a': Stratum(having=1, affected=1, others=1, others_affected=0)}
    """
    counts: defaultdict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for kind, has, shows in observed:
        counts[kind][has, shows] += 1
    by_kind = {
        kind: Stratum(counted[True, True] + counted[True, False], counted[True, True],
                      counted[False, True] + counted[False, False], counted[False, True])
        for kind, counted in sorted(counts.items())
    }  # fmt: skip
    return {kind: counted for kind, counted in by_kind.items() if counted.having and counted.others}


def significance(tables: Sequence[Stratum]) -> float:
    """The number of standard errors above chance, over all strata (Mantel, Haenszel 1959).

    >>> round(significance([Stratum(6, 6, 6, 0)]), 2), significance([Stratum(6, 3, 6, 3)])
    (3.32, 0.0)
    """
    surplus = sum(stratum.affected for stratum in tables) - sum(stratum.expected for stratum in tables)
    variance = sum(stratum.variance for stratum in tables)
    return surplus / math.sqrt(variance) if variance > 0 else 0.0


# What happened after each failure.

_FOLLOWING = 3
_MARK = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One failure in one session: the failed action, the next steps, and whether they helped.

    ``again`` is the next attempt at the failed action; ``helped`` is None if unknown.
    """

    summary: SessionSummary
    failure: Failure
    action: str
    following: tuple[Step, ...]
    again: Step | None
    helped: bool | None

    @property
    def retried(self) -> bool:
        """Whether the failed action was retried at once."""
        return bool(self.following) and self.following[0] is self.again

    @property
    def repaired(self) -> bool:
        """Whether the next attempt succeeded."""
        return self.again is not None and bool(self.again.ok)


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """All occurrences of one failure, with its most frequent signature, message and action ("" if none)."""

    key: str
    signature: str
    says: str
    action: str
    occurrences: tuple[Occurrence, ...]

    @property
    def sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions in which it occurred."""
        return tuple({occurrence.summary.session_id: occurrence.summary for occurrence in self.occurrences}.values())


def failure_groups(summaries: Iterable[SessionSummary]) -> list[FailureGroup]:
    """The failures of these sessions grouped by signature, the most frequent first."""
    groups: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for summary in sorted(summaries, key=lambda one: one.session_id):
        for failure in summary.failures:
            groups[failure_key(failure.signature)].append(_occurrence(summary, failure))
    found = [_group(key, groups[key]) for key in sorted(groups)]
    return sorted(found, key=lambda group: (-len(group.occurrences), group.key))


def plain_message(message: str) -> str:
    """The message for people: numbers masked, the first letter in lower case unless it starts a name.

    >>> plain_message("Paid 299, but the total is 375"), plain_message("KeyError: 'rate'")
    ('paid <n>, but the total is <n>', "KeyError: 'rate'")
    """
    text = mask_numbers(message)
    inner = text[1:].split(" ", 1)[0]
    return text[:1].lower() + text[1:] if inner == inner.lower() else text


def failure_key(signature: str) -> str:
    """The signature without marks, so that "payment method <id> not found" equals "payment method not found".

    >>> failure_key("payment method <id> not found") == failure_key("Payment method not found")
    True
    """
    plain = _MARK.sub(" ", signature)
    plain_terms = [term for term in terms(plain) if term.isdecimal() or not any(map(str.isdigit, term))]
    return " ".join(plain_terms) or plain.strip() or "error"


def most_frequent(names: Iterable[str]) -> str:
    """The most frequent name, the first in the alphabet if several are, "" if there are none."""
    return next(iter(most_first(Counter(names))), "")


def _group(key: str, occurrences: Sequence[Occurrence]) -> FailureGroup:
    signature = most_frequent(occurrence.failure.signature for occurrence in occurrences)
    messages = [plain_message(occurrence.failure.message) for occurrence in occurrences]
    differ = len(set(messages)) > 1
    says = most_frequent(mask_quoted(text) if differ else text for text in messages) or signature
    return FailureGroup(
        key, signature, says, most_frequent(occurrence.action for occurrence in occurrences), tuple(occurrences)
    )


def _occurrence(summary: SessionSummary, failure: Failure) -> Occurrence:
    if failure.step < 0:
        # The first steps answer a failure before any work; what followed a step that was not kept is unknown.
        first = () if summary.skipped_steps else _answers(summary.steps)
        return Occurrence(summary, failure, "", first, None, summary.went_well)
    failed, later = summary.steps[failure.step], summary.steps[failure.step + 1 :]
    again = next((step for step in later if _is_attempt(step, failed)), None)
    helped = again.ok if again is not None and again.ok is not None else summary.went_well
    return Occurrence(summary, failure, failed.action, _answers(later), again, helped)


def _answers(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The first of *steps*, without notes and thoughts."""
    return tuple([step for step in steps if kind_of(step.action) != "scratch"][:_FOLLOWING])


def _is_attempt(step: Step, failed: Step) -> bool:
    """Whether *step* retries *failed*; another command line of the same program is another action."""
    return step.action == failed.action and tried_again(failed.command, step.command)
