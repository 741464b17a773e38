"""decision_policy: the statement that a lookup must return before the work is done (HMX-A 4.3).

A statement is a short line of a result, such as "service: running". Only sessions whose first result of the lookup
lacked the statement are counted, so that the last result shows what the work changed.
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

# Minimum share of successes among sessions that ended with the statement, maximum share among the others, and maximum
# probability that chance explains this for any statement of the lookup (Bonferroni).
_LEAST_WELL, _MOST_OTHERS_WELL, _BY_CHANCE = 0.8, 0.2, 0.05


@dataclass(frozen=True, slots=True)
class _CheckedSession:
    """A session with the first and the last result of a lookup."""

    session: SessionSummary
    first: Step
    last: Step


@dataclass(frozen=True)
class _ClosingCheck:
    """A *statement* of a *lookup*, counted over the sessions whose first result lacks it.

    ``having`` holds those whose last result has the statement, ``others`` is the number of the others, and
    ``others_well`` how many of these went well.
    """

    lookup: str
    statement: str
    having: tuple[_CheckedSession, ...]
    others: int
    others_well: int

    @property
    def having_well(self) -> int:
        """How many of the sessions that ended with the statement went well."""
        return _count_well(self.having)

    @cached_property
    def chance(self) -> float:
        """The probability of at least such a difference by chance."""
        return chance(Stratum(len(self.having), self.having_well, self.others, self.others_well))


def closing_checks(sessions: Iterable[SessionSummary], profile: CompilerProfile) -> Iterator[ArtifactDraft]:
    """At most one policy for each lookup whose last result shows whether the work went well."""
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
    """The most significant check that enough sessions support, with clearly different shares; None if there is none.

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
        if check.having_well >= max(least, _LEAST_WELL * len(check.having))
        and check.others_well <= _MOST_OTHERS_WELL * check.others
        and check.chance * len(statements) <= _BY_CHANCE
    ]
    return min(significant, key=lambda check: (check.chance, check.statement), default=None)


def _checks(lookup: str, checked: Sequence[_CheckedSession]) -> Iterator[_ClosingCheck]:
    """Yield the check for each statement, counted over the sessions whose first result lacks it."""
    having: defaultdict[str, list[_CheckedSession]] = defaultdict(list)
    first_counts, first_counts_well = Counter[str](), Counter[str]()
    for checked_session in checked:
        first = set(checked_session.first.statements)
        first_counts.update(first)
        first_counts_well.update(first if checked_session.session.succeeded else ())
        for statement in set(checked_session.last.statements) - first:
            having[statement].append(checked_session)
    well = _count_well(checked)
    for statement, sessions in having.items():
        others = len(checked) - first_counts[statement] - len(sessions)
        others_well = well - first_counts_well[statement] - _count_well(sessions)
        yield _ClosingCheck(lookup, statement, tuple(sessions), others, others_well)


def _count_well(checked: Iterable[_CheckedSession]) -> int:
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
                f"went well {of_times(check.having_well, len(check.having))}, others "
                f"{of_times(check.others_well, check.others)}."
            ),
            "alternatives": [],
            "outcomes": [],
            "scope": scope,
        },
        seen=Observations(len(check.having), len(check.having), check.having_well),
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
