"""Fingerprints imported, confirmed by local evidence, and withdrawn.

HMX-F is the part of the HMX-1.0 standard about fingerprints; clause 12 is about imports.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from hmxgraph.errors import NotFound
from hmxgraph.fingerprint.agreement import agree, confirms
from hmxgraph.fingerprint.restore import Restoration, restoration, with_stored_priorities
from hmxgraph.fingerprint.summaries import SET_OF_TYPE
from hmxgraph.fingerprint.verify import EnvelopeSource, Verdict, verify, with_expiry
from hmxgraph.graph import _events
from hmxgraph.graph.artifacts import artifact_row, deprecate
from hmxgraph.graph.conflicts import detect_among, opposing_artifacts, opposing_policies, settle
from hmxgraph.graph.fingerprints import Confirmation, ImportContext, import_row
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, state, write
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import prepare
from hmxgraph.protocol.artifacts import LIVE_STATUSES, Artifact
from hmxgraph.protocol.fingerprints import Signature
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.reports import ImportReport, WithdrawnImport
from hmxgraph.protocol.timestamps import microseconds
from hmxgraph.text.terms import counter

# Imported drafts and local experience: a tenant's own evidence activates a draft or makes it redundant.

CONFIRMED = "confirmed by local evidence: "
REPLACED = "replaced by local experience: "


class _Pair(NamedTuple):
    """An imported artifact and one of the tenant's own that states the same."""

    imported: Row
    own: Row


def confirm_imports(tenancy: Tenancy) -> Procedure[Confirmation]:
    """Let local experience confirm or replace imported artifacts; called after each compilation that stores results.

    An imported draft becomes active, with added evidence, if a draft of the tenant's own states the same or more: each
    alone has too little evidence, both together have enough. An imported draft that states more stays a draft. An
    active imported artifact is retired when an artifact of the tenant's own with the same statement becomes active, so
    that nothing is stated twice.
    """
    confirmation, keys = yield from write(partial(_confirm, tenancy))
    if keys:
        yield from detect_among(tenancy, keys)
    return confirmation


def _confirm(tenancy: Tenancy) -> Plan[tuple[Confirmation, list[str]]]:
    imports = yield bind("fingerprints/has_imports", tenant_id=tenancy.tenant_id)
    if not imports[0]["imports"]:
        return Confirmation(), []
    rows = yield bind("fingerprints/imported", tenant_id=tenancy.tenant_id, types=sorted(SET_OF_TYPE))
    pairs = tuple(_pairs(rows))
    confirmed = [pair for pair in pairs if pair.imported["status"] == "draft"]
    replaced = [pair for pair in pairs if pair.imported["status"] == "active"]
    if confirmed or replaced:
        yield from _write(tenancy, confirmed, replaced)
    confirmation = Confirmation(_ids(confirmed), _ids(replaced))
    return confirmation, [pair.imported["key"] for pair in confirmed]


def _pairs(rows: Sequence[Row]) -> Iterator[_Pair]:
    """Each imported artifact with the first of the tenant's own that confirms or replaces it."""
    own = defaultdict(list)
    for row in rows:
        row["content"] = parse_json(row["content"])
        if not row["imported"]:
            own[row["artifact_type"]].append(row)
    for row in rows:
        if row["imported"] and (counterpart := _counterpart(row, own[row["artifact_type"]])):
            yield _Pair(row, counterpart)


def _counterpart(imported: Row, own: Sequence[Row]) -> Row | None:
    """The own artifact that replaces an active *imported* one, or the own draft that confirms an imported draft."""
    kind, content = imported["artifact_type"], imported["content"]
    same = [other for other in own if agree(kind, content, other["content"])]
    active = next((other for other in same if other["status"] == "active"), None)
    if active is not None:
        return active if imported["status"] == "active" else None
    drafts = same if imported["status"] == "draft" else ()
    return next((other for other in drafts if confirms(other, imported)), None)


def _write(tenancy: Tenancy, confirmed: Sequence[_Pair], replaced: Sequence[_Pair]) -> Plan[None]:
    tenant = yield from state(tenancy)
    at_us = tenant["logical_us"]
    keys = sorted(row["key"] for pair in (*confirmed, *replaced) for row in pair)
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=sorted(set(keys)))
    changes = [_change(pair, "draft", "active", CONFIRMED, at_us) for pair in confirmed]
    changes += [_change(pair, "active", "deprecated", REPLACED, at_us) for pair in replaced]
    yield bind("artifacts/transition", tenant_id=tenancy.tenant_id, changes=changes)
    linked = [{"imported_key": pair.imported["key"], "own_key": pair.own["key"]} for pair in confirmed]
    yield bind("fingerprints/confirm", tenant_id=tenancy.tenant_id, pairs=linked)
    yield from settle(tenancy, [pair.imported["key"] for pair in replaced], at_us)
    yield from bump(tenancy, at_us)


def _change(pair: _Pair, before: str, status: str, reason: str, at_us: int) -> Row:
    full_reason = reason + str(pair.own["artifact_id"])
    return {"key": pair.imported["key"], "status": status, "from": [before], "at_us": at_us, "reason": full_reason}


def _ids(pairs: Sequence[_Pair]) -> tuple[str, ...]:
    return tuple(sorted(pair.imported["artifact_id"] for pair in pairs))


# Fingerprints received: verified, added in one transaction, withdrawn (HMX-F 12).

REASON = "its import was withdrawn"


def import_fingerprint(
    tenancy: Tenancy,
    source: EnvelopeSource,
    *,
    signature: Signature | None = None,
    trusted: Iterable[str] = (),
    now_us: int,
    at_us: int | None = None,
) -> Procedure[ImportReport]:
    """Verify the envelope *source*, add its content in one transaction, and report the outcome; nothing is deleted.

    *trusted* are the public keys that may have signed it (none: no signature is required). An envelope that had expired
    by *at_us* (if None, by the tenant's logical time) is reported as expired, not refused. An envelope imported before
    changes nothing, unless that import was withdrawn. The import takes effect at the logical time; in an empty tenant
    at the fingerprint's creation time, or *now_us* if that is earlier.

    Raises:
        FingerprintError: a check failed; the message says which, and nothing was written.

    """
    verdict = verify(source, signature=signature, trusted=trusted, at_us=at_us)
    return (yield from write(partial(_import, tenancy, verdict, now_us, at_us)))


def take_back(tenancy: Tenancy, reference: str, *, at_us: int | None = None) -> Procedure[WithdrawnImport]:
    """Withdraw the import *reference* (its id or its fingerprint's), and report the outcome.

    Artifacts that it brought in and that nothing else supports are deprecated; its priors and compiler parameters are
    no longer in force. The event that logs the import stays.

    Raises:
        NotFound: there is no such import, or it was withdrawn before.

    """
    return (yield from write(partial(withdraw, tenancy, reference, at_us)))


def import_event(tenancy: Tenancy, reference: str) -> Plan[str]:
    """The key of the event that logs the import *reference* (its id or its fingerprint's).

    Raises:
        NotFound: there is no such import, or it was withdrawn before.

    """
    row = yield from _find(tenancy, reference)
    key: str = row["event_key"]
    return key


def _find(tenancy: Tenancy, reference: str) -> Plan[Row]:
    """The row of ``fingerprints/find_import`` for the import *reference* (its id or its fingerprint's).

    Raises:
        NotFound: there is no such import, or it was withdrawn before.

    """
    rows = yield bind("fingerprints/find_import", tenant_id=tenancy.tenant_id, reference=reference)
    if not rows:
        raise NotFound("import", reference, tenancy.tenant_id, hint="name an import by its id or its fingerprint's")
    return rows[0]


@dataclass(frozen=True, slots=True)
class _ImportedDrafts:
    """The drafts of an import, compared with what is stored.

    ``fresh`` are the rows to create. ``existing`` are the ids of stored artifacts with the same content, by draft id;
    ``shared_keys`` are the keys of those among them that are drafts of another import.
    """

    fresh: tuple[Row, ...]
    existing: Mapping[str, str]
    shared_keys: tuple[str, ...]

    @property
    def seeded_keys(self) -> list[str]:
        """The keys of the artifacts of this import: its own drafts and those that another import had created."""
        return sorted([*self.shared_keys, *(row["key"] for row in self.fresh)])


def _import(tenancy: Tenancy, verdict: Verdict, now_us: int, at_us: int | None) -> Plan[ImportReport]:
    tenant = yield from state(tenancy)
    verdict = with_expiry(verdict, tenant["logical_us"] if at_us is None else at_us)
    integrity_hash = verdict.envelope.integrity_hash
    earlier_imports = yield bind("fingerprints/imports", tenant_id=tenancy.tenant_id, integrity_hash=integrity_hash)
    if not_withdrawn := [row for row in earlier_imports if not row["withdrawn"]]:
        return _unchanged(verdict, not_withdrawn[0])
    began_us = _began(tenant, verdict, now_us)
    restored = restoration(verdict, tenancy.tenant_id, began_us, generation=len(earlier_imports))
    drafts = yield from _match_drafts(tenancy, restored)
    restored = with_stored_priorities(restored, drafts.existing)
    conflicts = yield from _contradictions(tenancy, drafts.fresh)
    rival_keys = {key for row in conflicts for key in row["artifact_keys"]} - {row["key"] for row in drafts.fresh}
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=sorted(rival_keys | {*drafts.shared_keys}))
    if drafts.fresh:
        yield bind("artifacts/create", tenant_id=tenancy.tenant_id, artifacts=list(drafts.fresh))
    opened_conflicts = yield bind("fingerprints/open_conflicts", tenant_id=tenancy.tenant_id, conflicts=conflicts)
    conflict_ids = tuple(row["conflict_id"] for row in opened_conflicts)
    fresh_ids = sorted(row["properties"]["artifact_id"] for row in drafts.fresh)
    context = ImportContext(len(earlier_imports), tenant["state_version"], fresh_ids, conflict_ids)
    yield from _log(tenancy, restored, context, drafts.seeded_keys)
    return _imported(restored, drafts, conflict_ids)


def _began(tenant: Row, verdict: Verdict, now_us: int) -> int:
    """The time when an import takes effect, at most *now_us* in an empty tenant: the exporter's clock may be ahead."""
    logical_us: int | None = tenant["logical_us"]
    return logical_us or min(microseconds(verdict.fingerprint.created_at), now_us)


def _match_drafts(tenancy: Tenancy, restored: Restoration) -> Plan[_ImportedDrafts]:
    """Compare the drafts of an import with the stored artifacts that have their type and content."""
    rows = [_draft_row(tenancy, artifact, restored.event.time_us) for artifact in restored.artifacts]
    drafts = [{"key": row["key"], "dedup_key": row["properties"]["dedup_key"]} for row in rows]
    existing = yield bind("fingerprints/existing", tenant_id=tenancy.tenant_id, drafts=drafts)
    ids = {row["key"]: row["properties"]["artifact_id"] for row in rows}
    existing_keys = {row["wanted_key"] for row in existing}
    shared = {row["key"] for row in existing if row["imported"] and row["status"] == "draft"}
    return _ImportedDrafts(
        tuple(row for row in sorted(rows, key=lambda row: str(row["key"])) if row["key"] not in existing_keys),
        {ids[row["wanted_key"]]: row["artifact_id"] for row in existing},
        tuple(sorted(shared)),
    )


def _draft_row(tenancy: Tenancy, artifact: Artifact, at_us: int) -> Row:
    """The row of one draft, without evidence: the event that logs the import is linked to it after it is stored."""
    row = artifact_row(tenancy, artifact, counter(), at_us=at_us)
    row["properties"]["imported"] = True
    return row | {"evidence_keys": []}


def _contradictions(tenancy: Tenancy, fresh: Sequence[Row]) -> Plan[list[Row]]:
    """The conflicts between the drafts to be created and the artifacts and stated policies in force."""
    properties = [row["properties"] for row in fresh]
    situations = sorted({row["situation_key"] for row in properties if row["situation_key"]})
    if not situations:
        return []
    rows = yield bind("fingerprints/rivals", tenant_id=tenancy.tenant_id, situation_keys=situations)
    rivals: Mapping[str, list[Row]] = {row["situation_key"]: row["rivals"] for row in rows}
    claims = [{"claim": row, "rivals": rivals.get(row["situation_key"], [])} for row in properties]
    policies = yield bind("conflicts/policies", tenant_id=tenancy.tenant_id)
    conflicts = [
        *opposing_artifacts(tenancy, claims, counter()),
        *opposing_policies(tenancy, claims, [row["policy"] for row in policies], counter()),
    ]
    distinct = {row["key"]: row for row in conflicts}
    return [distinct[key] for key in sorted(distinct)]


def _log(tenancy: Tenancy, restored: Restoration, context: ImportContext, seeded_keys: list[str]) -> Plan[None]:
    """Store the import, the event that logs it (which raises the state version), and their links."""
    properties = import_row(tenancy, restored, context)
    yield bind("fingerprints/record_import", tenant_id=tenancy.tenant_id, properties=properties)
    event = prepare(restored.event, counter())
    yield from _events.record(tenancy, Batch((event,)))
    yield bind(
        "fingerprints/link_import",
        tenant_id=tenancy.tenant_id,
        fingerprint_key=properties["key"],
        event_key=event.key,
        artifact_keys=seeded_keys,
    )


def _unchanged(verdict: Verdict, row: Row) -> ImportReport:
    return ImportReport(
        "unchanged",
        row["import_id"],
        verdict.fingerprint.fingerprint_id,
        known_ids=tuple(row["artifact_ids"]),
        conflict_ids=tuple(row["conflict_ids"]),
        expired=verdict.expired,
        signed_by=verdict.signed_by,
        warnings=verdict.warnings,
    )


def _imported(restored: Restoration, drafts: _ImportedDrafts, conflict_ids: tuple[str, ...]) -> ImportReport:
    verdict = restored.verdict
    return ImportReport(
        "imported",
        restored.import_id,
        verdict.fingerprint.fingerprint_id,
        created_ids=tuple(sorted(row["properties"]["artifact_id"] for row in drafts.fresh)),
        known_ids=tuple(sorted(set(drafts.existing.values()))),
        conflict_ids=conflict_ids,
        expired=verdict.expired,
        signed_by=verdict.signed_by,
        warnings=verdict.warnings,
    )


def withdraw(tenancy: Tenancy, reference: str, at_us: int | None = None) -> Plan[WithdrawnImport]:
    """Withdraw an import as part of a transaction; see :func:`take_back`.

    Raises:
        NotFound: there is no such import, or it was withdrawn before.

    """
    withdrawn = yield from _find(tenancy, reference)
    seeded = [artifact for artifact in withdrawn["seeded"] if artifact["status"] in LIVE_STATUSES]
    unsupported = [artifact for artifact in seeded if not artifact["others"]]
    tenant = yield from state(tenancy)
    now_us = tenant["logical_us"] if at_us is None else at_us
    if unsupported:
        keys = sorted(artifact["key"] for artifact in unsupported)
        yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=keys)
        yield from deprecate(tenancy, keys, REASON, now_us)
        yield from settle(tenancy, keys, now_us)
    yield bind("fingerprints/withdraw", tenant_id=tenancy.tenant_id, key=withdrawn["key"], at_us=now_us)
    yield from bump(tenancy, now_us)
    return WithdrawnImport(
        withdrawn["import_id"],
        withdrawn["fingerprint_id"],
        tuple(sorted(artifact["artifact_id"] for artifact in unsupported)),
        tuple(sorted(artifact["artifact_id"] for artifact in seeded if artifact["others"])),
    )
