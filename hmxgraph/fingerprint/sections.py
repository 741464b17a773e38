"""Sections of a fingerprint: behaviour, semantic memory, and context priors (HMX-F 4, 6, 7)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hmxgraph.fingerprint._texts import Disclosure
from hmxgraph.fingerprint.behaviour import Behaviour
from hmxgraph.fingerprint.measures import average, millionths, most_frequent, ranked, ratio
from hmxgraph.fingerprint.state import ExportOptions, MemoryCount, ServedPack
from hmxgraph.protocol.fingerprints import MEMORY_STATUSES

# Behaviour (HMX-F 4).

# Maximum preferred tools and decision domains.
_PREFERRED = 5
_MILLISECOND, _SECOND = 1_000, 1_000_000


def behavioral_patterns(
    behaviour: Behaviour, options: ExportOptions, disclosure: Disclosure, most: int
) -> dict[str, Any]:
    """The section ``behavioral_patterns``, with at most *most* names in each of its maps.

    The average length of sessions is in seconds, the average time until recovery in milliseconds.
    """
    tools = _names(behaviour.tools, disclosure, allowed=options.discloses("tool"))
    errors = _names(behaviour.error_types, disclosure, allowed=options.discloses("error_type"))
    domains = _names(behaviour.decision_domains, disclosure, allowed=options.discloses("tag"))
    return {
        "tool_usage": {
            "total_calls": behaviour.tool_calls,
            "tool_frequency": most_frequent(tools, most),
            "avg_success_rate": ratio(behaviour.tool_successes, behaviour.tool_results),
            "preferred_tools": ranked(tools, _PREFERRED),
        },
        "decision_patterns": {
            "total_decisions": behaviour.decisions,
            "avg_confidence": average(behaviour.decision_confidence_millionths, behaviour.decisions_rated),
            "correction_rate": ratio(behaviour.decisions_corrected, behaviour.decisions),
            "top_decision_domains": ranked(domains, _PREFERRED),
        },
        "error_patterns": {
            "total_errors": behaviour.errors,
            "recovery_rate": ratio(behaviour.errors_recovered, behaviour.errors),
            "common_error_types": most_frequent(errors, most),
            "avg_recovery_time_ms": ratio(behaviour.recovery_us, behaviour.errors_recovered * _MILLISECOND),
        },
        "session_patterns": {
            "avg_session_length": ratio(behaviour.session_us, behaviour.sessions * _SECOND),
            "avg_events_per_session": ratio(behaviour.session_events, behaviour.sessions),
            "total_sessions": behaviour.sessions,
        },
    }


def _names(counts: Mapping[str, int] | None, disclosure: Disclosure, *, allowed: bool) -> dict[str, int]:
    """The counts by cleaned name; none unless such names are *allowed* in the export."""
    return disclosure.names(counts or {}) if allowed else {}


# Semantic memory (HMX-F 6).

# Maximum number of kinds of memories, and of extraction methods.
_MOST_KINDS = 32


def semantic_summary(memories: Iterable[MemoryCount]) -> dict[str, Any]:
    """The section ``semantic_summary``: counts by status, and distributions and averages of promoted memories.

    Other memories do not enter the distributions and averages, as in the example of HMX-F 6.

    >>> semantic_summary([MemoryCount("promoted", "fact", "directive", 2, 1_500_000, 3)])["avg_promoted_confidence"]
    0.75

    """
    counted = Counter[str]()
    kinds, methods = Counter[str](), Counter[str]()
    confidence = observations = 0
    for memory in memories:
        counted[memory.status] += memory.count
        if memory.status == "promoted":
            kinds[memory.kind] += memory.count
            methods[memory.extraction_method] += memory.count
            confidence += memory.confidence_millionths
            observations += memory.observations
    return {f"{status}_count": counted[status] for status in MEMORY_STATUSES} | {
        "type_distribution": most_frequent(kinds, _MOST_KINDS),
        "extraction_method_distribution": most_frequent(methods, _MOST_KINDS),
        "avg_promoted_confidence": average(confidence, counted["promoted"]),
        "avg_observation_count": ratio(observations, counted["promoted"]),
    }


# Context priors, learned from feedback on packs (HMX-F 7).
#
# Building a pack writes nothing, so only packs with feedback are known here.

# The token budget to recommend if no feedback on packs suggests another one.
DEFAULT_BUDGET = 4096
# Maximum number of priority artifacts.
_MOST_ARTIFACTS = 20
# For each feedback signal: 1 if it speaks for the pack, -1 if against it, 0 if neither.
VERDICTS: Mapping[str, int] = {"positive": 1, "neutral": 0, "correction": -1, "negative": -1}
_MILLION = 1_000_000


def context_priors(
    served: Sequence[ServedPack], tag_weights: Mapping[str, float], artifact_ids: Sequence[str], most_tags: int
) -> dict[str, Any]:
    """The priors learned from feedback on *served* packs; without feedback, the heaviest artifacts and tags.

    *artifact_ids* are the artifacts in the fingerprint, heaviest first; only these can be priorities.
    """
    weights = section_weights(served)
    liked, disliked = _tags(served, liked=True), _tags(served, liked=False)
    suppressed = {tag: disliked[tag] - liked[tag] for tag in disliked if disliked[tag] > liked[tag]}
    priority_tags = {tag: weight for tag, weight in (liked or tag_weights).items() if tag not in suppressed}
    return {
        "preferred_sections": ranked({name: weight - 1 for name, weight in weights.items()}, len(weights)),
        "section_weights": weights,
        "default_token_budget": _usual_budget(served),
        "priority_artifact_ids": _priorities(served, artifact_ids),
        "priority_tags": ranked(priority_tags, most_tags),
        "suppressed_tags": ranked(suppressed, most_tags),
    }


def section_weights(served: Sequence[ServedPack]) -> dict[str, float]:
    """The weight of each section: 1 + (helped - hindered) / (helped + hindered + 2).

    *helped* is the sum of the section's shares of the tokens in packs with positive feedback, *hindered* the same sum
    for packs with negative feedback or corrections. If both are small, the weight is close to 1; if both are zero, the
    section is left out.

    >>> section_weights([ServedPack("p", "positive", 100, {"facts": 30, "procedures": 10}, (), ())])
    {'facts': 1.272727, 'procedures': 1.111111}

    """
    helped, hindered = Counter[str](), Counter[str]()
    for pack in served:
        totals = {1: helped, -1: hindered}.get(VERDICTS[pack.signal])
        if totals is not None:
            totals.update(_shares(pack))
    sections = sorted(helped.keys() | hindered.keys())
    return {section: _weight(helped[section], hindered[section]) for section in sections}


def _weight(helped: int, hindered: int) -> float:
    return round(1 + (helped - hindered) / (helped + hindered + 2 * _MILLION), 6)


def _shares(pack: ServedPack) -> dict[str, int]:
    """Each section's share of the tokens in *pack*, in millionths."""
    used = sum(pack.section_tokens.values())
    return {section: millionths(tokens / used) for section, tokens in pack.section_tokens.items() if tokens}


def _tags(served: Sequence[ServedPack], *, liked: bool) -> Counter[str]:
    """For each tag, the number of packs with this tag that got positive feedback, if *liked*, else negative feedback.

    A correction counts as negative feedback.
    """
    verdict = 1 if liked else -1
    return Counter(tag for pack in served if VERDICTS[pack.signal] == verdict for tag in pack.tags)


def _usual_budget(served: Sequence[ServedPack]) -> int:
    """The median budget of the packs without negative feedback or corrections; the default if there are none."""
    budgets = sorted(pack.budget for pack in served if VERDICTS[pack.signal] >= 0)
    return budgets[(len(budgets) - 1) // 2] if budgets else DEFAULT_BUDGET


def _priorities(served: Sequence[ServedPack], artifact_ids: Sequence[str]) -> list[str]:
    """The artifacts with the best feedback first, ties in the given order.

    Artifacts with more negative than positive feedback are left out.
    """
    votes = Counter[str]()
    for pack in served:
        votes.update(dict.fromkeys(pack.artifact_ids, VERDICTS[pack.signal]))
    position = {artifact_id: index for index, artifact_id in enumerate(artifact_ids)}
    eligible = [artifact_id for artifact_id in artifact_ids if votes[artifact_id] >= 0]
    return sorted(eligible, key=lambda artifact_id: (-votes[artifact_id], position[artifact_id]))[:_MOST_ARTIFACTS]
