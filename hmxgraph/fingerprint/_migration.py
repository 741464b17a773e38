"""Read fingerprints of older and newer versions (HMX-F 13)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from hmxgraph.errors import FingerprintRefused
from hmxgraph.fingerprint._texts import Disclosure
from hmxgraph.fingerprint.behaviour import Behaviour
from hmxgraph.fingerprint.sections import behavioral_patterns, context_priors, semantic_summary
from hmxgraph.fingerprint.state import ExportOptions
from hmxgraph.fingerprint.summaries import CLUSTERS, COUNTS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.document import Structure, schema
from hmxgraph.protocol.fingerprints import (
    FINGERPRINT_VERSION,
    HASHED_FIELDS,
    TIER_SUMMARIES,
    Fingerprint,
    fingerprint_hash,
)
from hmxgraph.protocol.mappings import camel, to_snake
from hmxgraph.protocol.parsing import describe

# Fingerprints of older versions are migrated to this one by named steps (HMX-F 13).

_JsonObject: TypeAlias = dict[str, Any]


class Step(NamedTuple):
    """One change of the document in the migration to the next version."""

    name: str
    change: Callable[[_JsonObject], _JsonObject]


class _Migrated(NamedTuple):
    """A document of this version, the version it came from, and the names of the steps taken."""

    document: _JsonObject
    version: int
    steps: tuple[str, ...]


def version_of(fingerprint: Mapping[str, Any]) -> Any:
    """The ``fingerprint_version``, in snake_case or camelCase (version 0); None if there is none."""
    return fingerprint.get("fingerprint_version", fingerprint.get("fingerprintVersion"))


def stated_hash(fingerprint: Mapping[str, Any]) -> Any:
    """The ``fingerprint_hash``, in snake_case or camelCase (version 0); None if there is none."""
    return fingerprint.get("fingerprint_hash", fingerprint.get("fingerprintHash"))


def computed_hash(fingerprint: Mapping[str, Any]) -> str:
    """The hash that a fingerprint must state, computed with the field names of the fingerprint's own version."""
    if version_of(fingerprint) == 0:
        names = [camel(name) for name in HASHED_FIELDS]
        return content_hash({name: fingerprint[name] for name in names if name in fingerprint})
    return fingerprint_hash(fingerprint)


def migrated(fingerprint: Mapping[str, Any]) -> _Migrated:
    """*fingerprint* migrated to this version, with a new hash; the old hash is kept in its metadata.

    A fingerprint of this version is not changed.

    Raises:
        FingerprintRefused: the metadata is not an object (HMX-F 2.1).

    """
    document, version = dict(fingerprint), version_of(fingerprint)
    steps = [step for older in range(version, FINGERPRINT_VERSION) for step in STEPS[older]]
    for step in steps:
        document = step.change(document)
    if not steps:
        return _Migrated(document, version, ())
    if not isinstance(document["metadata"], Mapping):
        reason = f"metadata is {describe(document['metadata'])}, not an object (HMX-F 2.1)"
        raise FingerprintRefused("structure", reason, "get the file again from its sender")
    names = tuple(step.name for step in steps)
    origin = {"fingerprint_version": version, "fingerprint_hash": stated_hash(fingerprint), "steps": list(names)}
    document |= {"metadata": {**document["metadata"], "migrated_from": origin}}
    return _Migrated({**document, "fingerprint_hash": fingerprint_hash(document)}, version, names)


def _wire_names(document: _JsonObject) -> _JsonObject:
    """Rename the camelCase fields of version 0, the MemoryFingerprint of the internal types (HMX-F 1)."""
    renamed: _JsonObject = to_snake(document, schema("fingerprint"))
    return renamed


def _missing_sections(document: _JsonObject) -> _JsonObject:
    """Add the sections that version 0 lacks (behaviour, priors, memory statistics), with values for an empty memory."""
    return {**_empty_sections(), "metadata": {}, **document}


def _first_version(document: _JsonObject) -> _JsonObject:
    return {**document, "fingerprint_version": 1}


def _empty_sections() -> _JsonObject:
    """The sections of an empty fingerprint."""
    return {
        "artifact_summaries": {name: [] for name in (POLICIES, TASKS, PLAYBOOKS, CLUSTERS)},
        "behavioral_patterns": behavioral_patterns(Behaviour(), ExportOptions(), Disclosure([]), 0),
        "graph_digest": {
            "entity_count": 0,
            "relation_count": 0,
            "entity_type_distribution": {},
            "relation_type_distribution": {},
            "avg_entity_confidence": 0.0,
            "avg_relation_weight": 0.0,
            "top_connected_entities": [],
            "max_depth": 0,
        },
        "semantic_summary": semantic_summary(()),
        "context_priors": context_priors((), {}, (), 0),
    }


STEPS: Mapping[int, tuple[Step, ...]] = {
    0: (
        Step("wire-names", _wire_names),
        Step("missing-sections", _missing_sections),
        Step("version-1", _first_version),
    )
}


# Fingerprints of newer versions: known fields are read, unknown ones are dropped with a warning (HMX-F 13).

# For each set of summaries, the name of the schema definition of its entries.
_SETS = {POLICIES: "policy", TASKS: "task_schema", PLAYBOOKS: "playbook", CLUSTERS: "cluster"}
# The sections other than the summaries; each has a schema definition of the same name.
_SECTIONS = ("behavioral_patterns", "graph_digest", "semantic_summary", "context_priors", "compiler_state")
_OPTIONAL = frozenset(name for name, field in Fingerprint.model_fields.items() if not field.is_required())
_TOP_LEVEL_FIELD = re.compile(r"\$\.(\w+)")
# Limits on the warnings and on the names in them, since the exporter controls both.
_MAX_WARNINGS, _MAX_NAME_LENGTH = 40, 60


def readable(fingerprint: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The parts of a newer *fingerprint* that this version can read, and warnings (newer version, dropped parts)."""
    known = {name: value for name, value in fingerprint.items() if name in Fingerprint.model_fields}
    warnings = [f"fingerprint_version {version_of(fingerprint)} is newer than {FINGERPRINT_VERSION}"]
    warnings += [
        f"unknown field {_quoted_name(name)} was dropped" for name in sorted(fingerprint.keys() - known.keys())
    ]
    for name in _SECTIONS:
        if name in known and not _fits(name, known[name]):
            del known[name]
            warnings.append(f"section {name!r} does not fit this version's schema and was dropped")
    known = {**_empty_sections(), "metadata": {}, **known}
    for name in _misfits(known):
        del known[name]
        warnings.append(f"field {name!r} does not fit this version's schema and was dropped")
    summaries, limit = known["artifact_summaries"], TIER_SUMMARIES[known.get("compression_tier", "full")]
    known["artifact_summaries"] = dict(_sets(summaries if isinstance(summaries, Mapping) else {}, limit, warnings))
    return {"metadata": {}, **known}, _capped(warnings)


def _misfits(document: Mapping[str, Any]) -> list[str]:
    """The optional fields, and metadata, that do not fit this version's schema."""
    matches = (_TOP_LEVEL_FIELD.match(fault.path) for fault in Fingerprint.faults(document))
    return sorted({match[1] for match in matches if match} & (_OPTIONAL | {"metadata"}))


def _sets(summaries: Mapping[str, Any], limit: int, warnings: list[str]) -> Iterator[tuple[str, list[Any]]]:
    """The known sets with their valid entries, at most *limit* for each set except the clusters (HMX-F 15).

    If a set has more, the heaviest entries are kept. A warning is added to *warnings* for each unknown set, and for
    each set that loses entries.
    """
    warnings += [f"unknown set {_quoted_name(name)} was dropped" for name in sorted(summaries.keys() - _SETS.keys())]
    for name, kind in _SETS.items():
        summaries_of_set = summaries.get(name)
        entries = summaries_of_set if isinstance(summaries_of_set, list) else []
        valid = [entry for entry in entries if _fits(kind, entry)]
        kept_entries = valid if name == CLUSTERS else _heaviest(valid, COUNTS[name], limit)
        if len(kept_entries) < len(entries):
            dropped = f"{len(entries) - len(kept_entries)} of {len(entries)} entries in {name!r}"
            warnings.append(f"{dropped} were dropped (not valid, or over the limit)")
        yield name, kept_entries


def _heaviest(entries: Sequence[Mapping[str, Any]], count_field: str, limit: int) -> list[Any]:
    """The *limit* entries with the highest confidence times observations, in original order (HMX-F 8, rule 3)."""
    weights = [entry["confidence"] * entry[count_field] for entry in entries]
    ranked = sorted(range(len(entries)), key=lambda index: -weights[index])
    return [entries[index] for index in sorted(ranked[:limit])]


def _quoted_name(name: object) -> str:
    return repr(str(name)[:_MAX_NAME_LENGTH])


def _capped(warnings: Sequence[str]) -> tuple[str, ...]:
    """The first 40 warnings, and the number of warnings beyond these."""
    left_out = len(warnings) - _MAX_WARNINGS
    return (*warnings[:_MAX_WARNINGS], *([f"warnings not shown: {left_out}"] if left_out > 0 else []))


def _fits(kind: str, value: Any) -> bool:
    """Whether *value* matches the definition *kind* of the schema."""
    return _structure(kind).validator.is_valid(value)


@cache
def _structure(kind: str) -> Structure:
    return Structure("fingerprint", {"": "HMX-F 13"}, definition=kind)
