"""Rows to what a fingerprint is made of, and what came of an import to rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmxgraph.fingerprint.known import KnownArtifact, MemoryCount, PrivateName, ServedPack
from hmxgraph.fingerprint.measures.behaviour import Behaviour
from hmxgraph.fingerprint.measures.observed import ObservedEvent, observed
from hmxgraph.fingerprint.restore import Restoration
from hmxgraph.graph.plan import Row
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.fingerprints import Envelope
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.showing import Shown
from hmxgraph.protocol.timestamps import microseconds


@dataclass(frozen=True, slots=True)
class ImportReport(Shown):
    """What became of an envelope given to be imported.

    ``imported``: its drafts are stored now. ``unchanged``: it was imported before, nothing was written. ``known_ids``
    are artifacts that said the same already.
    """

    outcome: str
    import_id: str
    fingerprint_id: str
    created_ids: tuple[str, ...] = ()
    known_ids: tuple[str, ...] = ()
    conflict_ids: tuple[str, ...] = ()
    expired: bool = False
    signed_by: str | None = None
    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The report as a JSON-able dict."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class TakenBack:
    """An import that was taken back: the artifacts deprecated with it, and those that other evidence still holds."""

    import_id: str
    fingerprint_id: str
    deprecated_ids: tuple[str, ...]
    kept_ids: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The outcome as a JSON-able dict."""
        return {
            "import_id": self.import_id,
            "fingerprint_id": self.fingerprint_id,
            "deprecated_ids": list(self.deprecated_ids),
            "kept_ids": list(self.kept_ids),
        }


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Imported artifacts that local experience made active, and those that it made needless."""

    confirmed_ids: tuple[str, ...] = ()
    replaced_ids: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The outcome as a JSON-able dict."""
        return {"confirmed_ids": list(self.confirmed_ids), "replaced_ids": list(self.replaced_ids)}


@dataclass(frozen=True, slots=True)
class InForce:
    """What the latest import that holds says about assembling packs and compiling."""

    fingerprint_id: str
    context_priors: Mapping[str, Any]
    compiler_parameters: Mapping[str, Mapping[str, Any]]


NOTHING_IMPORTED = InForce("", {}, {})


def known_artifact(row: Row) -> KnownArtifact:
    """An artifact as far as it is looked at before the choice."""
    return KnownArtifact(**{**row, "tags": tuple(row["tags"])})


def memory_count(row: Row) -> MemoryCount:
    """Memories of one kind, counted."""
    return MemoryCount(
        row["status"],
        row["kind"],
        row["extraction_method"],
        row["memory_count"],
        row["confidence_millionths"],
        row["observations"],
    )


def private_names(rows: Sequence[Row]) -> tuple[PrivateName, ...]:
    """The names to be taken out of the texts of a fingerprint."""
    return tuple(sorted({PrivateName(kind, name) for row in rows for kind, name in row["names"]}))


def observed_event(row: Row) -> ObservedEvent:
    """An event as far as behaviour is read from it."""
    content = parse_json(row["content"])
    return observed(row, content)


def stored_behaviour(text: str) -> Behaviour:
    """What was counted of a session."""
    return Behaviour(**parse_json(text))


def behaviour_text(behaviour: Behaviour) -> str:
    """What :func:`stored_behaviour` reads."""
    return canonical_text(behaviour.document())


def served_pack(row: Row) -> ServedPack:
    """A pack that was reported on."""
    return ServedPack(
        row["pack_id"],
        row["signal"],
        row["budget"],
        parse_json(row["section_tokens"]),
        tuple(row["artifact_ids"]),
        tuple(row["tags"]),
    )


def report_row(tenancy: Tenancy, pack: ContextPack, signal: str) -> Row:
    """What ``fingerprints/report_pack`` writes, but for the time."""
    tokens = Counter[str]()
    for entry in pack.entries:
        tokens[entry.section] += entry.token_estimate
    artifact_ids = sorted({entry.source_id for entry in pack.entries if entry.source_type == "artifact"})
    return {
        "key": tenancy.node_key("pack-report", pack.pack_id),
        "pack_id": pack.pack_id,
        "signal": signal,
        "budget": pack.token_budget.total_budget,
        "section_tokens": canonical_text(dict(tokens)),
        "artifact_ids": artifact_ids,
        "artifact_keys": [tenancy.node_key(artifact_id) for artifact_id in artifact_ids],
    }


def export_row(tenancy: Tenancy, envelope: Envelope) -> Row:
    """The properties of the node that notes an export."""
    inner = envelope.fingerprint
    return {
        "key": tenancy.node_key("fingerprint", "exported", envelope.integrity_hash),
        "direction": "exported",
        "fingerprint_id": inner["fingerprint_id"],
        "fingerprint_hash": inner["fingerprint_hash"],
        "integrity_hash": envelope.integrity_hash,
        "compression_tier": inner["compression_tier"],
        "created_us": microseconds(inner["created_at"]),
        "exported_by": envelope.exported_by,
    }


class Recorded(NamedTuple):
    """What an import is in its tenant: which of its envelope's, after which version of the state, with what in it."""

    generation: int
    version: int
    artifact_ids: Sequence[str]
    conflict_ids: Sequence[str]


def import_row(tenancy: Tenancy, restored: Restoration, recorded: Recorded) -> Row:
    """The properties of the node of an import; absent ones are left out."""
    verdict, fingerprint = restored.verdict, restored.verdict.fingerprint
    row = {
        "key": tenancy.node_key("fingerprint", "imported", restored.import_id),
        "direction": "imported",
        "import_id": restored.import_id,
        "generation": recorded.generation,
        "fingerprint_id": fingerprint.fingerprint_id,
        "fingerprint_hash": fingerprint.fingerprint_hash,
        "integrity_hash": verdict.envelope.integrity_hash,
        "fingerprint_version": verdict.envelope.fingerprint.get("fingerprint_version", 0),
        "source_tenant_id": fingerprint.tenant_id,
        "compression_tier": fingerprint.compression_tier,
        "exported_by": verdict.envelope.exported_by,
        "signed_by": verdict.signed_by,
        "verdict": verdict.document()["verdict"],
        "warnings": list(verdict.warnings),
        "created_us": microseconds(fingerprint.created_at),
        "expires_us": None if fingerprint.expires_at is None else microseconds(fingerprint.expires_at),
        "recorded_us": restored.event.time_us,
        "recorded_version": recorded.version,
        "artifact_ids": list(recorded.artifact_ids),
        "conflict_ids": list(recorded.conflict_ids),
        "context_priors": canonical_text(dict(restored.context_priors)),
        "compiler_parameters": canonical_text(dict(restored.compiler_parameters)),
    }
    return {name: value for name, value in row.items() if value is not None}


def in_force_of(row: Row) -> InForce:
    """What an import says that holds."""
    return InForce(row["fingerprint_id"], parse_json(row["context_priors"]), parse_json(row["compiler_parameters"]))
