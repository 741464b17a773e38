"""Generation in eleven steps: the content of a fingerprint, its order and its maximum size."""

import random

import pytest

from hmxgraph.errors import UnknownChoice
from hmxgraph.fingerprint.behaviour import Behaviour
from hmxgraph.fingerprint.depth import Depth
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.groups import clusters
from hmxgraph.fingerprint.measures import digest_of
from hmxgraph.fingerprint.state import TIERS, ExportOptions, PrivateName
from hmxgraph.protocol.fingerprints import Fingerprint
from tests.unit.fingerprint.states import (
    STATE,
    artifact,
    drawn,
    envelope,
    known,
    other_fields,
    policy_content,
    small,
    task_content,
)


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(("count", "long"), [(0, 8), (40, 8), (400, 12), (400, 300)])
def test_every_tier_keeps_its_limits(tier, count, long):
    """For any state, the envelope is a valid fingerprint within the size of its tier."""
    made = generate(drawn(count, count, tier, long), ExportOptions(tier=tier))
    assert len(made.to_json().encode()) <= TIERS[tier].most_bytes
    assert Fingerprint.faults(made.fingerprint) == ()
    assert made.hash_matches
    assert Fingerprint.parse(made.fingerprint).hash_matches


def test_a_tier_is_filled():
    """If more is known than fits, nearly all bytes are used."""
    made = generate(drawn(1, 900, "full", 60), ExportOptions())
    assert len(made.to_json().encode()) > 0.97 * TIERS["full"].most_bytes


@pytest.mark.parametrize("tier", TIERS)
def test_same_state_same_bytes_in_any_order(tier):
    """The order of artifacts and memories does not affect the bytes."""
    artifacts = [
        artifact(number, "decision_policy", f"Rule {number % 7}", policy_content(f"case {number}"), tags=("a", "b"))
        for number in range(150)
    ]
    shuffled = random.Random(3).sample(artifacts, len(artifacts))
    options = ExportOptions(tier=tier)
    in_order, reordered = (
        generate(known(order, tier, **other_fields(random.Random(1))), options).to_json()
        for order in (artifacts, shuffled)
    )
    assert in_order == reordered


def test_what_each_tier_contains():
    """The full tier contains everything, compact no hubs, minimal no single artifact (HMX-F 8)."""
    full, compact, minimal = (
        generate(drawn(5, 300, tier), ExportOptions(tier=tier)).fingerprint for tier in ("full", "compact", "minimal")
    )
    sizes = [
        [len(fingerprint["artifact_summaries"][name]) for name in ("policy_set", "task_schema_set", "playbook_set")]
        for fingerprint in (full, compact, minimal)
    ]
    assert min(sizes[0]) > 20
    assert sizes[1:] == [[20, 20, 20], [0, 0, 0]]
    assert full["graph_digest"]["top_connected_entities"]
    assert compact["graph_digest"]["top_connected_entities"] == []
    assert minimal["artifact_summaries"]["cluster_summaries"]
    assert minimal["context_priors"]["priority_artifact_ids"] == []
    assert minimal["compiler_state"]["adapted_parameters"] == []
    assert full["compiler_state"] == STATE


def test_the_heaviest_stay():
    """If not all fit, confidence times observations decides (HMX-F 8, rule 3)."""
    artifacts = [
        artifact(number, "task_schema", f"Task {number}", task_content((f"step {number}",)), observed_count=number)
        for number in range(130)
    ]
    made = generate(known(artifacts), ExportOptions()).fingerprint
    kept = [summary["observed_count"] for summary in made["artifact_summaries"]["task_schema_set"]]
    assert sorted(kept) == list(range(30, 130))
    assert made["metadata"]["left_out"]["task_schema_set"] == 30


def test_equal_contents_are_exported_once():
    """Artifacts with the same content are collapsed into the heaviest (HMX-F 8, rule 1)."""
    twins = [
        artifact(1, "decision_policy", "Rule", policy_content(), observed_count=3),
        artifact(2, "decision_policy", "Rule", policy_content(), observed_count=7),
    ]
    made = generate(known(twins), ExportOptions()).fingerprint
    assert [policy["artifact_id"] for policy in made["artifact_summaries"]["policy_set"]] == ["art-00002"]
    assert made["source_artifact_count"] == 1


def test_sets_are_in_the_order_of_ids():
    """Artifact summaries are sorted by artifact_id, entities by name (HMX-F 11)."""
    made = generate(drawn(7, 200), ExportOptions()).fingerprint
    for name in ("policy_set", "task_schema_set", "playbook_set"):
        ids = [summary["artifact_id"] for summary in made["artifact_summaries"][name]]
        assert ids == sorted(ids)
    names = [hub["name"] for hub in made["graph_digest"]["top_connected_entities"]]
    assert names == sorted(names)


def test_only_allowed_types_are_named():
    """Hubs, tools and error types are named only if their type is public, and private names are masked in texts."""
    steps = ("Ask Ann Berg for approval", "Read /srv/app/config.yaml", "Verify")
    state = known(
        [artifact(1, "task_schema", "Release with Ann Berg", task_content(steps))],
        private_names=(PrivateName("person", "Ann Berg"), PrivateName("file", "/srv/app/config.yaml")),
        **other_fields(random.Random(2)),
    )
    fingerprint = generate(state, ExportOptions()).fingerprint
    summary = fingerprint["artifact_summaries"]["task_schema_set"][0]
    assert summary["title"] == "Release with [person]"
    assert summary["steps"] == ["Ask [person] for approval", "Read [file]", "Verify"]
    assert {hub["type"] for hub in fingerprint["graph_digest"]["top_connected_entities"]} == {"tool"}
    silent = generate(state, ExportOptions(public_types=())).fingerprint
    assert silent["graph_digest"]["top_connected_entities"] == []
    assert silent["behavioral_patterns"]["tool_usage"]["tool_frequency"] == {}
    assert silent["behavioral_patterns"]["error_patterns"]["common_error_types"] == {}
    assert silent["artifact_summaries"]["task_schema_set"][0]["tools_used"] == []


def typed(entities, relations=()):
    """A digest with these counts of entities and relations by type."""
    return digest_of(
        [{"type": name, "entity_count": count, "confidence_millionths": 0} for name, count in entities],
        [{"relation_type": name, "relation_count": count, "weight_millionths": 0} for name, count in relations],
        [],
        Depth(0, exact=True),
    )


@pytest.mark.parametrize("tier", TIERS)
def test_a_private_type_is_counted_under_other(tier):
    """Types are words; a secret or sentence in place of one is not exported in any tier."""
    counts = [
        ("tool", 3),
        ("gene-variant", 2),
        ("patient annabel@acme.com HIV", 4),
        ("annabel@acme.com", 1),
        ("other", 1),
    ]
    made = generate(
        small(tier, digest=typed(counts, [("uses", 2), ("is owed by Ann Lee", 5)])), ExportOptions(tier=tier)
    )
    digest = made.fingerprint["graph_digest"]
    assert digest["entity_type_distribution"] == {"gene-variant": 2, "other": 6, "tool": 3}
    assert digest["relation_type_distribution"] == {"other": 5, "uses": 2}
    assert digest["entity_count"] == 11


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("word", ["rollout_", "\u6771"])
def test_no_number_of_names_makes_it_too_large(tier, word):
    """With thousands of long names, the fingerprint stays within its tier and keeps the most frequent ones."""
    names = [f"{(word * 58)[:58]}{number:04}" for number in range(3_000)]
    counts = {name: number + 1 for number, name in enumerate(names)}
    state = small(
        tier,
        digest=typed(counts.items(), counts.items()),
        behaviour=Behaviour(tools=counts, error_types=counts, decision_domains=counts),
    )
    made = generate(state, ExportOptions(tier=tier))
    assert len(made.to_json().encode()) <= TIERS[tier].most_bytes
    distribution = made.fingerprint["graph_digest"]["entity_type_distribution"]
    assert sum(distribution.values()) == sum(counts.values())
    assert names[-1] in distribution
    assert 1 < len(distribution) <= TIERS[tier].names + 1


def test_behaviour_uses_the_units_of_the_specification():
    """Sessions in seconds, recoveries in milliseconds, rates as shares (HMX-F 4)."""
    patterns = generate(drawn(1, 5), ExportOptions()).fingerprint["behavioral_patterns"]
    assert patterns["session_patterns"] == {
        "avg_session_length": 750.0,
        "avg_events_per_session": 33.333333,
        "total_sessions": 12,
    }
    assert patterns["error_patterns"]["recovery_rate"] == 0.75
    assert patterns["error_patterns"]["avg_recovery_time_ms"] == 3000.0
    assert patterns["tool_usage"]["avg_success_rate"] == 0.862069
    assert patterns["decision_patterns"]["avg_confidence"] == 0.75
    assert patterns["decision_patterns"]["correction_rate"] == 0.222222


def test_an_unknown_tier_is_refused():
    """The tiers are a closed list."""
    with pytest.raises(UnknownChoice, match="compression tier 'huge'"):
        generate(small(), ExportOptions(tier="huge"))


def test_nothing_known_is_a_fingerprint_too():
    """An empty tenant has a valid fingerprint."""
    made = generate(known([]), ExportOptions())
    assert Fingerprint.faults(made.fingerprint) == ()
    assert made.fingerprint["context_priors"]["default_token_budget"] == 4096


def test_optional_fields_are_exported_where_given():
    """Agent, tags and expiry are exported if the caller passes them, and are not part of the hash."""
    plain = envelope().fingerprint
    named = generate(
        small(), ExportOptions(agent_id="a", tags=("x", "a"), expires_us=1_800_000_000_000_000)
    ).fingerprint
    assert (named["agent_id"], named["tags"], named["expires_at"]) == ("a", ["a", "x"], "2027-01-15T08:00:00.000Z")
    assert named["fingerprint_hash"] == plain["fingerprint_hash"]
    assert "agent_id" not in plain


def test_a_cluster_has_a_tag_in_common():
    """Artifacts with one title are related only if they share a tag."""

    def tagged(number, *tags):
        return artifact(number, "task_schema", "Deploy to staging", task_content((f"Step {number}",)), tags=tags)[0]

    shared = [tagged(1, "ops", "a", "b"), tagged(2, "ops", "c", "d")]
    assert len(clusters(shared)) == 1
    assert len(clusters([tagged(1, "ops"), tagged(2, "web")])) == 2
