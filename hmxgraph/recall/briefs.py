"""Artifacts as short instructions in a prompt (HMX-C 3.1)."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hmxgraph.protocol.document import content_faults
from hmxgraph.recall.knowledge import WORK_BEGINS
from hmxgraph.text.artifacts import TOLD_TO_USERS
from hmxgraph.text.lines import plain_quotes, tool_quote

Content = Mapping[str, Any]


def brief(artifact_type: str, title: str, text: str, content: Content) -> str:
    """Return the artifact as short instructions; its full *text* if it has no short form or its content is invalid.

    >>> print(brief("task_schema", "Deploy", "", {"steps": [
    ...     {"order": 1, "description": "Apply with kubectl", "tools_used": ["kubectl"], "optional": False},
    ...     {"order": 2, "description": "Verify the rollout", "tools_used": ["kubectl"], "optional": True}]}))
    Deploy
    1. Apply with kubectl
    2. Verify the rollout (kubectl, optional)

    """
    lines_of = _SHORT_FORMS.get(artifact_type)
    if lines_of is None or content_faults("artifact", artifact_type, dict(content)):
        return text
    return "\n".join(line for line in lines_of(title, content) if line) or text


# What the steps of a procedure say as well: which arguments come from the user, and that each step must succeed.
_GIVEN = re.compile(r"The user has given ")
_SUCCEEDED = "has reported success"


def _task_schema(title: str, content: Content) -> Iterator[str]:
    if not content.get("steps"):
        return
    steps = [f"{step.get('order', '-')}. {step.get('description', '')}{_note(step)}" for step in content["steps"]]
    stated = any("(from the user" in step for step in steps)
    yield title
    yield _list("Before", [each for each in content.get("preconditions") or () if not (stated and _GIVEN.match(each))])
    yield from steps
    yield _list("After", [each for each in content.get("postconditions") or () if not each.endswith(_SUCCEEDED)])


def _failure_playbook(title: str, content: Content) -> Iterator[str]:
    if not content.get("recovery_steps"):
        return
    pattern = str(content.get("failure_pattern") or "")
    heading = _without_quotation(title, pattern)
    yield heading
    for number, step in enumerate(content["recovery_steps"], start=1):
        yield f"{number}. {step}"
    yield _list("Prevent", content.get("prevention_strategies"))
    # The quotation comes last, so that no line of ours follows and looks like part of it.
    yield "" if pattern.lower() in heading.lower() else tool_quote(pattern)


def _causal_pattern(_title: str, content: Content) -> Iterator[str]:
    """Yield a short form only if the cause quotes a tool; the quotation gets a separate, labelled line."""
    cause = str(content.get("cause") or "")
    if not (cited := _CITED.search(cause)):
        return
    yield f"When {cause[: cited.start()]}with this{cause[cited.end() :]}, {content.get('effect')} more often"
    yield _list("Conditions", content.get("conditions"))
    yield tool_quote(cited.group("words"))


def _decision_policy(title: str, content: Content) -> Iterator[str]:
    if not content.get("recommendation"):
        return
    if str(content["recommendation"]).startswith(TOLD_TO_USERS):
        yield content["recommendation"]
        return
    condition = str(content.get("condition") or title)
    yield f"{_moment(condition)}: {content['recommendation']}"
    for alternative in content.get("alternatives") or ():
        yield f"Instead of: {alternative.get('description', '')}{_outcome(alternative)}"


def _moment(condition: str) -> str:
    """Return the condition of a policy as the beginning of a sentence.

    >>> _moment("the work begins"), _moment("push has failed"), _moment("When in doubt")
    ('First step', 'When push has failed', 'When in doubt')

    """
    if condition == WORK_BEGINS:
        return "First step"
    return condition if condition.lower().startswith("when ") else f"When {condition}"


_SHORT_FORMS: Mapping[str, Callable[[str, Content], Iterator[str]]] = {
    "task_schema": _task_schema,
    "failure_playbook": _failure_playbook,
    "decision_policy": _decision_policy,
    "causal_pattern": _causal_pattern,
}


# The quotation of a tool in a cause.
_CITED = re.compile(r"\bwith “(?P<words>.*)”", re.DOTALL)


def _without_quotation(title: str, pattern: str) -> str:
    """Return *title* without its quotation of *pattern*.

    >>> _without_quotation("Recover when ship fails: “no carrier”", "ShipError: no carrier")
    'Recover when ship fails'
    >>> _without_quotation("Recover from: “no carrier”", "no carrier")
    'Recover from this'
    >>> _without_quotation("Run “blue” again", "no carrier")
    'Run “blue” again'

    """
    before, quote, quotation = title.partition("“")
    cited = plain_quotes(quotation.removesuffix("”").removesuffix(" ..."))
    if not quote or cited.lower() not in plain_quotes(pattern).lower():
        return title
    head = before.rstrip(" :")
    return f"{head} this" if head.endswith("from") else head


def _list(label: str, values: Any) -> str:
    return f"{label}: {'; '.join(values)}" if values else ""


def _note(step: Content) -> str:
    """Return, in parentheses, the tools that the description of a step does not name, and "optional" if it is."""
    unnamed = [tool for tool in step.get("tools_used") or () if tool not in str(step.get("description", ""))]
    notes = [*unnamed, *(["optional"] if step.get("optional") else [])]
    return f" ({', '.join(notes)})" if notes else ""


def _outcome(alternative: Content) -> str:
    outcome = alternative.get("outcome")
    return f" ({outcome})" if outcome else ""
