"""Artifacts in the graph: converted to rows and back; read one by one, in pages or as chains, as of any time."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from hmxgraph.errors import NotFound, UnknownChoice
from hmxgraph.graph._paging import check_limit, cursor, number_cursor, number_place, place
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, read, state
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES, LIVE_STATUSES, STATUSES, Artifact, texts
from hmxgraph.protocol.canonical import canonical_text, content_hash
from hmxgraph.protocol.events import CUSTOM_TYPE
from hmxgraph.protocol.lifecycle import ORDERS, SORTS, ArtifactFilter, ArtifactPage, Chain, Sorting
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import iso, microseconds
from hmxgraph.recall.question import LONGEST_QUESTION
from hmxgraph.text.artifacts import artifact_words, render_artifact, validity
from hmxgraph.text.terms import DEFAULT_ENCODING, TokenCounter, terms

# Artifacts as nodes and back: the only place that knows both the document and its stored form. HMX-A is the part of the
# HMX-1.0 standard about artifacts, HMX-C the part about context packs.

# The fields that may change after an artifact was recorded (HMX-A 1).
OVERLAY = ("status", "superseded_by", "updated_at", "observed_count", "success_rate", "tags", "metadata")
# The value of ``as_of_us`` that includes everything recorded so far.
ALWAYS = 2**63 - 1
# The properties that replace the words of an artifact whose evidence was erased; a title must not be empty (HMX-A 2.1).
BLANK = MappingProxyType(
    {
        "title": "[erased]",
        "summary": "",
        "content": "{}",
        "text": "[erased]",
        "search_text": "",
        "token_count": 0,
        "tags": [],
        "metadata": "{}",
    }
)
# The types that guide a running session whatever they contain.
_GUIDING = frozenset({"task_schema", "failure_playbook"})
# Maximum number of search terms per node; more would bloat the index.
_MOST_TERMS = 4_000
# Fields stored as canonical text, and fields stored as floats even if given as integers.
_NESTED = ("content", "metadata", "validity_scope")
_NUMBERS = ("confidence", "success_rate")
# Success rate from which Neo4j Browser shows a ✓ instead of a ✗.
_LEAST_SUCCESS = 0.5
# The field that names an artifact's subject, by type: two artifacts with the same subject may contradict each other.
SUBJECTS = {"decision_policy": "condition", "causal_pattern": "cause"}
# Fields stored under their own names.
_WIRE = tuple(name for name in Artifact.model_fields if name != "updated_at")


def artifact_row(
    tenancy: Tenancy,
    artifact: Artifact,
    count_tokens: TokenCounter,
    *,
    at_us: int | None = None,
    lineage_key: str | None = None,
) -> Row:
    """The row for ``artifacts/create`` and ``artifacts/supersede``: key, properties, keys of evidence and memories.

    The artifact becomes visible at the later of its ``created_at`` and *at_us*; a successor not before the last change
    of its predecessor.
    """
    document = artifact.document() | {"tenant_id": tenancy.tenant_id}
    created_us = microseconds(artifact.created_at)
    began_us = created_us if at_us is None else max(created_us, at_us)
    key = tenancy.node_key(artifact.artifact_id)
    properties = {
        "key": key,
        "chain_key": key,
        "lineage_key": lineage_key or artifact.artifact_id,
        "created_us": created_us,
        **_wire_properties(document),
        **_hash_properties(tenancy, document),
        **_history_properties(document, began_us),
        **_text_properties(tenancy, document, count_tokens),
        **_validity_properties(document),
        "guides": _guides(document),
    }
    return {
        "key": key,
        "properties": properties,
        "evidence_keys": [tenancy.node_key(event_id) for event_id in sorted(set(artifact.source_events))],
        "memory_keys": [tenancy.node_key(memory_id) for memory_id in sorted(set(artifact.source_memory_ids))],
    }


def stored_artifact(properties: Row, as_of_us: int | None = None) -> Artifact | None:
    """The artifact of a node as it was at *as_of_us* (now, if None); None if it was not recorded by then."""
    document = stored_document(properties, as_of_us)
    return None if document is None else Artifact.parse(document)


def stored_document(properties: Row, as_of_us: int | None = None) -> dict[str, Any] | None:
    """The wire document of a node, with status and counts as of *as_of_us*; None if it was not recorded by then."""
    if as_of_us is not None and properties["status_times"][0] > as_of_us:
        return None
    overlay = _overlay(properties, ALWAYS if as_of_us is None else as_of_us)
    document = {name: properties[name] for name in _WIRE if name in properties} | overlay
    nested = {name: parse_json(document[name]) for name in _NESTED if document.get(name) is not None}
    return {name: value for name, value in (document | nested).items() if value is not None}


def core_hash(document: Mapping[str, Any]) -> str:
    """The hash of the immutable core: the document without its overlay (HMX-A 1)."""
    return content_hash({name: value for name, value in document.items() if name not in OVERLAY})


def core_differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the core fields in which two documents differ."""
    names = (first.keys() | second.keys()) - set(OVERLAY)
    return tuple(name for name in sorted(names) if first.get(name) != second.get(name))


def dedup_key(tenancy: Tenancy, document: Mapping[str, Any]) -> str:
    """The unique key of a draft or active artifact: no two of them may have the same type and content."""
    return tenancy.node_key("dedup", document["artifact_type"], document["content_hash"])


def evidence_keys(tenancy: Tenancy, properties: Row) -> tuple[dict[str, str], dict[str, str]]:
    """The evidence that an artifact names: the ids of events by key, and the ids of memories by key."""
    events = {tenancy.node_key(event_id): event_id for event_id in properties["source_events"]}
    memories = {tenancy.node_key(memory_id): memory_id for memory_id in properties["source_memory_ids"]}
    return events, memories


def is_linked(properties: Row) -> bool:
    """Whether this artifact is a successor in a chain; a draft that is only proposed as one is not (HMX-A 7)."""
    return properties.get("supersedes_key") is not None


def _artifact_text(document: Mapping[str, Any]) -> str:
    """The readable rendition of a document, as packs show it."""
    return render_artifact(document["artifact_type"], document["title"], document["summary"], document["content"])


def tampering(properties: Row) -> tuple[str, ...]:
    """The checks that an artifact fails: content and core against their hashes, text against its rendition.

    An unchanged artifact fails none; one whose node cannot be read as an artifact is ``unreadable``. Packs show content
    and text: an artifact that fails either check is dropped as ``provenance_failed`` (HMX-C 8). An erased artifact
    keeps the hashes of its former content: only its blanked fields are checked.
    """
    if properties.get("erased"):
        return tuple(name for name, blank in BLANK.items() if properties[name] != blank)
    try:
        document = stored_document(properties) or {}
        checks = {
            "content_hash": document["content_hash"] == content_hash(document["content"]),
            "core_hash": properties["core_hash"] == core_hash(document),
            "text": properties["text"] == _artifact_text(document),
        }
    except (KeyError, ValueError, AttributeError, TypeError):
        return ("unreadable",)
    return tuple(name for name, holds in checks.items() if not holds)


def _wire_properties(document: Mapping[str, Any]) -> Row:
    row = {name: document[name] for name in _WIRE if name in document}
    row |= {name: canonical_text(row[name]) for name in _NESTED if name in row}
    return row | {name: float(row[name]) for name in _NUMBERS if name in row}


def _hash_properties(tenancy: Tenancy, document: Mapping[str, Any]) -> Row:
    alive = document["status"] in LIVE_STATUSES
    supersedes = document.get("supersedes")
    return {
        "core_hash": core_hash(document),
        "dedup_key": dedup_key(tenancy, document) if alive else None,
        "supersedes_key": tenancy.node_key(supersedes) if supersedes else None,
        "situation_key": (situation := _situation_key(tenancy, document)),
        "uncompared": True if situation else None,
    }


def _situation_key(tenancy: Tenancy, document: Mapping[str, Any]) -> str | None:
    """The key shared by artifacts of one type whose subjects have the same terms; None without a subject."""
    subject = SUBJECTS.get(document["artifact_type"])
    about = sorted(set(terms(str(document["content"].get(subject) or "")))) if subject else []
    return tenancy.node_key("situation", document["artifact_type"], *about) if about else None


def _guides(document: Mapping[str, Any]) -> str | None:
    """The type of an artifact that can guide a session; None for others. A policy can do so only if it names tools."""
    artifact_type = str(document["artifact_type"])
    names_tools = artifact_type == "decision_policy" and bool(texts(document["metadata"].get("tools")))
    return artifact_type if artifact_type in _GUIDING or names_tools else None


def _history_properties(document: Mapping[str, Any], began_us: int) -> Row:
    updated_us = microseconds(document["updated_at"]) if "updated_at" in document else None
    return {
        "updated_us": updated_us,
        "given_updated_us": updated_us,
        "given_updated_at": document.get("updated_at"),
        "recorded_us": began_us,
        "status_times": [began_us],
        "status_values": [document["status"]],
        "status_reasons": [""],
        "count_times": [began_us],
        # A list on a node cannot hold null: -1 stands for a missing count or rate.
        "observed_counts": [document.get("observed_count", -1)],
        "success_rates": [float(document.get("success_rate", -1.0))],
        "worked": worked(document.get("observed_count", 0), document.get("success_rate")),
    }


def worked(observed: int, success_rate: float | None) -> str | None:
    """The success count as Neo4j Browser shows it on a node; None if outcomes were not counted.

    >>> worked(4, 1.0), worked(2, 0.0), worked(3, None)
    ('✓ 4 of 4', '✗ 0 of 2', None)

    """
    if success_rate is None or observed < 1:
        return None
    return f"{'✓' if success_rate >= _LEAST_SUCCESS else '✗'} {round(success_rate * observed)} of {observed}"


def _text_properties(tenancy: Tenancy, document: Mapping[str, Any], count_tokens: TokenCounter) -> Row:
    text = _artifact_text(document)
    tags = tuple(document.get("tags") or ())
    words = artifact_words(document["title"], document["summary"], document["content"], tags)
    return {
        "text": text,
        "search_text": " ".join(terms(words)[:_MOST_TERMS]),
        "scope": tenancy.scope,
        "token_count": count_tokens(text),
        "tokenizer": DEFAULT_ENCODING,
    }


def _validity_properties(document: Mapping[str, Any]) -> Row:
    scope = validity(document.get("validity_scope"))
    return {
        "valid_tenants": scope.tenants,
        "valid_agents": scope.agents,
        "valid_tags": scope.tags,
        "valid_from_us": scope.from_us,
        "valid_to_us": scope.to_us,
    }


def _overlay(properties: Row, as_of_us: int) -> dict[str, Any]:
    status = properties["status_values"][bisect_right(properties["status_times"], as_of_us) - 1]
    count_index = bisect_right(properties["count_times"], as_of_us) - 1
    observed, rate = properties["observed_counts"][count_index], properties["success_rates"][count_index]
    return {
        "status": status,
        "superseded_by": properties.get("superseded_by") if status == "superseded" else None,
        "observed_count": observed if observed >= 0 else None,
        "success_rate": rate if rate >= 0 else None,
        "updated_at": _updated_at(properties, as_of_us),
    }


def _updated_at(properties: Row, as_of_us: int) -> str | None:
    """The time of the last update: the document's own, unless something changed after that."""
    given_us = properties.get("given_updated_us")
    changed_us = max(_changes(properties, as_of_us), default=None)
    if changed_us is not None and (given_us is None or changed_us > given_us):
        return iso(changed_us)
    # Artifacts recorded before the original spelling was stored have only the instant.
    return None if given_us is None else properties.get("given_updated_at") or iso(given_us)


def _changes(properties: Row, as_of_us: int) -> Iterator[int]:
    for times in (properties["status_times"], properties["count_times"]):
        yield from (time_us for time_us in times[1:] if time_us <= as_of_us)


# Reading artifacts as of any time (one, a page, a chain or its head), and deprecating them.

_ANY = ArtifactFilter()
_NEWEST_FIRST = Sorting()


def artifact(tenancy: Tenancy, artifact_id: str, *, as_of_us: int | None = None) -> Procedure[Artifact]:
    """The artifact with this id, whatever its status and scope.

    Raises:
        NotFound: there is no such artifact, or it was recorded after *as_of_us*.

    """
    return (yield from read(lambda: _artifact(tenancy, artifact_id, as_of_us)))


def artifacts(
    tenancy: Tenancy,
    criteria: ArtifactFilter = _ANY,
    *,
    as_of_us: int | None = None,
    after: str | None = None,
    limit: int = 50,
    sorting: Sorting = _NEWEST_FIRST,
) -> Procedure[ArtifactPage]:
    """A page of the artifacts that apply to the reader (HMX-A 6), newest first unless *sorting* says otherwise.

    Raises:
        UnknownChoice: there is no such status, artifact type, sort or order.
        InvalidRequest: *limit* is not a valid page size.
        NotFound: *after* is not a cursor.

    """
    if criteria.status is not None and criteria.status not in STATUSES:
        raise UnknownChoice("status", criteria.status, STATUSES)
    _check_type(criteria.artifact_type)
    if sorting.sort is not None and sorting.sort not in SORTS:
        raise UnknownChoice("sort", sorting.sort, SORTS)
    if sorting.order not in ORDERS:
        raise UnknownChoice("order", sorting.order, ORDERS)
    check_limit(limit)
    return (yield from read(lambda: _counted_page(tenancy, criteria, as_of_us, sorting, after, limit)))


def _check_type(artifact_type: str | None) -> None:
    if artifact_type is not None and artifact_type not in ARTIFACT_TYPES and not CUSTOM_TYPE.fullmatch(artifact_type):
        raise UnknownChoice("artifact_type", artifact_type, (*ARTIFACT_TYPES, "x-{vendor}-{type}"))


def artifact_types(tenancy: Tenancy, artifact_ids: Iterable[str]) -> Procedure[dict[str, str]]:
    """The type of each artifact by its id; ids without an artifact are left out."""

    def plan() -> Plan[dict[str, str]]:
        keys = sorted({tenancy.node_key(artifact_id) for artifact_id in artifact_ids})
        rows = yield bind("artifacts/types", tenant_id=tenancy.tenant_id, keys=keys)
        return {row["artifact_id"]: row["artifact_type"] for row in rows}

    return (yield from read(plan))


def chain(tenancy: Tenancy, artifact_id: str, *, as_of_us: int | None = None) -> Procedure[Chain]:
    """All versions of the artifact's chain that were recorded by *as_of_us*, oldest first (HMX-A 7).

    Raises:
        NotFound: there is no such artifact, or it was recorded after *as_of_us*.

    """
    return (yield from read(lambda: _chain(tenancy, artifact_id, as_of_us)))


def head(tenancy: Tenancy, artifact_id: str, *, as_of_us: int | None = None) -> Procedure[Artifact]:
    """The newest version of the artifact's chain as of *as_of_us*.

    Raises:
        NotFound: there is no such artifact, or it was recorded after *as_of_us*.

    """
    return (yield from read(lambda: _head(tenancy, artifact_id, as_of_us)))


def node(tenancy: Tenancy, artifact_id: str, as_of_us: int | None = None) -> Plan[Row]:
    """The current properties of an artifact's node, if it was recorded by *as_of_us*.

    Raises:
        NotFound: there is no such artifact, or it was recorded after *as_of_us*.

    """
    rows = yield bind("artifacts/get", tenant_id=tenancy.tenant_id, key=tenancy.node_key(artifact_id))
    if not rows or (as_of_us is not None and rows[0]["artifact"]["status_times"][0] > as_of_us):
        raise NotFound("artifact", artifact_id, tenancy.tenant_id)
    properties: Row = rows[0]["artifact"]
    return properties


def deprecate(tenancy: Tenancy, keys: Sequence[str], reason: str, at_us: int) -> Plan[None]:
    """Deprecate the drafts and active ones among these artifacts, which the caller has locked."""
    change = {"status": "deprecated", "from": list(LIVE_STATUSES), "reason": reason, "at_us": at_us}
    if keys:
        changes = [change | {"key": key} for key in keys]
        yield bind("artifacts/transition", tenant_id=tenancy.tenant_id, changes=changes)


def value(properties: Row, as_of_us: int | None = None) -> Artifact:
    """The artifact of a node as it was at *as_of_us*; it must have been recorded by then."""
    artifact = stored_artifact(properties, as_of_us)
    assert artifact is not None
    return artifact


def _artifact(tenancy: Tenancy, artifact_id: str, as_of_us: int | None) -> Plan[Artifact]:
    properties = yield from node(tenancy, artifact_id, as_of_us)
    return value(properties, as_of_us)


def _counted_page(
    tenancy: Tenancy, criteria: ArtifactFilter, as_of_us: int | None, sorting: Sorting, after: str | None, limit: int
) -> Plan[ArtifactPage]:
    if sorting.sort is None and sorting.order == "desc":
        page = yield from _page(tenancy, criteria, as_of_us, after, limit)
    else:
        page = yield from _sorted_page(tenancy, criteria, as_of_us, sorting, after, limit)
    if not sorting.total:
        return page
    times = yield from _time_parameters(tenancy, as_of_us)
    rows = yield bind("artifacts/count", **times, **_criteria_parameters(criteria))
    return replace(page, total=rows[0]["total"])


def _time_parameters(tenancy: Tenancy, as_of_us: int | None) -> Plan[Row]:
    """Parameters: the tenant, by when artifacts must be recorded, and at what time their validity scopes must hold."""
    if as_of_us is not None:
        return {"tenant_id": tenancy.tenant_id, "as_of_us": as_of_us, "moment_us": as_of_us}
    tenant = yield from state(tenancy)
    return {"tenant_id": tenancy.tenant_id, "as_of_us": ALWAYS, "moment_us": tenant["logical_us"] or 0}


def _sorted_page(
    tenancy: Tenancy, criteria: ArtifactFilter, as_of_us: int | None, sorting: Sorting, after: str | None, limit: int
) -> Plan[ArtifactPage]:
    after_place, after_id = number_place(after)
    rows = yield bind(
        "artifacts/ranked",
        **(yield from _time_parameters(tenancy, as_of_us)),
        **_criteria_parameters(criteria),
        sort=sorting.sort or "created",
        direction=1 if sorting.order == "asc" else -1,
        after_place=after_place,
        after_id=after_id,
        limit=limit + 1,
    )
    artifacts = tuple(value(row["artifact"], as_of_us) for row in rows[:limit])
    last = rows[limit - 1] if len(rows) > limit else None
    return ArtifactPage(artifacts, number_cursor(last["place"], last["artifact"]["artifact_id"]) if last else None)


def _page(
    tenancy: Tenancy, criteria: ArtifactFilter, as_of_us: int | None, after: str | None, limit: int
) -> Plan[ArtifactPage]:
    after_us, after_id = place(after)
    times = yield from _time_parameters(tenancy, as_of_us)
    rows = yield bind(
        "artifacts/list",
        **times,
        **_criteria_parameters(criteria),
        until_us=times["as_of_us"] if after_us is None else min(times["as_of_us"], after_us),
        after_us=after_us,
        after_id=after_id,
        limit=limit + 1,
    )
    artifacts = tuple(value(row["artifact"], as_of_us) for row in rows[:limit])
    last = rows[limit - 1]["artifact"] if len(rows) > limit else None
    return ArtifactPage(artifacts, cursor(last["recorded_us"], last["artifact_id"]) if last else None)


def _criteria_parameters(criteria: ArtifactFilter) -> Row:
    return {
        "status": criteria.status,
        "artifact_type": criteria.artifact_type,
        "tags": list(criteria.tags),
        "terms": sorted(set(terms((criteria.text or "")[:LONGEST_QUESTION]))),
        "agent_id": criteria.agent_id,
        "situation": list(criteria.situation),
        "compiled_by": criteria.compiled_by,
    }


def _chain(tenancy: Tenancy, artifact_id: str, as_of_us: int | None) -> Plan[Chain]:
    properties = yield from node(tenancy, artifact_id, as_of_us)
    rows = yield bind("artifacts/chain", **_chain_parameters(tenancy, properties, as_of_us))
    return Chain(artifact_id, tuple(value(row["artifact"], as_of_us) for row in rows))


def _head(tenancy: Tenancy, artifact_id: str, as_of_us: int | None) -> Plan[Artifact]:
    properties = yield from node(tenancy, artifact_id, as_of_us)
    rows = yield bind("artifacts/head", **_chain_parameters(tenancy, properties, as_of_us))
    return value(rows[0]["artifact"], as_of_us)


def _chain_parameters(tenancy: Tenancy, properties: Row, as_of_us: int | None) -> Row:
    return {
        "tenant_id": tenancy.tenant_id,
        "chain_key": properties["chain_key"],
        "as_of_us": ALWAYS if as_of_us is None else as_of_us,
    }
