"""Stored events against their own hashes and links, sessions and tenants against what they count."""

from collections.abc import Iterator
from typing import Any

from hmxgraph.errors import InvalidDocument
from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.checks.findings import Finding
from hmxgraph.graph.rows.recall_rows import recall_row
from hmxgraph.ingest.prepare import traits
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.parsing import parse_json

_OURS = ("event_hash", "erased", "salience_origin")
# What is derived from an event and can be derived again. Its text cannot: it keeps the order of the fields as they
# came, which the canonical content does not; ``recall_row`` has its own check.
_TRAITS = ("title", "speaker", "label", "failed")
_NAMED = (("CAUSED_BY", "parent_event_id"), ("CORRELATES_WITH", "correlation_id"))


def event_document(properties: Row) -> dict[str, Any]:
    """The wire document of an event's node: what it was hashed from.

    Raises:
        ValueError: ``content`` or ``metadata`` are no JSON.

    """
    found = {name: value for name, value in properties.items() if value is not None and name not in _OURS}
    if properties.get("salience_origin") == "engine":
        del found["salience"]
    return found | {name: parse_json(found[name]) for name in ("content", "metadata")}


def event_findings(row: Row) -> Iterator[Finding]:
    """What is wrong with one row of ``verify/events``; an erased event keeps its place and nothing else."""
    event = row["event"]
    event_id = event["event_id"]
    if not row["in_session"]:
        yield Finding("session", "event", event_id, "no session", event["session_id"])
    if row["out_of_order"]:
        yield Finding("order", "event", event_id, "followed by an earlier event", "sequence, timestamp, event_id")
    if event.get("erased"):
        return
    if (computed := _hash(event)) != event["event_hash"]:
        yield Finding("event_hash", "event", event_id, computed, str(event["event_hash"]))
    else:
        yield from _derived_findings(event, row["derived"])
    if (found := row["derived"]["recall_row"]) != (expected := _recall_row(event | row["derived"])):
        yield Finding("recall_row", "event", event_id, str(found), expected)
    yield from _link_findings(row)


def session_findings(row: Row) -> Iterator[Finding]:
    """What is wrong with one row of ``verify/sessions``."""
    if row["counted"] != row["stored"]:
        yield Finding("event_count", "session", row["session_id"], str(row["counted"]), f"{row['stored']} events")
    if row["links"] != max(row["stored"] - 1, 0):
        expected = f"{max(row['stored'] - 1, 0)} NEXT links"
        yield Finding("order", "session", row["session_id"], str(row["links"]), expected)


def tenant_findings(tenant_id: str, row: Row) -> Iterator[Finding]:
    """What is wrong with the row of ``verify/tenant``."""
    if row["counted"] != row["stored"]:
        yield Finding("event_count", "tenant", tenant_id, str(row["counted"]), f"{row['stored']} events")
    if row["latest_us"] is not None and row["logical_us"] < row["latest_us"]:
        expected = f"{row['latest_us']} or later, the time of an event"
        yield Finding("logical_us", "tenant", tenant_id, str(row["logical_us"]), expected)


def _hash(event: Row) -> str:
    try:
        return content_hash(event_document(event))
    except (ValueError, KeyError) as error:
        return f"unreadable: {error}"


def _derived_findings(event: Row, stored: Row) -> Iterator[Finding]:
    """What this release derives otherwise: changed by hand, or stored by a release that read events in another way."""
    try:
        derived = traits(Event.parse(event_document(event)))
    except InvalidDocument as error:
        yield Finding("document", "event", event["event_id"], str(error), "an event of HMX-E")
        return
    for name in _TRAITS:
        if (found := stored[name]) != (expected := derived.get(name)):
            yield Finding("derived", "event", event["event_id"], f"{name}: {found}", f"{name}: {expected}")


def _recall_row(properties: Row) -> str:
    try:
        return recall_row({name: value for name, value in properties.items() if value is not None})
    except KeyError as error:
        return f"unreadable: no {error}"


def _link_findings(row: Row) -> Iterator[Finding]:
    event = row["event"]
    for link, name in _NAMED:
        other = event.get(name)
        if other is None or other == event["event_id"] or link in row["linked"]:
            continue
        if link in row["awaited"]:
            yield Finding(name, "event", event["event_id"], "not stored", other, "missing")
        else:
            yield Finding(name, "event", event["event_id"], "no link", f"{link} to {other}")
