"""Failures that a change runs into so often that a procedure names them beforehand."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hmxgraph.compiler._result_rules import ResultRule
from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.failures import FailureGroup
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.artifacts import in_sessions
from hmxgraph.text.lines import cited

_SESSIONS = 3
_OFTEN = 0.1


def pitfalls(
    groups: Iterable[FailureGroup], sessions: Sequence[SessionSummary], refused: Mapping[str, ResultRule]
) -> dict[str, str]:
    """By change, the failure that most sessions met in it, with how many of those that made it, if a fair share did.

    What *refused* explains is left out: the procedure says as a condition what the change waits for.
    """
    met: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for group in groups:
        for occurrence in group.occurrences:
            if is_action(occurrence.action) and occurrence.failure.event_id not in refused:
                met[occurrence.action][group.says].add(occurrence.summary.session_id)
    return {action: words for action in sorted(met) if (words := _warning(action, met[action], sessions))}


def _warning(action: str, met: Mapping[str, set[str]], sessions: Iterable[SessionSummary]) -> str:
    says = max(sorted(met), key=lambda message: len(met[message]))
    failed, called = len(met[says]), sum(action in session.actions for session in sessions)
    if failed < _SESSIONS or failed < _OFTEN * called:
        return ""
    return f"it has failed with {cited(says.rstrip('.'))}, {in_sessions(failed, called)}"
