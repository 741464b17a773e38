"""From the events of a session to its summary: the map step of the compiler."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.sessions.actions import SessionEvent, action_of, tool_name
from hmxgraph.compiler.sessions.origins import Origins
from hmxgraph.compiler.sessions.outcomes import Verdict, from_work, judged
from hmxgraph.compiler.sessions.signatures import error_message, error_type, signature
from hmxgraph.compiler.sessions.steps import OpenStep, OpenSteps
from hmxgraph.compiler.sessions.summary import Decision, Failure, SessionSummary, Situation
from hmxgraph.compiler.sessions.work import ending
from hmxgraph.compiler.words import telling_words, text_terms, value_terms
from hmxgraph.protocol.order import position
from hmxgraph.protocol.outcomes import went_well
from hmxgraph.text.masking import mask_ids, mask_secrets

_OPENINGS = 3
_TELLING = 2


def summarise(events: Iterable[SessionEvent], profile: CompilerProfile = DEFAULT_PROFILE) -> SessionSummary:
    """The summary of one session's events, in whatever order they come."""
    reader = SessionReader(profile)
    for event in sorted(events, key=position):
        reader.add(event)
    return reader.summary()


class SessionReader:
    """Reads a session event by event, in order, and can tell its summary at any time; holds no event."""

    def __init__(self, profile: CompilerProfile = DEFAULT_PROFILE) -> None:
        self._profile = profile
        self._ids = ("", "")
        self._count = 0
        self._span = (0, 0)
        self._request = ("", "")
        self._now = Situation()
        self._steps = OpenSteps(profile.max_steps)
        self._origins = Origins(profile.known_values, profile.remembered_messages)
        self._failures: list[Failure] = []
        self._decisions: dict[str, Decision] = {}
        self._feedback: Verdict | None = None
        self._state: Verdict | None = None
        self._openings = 0

    def add(self, event: SessionEvent) -> None:
        """Take in the next event of the session."""
        self._enter(event)
        action = action_of(event)
        if action is not None:
            inputs = self._origins.of(action.arguments), self._origins.changed(action.name, action.arguments)
            step = OpenStep(action.name, event.event_id, self._now, *inputs, action.command)
            step.given = self._origins.named(action.arguments)
            step.agent_id, step.tool = event.agent_id, tool_name(event.content.get("tool_name"))
            if not self._steps.count:
                self._state = None  # what stood before the work is no outcome of it
            self._steps.add(step, event.content.get("call_id"))
            self._now = replace(self._now, since="pending", failure="", pending=not action.finished)
            if action.finished:
                self._finish(step, event.event_id, ending(event.event_type, event.content), ok=action.ok)
            return
        match event.event_type:
            case "tool_result":
                self._result(event)
            case "message":
                self._message(event)
            case "error":
                self._error(event)
            case "decision":
                self._decision(event)
            case _:
                self._judgement(event)

    def summary(self) -> SessionSummary:
        """What is known of the session so far."""
        steps = tuple(step.so_far() for step in self._steps.kept())
        verdict = self._feedback or self._state or from_work(steps, self._failures)
        return SessionSummary(
            *self._ids,
            self._count,
            *self._span,
            *self._request,
            outcome=verdict.outcome,
            outcome_reason=mask_ids(verdict.reason)[:200],
            outcome_event_id=verdict.event_id,
            steps=steps,
            skipped_steps=self._steps.count - len(steps),
            failures=tuple(replace(failure, step=self._steps.place(failure.step)) for failure in self._failures),
            decisions=tuple(
                replace(decision, step=self._steps.place(decision.step)) for decision in self._decisions.values()
            ),
            ahead=self._now,
        )

    def _enter(self, event: SessionEvent) -> None:
        if not self._count:
            self._ids = (event.session_id, event.agent_id)
            self._span = (event.time_us, event.time_us)
        self._count += 1
        first, last = self._span
        if not first <= event.time_us <= last:
            self._span = (min(first, event.time_us), max(last, event.time_us))

    def _message(self, event: SessionEvent) -> None:
        text = str(event.content.get("text") or "")
        found = text_terms(text, self._profile.words_per_text)
        if event.content.get("role") == "user":
            self._origins.heard(text)
            self._now = replace(self._now, since="user", heard=found)
            self._opening(text, event.event_id)
        elif event.content.get("role") == "assistant":
            since = "both" if self._now.since == "user" else "assistant"
            self._now = replace(self._now, since=since, said=found)

    def _opening(self, text: str, event_id: str) -> None:
        """The request is the first of the first few user messages that says what it is about."""
        if self._openings == _OPENINGS:
            return
        self._openings += 1
        known, _ = self._request
        if not known or (len(telling_words(known)) < _TELLING <= len(telling_words(text))):
            masked = mask_ids(mask_secrets(" ".join(text[:2000].split())))
            self._request = (masked[: self._profile.request_chars], event_id)

    def _result(self, event: SessionEvent) -> None:
        step = self._steps.called(event.content.get("call_id"), tool_name(event.content.get("tool_name")))
        if step is None:
            return
        self._steps.name(event.event_id, step)
        self._finish(step, event.event_id, event.content, ok=went_well(event.event_type, event.content))

    def _finish(self, step: OpenStep, event_id: str, content: Mapping[str, Any], *, ok: bool | None) -> None:
        told = content.get("result", content)
        self._origins.told(step.action, told)
        step.ok, step.ended = ok, True
        self._now = replace(
            self._now,
            since="result",
            seen=value_terms(told, self._profile.words_per_text),
            pending=self._steps.pending > 0,
        )
        if ok is False:
            self._fail(_failure(event_id, content, step))

    def _error(self, event: SessionEvent) -> None:
        told = self._steps.named(event.correlation_id, event.parent_event_id) or self._failed_tool(event)
        if told is not None:
            told.ok = False
        guessed = told or self._steps.of_agent(event.agent_id) or self._steps.last
        self._fail(_failure(event.event_id, event.content, guessed or _NO_STEP))

    def _failed_tool(self, event: SessionEvent) -> OpenStep | None:
        """The call that an error comes from by its source, "tool:gzip"."""
        kind, _, tool = (event.source or "").partition(":")
        return self._steps.of_tool(tool_name(tool), event.agent_id) if kind == "tool" else None

    def _fail(self, failure: Failure) -> None:
        """Note a failure; the error event of a failed result takes the result's place."""
        known = self._failures
        if known and failure.step >= 0 and known[-1].step == failure.step:
            known[-1] = failure if failure.message else known[-1]
        elif len(known) < self._profile.max_failures:
            known.append(failure)
        self._now = replace(self._now, failure=failure.signature)

    def _decision(self, event: SessionEvent) -> None:
        if len(self._decisions) == self._profile.max_decisions:
            return
        content = event.content
        others = content.get("alternatives")
        self._decisions[event.event_id] = Decision(
            _readable(content.get("question")),
            _readable(content.get("chosen_option")),
            tuple(_readable(other) for other in others[:10]) if isinstance(others, list) else (),
            _readable(content.get("reasoning")),
            event.event_id,
            self._steps.count,
        )
        # What was decided is the agent's last word on what comes next.
        chosen = text_terms(str(content.get("chosen_option") or ""), self._profile.words_per_text)
        self._now = replace(self._now, said=chosen or self._now.said)

    def _judgement(self, event: SessionEvent) -> None:
        verdict = judged(event)
        if verdict is None:
            return
        target = str(event.content.get("target_event_id") or "")
        if target in self._decisions:
            self._decisions[target] = replace(self._decisions[target], verdict=verdict.outcome == "success")
        elif event.event_type == "feedback":
            self._feedback = verdict
        else:
            self._state = verdict


_NO_STEP = OpenStep("", "", Situation())


def _failure(event_id: str, content: Mapping[str, Any], step: OpenStep) -> Failure:
    kind, message = error_type(content), error_message(content, step.given, step.command)
    told = content.get("recoverable")
    recoverable = told if isinstance(told, bool) else None
    return Failure(signature(kind, message), kind, message, event_id, step.number, recoverable)


def _readable(value: object) -> str:
    return mask_ids(mask_secrets(" ".join(str(value or "").split())))[:200]
