"""decision_policy: the statement that a lookup must return before the work may end (HMX-A 4.3).

A statement is a short line of a result, such as "service: running". Only sessions in which the first result of the
lookup lacked the statement are counted, so that a last result with the statement shows an effect of the work.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hmxgraph.compiler._drafts import ArtifactDraft, Observations, evidence, tags
from hmxgraph.compiler._step_wording import done_by_user
from hmxgraph.compiler._verbs import kind_of
from hmxgraph.compiler._wording import citing, subjects
from hmxgraph.compiler.failures import Stratum, chance
from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.summary import SessionSummary, Step
from hmxgraph.text.artifacts import of_times
from hmxgraph.text.lines import cited

# Minimum success rate of the sessions that ended with the statement, maximum success rate of the others, and maximum
# probability that chance explains the difference for any statement of the lookup (Bonferroni).
_LEAST_SUCCESS, _MOST_OTHER_SUCCESS, _BY_CHANCE = 0.8, 0.2, 0.05


@dataclass(frozen=True, slots=True)
class _CheckedSession:
    """A session with the first and the last result of a lookup."""

    session: SessionSummary
    first: Step
    last: Step


@dataclass(frozen=True)
class _ClosingCheck:
    """A statement of a lookup, counted over the sessions in which the first result of the lookup lacks it.

    ``having`` holds those in which the last result has the statement. ``others`` is the number of the other sessions,
    ``others_succeeded`` the number of these that succeeded.
    """

    lookup: str
    statement: str
    having: tuple[_CheckedSession, ...]
    others: int
    others_succeeded: int

    @property
    def having_succeeded(self) -> int:
        """The number of sessions that ended with the statement and succeeded."""
        return _count_succeeded(self.having)

    @cached_property
    def chance(self) -> float:
        """The probability of a difference at least this large by chance."""
        return chance(Stratum(len(self.having), self.having_succeeded, self.others, self.others_succeeded))


def closing_checks(sessions: Iterable[SessionSummary], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """Yield at most one policy for each lookup whose last result shows whether the session succeeds."""
    checked = _checked(sessions)
    for lookup in sorted(checked):
        if check := _clearest(lookup, checked[lookup], profile.min_cases):
            yield _policy(check, profile)


def _checked(sessions: Iterable[SessionSummary]) -> Mapping[str, list[_CheckedSession]]:
    """For each lookup, the sessions with a known outcome in which it returned statements."""
    checked: defaultdict[str, list[_CheckedSession]] = defaultdict(list)
    for session in sorted(sessions, key=lambda session: session.session_id):
        results: defaultdict[str, list[Step]] = defaultdict(list)
        for step in session.steps if session.went_well is not None else ():
            if step.statements and kind_of(step.action) == "lookup":
                results[step.action].append(step)
        for lookup, steps in results.items():
            checked[lookup].append(_CheckedSession(session, steps[0], steps[-1]))
    return checked


def _clearest(lookup: str, checked: Sequence[_CheckedSession], least: int) -> _ClosingCheck | None:
    """The most significant check with clearly different success rates; None if there is none.

    At least *least* sessions that ended with its statement must have succeeded.
    """
    statements = {
        statement
        for checked_session in checked
        if checked_session.session.succeeded
        for statement in checked_session.last.statements
    }
    significant = [
        check
        for check in _checks(lookup, checked)
        if check.having_succeeded >= max(least, _LEAST_SUCCESS * len(check.having))
        and check.others_succeeded <= _MOST_OTHER_SUCCESS * check.others
        and check.chance * len(statements) <= _BY_CHANCE
    ]
    return min(significant, key=lambda check: (check.chance, check.statement), default=None)


def _checks(lookup: str, checked: Sequence[_CheckedSession]) -> Iterator[_ClosingCheck]:
    """Yield the check for each statement that some session's last result has and its first result lacks."""
    having: defaultdict[str, list[_CheckedSession]] = defaultdict(list)
    # For each statement, the sessions whose first result has it, and those of them that succeeded.
    first_counts, first_counts_succeeded = Counter[str](), Counter[str]()
    for checked_session in checked:
        first = set(checked_session.first.statements)
        first_counts.update(first)
        first_counts_succeeded.update(first if checked_session.session.succeeded else ())
        for statement in set(checked_session.last.statements) - first:
            having[statement].append(checked_session)
    succeeded = _count_succeeded(checked)
    for statement, sessions in having.items():
        others = len(checked) - first_counts[statement] - len(sessions)
        others_succeeded = succeeded - first_counts_succeeded[statement] - _count_succeeded(sessions)
        yield _ClosingCheck(lookup, statement, tuple(sessions), others, others_succeeded)


def _count_succeeded(checked: Iterable[_CheckedSession]) -> int:
    return sum(checked_session.session.succeeded for checked_session in checked)


def _policy(check: _ClosingCheck, profile: CompilerProfile) -> ArtifactDraft:
    use = "Have the user use" if done_by_user([checked_session.last for checked_session in check.having]) else "Use"
    scope = subjects([check.lookup])
    statement = cited(check.statement)
    return ArtifactDraft(
        artifact_type="decision_policy",
        lineage_key=f"closing:{check.lookup}",
        title=citing(f"Done only when {check.lookup} says ", check.statement),
        summary=f"When {check.lookup} is done: go on until it says {statement}.",
        content={
            "condition": f"{check.lookup} is done",
            "recommendation": (
                f"Go on until it says {statement}. {use} it again before the work ends: sessions that ended with this "
                f"went well {of_times(check.having_succeeded, len(check.having))}, others "
                f"{of_times(check.others_succeeded, check.others)}."
            ),
            "alternatives": [],
            "outcomes": [],
            "scope": scope,
        },
        seen=Observations(len(check.having), len(check.having), check.having_succeeded),
        source_events=evidence(
            (
                [
                    checked_session.first.event_id,
                    checked_session.last.event_id,
                    checked_session.session.outcome_event_id,
                ]
                for checked_session in check.having
            ),
            profile.max_evidence,
        ),
        tags=tags(["decision", *scope]),
        metadata={"origin": "closing_checks", "tools": [check.lookup]},
    )
