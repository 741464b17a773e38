"""Fingerprints of older versions brought up to this one by named steps (HMX-F 13)."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from hmxgraph.errors import FingerprintRefused
from hmxgraph.fingerprint.measures.behaviour import Behaviour
from hmxgraph.fingerprint.options import ExportOptions
from hmxgraph.fingerprint.patterns import behavioral_patterns
from hmxgraph.fingerprint.priors import context_priors
from hmxgraph.fingerprint.semantic import semantic_summary
from hmxgraph.fingerprint.summaries import CLUSTERS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.fingerprint.texts import Disclosure
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.fingerprints import FINGERPRINT_VERSION, HASHED_FIELDS, fingerprint_hash
from hmxgraph.protocol.json_values import describe
from hmxgraph.protocol.renaming import camel, to_snake
from hmxgraph.protocol.schemas import schema

JsonObject: TypeAlias = dict[str, Any]


class Step(NamedTuple):
    """One change of the document on the way from one version to the next."""

    name: str
    change: Callable[[JsonObject], JsonObject]


class Migrated(NamedTuple):
    """A document of this version, the version it came from, and the names of the steps taken."""

    document: JsonObject
    version: int
    steps: tuple[str, ...]


def version_of(fingerprint: Mapping[str, Any]) -> Any:
    """The ``fingerprint_version``, under either of its spellings; None where there is none."""
    return fingerprint.get("fingerprint_version", fingerprint.get("fingerprintVersion"))


def stated_hash(fingerprint: Mapping[str, Any]) -> Any:
    """The ``fingerprint_hash``, under either of its spellings."""
    return fingerprint.get("fingerprint_hash", fingerprint.get("fingerprintHash"))


def computed_hash(fingerprint: Mapping[str, Any]) -> str:
    """The hash that a fingerprint of its version must state: over its own names of the hashed fields."""
    if version_of(fingerprint) == 0:
        names = [camel(name) for name in HASHED_FIELDS]
        return content_hash({name: fingerprint[name] for name in names if name in fingerprint})
    return fingerprint_hash(fingerprint)


def migrated(fingerprint: Mapping[str, Any]) -> Migrated:
    """*fingerprint* in this version, its hash made anew, and the old one kept in its metadata.

    Raises:
        FingerprintRefused: there is no place to keep it in, because the metadata is no object (HMX-F 2.1).

    """
    document, version = dict(fingerprint), version_of(fingerprint)
    steps = [step for older in range(version, FINGERPRINT_VERSION) for step in STEPS[older]]
    for step in steps:
        document = step.change(document)
    if not steps:
        return Migrated(document, version, ())
    if not isinstance(document["metadata"], Mapping):
        found = f"metadata is {describe(document['metadata'])}, no object (HMX-F 2.1)"
        raise FingerprintRefused("structure", found, "ask for the file again")
    names = tuple(step.name for step in steps)
    came = {"fingerprint_version": version, "fingerprint_hash": stated_hash(fingerprint), "steps": list(names)}
    document |= {"metadata": {**document["metadata"], "migrated_from": came}}
    return Migrated({**document, "fingerprint_hash": fingerprint_hash(document)}, version, names)


def _wire_names(document: JsonObject) -> JsonObject:
    """Version 0 is the MemoryFingerprint of the internal types, in camelCase (HMX-F 1)."""
    renamed: JsonObject = to_snake(document, schema("fingerprint"))
    return renamed


def _missing_sections(document: JsonObject) -> JsonObject:
    """Version 0 came before behaviour, priors and memory statistics: what it does not tell is zero."""
    return {**empty_sections(), "metadata": {}, **document}


def _first_version(document: JsonObject) -> JsonObject:
    return {**document, "fingerprint_version": 1}


def empty_sections() -> JsonObject:
    """The sections of a fingerprint that tells nothing."""
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
