"""Context packs: typed values, the hard limit, the hash that equal packs share."""

import pytest

from hmxgraph.conformance.kit import example
from hmxgraph.errors import InvalidDocument
from hmxgraph.protocol.packs import (
    SECTION_PRIORITY,
    SECTIONS,
    SOURCE_TYPES,
    ContextPack,
    Entry,
    NextStep,
    Provenance,
    QueryClassification,
    pack_hash,
)

PACK = example("context-pack")


def test_parts_are_typed():
    """Entries, budgets, metadata and hints are values with the wire's names."""
    pack = ContextPack.parse(PACK)
    assert pack.entries[0].provenance.evidence_count == 15
    assert pack.token_budget.section_budgets["episodes"].budget == 768
    assert pack.assembly_metadata.query_classification.time_ref is None
    assert pack.workflow_hints.suggested_next_steps[0].tools == ("kubectl",)
    assert pack.document() == PACK


def test_null_time_reference_is_kept():
    """A null time reference stays null, and an absent one stays absent."""
    given = PACK["assembly_metadata"]["query_classification"]
    without = {name: value for name, value in given.items() if name != "time_ref"}
    document = {**PACK, "assembly_metadata": {**PACK["assembly_metadata"], "query_classification": without}}
    assert ContextPack.parse(document).document() == document
    typed = QueryClassification(
        intent="procedural", keywords=("deploy", "staging"), entities=("kubernetes",), time_ref=None
    )
    metadata = {**PACK["assembly_metadata"], "query_classification": typed}
    assert ContextPack(**{**PACK, "assembly_metadata": metadata}).document() == PACK


def test_packs_are_built_from_typed_parts():
    """A pack made of values is the pack read from the wire."""
    provenance = Provenance(origin="episodic", confidence=1, evidence_count=1)
    values = {**PACK["entries"][2], "provenance": provenance}
    step = NextStep(**PACK["workflow_hints"]["suggested_next_steps"][0])
    hints = {**PACK["workflow_hints"], "suggested_next_steps": (step,)}
    built = ContextPack(**{**PACK, "entries": (*PACK["entries"][:2], Entry(**values)), "workflow_hints": hints})
    assert built == ContextPack.parse(PACK)


def test_hard_limit_covers_what_entries_add_up_to():
    """Neither the stated nor the summed tokens may exceed the budget."""
    budget = {**PACK["token_budget"], "total_budget": 149}
    with pytest.raises(InvalidDocument) as refusal:
        ContextPack.parse({**PACK, "token_budget": budget})
    assert [fault.path for fault in refusal.value.faults] == ["$.token_budget.used", "$.entries"]


def test_pack_hash_leaves_out_what_varies():
    """The time that assembly took and the hash itself are not hashed; everything else is."""
    slower = {**PACK, "assembly_metadata": {**PACK["assembly_metadata"], "assembly_duration_ms": 99}}
    assert pack_hash(slower) == pack_hash(PACK) == pack_hash({**PACK, "metadata": {"pack_hash": "x"}})
    assert pack_hash({**PACK, "query_context": "else"}) != pack_hash(PACK)


def test_sections_have_a_priority_and_known_sources():
    """Each of the ten sections occurs once in the order of priority, and takes known source types."""
    assert sorted(SECTIONS) == sorted(SECTION_PRIORITY)
    assert {source for sources in SECTIONS.values() for source in sources} == set(SOURCE_TYPES)
