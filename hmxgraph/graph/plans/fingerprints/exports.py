"""Fingerprints made: what a tenant has learned, read and counted; and what readers say of the packs they used."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from hmxgraph.compiler.state import LastRun
from hmxgraph.errors import UnknownChoice
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.known import Known
from hmxgraph.fingerprint.measures.behaviour import RULES, TELLING, Behaviour, session_behaviour, total
from hmxgraph.fingerprint.options import ExportOptions, Tier
from hmxgraph.fingerprint.priors import VERDICTS
from hmxgraph.fingerprint.restore import LOGGING_SESSIONS
from hmxgraph.fingerprint.selection import select
from hmxgraph.graph.plan import Plan, Procedure, Row, ask, read, write
from hmxgraph.graph.plans.digest import graph_digest
from hmxgraph.graph.plans.tenants import state
from hmxgraph.graph.rows.compilation import model_key
from hmxgraph.graph.rows.fingerprints import (
    NOTHING_IMPORTED,
    InForce,
    behaviour_text,
    export_row,
    in_force_of,
    known_artifact,
    memory_count,
    observed_event,
    private_names,
    report_row,
    served_pack,
    stored_behaviour,
)
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.fingerprints import Envelope
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.parsing import parse_json

REPORTS = 1_000
_PAGE = 500
_EVENTS_AT_ONCE = 20_000
DEFAULT = ExportOptions()


def export_fingerprint(tenancy: Tenancy, options: ExportOptions = DEFAULT) -> Procedure[Envelope]:
    """The tenant's learned state in an envelope (HMX-F 11); the same state gives the same bytes.

    Behaviour of sessions that changed since the last export is counted first and kept on their nodes.

    Raises:
        UnknownChoice: there is no such tier.

    """
    tier = options.limits
    yield from count_behaviour(tenancy)
    known = yield from read(partial(_known, tenancy, options, tier))
    envelope = generate(known, options)
    row = export_row(tenancy, envelope)
    noting = bind("fingerprints/record_export", tenant_id=tenancy.tenant_id, key=row["key"], properties=row)
    yield from write(lambda: ask(noting))
    return envelope


def count_behaviour(tenancy: Tenancy) -> Procedure[int]:
    """The number of sessions whose behaviour was counted anew: those written to since it was counted last."""
    after, counted = "", 0
    while page := (yield from read(partial(_unread, tenancy, after))):
        for rows in _portions(page):
            counted += yield from write(partial(_count, tenancy, rows))
        after = page[-1]["session_key"]
    return counted


def report_pack(tenancy: Tenancy, pack: ContextPack, signal: str, at_us: int | None = None) -> Procedure[str]:
    """The id of *pack*, of which its reader now said *signal*; a later word takes the place of an earlier one.

    Raises:
        UnknownChoice: no such signal.

    """
    if signal not in VERDICTS:
        raise UnknownChoice("signal", signal, tuple(VERDICTS))
    return (yield from write(partial(_report, tenancy, report_row(tenancy, pack, signal), at_us)))


def in_force(tenancy: Tenancy, as_of_us: int | None = None) -> Plan[InForce | None]:
    """The priors and parameters of the latest import that holds: neither taken back nor expired; None without one."""
    rows = yield bind("fingerprints/in_force", tenant_id=tenancy.tenant_id, as_of_us=as_of_us)
    return in_force_of(rows[0]) if rows else None


def _known(tenancy: Tenancy, options: ExportOptions, tier: Tier) -> Plan[Known]:
    tenant = yield from state(tenancy)
    active = yield bind("fingerprints/artifacts", tenant_id=tenancy.tenant_id)
    selection = select(map(known_artifact, active[0]["artifacts"]), tier)
    keys = [tenancy.node_key(artifact_id) for artifact_id in selection.artifact_ids]
    contents = yield bind(
        "fingerprints/contents",
        tenant_id=tenancy.tenant_id,
        keys=keys,
        private_types=list(options.private_types),
    )
    digest = yield from graph_digest(tenancy, named_types=options.public_types)
    memories = yield bind("fingerprints/memories", tenant_id=tenancy.tenant_id)
    behaviour = yield from _behaviour(tenancy)
    reports = yield bind("fingerprints/reports", tenant_id=tenancy.tenant_id, limit=REPORTS)
    return Known(
        tenant_id=tenancy.tenant_id,
        as_of_us=tenant["logical_us"] or 0,
        selection=selection,
        contents={row["artifact_id"]: parse_json(row["content"]) for row in contents},
        digest=digest,
        behaviour=behaviour,
        memories=tuple(map(memory_count, memories)),
        served=tuple(map(served_pack, reports)),
        compiler_state=(yield from _compiler_state(tenancy, tenant["logical_us"])),
        event_count=behaviour.session_events,
        private_names=private_names(contents),
    )


def _compiler_state(tenancy: Tenancy, as_of_us: int | None) -> Plan[dict[str, Any]]:
    """The parameters that the compiler goes by: those of its last run, unless an import since asks for others."""
    imported = (yield from in_force(tenancy, as_of_us)) or NOTHING_IMPORTED
    last = yield from last_run(tenancy)
    return last.told(imported.compiler_parameters, imported.fingerprint_id)


def last_run(tenancy: Tenancy) -> Plan[LastRun]:
    """What the compiler last went by; at first what it starts from."""
    rows = yield bind("compiler/parameters", tenant_id=tenancy.tenant_id, model_key=model_key(tenancy))
    return LastRun.parse(rows[0]["compiler_parameters"]) if rows else LastRun({})


def _behaviour(tenancy: Tenancy) -> Plan[Behaviour]:
    rows = yield bind("fingerprints/behaviour", tenant_id=tenancy.tenant_id, logging_sessions=LOGGING_SESSIONS)
    row = rows[0]
    return replace(
        total(map(stored_behaviour, row["counted"])),
        sessions=row["sessions"],
        session_events=row["session_events"],
        session_us=row["session_us"],
    )


def _unread(tenancy: Tenancy, after: str) -> Plan[list[Row]]:
    rows = yield bind(
        "fingerprints/unread_sessions", tenant_id=tenancy.tenant_id, after=after, rules=RULES, limit=_PAGE
    )
    return rows


def _portions(sessions: Sequence[Row]) -> Iterator[list[Row]]:
    """Sessions in order, in portions with at most so many events; a larger session is a portion by itself."""
    portion: list[Row] = []
    events = 0
    for session in sessions:
        if portion and events + session["event_count"] > _EVENTS_AT_ONCE:
            yield portion
            portion, events = [], 0
        portion.append(session)
        events += session["event_count"]
    yield portion


def _count(tenancy: Tenancy, sessions: Sequence[Row]) -> Plan[int]:
    keys = [session["session_key"] for session in sessions]
    events = yield bind(
        "fingerprints/session_events",
        tenant_id=tenancy.tenant_id,
        session_keys=keys,
        event_types=list(TELLING),
    )
    groups = groupby(events, key=itemgetter("session_key"))
    counted = {key: session_behaviour([observed_event(row) for row in rows]) for key, rows in groups}
    rows = [
        {
            "session_key": session["session_key"],
            "behaviour": behaviour_text(counted.get(session["session_key"], Behaviour())),
            "version": session["version"],
        }
        for session in sessions
    ]
    yield bind("fingerprints/keep_behaviour", tenant_id=tenancy.tenant_id, rows=rows, rules=RULES)
    return len(rows)


def _report(tenancy: Tenancy, row: Row, at_us: int | None) -> Plan[str]:
    tenant = yield from state(tenancy)
    now_us = (tenant["logical_us"] or 0) if at_us is None else at_us
    yield bind("fingerprints/report_pack", tenant_id=tenancy.tenant_id, at_us=now_us, **row)
    pack_id: str = row["pack_id"]
    return pack_id
