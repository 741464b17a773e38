"""Values for stored knowledge, its relevance to a request, workflow hints and constraints (HMX-C 6, 7)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hmxgraph.protocol.artifacts import Step, steps_of, texts
from hmxgraph.protocol.packs import MAX_CONSTRAINTS, MAX_NEXT_STEPS
from hmxgraph.text.artifacts import ANYWHERE, Validity

# Knowledge as recall uses it: artifacts, memories, entities, relations, conflicts and the running session.


@dataclass(frozen=True, slots=True)
class KnownArtifact:
    """An artifact as of the requested moment.

    - ``words``: its search terms, separated by blanks.
    - ``conditions``: the conditions of its validity scope, which its text also states.
    - ``sound``: whether its content is unaltered and some of its evidence still exists.
    - ``actions``: the actions that it covers, as the compiler names them.
    - ``failures``: the keys of the failures that a playbook answers.
    - ``confirmed_us``: the time of the last confirmation.
    """

    artifact_id: str
    artifact_type: str
    title: str
    text: str
    tokens: int
    words: str
    status: str
    confidence: float
    created_us: int
    content: Mapping[str, Any] = field(default_factory=dict)
    observed_count: int = 1
    success_rate: float | None = None
    tags: tuple[str, ...] = ()
    agent_id: str | None = None
    validity: Validity = ANYWHERE
    conditions: tuple[str, ...] = ()
    sound: bool = True
    actions: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    confirmed_us: int = 0


# Extraction methods: an explicit request to remember, a state change, the first request of a session.
REMEMBERED = "remembered"
STATE_CHANGE = "state_change"
FIRST_REQUEST = "first_request"


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A semantic memory.

    - ``hard`` policies and ``pinned`` memories are part of every pack.
    - ``held``: whether it was valid at the requested moment.
    - ``sound``: whether some of its evidence still exists.
    - ``here``: whether it was stated in the running session.
    - ``open``: for the first request of a session, whether the session has no outcome and does not show that the
      request was carried out.
    - ``aliases``: further names by which a question may call it.
    - ``meaning``: its similarity to the question by vectors, in [0, 1].
    - ``withdraws``: whether it is a policy that withdraws a rule: it says what is allowed again, and constrains
      nothing.
    """

    memory_id: str
    kind: str
    text: str
    tokens: int
    words: str
    confidence: float
    observations: int
    last_us: int
    method: str = ""
    hard: bool = False
    held: bool = True
    sound: bool = True
    here: bool = False
    open: bool = False
    pinned: bool = False
    aliases: tuple[str, ...] = ()
    meaning: float = 0.0
    withdraws: bool = False

    @property
    def is_soft_rule(self) -> bool:
        """Whether it is a policy that constrains what to do, and allows exceptions."""
        return self.kind == "policy" and not self.hard and not self.withdraws


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A task record as of the requested moment, with its section and trust.

    - ``rejected_by``: the agents whose latest verdict rejects it.
    - ``countersigned``: the number of agents whose latest verdict countersigns it.
    - ``held``: whether no other record has replaced it.
    - ``reporting_events``: the ids of the events with the same content.
    """

    record_id: str
    section: str
    text: str
    words: str
    created_us: int
    session_id: str
    agent_id: str | None = None
    trust_tier: str = "canonical_record"
    rejected_by: tuple[str, ...] = ()
    countersigned: int = 0
    held: bool = True
    reporting_events: frozenset[str] = frozenset()

    @property
    def rejected(self) -> bool:
        """Whether an agent rejects it."""
        return bool(self.rejected_by)


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of the tenant's graph."""

    entity_id: str
    name: str
    type: str
    mentions: int
    confidence: float
    last_us: int


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """A typed relation between two entities, given by their names and keys."""

    relation_id: str
    source: str
    relation_type: str
    target: str
    weight: float
    confidence: float
    evidence_count: int
    last_us: int
    source_key: str = ""
    target_key: str = ""


class RelatedEntity(NamedTuple):
    """An entity near the question; ``label`` is the name that a record gave it, ``normalised`` its name in mentions."""

    key: str
    name: str
    type: str
    normalised: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """The relations around a question, the entities at their ends, and the keys of the entities that it names."""

    relations: tuple[KnownRelation, ...] = ()
    entities: tuple[RelatedEntity, ...] = ()
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KnownConflict:
    """An open conflict, the ids of its sides, and the validity scopes of those that are artifacts."""

    conflict_id: str
    reason: str
    text: str
    tokens: int
    detected_us: int
    sides: tuple[str, ...]
    scopes: tuple[Validity, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The latest event that supports an artifact or a memory; ``record_id`` is the id of that artifact or memory."""

    record_id: str
    event_id: str
    session_id: str
    time_us: int
    tokens: int
    salience: float
    speaker: str
    text: str
    label: str = ""
    user_id: str = ""


class Happened(NamedTuple):
    """An action, result or error of the running session, with the name of the action that it starts or belongs to."""

    event_type: str
    text: str
    action: str
    failed: bool = False

    @property
    def begins(self) -> bool:
        """Whether the event starts an action, as opposed to a result or error."""
        return self.event_type not in {"tool_result", "error"}

    @property
    def ends(self) -> bool:
        """Whether the action ends with this event; a tool call only ends with its result."""
        return self.event_type != "tool_call"


@dataclass(frozen=True, slots=True)
class RunningSession:
    """The latest actions, results and errors of the running session, oldest first, and the number of all its events."""

    events: tuple[Happened, ...] = ()
    event_count: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """All knowledge that may be relevant to the question; ``related`` is added last, once the best events are known.

    ``superseded`` are the ids of events that are evidence only of memories that no longer hold, ``deleted`` the ids of
    events that are evidence only of deleted memories.
    """

    artifacts: tuple[KnownArtifact, ...] = ()
    memories: tuple[KnownMemory, ...] = ()
    entities: tuple[KnownEntity, ...] = ()
    conflicts: tuple[KnownConflict, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    session: RunningSession = RunningSession()
    records: tuple[KnownRecord, ...] = ()
    related: Related = Related()
    superseded: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()


# What the compiler's model predicts for a request, and what follows for the relevance of artifacts.

# The leading procedure is a guess if less than this share of similar requests led to its changes.
_LIKELY = 0.5
# Factor on the relevance of knowledge about actions that the request does not call for.
_OFF_TOPIC = 0.25
# Factor on the relevance of artifacts other than policies if a playbook answers the failure. If no playbook does, but
# the question quotes an error, the factor applies to artifacts other than policies and playbooks.
_BESIDE_REMEDY = 0.5
# A failure seen fewer times than this is not worth a warning before it has occurred in the running session, unless the
# question has a word of it; then twice is enough.
OFTEN, _TWICE = 3, 2
# Minimum relevance of the playbook that warns of an expected step, of a playbook that the question may mean, and of a
# policy about a lookup result on which an expected action depends.
_WARNING = 0.5
# Minimum relevance of a second procedure for a request that asks for several things.
_FURTHER = 0.6
# Before work has begun, a procedure leads only if :attr:`Guidance.assurance` plus the share of the request that the
# procedure contains reaches this.
_IN_COMMON = 0.9
# The condition of policies about the first step, as the compiler words it.
WORK_BEGINS = "the work begins"
# The end of the condition of policies about what a lookup returned: "get_order is done".
AFTER_LOOKUP = " is done"
# The beginning of the condition of policies about a requested change. The last of their actions is this change.
ASKED_TO = "the user asks to "
# Artifact types that describe a complete procedure.
PROCEDURES = frozenset({"task_schema", "strategy_template"})


@dataclass(frozen=True, slots=True)
class Guidance:
    """What the compiler's model, the running session and the wording of a request say about the actions to take.

    By the model:

    - ``lead``: the id of the leading procedure, if one fits.
    - ``led``: the goal actions of that procedure; ``changes`` are those of them that change something.
    - ``chance``: the lowest probability, over ``changes``, that a request like this leads to the change.
    - ``expected``: the likely actions; ``known`` are all actions of the model. Both are empty without a model.

    By the running session:

    - ``done``: its actions so far, oldest first.
    - ``failure``: the key of the failure of its last action, or "".

    Playbooks:

    - ``remedies``: the ids of the playbooks for this failure, or for the one that the question reports.
    - ``warning``: the id of the playbook to show for an expected step.

    By the wording of the question:

    - ``asked``: the actions whose verb it uses.
    - ``doubtful``: the changes among ``asked`` that are usually declined, according to a policy.
    - ``named``: the actions of procedures that it names.
    - ``error_terms``: the words of the error message that it quotes.
    - ``troubled``: whether it speaks of trouble. If so, ``about`` are the actions whose whole name it contains, and
      ``suspected`` the actions of playbooks whose names share at least half of their words with it.
    - ``assurance``: how well the best events of past work match it, in [0, 1].
    """

    lead: str | None = None
    expected: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    done: tuple[str, ...] = ()
    failure: str = ""
    remedies: frozenset[str] = frozenset()
    warning: str = ""
    troubled: bool = False
    about: frozenset[str] = frozenset()
    suspected: frozenset[str] = frozenset()
    error_terms: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    assurance: float = 1.0
    led: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    chance: float = 1.0

    @property
    def guesses(self) -> bool:
        """Whether the leading procedure is a guess: less than half of the requests like this led to its changes."""
        return self.lead is not None and self.chance < _LIKELY

    def answers(self, artifact: KnownArtifact) -> bool:
        """Whether *artifact* is a playbook for the current failure or for the one that the question reports."""
        return artifact.artifact_id in self.remedies

    def fitting(self, artifact_type: str, actions: Sequence[str]) -> float:
        """Return how well *actions* fit the request, in [0, 1]; 1 if none is expected, or none of *actions* is known.

        All known actions of a procedure are compared with the expected ones; if the question names one of its actions,
        the procedure fits fully. For other artifacts, only the first known action counts.

        >>> guidance = Guidance("s1", frozenset({"look_up", "refund"}), frozenset({"look_up", "refund", "cancel"}))
        >>> guidance.fitting("task_schema", ["look_up", "cancel"]), guidance.fitting("decision_policy", ["cancel"])
        (0.3333333333333333, 0.25)

        """
        known_actions = [name for name in actions if name in self.known]
        if not self.expected or not known_actions:
            return 1.0
        if artifact_type in PROCEDURES:
            if not self.named.isdisjoint(actions):
                return 1.0
            return len(self.expected & set(known_actions)) / len(self.expected | set(known_actions))
        return 1.0 if known_actions[0] in self.expected else _OFF_TOPIC

    def _likelihood(self, artifact: KnownArtifact) -> float:
        """Return a factor for how likely the condition of a policy is to occur; 1 for other artifacts.

        It is 0 for a policy about the first step once work has begun, and for a policy about a change that the question
        does not ask for. It is low if the condition names known actions, but no expected one.
        """
        condition = artifact.content.get("condition") if artifact.artifact_type == "decision_policy" else None
        if condition == WORK_BEGINS and self.done:
            return 0.0
        if isinstance(condition, str) and condition.startswith(ASKED_TO):
            return float(not self.asked.isdisjoint(artifact.actions[-1:]))
        named = self.known.intersection(condition.split()) if isinstance(condition, str) and self.expected else ()
        return _OFF_TOPIC if named and self.expected.isdisjoint(named) else 1.0

    def _decides(self, artifact: KnownArtifact) -> bool:
        """Whether *artifact* is a policy about a lookup result on which an expected action depends.

        If the policy names no action after the lookup, because work ends there, the lookup itself must be expected.
        """
        condition = artifact.content.get("condition") if artifact.artifact_type == "decision_policy" else None
        after = f"{artifact.actions[0]}{AFTER_LOOKUP}" if artifact.actions else None
        decided = artifact.actions[1:] or artifact.actions
        return after is not None and condition == after and not self.expected.isdisjoint(decided)

    def _may_be_meant(self, artifact: KnownArtifact) -> bool:
        """Whether the question speaks of trouble with an action of this playbook, but reports no known failure.

        If the question names an action in full, :meth:`relevance` has already ruled out playbooks for other actions.
        """
        meant = self.about or not self.suspected.isdisjoint(artifact.actions)
        return bool(meant and artifact.failures) and not self.remedies

    def _is_about_another_error(self, artifact: KnownArtifact) -> bool:
        """Whether *artifact* is a playbook for errors that have less than half of the words of the quoted error."""
        shared = max((len(self.error_terms.intersection(key.split())) for key in artifact.failures), default=0)
        return bool(artifact.failures) and 2 * shared < len(self.error_terms)

    def _adds(self, artifact: KnownArtifact) -> bool:
        """Whether *artifact* is a procedure with an expected, requested action that the leading procedure lacks.

        If the leading procedure is a guess, a requested action need not be expected.
        """
        wanted = self.asked if self.guesses else self.expected & self.asked
        added = wanted.intersection(artifact.actions) - self.led
        return artifact.artifact_type in PROCEDURES and bool(self.led and added)

    def lies_ahead(self, artifact: KnownArtifact) -> bool:
        """Whether *artifact* is a playbook for a failure of an expected step that occurred more than once.

        False if the question speaks of trouble before any action was taken.
        """
        if not artifact.failures or artifact.observed_count < _TWICE or (self.troubled and not self.done):
            return False
        return not self.expected.isdisjoint(artifact.actions[:1])

    def _leads(self, artifact: KnownArtifact, share: float) -> bool:
        """Whether *artifact* is the leading procedure, and the request calls for it.

        Before work has begun, a question calls for no procedure if it quotes an error or if a playbook answers it; if
        it speaks of other trouble, it must share a word with the procedure. A request that resembles neither a past
        event nor the procedure asks for something else, because the model knows only past kinds of work.
        """
        is_familiar = self.assurance + share >= _IN_COMMON
        reports_failure = self.remedies or self.error_terms
        is_called_for = bool(self.done) or (is_familiar and not (reports_failure or (self.troubled and not share)))
        return artifact.artifact_id == self.lead and is_called_for and not self._lacks_actions_in_question(artifact)

    def _lacks_actions_in_question(self, artifact: KnownArtifact) -> bool:
        """Whether the question is only about actions that *artifact* lacks.

        Either it asks only for such actions, and some of them are usually declined or the leading procedure is a guess;
        or it speaks of trouble only with such actions.
        """
        if (self.doubtful or (self.asked and self.guesses)) and self.asked.isdisjoint(artifact.actions):
            return True
        return bool(self.suspected) and self.suspected.isdisjoint(artifact.actions)

    def relevance(self, artifact: KnownArtifact, share: float) -> float:
        """Return the relevance of *artifact*, which contains this *share* of the question.

        - 1 for a playbook that answers the failure, and for the leading procedure if the request calls for it.
        - 0 for artifacts that have actions, but none in ``about``, and for playbooks about another error than the
          quoted one.
        - If a playbook answers the failure, halved for all other artifacts except policies. If none does and the
          question quotes an error, halved for all artifacts except policies and playbooks.
        """
        if self.answers(artifact):
            return 1.0
        if self.about and artifact.actions and self.about.isdisjoint(artifact.actions):
            return 0.0
        if self._is_about_another_error(artifact):
            return 0.0
        fitting = share * self.fitting(artifact.artifact_type, artifact.actions) * self._likelihood(artifact)
        if artifact.artifact_id == self.lead and self._lacks_actions_in_question(artifact):
            fitting *= _OFF_TOPIC
        if self._may_be_meant(artifact):
            fitting = max(fitting, _WARNING * (1 + share))
        elif not self.error_terms and (artifact.artifact_id == self.warning or self._decides(artifact)):
            fitting = max(fitting, _WARNING)
        if self._adds(artifact):
            fitting = max(fitting, _FURTHER)
        relevance = 1.0 if self._leads(artifact, share) else fitting
        is_about_failure = self.remedies or (self.error_terms and not artifact.failures)
        is_discounted = is_about_failure and artifact.artifact_type != "decision_policy"
        return relevance * _BESIDE_REMEDY if is_discounted else relevance


NO_GUIDANCE = Guidance()


# Context priors of an imported fingerprint (HMX-F 7). They are advisory: they shift budget and ranking only.


@dataclass(frozen=True, slots=True)
class Priors:
    """The context priors that apply to a request; empty priors change nothing."""

    section_weights: Mapping[str, float] = field(default_factory=dict)
    preferred_sections: frozenset[str] = frozenset()
    artifact_ids: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    suppressed: frozenset[str] = frozenset()

    def salience(self, artifact_id: str, tags: tuple[str, ...], otherwise: float) -> float:
        """Return 1 for prioritised artifacts, 0 for suppressed ones, else *otherwise*."""
        if not self.suppressed.isdisjoint(tags):
            return 0.0
        return 1.0 if artifact_id in self.artifact_ids or not self.tags.isdisjoint(tags) else otherwise

    def weight(self, section: str) -> float:
        """Return the factor on the budget share of *section*."""
        weight = self.section_weights.get(section, 1.0)
        return weight * (_PREFERRED if section in self.preferred_sections else 1.0)


NO_PRIORS = Priors()
# Factor on the budget share of a preferred section.
_PREFERRED = 1.5
# The keys of ``context_priors`` that hold lists of names, in the order of the fields of :class:`Priors`.
_LISTS = ("preferred_sections", "priority_artifact_ids", "priority_tags", "suppressed_tags")
# Larger weights are ignored: they could overflow the section shares.
_LARGEST_WEIGHT = 1e9


def priors_of(document: Mapping[str, Any] | None) -> Priors:
    """Return the priors in the ``context_priors`` of a fingerprint; missing or malformed parts are ignored.

    >>> priors_of({"section_weights": {"procedures": 2.0}, "suppressed_tags": ["old"]}).weight("procedures")
    2.0

    """
    if not isinstance(document, Mapping):
        return NO_PRIORS
    name_sets = (_names(document.get(key)) for key in _LISTS)
    return Priors(_weights(document.get("section_weights")), *name_sets)


def _weights(value: Any) -> dict[str, float]:
    weights = value.items() if isinstance(value, Mapping) else ()
    return {name: float(weight) for name, weight in sorted(filter(_is_weight, weights))}


def _is_weight(item: tuple[Any, Any]) -> bool:
    name, value = item
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(name, str) and is_number and 0 <= value <= _LARGEST_WEIGHT


def _names(value: Any) -> frozenset[str]:
    names = value if isinstance(value, list | tuple | set | frozenset) else ()
    return frozenset(name for name in names if isinstance(name, str))


# Workflow hints and decision constraints (HMX-C 6, 7).

# Maximum number of blockers: the latest failures of the session that were not followed by a success.
_MOST_BLOCKERS = 5
# Maximum length of a blocker in characters.
_LONGEST_BLOCKER = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """The position of a running session in a task schema; ``current`` is the number of the last step reached, or 0."""

    schema: KnownArtifact
    steps: tuple[Step, ...]
    current: int

    @property
    def next_step(self) -> Step | None:
        """The step after the current one; None after the last."""
        return self.steps[self.current] if self.current < len(self.steps) else None


def progress(schema: KnownArtifact, done: Sequence[str], session: RunningSession) -> Progress:
    """Return the position of *session* in *schema* after the actions *done*.

    An action reaches the next step that lists it as a tool. If *done* is empty, the actions that *session* started are
    used.
    """
    steps = steps_of(schema.content)
    current = 0
    for action in done or _started(session):
        reached = next((index for index in range(current, len(steps)) if action in steps[index].tools), None)
        current = current if reached is None else reached + 1
    return Progress(schema, steps, current)


def workflow_hints(
    best: Progress | None, session: RunningSession, remedy: KnownArtifact | None = None
) -> dict[str, Any] | None:
    """Return the hints as a document; None if there is no procedure, no step of the *remedy* and no blocker.

    The steps of the *remedy*, the playbook for the failure, come before those of the *best* procedure.
    """
    open_failures = blockers(session)
    steps = [*_suggested_recovery(remedy), *(_remaining_steps(best) if best is not None else ())]
    hints: dict[str, Any] = {"suggested_next_steps": steps[:MAX_NEXT_STEPS], "blockers": open_failures}
    if best is None:
        return hints if steps or open_failures else None
    schema = {"active_task_schema": best.schema.artifact_id, "total_steps": len(best.steps)}
    return hints | schema | {"current_step": best.current}


def _remaining_steps(position: Progress) -> Iterator[dict[str, Any]]:
    return (_suggested(step, position.schema) for step in position.steps[position.current :])


def recovery_steps(remedy: KnownArtifact | None) -> list[str]:
    """Return the recovery steps of a playbook in order; none without a playbook."""
    return list(texts(remedy.content.get("recovery_steps"))) if remedy is not None else []


def _suggested_recovery(remedy: KnownArtifact | None) -> list[dict[str, Any]]:
    if remedy is None:
        return []
    source = {"artifact_id": remedy.artifact_id, "confidence": remedy.confidence, "tools": []}
    return [{"description": step} | source for step in recovery_steps(remedy)]


def blockers(session: RunningSession) -> list[str]:
    """Return up to five failures of the session whose action did not succeed later, latest first, shortened."""
    open_failures: dict[str, str] = {}
    for event in session.events:
        if event.failed:
            open_failures.pop(event.action, None)
            open_failures[event.action] = event.text[:_LONGEST_BLOCKER]
        elif event.ends:
            open_failures.pop(event.action, None)
    return list(open_failures.values())[::-1][:_MOST_BLOCKERS]


def decision_constraints(known: Known, chosen: Iterable[str]) -> list[dict[str, Any]]:
    """Return the hard policies in force, then the soft and learned policies among the *chosen* ids; at most 20."""
    chosen_ids = set(chosen)
    hard = [
        _rule(memory.memory_id, "", memory.text, memory.confidence)
        for memory in known.memories
        if _is_hard_policy_in_force(memory)
    ]
    soft = [
        _rule(memory.memory_id, "", memory.text, memory.confidence, override=True)
        for memory in known.memories
        if memory.is_soft_rule and memory.memory_id in chosen_ids
    ]
    policies = [
        _rule(
            artifact.artifact_id,
            "; ".join((str(artifact.content.get("condition") or artifact.title), *artifact.conditions)),
            str(artifact.content.get("recommendation") or artifact.title),
            artifact.confidence,
            override=True,
        )
        for artifact in known.artifacts
        if artifact.artifact_type == "decision_policy" and artifact.artifact_id in chosen_ids
    ]
    by_confidence = sorted(soft + policies, key=lambda rule: (-rule["confidence"], rule["artifact_id"]))
    return (sorted(hard, key=lambda rule: rule["artifact_id"]) + by_confidence)[:MAX_CONSTRAINTS]


def _is_hard_policy_in_force(memory: KnownMemory) -> bool:
    return memory.kind == "policy" and memory.hard and memory.held and memory.sound


def _rule(
    artifact_id: str, condition: str, constraint: str, confidence: float, *, override: bool = False
) -> dict[str, Any]:
    return {
        "artifact_id": artifact_id,
        "condition": condition or "always",
        "constraint": constraint,
        "confidence": confidence,
        "override_allowed": override,
    }


def _suggested(step: Step, schema: KnownArtifact) -> dict[str, Any]:
    return {
        "description": step.description,
        "artifact_id": schema.artifact_id,
        "confidence": schema.confidence,
        "tools": list(step.tools),
    }


def _started(session: RunningSession) -> list[str]:
    return [event.action for event in session.events if event.begins]
