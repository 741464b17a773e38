"""A tenant's learned state as a fingerprint: the algorithm of HMX-F 11."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from hmxgraph.fingerprint._texts import (
    LONGEST_LIST,
    LONGEST_NAME,
    LONGEST_TEXT,
    Disclosure,
    one_line,
    shortened,
    texts_in,
)
from hmxgraph.fingerprint.groups import cluster_summary
from hmxgraph.fingerprint.sections import behavioral_patterns, context_priors, semantic_summary
from hmxgraph.fingerprint.signing import sealed
from hmxgraph.fingerprint.state import ExportOptions, Known, Selection
from hmxgraph.fingerprint.summaries import CLUSTERS, SET_OF_TYPE, summary
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.events import HMX_VERSION
from hmxgraph.protocol.fingerprints import FINGERPRINT_VERSION, Envelope
from hmxgraph.protocol.showing import cut
from hmxgraph.protocol.timestamps import iso

# Entries into a number of bytes: first made short, then the lightest left out; the same ones every time.

Entry: TypeAlias = dict[str, Any]
_IDS = ("artifact_id", "cluster_id", "representative_ids")
_SHORTEST = 32
_COMMA = 1


def measured(value: Any) -> int:
    """The bytes of *value* in canonical UTF-8."""
    return len(canonical_bytes(value))


def fitted(entry: Entry, most_bytes: int) -> Entry:
    """*entry* with texts and lists cut until it fits; ids stay whole, so one with a longer id cannot fit.

    >>> sorted(fitted({"artifact_id": "a", "steps": ["x" * 900] * 9}, 2_000)["steps"], key=len)[0][-2:]
    'x…'

    """
    text, many = LONGEST_TEXT, LONGEST_LIST
    while True:
        short = {name: value if name in _IDS else shortened(value, text, many) for name, value in entry.items()}
        if measured(short) <= most_bytes or text <= _SHORTEST:
            return short
        text, many = text // 2, max(many // 2, 2)


def chosen(sets: Mapping[str, Sequence[Entry]], room: int) -> dict[str, list[Entry]]:
    """As much of the *sets* as *room* bytes hold: the first of each set, then the second of each, and so on.

    An entry that does not fit is left out and smaller ones after it may still come in. Each keeps its order.

    >>> chosen({"a": [{"x": 1}, {"x": 222}], "b": [{"y": 1}]}, 17)
    {'a': [{'x': 1}], 'b': [{'y': 1}]}

    """
    kept: dict[str, list[Entry]] = {name: [] for name in sets}
    for row in zip_longest(*sets.values()):
        for name, entry in zip(sets, row, strict=True):
            size = measured(entry) + _COMMA
            if entry is not None and size <= room:
                kept[name].append(entry)
                room -= size
    return kept


# A tenant's learned state as a fingerprint: the algorithm of HMX-F 11, a pure function of what is known.

_GENERATE_IDS = ("artifact_id", "cluster_id", "representative_ids", "dominant_type")
# What may still change once the entries are chosen: the counts of those left out.
_SLACK = 64


def generate(known: Known, options: ExportOptions) -> Envelope:
    """The envelope with the fingerprint of what is *known*, never larger than its tier allows; same state, same bytes.

    Raises:
        UnknownChoice: no such tier.

    """
    disclosure = _disclosure(known)
    entries = _entries(known, options, disclosure)
    told = _named(known, options, disclosure)
    bare = _document(known, options, told, disclosure, {name: [] for name in entries})
    bare["context_priors"] = _priors(known, options, disclosure, _ids_of(known.selection))
    kept = chosen(entries, _room(bare, options))
    sets = {name: _by_id(name, members) for name, members in kept.items()}
    document = _document(known, options, told, disclosure, sets)
    document["metadata"]["left_out"] = _left_out(known.selection, kept)
    return sealed(document, options)


def _named(known: Known, options: ExportOptions, disclosure: Disclosure) -> Entry:
    """The sections that name tools, errors and types, with fewer names where so many would fill the tier."""
    empty: dict[str, list[Entry]] = {name: [] for name in (*SET_OF_TYPE.values(), CLUSTERS)}
    most = options.limits.names
    while True:
        told = {
            "behavioral_patterns": behavioral_patterns(known.behaviour, options, disclosure, most),
            "graph_digest": _digest(known, options, disclosure, most),
        }
        if not most or _room(_document(known, options, told, disclosure, empty), options) >= 0:
            return told
        most //= 2


def _room(document: Entry, options: ExportOptions) -> int:
    """The bytes that *document* leaves of its tier."""
    return options.limits.most_bytes - measured(sealed(document, options).document()) - _SLACK


def _document(
    known: Known, options: ExportOptions, told: Entry, disclosure: Disclosure, sets: Mapping[str, list[Entry]]
) -> dict[str, Any]:
    """Steps 1 to 8: everything but ids and hashes; *told* are the sections that name something."""
    ids = {entry["artifact_id"] for members in sets.values() for entry in members if "artifact_id" in entry}
    document: dict[str, Any] = {
        "hmx_version": HMX_VERSION,
        "fingerprint_version": FINGERPRINT_VERSION,
        "tenant_id": known.tenant_id,
        "created_at": iso(known.as_of_us),
        "artifact_summaries": dict(sets),
        **told,
        "semantic_summary": semantic_summary(known.memories),
        "context_priors": _priors(known, options, disclosure, [one for one in _ids_of(known.selection) if one in ids]),
        "metadata": {
            "generator": options.exported_by,
            "left_out": dict.fromkeys(sets, 0),
            "max_depth_exact": known.digest.max_depth_exact,
        },
        "compression_tier": options.tier,
        "source_event_count": known.event_count,
        "source_artifact_count": known.selection.artifact_count,
    }
    return document | _optional(known, options)


def _optional(known: Known, options: ExportOptions) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if options.agent_id is not None:
        found["agent_id"] = options.agent_id
    if options.tags:
        found["tags"] = sorted(set(options.tags))
    if options.expires_us is not None:
        found["expires_at"] = iso(options.expires_us)
    if known.compiler_state is not None:
        found["compiler_state"] = dict(known.compiler_state)
        if not options.limits.per_type:
            found["compiler_state"]["adapted_parameters"] = []
    return found


def _entries(known: Known, options: ExportOptions, disclosure: Disclosure) -> dict[str, list[Entry]]:
    """The summaries of each set and the clusters, heaviest first, as they may travel."""
    limits = options.limits
    raw: dict[str, list[Entry]] = {
        name: [summary(artifact, known.contents[artifact.artifact_id]) for artifact in members]
        for name, members in known.selection.sets.items()
    }
    raw[CLUSTERS] = [cluster_summary(group) for group in known.selection.groups]
    return {
        name: [fitted(_told(entry, options, disclosure), limits.entry_bytes) for entry in members]
        for name, members in raw.items()
    }


def _told(entry: Entry, options: ExportOptions, disclosure: Disclosure) -> Entry:
    clean = {name: value if name in _GENERATE_IDS else disclosure.value(value) for name, value in entry.items()}
    if "tools_used" in clean and not options.tells("tool"):
        clean["tools_used"] = []
    for name in ("tags", "shared_tags", "scope", "tools_used"):
        if name in clean:
            clean[name] = list(dict.fromkeys(cut(value, LONGEST_NAME) for value in clean[name]))
    return clean


def _digest(known: Known, options: ExportOptions, disclosure: Disclosure, most: int) -> dict[str, Any]:
    digest = known.digest.document()
    for name in ("entity_type_distribution", "relation_type_distribution"):
        digest[name] = disclosure.types(digest[name], most)
    hubs = [hub for hub in digest["top_connected_entities"] if options.tells(hub["type"])][: options.limits.hubs]
    told = [hub | {"name": cut(disclosure.text(hub["name"]), LONGEST_NAME)} for hub in hubs]
    digest["top_connected_entities"] = sorted(told, key=lambda hub: (hub["name"], hub["type"]))
    return digest


def _priors(known: Known, options: ExportOptions, disclosure: Disclosure, artifact_ids: list[str]) -> dict[str, Any]:
    priors = context_priors(known.served, known.selection.tag_weights, artifact_ids, options.limits.tags)
    for name in ("priority_tags", "suppressed_tags"):
        priors[name] = list(dict.fromkeys(cut(disclosure.text(tag), LONGEST_NAME) for tag in priors[name]))
    return priors


def _ids_of(selection: Selection) -> list[str]:
    ranked = sorted((artifact for members in selection.sets.values() for artifact in members), key=lambda one: one.rank)
    return [artifact.artifact_id for artifact in ranked]


def _by_id(name: str, entries: list[Entry]) -> list[Entry]:
    field = "cluster_id" if name == CLUSTERS else "artifact_id"
    return sorted(entries, key=lambda entry: str(entry[field]))


def _left_out(selection: Selection, kept: Mapping[str, list[Entry]]) -> dict[str, int]:
    return {name: selection.totals.get(name, 0) - len(members) for name, members in kept.items()}


def _disclosure(known: Known) -> Disclosure:
    if not known.private_names:
        return Disclosure([])
    titles = [artifact.title for members in known.selection.sets.values() for artifact in members]
    titles += [group[0].title for group in known.selection.groups]
    return Disclosure(map(one_line, texts_in([titles, list(known.contents.values())])), known.private_names)
