"""What happened after a failure, session by session, and comparison of shares by stratum."""

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

# Two shares compared kind by kind, so that hard kinds of requests blame nothing that only they need.


@dataclass(frozen=True, slots=True)
class Stratum:
    """The sessions of one kind of request: with and without something, and how many of each show the effect."""

    having: int
    affected: int
    others: int
    others_affected: int

    @property
    def expected(self) -> float:
        """How many of those that have it would show the effect if it made no difference."""
        return self.having * (self.affected + self.others_affected) / (self.having + self.others)

    @property
    def variance(self) -> float:
        """How far chance moves that number (hypergeometric)."""
        total, affected = self.having + self.others, self.affected + self.others_affected
        return self.having * self.others * affected * (total - affected) / (total * total * (total - 1))


def strata(observed: Iterable[tuple[str, bool, bool]]) -> dict[str, Stratum]:
    """The kinds in which some have it and others do not, from (kind, has it, shows the effect) for each session.

    >>> strata([("a", True, True), ("a", False, False), ("b", True, True)])
    {'a': Stratum(having=1, affected=1, others=1, others_affected=0)}
    """
    counts: defaultdict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for kind, has, shows in observed:
        counts[kind][has, shows] += 1
    found = {
        kind: Stratum(one[True, True] + one[True, False], one[True, True],
                      one[False, True] + one[False, False], one[False, True])
        for kind, one in sorted(counts.items())
    }  # fmt: skip
    return {kind: one for kind, one in found.items() if one.having and one.others}


def clearness(found: Sequence[Stratum]) -> float:
    """How many standard errors the affected lie above what chance would give, over all kinds (Mantel, Haenszel 1959).

    >>> round(clearness([Stratum(6, 6, 6, 0)]), 2), clearness([Stratum(6, 3, 6, 3)])
    (3.32, 0.0)
    """
    surplus = sum(one.affected for one in found) - sum(one.expected for one in found)
    variance = sum(one.variance for one in found)
    return surplus / math.sqrt(variance) if variance > 0 else 0.0


# What happened after a failure, told apart from session to session.

_FOLLOWING = 3
_MARK = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One failure in one session: the action it befell, what was done next, and whether that helped.

    ``again`` is the next attempt at what failed; ``helped`` is None while nothing is known of how it went on.
    """

    summary: SessionSummary
    failure: Failure
    action: str
    following: tuple[Step, ...]
    again: Step | None
    helped: bool | None

    @property
    def retried(self) -> bool:
        """Whether what failed was tried again at once."""
        return bool(self.following) and self.following[0] is self.again

    @property
    def repaired(self) -> bool:
        """Whether what failed succeeded when it was next tried."""
        return self.again is not None and bool(self.again.ok)


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """All occurrences of one failure; its signature, words and action are the most frequent ("" if there is none)."""

    key: str
    signature: str
    says: str
    action: str
    occurrences: tuple[Occurrence, ...]

    @property
    def sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions it occurred in."""
        return tuple({one.summary.session_id: one.summary for one in self.occurrences}.values())


def failure_groups(summaries: Iterable[SessionSummary]) -> list[FailureGroup]:
    """The failures of these sessions, each kind once, the most frequent first."""
    groups: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for summary in sorted(summaries, key=lambda one: one.session_id):
        for failure in summary.failures:
            groups[failure_key(failure.signature)].append(_occurrence(summary, failure))
    found = [_group(key, groups[key]) for key in sorted(groups)]
    return sorted(found, key=lambda group: (-len(group.occurrences), group.key))


def plain_message(message: str) -> str:
    """The message for people: numbers that differ from run to run are masked, its first letter is small but in a name.

    >>> plain_message("Paid 299, but the total is 375"), plain_message("KeyError: 'rate'")
    ('paid <n>, but the total is <n>', "KeyError: 'rate'")
    """
    text = mask_numbers(message)
    inner = text[1:].split(" ", 1)[0]
    return text[:1].lower() + text[1:] if inner == inner.lower() else text


def failure_key(signature: str) -> str:
    """The signature without marks, so that "payment method <id> not found" meets "payment method not found".

    >>> failure_key("payment method <id> not found") == failure_key("Payment method not found")
    True
    """
    plain = _MARK.sub(" ", signature)
    found = [term for term in terms(plain) if term.isdecimal() or not any(map(str.isdigit, term))]
    return " ".join(found) or plain.strip() or "error"


def most_frequent(names: Iterable[str]) -> str:
    """The name that comes most often; of several the first in the alphabet; "" of none."""
    return next(iter(most_first(Counter(names))), "")


def _group(key: str, occurrences: Sequence[Occurrence]) -> FailureGroup:
    signature = most_frequent(one.failure.signature for one in occurrences)
    messages = [plain_message(one.failure.message) for one in occurrences]
    differ = len(set(messages)) > 1
    says = most_frequent(mask_quoted(text) if differ else text for text in messages) or signature
    return FailureGroup(key, signature, says, most_frequent(one.action for one in occurrences), tuple(occurrences))


def _occurrence(summary: SessionSummary, failure: Failure) -> Occurrence:
    if failure.step < 0:
        # What was met before any work is answered by the work; what follows a step that was not kept is unknown.
        first = () if summary.skipped_steps else _answers(summary.steps)
        return Occurrence(summary, failure, "", first, None, summary.went_well)
    failed, later = summary.steps[failure.step], summary.steps[failure.step + 1 :]
    again = next((step for step in later if _is_attempt(step, failed)), None)
    helped = again.ok if again is not None and again.ok is not None else summary.went_well
    return Occurrence(summary, failure, failed.action, _answers(later), again, helped)


def _answers(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The first of *steps*, but for notes and thoughts, which answer nothing."""
    return tuple([step for step in steps if kind_of(step.action) != "scratch"][:_FOLLOWING])


def _is_attempt(step: Step, failed: Step) -> bool:
    """Whether *step* does once more what *failed*: another command line of the same program does something else."""
    return step.action == failed.action and tried_again(failed.command, step.command)
