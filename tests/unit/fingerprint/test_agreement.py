"""When two artifacts say the same, so that one speaks for the other."""

import pytest

from hmxgraph.fingerprint.agreement import agree
from tests.unit.fingerprint.states import cause_content, playbook_content, policy_content, task_content

CASES = [
    ("decision_policy", policy_content("Tables over 1 GB"), policy_content("tables above 1 GB"), True),
    ("decision_policy", policy_content(), policy_content(recommendation="Never migrate online"), False),
    ("decision_policy", policy_content("small tables"), policy_content("Friday evening"), False),
    ("task_schema", task_content(("Validate the manifest",)), task_content(("validate manifest!",)), True),
    ("task_schema", task_content(("Validate", "Apply")), task_content(("Apply", "Validate")), False),
    ("task_schema", task_content(("Validate",)), task_content(("Validate", "Apply")), False),
    ("task_schema", {"steps": "none"}, {"steps": "none"}, False),
    ("failure_playbook", playbook_content(), playbook_content(), True),
    ("failure_playbook", playbook_content(), playbook_content(recovery=("Roll back",)), False),
    ("causal_pattern", cause_content(), cause_content(), False),
]


@pytest.mark.parametrize(("kind", "one", "other", "same"), CASES)
def test_agreement(kind, one, other, same):
    """The same condition and answer, steps in order, or failure and way out agree; anything else does not."""
    assert agree(kind, one, other) is same
    assert agree(kind, other, one) is same
