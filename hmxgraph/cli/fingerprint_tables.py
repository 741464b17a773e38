"""Fingerprints for people: verdicts, contents and comparisons as tables."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from hmxgraph.fingerprint.diff import FingerprintDiff
from hmxgraph.fingerprint.signing import SigningKey
from hmxgraph.fingerprint.summaries import CLUSTERS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.fingerprint.verify import Verdict
from hmxgraph.graph.rows.fingerprints import ImportReport

_SETS = {POLICIES: "policies", TASKS: "task schemas", PLAYBOOKS: "playbooks", CLUSTERS: "clusters"}
_MARKS = {
    "learned": Text("+ learned", "green"),
    "gone": Text("- gone", "red"),
    "changed": Text("~ changed", "yellow"),
}


def export_table(verdict: Verdict, file: Path, size: int, key: SigningKey | None) -> Table:
    """What was written where."""
    signed = {"signature": f"{file}.sig", "public key": key.public_key} if key else {}
    return _pairs({"file": str(file), "bytes": f"{size:,}"} | signed | _told(verdict))


def verdict_table(verdict: Verdict) -> Table:
    """The outcome of all checks."""
    signed = verdict.signed_by or "not signed"
    outcome = Text("expired", "yellow") if verdict.expired else Text("verified", "green")
    warnings = {f"warning {number}": text for number, text in enumerate(verdict.warnings, start=1)}
    rows: dict[str, str | Text] = {"verdict": outcome, "signed by": signed, **_told(verdict), **warnings}
    return _pairs(rows)


def import_table(report: ImportReport) -> Table:
    """What became of an import."""
    warnings = {f"warning {number}": text for number, text in enumerate(report.warnings, start=1)}
    rows = {
        "outcome": report.outcome,
        "import": report.import_id,
        "drafts created": str(len(report.created_ids)),
        "known already": str(len(report.known_ids)),
        "conflicts opened": str(len(report.conflict_ids)),
    }
    return _pairs(rows | warnings)


def fingerprint_tables(verdict: Verdict) -> Iterator[Table]:
    """All that a fingerprint tells, section by section."""
    yield verdict_table(verdict)
    document = verdict.fingerprint.document()
    for name, title in _SETS.items():
        if entries := document["artifact_summaries"][name]:
            yield _summaries(title, entries)
    for name in ("behavioral_patterns", "graph_digest", "semantic_summary", "context_priors"):
        yield _pairs({path: _plain(value) for path, value in _flat("", document[name])}, name.replace("_", " "))


def diff_tables(found: FingerprintDiff) -> Iterator[Table]:
    """What was learned between two fingerprints."""
    summaries = Table("", "what", "summary", "confidence", "observed", title="what was learned")
    for one in found.summaries:
        before, after = one.before or {}, one.after or {}
        summaries.add_row(
            _MARKS[one.change],
            _SETS[one.set_name],
            Text(one.name),
            _both(before, after, ("confidence", "avg_confidence")),
            _both(before, after, ("observed_count", "outcome_count", "occurrence_count", "total_observations")),
        )
    numbers = Table("number", "before", "after", "difference", title="what moved")
    for number in found.numbers:
        moved = (number.before, number.after, number.after - number.before)
        numbers.add_row(Text(number.path, overflow="fold"), *(f"{value:g}" for value in moved))
    yield from (summaries, numbers)


def _told(verdict: Verdict) -> dict[str, str]:
    fingerprint = verdict.fingerprint
    sets = fingerprint.document()["artifact_summaries"]
    return {
        "fingerprint": fingerprint.fingerprint_id,
        "tenant": fingerprint.tenant_id,
        "tier": fingerprint.compression_tier or "full",
        "created": fingerprint.created_at,
        **({"expires": fingerprint.expires_at} if fingerprint.expires_at else {}),
        "exported by": verdict.envelope.exported_by,
        "fingerprint_hash": fingerprint.fingerprint_hash,
        "tells of": ", ".join(f"{len(sets[name])} {title}" for name, title in _SETS.items()),
    }


def _summaries(title: str, entries: list[dict[str, Any]]) -> Table:
    table = Table("summary", "steps", "confidence", "observed", "tags", title=title)
    for entry in entries:
        name = entry.get("title") or entry.get("label") or f"{entry.get('condition')}: {entry.get('recommendation')}"
        steps = entry.get("steps") or entry.get("recovery_steps") or ()
        table.add_row(
            Text(name),
            Text("\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))),
            _both({}, entry, ("confidence", "avg_confidence")),
            _both({}, entry, ("observed_count", "outcome_count", "occurrence_count", "total_observations")),
            Text(", ".join(entry.get("tags") or entry.get("shared_tags") or ())),
        )
    return table


def _both(before: Mapping[str, Any], after: Mapping[str, Any], names: tuple[str, ...]) -> str:
    values = [f"{side[name]:g}" for side in (before, after) for name in names if name in side]
    return " -> ".join(dict.fromkeys(values))


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            yield from _flat(f"{path}.{name}" if path else name, part)
    else:
        yield path, value


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(part) for part in value)
    if isinstance(value, Mapping):
        return " ".join(str(part) for part in value.values())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _pairs(rows: Mapping[str, str | Text], title: str | None = None) -> Table:
    # Values may hold square brackets, as masked texts do: they are text, never markup.
    table = Table(show_header=False, box=None, title=title, title_justify="left")
    for name, value in rows.items():
        table.add_row(Text(name), value if isinstance(value, Text) else Text(value, overflow="fold"))
    return table
