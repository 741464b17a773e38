"""The lifecycle of artifacts: recorded, superseded, moved between statuses."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from hmxgraph.errors import (
    AlreadySuperseded,
    DuplicateArtifact,
    Fault,
    HmxGraphError,
    ImmutableArtifact,
    InvalidDocument,
    InvalidRequest,
    InvalidTransition,
    SuccessorMismatch,
    SuccessorNeeded,
    SupersessionCycle,
)
from hmxgraph.graph.artifacts import (
    OVERLAY,
    SUBJECTS,
    artifact_row,
    core_differences,
    is_linked,
    node,
    stored_document,
    value,
)
from hmxgraph.graph.conflicts import detect_among, settle
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, bump, read, state, write
from hmxgraph.protocol.artifacts import LEGAL_TRANSITIONS, LIVE_STATUSES, Artifact
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.lifecycle import ArtifactReceipt
from hmxgraph.protocol.timestamps import REPRESENTABLE, is_representable, microseconds
from hmxgraph.text.artifacts import validity
from hmxgraph.text.terms import counter

# Checks of a document, by itself and against its predecessor, before anything is written. HMX-A is the part of the
# HMX-1.0 standard about artifacts (here clauses 5, 7 and 8).

# The statuses that the first version of a chain may have.
_RECORDABLE = (*LIVE_STATUSES, "deprecated", "archived")


def check_recordable(tenancy: Tenancy, artifact: Artifact) -> None:
    """Refuse an artifact that cannot start a chain in this tenant.

    Raises:
        InvalidDocument: it has faults; all are listed.

    """
    _refuse(artifact, [*_faults(tenancy, artifact), *_first_version_faults(artifact)])


def check_successor(tenancy: Tenancy, old_id: str, artifact: Artifact) -> None:
    """Refuse an artifact that cannot succeed *old_id*, whatever is stored under that id.

    Raises:
        SupersessionCycle: it is *old_id* itself.
        SuccessorMismatch: it belongs to another tenant, names another predecessor or is neither draft nor active.
        InvalidDocument: wrong content hash or validity scope, or an HMX version or time that is not supported.

    """
    if artifact.artifact_id == old_id:
        raise SupersessionCycle(old_id, old_id)
    if artifact.tenant_id not in {None, tenancy.tenant_id}:
        raise SuccessorMismatch(old_id, "tenant_id", repr(artifact.tenant_id), repr(tenancy.tenant_id))
    if artifact.supersedes not in {None, old_id}:
        raise SuccessorMismatch(old_id, "supersedes", repr(artifact.supersedes), repr(old_id))
    if artifact.status not in LIVE_STATUSES:
        raise SuccessorMismatch(old_id, "status", repr(artifact.status), " or ".join(LIVE_STATUSES))
    _refuse(artifact, [*_faults(tenancy, artifact)])


def numbered(artifact: Artifact, old: Row) -> Artifact:
    """*artifact* as the successor of *old*; one with version 1 and no ``supersedes`` gets the next version."""
    fresh = artifact.version == 1 and artifact.supersedes is None
    version = old["version"] + 1 if fresh else artifact.version
    return Artifact.parse(artifact.document() | {"version": version, "supersedes": old["artifact_id"]})


def _faults(tenancy: Tenancy, artifact: Artifact) -> Iterator[Fault]:
    if artifact.tenant_id not in {None, tenancy.tenant_id}:
        yield Fault("$.tenant_id", "HMX-A 2.2", repr(artifact.tenant_id), repr(tenancy.tenant_id))
    if not artifact.hash_matches:
        yield Fault("$.content_hash", "HMX-A 8", artifact.content_hash, content_hash(artifact.content))
    yield from _scope_faults(tenancy, artifact)
    if not artifact.hmx_version.startswith("HMX-1."):
        yield Fault("$.hmx_version", "HMX-A 2.1", artifact.hmx_version, "HMX-1.x")
    for name, clause in (("created_at", "HMX-A 2.1"), ("updated_at", "HMX-A 2.2")):
        if (time_text := getattr(artifact, name)) is not None and not is_representable(microseconds(time_text)):
            yield Fault(f"$.{name}", clause, time_text, f"a {REPRESENTABLE}")


def _scope_faults(tenancy: Tenancy, artifact: Artifact) -> Iterator[Fault]:
    """The faults of a validity scope that excludes every reader of this tenant."""
    document = artifact.document().get("validity_scope")
    scope = validity(document)
    if scope.tenants is not None and tenancy.tenant_id not in scope.tenants:
        yield Fault(
            "$.validity_scope.tenant_ids", "HMX-A 6", repr(list(scope.tenants)), f"a list with {tenancy.tenant_id!r}"
        )
    if scope.from_us is not None and scope.to_us is not None and scope.from_us > scope.to_us:
        time_range = f"{document['time_range']['start']} to {document['time_range']['end']}" if document else ""
        yield Fault("$.validity_scope.time_range", "HMX-A 6", time_range, "a start that is not after its end")


def _first_version_faults(artifact: Artifact) -> Iterator[Fault]:
    if artifact.version != 1:
        expected = "1, since it supersedes nothing (or name its predecessor in supersedes)"
        yield Fault("$.version", "HMX-A 2.1", str(artifact.version), expected)
    if artifact.status not in _RECORDABLE:
        yield Fault(
            "$.status", "HMX-A 7", repr(artifact.status), f"{', '.join(_RECORDABLE)}: superseded needs a successor"
        )
    elif artifact.superseded_by is not None:
        yield Fault(
            "$.superseded_by", "HMX-A 7", repr(artifact.superseded_by), "nothing before a successor is recorded"
        )


def _refuse(artifact: Artifact, faults: list[Fault]) -> None:
    if faults:
        raise InvalidDocument("artifact", artifact.artifact_id, tuple(faults))


# Writing artifacts: recorded, superseded, moved between statuses; Cypher enforces the rules, under locks.


def record_artifact(
    tenancy: Tenancy, artifact: Artifact, *, at_us: int | None = None, unique: bool = True
) -> Procedure[ArtifactReceipt]:
    """Store *artifact* as the first version of a chain, or as the successor of the artifact that it ``supersedes``.

    If it is *unique* and supersedes nothing, a draft or active artifact with its type and content is returned instead,
    as a duplicate. Storing a successor raises the errors of `supersede`.

    Raises:
        InvalidDocument: it cannot start a chain in this tenant; every fault is listed.
        ImmutableArtifact: another artifact has this id.

    """
    if artifact.supersedes is not None:
        return (yield from supersede(tenancy, artifact.supersedes, artifact, at_us=at_us, unique=unique))
    check_recordable(tenancy, artifact)
    recorded = yield from write(lambda: _record(tenancy, _new_row(tenancy, artifact, at_us, unique=unique)))
    return (yield from _with_conflicts(tenancy, recorded))


def supersede(
    tenancy: Tenancy, old_id: str, artifact: Artifact, *, at_us: int | None = None, unique: bool = True
) -> Procedure[ArtifactReceipt]:
    """Store *artifact* as the successor of the active head *old_id*: status, edge and version at once (HMX-A 7).

    A fresh document (version 1, no ``supersedes``) is numbered here; any other must have the next version. A draft is
    only a proposal: *old_id* stays in force, and the draft joins the chain when `transition` makes it active. Unless
    *artifact* is *unique*, other drafts and active artifacts may have its content.

    Raises:
        NotFound: there is no artifact *old_id*.
        AlreadySuperseded: it has another successor.
        SupersessionCycle: *artifact* is *old_id* itself, or an older version in its chain.
        InvalidTransition: *old_id* is not active.
        SuccessorMismatch: tenant, type, predecessor, version or status do not fit a successor.
        InvalidDocument: *artifact* is invalid by itself; see `check_successor`.
        ImmutableArtifact: another artifact has this id.
        DuplicateArtifact: *artifact* is *unique*, and a third artifact, draft or active, has its type and content.

    """
    check_successor(tenancy, old_id, artifact)
    recorded = yield from write(lambda: _supersede(tenancy, old_id, artifact, at_us, unique=unique))
    return (yield from _with_conflicts(tenancy, recorded))


def import_chain(
    tenancy: Tenancy, versions: Sequence[Artifact], *, at_us: int | None = None
) -> Procedure[tuple[ArtifactReceipt, ...]]:
    """Store all versions of a chain; return the outcome for each, oldest first. Versions already stored stay unchanged.

    Versions that were superseded elsewhere are recorded as active and superseded by the next one; a last version that
    had ended is recorded as active, too, before it gets its status.

    Raises:
        InvalidRequest: no versions, or versions that do not follow each other.
        InvalidDocument, LifecycleError: as `record_artifact` and `supersede`, for example `AlreadySuperseded` if a
            stored version has another successor.

    """
    ordered = sorted(versions, key=lambda artifact: artifact.version)
    _check_sequence(ordered)
    receipts = []
    for artifact in ordered:
        live = artifact if artifact.status in LIVE_STATUSES else _as_active(artifact)
        receipt = yield from record_artifact(tenancy, live, at_us=at_us)
        receipts.append(receipt)
    last = ordered[-1]
    if last.status not in LIVE_STATUSES and receipts[-1].artifact.status == "active":
        ended = yield from transition(tenancy, last.artifact_id, last.status, reason=_IMPORTED_STATUS, at_us=at_us)
        receipts[-1] = replace(receipts[-1], artifact=ended)
    return tuple(receipts)


_IMPORTED_STATUS = "the status that was imported with the chain"


def _check_sequence(ordered: Sequence[Artifact]) -> None:
    """Refuse versions that are not a chain, in which each supersedes the one before it, from version 1."""
    if not ordered:
        raise InvalidRequest("versions", "empty", "versions of one chain", "give graph.chain(artifact_id).versions")
    for number, artifact in enumerate(ordered, start=1):
        before = ordered[number - 2].artifact_id if number > 1 else None
        if artifact.version != number or artifact.supersedes != before:
            out_of_sequence = (
                f"version {artifact.version} of {artifact.artifact_id!r}, which supersedes {artifact.supersedes!r}"
            )
            raise InvalidRequest(
                "versions", out_of_sequence, f"version {number}, superseding {before!r}", "give the whole chain"
            )
    if ordered[-1].status == "superseded":
        last = f"superseded version {ordered[-1].version} as the last"
        raise InvalidRequest("versions", last, "the version that supersedes it", "give the whole chain")


def _as_active(artifact: Artifact) -> Artifact:
    document = artifact.document() | {"status": "active"}
    document.pop("superseded_by", None)
    return Artifact.parse(document)


def transition(
    tenancy: Tenancy, artifact_id: str, status: str, *, reason: str = "", at_us: int | None = None
) -> Procedure[Artifact]:
    """Make a legal status change (HMX-A 5), kept in the history with *reason*; return the artifact.

    The change takes effect at *at_us*, else at the tenant's logical time, and no earlier than the change before it.

    Raises:
        NotFound: there is no such artifact.
        InvalidTransition: the change is not legal, or the predecessor of an activated draft is no longer active.
        SuccessorNeeded: an active artifact can become superseded only by a successor.
        AlreadySuperseded: the predecessor of an activated draft has another successor.

    """
    before, now_us = yield from read(lambda: _current_status(tenancy, artifact_id))
    if (before, status) == ("active", "superseded"):
        raise SuccessorNeeded(artifact_id)
    if status not in _legal_from(before):
        raise InvalidTransition(artifact_id, before, status, _legal_from(before))
    return (yield from change_status(tenancy, artifact_id, before, status, reason, now_us if at_us is None else at_us))


def change_status(
    tenancy: Tenancy, artifact_id: str, before: str, status: str, reason: str, at_us: int
) -> Procedure[Artifact]:
    """Change the status from *before*, unless the history already has this very change; return the artifact.

    Raises:
        NotFound: there is no such artifact.
        InvalidTransition: the status is no longer *before*, or the predecessor of an activated draft not active.
        AlreadySuperseded: the predecessor of an activated draft has another successor.

    """
    change = {"status": status, "reason": reason, "at_us": at_us, "from": [before]}
    artifact = yield from write(lambda: _transition(tenancy, artifact_id, change))
    yield from _detect(tenancy, artifact)
    return artifact


def _legal_from(status: str) -> tuple[str, ...]:
    """The statuses that may follow *status* (HMX-A 5).

    >>> _legal_from("draft"), _legal_from("archived")
    (('active', 'deprecated'), ())

    """
    return LEGAL_TRANSITIONS.get(status, ())


def _new_row(tenancy: Tenancy, artifact: Artifact, at_us: int | None, *, unique: bool) -> Row:
    """The row of an artifact to store; without a dedup_key unless it is *unique*."""
    row = artifact_row(tenancy, artifact, counter(), at_us=at_us)
    return row if unique else row | {"properties": row["properties"] | {"dedup_key": None}}


def _record(tenancy: Tenancy, row: Row) -> Plan[ArtifactReceipt]:
    existing = yield from _existing(tenancy, row, None)
    if same := existing.get("same"):
        return _unchanged(same, row)
    if twin := existing.get("twin"):
        return ArtifactReceipt(value(twin), "duplicate", ignored=_ignored(twin, row))
    yield bind("artifacts/create", tenant_id=tenancy.tenant_id, artifacts=[row])
    yield from bump(tenancy, row["properties"]["status_times"][0])
    return ArtifactReceipt(value(row["properties"]), "created")


def _supersede(
    tenancy: Tenancy, old_id: str, artifact: Artifact, at_us: int | None, *, unique: bool
) -> Plan[ArtifactReceipt]:
    old_key = tenancy.node_key(old_id)
    keys = sorted({old_key, tenancy.node_key(artifact.artifact_id)})
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=keys)
    old = yield from node(tenancy, old_id)
    successor = numbered(artifact, old)
    row = _new_row(tenancy, successor, at_us, unique=unique)
    existing = yield from _existing(tenancy, row, old)
    if same := existing.get("same"):
        return _stored_successor(same, row, old)
    if old["status"] == "active" and (twin := existing.get("twin")):
        raise DuplicateArtifact(artifact.artifact_id, twin["artifact_id"])
    if successor.status == "draft":
        return (yield from _propose(tenancy, row, old, successor))
    succession = row | {"old_key": old_key, "at_us": row["properties"]["status_times"][0]}
    rows = yield bind("artifacts/supersede", tenant_id=tenancy.tenant_id, successions=[succession])
    if not rows:
        raise _why_refused(old, successor)
    yield from settle(tenancy, [old_key], rows[0]["at_us"])
    yield from bump(tenancy, rows[0]["at_us"])
    stored = yield from node(tenancy, artifact.artifact_id)
    return ArtifactReceipt(value(stored), "created", old_id)


def _propose(tenancy: Tenancy, row: Row, old: Row, successor: Artifact) -> Plan[ArtifactReceipt]:
    """Store a draft next to its predecessor, outside the chain; any number of drafts may compete to succeed it."""
    properties = row["properties"]
    fits = (old["artifact_type"], old["version"] + 1) == (successor.artifact_type, successor.version)
    if old["status"] != "active" or not fits:
        raise _why_refused(old, successor)
    # Only one draft or active artifact with the same content can have the dedup key; the one in force keeps it.
    same = properties["dedup_key"] == old.get("dedup_key")
    proposed = properties | {"supersedes_key": None, "dedup_key": None if same else properties["dedup_key"]}
    yield bind("artifacts/create", tenant_id=tenancy.tenant_id, artifacts=[row | {"properties": proposed}])
    yield from bump(tenancy, proposed["status_times"][0])
    return ArtifactReceipt(value(proposed), "created")


def _existing(tenancy: Tenancy, row: Row, old: Row | None) -> Plan[dict[str, Row]]:
    """The stored artifacts with the id of *row* and with its content, except the one to be superseded."""
    properties = row["properties"]
    rows = yield bind(
        "artifacts/existing", tenant_id=tenancy.tenant_id, key=row["key"], dedup_key=properties.get("dedup_key")
    )
    existing = {row["relation"]: row["artifact"] for row in rows}
    if old is not None and existing.get("twin", {}).get("key") == old["key"]:
        del existing["twin"]
    return existing


def _unchanged(stored: Row, row: Row, superseded_id: str | None = None) -> ArtifactReceipt:
    """The outcome for an artifact that is already recorded with the same core.

    Raises:
        ImmutableArtifact: the stored core differs.

    """
    if stored["core_hash"] != row["properties"]["core_hash"]:
        stored_fields, new_fields = stored_document(stored), stored_document(row["properties"])
        raise ImmutableArtifact(stored["artifact_id"], core_differences(stored_fields or {}, new_fields or {}))
    return ArtifactReceipt(value(stored), "unchanged", superseded_id, ignored=_ignored(stored, row))


def _ignored(stored: Row, row: Row) -> tuple[str, ...]:
    """The overlay fields in which a document differs from the stored artifact."""
    stored_fields, new_fields = stored_document(stored) or {}, stored_document(row["properties"]) or {}
    return tuple(
        name
        for name in OVERLAY
        if name in new_fields and name != "updated_at" and stored_fields.get(name) != new_fields[name]
    )


def _stored_successor(stored: Row, row: Row, old: Row) -> ArtifactReceipt:
    """The outcome for a successor whose id is stored: unchanged if it is the same artifact, else refused."""
    if stored.get("supersedes") == old["artifact_id"]:
        return _unchanged(stored, row, old["artifact_id"] if is_linked(stored) else None)
    if stored["chain_key"] == old["chain_key"] and stored["version"] <= old["version"]:
        raise SupersessionCycle(old["artifact_id"], stored["artifact_id"])
    return _unchanged(stored, row)


def _why_refused(old: Row, successor: Artifact) -> HmxGraphError:
    """The reason why *successor* cannot supersede *old*."""
    old_id = old["artifact_id"]
    if winner_id := old.get("superseded_by"):
        return AlreadySuperseded(old_id, winner_id)
    if old["status"] != "active":
        return InvalidTransition(old_id, old["status"], "superseded", _legal_from(old["status"]))
    if old["artifact_type"] != successor.artifact_type:
        return SuccessorMismatch(old_id, "artifact_type", successor.artifact_type, old["artifact_type"])
    return SuccessorMismatch(old_id, "version", str(successor.version), str(old["version"] + 1))


def _current_status(tenancy: Tenancy, artifact_id: str) -> Plan[tuple[str, int]]:
    properties = yield from node(tenancy, artifact_id)
    tenant = yield from state(tenancy)
    return properties["status"], tenant["logical_us"]


def _transition(tenancy: Tenancy, artifact_id: str, change: Row) -> Plan[Artifact]:
    key = tenancy.node_key(artifact_id)
    stored = yield from node(tenancy, artifact_id)
    joins = change["status"] == "active" and bool(stored.get("supersedes"))
    keys = [key, tenancy.node_key(stored["supersedes"])] if joins else [key]
    yield bind("artifacts/lock", tenant_id=tenancy.tenant_id, keys=sorted(keys))
    if joins:
        change = change | {"at_us": (yield from _join(tenancy, artifact_id, change["at_us"]))}
    rows = yield bind("artifacts/transition", tenant_id=tenancy.tenant_id, changes=[change | {"key": key}])
    stored = yield from node(tenancy, artifact_id)
    if not rows and not _already_done(stored, change):
        raise InvalidTransition(artifact_id, stored["status"], change["status"], _legal_from(stored["status"]))
    if rows:
        yield from settle(tenancy, keys, rows[0]["at_us"])
        yield from bump(tenancy, rows[0]["at_us"])
    return value(stored)


def _join(tenancy: Tenancy, artifact_id: str, at_us: int) -> Plan[int]:
    """Link a proposed successor into its chain; return the time from which it replaces its predecessor."""
    new = yield from node(tenancy, artifact_id)
    old = yield from node(tenancy, new["supersedes"])
    if is_linked(new) or new["status"] != "draft":
        # Joined by an earlier attempt, or no longer a draft: the transition decides.
        return max(at_us, int(old["status_times"][-1]))
    rows = yield bind("artifacts/follow", tenant_id=tenancy.tenant_id, key=new["key"], old_key=old["key"], at_us=at_us)
    if not rows:
        raise _why_refused(old, value(new))
    joined_us: int = rows[0]["at_us"]
    return joined_us


def _already_done(stored: Row, change: Row) -> bool:
    """Whether the history has this very change: the answer to its commit was lost, or another replay made it."""
    statuses, times = pairwise(stored["status_values"]), pairwise(stored["status_times"])
    return any(
        step == (*change["from"], change["status"])
        and at_us == max(change["at_us"], before_us)
        and reason == change["reason"]
        for step, (before_us, at_us), reason in zip(statuses, times, stored["status_reasons"][1:], strict=True)
    )


def _with_conflicts(tenancy: Tenancy, recorded: ArtifactReceipt) -> Procedure[ArtifactReceipt]:
    """*recorded* with the conflicts that it opened; a repeated call looks again, in case the first was interrupted."""
    conflict_ids = () if recorded.outcome == "duplicate" else (yield from _detect(tenancy, recorded.artifact))
    return replace(recorded, conflicts=conflict_ids)


def _detect(tenancy: Tenancy, artifact: Artifact) -> Procedure[tuple[str, ...]]:
    """The ids of the conflicts that *artifact* opens; only active artifacts of some types can open any."""
    if artifact.status != "active" or artifact.artifact_type not in SUBJECTS:
        return ()
    return (yield from detect_among(tenancy, [tenancy.node_key(artifact.artifact_id)]))
