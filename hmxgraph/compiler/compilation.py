"""From summaries to what is known: the reduce step of the compiler."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from hmxgraph.compiler.artifacts.causes import causal_patterns
from hmxgraph.compiler.artifacts.drafts import ArtifactDraft
from hmxgraph.compiler.artifacts.failures import failure_groups
from hmxgraph.compiler.artifacts.goal_classes import goal_classes
from hmxgraph.compiler.artifacts.playbooks import failure_playbooks
from hmxgraph.compiler.artifacts.policies import decision_policies
from hmxgraph.compiler.artifacts.schemas import task_schemas
from hmxgraph.compiler.artifacts.strategies import strategy_templates
from hmxgraph.compiler.artifacts.wording import title
from hmxgraph.compiler.ledger import Ledger
from hmxgraph.compiler.models.goals import Goals, learn_goals
from hmxgraph.compiler.models.habits import Habits, learn_habits
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.sessions.summary import SessionSummary
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES
from hmxgraph.protocol.canonical import content_hash, sha256_hex
from hmxgraph.text.artifacts import render_artifact
from hmxgraph.text.similarity import jaccard, trigrams


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
    kept, dropped = without_duplicates(unique_titles(_ranked(drafts)), profile)
    return Compilation(
        drafts=tuple(kept),
        goals=goals,
        habits=habits,
        sessions=len(sessions),
        without_outcome=sum(one.outcome == "unknown" for one in sessions),
        shortened=sum(one.skipped_steps > 0 for one in sessions),
        near_duplicates=tuple(dropped),
    )


def unique_titles(drafts: Sequence[ArtifactDraft]) -> list[ArtifactDraft]:
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


def without_duplicates(
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
