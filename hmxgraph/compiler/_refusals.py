"""decision_policy: a change that is often asked for and seldom right to make (HMX-A 4.3)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
# The least number of sessions that asked, the least share that changed nothing, and how much better those have to go.
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


def changes_asked_for(classes: Sequence[GoalClass]) -> dict[str, Asked]:
    """By class name, the only change of the class, where a fair share of those who asked for it were denied it."""
    asking = _Asking([member for goal_class in classes for member in goal_class.members])
    changes = {goal_class.name: _only_change(goal_class) for goal_class in classes}
    found = {name: asking.for_change(change) for name, change in changes.items() if change}
    return {name: asked for name, asked in found.items() if asked is not None}


def _only_change(goal_class: GoalClass) -> str:
    """The change that most sessions of the class make, if it is a single one with a purpose of its own; else ""."""
    changes = [name for name, share in goal_class.steps if is_action(name) and share >= _HALF]
    return changes[0] if len(changes) == 1 and not serves_any_purpose(changes[0]) else ""


class _Asking:
    """Finds the sessions that ask for a change; requests are read once, and once more for each verb."""

    def __init__(self, sessions: Sequence[SessionSummary]) -> None:
        self._words = [(session, frozenset(words(session.request))) for session in sessions]
        self._by_verb: dict[str, list[SessionSummary]] = {}

    def for_change(self, change: str) -> Asked | None:
        """What the sessions did that asked for *change*; None if they were seldom denied it."""
        verb = read_action(change).verb
        if verb not in self._by_verb:
            self._by_verb[verb] = [
                session for session, said in self._words if verb in said and asked_to(verb, [session.request])
            ]
        asking = self._by_verb[verb]
        idle = tuple(session for session in asking if not any(map(is_action, session.actions)))
        well = sum(session.succeeded for session in asking)
        denied = sum(session.succeeded for session in idle)
        if well < _ENOUGH or denied < _SELDOM * well:
            return None
        made = tuple(session for session in asking if change in session.actions)
        return Asked(change, verb, idle, made, denied / well)


def refusals(asked: Iterable[Asked], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """A policy for each change that most sessions did not make, if those that made it went worse."""
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
