"""What must not travel does not."""

import pytest

from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.options import TIERS, ExportOptions
from tests.unit.fingerprint.planted import secrets, state


@pytest.mark.parametrize("tier", TIERS)
def test_of_a_thousand_planted_secrets_none_travels(tier):
    """Secrets in titles, steps, conditions, tags, names of tools, errors, entities and domains are all masked."""
    planted = secrets()
    made = generate(state([sentence for _, sentence in planted], tier), ExportOptions(tier=tier)).to_json()
    assert len(planted) == 1_000
    assert [secret for secret, _ in planted if secret in made] == []


def test_the_test_can_fail():
    """An unmasked word of the same texts is found."""
    planted = secrets()
    made = generate(state([sentence for _, sentence in planted], "full"), ExportOptions()).to_json()
    assert "export DB_PASSWORD=[password]" in made
