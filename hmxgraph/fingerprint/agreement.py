"""Whether two artifacts of one type say the same, so that local evidence can speak for an imported draft (DESIGN 6)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hmxgraph.text.opposition import differs
from hmxgraph.text.similarity import jaccard
from hmxgraph.text.terms import terms

ALIKE = 0.6


def agree(artifact_type: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the contents *one* and *other* of this type are the same knowledge in other words.

    Policies: the same condition and no other answer. Task schemas: the same steps in the same order. Playbooks: the
    same failure and the same first way out. Words count, not ids and punctuation; other types are never compared.

    >>> agree("decision_policy", {"condition": "table > 1 GB", "recommendation": "Migrate online"},
    ...     {"condition": "Table over 1 GB", "recommendation": "migrate online!"})
    True

    """
    match artifact_type:
        case "decision_policy":
            return _alike(one.get("condition"), other.get("condition")) and not differs(
                str(one.get("recommendation")), str(other.get("recommendation"))
            )
        case "task_schema":
            return _same_steps(_steps(one), _steps(other))
        case "failure_playbook":
            recoveries = [_texts(content.get("recovery_steps"))[:1] for content in (one, other)]
            same_failure = _alike(one.get("failure_pattern"), other.get("failure_pattern"))
            return same_failure and _same_steps(*recoveries)
        case _:
            return False


def _same_steps(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == len(other) > 0 and all(map(_alike, one, other))


def _alike(one: Any, other: Any) -> bool:
    left, right = terms(str(one or "")), terms(str(other or ""))
    return bool(left) and jaccard(left, right) >= ALIKE


def _steps(content: Mapping[str, Any]) -> list[str]:
    steps = content.get("steps")
    parts: Iterable[Any] = steps if isinstance(steps, list) else ()
    return [str(step.get("description")) for step in parts if isinstance(step, Mapping)]


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
