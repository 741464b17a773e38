"""What happened after each failure, and statistics that compare shares of sessions within each kind of request."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from hmxgraph.compiler._amendments import FEWER, UNEXPLAINED
from hmxgraph.compiler._shell import has_options, lacks_options, tried_again
from hmxgraph.compiler._signatures import mask_numbers, mask_quoted
from hmxgraph.compiler._slots import merged, template
from hmxgraph.compiler._verbs import is_action, kind_of, noun_words, read_action, serves_any_purpose
from hmxgraph.compiler._vocabulary import BROWSER, has_word
from hmxgraph.compiler.summary import Failure, SessionSummary, Step
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.terms import most_first, terms

# Sessions with some property are compared only with sessions of the same kind of request, called a stratum. Otherwise
# an action that only hard requests need would be blamed because hard requests fail more often.


@dataclass(frozen=True, slots=True)
class Stratum:
    """How many sessions or calls of one kind have a property, how many do not, and how many of each show the effect.

    The property is, for example, that a lookup preceded a call, and the effect that the call failed.
    """

    having: int
    affected: int
    others: int
    others_affected: int

    @property
    def expected(self) -> float:
        """The expected number of ``affected`` if the property made no difference."""
        return self.having * (self.affected + self.others_affected) / (self.having + self.others)

    @property
    def variance(self) -> float:
        """The variance of ``affected`` if the property made no difference (hypergeometric)."""
        total, affected = self.having + self.others, self.affected + self.others_affected
        return self.having * self.others * affected * (total - affected) / (total * total * (total - 1))


def strata(observed: Iterable[tuple[str, bool, bool]]) -> dict[str, Stratum]:
    """The strata by kind; kinds in which all or none have the property allow no comparison and are left out.

    *observed* holds (kind of request, has the property, shows the effect) for each session or call.

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
    """How far the affected with the property exceed their expected number, in standard errors, over all strata.

    This is the statistic of Mantel and Haenszel (1959).

    >>> round(significance([Stratum(6, 6, 6, 0)]), 2), significance([Stratum(6, 3, 6, 3)])
    (3.32, 0.0)
    """
    surplus = sum(stratum.affected for stratum in tables) - sum(stratum.expected for stratum in tables)
    variance = sum(stratum.variance for stratum in tables)
    return surplus / math.sqrt(variance) if variance > 0 else 0.0


def chance(table: Stratum) -> float:
    """The probability of at least this many affected with the property if it made no difference (Fisher's exact test).

    Unlike :func:`significance`, this is exact for few observations.

    >>> round(chance(Stratum(3, 2, 7, 0)), 3), chance(Stratum(4, 4, 4, 0)) < 0.05
    (0.067, True)
    """
    affected = table.affected + table.others_affected
    at_least_as_many = range(table.affected, min(table.having, affected) + 1)
    ways = sum(math.comb(table.having, count) * math.comb(table.others, affected - count) for count in at_least_as_many)
    return ways / math.comb(table.having + table.others, affected)


# What happened after each failure.

# Maximum steps kept as the reaction to a failure.
_MOST_REACTIONS = 3
# Values of ``Situation.since`` that mean that the user has spoken.
SPOKEN = frozenset({"user", "both"})
# Maximum changes of a route.
_MOST_CHANGES = 3
# Minimum Jaccard index of the nouns in the names of two actions that handle the same thing.
_LEAST_SHARED_NOUNS = 0.35
# A masked value or a slot: "<id>".
_MARK = re.compile(r"<[^<>]*>")
# Names inside a message: paths, hosts, hyphenated names.
_NAME = re.compile(r"\S*\w[-/.]+\w\S*")
# Separators of words, and of names inside paths and assignments, on a command line.
_SEPARATORS = re.compile(r"[\s/=:,'\"]+")
# Phrases of errors that say that a value is wrong.
WRONG_VALUE = re.compile(
    r"\b(?:not found|not exist|no such|unknown|invalid|incorrect|wrong|mismatch|not match|unrecognized|malformed)\b",
    re.IGNORECASE,
)
_ERROR_TYPE = re.compile(r"(?:Error|Exception|Panic|Fault)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One failure in one session: the failed action, the reaction to the failure, and whether the reaction helped.

    ``following`` holds the first steps after the failure. ``next_attempt`` is the next call of the failed action on the
    same item, None if there was none. ``work`` holds the steps before that attempt that changed something, in order;
    ``changes`` names each different change among them once.

    ``route`` holds the steps credited with the result. If there was a next attempt, they are the last changes before
    it, else the lookup before it; if there was none, they are what was done instead. ``helped`` says whether the
    failure was gone at the next attempt; if there was none, or its result is unknown, the outcome of the session or of
    the step taken instead decides. It is None if that is unknown.

    ``slots`` pairs the values in the message with their slots ("W12" with "<order id>"). ``settled`` is set if the user
    spoke between the failure and the reaction, ``declared`` if a decision or feedback names what was done instead.

    ``undone`` holds the changes that the user asked to undo: those before the next attempt, or that attempt if nothing
    was changed before it. They did not help; if another attempt followed, the other fields are about that one.
    """

    summary: SessionSummary
    failure: Failure
    action: str
    following: tuple[Step, ...]
    next_attempt: Step | None
    route: tuple[Step, ...]
    helped: bool | None
    slots: tuple[tuple[str, str], ...] = ()
    changes: tuple[str, ...] = ()
    work: tuple[Step, ...] = ()
    settled: bool = False
    declared: bool = False
    undone: tuple[Step, ...] = ()

    @property
    def failed_step(self) -> Step | None:
        """The step that failed; None if there is none or it was not kept."""
        return self.summary.steps[self.failure.step] if self.failure.step >= 0 else None

    @property
    def attributable(self) -> bool:
        """Whether the route holds all changes before the next attempt, so that it can be credited with the result."""
        return len(self.changes) <= _MOST_CHANGES

    @property
    def retried(self) -> bool:
        """Whether the failed action was tried again, and no other step is credited with the result."""
        return self.next_attempt is not None and not self.route

    @property
    def repaired(self) -> bool:
        """Whether the failure was gone at the next attempt."""
        return self.next_attempt is not None and bool(self.helped)

    @property
    def displaced(self) -> bool:
        """Whether the failure was gone at the next attempt, but another one replaced it."""
        return self.next_attempt is not None and bool(self.helped) and self.next_attempt.ok is False


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """All occurrences of one failure, with their most frequent signature and action ("" if none).

    ``message`` is their common message: where the messages of the occurrences differ, it has slots ("order <id> not
    found"). Without any message it is the signature.
    """

    key: str
    signature: str
    message: str
    action: str
    occurrences: tuple[Occurrence, ...]

    @property
    def sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions in which the failure occurred."""
        return tuple({occurrence.summary.session_id: occurrence.summary for occurrence in self.occurrences}.values())

    @property
    def keys(self) -> list[str]:
        """The group's own key and those of its signatures, by which a running session looks up the failure."""
        return sorted({self.key, *(failure_key(occurrence.failure.signature) for occurrence in self.occurrences)})


def failure_groups(summaries: Iterable[SessionSummary]) -> list[FailureGroup]:
    """The failures of these sessions grouped by signature, the most frequent first.

    Failures whose messages differ only in names form one group, whose message has slots for the names.
    """
    by_key: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for summary in sorted(summaries, key=lambda summary: summary.session_id):
        for failure in summary.failures:
            by_key[failure_key(failure.signature)].append(_occurrence(summary, failure))
    messages = {
        key: mask_numbers(_without_quotes(occurrences[0].failure.message))
        for key, occurrences in by_key.items()
        if occurrences[0].failure.message
    }
    owners = merged(messages, lambda key, value: all(_speaks_of(occurrence, value) for occurrence in by_key[key]))
    groups: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for key in sorted(by_key):
        groups[owners.get(key, key)] += by_key[key]
    formed = [_failure_group(key, groups[key]) for key in sorted(groups)]
    return sorted(formed, key=lambda group: (-len(group.occurrences), group.key))


def plain_message(message: str) -> str:
    """The message for people: numbers masked, and in lower case its first letter, unless that begins a name or "I".

    >>> plain_message("Paid 299, but the total is 375"), plain_message("KeyError: 'rate'"), plain_message("I can't")
    ('paid <n>, but the total is <n>', "KeyError: 'rate'", "I can't")
    """
    text = mask_numbers(message)
    first = text.split(" ", 1)[0]
    is_name = first[1:] != first[1:].lower() or first == "I" or first.startswith("I'")
    return text if is_name else text[:1].lower() + text[1:]


def failure_key(signature: str) -> str:
    """The search terms of a signature, without masked values, names and words with digits unless nothing else is left.

    So "payment method <id> not found" and "payment method not found" are the same failure.

    >>> failure_key("payment method <id> not found") == failure_key("Payment method not found")
    True
    >>> failure_key("the current branch login-page has no upstream")
    'current branch upstream'
    """
    bare = _MARK.sub(" ", signature)
    for text in (_NAME.sub(_without_name, bare), bare):
        plain_terms = [term for term in terms(text) if term.isdecimal() or not any(map(str.isdigit, term))]
        if plain_terms:
            return " ".join(plain_terms)
    return bare.strip() or "error"


def most_frequent(names: Iterable[str]) -> str:
    """The most frequent name, the alphabetically first of equals; "" if there are none."""
    return next(iter(most_first(Counter(names))), "")


def _without_name(match: re.Match[str]) -> str:
    return match.group() if _ERROR_TYPE.search(match.group()) else " "


def _without_quotes(message: str) -> str:
    return message.replace("'", "").replace('"', "").replace("`", "")


def _speaks_of(occurrence: Occurrence, value: str) -> bool:
    """Whether *value*, a word of the message, also occurs in the failed step, the route or the next attempt."""
    steps = [*occurrence.route, *filter(None, (occurrence.next_attempt, occurrence.failed_step))]
    step_words = {
        word.lower() for step in steps for text in (step.action, step.command) for word in _SEPARATORS.split(text)
    }
    return value in step_words


def _failure_group(key: str, occurrences: Sequence[Occurrence]) -> FailureGroup:
    signature = most_frequent(occurrence.failure.signature for occurrence in occurrences)
    messages = [plain_message(occurrence.failure.message) for occurrence in occurrences]
    common = template(messages)
    differ = len(set(messages)) > 1
    message = (mask_quoted(common.text) if differ else common.text) or signature
    action = most_frequent(occurrence.action for occurrence in occurrences)
    slotted = (replace(occurrence, slots=slots) for occurrence, slots in zip(occurrences, common.values, strict=True))
    return FailureGroup(_stable_key(key, common.text, occurrences), signature, message, action, tuple(slotted))


def _stable_key(key: str, text: str, occurrences: Sequence[Occurrence]) -> str:
    """The key of a group: that of its signatures if they all have the same, else that of *text*, its common message."""
    keys = {failure_key(occurrence.failure.signature) for occurrence in occurrences}
    return key if len(keys) == 1 else failure_key(text)


def _occurrence(summary: SessionSummary, failure: Failure) -> Occurrence:
    """The *failure* of a session with the reaction to it, and whether the reaction helped."""
    if failure.step < 0:
        # The first steps react to a failure before any work. If steps were not kept, the reaction is unknown.
        first_steps = () if summary.skipped_steps else _first_reactions(summary.steps)
        return Occurrence(summary, failure, "", first_steps, None, first_steps[:1], summary.went_well)
    failed, later = summary.steps[failure.step], _reactions(summary, failure.step)
    undone = _undone_way(failed, later)
    lasting = tuple(step for step in later if not step.undone)
    if any(_is_attempt(step, failed) for step in lasting):
        later = lasting
    attempts = _attempts(summary, failure.step, later)
    trial_runs, attempt_index = attempts[:-1], attempts[-1] if attempts else None
    next_attempt = None if attempt_index is None else later[attempt_index]
    before = [step for index, step in enumerate(later[:attempt_index]) if index not in trial_runs]
    between = _between_lines(failed, before, next_attempt, summary)
    declared = _declared_replacement(summary, failure.step, later) if next_attempt is None else ()
    changes = [] if next_attempt is None else _changes(between)
    stand_in = _stand_in(failed, later) if next_attempt is None and not declared else ()
    route = declared or stand_in or tuple(changes)[-_MOST_CHANGES:] or _reaction_start(between, next_attempt)
    helped = (
        _replacement_helped(failed, route, summary)
        if next_attempt is None
        else _failure_gone(summary, failure, next_attempt)
    )
    if any(step.undone for step in (*route, *filter(None, [next_attempt]))):
        helped = False
    action = failure.line or failed.action
    reaction = next_attempt if next_attempt is not None else next(iter(route), None)
    settled = reaction is not None and any(step.situation.since in SPOKEN for step in _until(reaction, later))
    occurrence = Occurrence(summary, failure, action, _first_reactions(later), next_attempt, route, helped)
    work = tuple(_changing(between)) if changes else ()
    names = tuple(step.action for step in changes)
    return replace(occurrence, changes=names, work=work, settled=settled, declared=bool(declared), undone=undone)


def _attempts(summary: SessionSummary, failed: int, later: Sequence[Step]) -> list[int]:
    """The index in *later* of the next attempt, after that of a trial run if there was one; empty if there was none.

    A trial run, such as one without "--apply", is not the next attempt if a run with all options follows it.
    """
    line = summary.steps[failed].command
    retries = (
        index
        for index, step in enumerate(later)
        if _is_attempt(step, summary.steps[failed]) and not changes_another(step, failed, summary)
    )
    attempts = [*islice(retries, 1)]
    if attempts and lacks_options(later[attempts[0]].command, line):
        attempts += (index for index in islice(retries, 1) if has_options(later[index].command, line))
    return attempts


def _undone_way(failed: Step, later: Sequence[Step]) -> tuple[Step, ...]:
    """The changes up to the next attempt that the user asked to undo; if there are none, that attempt."""
    undone = [step for step in takewhile(lambda step: step.undone, later) if is_action(step.action)]
    before = tuple(takewhile(lambda step: not _is_attempt(step, failed), undone))
    return before or tuple(undone[:1])


def _until(last: Step, steps: Sequence[Step]) -> Sequence[Step]:
    """The *steps* up to *last*, which is one of them."""
    return steps[: next(index for index, step in enumerate(steps) if step is last) + 1]


def _declared_replacement(summary: SessionSummary, failed: int, later: Sequence[Step]) -> tuple[Step, ...]:
    """The first of the *later* steps that took another action, did not fail, and is named by a decision or feedback.

    Only decisions after the failure count, but any feedback of the session.
    """
    decided = [decision.chosen for decision in summary.decisions if decision.step > failed]
    texts = " ".join([*decided, *summary.worked]).lower()
    named = (
        step for step in later if step.action != summary.steps[failed].action and has_word(texts, step.action.lower())
    )
    return tuple([step for step in named if step.ok is not False][:1])


def _replacement_helped(failed: Step, route: Sequence[Step], summary: SessionSummary) -> bool | None:
    """Whether the step taken instead of a retry helped, judged by the outcome of the session.

    If that step replaces the failed call, it is judged by its own result, because the session may fail later for other
    reasons: a lookup with the same purpose replaces a lookup, and a change of all the same items replaces a change.
    """
    replacement = route[0] if route else None
    if replacement is None or replacement.ok is None:
        return summary.went_well
    if not kind_of(replacement.action) == kind_of(failed.action) == "lookup" and not _stands_in(replacement, failed):
        return summary.went_well
    return replacement.ok if serve_same_purpose(replacement.action, failed.action) else summary.went_well


def _stand_in(failed: Step, later: Iterable[Step]) -> tuple[Step, ...]:
    """The first of the *later* steps that stands in for the *failed* one; () if there is none."""
    return tuple([step for step in later if _stands_in(step, failed)][:1])


def _stands_in(step: Step, failed: Step) -> bool:
    """Whether *step* is a change with the same purpose by another tool, which names all that the failed call named.

    A failed call with fewer than two identifiers is not enough: different changes often share one.
    """
    named = set(failed.about)
    return (
        step.action != failed.action
        and kind_of(step.action) == kind_of(failed.action) == "action"
        and len(named) > 1
        and named.issubset(step.about)
        and serve_same_purpose(step.action, failed.action)
    )


def serve_same_purpose(replacement: str, failed: str) -> bool:
    """Whether two tools, judged by their names, serve the same purpose, so that *replacement* may replace *failed*.

    Always true if *replacement* is a thought or a handover, if one of the names shows no purpose, such as that of a
    program, or if *failed* is empty.

    >>> serve_same_purpose("find_user_by_name", "find_user_by_email"), serve_same_purpose("get_order", "return_order")
    (True, False)
    """
    if not failed or kind_of(replacement) in {"scratch", "handover"}:
        return True
    if serves_any_purpose(replacement) or serves_any_purpose(failed):
        return True
    readings = read_action(replacement), read_action(failed)
    return readings[0].kind == readings[1].kind and (
        readings[0].verb == readings[1].verb or share_nouns(replacement, failed)
    )


def share_nouns(action: str, other: str) -> bool:
    """Whether the names of two actions share enough nouns for both to handle the same thing."""
    return jaccard(noun_words(action), noun_words(other)) >= _LEAST_SHARED_NOUNS


def _reactions(summary: SessionSummary, failed: int) -> tuple[Step, ...]:
    """The steps after the one at index *failed*, without those called in parallel before its result was known.

    The other commands of its shell line are included.
    """
    step, later = summary.steps[failed], summary.steps[failed + 1 :]
    early = sum(1 for _ in takewhile(lambda other: other.event_id == step.event_id or _in_parallel(other), later))
    return tuple(other for index, other in enumerate(later) if index >= early or other.event_id == step.event_id)


def _in_parallel(step: Step) -> bool:
    """Whether a step was called before the previous one had a result or an error."""
    return step.situation.since == "pending" and not step.situation.failure


def _failure_gone(summary: SessionSummary, failure: Failure, next_attempt: Step) -> bool | None:
    """Whether the failure was gone at the next attempt, even if that failed with another error; None if unknown."""
    if summary.rejected and any(change.how == FEWER for change in next_attempt.amendments):
        # The attempt left out a part of the work, and feedback says that the session failed.
        return False
    if next_attempt.ok is not False:
        return next_attempt.ok if next_attempt.ok is not None else summary.went_well
    later = [other for other in summary.failures if other.step >= 0 and summary.steps[other.step] is next_attempt]
    return all(failure_key(other.signature) != failure_key(failure.signature) for other in later)


def _between_lines(
    failed: Step, between: Sequence[Step], next_attempt: Step | None, summary: SessionSummary
) -> list[Step]:
    """The steps *between* failure and retry that do not merely repeat the failed shell line.

    Left out are the other commands of that line, and the same commands in the line of the retry.
    """
    same_line = {step.action for step in summary.steps if step.event_id == failed.event_id}
    retried = "" if next_attempt is None else next_attempt.event_id
    return [
        step
        for step in between
        if step.event_id != failed.event_id and (step.event_id != retried or step.action not in same_line)
    ]


def _changes(between: Sequence[Step]) -> list[Step]:
    """The changes before the next attempt; of a repeated change only the last.

    Clicks and inputs on different elements of a web page are different changes.
    """
    targets = ((step.action, step.command if step.action.startswith(BROWSER) else "") for step in _changing(between))
    return list(dict(zip(targets, _changing(between), strict=True)).values())


def _changing(steps: Iterable[Step]) -> Iterator[Step]:
    return (step for step in steps if kind_of(step.action) == "action" and step.ok is not False)


def _reaction_start(between: Sequence[Step], next_attempt: Step | None) -> tuple[Step, ...]:
    """The step to credit if nothing was changed before the next attempt: the first after the failure.

    If it is known how the inputs of the attempt differ from those of the failed call, only a lookup that supplied one
    of them is credited.
    """
    if next_attempt is None:
        return _first_reactions(between)[:1]
    not_failed = [step for step in between if step.ok is not False]
    sources = {change.detail.removeprefix("from ") for change in next_attempt.amendments}
    supplied = [step for step in not_failed if step.action in sources]
    explained = any(change.how not in UNEXPLAINED for change in next_attempt.amendments)
    return tuple(supplied[-1:]) if supplied or explained else _first_reactions(not_failed)[:1]


def _first_reactions(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The first few of *steps* that are not notes or thoughts."""
    return tuple([step for step in steps if kind_of(step.action) != "scratch"][:_MOST_REACTIONS])


def _is_attempt(step: Step, failed: Step) -> bool:
    """Whether *step* retries *failed*; a different command line of the same program does not."""
    return step.action == failed.action and tried_again(failed.command, step.command)


def changes_another(step: Step, failed: int, summary: SessionSummary) -> bool:
    """Whether *step* changes another item than the call at index *failed*.

    Only identifiers with which an earlier lookup was called name items; a card or a user that both calls name may
    belong to many items. If the failed call named no item, the answer is no: *step* may retry it with the right name.
    """
    looked_up = {
        name
        for earlier in summary.steps[:failed]
        if earlier.ok is not False and kind_of(earlier.action) == "lookup"
        for name in earlier.about
    }
    named_items = looked_up.intersection(summary.steps[failed].about)
    return is_action(step.action) and bool(named_items and step.about) and named_items.isdisjoint(step.about)
