"""Artifacts as people and prompts read them, from the immutable core only, so that the text never changes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hmxgraph.protocol.contents import content_faults

Content = Mapping[str, Any]


def render_artifact(artifact_type: str, title: str, summary: str, content: Content) -> str:
    """The artifact in plain lines: title, summary, then what its type knows (HMX-A 4).

    Content unlike its type's is legal; it is rendered field by field, as that of custom types.

    >>> print(render_artifact("causal_pattern", "Load", "", {"cause": "deploy", "effect": "latency", "strength": 0.5}))
    Load
    deploy -> latency (strength 0.5)
    """
    lines = [title, "" if summary.strip() == title.strip() else summary]
    typed = not content_faults("artifact", artifact_type, dict(content))
    lines += _BY_TYPE.get(artifact_type, _plain)(content) if typed else _plain(content)
    return "\n".join(line.strip() for line in lines if line and line.strip())


def artifact_words(title: str, summary: str, content: Content, tags: tuple[str, ...] = ()) -> str:
    """All text of an artifact by which it can be found, in one string.

    >>> artifact_words("Deploy", "", {"steps": [{"order": 1, "description": "Apply"}]}, ("k8s",))
    'Deploy Apply k8s'
    """
    return " ".join(part for part in (title, summary, *_strings(content), *tags) if part)


def _task_schema(content: Content) -> Iterator[str]:
    yield _list("Before", content.get("preconditions"))
    for step in content.get("steps") or ():
        yield f"{step.get('order', '-')}. {step.get('description', '')}{_note(step)}"
    yield _list("After", content.get("postconditions"))


def _failure_playbook(content: Content) -> Iterator[str]:
    severity = f" ({content['severity']})" if content.get("severity") else ""
    yield f"Failure{severity}: {content.get('failure_pattern') or 'unknown'}"
    yield _list("Triggers", content.get("trigger_conditions"))
    yield _list("Symptoms", content.get("symptoms"))
    for number, step in enumerate(content.get("recovery_steps") or (), start=1):
        yield f"Recover {number}. {step}"
    yield _list("Prevent", content.get("prevention_strategies"))


def _decision_policy(content: Content) -> Iterator[str]:
    yield f"When {content.get('condition', 'in doubt')}: {content.get('recommendation', 'unknown')}"
    for other in content.get("alternatives") or ():
        yield f"Instead of: {other.get('description', '')}{_outcome(other)}"
    yield _list("Scope", content.get("scope"))


def _causal_pattern(content: Content) -> Iterator[str]:
    arrow = "<->" if content.get("direction") == "bidirectional" else "->"
    strength = f" (strength {content['strength']:g})" if content.get("strength") is not None else ""
    yield f"{content.get('cause', 'unknown')} {arrow} {content.get('effect', 'unknown')}{strength}"
    yield _list("Conditions", content.get("conditions"))
    yield _list("Counterexamples", content.get("counterexamples"))


def _strategy_template(content: Content) -> Iterator[str]:
    yield f"Goal: {content['goal']}" if content.get("goal") else ""
    yield _list("Applies", content.get("applicability_conditions"))
    for phase in content.get("phases") or ():
        name = f"{phase['name']}: " if phase.get("name") else ""
        yield f"{phase.get('order', '-')}. {name}{phase.get('description', '')}{_note(phase)}"
        yield _list("   Done when", phase.get("success_criteria"))


def _plain(content: Content) -> Iterator[str]:
    for key in sorted(content):
        words = "; ".join(_strings(content[key]))
        yield f"{key}: {words}" if words else ""


_BY_TYPE: dict[str, Callable[[Content], Iterator[str]]] = {
    "task_schema": _task_schema,
    "failure_playbook": _failure_playbook,
    "decision_policy": _decision_policy,
    "causal_pattern": _causal_pattern,
    "strategy_template": _strategy_template,
}


def _list(label: str, values: Any) -> str:
    return f"{label}: {'; '.join(values)}" if values else ""


def _note(step: Content) -> str:
    notes = [*(step.get("tools_used") or ()), *(["optional"] if step.get("optional") else [])]
    return f" ({', '.join(notes)})" if notes else ""


def _outcome(other: Content) -> str:
    parts = [other.get("outcome") or ""]
    if other.get("success_rate") is not None:
        parts.append(f"{other['success_rate']:.0%} of {other.get('chosen_count', 0)}")
    words = ", ".join(part for part in parts if part)
    return f" ({words})" if words else ""


def _strings(value: Any) -> Iterator[str]:
    """The texts inside a JSON value, keys left out, objects in the order of their keys."""
    match value:
        case str():
            yield value
        case Mapping():
            for key in sorted(value):
                yield from _strings(value[key])
        case list() | tuple():
            for part in value:
                yield from _strings(part)
        case _:
            return
