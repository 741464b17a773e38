"""Failures of a change that are so frequent that a procedure warns of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from hmxgraph.compiler._result_rules import ResultRule
from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.failures import FailureGroup
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.text.artifacts import in_sessions
from hmxgraph.text.lines import cited

# Minimum number of sessions with the failure, and minimum share of those that tried the change.
_SESSIONS, _OFTEN = 3, 0.1


def pitfalls(
    groups: Iterable[FailureGroup], sessions: Sequence[SessionSummary], refused: Mapping[str, ResultRule]
) -> dict[str, str]:
    """A warning for each change about its most frequent failure, if that is frequent among sessions that tried it.

    Failures that *refused* explains are left out: the procedure states the condition that the change waits for.
    """
    sessions_by_failure: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for group in groups:
        for occurrence in group.occurrences:
            if is_action(occurrence.action) and occurrence.failure.event_id not in refused:
                sessions_by_failure[occurrence.action][group.says].add(occurrence.summary.session_id)
    warnings = {
        action: _warning(action, sessions_by_failure[action], sessions) for action in sorted(sessions_by_failure)
    }
    return {action: warning for action, warning in warnings.items() if warning}


def _warning(action: str, by_message: Mapping[str, set[str]], sessions: Iterable[SessionSummary]) -> str:
    usual = max(sorted(by_message), key=lambda message: len(by_message[message]))
    failed, called = len(by_message[usual]), sum(action in session.actions for session in sessions)
    if failed < _SESSIONS or failed < _OFTEN * called:
        return ""
    return f"it has failed with {cited(usual.rstrip('.'))}, {in_sessions(failed, called)}"
