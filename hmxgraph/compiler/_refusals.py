"""decision_policy: a change that users often request and agents usually decline (HMX-A 4.3)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hmxgraph.compiler._drafts import MOST_SCOPE_WORDS, ArtifactDraft, Observations, evidence, tags, trail
from hmxgraph.compiler._verbs import is_action, kind_of, read_action, serves_any_purpose
from hmxgraph.compiler._wording import asked_to, listed, subjects, title
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.artifacts import of_times
from hmxgraph.text.terms import most_first, words

_HALF = 0.5
# Minimum number of successful sessions that asked for the change, and of sessions with a known outcome that made it.
_LEAST_SESSIONS = 8
# Minimum share of the successful sessions that asked for the change and changed nothing.
_LEAST_DECLINED = 0.2
# Minimum difference between the success rates without the change and with it.
_CLEARLY_BETTER = 0.3


@dataclass(frozen=True, slots=True)
class RequestedChange:
    """A change that users request, and the sessions in which they did.

    ``change`` is the action and ``verb`` the verb in its name. ``without_change`` holds the sessions that changed
    nothing, ``with_change`` those that made the change. ``declined_share`` is the share of sessions that changed
    nothing among the successful ones.
    """

    change: str
    verb: str
    without_change: tuple[SessionSummary, ...]
    with_change: tuple[SessionSummary, ...]
    declined_share: float

    @property
    def precondition(self) -> str:
        """The precondition that the change is possible, with the share of sessions in which it was declined."""
        tenths = round(10 * self.declined_share)
        return (
            f"The change is possible: in about {tenths} of 10 successful sessions that asked to {self.verb}, "
            "nothing was changed"
        )

    @property
    def usually_declined(self) -> bool:
        """Whether most successful sessions changed nothing."""
        return self.declined_share > _HALF


def changes_asked_for(classes: Sequence[GoalClass]) -> dict[str, RequestedChange]:
    """The requested change of each goal class with a single change, by class name.

    Changes that were seldom declined, or seldom asked for, are left out.
    """
    requests = _ChangeRequests([member for goal_class in classes for member in goal_class.members])
    changes = {goal_class.name: _only_change(goal_class) for goal_class in classes}
    requested = {name: requests.for_change(change) for name, change in changes.items() if change}
    return {name: change for name, change in requested.items() if change is not None}


def _only_change(goal_class: GoalClass) -> str:
    """The only change that most sessions of the class make; "" if there are several, or if a program made it."""
    changes = [name for name, share in goal_class.steps if is_action(name) and share >= _HALF]
    return changes[0] if len(changes) == 1 and not serves_any_purpose(changes[0]) else ""


class _ChangeRequests:
    """Finds the sessions that ask for a change.

    To save time, requests are split into words only once, and searched only once for each verb.
    """

    def __init__(self, sessions: Sequence[SessionSummary]) -> None:
        self._words = [(session, frozenset(words(session.request))) for session in sessions]
        self._by_verb: dict[str, list[SessionSummary]] = {}

    def for_change(self, change: str) -> RequestedChange | None:
        """The sessions that asked for *change*; None if too few succeeded, or too few of these changed nothing.

        A request that uses the verb of *change* counts as asking for it, even with another object.
        """
        verb = read_action(change).verb
        if verb not in self._by_verb:
            self._by_verb[verb] = [
                session
                for session, request_words in self._words
                if verb in request_words and asked_to(verb, [session.request])
            ]
        asking = self._by_verb[verb]
        without_change = tuple(session for session in asking if not any(map(is_action, session.actions)))
        succeeded = sum(session.succeeded for session in asking)
        declined_count = sum(session.succeeded for session in without_change)
        if succeeded < _LEAST_SESSIONS or declined_count < _LEAST_DECLINED * succeeded:
            return None
        with_change = tuple(session for session in asking if change in session.actions)
        return RequestedChange(change, verb, without_change, with_change, declined_count / succeeded)


def refusals(requested: Iterable[RequestedChange], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """Yield a policy for each usually declined change, if the sessions that made it succeeded clearly less often."""
    for declined in {change.change: change for change in requested if change.usually_declined}.values():
        without_change, with_change = (
            Observations.of_sessions(sessions, sessions) for sessions in (declined.without_change, declined.with_change)
        )
        is_better = without_change.success_rate >= with_change.success_rate + _CLEARLY_BETTER
        if with_change.count >= _LEAST_SESSIONS and is_better:
            yield _policy(declined, without_change, with_change, profile)


def _policy(
    declined: RequestedChange, without_change: Observations, with_change: Observations, profile: CompilerProfile
) -> ArtifactDraft:
    phrase, lookups = read_action(declined.change).phrase, _lookups(declined.without_change)
    check = f"check with {listed(lookups)} whether it is possible" if lookups else "check whether it is possible"
    scope = subjects([declined.change, *lookups])[:MOST_SCOPE_WORDS]
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"refusal:{declined.change}",
        title=title(f"When asked to {phrase}: usually change nothing"),
        summary=(
            f"When the user asks to {phrase}: first {check}; in most sessions nothing was changed, and the user was "
            "told why."
        ),
        content={
            "condition": f"the user asks to {phrase}",
            "recommendation": (
                f"First {check}; if not, change nothing and say why. Sessions that changed nothing went well "
                f"{of_times(without_change.successes, without_change.count)}, those that called {declined.change} "
                f"{of_times(with_change.successes, with_change.count)}."
            ),
            "alternatives": [],
            "outcomes": [],
            "scope": scope,
        },
        seen=without_change,
        source_events=evidence((trail(session) for session in declined.without_change), profile.max_evidence),
        tags=tags(["decision", *scope]),
        metadata={"origin": "refusals", "tools": [*lookups, declined.change]},
    )


def _lookups(sessions: Sequence[SessionSummary]) -> list[str]:
    """The lookups that most of these sessions make, the most frequent first."""
    counts = Counter(
        name for session in sessions for name in dict.fromkeys(session.actions) if kind_of(name) == "lookup"
    )
    return [name for name in most_first(counts) if counts[name] > _HALF * len(sessions)]
