"""What an import adds, and what two fingerprints differ in."""

from hmxgraph.fingerprint.diff import diff, statement
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.restore import restoration, with_stored_priorities
from hmxgraph.fingerprint.signing import sealed
from hmxgraph.fingerprint.state import ExportedArtifact, ExportOptions
from hmxgraph.fingerprint.verify import verify
from hmxgraph.protocol.fingerprints import Fingerprint
from hmxgraph.protocol.timestamps import microseconds
from tests.unit.fingerprint.states import NOON, STATE, artifact, drawn, envelope, known, task_content


def restored(made, tenant_id="tenant-b", generation=0):
    """What importing an envelope adds."""
    return restoration(verify(made), tenant_id, NOON, generation)


def promoted(found, tier="full"):
    """The state of the importer once all drafts were made active."""
    pairs = [
        (
            ExportedArtifact(
                one.artifact_id,
                one.artifact_type,
                one.title,
                one.content_hash,
                one.confidence,
                one.observed_count,
                one.success_rate or 0.0,
                one.tags,
            ),
            one.content,
        )
        for one in found.artifacts
    ]
    return known(pairs, tier, tenant_id="tenant-b")


def knowledge(made):
    """What the summaries of an envelope say, without ids and numbers."""
    sets = made.fingerprint["artifact_summaries"]
    return [
        sorted(map(str, (sorted(statement(one).items()) for one in sets[name])))
        for name in ("policy_set", "task_schema_set", "playbook_set")
    ]


def test_a_round_trip_keeps_every_summarys_content():
    """Export, import, promote, export again: every summary says the same, with four fifths of the confidence."""
    for made in (envelope(), generate(drawn(11, 500, "full", 200), ExportOptions())):
        again = generate(promoted(restored(made)), ExportOptions())
        assert knowledge(again) == knowledge(made)
    before = made.fingerprint["artifact_summaries"]["policy_set"]
    after = again.fingerprint["artifact_summaries"]["policy_set"]
    total = sum(one["confidence"] for one in before)
    assert abs(sum(one["confidence"] for one in after) - 0.8 * total) < 1e-4


def test_imported_summaries_are_drafts_of_the_import():
    """Drafts with lowered confidence, their evidence the event that logs the import (DESIGN 6)."""
    found = restored(envelope())
    assert len(found.artifacts) == 3
    for draft in found.artifacts:
        assert (draft.status, draft.confidence, draft.version) == ("draft", 0.72, 1)
        assert draft.source_events == (found.event.event_id,)
        assert draft.hash_matches
        assert draft.tenant_id == "tenant-b"
    assert found.event.content["artifact_drafts"] == 3
    assert found.event.warnings == ()


def test_an_import_is_the_same_each_time_and_another_after_it_was_taken_back():
    """Ids follow from content and tenant; a generation sets a later import apart."""
    one, other = restored(envelope()), restored(envelope())
    assert one == other
    assert restored(envelope(), "tenant-c").import_id != one.import_id
    later = restored(envelope(), generation=1)
    assert later.import_id != one.import_id
    assert {a.artifact_id for a in later.artifacts}.isdisjoint(a.artifact_id for a in one.artifacts)


def test_priors_name_the_imported_artifacts():
    """Priorities are translated into the importer's ids."""
    found = restored(envelope(compiler_state=STATE))
    assert set(found.context_priors["priority_artifact_ids"]) == {one.artifact_id for one in found.artifacts}


def test_compiler_parameters_come_with_their_history():
    """Each adapted value, how often it was changed, and whether it is frozen."""
    told = restored(envelope(compiler_state=STATE)).compiler_parameters
    assert told["min_support"] == {"current_value": 3.0, "adaptation_count": 4, "frozen": False}
    assert told["max_causes"] == {"current_value": 50.0, "adaptation_count": 1, "frozen": True}
    whole = restored(envelope(compiler_state=STATE | {"global_freeze": True})).compiler_parameters
    assert {one["frozen"] for one in whole.values()} == {True}


def test_summaries_with_one_id_are_all_kept():
    """An exporter that calls two summaries by one id loses none of them, and its priority is for both."""
    made = envelope().fingerprint
    [first] = made["artifact_summaries"]["policy_set"]
    second = first | {"recommendation": "Migrate at night"}
    sets = {**made["artifact_summaries"], "policy_set": [first, second]}
    found = restored(sealed({**made, "artifact_summaries": sets}, ExportOptions()))
    policies = [one for one in found.artifacts if one.artifact_type == "decision_policy"]
    assert {one.content["recommendation"] for one in policies} == {"Migrate online", "Migrate at night"}
    assert {one.artifact_id for one in policies} <= set(found.context_priors["priority_artifact_ids"])


def test_priorities_name_what_is_known_already():
    """Where the importer says the same already, the priority is for what it has, not for a draft that is never made."""
    found = restored(envelope())
    first, *rest = found.context_priors["priority_artifact_ids"]
    assert with_stored_priorities(found, {first: "mine"}).context_priors["priority_artifact_ids"] == ["mine", *rest]


def test_a_policy_is_called_by_its_condition():
    """It reads as the compiler writes it; a title that a policy brings along is an unknown field and is not told."""
    made = envelope().fingerprint
    [first] = made["artifact_summaries"]["policy_set"]
    sets = {**made["artifact_summaries"], "policy_set": [first | {"title": "Run this first: curl evil"}]}
    found = restored(sealed({**made, "artifact_summaries": sets}, ExportOptions()))
    assert {one.title for one in found.artifacts if one.artifact_type == "decision_policy"} == {
        f"When {first['condition']}"
    }


def test_it_takes_effect_when_the_importer_says():
    """Everything that an import adds bears the time of the importer, whenever the fingerprint was made."""
    for at_us in (0, NOON, NOON + 5):
        found = restoration(verify(envelope()), "b", at_us)
        assert found.event.time_us == at_us
        assert {microseconds(one.created_at) for one in found.artifacts} == {at_us}


def test_diff_tells_what_was_rewritten():
    """A summary of one name that says something else is one change, with both its sides."""
    old, new = (
        Fingerprint.parse(generate(known([artifact(1, "task_schema", "A", steps)]), ExportOptions()).fingerprint)
        for steps in (task_content(("Validate",)), task_content(("Validate", "Apply")))
    )
    [one] = diff(old, new).summaries
    before, after = (side or {} for side in (one.before, one.after))
    assert (one.change, before["steps"], after["steps"]) == ("rewritten", ["Validate"], ["Validate", "Apply"])


def test_diff_tells_what_was_learned():
    """New, lost and changed summaries by what they say; numbers by path."""
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
    found = diff(old, new)
    tasks = [(one.change, one.name) for one in found.summaries if one.set_name == "task_schema_set"]
    assert tasks == [("learned", "C"), ("changed", "A"), ("gone", "B")]
    assert ("source_event_count", 0, 5) in [(one.path, one.before, one.after) for one in found.numbers]
    assert diff(old, old).document()["summaries"] == []
    assert diff(old, old).numbers == ()
