"""The summary of a session: limited in size, without secrets, and all that the compiler needs of the session."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias, cast

from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import iso, microseconds

# Increment whenever a code change alters the summary of the same events: stored summaries are then rebuilt. Also
# increment the schema version of the database, so that it refuses older releases of hmxgraph: they would rebuild the
# summaries in the old form.
SUMMARY_VERSION = 28
Outcome: TypeAlias = Literal["success", "failure", "unknown"]
# The origin of a value that the user gave; any other origin is the action that returned it, or "" if unknown.
FROM_USER = "user"
# Stored instead of a text of a situation that equals the same text of the previous step.
_SAME = "="


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent knew when it chose its next action.

    ``since`` names what came last: "start", "user", "assistant", "result", "pending" (a call without a result yet), or
    "both" (a user message and the reply).
    ``heard`` holds the search terms of the last user message, ``said`` those of the last assistant message or decision,
    ``seen`` those of the last result. ``failure`` is the signature of a failure that no action has followed yet.
    ``pending`` is set while a call awaits its result.
    """

    since: str = "start"
    heard: str = ""
    said: str = ""
    seen: str = ""
    failure: str = ""
    pending: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Amendment:
    """One difference between the inputs of a retry and those of the failed call.

    ``input`` names the argument, ``how`` the kind of change. ``part`` is the key of the changed values if they are
    nested in the argument ("amount" in a list of payments). ``_amendments.py`` lists the kinds and the ``detail`` of
    each, such as the action that returned the new value.
    """

    input: str
    how: str
    part: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One action: its situation, its inputs and its result.

    ``inputs`` pairs each argument with each origin of its value (an action, "user", or "" if unknown). ``changed``
    lists the arguments that differ from the last call of the same action in the session. ``command`` is the masked
    shell command, the edited file, or the target of a browser action. ``ok`` says whether the action succeeded, None if
    unknown. If this step retries a failed call, ``amendments`` describe how its inputs differ from those of that call.
    ``about`` holds checksums of the identifiers in the call; it is empty for a step with a ``command``. ``statements``
    holds the statements in the result of a lookup: short lines such as "status: pending". ``edit`` describes the file
    and the lines that an edit changed. ``by_user`` marks what the user did, such as pressing a switch on a device that
    the agent cannot reach. If the step changes something, ``chosen`` holds what earlier lookups stated about the items
    named in its arguments, as (argument, lookup, statement). ``undone`` is set if the user's next message asks to undo
    the work. ``settings`` pairs arguments of unknown origin with their values, if these are short words ("priority",
    "high"). ``asked`` holds the words of the command that the last user message contains: "staging" after "Deploy to
    staging".
    """

    action: str
    event_id: str
    situation: Situation
    inputs: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    command: str = ""
    ok: bool | None = None
    amendments: tuple[Amendment, ...] = ()
    about: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    edit: str = ""
    by_user: bool = False
    chosen: tuple[tuple[str, str, str], ...] = ()
    undone: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure: its signature, kind, readable message, and failed step.

    ``step`` is the index of the failed step, -1 if there is none or it was not kept. ``recoverable`` is what the error
    itself declares, None if it declares nothing. ``line`` names all commands of a shell line whose output does not show
    which of them failed; otherwise it is "".
    """

    signature: str
    kind: str
    message: str
    event_id: str
    step: int = -1
    recoverable: bool | None = None
    line: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision event.

    ``verdict`` says whether later feedback or a later state change about the decision was good; None if there was none.
    ``step`` is the index of the step after the decision, -1 if that was not kept. ``source`` and ``origin`` are those
    of the event and show who decided.
    """

    question: str
    chosen: str
    alternatives: tuple[str, ...]
    reasoning: str
    event_id: str
    step: int
    verdict: bool | None = None
    source: str = ""
    origin: str = ""


@dataclass(frozen=True)
class SessionSummary:
    """One session: its steps in order, failures, decisions and outcome.

    ``ahead`` is the situation after the last event. ``sources`` counts the events with actions, decisions or user
    messages, as (source, origin, count). ``about`` holds a checksum of each identifier in the arguments of tool calls,
    ``worked`` what feedback names as having worked, and ``stated`` the rules that the agent told the user, each with
    the id of its event.
    """

    session_id: str
    agent_id: str = ""
    event_count: int = 0
    first_us: int = 0
    last_us: int = 0
    request: str = ""
    request_event_id: str = ""
    outcome: Outcome = "unknown"
    outcome_reason: str = ""
    outcome_event_id: str = ""
    steps: tuple[Step, ...] = ()
    skipped_steps: int = 0
    failures: tuple[Failure, ...] = ()
    decisions: tuple[Decision, ...] = ()
    ahead: Situation = Situation()
    sources: tuple[tuple[str, str, int], ...] = ()
    about: tuple[str, ...] = ()
    worked: tuple[str, ...] = ()
    stated: tuple[tuple[str, str], ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the session is known to have succeeded."""
        return self.outcome == "success"

    @property
    def went_well(self) -> bool | None:
        """Whether the session succeeded; None if unknown."""
        return None if self.outcome == "unknown" else self.succeeded

    @property
    def rejected(self) -> bool:
        """Whether feedback says that the session failed, as opposed to an outcome inferred from the work."""
        return self.went_well is False and self.outcome_reason.endswith("feedback")

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions in order."""
        return tuple(step.action for step in self.steps)

    def document(self) -> dict[str, Any]:
        """The summary as plain JSON values; a text of a situation that equals the previous step's is written as "="."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {
            # Canonical JSON limits integers to 2**53, which microseconds exceed before the year 1684 and after 2255.
            "first_us": iso(self.first_us),
            "last_us": iso(self.last_us),
            "steps": _steps_document(self.steps),
            "failures": [_values(failure) for failure in self.failures],
            "decisions": [_values(decision) for decision in self.decisions],
            "ahead": _values(self.ahead),
            "sources": [list(counted) for counted in self.sources],
            "worked": list(self.worked),
            "stated": [list(pair) for pair in self.stated],
            "about": list(self.about),
        }

    def to_json(self) -> str:
        """The canonical text that the graph stores."""
        return canonical_text(self.document())

    @classmethod
    def parse(cls, text: str | bytes) -> Self:
        """The summary written by :meth:`to_json`."""
        return cls.of(cast("Mapping[str, Any]", parse_json(text)))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The summary stored in *document*."""
        return cls(
            **{
                **document,
                "first_us": microseconds(document["first_us"]),
                "last_us": microseconds(document["last_us"]),
                "steps": tuple(_steps(document["steps"])),
                "failures": tuple(Failure(*values) for values in document["failures"]),
                "decisions": tuple(_decision(values) for values in document["decisions"]),
                "ahead": Situation(*document["ahead"]),
                "sources": tuple((source, origin, count) for source, origin, count in document["sources"]),
                "worked": tuple(document["worked"]),
                "stated": tuple((sentence, event_id) for sentence, event_id in document["stated"]),
                "about": tuple(document["about"]),
            }
        )


def _values(record: Situation | Failure | Decision) -> list[Any]:
    plain = [getattr(record, field.name) for field in fields(record)]
    return [list(part) if isinstance(part, tuple) else part for part in plain]


def _decision(values: list[Any]) -> Decision:
    question, chosen, alternatives, *later_fields = values
    return Decision(question, chosen, tuple(alternatives), *later_fields)


def _steps_document(steps: Iterable[Step]) -> list[list[Any]]:
    """One row of JSON values per step; :func:`_steps` reads them back."""
    rows: list[list[Any]] = []
    before = Situation()
    for step in steps:
        now = step.situation
        texts = [
            _SAME if new and new == old else new
            for new, old in ((now.heard, before.heard), (now.said, before.said), (now.seen, before.seen))
        ]
        inputs = [[list(pair) for pair in step.inputs], list(step.changed)]
        situation = [now.since, *texts, now.failure, now.pending]
        amended = [[part.input, part.how, part.part, part.detail] for part in step.amendments]
        details = [
            list(step.about),
            list(step.statements),
            step.edit,
            step.by_user,
            list(map(list, step.chosen)),
            step.undone,
            list(map(list, step.settings)),
            list(step.asked),
        ]
        rows.append([step.action, step.event_id, situation, *inputs, step.command, step.ok, amended, *details])
        before = now
    return rows


def _steps(rows: Iterable[list[Any]]) -> Iterable[Step]:
    before = Situation()
    for action, event_id, stored_situation, inputs, changed, command, ok, amended, *details in rows:
        since, heard, said, seen, failure, pending = stored_situation
        situation = Situation(
            since,
            before.heard if heard == _SAME else heard,
            before.said if said == _SAME else said,
            before.seen if seen == _SAME else seen,
            failure,
            pending,
        )
        pairs = tuple((name, origin) for name, origin in inputs)
        amendments = tuple(Amendment(*values) for values in amended)
        about, statements, edit, by_user, chosen, undone, settings, asked = details
        texts = tuple(about), tuple(statements), edit
        parsed = *texts, by_user, tuple(map(tuple, chosen)), undone, tuple(map(tuple, settings)), tuple(asked)
        yield Step(action, event_id, situation, pairs, tuple(changed), command, ok, amendments, *parsed)
        before = situation
