"""Learn artifacts and prediction models from session summaries: the reduce step of the compiler."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

from hmxgraph.compiler._causes import causal_patterns
from hmxgraph.compiler._closing_checks import closing_checks
from hmxgraph.compiler._drafts import ArtifactDraft
from hmxgraph.compiler._models import Goals, Habits, learn_goals, learn_habits
from hmxgraph.compiler._next_after_failure import CallInputs, learn_inputs
from hmxgraph.compiler._playbooks import failure_playbooks
from hmxgraph.compiler._policies import decision_policies
from hmxgraph.compiler._refusals import changes_asked_for, refusals
from hmxgraph.compiler._result_rules import refused_calls, result_policies, result_rules, waiting_changes
from hmxgraph.compiler._routines import routines
from hmxgraph.compiler._schemas import frequent_failures, task_schemas
from hmxgraph.compiler._stated_rules import stated_rules
from hmxgraph.compiler._strategies import strategy_templates
from hmxgraph.compiler._wording import title
from hmxgraph.compiler.failures import failure_groups
from hmxgraph.compiler.goal_classes import goal_classes
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Situation
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES
from hmxgraph.protocol.canonical import canonical_text, content_hash, sha256_hex
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.trust import DEFAULT_TRUST, TrustPolicy
from hmxgraph.text.artifacts import render_artifact
from hmxgraph.text.comparison import jaccard
from hmxgraph.text.terms import trigrams

# The sessions to compile from. The profile limits their number, and the number of steps whose texts are kept.

_BLANK = Situation()


class Ledger:
    """Collects the latest sessions, added in any order; ``older`` says whether older ones were left out.

    To save memory, only the most recent sessions keep the texts of their steps: as many as are needed to have
    ``habit_positions`` steps together.
    """

    def __init__(self, profile: CompilerProfile, summaries: Iterable[SessionSummary] = ()) -> None:
        self._most_sessions = profile.max_sessions
        self._least_steps = profile.habit_positions
        # Heaps with the oldest session first: all sessions as (time, id), those with texts as (time, id, step count).
        self._by_age: list[tuple[int, str]] = []
        self._by_age_with_texts: list[tuple[int, str, int]] = []
        self._textless: dict[str, SessionSummary] = {}
        self._with_texts: dict[str, SessionSummary] = {}
        self._steps_with_texts = 0
        self.older = False
        for summary in summaries:
            self.add(summary)

    def add(self, summary: SessionSummary) -> None:
        """Add one session that was not added before; a session without events is ignored."""
        if not summary.event_count:
            return
        self._textless[summary.session_id] = _without_texts(summary)
        self._with_texts[summary.session_id] = summary
        heapq.heappush(self._by_age, (summary.last_us, summary.session_id))
        heapq.heappush(self._by_age_with_texts, (summary.last_us, summary.session_id, len(summary.steps)))
        self._steps_with_texts += len(summary.steps)
        if len(self._by_age) > self._most_sessions:
            self._drop_session(heapq.heappop(self._by_age)[1])
        # Drop the oldest texts only while the others alone reach the limit: so the order of insertion does not matter.
        while self._by_age_with_texts and self._steps_with_texts - self._by_age_with_texts[0][2] >= self._least_steps:
            self._drop_texts()

    def _drop_session(self, oldest: str) -> None:
        self.older = True
        del self._textless[oldest]
        if oldest in self._with_texts:
            self._drop_texts()

    def _drop_texts(self) -> None:
        """Drop the texts of the oldest session that has them."""
        _, session_id, steps = heapq.heappop(self._by_age_with_texts)
        self._steps_with_texts -= steps
        del self._with_texts[session_id]

    def sessions(self) -> list[SessionSummary]:
        """All sessions in order of id, without the texts of their steps."""
        return [self._textless[session_id] for session_id in sorted(self._textless)]

    def recent(self) -> list[SessionSummary]:
        """The most recent sessions in order of id, with the texts of their steps."""
        return [self._with_texts[session_id] for session_id in sorted(self._with_texts)]


def _without_texts(summary: SessionSummary) -> SessionSummary:
    steps = tuple(
        replace(step, situation=Situation(step.situation.since, failure=step.situation.failure), statements=())
        for step in summary.steps
    )
    return replace(summary, steps=steps, ahead=_BLANK)


# Compile the sessions of a ledger into drafts and models.


@dataclass(frozen=True, slots=True)
class Compilation:
    """The result of a compilation: draft artifacts and the models behind suggestions.

    ``sessions`` counts the sessions compiled; ``older`` says whether older ones were left out. ``without_outcome``
    counts sessions without a known outcome, ``shortened`` those too long to be kept whole. ``near_duplicates`` holds
    pairs of lineage keys: of a draft that was dropped, and of the similar draft that was kept. ``no_material`` holds
    sentences about what could not be learned or stays a draft, and why.
    """

    drafts: tuple[ArtifactDraft, ...] = ()
    goals: Goals = field(default_factory=Goals)
    habits: Habits = field(default_factory=Habits)
    inputs: CallInputs = field(default_factory=CallInputs)
    sessions: int = 0
    older: bool = False
    without_outcome: int = 0
    shortened: int = 0
    near_duplicates: tuple[tuple[str, str], ...] = ()
    no_material: tuple[str, ...] = ()


def compile_summaries(summaries: Iterable[SessionSummary], profile: CompilerProfile = DEFAULT_PROFILE) -> Compilation:
    """Compile these sessions; their order does not matter."""
    return compile_ledger(Ledger(profile, summaries), profile)


def compile_ledger(
    ledger: Ledger,
    profile: CompilerProfile = DEFAULT_PROFILE,
    stage: Callable[[str], None] = lambda _: None,
    trust: TrustPolicy = DEFAULT_TRUST,
) -> Compilation:
    """Compile the sessions of a ledger.

    *stage* is called with the name of each stage as it begins. A draft that cannot be learned without untrusted sources
    is a proposal, unless enough sessions and origins support it.
    """
    all_sessions = ledger.sessions()
    outside = Outside.of(all_sessions, trust)
    sessions = outside.own(all_sessions) if outside else all_sessions
    stage("goals")
    goals = learn_goals(sessions, profile)
    stage("habits")
    recent = outside.own(ledger.recent())
    habits = learn_habits(recent, profile)
    stage("artifacts")
    drafts = _drafts(sessions, recent, goals, profile)
    if outside:
        own_keys = {draft.lineage_key for draft in drafts}
        all_drafts = _drafts(all_sessions, ledger.recent(), learn_goals(all_sessions, profile), profile)
        new = [draft for draft in all_drafts if draft.lineage_key not in own_keys]
        drafts += outside.proposals(new, all_sessions, trust)
    stage("duplicates")
    distinct_drafts, dropped = _without_duplicates(_unique_titles(_ranked(drafts)), profile)
    return Compilation(
        drafts=tuple(distinct_drafts),
        goals=goals,
        habits=habits,
        inputs=learn_inputs(sessions),
        sessions=len(all_sessions),
        older=ledger.older,
        without_outcome=sum(session.outcome == "unknown" for session in all_sessions),
        shortened=sum(session.skipped_steps > 0 for session in all_sessions),
        near_duplicates=tuple(dropped),
        no_material=(*_no_material(all_sessions), *outside.notes()),
    )


def _drafts(
    sessions: Sequence[SessionSummary], recent: Sequence[SessionSummary], goals: Goals, profile: CompilerProfile
) -> list[ArtifactDraft]:
    """The drafts learned from *sessions*.

    Rules about the texts of results are learned from the *recent* sessions, which are the only ones that keep texts.
    """
    classes = goal_classes(sessions, goals, profile)
    failures = failure_groups(sessions)
    rules = result_rules(recent, profile)
    requested = changes_asked_for(classes)
    refused = refused_calls(rules, recent)
    return [
        *task_schemas(classes, profile, rules, requested, frequent_failures(failures, sessions, refused)),
        *routines(sessions, profile),
        *failure_playbooks(failures, classes, sessions, recent, profile, refused, waiting_changes(rules)),
        *decision_policies(classes, sessions, profile),
        *result_policies(rules, profile),
        *closing_checks(recent, profile),
        *refusals(requested.values(), profile),
        *stated_rules(sessions, profile),
        *causal_patterns(failures, classes, sessions, profile),
        *strategy_templates(classes, profile),
    ]


def _no_material(sessions: Sequence[SessionSummary]) -> Iterator[str]:
    """Yield at most one sentence: which types of artifacts cannot be learned from these sessions, and why."""
    if not sessions:
        return
    if not any(session.steps for session in sessions):
        yield "No procedures, playbooks or policies: no session has a tool call, a command or other work."
    elif not any(session.failures for session in sessions):
        yield "No playbooks: nothing failed."


def _unique_titles(drafts: Sequence[ArtifactDraft]) -> list[ArtifactDraft]:
    """The drafts with unique titles; equal titles are distinguished by qualifiers, such as words of the requests.

    If no qualifier helps, the first digits of a hash of the lineage key are appended. If only one of the drafts with a
    title is useful, it keeps the title as it is.
    """
    by_title: defaultdict[str, list[ArtifactDraft]] = defaultdict(list)
    for draft in drafts:
        by_title[draft.title].append(draft)
    renamed = {
        id(draft): draft if _keeps_title(draft, namesakes) else replace(draft, title=_qualified_title(draft, namesakes))
        for namesakes in by_title.values()
        for draft in namesakes
    }
    taken: set[str] = set()
    finished = []
    for draft in (renamed[id(draft)] for draft in drafts):
        suffix = f" [{sha256_hex(draft.lineage_key.encode())[:6]}]" if draft.title in taken else ""
        finished.append(replace(draft, title=draft.title + suffix) if suffix else draft)
        taken.add(finished[-1].title)
    return finished


def _keeps_title(draft: ArtifactDraft, namesakes: Sequence[ArtifactDraft]) -> bool:
    return len(namesakes) == 1 or (draft.useful and sum(other.useful for other in namesakes) == 1)


def _without_duplicates(
    drafts: Sequence[ArtifactDraft], profile: CompilerProfile
) -> tuple[list[ArtifactDraft], list[tuple[str, str]]]:
    """The drafts that do not nearly equal an earlier one, and the lineage keys (dropped, kept) of those that do."""
    # Each kept draft with the trigrams of its text and the hash of its content.
    kept: list[tuple[ArtifactDraft, frozenset[tuple[str, ...]], str]] = []
    dropped = []
    for draft in drafts:
        draft_trigrams = trigrams(render_artifact(draft.artifact_type, draft.title, draft.summary, draft.content))
        draft_hash = content_hash(draft.content)
        duplicate = next(
            (
                earlier
                for earlier, earlier_trigrams, earlier_hash in kept
                if earlier.artifact_type == draft.artifact_type
                and (
                    draft_hash == earlier_hash
                    or _near_duplicate(draft_trigrams, earlier_trigrams, profile.near_duplicate)
                )
            ),
            None,
        )
        if duplicate is None:
            kept.append((draft, draft_trigrams, draft_hash))
        else:
            dropped.append((draft.lineage_key, duplicate.lineage_key))
    return [draft for draft, _, _ in kept], dropped


def _near_duplicate(
    trigrams_left: frozenset[tuple[str, ...]], trigrams_right: frozenset[tuple[str, ...]], least: float
) -> bool:
    # Very different sizes exclude a high Jaccard index, which takes longer to compute.
    small, large = sorted((len(trigrams_left), len(trigrams_right)))
    return small >= least * large and jaccard(trigrams_left, trigrams_right) >= least


def _ranked(drafts: Iterable[ArtifactDraft]) -> list[ArtifactDraft]:
    order = {name: index for index, name in enumerate(ARTIFACT_TYPES)}
    return sorted(
        drafts, key=lambda draft: (order[draft.artifact_type], draft.proposed, -draft.seen.sessions, draft.lineage_key)
    )


def _qualified_title(draft: ArtifactDraft, namesakes: Sequence[ArtifactDraft]) -> str:
    """The title with the first qualifier that no other draft of this title shares, else with all qualifiers."""
    for count in range(1, len(draft.qualifiers) + 1):
        qualifier = draft.qualifiers[count - 1]
        if sum(namesake.qualifiers[count - 1 : count] == (qualifier,) for namesake in namesakes) == 1:
            return title(f"{draft.title} ({qualifier})")
    return title(f"{draft.title} ({'; '.join(draft.qualifiers)})") if draft.qualifiers else draft.title


# Sessions and decisions from outside (untrusted) sources. What is learned from them needs the support of several
# sources, and they never change what is learned from the agent's own work.

# Maximum untrusted sources named in the metadata of a draft, and in the note to the caller.
_MOST_NAMED, _MOST_IN_NOTE = 10, 3


@dataclass(frozen=True, slots=True)
class Outside:
    """The untrusted origins of sessions, by session id, and of decisions, by event id."""

    sessions: Mapping[str, str]
    decisions: Mapping[str, str]

    @classmethod
    def of(cls, summaries: Iterable[SessionSummary], trust: TrustPolicy) -> "Outside":
        """The sessions and decisions of *summaries* that come from untrusted sources, as *trust* defines them."""
        sessions, decisions = {}, {}
        for summary in summaries:
            if origin := _origin(summary, trust):
                sessions[summary.session_id] = origin
            for decision in summary.decisions:
                if origin := trust.outside(decision.source, summary.agent_id, decision.origin or None, decides=True):
                    decisions[decision.event_id] = origin
        return cls(sessions, decisions)

    def __bool__(self) -> bool:
        return bool(self.sessions or self.decisions)

    def own(self, summaries: Iterable[SessionSummary]) -> list[SessionSummary]:
        """The sessions of the agent's own work, without the decisions that come from untrusted sources."""
        return [self._own_part(summary) for summary in summaries if summary.session_id not in self.sessions]

    def _own_part(self, summary: SessionSummary) -> SessionSummary:
        own_decisions = tuple(decision for decision in summary.decisions if decision.event_id not in self.decisions)
        return summary if len(own_decisions) == len(summary.decisions) else replace(summary, decisions=own_decisions)

    def proposals(
        self, drafts: Iterable[ArtifactDraft], summaries: Sequence[SessionSummary], trust: TrustPolicy
    ) -> Iterator[ArtifactDraft]:
        """Mark *drafts*, which need untrusted sources, as proposed unless enough sessions and origins support them."""
        by_event = {
            event_id: (summary.session_id, self._origin_of(event_id, summary))
            for summary in summaries
            for event_id in _event_ids(summary)
        }
        for draft in drafts:
            supporters = {by_event[event_id] for event_id in draft.source_events if event_id in by_event}
            sessions, origins = {session for session, _ in supporters}, {origin for _, origin in supporters}
            proposed = len(sessions) < trust.sessions or len(origins) < trust.origins
            provenance = {"untrusted_sources": sorted(filter(None, origins))[:_MOST_NAMED], "in_force": not proposed}
            yield replace(draft, proposed=proposed, metadata={**(draft.metadata or {}), "trust": provenance})

    def notes(self) -> Iterator[str]:
        """Yield one sentence that names the untrusted sources and how to trust them; nothing if there are none."""
        if self:
            sources = sorted({*self.sessions.values(), *self.decisions.values()})
            names = ", ".join(sources[:_MOST_IN_NOTE]) + (", ..." if len(sources) > _MOST_IN_NOTE else "")
            yield (
                f"Artifacts that need untrusted sources ({names}) stay drafts until enough sessions and sources "
                "support them; name the sources in connect(trust=TrustPolicy(trusted=(...))) to learn from them."
            )

    def _origin_of(self, event_id: str, summary: SessionSummary) -> str:
        return self.decisions.get(event_id) or self.sessions.get(summary.session_id, "")


def _origin(summary: SessionSummary, trust: TrustPolicy) -> str:
    """The main untrusted source of a session, if such sources caused most of its events; else ""."""
    origins: Counter[str] = Counter()
    for source, origin, count in summary.sources:
        origins[trust.outside(source, summary.agent_id, origin or None)] += count
    own_count = origins.pop("", 0)
    if origins.total() <= own_count:
        return ""
    return min(origins, key=lambda name: (-origins[name], name))


def _event_ids(summary: SessionSummary) -> Iterator[str]:
    yield from (summary.request_event_id, summary.outcome_event_id)
    for part in (summary.steps, summary.failures, summary.decisions):
        yield from (entry.event_id for entry in part)


# The part of a compilation that suggestions need, stored as one document.


@dataclass(frozen=True, slots=True)
class Model:
    """What suggestions are made from, for one tenant.

    ``goals`` is the request model, ``habits`` the habit model, and ``inputs`` says where the inputs of calls
    come from.
    """

    goals: Goals = field(default_factory=Goals)
    habits: Habits = field(default_factory=Habits)
    inputs: CallInputs = field(default_factory=CallInputs)

    @property
    def empty(self) -> bool:
        """Whether the model has nothing to suggest."""
        return not self.goals.actions and not self.habits.actions

    @classmethod
    def of(cls, compilation: Compilation) -> Self:
        """The model of a compilation."""
        return cls(compilation.goals, compilation.habits, compilation.inputs)

    def to_json(self) -> str:
        """The canonical text that the graph stores."""
        parts = self.goals.document(), self.habits.document(), self.inputs.document()
        return canonical_text(dict(zip(("goals", "habits", "inputs"), parts, strict=True)))

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """The model written by :meth:`to_json`; the empty model if there is no text."""
        if not text:
            return cls()
        document = cast("dict[str, Any]", parse_json(text))
        # Models stored by earlier releases have no inputs.
        inputs = CallInputs.of(document.get("inputs", {}))
        return cls(Goals.of(document["goals"]), Habits.of(document["habits"]), inputs)
