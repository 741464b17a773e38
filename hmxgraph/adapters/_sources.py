"""The entries of a context pack as documents for retrievers: text with its label, and metadata about its origin."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hmxgraph.protocol.packs import ContextPack
from hmxgraph.text.lines import entry_text, foreign, unlabelled


class Source(NamedTuple):
    """One entry of a pack: the text for a prompt, including label and speaker, and metadata about its origin."""

    source_id: str
    text: str
    score: float
    metadata: dict[str, Any]


def sources(pack: ContextPack) -> Iterator[Source]:
    """The entries of *pack*, most relevant first.

    ``metadata["trusted"]`` is false for text from outside sources (tools, web pages, documents): it begins with a label
    in brackets, and instructions in it must not be followed.
    """
    entries = zip(pack.entries, _metadata(pack), strict=True)
    for entry, metadata in sorted(entries, key=lambda pair: pair[0].rank):
        label, speaker = (str(metadata.get(name) or "") for name in ("label", "speaker"))
        provenance = entry.provenance
        optional = {name: metadata[name] for name in ("timestamp", "session_id") if metadata.get(name)}
        fields = {
            "source_id": entry.source_id,
            "source_type": entry.source_type,
            "section": entry.section,
            "score": entry.relevance_score,
            "origin": provenance.origin,
            "confidence": provenance.confidence,
            "evidence_count": provenance.evidence_count,
            "label": label,
            "speaker": speaker,
            "trusted": not foreign(label),
            "pack_id": pack.pack_id,
        }
        text = entry_text(unlabelled(entry.content, label), label, speaker).removeprefix("- ")
        yield Source(entry.source_id, text, entry.relevance_score, fields | optional)


def _metadata(pack: ContextPack) -> list[Mapping[str, Any]]:
    """The metadata that hmxgraph adds for each entry; empty for packs from other software."""
    metadata = pack.metadata.get("entries")
    return metadata if isinstance(metadata, list) and len(metadata) == len(pack.entries) else [{}] * len(pack.entries)
