"""Artifacts as a prompt gets them: what is to be done, once; what a reader of the archive wants besides stays out."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hmxgraph.protocol.contents import content_faults
from hmxgraph.text.citations import plain_quotes
from hmxgraph.text.lines import reported

Content = Mapping[str, Any]


def brief(artifact_type: str, title: str, text: str, content: Content) -> str:
    """The artifact in as few lines as tell an agent what to do; its whole *text* where the type is not known for that.

    >>> print(brief("task_schema", "Deploy", "", {"steps": [
    ...     {"order": 1, "description": "Apply with kubectl", "tools_used": ["kubectl"], "optional": False},
    ...     {"order": 2, "description": "Verify the rollout", "tools_used": ["kubectl"], "optional": True}]}))
    Deploy
    1. Apply with kubectl
    2. Verify the rollout (kubectl, optional)

    """
    written = _BRIEFLY.get(artifact_type)
    if written is None or content_faults("artifact", artifact_type, dict(content)):
        return text
    return "\n".join(line for line in written(title, content) if line) or text


def _task_schema(title: str, content: Content) -> Iterator[str]:
    if not content.get("steps"):
        return
    yield title
    yield _list("Before", content.get("preconditions"))
    for step in content["steps"]:
        yield f"{step.get('order', '-')}. {step.get('description', '')}{_note(step)}"
    yield _list("After", content.get("postconditions"))


def _failure_playbook(title: str, content: Content) -> Iterator[str]:
    if not content.get("recovery_steps"):
        return
    pattern = str(content.get("failure_pattern") or "")
    heading = _unquoted(title, pattern)
    yield heading
    for number, step in enumerate(content["recovery_steps"], start=1):
        yield f"{number}. {step}"
    yield _list("Prevent", content.get("prevention_strategies"))
    # Last, so that nothing stands below a tool's words that could be taken for them.
    yield "" if pattern.lower() in heading.lower() else reported(pattern)


def _causal_pattern(_title: str, content: Content) -> Iterator[str]:
    """Only of a cause that cites what a tool said: that stands on a line of its own, as what it is."""
    cause = str(content.get("cause") or "")
    if not (cited := _CITED.search(cause)):
        return
    yield f"When {cause[: cited.start()]}with this{cause[cited.end() :]}, {content.get('effect')} more often"
    yield _list("Conditions", content.get("conditions"))
    yield reported(cited.group("words"))


def _decision_policy(title: str, content: Content) -> Iterator[str]:
    if not content.get("recommendation"):
        return
    condition = str(content.get("condition") or title)
    yield f"{condition if condition.lower().startswith('when ') else f'When {condition}'}: {content['recommendation']}"
    for other in content.get("alternatives") or ():
        yield f"Instead of: {other.get('description', '')}{_outcome(other)}"


_BRIEFLY: Mapping[str, Callable[[str, Content], Iterator[str]]] = {
    "task_schema": _task_schema,
    "failure_playbook": _failure_playbook,
    "decision_policy": _decision_policy,
    "causal_pattern": _causal_pattern,
}
_CITED = re.compile(r"\bwith “(?P<words>.*)”", re.DOTALL)


def _unquoted(title: str, pattern: str) -> str:
    """*title* without its citation of *pattern*.

    >>> _unquoted("Recover when ship fails: “no carrier”", "ShipError: no carrier")
    'Recover when ship fails'
    >>> _unquoted("Recover from: “no carrier”", "no carrier"), _unquoted("Run “blue” again", "no carrier")
    ('Recover from this', 'Run “blue” again')

    """
    before, quote, rest = title.partition("“")
    cited = plain_quotes(rest.removesuffix("”").removesuffix(" ..."))
    if not quote or cited.lower() not in plain_quotes(pattern).lower():
        return title
    head = before.rstrip(" :")
    return f"{head} this" if head.endswith("from") else head


def _list(label: str, values: Any) -> str:
    return f"{label}: {'; '.join(values)}" if values else ""


def _note(step: Content) -> str:
    """The tools that the description does not name, and whether the step may be left out."""
    unnamed = [tool for tool in step.get("tools_used") or () if tool not in str(step.get("description", ""))]
    notes = [*unnamed, *(["optional"] if step.get("optional") else [])]
    return f" ({', '.join(notes)})" if notes else ""


def _outcome(other: Content) -> str:
    told = other.get("outcome")
    return f" ({told})" if told else ""
