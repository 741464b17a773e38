"""Artifacts as text, their validity scopes (HMX-A 6), and notes on how often something worked."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.protocol.document import content_faults
from hmxgraph.protocol.timestamps import microseconds

# Validity scopes (HMX-A 6): for whom, when and in which situations an artifact applies.


@dataclass(frozen=True, slots=True)
class Validity:
    """The parts of a validity scope that can be evaluated; None restricts nothing.

    The free-text ``conditions`` of a scope are for readers only.
    """

    tenants: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    from_us: int | None = None
    to_us: int | None = None


ANYWHERE = Validity()


def validity(scope: Mapping[str, Any] | None) -> Validity:
    """Parse a document's ``validity_scope``.

    Raises:
        InvalidTime: a bound of ``time_range`` is not a timestamp.

    >>> validity({"agent_ids": ["a"], "time_range": {"start": "1970-01-01T00:00:01Z"}}).from_us
    1000000
    """
    if not scope:
        return ANYWHERE
    span = scope.get("time_range") or {}
    return Validity(
        _list(scope.get("tenant_ids")),
        _list(scope.get("agent_ids")),
        _list(scope.get("tags")),
        _time(span.get("start")),
        _time(span.get("end")),
    )


def applies(
    scope: Validity, *, tenant_id: str, moment_us: int, agent_id: str | None = None, tags: Sequence[str] = ()
) -> bool:
    """Whether *scope* covers a reader: the tenant, the moment and, if given, agent and tags; range ends are included.

    >>> applies(Validity(agents=("deployer",)), tenant_id="acme", moment_us=0, agent_id="reviewer")
    False
    >>> applies(Validity(agents=("deployer",)), tenant_id="acme", moment_us=0)
    True
    """
    return (
        (scope.tenants is None or tenant_id in scope.tenants)
        and (scope.agents is None or agent_id is None or agent_id in scope.agents)
        and (scope.tags is None or not tags or not set(tags).isdisjoint(scope.tags))
        and (scope.from_us is None or scope.from_us <= moment_us)
        and (scope.to_us is None or moment_us <= scope.to_us)
    )


def overlap(first: Validity, second: Validity) -> bool:
    """Whether the time ranges overlap and every list that both scopes give has a member in common.

    >>> overlap(Validity(to_us=5), Validity(from_us=6)), overlap(Validity(tags=("a",)), Validity(tags=("b",)))
    (False, False)
    >>> overlap(Validity(to_us=5), Validity(from_us=5)), overlap(Validity(tags=("a",)), ANYWHERE)
    (True, True)
    """
    return (
        _may_share_member(first.tenants, second.tenants)
        and _may_share_member(first.agents, second.agents)
        and _may_share_member(first.tags, second.tags)
        and (first.to_us is None or second.from_us is None or second.from_us <= first.to_us)
        and (second.to_us is None or first.from_us is None or first.from_us <= second.to_us)
    )


def _may_share_member(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> bool:
    return first is None or second is None or not set(first).isdisjoint(second)


def _list(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None


def _time(text: str | None) -> int | None:
    return None if text is None else microseconds(text)


# How often something worked.

# Counts are exact up to this number and rounded above it; otherwise every session would create a new artifact version.
_LARGEST_EXACT = 10
# If at least this share of the sessions in which a step worked failed nevertheless, the note on the step says so.
_MOSTLY_FUTILE = 0.75
# With more than ``_LARGEST_EXACT`` attempts, the note says that another error "often" followed if it followed at least
# this share of them.
_OFTEN = 0.3
# A count above ``_LARGEST_EXACT`` is given as "more than" the largest of these numbers below it.
_ROUNDED = (10, 20, 50, 100, 200, 500, 1000)
# The beginning of a recommendation that quotes what agents told users.
TOLD_TO_USERS = "Users were told"
# A note at the end of a step, made by :func:`times`, :func:`done` or :func:`attempted`.
_NOTE = re.compile(
    r" \((?:tried once(?:, and it worked|, without success)?|tried (?:more than )?\d+ times"
    r"|(?:tried once: )?this error went away(?: \d+ of \d+ times)?, but another followed"
    r"|done once|(?:worked|done) \d+ of \d+ times"
    r"|(?:worked|done) (?:each|none|(?:about|more than|less than) \d+ %) of more than \d+ times)"
    r"(?:; (?:once|twice|\d+ times|often) another error followed)?(?:; (?:the|most) sessions? failed nevertheless)?\)$"
)


def times(worked: int, tried: int, displaced: int = 0, *, futile: float = 0) -> str:
    """Say how often something worked, how often another error followed, and whether the sessions failed nevertheless.

    *displaced* counts the attempts after which another error followed; *futile* is the share of failed sessions among
    those in which it worked.

    >>> times(1, 1), times(4, 4), times(19, 21)
    ('tried once, and it worked', 'worked 4 of 4 times', 'worked about 90 % of more than 20 times')
    >>> times(38, 39), times(39, 39)
    ('worked more than 90 % of more than 20 times', 'worked each of more than 20 times')
    >>> times(0, 12), times(1, 39)
    ('worked none of more than 10 times', 'worked less than 10 % of more than 20 times')
    >>> times(1, 3, 2), times(0, 1, 1)
    ('worked 1 of 3 times; twice another error followed', 'tried once: this error went away, but another followed')
    >>> times(0, 4, 3)
    'this error went away 3 of 4 times, but another followed'
    >>> times(2, 9, futile=1), times(9, 9, futile=0.8)
    ('worked 2 of 9 times; the sessions failed nevertheless', 'worked 9 of 9 times; most sessions failed nevertheless')
    """
    sessions = "the session" + "s" * (tried > 1) if futile == 1 else "most sessions"
    end = f"; {sessions} failed nevertheless" if futile >= _MOSTLY_FUTILE else ""
    if displaced and not worked:
        gone = "this error went away" + (
            "" if tried == 1 else f" {displaced} of {tried} times" * (tried <= _LARGEST_EXACT)
        )
        return f"{'tried once: ' * (tried == 1)}{gone}, but another followed{end}"
    return f"{_worked(worked, tried)}{_displaced(displaced, tried)}{end}"


def done(count: int, possible: int) -> str:
    """Say how often something was done, out of the times when it was possible.

    >>> done(1, 1), done(2, 3), done(38, 39)
    ('done once', 'done 2 of 3 times', 'done more than 90 % of more than 20 times')
    """
    return f"done {of_times(count, possible)}" if possible > 1 else "done once"


def of_times(count: int, possible: int) -> str:
    """Say how often something happened, out of the times when it was possible; for the middle of a sentence.

    >>> of_times(0, 1), of_times(2, 3), of_times(38, 39)
    ('0 of 1 times', '2 of 3 times', 'more than 90 % of more than 20 times')
    """
    return _share(count, possible, "times")


def in_sessions(count: int, possible: int) -> str:
    """Say in how many sessions something occurred, out of those in which it was possible.

    >>> in_sessions(2, 3), in_sessions(38, 39)
    ('in 2 of 3 sessions', 'in more than 90 % of more than 20 sessions')
    """
    return f"in {_share(count, possible, 'sessions')}"


def attempted(tried: int) -> str:
    """Say how often something was tried without success.

    >>> attempted(1), attempted(3), attempted(12)
    ('tried once', 'tried 3 times', 'tried more than 10 times')
    """
    if tried == 1:
        return "tried once"
    return f"tried {tried} times" if tried <= _LARGEST_EXACT else f"tried more than {_bound(tried)} times"


def told_in(sessions: int) -> str:
    """Say in how many sessions users were told something; "at least", because other wordings of it are not counted.

    >>> told_in(5), told_in(12)
    ('Users were told in at least 5 sessions', 'Users were told in more than 10 sessions')
    """
    counted = f"at least {sessions}" if sessions <= _LARGEST_EXACT else f"more than {_bound(sessions)}"
    return f"{TOLD_TO_USERS} in {counted} sessions"


def _bound(count: int) -> int:
    """Return the number that a note says *count* exceeds; *count* is more than ``_LARGEST_EXACT``."""
    return max(bound for bound in _ROUNDED if bound < count)


def _worked(worked: int, tried: int) -> str:
    if tried == 1:
        return "tried once, and it worked" if worked else "tried once, without success"
    return f"worked {of_times(worked, tried)}"


def _share(count: int, total: int, unit: str) -> str:
    if total <= _LARGEST_EXACT:
        return f"{count} of {total} {unit}"
    percent = round(10 * count / total) * 10
    extremes = {0: "less than 10 %" if count else "none", 100: "each" if count == total else "more than 90 %"}
    share = extremes.get(percent, f"about {percent} %")
    return f"{share} of more than {_bound(total)} {unit}"


def _displaced(displaced: int, tried: int) -> str:
    """Return the end of a note, on how often another error followed; if counts are rounded, "often" or nothing."""
    if not displaced or (tried > _LARGEST_EXACT and displaced < _OFTEN * tried):
        return ""
    counted = {1: "once", 2: "twice"}.get(displaced, f"{displaced} times")
    return f"; {counted if tried <= _LARGEST_EXACT else 'often'} another error followed"


def noted(step: str, note: str) -> str:
    """Return *step* with a *note* on how often it worked, in parentheses; an empty note adds nothing.

    >>> noted("Create the namespace", times(4, 4))
    'Create the namespace (worked 4 of 4 times)'
    """
    return f"{step} ({note})" if note else step


def plain(step: str) -> str:
    """Return *step* without its note on how often it worked; other words in parentheses stay.

    >>> plain("Create the namespace (worked 4 of 4 times)"), plain("Create it (this always helped)")
    ('Create the namespace', 'Create it (this always helped)')
    >>> plain("Stop (worked none of more than 10 times)"), plain("Wait (worked less than 10 % of more than 20 times)")
    ('Stop', 'Wait')
    """
    return _NOTE.sub("", step)


# Artifacts rendered for people and prompts, from immutable fields only, so that the text of an artifact never changes.

Content = Mapping[str, Any]


def render_artifact(artifact_type: str, title: str, summary: str, content: Content) -> str:
    """Render the artifact as lines of text: the title, the summary if it differs, and the main fields of its type.

    HMX-A 4 defines the types and their fields. Content that does not match its type is legal: all its strings are
    rendered, field by field, as for custom types.

    >>> print(render_artifact("causal_pattern", "Load", "", {"cause": "deploy", "effect": "latency", "strength": 0.5}))
    Load
    deploy -> latency (strength 0.5)
    """
    lines = [title, "" if summary.strip() == title.strip() else summary]
    matches_type = not content_faults("artifact", artifact_type, dict(content))
    lines += _BY_TYPE.get(artifact_type, _plain)(content) if matches_type else _plain(content)
    return "\n".join(line.strip() for line in lines if line and line.strip())


# Fields whose values are low, medium or high.
_LEVELS = frozenset({"estimated_complexity", "severity"})
# Phrases with which the compiler describes outcomes and the origin of values.
_PHRASES = re.compile(
    r"The user's question is answered from what was found|The user has given|\bfrom the user\b"
    r"|\bhas reported success(?:, if it was called)?|\bit has failed with\b|,? in \d+ of \d+ sessions"
    r"|\(worked \d+ of \d+ times\)"
)


def artifact_words(title: str, summary: str, content: Content, tags: tuple[str, ...] = ()) -> str:
    """Return all searchable text of an artifact, as one string, without levels and the compiler's phrases.

    These phrases would match the wrong requests: a request for a report is not about a tool that "has reported
    success".

    >>> content = {"steps": [{"order": 1, "description": "Apply, using env from the user"}],
    ...     "postconditions": ["apply has reported success"], "severity": "low"}
    >>> artifact_words("Deploy", "", content, ("k8s",))
    'Deploy apply Apply, using env k8s'
    """
    described = {name: value for name, value in content.items() if name not in _LEVELS}
    parts = (title, summary, *_strings(described), *tags)
    return " ".join(filter(None, (_PHRASES.sub("", part).strip() for part in parts)))


def _task_schema(content: Content) -> Iterator[str]:
    yield _labelled_list("Before", content.get("preconditions"))
    for step in content.get("steps") or ():
        yield f"{step.get('order', '-')}. {step.get('description', '')}{_note(step)}"
    yield _labelled_list("After", content.get("postconditions"))


def _failure_playbook(content: Content) -> Iterator[str]:
    severity = f" ({content['severity']})" if content.get("severity") else ""
    yield f"Failure{severity}: {content.get('failure_pattern') or 'unknown'}"
    yield _labelled_list("Triggers", content.get("trigger_conditions"))
    yield _labelled_list("Symptoms", content.get("symptoms"))
    for number, step in enumerate(content.get("recovery_steps") or (), start=1):
        yield f"Recover {number}. {step}"
    yield _labelled_list("Prevent", content.get("prevention_strategies"))


def _decision_policy(content: Content) -> Iterator[str]:
    yield f"When {content.get('condition', 'in doubt')}: {content.get('recommendation', 'unknown')}"
    for alternative in content.get("alternatives") or ():
        yield f"Instead of: {alternative.get('description', '')}{_outcome(alternative)}"
    yield _labelled_list("Scope", content.get("scope"))


def _causal_pattern(content: Content) -> Iterator[str]:
    arrow = "<->" if content.get("direction") == "bidirectional" else "->"
    strength = f" (strength {content['strength']:g})" if content.get("strength") is not None else ""
    yield f"{content.get('cause', 'unknown')} {arrow} {content.get('effect', 'unknown')}{strength}"
    yield _labelled_list("Conditions", content.get("conditions"))
    yield _labelled_list("Counterexamples", content.get("counterexamples"))


def _strategy_template(content: Content) -> Iterator[str]:
    yield f"Goal: {content['goal']}" if content.get("goal") else ""
    yield _labelled_list("Applies", content.get("applicability_conditions"))
    for phase in content.get("phases") or ():
        name = f"{phase['name']}: " if phase.get("name") else ""
        yield f"{phase.get('order', '-')}. {name}{phase.get('description', '')}{_note(phase)}"
        yield _labelled_list("   Done when", phase.get("success_criteria"))


def _plain(content: Content) -> Iterator[str]:
    for key in sorted(content):
        words = "; ".join(_strings(content[key]))
        yield f"{key}: {words}" if words else ""


_BY_TYPE: dict[str, Callable[[Content], Iterator[str]]] = {
    "task_schema": _task_schema,
    "failure_playbook": _failure_playbook,
    "decision_policy": _decision_policy,
    "causal_pattern": _causal_pattern,
    "strategy_template": _strategy_template,
}


def _labelled_list(label: str, values: Any) -> str:
    return f"{label}: {'; '.join(values)}" if values else ""


def _note(step: Content) -> str:
    notes = [*(step.get("tools_used") or ()), *(["optional"] if step.get("optional") else [])]
    return f" ({', '.join(notes)})" if notes else ""


def _outcome(alternative: Content) -> str:
    parts = [alternative.get("outcome") or ""]
    if alternative.get("success_rate") is not None:
        parts.append(f"{alternative['success_rate']:.0%} of {alternative.get('chosen_count', 0)}")
    words = ", ".join(part for part in parts if part)
    return f" ({words})" if words else ""


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings inside a JSON value, without keys; objects in key order."""
    match value:
        case str():
            yield value
        case Mapping():
            for key in sorted(value):
                yield from _strings(value[key])
        case list() | tuple():
            for part in value:
                yield from _strings(part)
        case _:
            return
