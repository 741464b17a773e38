"""decision_policy: a change that is often asked for and seldom right to make (HMX-A 4.3)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._verbs import is_action, kind_of, read_action, serves_any_purpose
from hmxgraph.compiler._wording import asked_to, listed, subjects, title
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.artifacts import times
from hmxgraph.text.terms import most_first, words

_HALF = 0.5
# The least number of sessions that asked, the least share that changed nothing, and how much better those went.
_ENOUGH, _SELDOM, _CLEARLY_BETTER = 8, 0.2, 0.3


@dataclass(frozen=True, slots=True)
class Asked:
    """The sessions that asked for a *change*, by its verb: those that changed nothing, and those that made it."""

    change: str
    verb: str
    idle: tuple[SessionSummary, ...]
    made: tuple[SessionSummary, ...]
    share: float

    @property
    def precondition(self) -> str:
        """That the change has to be possible, with how often it was not."""
        tenths = round(10 * self.share)
        return (
            f"The change is possible: in about {tenths} of 10 successful sessions that asked to {self.verb}, "
            "nothing was changed"
        )

    @property
    def usually_declined(self) -> bool:
        """Whether most sessions that went well changed nothing."""
        return self.share > _HALF


def asked_for(goal_class: GoalClass, sessions: Sequence[SessionSummary]) -> Asked | None:
    """What *sessions* of any class did that asked for the only change of this one; None if they seldom declined it."""
    changes = [name for name, share in goal_class.steps if is_action(name) and share >= _HALF]
    if len(changes) != 1 or serves_any_purpose(changes[0]):
        return None
    verb = read_action(changes[0]).verb
    asking = [session for session in sessions if verb in words(session.request) and asked_to(verb, [session.request])]
    idle = tuple(session for session in asking if not any(map(is_action, session.actions)))
    well = [session for session in asking if session.succeeded]
    declined = sum(session.succeeded for session in idle)
    if len(well) < _ENOUGH or declined < _SELDOM * len(well):
        return None
    made = tuple(session for session in asking if changes[0] in session.actions)
    return Asked(changes[0], verb, idle, made, declined / len(well))


def refusals(classes: Sequence[GoalClass], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """A policy for each change that most sessions declined, and that those which made it came off worse with."""
    sessions = [member for goal_class in classes for member in goal_class.members]
    asked = [found for goal_class in classes if (found := asked_for(goal_class, sessions))]
    for found in {each.change: each for each in asked if each.usually_declined}.values():
        idle, made = (Observations.of_sessions(done, done) for done in (found.idle, found.made))
        if made.count >= _ENOUGH and idle.success_rate >= made.success_rate + _CLEARLY_BETTER:
            yield _policy(found, idle, made, profile)


def _policy(found: Asked, idle: Observations, made: Observations, profile: CompilerProfile) -> ArtifactDraft:
    deed, lookups = read_action(found.change).phrase, _lookups(found.idle)
    looking = f"look with {listed(lookups)} whether it is possible" if lookups else "see whether it is possible"
    scope = subjects([found.change, *lookups])[:6]
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"refusal:{found.change}",
        title=title(f"Asked to {deed}: usually nothing is changed"),
        summary=f"When the user asks to {deed}: first {looking}; usually nothing is changed, with the reason told.",
        content={
            "condition": f"the user asks to {deed}",
            "recommendation": (
                f"First {looking}; else change nothing and say why. Sessions that changed nothing went well "
                f"{_share(idle)}, those that called {found.change} {_share(made)}."
            ),
            "alternatives": [],
            "outcomes": [],
            "scope": scope,
        },
        seen=idle,
        source_events=evidence((trail(session) for session in found.idle), profile.max_evidence),
        tags=tags(["decision", *scope]),
        metadata={"origin": "refusals", "tools": [*lookups, found.change]},
    )


def _lookups(sessions: Sequence[SessionSummary]) -> list[str]:
    """The lookups of most of these sessions, the most frequent first."""
    used = Counter(name for session in sessions for name in dict.fromkeys(session.actions) if kind_of(name) == "lookup")
    return [name for name in most_first(used) if used[name] > _HALF * len(sessions)]


def _share(seen: Observations) -> str:
    return times(seen.successes, seen.count).removeprefix("worked ")
