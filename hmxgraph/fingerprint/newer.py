"""Fingerprints of later versions, read as far as this one understands them, with warnings (HMX-F 13)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from hmxgraph.fingerprint.migration import empty_sections
from hmxgraph.fingerprint.summaries import CLUSTERS, COUNTS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.protocol.fingerprints import FINGERPRINT_VERSION, TIER_SUMMARIES, Fingerprint
from hmxgraph.protocol.validation import Structure

_SETS = {POLICIES: "policy", TASKS: "task_schema", PLAYBOOKS: "playbook", CLUSTERS: "cluster"}
_SECTIONS = ("behavioral_patterns", "graph_digest", "semantic_summary", "context_priors", "compiler_state")
_OPTIONAL = frozenset(name for name, field in Fingerprint.model_fields.items() if not field.is_required())
_TOP = re.compile(r"\$\.(\w+)")
# So many warnings are told one by one, and so much of a name: both are the exporter's to choose.
_MOST_WARNINGS, _MOST_OF_NAME = 40, 60


def readable(fingerprint: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What this version understands of *fingerprint*, and a warning for each thing it does not."""
    known = {name: value for name, value in fingerprint.items() if name in Fingerprint.model_fields}
    warnings = [f"fingerprint_version {fingerprint['fingerprint_version']} is newer than {FINGERPRINT_VERSION}"]
    warnings += [f"unknown field {_told(name)} was left out" for name in sorted(fingerprint.keys() - known.keys())]
    for name in _SECTIONS:
        if name in known and not _fits(name, known[name]):
            del known[name]
            warnings.append(f"section {name!r} is not as this version knows it and was left out")
    known = {**empty_sections(), "metadata": {}, **known}
    for name in _misfits(known):
        del known[name]
        warnings.append(f"field {name!r} is not as this version knows it and was left out")
    summaries, most = known["artifact_summaries"], TIER_SUMMARIES[known.get("compression_tier", "full")]
    known["artifact_summaries"] = dict(_sets(summaries if isinstance(summaries, Mapping) else {}, most, warnings))
    return {"metadata": {}, **known}, _fewer(warnings)


def _misfits(document: Mapping[str, Any]) -> list[str]:
    """The fields that may be missing, metadata too, and are not as this version knows them."""
    found = (_TOP.match(fault.path) for fault in Fingerprint.faults(document))
    return sorted({name[1] for name in found if name} & (_OPTIONAL | {"metadata"}))


def _sets(summaries: Mapping[str, Any], most: int, warnings: list[str]) -> Iterator[tuple[str, list[Any]]]:
    """The sets that are known, each with the entries that are; of summaries the *most* heaviest (HMX-F 15)."""
    warnings += [f"unknown set {_told(name)} was left out" for name in sorted(summaries.keys() - _SETS.keys())]
    for name, kind in _SETS.items():
        found = summaries.get(name)
        entries = found if isinstance(found, list) else []
        understood = [entry for entry in entries if _fits(kind, entry)]
        kept = understood if name == CLUSTERS else _heaviest(understood, COUNTS[name], most)
        if len(kept) < len(entries):
            warnings.append(f"{len(entries) - len(kept)} of {len(entries)} in {name!r} were left out")
        yield name, kept


def _heaviest(entries: Sequence[Mapping[str, Any]], count: str, most: int) -> list[Any]:
    """The *most* entries with the greatest confidence times observations, in their order (HMX-F 8, rule 3)."""
    ranked = sorted(range(len(entries)), key=lambda place: -entries[place]["confidence"] * entries[place][count])
    return [entries[place] for place in sorted(ranked[:most])]


def _told(name: object) -> str:
    return repr(str(name)[:_MOST_OF_NAME])


def _fewer(warnings: Sequence[str]) -> tuple[str, ...]:
    rest = len(warnings) - _MOST_WARNINGS
    return (*warnings[:_MOST_WARNINGS], *([f"and {rest} warnings more"] if rest > 0 else []))


def _fits(kind: str, value: Any) -> bool:
    return _structure(kind).validator.is_valid(value)


@cache
def _structure(kind: str) -> Structure:
    return Structure("fingerprint", {"": "HMX-F 13"}, definition=kind)
