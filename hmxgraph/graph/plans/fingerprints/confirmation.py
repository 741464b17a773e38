"""Imported drafts and local experience: what a tenant sees for itself makes a draft active, or makes it needless."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from hmxgraph.fingerprint.agreement import agree, borne_out
from hmxgraph.fingerprint.summaries import SET_OF_TYPE
from hmxgraph.graph.plan import Plan, Procedure, Row, write
from hmxgraph.graph.plans.conflicts import detect_among, settle
from hmxgraph.graph.plans.tenants import bump, state
from hmxgraph.graph.rows.fingerprints import Confirmation
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.parsing import parse_json

CONFIRMED = "local evidence says all of it: "
REPLACED = "local experience says it now: "


class _Pair(NamedTuple):
    """An imported artifact and one of the tenant's own that says the same."""

    imported: Row
    own: Row


def confirm_imports(tenancy: Tenancy) -> Procedure[Confirmation]:
    """What local experience made of imported artifacts; to be done after each compilation.

    A draft becomes active, with the evidence of a draft of the tenant's own that says all that it says: either alone
    is too little, both together are enough. One that says anything more stays a draft. An imported artifact that is
    active leaves when one of the tenant's own that says the same became active, so that nothing is said twice (DESIGN
    6).
    """
    done, keys = yield from write(partial(_confirm, tenancy))
    if keys:
        yield from detect_among(tenancy, keys)
    return done


def _confirm(tenancy: Tenancy) -> Plan[tuple[Confirmation, list[str]]]:
    standing = yield bind("fingerprints/has_imports", tenant_id=tenancy.tenant_id)
    if not standing[0]["imports"]:
        return Confirmation(), []
    rows = yield bind("fingerprints/imported", tenant_id=tenancy.tenant_id, types=sorted(SET_OF_TYPE))
    pairs = tuple(_pairs(rows))
    confirmed = [pair for pair in pairs if pair.imported["status"] == "draft"]
    replaced = [pair for pair in pairs if pair.imported["status"] == "active"]
    if confirmed or replaced:
        yield from _write(tenancy, confirmed, replaced)
    made = Confirmation(_ids(confirmed), _ids(replaced))
    return made, [pair.imported["key"] for pair in confirmed]


def _pairs(rows: Sequence[Row]) -> Iterator[_Pair]:
    """Each imported artifact with the first of the tenant's own that confirms or replaces it."""
    own = defaultdict(list)
    for row in rows:
        row["content"] = parse_json(row["content"])
        if not row["imported"]:
            own[row["artifact_type"]].append(row)
    for row in rows:
        if row["imported"] and (found := _counterpart(row, own[row["artifact_type"]])):
            yield _Pair(row, found)


def _counterpart(imported: Row, own: Sequence[Row]) -> Row | None:
    """An active one that says the same as an active one; where none does, a draft that bears a draft out."""
    kind, content = imported["artifact_type"], imported["content"]
    same = [other for other in own if agree(kind, content, other["content"])]
    active = next((other for other in same if other["status"] == "active"), None)
    if active is not None:
        return active if imported["status"] == "active" else None
    drafts = same if imported["status"] == "draft" else ()
    return next((other for other in drafts if borne_out(imported, other)), None)


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
    told = reason + str(pair.own["artifact_id"])
    return {"key": pair.imported["key"], "status": status, "from": [before], "at_us": at_us, "reason": told}


def _ids(pairs: Sequence[_Pair]) -> tuple[str, ...]:
    return tuple(sorted(pair.imported["artifact_id"] for pair in pairs))
