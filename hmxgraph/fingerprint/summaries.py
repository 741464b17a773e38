"""Summaries of artifacts, by type (HMX-F 3)."""

from collections.abc import Mapping
from typing import Any

from hmxgraph.fingerprint._texts import LONGEST_TITLE
from hmxgraph.fingerprint.state import ExportedArtifact
from hmxgraph.protocol.display import truncate
from hmxgraph.text.lines import question_in

# A fingerprint has three sets of summaries, one for each of these artifact types, and a set of cluster summaries.
POLICIES, TASKS, PLAYBOOKS, CLUSTERS = "policy_set", "task_schema_set", "playbook_set", "cluster_summaries"
SET_OF_TYPE = {"decision_policy": POLICIES, "task_schema": TASKS, "failure_playbook": PLAYBOOKS}
# For each set, the field of a summary that counts observations.
COUNTS = {POLICIES: "outcome_count", TASKS: "observed_count", PLAYBOOKS: "occurrence_count"}
_COMPLEXITIES = ("low", "medium", "high")
_SEVERITIES = ("low", "medium", "high", "critical")


def summary(artifact: ExportedArtifact, content: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of an artifact whose type is in `SET_OF_TYPE`; values of the wrong type in *content* are ignored.

    >>> content = {"condition": "table > 1 GB", "recommendation": "migrate online", "scope": ["database"]}
    >>> policy = ExportedArtifact("a", "decision_policy", "Migrate", "00", 0.9, 8, 1.0, ("db",))
    >>> summary(policy, content)["outcome_count"]
    8

    """
    by_type = {"decision_policy": _policy, "task_schema": _task_schema, "failure_playbook": _playbook}
    fields = by_type[artifact.artifact_type](artifact, content)
    return {"artifact_id": artifact.artifact_id, "tags": list(artifact.tags), **fields}


def _policy(artifact: ExportedArtifact, content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "condition": _text(content, "condition"),
        "recommendation": _text(content, "recommendation"),
        "scope": _texts(content, "scope"),
        "confidence": round(artifact.confidence, 6),
        "outcome_count": artifact.observed_count or len(_parts(content, "outcomes")),
    }


def _task_schema(artifact: ExportedArtifact, content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": artifact.title,
        "steps": [_text(step, "description") for step in _parts(content, "steps")],
        "tools_used": _texts(content, "tools_used"),
        "preconditions": _texts(content, "preconditions"),
        "postconditions": _texts(content, "postconditions"),
        "complexity": _choice(content, "estimated_complexity", _COMPLEXITIES),
        "success_rate": round(artifact.success_rate, 6),
        "observed_count": artifact.observed_count,
        "confidence": round(artifact.confidence, 6),
    }


def _playbook(artifact: ExportedArtifact, content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": artifact.title,
        "failure_pattern": _text(content, "failure_pattern"),
        "trigger_conditions": _texts(content, "trigger_conditions"),
        "recovery_steps": _texts(content, "recovery_steps"),
        "prevention_strategies": _texts(content, "prevention_strategies"),
        "severity": _choice(content, "severity", _SEVERITIES),
        "occurrence_count": artifact.observed_count,
        "confidence": round(artifact.confidence, 6),
    }


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    return value if isinstance(value, str) else ""


def _texts(content: Mapping[str, Any], name: str) -> list[str]:
    return [value for value in _listed(content, name) if isinstance(value, str)]


def _parts(content: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [value for value in _listed(content, name) if isinstance(value, Mapping)]


def _listed(content: Mapping[str, Any], name: str) -> list[Any]:
    # Contents are not validated against their type: skip values that are not lists.
    value = content.get(name)
    return list(value) if isinstance(value, list | tuple) else []


def _choice(content: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    # Required in a summary but optional in content: default to the middle of the scale.
    value = content.get(name)
    return value if value in choices else "medium"


def policy_title(condition: str) -> str:
    """A title for an imported policy, made from its *condition*, because summaries of policies have no title.

    >>> policy_title("the work begins"), policy_title("the question is “Which plan?”")
    ('When the work begins', 'Decide: Which plan?')
    """
    if question := question_in(condition):
        return truncate(f"Decide: {question}", LONGEST_TITLE)
    is_clause = condition.lower().startswith(("when ", "whenever ", "if "))
    return truncate(condition if is_clause else f"When {condition}", LONGEST_TITLE)
