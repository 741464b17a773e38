"""Fingerprints of later versions, read as far as this one understands them, with warnings (HMX-F 13)."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hmxgraph.fingerprint.migration import empty_sections
from hmxgraph.protocol.fingerprints import FINGERPRINT_VERSION, Fingerprint
from hmxgraph.protocol.validation import Structure

_SETS = {
    "policy_set": "policy",
    "task_schema_set": "task_schema",
    "playbook_set": "playbook",
    "cluster_summaries": "cluster",
}
_SECTIONS = ("behavioral_patterns", "graph_digest", "semantic_summary", "context_priors", "compiler_state")


def readable(fingerprint: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What this version understands of *fingerprint*, and a warning for each thing it does not."""
    known = {name: value for name, value in fingerprint.items() if name in Fingerprint.model_fields}
    warnings = [f"unknown field {name!r} was left out" for name in sorted(fingerprint.keys() - known.keys())]
    for name in _SECTIONS:
        if name in known and not _fits(name, known[name]):
            del known[name]
            warnings.append(f"section {name!r} is not as this version knows it and was left out")
    summaries = known.get("artifact_summaries")
    known["artifact_summaries"] = dict(_sets(summaries if isinstance(summaries, Mapping) else {}, warnings))
    warnings.insert(0, f"fingerprint_version {fingerprint['fingerprint_version']} is newer than {FINGERPRINT_VERSION}")
    return {**empty_sections(), **known}, tuple(warnings)


def _sets(summaries: Mapping[str, Any], warnings: list[str]) -> Iterator[tuple[str, list[Any]]]:
    warnings += [f"unknown set {name!r} was left out" for name in sorted(summaries.keys() - _SETS.keys())]
    for name, kind in _SETS.items():
        found = summaries.get(name)
        entries = found if isinstance(found, list) else []
        understood = [entry for entry in entries if _fits(kind, entry)]
        if len(understood) < len(entries):
            warnings.append(f"{len(entries) - len(understood)} of {len(entries)} in {name!r} were left out")
        yield name, understood


def _fits(kind: str, value: Any) -> bool:
    return _structure(kind).validator.is_valid(value)


@cache
def _structure(kind: str) -> Structure:
    return Structure("fingerprint", {"": "HMX-F 13"}, definition=kind)
