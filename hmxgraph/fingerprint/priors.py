"""Hints for assembling context, learnt from the packs whose readers reported on them (HMX-F 7).

Reading a pack writes nothing; a report does. So only packs that were really used count, and each by its verdict.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hmxgraph.fingerprint.known import ServedPack
from hmxgraph.fingerprint.numbers import millionths, ranked

DEFAULT_BUDGET = 4096
MOST_ARTIFACTS = 20
VERDICTS: Mapping[str, int] = {"positive": 1, "neutral": 0, "correction": -1, "negative": -1}
_MILLION = 1_000_000


def context_priors(
    served: Sequence[ServedPack], tag_weights: Mapping[str, float], artifact_ids: Sequence[str], most_tags: int
) -> dict[str, Any]:
    """The priors; what no report tells is taken from what is stored: the heaviest artifacts and tags.

    *artifact_ids* are those that the fingerprint tells of, heaviest first: no others can be a priority.
    """
    weights = section_weights(served)
    liked, disliked = _tags(served, liked=True), _tags(served, liked=False)
    suppressed = {tag: disliked[tag] - liked[tag] for tag in disliked if disliked[tag] > liked[tag]}
    welcome = {tag: weight for tag, weight in (liked or tag_weights).items() if tag not in suppressed}
    return {
        "preferred_sections": ranked({name: weight - 1 for name, weight in weights.items()}, len(weights)),
        "section_weights": weights,
        "default_token_budget": _usual_budget(served),
        "priority_artifact_ids": _priorities(served, artifact_ids),
        "priority_tags": ranked(welcome, most_tags),
        "suppressed_tags": ranked(suppressed, most_tags),
    }


def section_weights(served: Sequence[ServedPack]) -> dict[str, float]:
    """For each section 1 + (helped - hindered) / (helped + hindered + 2): 1 where nothing is known, near it after few.

    Helped and hindered are its shares of the tokens of liked and disliked packs, added up.

    >>> section_weights([ServedPack("p", "positive", 100, {"facts": 30, "procedures": 10}, (), ())])
    {'facts': 1.272727, 'procedures': 1.111111}

    """
    helped, hindered = Counter[str](), Counter[str]()
    for pack in served:
        into = {1: helped, -1: hindered}.get(VERDICTS[pack.signal])
        if into is not None:
            into.update(_shares(pack))
    sections = sorted(helped.keys() | hindered.keys())
    return {section: _weight(helped[section], hindered[section]) for section in sections}


def _weight(helped: int, hindered: int) -> float:
    return round(1 + (helped - hindered) / (helped + hindered + 2 * _MILLION), 6)


def _shares(pack: ServedPack) -> dict[str, int]:
    used = sum(pack.section_tokens.values())
    return {section: millionths(tokens / used) for section, tokens in pack.section_tokens.items() if tokens}


def _tags(served: Sequence[ServedPack], *, liked: bool) -> Counter[str]:
    verdict = 1 if liked else -1
    return Counter(tag for pack in served if VERDICTS[pack.signal] == verdict for tag in pack.tags)


def _usual_budget(served: Sequence[ServedPack]) -> int:
    budgets = sorted(pack.budget for pack in served if VERDICTS[pack.signal] >= 0)
    return budgets[(len(budgets) - 1) // 2] if budgets else DEFAULT_BUDGET


def _priorities(served: Sequence[ServedPack], artifact_ids: Sequence[str]) -> list[str]:
    votes = Counter[str]()
    for pack in served:
        votes.update(dict.fromkeys(pack.artifact_ids, VERDICTS[pack.signal]))
    place = {artifact_id: place for place, artifact_id in enumerate(artifact_ids)}
    wanted = [artifact_id for artifact_id in artifact_ids if votes[artifact_id] >= 0]
    return sorted(wanted, key=lambda artifact_id: (-votes[artifact_id], place[artifact_id]))[:MOST_ARTIFACTS]
