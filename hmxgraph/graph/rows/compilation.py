"""What the compiler reads and writes, as rows and back: events, summaries, heads, guides, changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler.profile import CompilerProfile
from hmxgraph.compiler.reconcile import COMPILER, Change, Head, lineage
from hmxgraph.compiler.sessions.summary import SUMMARY_VERSION
from hmxgraph.compiler.suggest import Guide
from hmxgraph.graph.plan import Row
from hmxgraph.graph.rows.artifacts import artifact_row
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.text.terms import search_text
from hmxgraph.text.tokens import TokenCounter

LINEAGES = COMPILER + "/"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """A stored event as far as the compiler needs it."""

    event_id: str
    event_type: str
    agent_id: str
    session_id: str
    sequence: int
    time_us: int
    content: dict[str, Any]
    source: str | None = None
    correlation_id: str | None = None
    parent_event_id: str | None = None


def stored_event(row: Row) -> StoredEvent:
    """The event in a row."""
    return StoredEvent(**{**row, "content": parse_json(row["content"])})


def summary_version(profile: CompilerProfile) -> str:
    """What a stored summary was made by: the form of summaries and the bounds that shape them."""
    bounds = (profile.max_steps, profile.max_failures, profile.max_decisions, profile.words_per_text)
    sizes = (profile.request_chars, profile.known_values, profile.remembered_messages)
    return ":".join(str(part) for part in (SUMMARY_VERSION, *bounds, *sizes))


def stored_head(row: Row) -> Head:
    """The head in a row of ``compiler/heads``; counts and rates are those of its history."""
    return Head(
        artifact_id=row["artifact_id"],
        artifact_type=row["artifact_type"],
        lineage_key=row["lineage_key"],
        version=row["version"],
        status=row["status"],
        title=row["title"],
        summary=row["summary"],
        content_hash=row["content_hash"],
        confidence=row["confidence"],
        observed_count=row["counted"] if row["counted"] >= 0 else None,
        success_rate=row["rated"] if row["rated"] >= 0 else None,
        reason=row["reason"],
        compiled=row["agent_id"] == COMPILER,
    )


def stored_guide(row: Row) -> Guide:
    """The guide in a row of ``compiler/guides``."""
    return Guide(
        row["artifact_id"],
        row["artifact_type"],
        row["title"],
        parse_json(row["content"]),
        parse_json(row["metadata"]),
        row["confidence"],
        row["observed_count"] or 0,
    )


def change_keys(tenancy: Tenancy, changes: Iterable[Change]) -> list[str]:
    """The keys of the heads that change, in locking order."""
    return sorted({tenancy.node_key(change.head.artifact_id) for change in changes if change.head is not None})


def leaving_keys(tenancy: Tenancy, changes: Iterable[Change]) -> list[str]:
    """The keys of the heads that leave draft and active."""
    return change_keys(tenancy, (one for one in changes if _leaves(one)))


def transition_rows(tenancy: Tenancy, changes: Iterable[Change], at_us: int) -> Iterator[Row]:
    """The status changes of heads, for ``artifacts/transition``."""
    for change in changes:
        for status in change.statuses:
            assert change.head is not None
            yield {
                "key": tenancy.node_key(change.head.artifact_id),
                "status": status,
                "from": [change.head.status],
                "reason": change.reason if change.artifact is None else _in_between(status),
                "at_us": at_us,
            }


def new_rows(tenancy: Tenancy, changes: Iterable[Change], count_tokens: TokenCounter, at_us: int) -> Iterator[Row]:
    """The artifacts that begin a chain, for ``artifacts/create``."""
    for change in changes:
        if change.artifact is not None and not change.artifact.supersedes:
            yield _row(tenancy, change, count_tokens, at_us)


def successor_rows(
    tenancy: Tenancy, changes: Iterable[Change], count_tokens: TokenCounter, at_us: int
) -> Iterator[Row]:
    """The artifacts that take a head's place, for ``artifacts/supersede``."""
    for change in changes:
        if change.artifact is not None and change.artifact.supersedes:
            row = _row(tenancy, change, count_tokens, at_us)
            yield row | {"old_key": tenancy.node_key(change.artifact.supersedes), "at_us": at_us}


def count_rows(tenancy: Tenancy, changes: Iterable[Change], at_us: int) -> Iterator[Row]:
    """The heads whose counts rise, for ``compiler/count``."""
    for change in changes:
        if change.deed in {"counted", "activated"} and change.head is not None and change.draft is not None:
            yield {
                "key": tenancy.node_key(change.head.artifact_id),
                "observed_count": change.draft.seen.count,
                "success_rate": change.draft.seen.success_rate,
                "at_us": at_us,
            }


def model_hash(model: str) -> str:
    """The hash by which an unchanged model is recognised."""
    return content_hash(model)


def model_key(tenancy: Tenancy) -> str:
    """The key of the tenant's model."""
    return tenancy.node_key("compiler-model")


def _leaves(change: Change) -> bool:
    succeeded = change.artifact is not None and bool(change.artifact.supersedes)
    return succeeded or "deprecated" in change.statuses


def _in_between(status: str) -> str:
    return f"compiler: {'validated' if status == 'active' else 'replaced before it was validated'}"


def _row(tenancy: Tenancy, change: Change, count_tokens: TokenCounter, at_us: int) -> Row:
    """The row of a new artifact, findable by what its kind of request says besides what it says itself."""
    assert change.artifact is not None
    assert change.draft is not None
    key = lineage(change.draft, change.generation)
    row = artifact_row(tenancy, change.artifact, count_tokens, at_us=at_us, lineage_key=key)
    return row | {"properties": _findable(row["properties"], change.draft.keywords)}


def _findable(properties: Mapping[str, Any], keywords: Iterable[str]) -> Row:
    found = f"{properties['search_text']} {search_text(' '.join(keywords))}".strip()
    return {**properties, "search_text": found}
