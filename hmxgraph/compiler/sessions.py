"""Summarise one session from its events: the map step of the compiler."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice, takewhile
from typing import Any

from hmxgraph.compiler._amendments import Attempts, Origins, amendments
from hmxgraph.compiler._bounded import remember
from hmxgraph.compiler._edits import describe_edit
from hmxgraph.compiler._origins import ValueOrigins
from hmxgraph.compiler._result_items import ResultItems
from hmxgraph.compiler._shell import Command, blamed, command_name
from hmxgraph.compiler._signatures import (
    counts_failures,
    error_message,
    error_type,
    is_error,
    mentions_failure,
    raw_line,
    signature,
)
from hmxgraph.compiler._stated_rules import rules_in
from hmxgraph.compiler._statements import statements
from hmxgraph.compiler._verbs import kind_of
from hmxgraph.compiler._vocabulary import BAD_STATES, GOOD_STATES, informative_words, text_terms, value_terms
from hmxgraph.compiler.actions import PATH_FIELDS, Action, SessionEvent, actions_of, ending, tool_name
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.summary import (
    FROM_USER,
    Amendment,
    Decision,
    Failure,
    Outcome,
    SessionSummary,
    Situation,
    Step,
)
from hmxgraph.protocol.events import origin_of, position, went_well
from hmxgraph.protocol.trust import DEFAULT_TRUST
from hmxgraph.text.error_texts import says_declined
from hmxgraph.text.masking import mask_ids, mask_secrets
from hmxgraph.text.terms import terms

# The outcome of a session: from feedback, else from a state that an event reports, else from the results of its steps.

# Names of actions that run tests: an event of type "test_run", or a program.
_TEST_ACTIONS = frozenset(
    ("test_run", "pytest", "unittest", "jest", "vitest", "mocha", "tox", "nox", "rspec", "phpunit", "ctest")
)
# Fields that may state how the work ended ("status: resolved"). Values longer than the limit are prose and ignored.
_STATE_FIELDS = ("outcome", "result", "status", "to", "new_state", "state")
_LONGEST_STATE = 40
_WORD = re.compile(r"[a-z_]+")
# Asks to undo what was just done: "please revert that", "No. Roll it back", "Undo your last commit".
_UNDO = re.compile(
    r"(?:^|[.!?,;:\u2013\u2014-]\s*|\b(?:please|and|so|then|just|you|should|must|let['\u2019]s)\s+)"
    r"(?:(?:undo|revert|roll back|take back) (?:that|this|it|these|those|them|what you|your|the last|all of)"
    r"|(?:roll|change|put|set|turn|take) (?:that|this|it|them|everything) back)\b",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a session, the reason for it, and the event that shows it."""

    outcome: Outcome = "unknown"
    reason: str = ""
    event_id: str = ""


def verdict_of(event: SessionEvent) -> Verdict | None:
    """The verdict on the session that *event* gives as feedback or as a good or bad state; None if it gives none."""
    if event.event_type == "feedback":
        return _from_feedback(event)
    if event.event_type == "state_change" or event.event_type.startswith("x-"):
        return _from_state(event)
    return None


def _from_work(steps: Sequence[Step], failures: Sequence[Failure]) -> Verdict:
    """The outcome inferred from the steps and their failures.

    It is a failure if an error was declared not recoverable, or if the last step or the last run of any test command
    failed. Steps without a known result do not count; if no step has one, any failure decides, else it is unknown.

    >>> from hmxgraph.compiler.summary import Situation
    >>> steps = [Step("pytest", "e1", Situation(), ok=False), Step("pytest", "e2", Situation(), ok=True)]
    >>> _from_work(steps, []).outcome
    'success'
    """
    final_errors = [failure for failure in failures if failure.recoverable is False]
    if final_errors:
        return Verdict("failure", f"final error: {final_errors[-1].signature}", final_errors[-1].event_id)
    finished = [step for step in steps if step.ok is not None]
    if not finished:
        return Verdict("failure", failures[-1].signature, failures[-1].event_id) if failures else Verdict()
    last_test_runs = {step.action: step for step in finished if _runs_tests(step.action)}
    failed = [step for step in (*last_test_runs.values(), finished[-1]) if not step.ok]
    if failed:
        return Verdict("failure", f"{failed[-1].action} failed last", failed[-1].event_id)
    return Verdict("success", "no failure left open", finished[-1].event_id)


def _runs_tests(action: str) -> bool:
    """Whether the name *action* is that of a test program ("pytest") or ends in the subcommand "test" ("npm test")."""
    return action in _TEST_ACTIONS or action.endswith(" test")


def asks_to_undo(text: str) -> bool:
    """Whether a user message asks to undo what was just done.

    >>> asks_to_undo("No merge migrations, please. Undo that and renumber yours."), asks_to_undo("Roll it back!")
    (True, True)
    >>> asks_to_undo("How do I undo that?"), asks_to_undo("Revert the order to the old address")
    (False, False)
    """
    return _UNDO.search(text) is not None


def _from_feedback(event: SessionEvent) -> Verdict | None:
    match event.content.get("signal"):
        case "positive":
            return Verdict("success", "positive feedback", event.event_id)
        case "negative" | "correction":
            return Verdict("failure", f"{event.content['signal']} feedback", event.event_id)
        case _:
            return None


def _from_state(event: SessionEvent) -> Verdict | None:
    """The verdict of the first field with a good or bad state; None if there is none."""
    for name in _STATE_FIELDS:
        value = event.content.get(name)
        words = set(_WORD.findall(value.lower())) if isinstance(value, str) and len(value) <= _LONGEST_STATE else set()
        if words & BAD_STATES:
            return Verdict("failure", f"{name} {value}", event.event_id)
        if words & GOOD_STATES:
            return Verdict("success", f"{name} {value}", event.event_id)
    return None


# The steps of a session while it is read, including those without a result yet. All collections are bounded.

# Limits: calls that await their result, actions of which it is remembered whether one succeeded, event ids by which
# results and errors find their step.
_MOST_OPEN_CALLS = 1000
_MOST_OUTCOMES = 1000
_MOST_EVENT_IDS = 1000


@dataclass(slots=True)
class _OpenStep:
    """A step whose result may still arrive; the fields not explained here are those of :class:`Step`.

    ``number`` counts all steps of the session, also those that were not kept. ``tool`` is the called tool: the shell,
    if the action is a program that ran in one. ``argument_names`` maps each value of the call, in lower case, to the
    name of its argument. If one shell line runs several commands, each is a step: ``parsed`` is the command of this
    step, ``earlier`` holds the steps before it in the line, and ``culprit`` is the step of the line that failed, if
    known. ``ended`` is set once the result has arrived, ``declined`` if the user refused to let it run.
    """

    action: str
    event_id: str
    situation: Situation
    inputs: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    command: str = ""
    ok: bool | None = None
    amendments: tuple[Amendment, ...] = ()
    ended: bool = False
    number: int = -1
    argument_names: dict[str, str] = field(default_factory=dict)
    agent_id: str = ""
    tool: str = ""
    about: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    edit: str = ""
    by_user: bool = False
    chosen: tuple[tuple[str, str, str], ...] = ()
    declined: bool = False
    undone: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    asked: tuple[str, ...] = ()
    parsed: Command | None = None
    earlier: "tuple[_OpenStep, ...]" = ()
    culprit: "_OpenStep | None" = None

    @property
    def parts(self) -> "tuple[_OpenStep, ...]":
        """The steps of the same shell line up to this one, included."""
        return (*self.earlier, self)

    def to_step(self) -> Step:
        """The step as known so far."""
        call = self.situation, self.inputs, self.changed, self.command, self.ok, self.amendments
        details = self.about, self.statements, self.edit, self.by_user, self.chosen
        values = self.undone, self.settings, self.asked
        return Step(self.action, self.event_id, *call, *details, *values)


class _OpenSteps:
    """The first and last steps of a session, and the calls that await their result."""

    def __init__(self, most: int) -> None:
        self._first: list[_OpenStep] = []
        self._latest: deque[_OpenStep] = deque(maxlen=max(1, most // 2))
        self._first_limit = most - most // 2
        self._calls: dict[str, _OpenStep] = {}
        self._by_event_id: dict[str, _OpenStep] = {}
        self._first_after_gap = 0
        # The numbers of the steps between the last two user messages that have steps between them.
        self._last_turn = range(0)
        self.count = 0
        self.last: _OpenStep | None = None

    @property
    def pending(self) -> int:
        """The number of calls with a call id that have no result."""
        return len(self._calls)

    def add(self, step: _OpenStep, call_id: object) -> None:
        """Append *step*, and register its call id if it has one."""
        step.number = self.count
        self.count += 1
        self.last = step
        if len(self._first) < self._first_limit:
            self._first.append(step)
        else:
            self._latest.append(step)
        self.register(step.event_id, step)
        if call_id:
            remember(self._calls, str(call_id), step, _MOST_OPEN_CALLS)

    def end_turn(self, *, undone: bool) -> None:
        """Begin another turn with a user message, which may ask to undo the previous one."""
        if self.count > self._last_turn.stop:
            self._last_turn = range(self._last_turn.stop, self.count)
        for step in takewhile(lambda step: step.number >= self._last_turn.start, self._newest()) if undone else ():
            step.undone = step.number in self._last_turn

    def pass_over(self) -> None:
        """Skip a part of the session: its steps count as one that is not kept.

        Results after the gap are never matched to steps before it.
        """
        self._first_limit = len(self._first)
        self._calls.clear()
        self.last = None
        self.count += 1
        self._first_after_gap = self.count

    def of_result(self, call_id: object, tool: str) -> _OpenStep | None:
        """The step to which a result belongs: the one with its call id, else the last step; None if that does not fit.

        The last step fits if its outcome is unknown and it called *tool*. A shell command fits any tool, because its
        step is named after the program; every step fits a result without a tool name.
        """
        if call_id and str(call_id) in self._calls:
            return self._calls.pop(str(call_id))
        last = self.last
        fits = (
            last is not None
            and last.ok is None
            and (not tool or tool in {last.action, last.tool} or bool(last.command))
        )
        return last if fits else None

    def register(self, event_id: str, step: _OpenStep) -> None:
        """Let later events refer to *step* by *event_id* too, for example by the id of its result."""
        remember(self._by_event_id, event_id, step, _MOST_EVENT_IDS)

    def of_event(self, *event_ids: str | None) -> _OpenStep | None:
        """The step registered for the first known id among *event_ids*; None if none is known."""
        known_ids = (event_id for event_id in event_ids if event_id is not None and event_id in self._by_event_id)
        return next((self._by_event_id[event_id] for event_id in known_ids), None)

    def of_tool(self, tool: str, agent_id: str) -> _OpenStep | None:
        """The newest call of *tool* that is not known to have succeeded, preferably one by this agent."""
        calls = [step for step in self._not_succeeded() if tool and tool in {step.tool, step.action}]
        return next((step for step in calls if step.agent_id == agent_id), next(iter(calls), None))

    def of_agent(self, agent_id: str) -> _OpenStep | None:
        """The newest step of this agent that may have failed.

        The agent's latest step counts unless it succeeded; earlier ones only if they failed or have no result yet.
        """
        steps = [step for step in self._newest() if step.agent_id == agent_id]
        candidates = (step for step in steps if step is steps[0] or step.ok is False or not step.ended)
        return next((step for step in candidates if not step.ok), None)

    def _not_succeeded(self) -> Iterator[_OpenStep]:
        """The steps since the last gap that are not known to have succeeded, newest first."""
        return (step for step in self._newest() if not step.ok)

    def _newest(self) -> Iterator[_OpenStep]:
        newest = chain(reversed(self._latest), reversed(self._first))
        return takewhile(lambda step: step.number >= self._first_after_gap, newest)

    def kept(self) -> Iterator[_OpenStep]:
        """The kept steps in order, without those that the user declined, because they never ran."""
        return (step for step in chain(self._first, self._latest) if not step.declined)

    def kept_positions(self) -> dict[int, int]:
        """By step number, the index of each kept step among the kept ones; the next step to come is included."""
        kept_numbers = [step.number for step in self.kept()]
        return {number: index for index, number in enumerate([*kept_numbers, self.count])}

    @property
    def skipped(self) -> int:
        """How many steps were not kept because there were too many; each skipped part of the session counts as one."""
        return self.count - len(self._first) - len(self._latest)


# The reader, which takes the events one by one and builds the summary.

# The first user messages among which the request is sought, and the characters read of each. A message with fewer
# informative words than the minimum, such as "Hello there", is used only if no better one follows.
_MOST_CANDIDATES = 3
_LONGEST_CANDIDATE = 2000
_LEAST_INFORMATIVE_WORDS = 2
# Limits: entries of ``what_worked`` in feedback, alternatives of a decision, characters of a text in the summary.
_MOST_WORKED = 20
_MOST_ALTERNATIVES = 10
_LONGEST_TEXT = 200


def summarise(events: Iterable[SessionEvent], profile: CompilerProfile = DEFAULT_PROFILE) -> SessionSummary:
    """The summary of one session; the order of *events* does not matter."""
    reader = SessionReader(profile)
    for event in sorted(events, key=position):
        reader.add(event)
    return reader.summary()


class SessionReader:
    """Reads a session event by event, in order, without keeping the events; the summary is available at any time."""

    def __init__(self, profile: CompilerProfile = DEFAULT_PROFILE) -> None:
        self._profile = profile
        self._ids = ("", "")
        self._count = 0
        self._span = (0, 0)
        self._request = ("", "")
        self._situation = Situation()
        self._steps = _OpenSteps(profile.max_steps)
        self._origins = ValueOrigins(profile.known_values, profile.remembered_messages)
        self._attempts = Attempts()
        self._failures: list[Failure] = []
        self._decisions: dict[str, Decision] = {}
        # For each action whose results have stated an outcome: whether any of them was a success.
        self._had_success: dict[str, bool] = {}
        self._result_items = ResultItems()
        self._worked: list[str] = []
        self._rules: dict[str, str] = {}
        self._feedback: Verdict | None = None
        self._state: Verdict | None = None
        self._request_candidates = 0
        self._sources: Counter[tuple[str, str]] = Counter()

    def add(self, event: SessionEvent) -> None:
        """Add the next event of the session."""
        self._count_event(event)
        actions = actions_of(event)
        if actions or event.event_type == "decision" or event.content.get("role") == "user":
            self._sources[event.source or "", origin_of(event.metadata) or ""] += 1
        if actions:
            self._add_steps(event, actions)
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

    def pass_over(self) -> None:
        """Skip a part of the session that will not be read; the next event added is a later one."""
        self._steps.pass_over()
        self._situation = replace(self._situation, failure="", pending=False)

    def summary(self) -> SessionSummary:
        """The summary of the events read so far."""
        steps = tuple(step.to_step() for step in self._steps.kept())
        kept_positions = self._steps.kept_positions()
        verdict = self._feedback or self._state or _from_work(steps, self._failures)
        return SessionSummary(
            *self._ids,
            self._count,
            *self._span,
            *self._request,
            outcome=verdict.outcome,
            outcome_reason=mask_ids(verdict.reason)[:_LONGEST_TEXT],
            outcome_event_id=verdict.event_id,
            steps=steps,
            skipped_steps=self._steps.skipped,
            failures=tuple(replace(failure, step=kept_positions.get(failure.step, -1)) for failure in self._failures),
            decisions=tuple(
                replace(decision, step=kept_positions.get(decision.step, -1)) for decision in self._decisions.values()
            ),
            ahead=self._situation,
            sources=tuple((*source, self._sources[source]) for source in sorted(self._sources)),
            worked=tuple(self._worked),
            stated=tuple(self._rules.items()),
            about=self._origins.about,
        )

    def _count_event(self, event: SessionEvent) -> None:
        if not self._count:
            self._ids = (event.session_id, event.agent_id)
            self._span = (event.time_us, event.time_us)
        self._count += 1
        first, last = self._span
        if not first <= event.time_us <= last:
            self._span = (min(first, event.time_us), max(last, event.time_us))

    def _add_steps(self, event: SessionEvent, actions: Sequence[Action]) -> None:
        """Add the steps of an event; the result of a shell line of several commands is awaited by its last step."""
        if not self._steps.count:
            self._state = None  # A state that was reported before the first step is not an outcome of the work.
        steps: list[_OpenStep] = []
        for action in actions:
            inputs = self._origins.of_arguments(action.arguments)
            changed = self._origins.changed(action.name, action.arguments)
            step = _OpenStep(action.name, event.event_id, self._situation, inputs, changed, action.command)
            step.argument_names, step.parsed = self._origins.names_by_value(action.arguments), action.parsed
            step.amendments = self._amendments_of(event.event_id, action)
            step.asked = _asked_words(action.command, self._situation.heard)
            if not action.command:
                step.about = self._origins.add_call(action.arguments)
                step.settings = _settings(action.arguments, step.inputs)
                step.chosen = (
                    self._result_items.statements_about(action.arguments) if kind_of(action.name) == "action" else ()
                )
            step.edit = describe_edit(action.arguments or event.content)
            step.agent_id, step.tool = event.agent_id, tool_name(event.content.get("tool_name"))
            step.by_user = event.source == FROM_USER
            step.earlier = tuple(steps)
            self._steps.add(step, event.content.get("call_id") if len(steps) == len(actions) - 1 else None)
            steps.append(step)
            self._situation = replace(self._situation, since="pending", failure="", pending=not action.finished)
        if actions[-1].finished:
            self._finish(steps[-1], event.event_id, ending(event.event_type, event.content), ok=actions[-1].ok)

    def _amendments_of(self, event_id: str, action: Action) -> tuple[Amendment, ...]:
        failed = self._attempts.add_call(event_id, action.name, action.arguments)
        if failed is None:
            return ()
        since = partial(self._origins.since, moment=failed.moment)
        return amendments(failed.inputs, action.arguments, failed.message, Origins(since, self._origins.only_source))

    def _message(self, event: SessionEvent) -> None:
        text = str(event.content.get("text") or "")
        message_terms = text_terms(text, self._profile.words_per_text)
        if event.content.get("role") == "user":
            self._origins.add_message(text)
            self._steps.end_turn(undone=asks_to_undo(text[:_LONGEST_CANDIDATE]))
            self._situation = replace(self._situation, since="user", heard=message_terms)
            self._consider_request(text, event.event_id)
        elif event.content.get("role") == "assistant":
            since = "both" if self._situation.since == "user" else "assistant"
            self._situation = replace(self._situation, since=since, said=message_terms)
            self._keep_rules(text, event)

    def _keep_rules(self, text: str, event: SessionEvent) -> None:
        """Keep the rules that the agent tells the user, each once; messages from untrusted sources are ignored."""
        if DEFAULT_TRUST.outside(event.source, event.agent_id, origin_of(event.metadata) or None):
            return
        for sentence in rules_in(text):
            if len(self._rules) < self._profile.max_stated:
                self._rules.setdefault(sentence, event.event_id)

    def _consider_request(self, text: str, event_id: str) -> None:
        """Use the user message as the request if none was found yet, or if the one found says too little."""
        if self._request_candidates == _MOST_CANDIDATES:
            return
        self._request_candidates += 1
        current, _ = self._request
        if not current or (len(informative_words(current)) < _LEAST_INFORMATIVE_WORDS <= len(informative_words(text))):
            masked = mask_ids(mask_secrets(" ".join(text[:_LONGEST_CANDIDATE].split())))
            self._request = (masked[: self._profile.request_chars], event_id)

    def _result(self, event: SessionEvent) -> None:
        step = self._steps.of_result(event.content.get("call_id"), tool_name(event.content.get("tool_name")))
        if step is None:
            return
        self._steps.register(event.event_id, step)
        ok, result = went_well(event.event_type, event.content), event.content.get("result")
        if not ok and says_declined(result if isinstance(result, str) else raw_line(event.content)):
            for part in step.parts:
                part.declined = True
            self._situation = replace(self._situation, since="user", failure="", pending=self._steps.pending > 0)
        else:
            self._finish(step, event.event_id, event.content, ok=ok)

    def _finish(self, step: _OpenStep, event_id: str, content: Mapping[str, Any], *, ok: bool | None) -> None:
        """Apply a result to its step and to the steps before it in its shell line; if it failed, record the failure."""
        result = content.get("result", content)
        self._origins.add_result(step.action, result, step.argument_names)
        # A file that was read may contain the text of an error; that does not mean that the call failed.
        reads_file = any(name in PATH_FIELDS for name, _ in step.inputs)
        if ok and not step.command and not reads_file and is_error(content):
            ok = False
        ok = self._stated_outcome(step.action, ok=ok)
        if ok and step.parsed is not None and step.parsed.filtered:
            ok = _filtered_outcome(step.action, content)
        for part in step.parts:
            part.ok, part.ended = ok, True
        if ok is not False and not step.command and not reads_file and kind_of(step.action) == "lookup":
            step.statements = tuple(
                line for line in statements(result) if line.rpartition(": ")[2].lower() not in step.argument_names
            )
            self._result_items.add(step.action, result)
        self._situation = replace(
            self._situation,
            since="result",
            seen=value_terms(result, self._profile.words_per_text),
            pending=self._steps.pending > 0,
        )
        if ok is False:
            self._attempts.add_failure(step.event_id, raw_line(content), self._origins.moment)
            self._record_failure(_failure(event_id, content, step))

    def _stated_outcome(self, action: str, *, ok: bool | None) -> bool | None:
        """*ok* if the result states an outcome; else True if *action* has reported only failures so far, else None.

        A tool that has reported failures but never a success is taken to report nothing when it succeeds.
        """
        if ok is not None:
            remember(self._had_success, action, ok or self._had_success.get(action, False), _MOST_OUTCOMES)
            return ok
        return True if self._had_success.get(action) is False else None

    def _error(self, event: SessionEvent) -> None:
        """Record the failure that an error event reports, for the step that it refers to, else the likeliest step."""
        linked_step = self._steps.of_event(event.correlation_id, event.parent_event_id) or self._failed_call(event)
        if linked_step is not None and linked_step.declined:
            return
        if linked_step is not None:
            linked_step.ok = False
        failed_step = linked_step or self._steps.of_agent(event.agent_id) or self._steps.last
        if failed_step is not None:
            self._attempts.add_failure(failed_step.event_id, raw_line(event.content), self._origins.moment)
        self._record_failure(_failure(event.event_id, event.content, failed_step or _NO_STEP))

    def _failed_call(self, event: SessionEvent) -> _OpenStep | None:
        """The call named by the source of an error ("tool:gzip")."""
        kind, _, tool = (event.source or "").partition(":")
        return self._steps.of_tool(tool_name(tool), event.agent_id) if kind == "tool" else None

    def _record_failure(self, failure: Failure) -> None:
        """Record a failure, unless there are too many.

        A step fails once: an error event after a failed result of the same step replaces the failure recorded for that
        result if it has a message, and is ignored otherwise.
        """
        failures = self._failures
        if failures and failure.step >= 0 and failures[-1].step == failure.step:
            failures[-1] = failure if failure.message else failures[-1]
        elif len(failures) < self._profile.max_failures:
            failures.append(failure)
        self._situation = replace(self._situation, failure=failure.signature)

    def _decision(self, event: SessionEvent) -> None:
        if len(self._decisions) == self._profile.max_decisions:
            return
        content = event.content
        alternatives = content.get("alternatives")
        self._decisions[event.event_id] = Decision(
            _readable(content.get("question")),
            _readable(content.get("chosen_option")),
            tuple(_readable(alternative) for alternative in alternatives[:_MOST_ALTERNATIVES])
            if isinstance(alternatives, list)
            else (),
            _readable(content.get("reasoning")),
            event.event_id,
            self._steps.count,
            source=event.source or "",
            origin=origin_of(event.metadata) or "",
        )
        # A decision replaces the agent's last message as the statement of what comes next.
        chosen = text_terms(str(content.get("chosen_option") or ""), self._profile.words_per_text)
        self._situation = replace(self._situation, said=chosen or self._situation.said)

    def _judgement(self, event: SessionEvent) -> None:
        """Take from any other event its verdict on a decision or on the session, and its list of what worked."""
        worked = event.content.get("what_worked")
        if isinstance(worked, list):
            self._worked += [_readable(text) for text in worked[: _MOST_WORKED - len(self._worked)]]
        verdict = verdict_of(event)
        if verdict is None:
            return
        target = str(event.content.get("target_event_id") or "")
        if target in self._decisions:
            self._decisions[target] = replace(self._decisions[target], verdict=verdict.outcome == "success")
        elif event.event_type == "feedback":
            self._feedback = verdict
        else:
            self._state = verdict


_NO_STEP = _OpenStep("", "", Situation())


def _failure(event_id: str, content: Mapping[str, Any], step: _OpenStep) -> Failure:
    _blame(step, content)
    culprit = step.culprit or step
    kind, message = error_type(content), error_message(content, culprit.argument_names, culprit.command)
    declared = content.get("recoverable")
    recoverable = declared if isinstance(declared, bool) else None
    line = "" if step.culprit is not None or not step.earlier else " && ".join(part.action for part in step.parts)
    return Failure(signature(kind, message), kind, message, event_id, culprit.number, recoverable, line)


def _blame(step: _OpenStep, content: Mapping[str, Any]) -> None:
    """Find the command of a shell line that failed; those before it succeeded, those after it did not run.

    If the output does not clearly name one, the last command counts as failed, and the outcomes of the others are
    unknown.
    """
    if step.culprit is not None or not step.earlier:
        return
    commands = [part.parsed for part in step.parts if part.parsed is not None]
    command = blamed(commands, raw_line(content))
    for part in step.earlier:
        part.ok = None
    if command is not None:
        step.culprit = next(part for part in step.parts if part.parsed == command)
        failed_index = step.parts.index(step.culprit)
        for index, part in enumerate(step.parts):
            part.ok = None if index > failed_index else index < failed_index


# A value that is one or two plain words, and arguments per call whose values are kept.
_SETTING = re.compile(r"[A-Za-z]+(?:[ _-][A-Za-z]+)?")
_LONGEST_SETTING, _MOST_SETTINGS = 24, 6
# A word of a command line that is no option.
_COMMAND_WORD = re.compile(r"(?<![^\s=:/,'\"])[A-Za-z][\w.-]*")


def _settings(arguments: Mapping[str, Any], inputs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The arguments of unknown origin whose values are short words, and the values; no secrets and no free texts.

    >>> _settings({"priority": "high", "order": "W1", "note": True}, [("note", ""), ("order", ""), ("priority", "")])
    (('note', 'true'), ('priority', 'high'))
    """
    pairs = ((name, _plain_value(arguments.get(name))) for name, origin in inputs if not origin)
    words = (pair for pair in pairs if len(pair[1]) <= _LONGEST_SETTING and _SETTING.fullmatch(pair[1]))
    return tuple(islice((pair for pair in words if mask_secrets(line := "=".join(pair)) == line), _MOST_SETTINGS))


def _asked_words(command: str, heard: str) -> tuple[str, ...]:
    """The words of a command line, except its program and subcommand, that a message with the terms *heard* contains.

    >>> _asked_words("cd web && ./deploy.sh staging --wait", "deploy shop stage")
    ('staging',)
    """
    heard_terms, name = set(heard.split()), command_name(command).split() if command else ()
    words = (word for word in _COMMAND_WORD.findall(command) if word not in name)
    return tuple(islice((word for word in words if heard_terms.issuperset(own := terms(word)) and own), _MOST_SETTINGS))


def _plain_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else ""


def _filtered_outcome(action: str, content: Mapping[str, Any]) -> bool | None:
    """The outcome of a command judged by its output, because its exit status is lost in a pipe ("pytest | tail")."""
    if _runs_tests(action) and counts_failures(content):
        return False
    return None if mentions_failure(content) else True


def _readable(value: object) -> str:
    return mask_ids(mask_secrets(" ".join(str(value or "").split())))[:_LONGEST_TEXT]
