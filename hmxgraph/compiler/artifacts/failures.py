"""What happened after a failure, told apart from session to session."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hmxgraph.compiler.sessions.commands import tried_again
from hmxgraph.compiler.sessions.signatures import mask_numbers, mask_quoted
from hmxgraph.compiler.sessions.summary import Failure, SessionSummary, Step
from hmxgraph.compiler.verbs import kind_of
from hmxgraph.text.counts import most_first
from hmxgraph.text.terms import terms

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
