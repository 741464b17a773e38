"""Priors: learned from reports on packs, with defaults if there are none."""

from hmxgraph.fingerprint.sections import context_priors, section_weights
from hmxgraph.fingerprint.state import ServedPack


def pack(pack_id, signal, tokens, artifacts=(), tags=(), budget=2048):
    """A reported pack."""
    return ServedPack(pack_id, signal, budget, tokens, tuple(artifacts), tuple(tags))


def test_without_reports_the_stored_knowledge_speaks():
    """The heaviest artifacts and tags come first, and no section is preferred."""
    priors = context_priors([], {"deploy": 5.0, "cache": 9.0}, ["a", "b"], 1)
    assert priors == {
        "preferred_sections": [],
        "section_weights": {},
        "default_token_budget": 4096,
        "priority_artifact_ids": ["a", "b"],
        "priority_tags": ["cache"],
        "suppressed_tags": [],
    }


def test_liked_sections_gain_and_disliked_ones_lose():
    """A section's weight is above 1 if packs with much of it helped, below 1 if they hindered."""
    weights = section_weights(
        [pack("1", "positive", {"procedures": 80, "facts": 20}), pack("2", "negative", {"episodes": 100})]
    )
    assert weights == {"episodes": 0.666667, "facts": 1.090909, "procedures": 1.285714}


def test_artifacts_and_tags_are_judged_by_their_packs():
    """Liked artifacts and tags come first, disliked ones are dropped or suppressed; the budget is the median."""
    served = [
        pack("1", "positive", {"facts": 1}, ["b"], ["deploy"], 1000),
        pack("2", "negative", {"facts": 1}, ["a"], ["cache", "deploy"], 9000),
        pack("3", "neutral", {"facts": 1}, ["c"], ["queue"], 3000),
        pack("4", "correction", {}, ["a"], ["cache"]),
    ]
    priors = context_priors(served, {"queue": 1.0}, ["a", "b", "c"], 5)
    assert priors["priority_artifact_ids"] == ["b", "c"]
    assert priors["priority_tags"] == ["deploy"]
    assert priors["suppressed_tags"] == ["cache"]
    assert priors["default_token_budget"] == 1000


def test_the_usual_budget_counts_packs_that_nobody_disliked():
    """The budget is the median of packs without negative feedback; neutral ones count."""
    served = [pack("1", "positive", {}, budget=1000), pack("2", "neutral", {}, budget=2000)]
    assert context_priors([*served, pack("3", "neutral", {}, budget=3000)], {}, [], 5)["default_token_budget"] == 2000
