"""Task records and conversation tags."""

import re

import pytest

from hmxgraph.conformance.kit import example
from hmxgraph.errors import InvalidDocument
from hmxgraph.protocol.document import schema
from hmxgraph.protocol.records import (
    ARTIFACT_KINDS,
    DIGEST_ROLES,
    FILTERS,
    MODES,
    PROJECTION_KINDS,
    PROMOTION_STATES,
    TRUST_TIERS,
    TaskRecord,
)
from hmxgraph.records.search import ConversationTags
from tests.shared_data import shared

RECORD = example("task-record")


def test_every_listed_field_is_there():
    """Each field that the specification lists is a field of the record, and the kit's example has it."""
    text = shared("spec", "memd-task-artifacts.txt").read_text(encoding="utf-8")
    listed = re.search(r"Important canonical fields include:\n(\S+)\n", text).group(1)
    unmatched = listed
    for name in sorted(RECORD, key=len, reverse=True):
        unmatched = unmatched.replace(name, "", 1) if name in unmatched else unmatched
    assert unmatched == ""
    assert set(RECORD) <= set(TaskRecord.model_fields)


def test_models_and_schema_list_the_same_fields():
    """No field of the record is missing in its schema, or the other way round."""
    assert set(TaskRecord.model_fields) == set(schema("task-record")["properties"])


def test_closed_lists():
    """Eleven kinds, nine projections, six roles, four states, four tiers, seven modes, eighteen filters."""
    lists = (ARTIFACT_KINDS, PROJECTION_KINDS, DIGEST_ROLES, PROMOTION_STATES, TRUST_TIERS, MODES, FILTERS)
    assert [len(names) for names in lists] == [11, 9, 6, 4, 4, 7, 18]
    assert all(len(set(names)) == len(names) for names in lists)


def test_typed_fields_come_back():
    """References and contributors are values; the record is written as it came."""
    record = TaskRecord.parse(RECORD)
    assert record.dataset_refs[0].version == "2"
    assert record.entity_refs[0].entity_type == "service"
    assert record.contributors[0].contributor_id == "ana"
    assert record.document() == RECORD


def test_times_are_milliseconds_or_text():
    """Unix milliseconds and date-time text name the same moment."""
    as_text = TaskRecord.parse({**RECORD, "timestamp_created": "2026-03-14T03:00:00Z"})
    assert as_text.created_us == TaskRecord.parse(RECORD).created_us == 1_773_457_200_000_000
    assert as_text.observed_us == 1_773_457_190_000_000
    assert TaskRecord.parse({k: v for k, v in RECORD.items() if k != "timestamp_observed"}).observed_us is None


def test_null_project_is_accepted():
    """A project of null, as memd writes it where there is none, is accepted and kept."""
    assert TaskRecord.parse({**RECORD, "project_id": None}).document()["project_id"] is None


def test_a_digest_needs_its_role():
    """The role of a digest is one of six; other records name theirs freely."""
    with pytest.raises(InvalidDocument, match="one of project_brief"):
        TaskRecord.parse({**RECORD, "artifact_kind": "digest", "artifact_role": "profiler"})
    assert TaskRecord.parse({**RECORD, "artifact_kind": "digest", "artifact_role": "task_resume"})


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([], ConversationTags()),
        (["event:a:b", "event:c"], ConversationTags(event_id="a:b")),
        (["entry:gossip", "turn:-1", "speaker:", "event"], ConversationTags()),
        ([f"turn:{'1' * 5_000}"], ConversationTags()),
        (
            ["entry:synthesis", "turn:007", "speaker:Ana Lee"],
            ConversationTags(entry="synthesis", turn=7, speaker="Ana Lee"),
        ),
    ],
)
def test_conversation_tags(tags, expected):
    """Known tags are read, the first of a kind counts, malformed ones are ordinary tags."""
    assert ConversationTags.read(tags) == expected
    assert ConversationTags.read(expected.written()) == expected
