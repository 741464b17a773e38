"""Texts cleaned for export, entries fitted into limits, groups of related artifacts."""

from hmxgraph.fingerprint._texts import Disclosure
from hmxgraph.fingerprint.generate import canonical_size, chosen, fitted
from hmxgraph.fingerprint.groups import cluster_summary, clusters
from hmxgraph.fingerprint.state import PrivateName
from tests.unit.fingerprint.states import artifact, cause_content


def test_a_name_that_is_also_a_word_is_matched_by_case():
    """Will is a person and will a word; names of several words match in any case."""
    names = [PrivateName("person", "Will"), PrivateName("host", "db.internal")]
    clean = Disclosure(["Will will ask DB.Internal"], names)
    assert clean.text("Will will ask DB.Internal, willing") == "[person] will ask [host], willing"


def test_the_longest_name_wins_and_short_ones_are_left():
    """A name inside a longer one is not matched; names under three characters would match everywhere."""
    names = [PrivateName("person", "Ann"), PrivateName("person", "Ann Berg"), PrivateName("id", "ok")]
    clean = Disclosure(["Ann Berg and Ann say ok"], names)
    assert clean.text("Ann Berg and Ann say ok") == "[person] and [person] say ok"


def test_names_that_become_the_same_are_added_up():
    """Two tools whose cleaned names are equal are counted together."""
    counts = Disclosure([]).names({"run --password=a1b2c3": 2, "run --password=d4e5f6": 3})
    assert counts == {"run --password=[password]": 5}


def test_cleaning_twice_changes_nothing():
    """An exported text is exported again unchanged."""
    clean = Disclosure([])
    text = "curl -H 'Authorization: Bearer abcdef123456'\n\x00 password: hunter2 ann@example.com"
    assert clean.text(clean.text(text)) == clean.text(text)


def test_an_entry_that_cannot_fit_is_left_out():
    """Ids are never cut, so an entry with an endless id is dropped and smaller ones follow."""
    endless = fitted({"artifact_id": "x" * 500, "title": "t"}, 100)
    assert endless["artifact_id"] == "x" * 500
    assert chosen({"a": [endless, {"artifact_id": "y"}]}, 100) == {"a": [{"artifact_id": "y"}]}


def test_a_long_entry_is_shortened_until_it_fits():
    """Texts and lists are halved until the bytes fit, in any script."""
    entry = {"artifact_id": "a", "steps": ["ш" * 5_000] * 200}
    assert canonical_size(fitted(entry, 2_000)) <= 2_000


def test_groups_are_chains_of_likeness():
    """Half the tags, or one tag and half the title: a chain of such pairs is one group."""
    pairs = [
        artifact(1, "causal_pattern", "Deploy slows requests", cause_content("a"), tags=("deploy", "web")),
        artifact(2, "causal_pattern", "Something else", cause_content("b"), tags=("deploy", "web", "night")),
        artifact(3, "task_schema", "Something else again", cause_content("c"), tags=("night", "x", "y", "z")),
        artifact(4, "task_schema", "Alone", cause_content("d"), tags=()),
        artifact(5, "task_schema", "Alone", cause_content("e"), tags=()),
    ]
    groups = clusters([artifact for artifact, _ in pairs])
    assert [[artifact.artifact_id[-1] for artifact in group] for group in groups] == [["1", "2", "3"], ["4"], ["5"]]
    summary = cluster_summary(groups[0])
    assert (summary["dominant_type"], summary["member_count"]) == ("causal_pattern", 3)
    assert summary["shared_tags"] == []
    assert summary["total_observations"] == 30
