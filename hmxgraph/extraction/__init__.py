"""Extraction of entities, relations and memories from events, by rules alone."""

from hmxgraph.extraction.entities import names_in
from hmxgraph.extraction.extract import extract
from hmxgraph.extraction.language import Extraction, MemoryDraft, Mention, Ref, Relation, speaker_of

__all__ = ["Extraction", "MemoryDraft", "Mention", "Ref", "Relation", "extract", "names_in", "speaker_of"]
