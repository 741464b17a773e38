"""What of an artifact a prompt gets."""

from hmxgraph.recall.briefing import brief


def test_a_policy_alone_stands_once():
    """A policy without other ways is one line, and nothing of its archive text comes along."""
    content = {
        "condition": "the work begins",
        "recommendation": "Run kubectl apply",
        "alternatives": [],
        "outcomes": [],
        "scope": ["kubectl", "psql"],
    }
    text = "When the work begins\nWhen the work begins: Run kubectl apply\nScope: kubectl; psql"
    assert brief("decision_policy", "When the work begins", text, content) == "When the work begins: Run kubectl apply"
    assert brief("decision_policy", "t", text, {**content, "condition": "When in doubt"}) == (
        "When in doubt: Run kubectl apply"
    )


def test_what_says_nothing_in_short_is_told_whole():
    """Without a recommendation, or steps, the text of the archive has to do."""
    for artifact_type in ("decision_policy", "task_schema", "failure_playbook"):
        assert brief(artifact_type, "title", "whole text", {}) == "whole text"
