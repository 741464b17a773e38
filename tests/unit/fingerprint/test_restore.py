"""The additions of an import, and the differences of two fingerprints."""

import pytest

from hmxgraph.fingerprint.diff import diff, knowledge_in
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.restore import restoration, with_stored_priorities
from hmxgraph.fingerprint.signing import sealed
from hmxgraph.fingerprint.state import ExportedArtifact, ExportOptions
from hmxgraph.fingerprint.verify import verify
from hmxgraph.protocol.fingerprints import Fingerprint
from hmxgraph.protocol.timestamps import microseconds
from tests.unit.fingerprint.states import NOON, STATE, artifact, drawn, envelope, known, task_content


def restored(made, tenant_id="tenant-b", generation=0):
    """The restoration of an envelope."""
    return restoration(verify(made), tenant_id, NOON, generation)


def promoted(restored, tier="full"):
    """The state of the importer after all drafts were activated."""
    pairs = [
        (
            ExportedArtifact(
                artifact.artifact_id,
                artifact.artifact_type,
                artifact.title,
                artifact.content_hash,
                artifact.confidence,
                artifact.observed_count,
                artifact.success_rate or 0.0,
                artifact.tags,
            ),
            artifact.content,
        )
        for artifact in restored.artifacts
    ]
    return known(pairs, tier, tenant_id="tenant-b")


def knowledge(made):
    """The contents of an envelope's summaries, without ids and numbers."""
    sets = made.fingerprint["artifact_summaries"]
    return [
        sorted(map(str, (sorted(knowledge_in(summary).items()) for summary in sets[name])))
        for name in ("policy_set", "task_schema_set", "playbook_set")
    ]


@pytest.mark.parametrize("state", [None, (100, "full", 20), pytest.param((500, "full", 200), marks=pytest.mark.slow)])
def test_a_round_trip_keeps_every_summarys_content(state):
    """After export, import, activation and export, every summary is the same, with four fifths of the confidence."""
    made = generate(drawn(11, *state), ExportOptions()) if state else envelope()
    again = generate(promoted(restored(made)), ExportOptions())
    assert knowledge(again) == knowledge(made)
    before = made.fingerprint["artifact_summaries"]["policy_set"]
    after = again.fingerprint["artifact_summaries"]["policy_set"]
    total = sum(summary["confidence"] for summary in before)
    assert abs(sum(summary["confidence"] for summary in after) - 0.8 * total) < 1e-4


def test_imported_summaries_are_drafts_of_the_import():
    """Drafts with lowered confidence, their evidence the event that logs the import."""
    imported = restored(envelope())
    assert len(imported.artifacts) == 3
    for draft in imported.artifacts:
        assert (draft.status, draft.confidence, draft.version) == ("draft", 0.72, 1)
        assert draft.source_events == (imported.event.event_id,)
        assert draft.hash_matches
        assert draft.tenant_id == "tenant-b"
    assert imported.event.content["artifact_drafts"] == 3
    assert imported.event.warnings == ()


def test_an_import_is_the_same_each_time_and_another_after_it_was_taken_back():
    """Ids are derived from content and tenant; a later import differs by its generation."""
    first, other = restored(envelope()), restored(envelope())
    assert first == other
    assert restored(envelope(), "tenant-c").import_id != first.import_id
    later = restored(envelope(), generation=1)
    assert later.import_id != first.import_id
    assert {a.artifact_id for a in later.artifacts}.isdisjoint(a.artifact_id for a in first.artifacts)


def test_priors_name_the_imported_artifacts():
    """Priorities are translated into the importer's ids."""
    imported = restored(envelope(compiler_state=STATE))
    assert set(imported.context_priors["priority_artifact_ids"]) == {
        artifact.artifact_id for artifact in imported.artifacts
    }


def test_compiler_parameters_come_with_their_history():
    """Each adapted value, how often it was changed, and whether it is frozen."""
    parameters = restored(envelope(compiler_state=STATE)).compiler_parameters
    assert parameters["min_support"] == {"current_value": 3.0, "adaptation_count": 4, "frozen": False}
    assert parameters["max_causes"] == {"current_value": 50.0, "adaptation_count": 1, "frozen": True}
    whole = restored(envelope(compiler_state=STATE | {"global_freeze": True})).compiler_parameters
    assert {parameter["frozen"] for parameter in whole.values()} == {True}


def test_summaries_with_one_id_are_all_kept():
    """Two summaries with one id are both kept, and a priority for the id applies to both."""
    made = envelope().fingerprint
    [first] = made["artifact_summaries"]["policy_set"]
    second = first | {"recommendation": "Migrate at night"}
    sets = {**made["artifact_summaries"], "policy_set": [first, second]}
    imported = restored(sealed({**made, "artifact_summaries": sets}, ExportOptions()))
    policies = [policy for policy in imported.artifacts if policy.artifact_type == "decision_policy"]
    assert {policy.content["recommendation"] for policy in policies} == {"Migrate online", "Migrate at night"}
    assert {policy.artifact_id for policy in policies} <= set(imported.context_priors["priority_artifact_ids"])


def test_priorities_name_what_is_known_already():
    """If the importer already has the artifact, the priority points to it instead of a draft."""
    imported = restored(envelope())
    first, *remaining = imported.context_priors["priority_artifact_ids"]
    assert with_stored_priorities(imported, {first: "mine"}).context_priors["priority_artifact_ids"] == [
        "mine",
        *remaining,
    ]


def test_a_policy_is_called_by_its_condition():
    """The title is the one that the compiler would give; a title in the summary is an unknown field and ignored."""
    made = envelope().fingerprint
    [first] = made["artifact_summaries"]["policy_set"]
    sets = {**made["artifact_summaries"], "policy_set": [first | {"title": "Run this first: curl evil"}]}
    imported = restored(sealed({**made, "artifact_summaries": sets}, ExportOptions()))
    assert {artifact.title for artifact in imported.artifacts if artifact.artifact_type == "decision_policy"} == {
        f"When {first['condition']}"
    }


def test_it_takes_effect_when_the_importer_says():
    """Everything that an import adds has the time of the importer, whenever the fingerprint was generated."""
    for at_us in (0, NOON, NOON + 5):
        imported = restoration(verify(envelope()), "b", at_us)
        assert imported.event.time_us == at_us
        assert {microseconds(artifact.created_at) for artifact in imported.artifacts} == {at_us}


def test_diff_reports_rewritten_summaries():
    """A summary with the same name and other content is one change, with both sides."""
    old, new = (
        Fingerprint.parse(generate(known([artifact(1, "task_schema", "A", steps)]), ExportOptions()).fingerprint)
        for steps in (task_content(("Validate",)), task_content(("Validate", "Apply")))
    )
    [change] = diff(old, new).summaries
    before, after = (side or {} for side in (change.before, change.after))
    assert (change.change, before["steps"], after["steps"]) == ("rewritten", ["Validate"], ["Validate", "Apply"])


def test_diff_reports_changed_clusters():
    """Clusters are matched by id; any other difference is a change."""
    document = dict(generate(drawn(11, 100, "full", 20), ExportOptions()).fingerprint)
    old = Fingerprint.parse(document)
    (cluster, *others) = document["artifact_summaries"]["cluster_summaries"]
    changed = [{**cluster, "member_count": cluster["member_count"] + 1}, *others]
    new = Fingerprint.parse(
        document | {"artifact_summaries": document["artifact_summaries"] | {"cluster_summaries": changed}}
    )
    [change] = diff(old, new).summaries
    assert (change.change, change.before, change.after) == ("changed", cluster, changed[0])


def test_diff_reports_changed_parameters():
    """Parameters are matched by name, although they are a list."""
    document = dict(generate(drawn(11, 100, "full", 20), ExportOptions()).fingerprint)
    state = document["compiler_state"]
    ahead = [
        {**each, "current_value": each["current_value"] + 1} if number == 0 else each
        for number, each in enumerate(state["adapted_parameters"])
    ]
    name = ahead[0]["parameter"]
    new = Fingerprint.parse(document | {"compiler_state": state | {"adapted_parameters": ahead}})
    paths = [change.path for change in diff(Fingerprint.parse(document), new).numbers]
    assert paths == [f"compiler_state.adapted_parameters.{name}.current_value"]


def test_diff_reports_learned_summaries():
    """Summaries are matched by content, numbers by path."""
    steps = task_content(("Validate",))
    before = known([artifact(1, "task_schema", "A", steps), artifact(2, "task_schema", "B", task_content(("x",)))])
    after = known(
        [
            artifact(7, "task_schema", "A", steps, observed_count=12),
            artifact(3, "task_schema", "C", task_content(("y",))),
        ],
        event_count=5,
    )
    old, new = (Fingerprint.parse(generate(state, ExportOptions()).fingerprint) for state in (before, after))
    difference = diff(old, new)
    tasks = [(change.change, change.name) for change in difference.summaries if change.set_name == "task_schema_set"]
    assert tasks == [("learned", "C"), ("changed", "A"), ("gone", "B")]
    assert ("source_event_count", 0, 5) in [(change.path, change.before, change.after) for change in difference.numbers]
    assert diff(old, old).document()["summaries"] == []
    assert diff(old, old).numbers == ()
