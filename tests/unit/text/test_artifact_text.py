"""Artifacts as readable text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.text.artifacts import artifact_words, render_artifact

SCHEMA = {
    "steps": [
        {"order": 1, "description": "Validate the manifest", "tools_used": ["kubectl"], "optional": False},
        {"order": 2, "description": "Run smoke tests", "tools_used": ["curl", "jest"], "optional": True},
        {"order": 3, "description": "Tell the team"},
    ],
    "preconditions": ["kubeconfig configured", "namespace exists"],
    "postconditions": ["pods running"],
}
PLAYBOOK = {
    "failure_pattern": "Rollout stuck",
    "trigger_conditions": ["deploy"],
    "symptoms": ["CrashLoopBackOff", "timeouts"],
    "recovery_steps": ["Roll back", "Read the logs"],
    "prevention_strategies": ["Probe first"],
    "severity": "high",
}
POLICY = {
    "condition": "table > 1GB",
    "recommendation": "go online",
    "alternatives": [
        {"description": "Direct ALTER", "outcome": "downtime", "chosen_count": 3, "success_rate": 0.33},
        {"description": "Wait"},
    ],
    "scope": ["database"],
}
PATTERN = {"cause": "a", "effect": "b", "direction": "bidirectional", "strength": 0.5, "counterexamples": ["c"]}
STRATEGY = {
    "goal": "Ship",
    "phases": [
        {"order": 1, "name": "Plan", "description": "Think", "tools_used": ["pen"], "success_criteria": ["a plan"]},
        {"order": 2, "name": "Do", "description": "Work"},
    ],
    "applicability_conditions": ["small team"],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
TYPES = ("task_schema", "failure_playbook", "decision_policy", "causal_pattern", "strategy_template", "x-acme-note")
NAMES = ("steps", "phases", "alternatives", "condition", "cause", "goal", "strength", "severity", "symptoms")


@pytest.mark.parametrize(
    ("artifact_type", "content", "expected"),
    [
        (
            "task_schema",
            SCHEMA,
            [
                "Before: kubeconfig configured; namespace exists",
                "1. Validate the manifest (kubectl)",
                "2. Run smoke tests (curl, jest, optional)",
                "3. Tell the team",
                "After: pods running",
            ],
        ),
        (
            "failure_playbook",
            PLAYBOOK,
            [
                "Failure (high): Rollout stuck",
                "Triggers: deploy",
                "Symptoms: CrashLoopBackOff; timeouts",
                "Recover 1. Roll back",
                "Recover 2. Read the logs",
                "Prevent: Probe first",
            ],
        ),
        (
            "decision_policy",
            POLICY,
            [
                "When table > 1GB: go online",
                "Instead of: Direct ALTER (downtime, 33% of 3)",
                "Instead of: Wait",
                "Scope: database",
            ],
        ),
        ("causal_pattern", PATTERN, ["a <-> b (strength 0.5)", "Counterexamples: c"]),
        (
            "strategy_template",
            STRATEGY,
            ["Goal: Ship", "Applies: small team", "1. Plan: Think (pen)", "Done when: a plan", "2. Do: Work"],
        ),
        ("x-acme-note", {"b": ["x", {"z": "y"}], "a": 5, "c": "w"}, ["b: x; y", "c: w"]),
        ("task_schema", {"steps": "none"}, ["steps: none"]),
    ],
)
def test_each_type_reads_like_an_instruction(artifact_type, content, expected):
    """The text has title and summary, then a line per fact."""
    assert render_artifact(artifact_type, "Title", "Summary", content).splitlines() == ["Title", "Summary", *expected]


def test_a_summary_that_repeats_the_title_is_left_out():
    """Repeated and empty lines are left out."""
    assert render_artifact("x-acme-note", "Title", " Title ", {}) == "Title"
    assert render_artifact("x-acme-note", "Title", "", {}) == "Title"


@given(st.sampled_from(TYPES), st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4))
def test_any_content_can_be_rendered(artifact_type, content):
    """Any JSON content has a text, which does not depend on the order of keys."""
    text = render_artifact(artifact_type, "Title", "Summary", content)
    assert text.startswith("Title\nSummary")
    turned = json.loads(json.dumps(dict(reversed(content.items()))))
    assert render_artifact(artifact_type, "Title", "Summary", turned) == text


def test_every_word_can_be_found():
    """The searchable text contains all texts of the content, and the tags."""
    words = artifact_words("Title", "Summary", SCHEMA, ("k8s",))
    assert words.startswith("Title Summary")
    assert {"pods running", "Validate the manifest", "jest", "k8s"} == {
        part for part in ("pods running", "Validate the manifest", "jest", "k8s") if part in words
    }
