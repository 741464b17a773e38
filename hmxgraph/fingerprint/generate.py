"""Generate a fingerprint from a tenant's learned state (HMX-F 11)."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from hmxgraph.fingerprint._texts import (
    LONGEST_LIST,
    LONGEST_NAME,
    LONGEST_TEXT,
    Disclosure,
    limited,
    one_line,
    texts_in,
)
from hmxgraph.fingerprint.groups import cluster_summary
from hmxgraph.fingerprint.sections import behavioral_patterns, context_priors, semantic_summary
from hmxgraph.fingerprint.signing import sealed
from hmxgraph.fingerprint.state import ExportOptions, LearnedState, Selection
from hmxgraph.fingerprint.summaries import CLUSTERS, SET_OF_TYPE, summary
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.display import truncate
from hmxgraph.protocol.events import HMX_VERSION
from hmxgraph.protocol.fingerprints import FINGERPRINT_VERSION, Envelope
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.terms import terms

# Fitting summaries, here called entries, into the size limit: long entries are shortened, and entries for which no room
# is left are dropped.

Entry: TypeAlias = dict[str, Any]
# Fields that are never cut.
_IDS = ("artifact_id", "cluster_id", "representative_ids")
# Texts of at most this many characters are not shortened further.
_SHORTEST = 32
# Bytes of the comma between two entries.
_COMMA = 1


def canonical_size(value: Any) -> int:
    """The size of *value* in bytes of canonical UTF-8."""
    return len(canonical_bytes(value))


def fitted(entry: Entry, most_bytes: int) -> Entry:
    """*entry*, with texts and lists cut as far as *most_bytes* requires.

    At least 31 characters of each text and two elements of each list remain. Ids are never cut, so an entry with long
    ids may exceed *most_bytes*.

    >>> sorted(fitted({"artifact_id": "a", "steps": ["x" * 900] * 9}, 2_000)["steps"], key=len)[0][-2:]
    'x…'

    """
    text, longest_list = LONGEST_TEXT, LONGEST_LIST
    while True:
        short = {name: value if name in _IDS else limited(value, text, longest_list) for name, value in entry.items()}
        if canonical_size(short) <= most_bytes or text <= _SHORTEST:
            return short
        text, longest_list = text // 2, max(longest_list // 2, 2)


def chosen(sets: Mapping[str, Sequence[Entry]], room: int) -> dict[str, list[Entry]]:
    """The entries of *sets* that fit into *room* bytes: the first of each set, then the second, and so on.

    An entry that does not fit is skipped; smaller ones after it may still fit. The entries of a set stay in order.

    >>> chosen({"a": [{"x": 1}, {"x": 222}], "b": [{"y": 1}]}, 17)
    {'a': [{'x': 1}], 'b': [{'y': 1}]}

    """
    kept_entries: dict[str, list[Entry]] = {name: [] for name in sets}
    for row in zip_longest(*sets.values()):
        for name, entry in zip(sets, row, strict=True):
            size = canonical_size(entry) + _COMMA
            if entry is not None and size <= room:
                kept_entries[name].append(entry)
                room -= size
    return kept_entries


# The algorithm of HMX-F 11, as a pure function of the learned state.

# Fields that are exported as they are: ids, and values from closed lists.
_UNMASKED = ("artifact_id", "cluster_id", "representative_ids", "dominant_type", "complexity", "severity")
# Number of bytes reserved for the counts of dropped entries, which are known only after entries have been chosen.
_RESERVED = 64


def generate(state: LearnedState, options: ExportOptions) -> Envelope:
    """The envelope with the fingerprint of *state*, within the limits of its tier; the same state gives the same bytes.

    Raises:
        UnknownChoice: no such tier.

    """
    disclosure = _disclosure(state, options)
    entries = _entries(state, options, disclosure)
    sections = _sections_with_names(state, options, disclosure)
    without_entries = _document(state, options, sections, disclosure, {name: [] for name in entries})
    # Only artifacts whose entries are kept become priorities. Which are kept depends on the room left, so leave room
    # for all of them as priorities.
    without_entries["context_priors"] = _priors(state, options, disclosure, _ids_of(state.selection))
    kept_entries = chosen(entries, _room(without_entries, options))
    sets = {name: _by_id(name, members) for name, members in kept_entries.items()}
    document = _document(state, options, sections, disclosure, sets)
    document["metadata"]["left_out"] = _left_out(state.selection, kept_entries)
    return sealed(document, options)


def _sections_with_names(state: LearnedState, options: ExportOptions, disclosure: Disclosure) -> Entry:
    """The sections that name tools, errors and types; the number of names is halved until they fit."""
    empty: dict[str, list[Entry]] = {name: [] for name in (*SET_OF_TYPE.values(), CLUSTERS)}
    most = options.limits.names
    while True:
        sections = {
            "behavioral_patterns": behavioral_patterns(state.behaviour, options, disclosure, most),
            "graph_digest": _digest(state, options, disclosure, most),
        }
        if not most or _room(_document(state, options, sections, disclosure, empty), options) >= 0:
            return sections
        most //= 2


def _room(document: Entry, options: ExportOptions) -> int:
    """The number of bytes that *document* leaves free in its tier; negative if it is too large."""
    return options.limits.most_bytes - canonical_size(sealed(document, options).document()) - _RESERVED


def _document(
    state: LearnedState,
    options: ExportOptions,
    sections: Entry,
    disclosure: Disclosure,
    sets: Mapping[str, list[Entry]],
) -> dict[str, Any]:
    """Steps 1 to 8 of HMX-F 11: everything but id and hashes; *sections* come from `_sections_with_names`."""
    ids = {entry["artifact_id"] for members in sets.values() for entry in members if "artifact_id" in entry}
    document: dict[str, Any] = {
        "hmx_version": HMX_VERSION,
        "fingerprint_version": FINGERPRINT_VERSION,
        "tenant_id": state.tenant_id,
        "created_at": iso(state.as_of_us),
        "artifact_summaries": dict(sets),
        **sections,
        "semantic_summary": semantic_summary(state.memories),
        "context_priors": _priors(
            state, options, disclosure, [artifact_id for artifact_id in _ids_of(state.selection) if artifact_id in ids]
        ),
        "metadata": {
            "generator": options.exported_by,
            "left_out": dict.fromkeys(sets, 0),
            "max_depth_exact": state.digest.max_depth_exact,
        },
        "compression_tier": options.tier,
        "source_event_count": state.event_count,
        "source_artifact_count": state.selection.artifact_count,
    }
    return document | _optional(state, options)


def _optional(state: LearnedState, options: ExportOptions) -> dict[str, Any]:
    """The optional fields that have a value; a tier without summaries has no adapted parameters either."""
    fields: dict[str, Any] = {}
    if options.agent_id is not None:
        fields["agent_id"] = options.agent_id
    if options.tags:
        fields["tags"] = sorted(set(options.tags))
    if options.expires_us is not None:
        fields["expires_at"] = iso(options.expires_us)
    if state.compiler_state is not None:
        fields["compiler_state"] = dict(state.compiler_state)
        if not options.limits.per_type:
            fields["compiler_state"]["adapted_parameters"] = []
    return fields


def _entries(state: LearnedState, options: ExportOptions, disclosure: Disclosure) -> dict[str, list[Entry]]:
    """The cleaned summaries of each set and the clusters, heaviest first."""
    limits = options.limits
    raw: dict[str, list[Entry]] = {
        name: [summary(artifact, state.contents[artifact.artifact_id]) for artifact in members]
        for name, members in state.selection.sets.items()
    }
    raw[CLUSTERS] = [cluster_summary(group) for group in state.selection.groups]
    return {
        name: [fitted(_cleaned(entry, options, disclosure), limits.entry_bytes) for entry in members]
        for name, members in raw.items()
    }


def _cleaned(entry: Entry, options: ExportOptions, disclosure: Disclosure) -> Entry:
    """*entry* without secrets and private names, and without tools unless their names may be exported."""
    clean = {name: value if name in _UNMASKED else disclosure.value(value) for name, value in entry.items()}
    if "tools_used" in clean and not options.discloses("tool"):
        clean["tools_used"] = []
    for name in ("tags", "shared_tags", "scope", "tools_used"):
        if name in clean:
            clean[name] = list(dict.fromkeys(truncate(value, LONGEST_NAME) for value in clean[name]))
    return clean


def _digest(state: LearnedState, options: ExportOptions, disclosure: Disclosure, most: int) -> dict[str, Any]:
    """The digest with at most *most* types in each distribution, and without hubs whose names are private."""
    digest = state.digest.document()
    for name in ("entity_type_distribution", "relation_type_distribution"):
        digest[name] = disclosure.types(digest[name], most)
    hubs = [hub for hub in digest["top_connected_entities"] if options.discloses(hub["type"])][: options.limits.hubs]
    cleaned = [hub | {"name": truncate(disclosure.text(hub["name"]), LONGEST_NAME)} for hub in hubs]
    digest["top_connected_entities"] = sorted(cleaned, key=lambda hub: (hub["name"], hub["type"]))
    return digest


def _priors(
    state: LearnedState, options: ExportOptions, disclosure: Disclosure, artifact_ids: list[str]
) -> dict[str, Any]:
    """The context priors, with cleaned tags; only *artifact_ids* can be priorities."""
    priors = context_priors(state.served, state.selection.tag_weights, artifact_ids, options.limits.tags)
    for name in ("priority_tags", "suppressed_tags"):
        priors[name] = list(dict.fromkeys(truncate(disclosure.text(tag), LONGEST_NAME) for tag in priors[name]))
    return priors


def _ids_of(selection: Selection) -> list[str]:
    """The ids of the selected artifacts of all sets, heaviest first."""
    ranked = sorted(
        (artifact for members in selection.sets.values() for artifact in members), key=lambda artifact: artifact.rank
    )
    return [artifact.artifact_id for artifact in ranked]


def _by_id(name: str, entries: list[Entry]) -> list[Entry]:
    field = "cluster_id" if name == CLUSTERS else "artifact_id"
    return sorted(entries, key=lambda entry: str(entry[field]))


def _left_out(selection: Selection, kept_entries: Mapping[str, list[Entry]]) -> dict[str, int]:
    """For each set, the number of candidates that the fingerprint does not contain."""
    return {name: selection.totals.get(name, 0) - len(members) for name, members in kept_entries.items()}


def _disclosure(state: LearnedState, options: ExportOptions) -> Disclosure:
    """The cleaner of the texts of this export."""
    allowed = _allowed(state) if options.allow_list else None
    if not state.private_names:
        return Disclosure([], allowed=allowed)
    titles = [artifact.title for members in state.selection.sets.values() for artifact in members]
    titles += [group[0].title for group in state.selection.groups]
    return Disclosure(map(one_line, texts_in([titles, list(state.contents.values())])), state.private_names, allowed)


def _allowed(state: LearnedState) -> frozenset[str]:
    """The words of the allow list: those from sessions of several users, and tool names with their parts."""
    tools = [name.lower() for name in state.behaviour.tools or {}]
    return state.common_terms | {*tools, *(part for name in tools for part in terms(name))}
