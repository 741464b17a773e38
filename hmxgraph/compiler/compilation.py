"""From session summaries to artifacts: the reduce step of the compiler."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

from hmxgraph.compiler._causes import causal_patterns
from hmxgraph.compiler._drafts import ArtifactDraft
from hmxgraph.compiler._models import Goals, Habits, learn_goals, learn_habits
from hmxgraph.compiler._playbooks import failure_playbooks
from hmxgraph.compiler._policies import decision_policies
from hmxgraph.compiler._schemas import task_schemas
from hmxgraph.compiler._strategies import strategy_templates
from hmxgraph.compiler._wording import title
from hmxgraph.compiler.failures import failure_groups
from hmxgraph.compiler.goal_classes import goal_classes
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Situation
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES
from hmxgraph.protocol.canonical import canonical_text, content_hash, sha256_hex
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.text.artifacts import render_artifact
from hmxgraph.text.comparison import jaccard, trigrams

# The sessions to compile from: all of them bare, and the latest in full.

_BLANK = Situation()


class Ledger:
    """Takes sessions in any order; what was said in them is kept for the latest only, as many as habits need."""

    def __init__(self, positions: int, summaries: Iterable[SessionSummary] = ()) -> None:
        self._positions = positions
        self._bare: dict[str, SessionSummary] = {}
        self._latest: list[tuple[int, str, int]] = []
        self._full: dict[str, SessionSummary] = {}
        self._total = 0
        for summary in summaries:
            self.add(summary)

    def add(self, summary: SessionSummary) -> None:
        """Enter one session; each session is entered once, and one whose events are all erased is none."""
        if not summary.event_count:
            return
        self._bare[summary.session_id] = _bare(summary)
        self._full[summary.session_id] = summary
        heapq.heappush(self._latest, (summary.last_us, summary.session_id, len(summary.steps)))
        self._total += len(summary.steps)
        # The oldest gives way as long as the others alone fill the measure, so the order of entry does not matter.
        while self._latest and self._total - self._latest[0][2] >= self._positions:
            _, session_id, steps = heapq.heappop(self._latest)
            self._total -= steps
            del self._full[session_id]

    def sessions(self) -> list[SessionSummary]:
        """All sessions by id, without what was said at each step."""
        return [self._bare[session_id] for session_id in sorted(self._bare)]

    def recent(self) -> list[SessionSummary]:
        """The latest sessions by id, in full."""
        return [self._full[session_id] for session_id in sorted(self._full)]


def _bare(summary: SessionSummary) -> SessionSummary:
    steps = tuple(
        replace(step, situation=Situation(step.situation.since, failure=step.situation.failure))
        for step in summary.steps
    )
    return replace(summary, steps=steps, ahead=_BLANK)


# From summaries to what is known: the reduce step of the compiler.


@dataclass(frozen=True, slots=True)
class Compilation:
    """What the sessions teach: artifacts to be, and the models behind suggestions.

    Of its sessions some had no outcome that could be told, and some were too long to be kept whole.
    """

    drafts: tuple[ArtifactDraft, ...] = ()
    goals: Goals = field(default_factory=Goals)
    habits: Habits = field(default_factory=Habits)
    sessions: int = 0
    without_outcome: int = 0
    shortened: int = 0
    near_duplicates: tuple[tuple[str, str], ...] = ()


def compile_summaries(
    summaries: Iterable[SessionSummary],
    profile: CompilerProfile = DEFAULT_PROFILE,
    stage: Callable[[str], None] = lambda _: None,
) -> Compilation:
    """The compilation of these sessions; the same for the same sessions in any order.

    *stage* is told the name of each stage as it begins.
    """
    ledger = Ledger(profile.habit_positions)
    for summary in summaries:
        ledger.add(summary)
    return compile_ledger(ledger, profile, stage)


def compile_ledger(
    ledger: Ledger, profile: CompilerProfile = DEFAULT_PROFILE, stage: Callable[[str], None] = lambda _: None
) -> Compilation:
    """The same for sessions that were entered one by one."""
    sessions = ledger.sessions()
    stage("goals")
    goals = learn_goals(sessions, profile)
    stage("habits")
    habits = learn_habits(ledger.recent(), profile)
    stage("artifacts")
    classes = goal_classes(sessions, goals, profile)
    failures = failure_groups(sessions)
    drafts = [
        *task_schemas(classes, profile),
        *failure_playbooks(failures, classes, sessions, profile),
        *decision_policies(classes, sessions, profile),
        *causal_patterns(failures, classes, sessions, profile),
        *strategy_templates(classes, profile),
    ]
    stage("duplicates")
    kept, dropped = _without_duplicates(_unique_titles(_ranked(drafts)), profile)
    return Compilation(
        drafts=tuple(kept),
        goals=goals,
        habits=habits,
        sessions=len(sessions),
        without_outcome=sum(one.outcome == "unknown" for one in sessions),
        shortened=sum(one.skipped_steps > 0 for one in sessions),
        near_duplicates=tuple(dropped),
    )


def _unique_titles(drafts: Sequence[ArtifactDraft]) -> list[ArtifactDraft]:
    """The drafts with titles that differ: those that share one are told apart by their qualifiers.

    What no qualifier tells apart gets the first letters of its lineage's hash.
    """
    named: defaultdict[str, list[ArtifactDraft]] = defaultdict(list)
    for draft in drafts:
        named[draft.title].append(draft)
    renamed = {
        id(draft): draft if len(alike) == 1 else replace(draft, title=_told_apart(draft, alike))
        for alike in named.values()
        for draft in alike
    }
    taken: set[str] = set()
    finished = []
    for draft in (renamed[id(draft)] for draft in drafts):
        mark = f" [{sha256_hex(draft.lineage_key.encode())[:6]}]" if draft.title in taken else ""
        finished.append(replace(draft, title=draft.title + mark) if mark else draft)
        taken.add(finished[-1].title)
    return finished


def _without_duplicates(
    drafts: Sequence[ArtifactDraft], profile: CompilerProfile
) -> tuple[list[ArtifactDraft], list[tuple[str, str]]]:
    """The drafts without those that say what a better supported one says, and the pairs (left out, kept)."""
    kept: list[tuple[ArtifactDraft, frozenset[tuple[str, ...]], str]] = []
    dropped = []
    for draft in drafts:
        said = trigrams(render_artifact(draft.artifact_type, draft.title, draft.summary, draft.content))
        hashed = content_hash(draft.content)
        twin = next(
            (
                other
                for other, words, other_hash in kept
                if other.artifact_type == draft.artifact_type
                and (hashed == other_hash or _alike(said, words, profile.near_duplicate))
            ),
            None,
        )
        if twin is None:
            kept.append((draft, said, hashed))
        else:
            dropped.append((draft.lineage_key, twin.lineage_key))
    return [draft for draft, _, _ in kept], dropped


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]], least: float) -> bool:
    small, large = sorted((len(one), len(other)))
    return small >= least * large and jaccard(one, other) >= least


def _ranked(drafts: Iterable[ArtifactDraft]) -> list[ArtifactDraft]:
    order = {name: place for place, name in enumerate(ARTIFACT_TYPES)}
    return sorted(drafts, key=lambda one: (order[one.artifact_type], -one.seen.sessions, one.lineage_key))


def _told_apart(draft: ArtifactDraft, alike: Sequence[ArtifactDraft]) -> str:
    """The title with the fewest qualifiers that no other draft of this title has in the same place."""
    for count in range(1, len(draft.qualifiers) + 1):
        mine = draft.qualifiers[count - 1]
        if sum(other.qualifiers[count - 1 : count] == (mine,) for other in alike) == 1:
            return title(f"{draft.title} ({mine})")
    return title(f"{draft.title} ({'; '.join(draft.qualifiers)})") if draft.qualifiers else draft.title


# What suggestions need of a compilation, as one document.


@dataclass(frozen=True, slots=True)
class Model:
    """Goals and habits of one tenant."""

    goals: Goals = field(default_factory=Goals)
    habits: Habits = field(default_factory=Habits)

    @property
    def empty(self) -> bool:
        """Whether nothing can be suggested from it."""
        return not self.goals.actions and not self.habits.actions

    @classmethod
    def of(cls, compilation: Compilation) -> Self:
        """The model of a compilation."""
        return cls(compilation.goals, compilation.habits)

    def to_json(self) -> str:
        """The canonical text that the graph stores."""
        return canonical_text({"goals": self.goals.document(), "habits": self.habits.document()})

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """The model that :meth:`to_json` wrote; the empty one of None."""
        if not text:
            return cls()
        document = cast("dict[str, Any]", parse_json(text))
        return cls(Goals.of(document["goals"]), Habits.of(document["habits"]))
