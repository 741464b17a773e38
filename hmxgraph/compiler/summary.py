"""What the compiler keeps of a session: bounded, masked, and enough to compile from without its events."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias, cast

from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import iso, microseconds

# Raised whenever a summary of the same events would come out differently: stored ones are then made anew. It comes with
# a schema step, so that an older release, which would make them anew in its turn, is refused.
SUMMARY_VERSION = 6
Outcome: TypeAlias = Literal["success", "failure", "unknown"]
_SAME = "="


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent had before it when it chose its next action.

    ``since`` tells what came last (start, user, assistant, both, result, pending); the three texts are the search
    terms of the last words of the user, of the assistant and of the last result; ``failure`` the signature of the
    failure that nothing followed yet.
    """

    since: str = "start"
    heard: str = ""
    said: str = ""
    seen: str = ""
    failure: str = ""
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One action: in which situation it was taken, with which inputs, how it went.

    ``inputs`` are pairs of an argument and where its value came from (an action, "user", or "" if unknown);
    ``changed`` the arguments that differ from the same action's last call in the session.
    """

    action: str
    event_id: str
    situation: Situation
    inputs: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    command: str = ""
    ok: bool | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure: its signature, readable message, the step it befell (-1: none), and whether it was final."""

    signature: str
    kind: str
    message: str
    event_id: str
    step: int = -1
    recoverable: bool | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision event; ``verdict`` is what feedback on this very event said, None where nobody did."""

    question: str
    chosen: str
    alternatives: tuple[str, ...]
    reasoning: str
    event_id: str
    step: int
    verdict: bool | None = None


@dataclass(frozen=True)
class SessionSummary:
    """One session as the compiler sees it: steps in order, failures, decisions, outcome, and what lies ahead."""

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

    @property
    def succeeded(self) -> bool:
        """Whether the session is known to have reached its goal."""
        return self.outcome == "success"

    @property
    def went_well(self) -> bool | None:
        """Whether it reached its goal; None where nobody can tell."""
        return None if self.outcome == "unknown" else self.succeeded

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions in order; asked for so often that they are kept."""
        return tuple(step.action for step in self.steps)

    def document(self) -> dict[str, Any]:
        """Plain JSON values; a text that equals the one of the step before is written as "="."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {
            # Microseconds of a year before 1684 or after 2255 are no integer of canonical JSON.
            "first_us": iso(self.first_us),
            "last_us": iso(self.last_us),
            "steps": _steps_document(self.steps),
            "failures": [_values(failure) for failure in self.failures],
            "decisions": [_values(decision) for decision in self.decisions],
            "ahead": _values(self.ahead),
        }

    def to_json(self) -> str:
        """The canonical text that the graph stores."""
        return canonical_text(self.document())

    @classmethod
    def parse(cls, text: str | bytes) -> Self:
        """The summary that :meth:`to_json` wrote."""
        return cls.of(cast("Mapping[str, Any]", parse_json(text)))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The summary with this document."""
        return cls(
            **{
                **document,
                "first_us": microseconds(document["first_us"]),
                "last_us": microseconds(document["last_us"]),
                "steps": tuple(_steps(document["steps"])),
                "failures": tuple(Failure(*values) for values in document["failures"]),
                "decisions": tuple(_decision(values) for values in document["decisions"]),
                "ahead": Situation(*document["ahead"]),
            }
        )


def _values(value: Situation | Failure | Decision) -> list[Any]:
    plain = [getattr(value, field.name) for field in fields(value)]
    return [list(part) if isinstance(part, tuple) else part for part in plain]


def _decision(values: list[Any]) -> Decision:
    question, chosen, alternatives, *rest = values
    return Decision(question, chosen, tuple(alternatives), *rest)


def _steps_document(steps: Iterable[Step]) -> list[list[Any]]:
    written: list[list[Any]] = []
    before = Situation()
    for step in steps:
        now = step.situation
        texts = [
            _SAME if new and new == old else new
            for new, old in ((now.heard, before.heard), (now.said, before.said), (now.seen, before.seen))
        ]
        inputs = [[list(pair) for pair in step.inputs], list(step.changed)]
        situation = [now.since, *texts, now.failure, now.pending]
        written.append([step.action, step.event_id, situation, *inputs, step.command, step.ok])
        before = now
    return written


def _steps(written: Iterable[list[Any]]) -> Iterable[Step]:
    before = Situation()
    for action, event_id, (since, heard, said, seen, failure, pending), inputs, changed, command, ok in written:
        situation = Situation(
            since,
            before.heard if heard == _SAME else heard,
            before.said if said == _SAME else said,
            before.seen if seen == _SAME else seen,
            failure,
            pending,
        )
        pairs = tuple((name, origin) for name, origin in inputs)
        yield Step(action, event_id, situation, pairs, tuple(changed), command, ok)
        before = situation
