"""What happened after each failure, and how shares of sessions are compared stratum by stratum."""

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

# Shares are compared within each kind of request (a stratum), so that actions needed only by hard requests are not
# blamed for their failures.


@dataclass(frozen=True, slots=True)
class Stratum:
    """The sessions or calls of one kind with and without a property, and how many of each show the effect."""

    having: int
    affected: int
    others: int
    others_affected: int

    @property
    def expected(self) -> float:
        """The expected value of ``affected`` if the property made no difference."""
        return self.having * (self.affected + self.others_affected) / (self.having + self.others)

    @property
    def variance(self) -> float:
        """The variance of ``affected`` if the property made no difference (hypergeometric)."""
        total, affected = self.having + self.others, self.affected + self.others_affected
        return self.having * self.others * affected * (total - affected) / (total * total * (total - 1))


def strata(observed: Iterable[tuple[str, bool, bool]]) -> dict[str, Stratum]:
    """The strata by kind, without kinds in which all have the property or none has it.

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
    """The number of standard errors above chance, over all strata (Mantel, Haenszel 1959).

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
    likely = range(table.affected, min(table.having, affected) + 1)
    ways = sum(math.comb(table.having, count) * math.comb(table.others, affected - count) for count in likely)
    return ways / math.comb(table.having + table.others, affected)


# What happened after each failure.

# Maximum steps kept as the reaction to a failure.
_MOST_REACTIONS = 3
# Values of ``since`` when the user has spoken.
SPOKEN = frozenset({"user", "both"})
# Maximum changes of a route.
_MOST_CHANGES = 3
# Minimum Jaccard index of the nouns of two actions that are about the same thing.
_LEAST_SHARED_NOUNS = 0.35
# A mask or slot: "<id>".
_MARK = re.compile(r"<[^<>]*>")
# Names inside a message: paths, hosts, hyphenated names.
_NAME = re.compile(r"\S*\w[-/.]+\w\S*")
# Separators of words, and of names inside paths and assignments, on a command line.
_SEPARATORS = re.compile(r"[\s/=:,'\"]+")
# Words of errors about a wrong value.
WRONG_VALUE = re.compile(
    r"\b(?:not found|not exist|no such|unknown|invalid|incorrect|wrong|mismatch|not match|unrecognized|malformed)\b",
    re.IGNORECASE,
)
_ERROR_TYPE = re.compile(r"(?:Error|Exception|Panic|Fault)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One failure in one session: the failed action, the reaction, and whether it helped.

    ``next_attempt`` is the next call of the failed action on the same item, ``changes`` names the different changes
    before it, and ``work`` holds all of them in order. ``route`` holds the steps credited with the result: the last
    changes, else a lookup before the attempt, else what was done instead of an attempt. ``helped`` says whether the
    failure was gone at that attempt. Without an attempt of known result, the outcome of the session, or of the step
    taken instead, decides; None if unknown. ``slots`` pairs values of the message with their slots. ``settled`` is set
    if the user spoke after the failure, before the next attempt or what was done instead; ``declared`` if a decision or
    feedback names what was done instead.

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
        """Whether the route holds all changes, so that the result can be credited to the whole route."""
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

    ``says`` is the form that their messages share, else the most frequent message, else the signature.
    """

    key: str
    signature: str
    says: str
    action: str
    occurrences: tuple[Occurrence, ...]

    @property
    def sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions in which the failure occurred."""
        return tuple({occurrence.summary.session_id: occurrence.summary for occurrence in self.occurrences}.values())

    @property
    def keys(self) -> list[str]:
        """The keys of all its signatures, by which a running session finds the failure."""
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
    """The message for people: numbers masked, the first word in lower case unless it has inner capitals or is "I".

    >>> plain_message("Paid 299, but the total is 375"), plain_message("KeyError: 'rate'"), plain_message("I can't")
    ('paid <n>, but the total is <n>', "KeyError: 'rate'", "I can't")
    """
    text = mask_numbers(message)
    first = text.split(" ", 1)[0]
    is_name = first[1:] != first[1:].lower() or first == "I" or first.startswith("I'")
    return text if is_name else text[:1].lower() + text[1:]


def failure_key(signature: str) -> str:
    """The search terms of a signature, without masks, names and words with digits unless nothing else is left.

    Signatures of one failure have one key: "payment method <id> not found" and "payment method not found".

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
    """Whether *value* is also a word in the failed step or in the reaction to it."""
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
    says = (mask_quoted(common.text) if differ else common.text) or signature
    action = most_frequent(occurrence.action for occurrence in occurrences)
    slotted = (replace(occurrence, slots=slots) for occurrence, slots in zip(occurrences, common.values, strict=True))
    return FailureGroup(_stable_key(key, common.text, occurrences), signature, says, action, tuple(slotted))


def _stable_key(key: str, text: str, occurrences: Sequence[Occurrence]) -> str:
    """The key of a group: the only key of its signatures, else that of the form that its messages share, *text*."""
    keys = {failure_key(occurrence.failure.signature) for occurrence in occurrences}
    return key if len(keys) == 1 else failure_key(text)


def _occurrence(summary: SessionSummary, failure: Failure) -> Occurrence:
    """The *failure* with the reaction to it, and whether that helped."""
    if failure.step < 0:
        # The first steps react to a failure before any work; what followed a step that was not kept is unknown.
        first_steps = () if summary.skipped_steps else _first_reactions(summary.steps)
        return Occurrence(summary, failure, "", first_steps, None, first_steps[:1], summary.went_well)
    failed, later = summary.steps[failure.step], _reactions(summary, failure.step)
    undone = _undone_way(failed, later)
    lasting = tuple(step for step in later if not step.undone)
    if any(_is_attempt(step, failed) for step in lasting):
        later = lasting
    attempts = _attempts(summary, failure.step, later)
    trials, place = attempts[:-1], attempts[-1] if attempts else None
    next_attempt = None if place is None else later[place]
    before = [step for index, step in enumerate(later[:place]) if index not in trials]
    between = _between_lines(failed, before, next_attempt, summary)
    declared = _declared_way(summary, failure.step, later) if next_attempt is None else ()
    changes = [] if next_attempt is None else _changes(between)
    stand_in = _stand_in(failed, later) if next_attempt is None and not declared else ()
    route = declared or stand_in or tuple(changes)[-_MOST_CHANGES:] or _reaction_start(between, next_attempt)
    helped = (
        _way_helped(failed, route, summary) if next_attempt is None else _failure_gone(summary, failure, next_attempt)
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
    """The position among *later* of the next attempt, after that of a trial run if there was one; empty if none.

    A trial run, such as one without "--apply", is no attempt if the next one has all options again.
    """
    line = summary.steps[failed].command
    retries = (
        place
        for place, step in enumerate(later)
        if _is_attempt(step, summary.steps[failed]) and not changes_another(step, failed, summary)
    )
    attempts = [*islice(retries, 1)]
    if attempts and lacks_options(later[attempts[0]].command, line):
        attempts += (place for place in islice(retries, 1) if has_options(later[place].command, line))
    return attempts


def _undone_way(failed: Step, later: Sequence[Step]) -> tuple[Step, ...]:
    """The changes up to the next attempt that the user asked to undo; if there are none, that attempt."""
    undone = [step for step in takewhile(lambda step: step.undone, later) if is_action(step.action)]
    before = tuple(takewhile(lambda step: not _is_attempt(step, failed), undone))
    return before or tuple(undone[:1])


def _until(last: Step, steps: Sequence[Step]) -> Sequence[Step]:
    """The *steps* up to *last*, which is one of them."""
    return steps[: next(place for place, step in enumerate(steps) if step is last) + 1]


def _declared_way(summary: SessionSummary, failed: int, later: Sequence[Step]) -> tuple[Step, ...]:
    """The first later step of another action that did not fail and that a later decision or any feedback names."""
    decided = [decision.chosen for decision in summary.decisions if decision.step > failed]
    texts = " ".join([*decided, *summary.worked]).lower()
    named = (
        step for step in later if step.action != summary.steps[failed].action and has_word(texts, step.action.lower())
    )
    return tuple([step for step in named if step.ok is not False][:1])


def _way_helped(failed: Step, route: Sequence[Step], summary: SessionSummary) -> bool | None:
    """Whether what was done instead helped, judged by the outcome of the session.

    A lookup to the same end as the failed one, or another change of everything that the failed call named, is judged by
    its own result, because sessions fail later for many reasons.
    """
    way = route[0] if route else None
    if way is None or way.ok is None:
        return summary.went_well
    if not kind_of(way.action) == kind_of(failed.action) == "lookup" and not _stands_in(way, failed):
        return summary.went_well
    return way.ok if to_the_same_end(way.action, failed.action) else summary.went_well


def _stand_in(failed: Step, later: Iterable[Step]) -> tuple[Step, ...]:
    """The first later change, by another tool, of everything that the failed call named."""
    return tuple([step for step in later if _stands_in(step, failed)][:1])


def _stands_in(step: Step, failed: Step) -> bool:
    """Whether *step* is another change to the same end with all identifiers of the failed call, at least two."""
    named = set(failed.about)
    return (
        step.action != failed.action
        and kind_of(step.action) == kind_of(failed.action) == "action"
        and len(named) > 1
        and named.issubset(step.about)
        and to_the_same_end(step.action, failed.action)
    )


def to_the_same_end(way: str, failed: str) -> bool:
    """Whether the names of two tools allow one to replace the other.

    Always true if *way* is a thought or a handover, if a name shows no purpose, such as that of a program, or if
    *failed* is empty.

    >>> to_the_same_end("find_user_by_name", "find_user_by_email"), to_the_same_end("get_order", "return_order")
    (True, False)
    """
    if not failed or kind_of(way) in {"scratch", "handover"} or serves_any_purpose(way) or serves_any_purpose(failed):
        return True
    readings = read_action(way), read_action(failed)
    return readings[0].kind == readings[1].kind and (readings[0].verb == readings[1].verb or share_nouns(way, failed))


def share_nouns(action: str, other: str) -> bool:
    """Whether the names of two actions share enough nouns to be about the same thing."""
    return jaccard(noun_words(action), noun_words(other)) >= _LEAST_SHARED_NOUNS


def _reactions(summary: SessionSummary, failed: int) -> tuple[Step, ...]:
    """The steps after a failed one, without those called before its result was known.

    The other commands of its shell line are kept.
    """
    step, later = summary.steps[failed], summary.steps[failed + 1 :]
    early = sum(1 for _ in takewhile(lambda other: other.event_id == step.event_id or _in_parallel(other), later))
    return tuple(other for place, other in enumerate(later) if place >= early or other.event_id == step.event_id)


def _in_parallel(step: Step) -> bool:
    """Whether a step was called before the previous one had a result or an error."""
    return step.situation.since == "pending" and not step.situation.failure


def _failure_gone(summary: SessionSummary, failure: Failure, next_attempt: Step) -> bool | None:
    """Whether the failure was gone at the next attempt, whatever else failed there."""
    if summary.rejected and any(change.how == FEWER for change in next_attempt.amendments):
        # Part of the work was given up.
        return False
    if next_attempt.ok is not False:
        return next_attempt.ok if next_attempt.ok is not None else summary.went_well
    later = [other for other in summary.failures if other.step >= 0 and summary.steps[other.step] is next_attempt]
    return all(failure_key(other.signature) != failure_key(failure.signature) for other in later)


def _between_lines(
    failed: Step, between: Sequence[Step], next_attempt: Step | None, summary: SessionSummary
) -> list[Step]:
    """The steps *between* failure and retry, without other commands of the failed shell line and their repetitions."""
    same_line = {step.action for step in summary.steps if step.event_id == failed.event_id}
    retried = "" if next_attempt is None else next_attempt.event_id
    return [
        step
        for step in between
        if step.event_id != failed.event_id and (step.event_id != retried or step.action not in same_line)
    ]


def _changes(between: Sequence[Step]) -> list[Step]:
    """The changes before the next attempt; the last one of a repeated change.

    Clicks and inputs at different places of a page are different changes.
    """
    targets = ((step.action, step.command if step.action.startswith(BROWSER) else "") for step in _changing(between))
    return list(dict(zip(targets, _changing(between), strict=True)).values())


def _changing(steps: Iterable[Step]) -> Iterator[Step]:
    return (step for step in steps if kind_of(step.action) == "action" and step.ok is not False)


def _reaction_start(between: Sequence[Step], next_attempt: Step | None) -> tuple[Step, ...]:
    """The first step of the reaction, if nothing was changed before the next attempt.

    If the inputs of that attempt changed in an explained way, only the lookup that supplied them counts.
    """
    if next_attempt is None:
        return _first_reactions(between)[:1]
    not_failed = [step for step in between if step.ok is not False]
    sources = {change.detail.removeprefix("from ") for change in next_attempt.amendments}
    supplied = [step for step in not_failed if step.action in sources]
    explained = any(change.how not in UNEXPLAINED for change in next_attempt.amendments)
    return tuple(supplied[-1:]) if supplied or explained else _first_reactions(not_failed)[:1]


def _first_reactions(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The first few of *steps*, without notes and thoughts."""
    return tuple([step for step in steps if kind_of(step.action) != "scratch"][:_MOST_REACTIONS])


def _is_attempt(step: Step, failed: Step) -> bool:
    """Whether *step* retries *failed*; a different command line of the same program does not."""
    return step.action == failed.action and tried_again(failed.command, step.command)


def changes_another(step: Step, failed: int, summary: SessionSummary) -> bool:
    """Whether *step* changes another item than the call at place *failed*, which named an item looked up before.

    If the failed call named no such item, *step* may be its retry with the right name. Shared identifiers that were not
    looked up, such as a card or a user, do not count: they are properties of many items.
    """
    looked_up = {
        name
        for earlier in summary.steps[:failed]
        if earlier.ok is not False and kind_of(earlier.action) == "lookup"
        for name in earlier.about
    }
    named_items = looked_up.intersection(summary.steps[failed].about)
    return is_action(step.action) and bool(named_items and step.about) and named_items.isdisjoint(step.about)
