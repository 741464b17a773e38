"""Export fingerprints of what a tenant learned; store readers' reports on packs.

The reports determine the exported priors: recommended settings for packs, such as the weights of sections. HMX-F is the
part of the HMX-1.0 standard about fingerprints.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from hmxgraph.compiler.profile import LastRun
from hmxgraph.errors import UnknownChoice
from hmxgraph.extraction.entities import COMMON_TYPES
from hmxgraph.fingerprint.behaviour import (
    COUNTED_EVENT_TYPES,
    RULES,
    Behaviour,
    ObservedEvent,
    observed,
    session_behaviour,
    total,
)
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.groups import select
from hmxgraph.fingerprint.restore import LOGGING_SESSIONS, Restoration
from hmxgraph.fingerprint.sections import VERDICTS
from hmxgraph.fingerprint.state import (
    ExportedArtifact,
    ExportOptions,
    LearnedState,
    MemoryCount,
    PrivateName,
    ServedPack,
    Tier,
)
from hmxgraph.graph.exploring import graph_digest
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, ask, bind, model_key, read, state, write
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.fingerprints import Envelope
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import microseconds

# Convert rows into the parts of a fingerprint, and outcomes of imports into rows.


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Imported artifacts that local experience activated, and those that it made redundant."""

    confirmed_ids: tuple[str, ...] = ()
    replaced_ids: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The outcome as a JSON-able dict."""
        return {"confirmed_ids": list(self.confirmed_ids), "replaced_ids": list(self.replaced_ids)}


@dataclass(frozen=True, slots=True)
class InForce:
    """Settings for packs and compilation from the latest import in force."""

    fingerprint_id: str
    context_priors: Mapping[str, Any]
    compiler_parameters: Mapping[str, Mapping[str, Any]]


NOTHING_IMPORTED = InForce("", {}, {})


def _candidate(row: Row) -> ExportedArtifact:
    """The fields by which an artifact is selected."""
    return ExportedArtifact(**{**row, "tags": tuple(row["tags"])})


def _memory_count(row: Row) -> MemoryCount:
    """The count of the memories of one status, kind and extraction method."""
    return MemoryCount(
        row["status"],
        row["kind"],
        row["extraction_method"],
        row["memory_count"],
        row["confidence_millionths"],
        row["observations"],
    )


def private_names(rows: Sequence[Row]) -> tuple[PrivateName, ...]:
    """The names to be removed from the texts of a fingerprint."""
    return tuple(sorted({PrivateName(kind, name) for row in rows for kind, name in row["names"]}))


def _observed_event(row: Row) -> ObservedEvent:
    """The fields of an event from which behaviour is derived."""
    content = parse_json(row["content"])
    return observed(row, content)


def _stored_behaviour(text: str) -> Behaviour:
    """The stored counts of a session."""
    return Behaviour(**parse_json(text))


def _behaviour_text(behaviour: Behaviour) -> str:
    """The text that :func:`_stored_behaviour` reads."""
    return canonical_text(behaviour.document())


def _served_pack(row: Row) -> ServedPack:
    """A pack that a reader reported on."""
    return ServedPack(
        row["pack_id"],
        row["signal"],
        row["budget"],
        parse_json(row["section_tokens"]),
        tuple(row["artifact_ids"]),
        tuple(row["tags"]),
    )


def _report_row(tenancy: Tenancy, pack: ContextPack, signal: str) -> Row:
    """The row for ``fingerprints/report_pack``, without the time."""
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


def _export_row(tenancy: Tenancy, envelope: Envelope) -> Row:
    """The properties of an export's node."""
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


class ImportContext(NamedTuple):
    """What is recorded with an import besides its content.

    ``generation`` is the number of earlier imports of the same envelope, ``version`` the tenant's state version before
    the import. The ids are those of the drafts that the import creates and of the conflicts that it opens.
    """

    generation: int
    version: int
    artifact_ids: Sequence[str]
    conflict_ids: Sequence[str]


def import_row(tenancy: Tenancy, restored: Restoration, context: ImportContext) -> Row:
    """The properties of an import's node; those without a value are left out."""
    verdict, fingerprint = restored.verdict, restored.verdict.fingerprint
    row = {
        "key": tenancy.node_key("fingerprint", "imported", restored.import_id),
        "direction": "imported",
        "import_id": restored.import_id,
        "generation": context.generation,
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
        "recorded_version": context.version,
        "artifact_ids": list(context.artifact_ids),
        "conflict_ids": list(context.conflict_ids),
        "context_priors": canonical_text(dict(restored.context_priors)),
        "compiler_parameters": canonical_text(dict(restored.compiler_parameters)),
    }
    return {name: value for name, value in row.items() if value is not None}


def _in_force_of(row: Row) -> InForce:
    """The settings of an import in force."""
    return InForce(row["fingerprint_id"], parse_json(row["context_priors"]), parse_json(row["compiler_parameters"]))


# Fingerprints made from a tenant's learned state, and readers' reports on the packs they used.

# Only the latest reports are exported, at most this many.
_MOST_REPORTS = 1_000
_SESSIONS_PER_PAGE = 500
# Maximum number of events whose behaviour is counted in one transaction, except in a larger session.
_EVENTS_AT_ONCE = 20_000
# Maximum number of events whose words are read to find those that several users use; an export with an allow list
# keeps only such words.
_MOST_EVIDENCE = 20_000
_DEFAULT = ExportOptions()


def export_fingerprint(tenancy: Tenancy, options: ExportOptions = _DEFAULT) -> Procedure[Envelope]:
    """The tenant's learned state in an envelope (HMX-F 11); the same state gives the same bytes.

    First, behaviour is counted for sessions whose counts are missing or out of date; counts are stored on their nodes.

    Raises:
        UnknownChoice: there is no such tier.

    """
    tier = options.limits
    yield from _count_behaviour(tenancy)
    learned = yield from read(partial(_learned_state, tenancy, options, tier))
    envelope = generate(learned, options)
    row = _export_row(tenancy, envelope)
    record_export = bind("fingerprints/record_export", tenant_id=tenancy.tenant_id, key=row["key"], properties=row)
    yield from write(lambda: ask(record_export))
    return envelope


def _count_behaviour(tenancy: Tenancy) -> Procedure[None]:
    """Count the behaviour of sessions whose counts are missing or out of date."""
    after = ""
    while page := (yield from read(partial(_uncounted, tenancy, after))):
        for sessions in _portions(page):
            yield from write(partial(_count, tenancy, sessions))
        after = page[-1]["session_key"]


def report_pack(tenancy: Tenancy, pack: ContextPack, signal: str, at_us: int | None = None) -> Procedure[str]:
    """Store *signal* as the report on *pack* and return the pack's id; a later report replaces an earlier one.

    Raises:
        UnknownChoice: no such signal.

    """
    if signal not in VERDICTS:
        raise UnknownChoice("signal", signal, tuple(VERDICTS))
    return (yield from write(partial(_report, tenancy, _report_row(tenancy, pack, signal), at_us)))


def in_force(tenancy: Tenancy, as_of_us: int | None = None) -> Plan[InForce | None]:
    """The settings of the latest import that is neither withdrawn nor erased; None if there is none.

    With *as_of_us*, an import counts only if it was recorded by then and had not expired. Without it, expired imports
    count, too.
    """
    rows = yield bind("fingerprints/in_force", tenant_id=tenancy.tenant_id, as_of_us=as_of_us)
    return _in_force_of(rows[0]) if rows else None


def _learned_state(tenancy: Tenancy, options: ExportOptions, tier: Tier) -> Plan[LearnedState]:
    tenant = yield from state(tenancy)
    active = yield bind("fingerprints/artifacts", tenant_id=tenancy.tenant_id)
    selection = select(map(_candidate, active[0]["artifacts"]), tier)
    keys = [tenancy.node_key(artifact_id) for artifact_id in selection.artifact_ids]
    contents = yield bind(
        "fingerprints/contents",
        tenant_id=tenancy.tenant_id,
        keys=keys,
        open_types=sorted({*COMMON_TYPES, *options.public_types}),
    )
    common = (yield from _common_terms(tenancy, keys)) if options.allow_list else frozenset[str]()
    disclosed_types = [name for name in options.public_types if options.discloses(name)]
    digest = yield from graph_digest(tenancy, named_types=disclosed_types)
    memories = yield bind("fingerprints/memories", tenant_id=tenancy.tenant_id)
    behaviour = yield from _behaviour(tenancy)
    reports = yield bind("fingerprints/reports", tenant_id=tenancy.tenant_id, limit=_MOST_REPORTS)
    return LearnedState(
        tenant_id=tenancy.tenant_id,
        as_of_us=tenant["logical_us"] or 0,
        selection=selection,
        contents={row["artifact_id"]: parse_json(row["content"]) for row in contents},
        digest=digest,
        behaviour=behaviour,
        memories=tuple(map(_memory_count, memories)),
        served=tuple(map(_served_pack, reports)),
        compiler_state=(yield from _compiler_state(tenancy, tenant["logical_us"])),
        event_count=behaviour.session_events,
        private_names=private_names(contents),
        common_terms=common,
    )


def _common_terms(tenancy: Tenancy, keys: Sequence[str]) -> Plan[frozenset[str]]:
    """The terms in these artifacts' evidence that occur in sessions of at least ``trust.origins`` named users."""
    rows = yield bind("fingerprints/words", tenant_id=tenancy.tenant_id, keys=keys, limit=_MOST_EVIDENCE)
    users: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        for term in set(row["words"].split()):
            users[term].update(row["user_keys"])
    return frozenset(term for term, user_keys in users.items() if len(user_keys) >= tenancy.trust.origins)


def _compiler_state(tenancy: Tenancy, as_of_us: int | None) -> Plan[dict[str, Any]]:
    """The compiler's parameters: those of its last run, updated if an import was added or withdrawn since."""
    imported = (yield from in_force(tenancy, as_of_us)) or NOTHING_IMPORTED
    last = yield from last_run(tenancy)
    return last.current_state(imported.compiler_parameters, imported.fingerprint_id)


def last_run(tenancy: Tenancy) -> Plan[LastRun]:
    """The parameters of the last compilation; the defaults before the first."""
    rows = yield bind("compiler/parameters", tenant_id=tenancy.tenant_id, model_key=model_key(tenancy))
    return LastRun.parse(rows[0]["compiler_parameters"]) if rows else LastRun({})


def _behaviour(tenancy: Tenancy) -> Plan[Behaviour]:
    rows = yield bind("fingerprints/behaviour", tenant_id=tenancy.tenant_id, logging_sessions=LOGGING_SESSIONS)
    row = rows[0]
    return replace(
        total(map(_stored_behaviour, row["counted"])),
        sessions=row["sessions"],
        session_events=row["session_events"],
        session_us=row["session_us"],
    )


def _uncounted(tenancy: Tenancy, after: str) -> Plan[list[Row]]:
    rows = yield bind(
        "fingerprints/uncounted_sessions",
        tenant_id=tenancy.tenant_id,
        after=after,
        rules=RULES,
        limit=_SESSIONS_PER_PAGE,
    )
    return rows


def _portions(sessions: Sequence[Row]) -> Iterator[list[Row]]:
    """Sessions in order, in portions with a limited number of events; a larger session is a portion by itself."""
    portion: list[Row] = []
    events = 0
    for session in sessions:
        if portion and events + session["event_count"] > _EVENTS_AT_ONCE:
            yield portion
            portion, events = [], 0
        portion.append(session)
        events += session["event_count"]
    yield portion


def _count(tenancy: Tenancy, sessions: Sequence[Row]) -> Plan[None]:
    keys = [session["session_key"] for session in sessions]
    events = yield bind(
        "fingerprints/session_events",
        tenant_id=tenancy.tenant_id,
        session_keys=keys,
        event_types=list(COUNTED_EVENT_TYPES),
    )
    groups = groupby(events, key=itemgetter("session_key"))
    behaviours = {key: session_behaviour([_observed_event(row) for row in rows]) for key, rows in groups}
    rows = [
        {
            "session_key": session["session_key"],
            "behaviour": _behaviour_text(behaviours.get(session["session_key"], Behaviour())),
            "version": session["version"],
        }
        for session in sessions
    ]
    yield bind("fingerprints/keep_behaviour", tenant_id=tenancy.tenant_id, rows=rows, rules=RULES)


def _report(tenancy: Tenancy, row: Row, at_us: int | None) -> Plan[str]:
    tenant = yield from state(tenancy)
    now_us = (tenant["logical_us"] or 0) if at_us is None else at_us
    yield bind("fingerprints/report_pack", tenant_id=tenancy.tenant_id, at_us=now_us, **row)
    pack_id: str = row["pack_id"]
    return pack_id
