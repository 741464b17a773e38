"""The tables that ``hmxgraph fingerprint`` prints: exports, verdicts, imports, contents and comparisons."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from hmxgraph.fingerprint.diff import FingerprintDiff
from hmxgraph.fingerprint.signing import SigningKey
from hmxgraph.fingerprint.summaries import CLUSTERS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.fingerprint.verify import Verdict
from hmxgraph.protocol.reports import ImportReport
from hmxgraph.text.terms import most_first

# The sets of artifact summaries in a fingerprint, with their titles.
_SETS = {POLICIES: "policies", TASKS: "task schemas", PLAYBOOKS: "playbooks", CLUSTERS: "clusters"}
# For each set, by its title: the heading of the column that states what a summary contains.
_DETAIL = {"policies": "what to do", "task schemas": "steps", "playbooks": "recovery", "clusters": "members"}
# The names that the fields for confidence, and for the number of observations, have in the different sets.
_CONFIDENCES = ("confidence", "avg_confidence")
_OBSERVATION_COUNTS = ("observed_count", "outcome_count", "occurrence_count", "total_observations")
# The mark of each kind of change in a comparison.
_MARKS = {
    "learned": Text("+ learned", "green"),
    "gone": Text("- gone", "red"),
    "changed": Text("~ changed", "yellow"),
    "rewritten": Text("* rewritten", "cyan"),
}


def export_table(verdict: Verdict, file: Path, size: int, key: SigningKey | None) -> Table:
    """The files that were written, and the properties of the fingerprint."""
    signed = {"signature": f"{file}.sig", "public key": key.public_key} if key else {}
    return _name_value_table({"file": str(file), "bytes": f"{size:,}"} | signed | _properties(verdict))


def verdict_table(verdict: Verdict) -> Table:
    """The result of a verification, and the properties of the fingerprint."""
    signed = verdict.signed_by or "not signed"
    outcome = Text("expired", "yellow") if verdict.expired else Text("verified", "green")
    warnings = {f"warning {number}": text for number, text in enumerate(verdict.warnings, start=1)}
    rows: dict[str, str | Text] = {"verdict": outcome, "signed by": signed, **_properties(verdict), **warnings}
    return _name_value_table(rows)


def import_table(report: ImportReport) -> Table:
    """The outcome of an import."""
    warnings = {f"warning {number}": text for number, text in enumerate(report.warnings, start=1)}
    rows = {
        "outcome": report.outcome,
        "import": report.import_id,
        "drafts created": str(len(report.created_ids)),
        "already stored": str(len(report.known_ids)),
        "conflicts opened": str(len(report.conflict_ids)),
    }
    return _name_value_table(rows | warnings)


def fingerprint_tables(verdict: Verdict) -> Iterator[Table]:
    """The verdict on a fingerprint, then a table for each section of its contents."""
    yield verdict_table(verdict)
    document = verdict.fingerprint.document()
    for name, title in _SETS.items():
        if entries := document["artifact_summaries"][name]:
            yield _summaries(title, entries)
    titles = _titles(document["artifact_summaries"])
    for name in ("behavioral_patterns", "graph_digest", "semantic_summary", "context_priors", "compiler_state"):
        rows = {_label(path): _cell_text(value, titles) for path, value in _leaves("", document.get(name) or {})}
        yield _name_value_table({path: value for path, value in rows.items() if value}, name.replace("_", " "))


def diff_tables(diff: FingerprintDiff) -> Iterator[Table]:
    """The changes between two fingerprints: summaries, then numbers."""
    if not diff.summaries and not diff.numbers:
        yield _name_value_table({"no difference": "both fingerprints have the same content"})
        return
    if diff.summaries:
        yield _changed_summaries(diff)
    if not diff.numbers:
        return
    numbers = Table("section", "number", "before", "after", "difference", title="changed numbers")
    section = ""
    for number in diff.numbers:
        area, _, name = number.path.rpartition(".")
        cells = (f"{number.before:.6g}", f"{number.after:.6g}", f"{number.after - number.before:+.6g}")
        numbers.add_row(Text("" if area == section else _label(area), "bold"), Text(name), *cells)
        section = area
    yield numbers


def _changed_summaries(diff: FingerprintDiff) -> Table:
    table = Table("", "set", "summary", "confidence", "observed", title="changed summaries", show_lines=True)
    for summary in diff.summaries:
        before, after = summary.before or {}, summary.after or {}
        rewritten = list(_changed_lines(before, after)) if summary.change == "rewritten" else []
        table.add_row(
            _MARKS[summary.change],
            _SETS[summary.set_name],
            Text("\n").join([Text(summary.name), *rewritten]),
            _before_and_after(before, after, _CONFIDENCES),
            _before_and_after(before, after, _OBSERVATION_COUNTS),
        )
    return table


def _changed_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Text]:
    """The lines that occur in only one of two versions of a summary."""
    for field in ("recommendation", "failure_pattern", "steps", "recovery_steps", "shared_tags"):
        old, new = (_lines(side.get(field, [])) for side in (before, after))
        yield from (Text(f"- {line}", "red") for line in old if line not in new)
        yield from (Text(f"+ {line}", "green") for line in new if line not in old)


def _lines(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _properties(verdict: Verdict) -> dict[str, str]:
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
        "contains": ", ".join(f"{len(sets[name])} {title}" for name, title in _SETS.items()),
    }


def _summaries(title: str, entries: list[dict[str, Any]]) -> Table:
    table = Table("summary", _DETAIL[title], "confidence", "observed", "tags", title=title, show_lines=True)
    for entry in sorted(entries, key=lambda entry: (-_first_number(entry, _CONFIDENCES), str(entry))):
        name = entry.get("title") or entry.get("label") or entry.get("condition") or ""
        table.add_row(
            Text(name),
            Text(_detail(entry)),
            _before_and_after({}, entry, _CONFIDENCES),
            _before_and_after({}, entry, _OBSERVATION_COUNTS),
            Text(", ".join(entry.get("tags") or entry.get("shared_tags") or ())),
        )
    return table


def _detail(entry: Mapping[str, Any]) -> str:
    """What a summary contains: the size and type of a cluster, a recommendation, or numbered steps."""
    if "member_count" in entry:
        return f"{entry['member_count']}, mostly of type {entry['dominant_type']}"
    steps = entry.get("steps") or entry.get("recovery_steps") or ()
    return entry.get("recommendation") or "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


def _first_number(entry: Mapping[str, Any], names: tuple[str, ...]) -> float:
    """The number in the first field of *names* that *entry* has; 0 if it has none."""
    return next((float(entry[name]) for name in names if name in entry), 0.0)


def _titles(sets: Mapping[str, Any]) -> dict[str, str]:
    """The titles of artifacts by id; for a policy without a title, its condition."""
    entries = [entry for entries in sets.values() for entry in entries if "artifact_id" in entry]
    return {entry["artifact_id"]: entry.get("title") or entry["condition"] for entry in entries}


def _before_and_after(before: Mapping[str, Any], after: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The number in a field of *names* before and after a change: ``0.5 -> 0.75``, or one number if they are equal."""
    values = [f"{side[name]:.3g}" for side in (before, after) for name in names if name in side]
    return " -> ".join(dict.fromkeys(values))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The values inside *value* with their paths; a mapping of names to counts or weights is kept as one value."""
    if isinstance(value, Mapping) and not _has_numbers_by_name(path):
        for name, part in value.items():
            yield from _leaves(f"{path}.{name}" if path else name, part)
    else:
        yield path, value


def _has_numbers_by_name(path: str) -> bool:
    return path.endswith(("_distribution", "_frequency", "_types", "_weights"))


def _label(path: str) -> str:
    return path.replace("_", " ").replace(".", ": ")


def _cell_text(value: Any, titles: Mapping[str, str]) -> str:
    """*value* as text for a table; ids of artifacts are replaced by their titles."""
    match value:
        case [{"connection_count": _}, *_]:
            hubs = sorted(value, key=lambda hub: (-hub["connection_count"], hub["name"]))
            return ", ".join(f"{hub['name']} ({hub['type']}, {hub['connection_count']})" for hub in hubs)
        case list():
            return "; ".join(_cell_text(part, titles) for part in value) if _are_long(value) else ", ".join(value)
        case {"parameter": name, "current_value": current, "baseline_value": baseline, "adaptation_count": count}:
            return f"{name} {current:g} instead of {baseline:g} (changed {count} times)"
        case Mapping():
            return ", ".join(f"{name} {value[name]:g}" for name in most_first(value))
        case float():
            return f"{value:,.1f}" if value >= 1_000 else f"{value:.4g}"
        case _:
            return titles.get(str(value), str(value))


def _are_long(values: list[Any]) -> bool:
    """Whether *values* are separated by semicolons: commas are clear only between short single words."""
    return not all(isinstance(value, str) and " " not in value and len(value) < 30 for value in values)


def _name_value_table(rows: Mapping[str, str | Text], title: str | None = None) -> Table:
    # Text instead of markup, because masked values contain square brackets.
    table = Table(show_header=False, box=None, title=title, title_justify="left")
    for name, value in rows.items():
        table.add_row(Text(name), value if isinstance(value, Text) else Text(value, overflow="fold"))
    return table
