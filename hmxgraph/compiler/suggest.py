"""Suggestions for a running session: likely next tools, recovery steps and the fitting artifacts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.compiler._vocabulary import telling_words
from hmxgraph.compiler.compilation import Model
from hmxgraph.compiler.failures import failure_key
from hmxgraph.compiler.goal_classes import fit
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.protocol.artifacts import steps_of, texts
from hmxgraph.protocol.suggestions import SuggestedStep, SuggestedTool, Suggestion

_MOST_TOOLS = 10
_PLAYBOOK_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Guide:
    """The fields of an active artifact that suggestions need."""

    artifact_id: str
    artifact_type: str
    title: str
    content: Mapping[str, Any]
    metadata: Mapping[str, Any]
    confidence: float
    observed_count: int = 0


def suggest(
    running: SessionSummary, model: Model, guides: Sequence[Guide], profile: CompilerProfile = DEFAULT_PROFILE
) -> Suggestion:
    """The next tools and steps for *running*, from the tenant's model and its active artifacts."""
    ordered = sorted(guides, key=lambda guide: guide.artifact_id)
    chances = predicted_actions(running.request, running.actions, model)
    schema = fitting_schema(chances, ordered, profile)
    playbooks = _playbooks(running, ordered)
    # Suggest nothing for a request unlike any seen before, however usual an action is.
    unfamiliar = not chances and bool(telling_words(running.request))
    tools = _tools({} if unfamiliar else dict(model.habits.chances(running)), playbooks)
    supporting = _supporting_artifacts(schema, playbooks, ordered)
    return Suggestion(
        tools=tuple(
            SuggestedTool(name, chance, tuple(supporting.get(name, ()))) for name, chance in tools[:_MOST_TOOLS]
        ),
        recovery=tuple(step for guide in playbooks for step in texts(guide.content.get("recovery_steps"))),
        **_ahead(schema, running.actions),
    )


def predicted_actions(request: str, actions: Iterable[str], model: Model) -> dict[str, float]:
    """For each action, the probability that a session with this request takes it; 1 for actions taken.

    Actions unrelated to the request and to the actions taken are omitted, however usual they are.
    """
    taken = tuple(actions)
    related = model.goals.related_actions(request, taken)
    chances = model.goals.chances(request) if request and related else {}
    return {name: chance for name, chance in chances.items() if name in related} | dict.fromkeys(taken, 1.0)


def fitting_schema(chances: Mapping[str, float], guides: Iterable[Guide], profile: CompilerProfile) -> Guide | None:
    """The task schema that best fits these *chances*, or None."""
    schemas = [
        guide for guide in guides if guide.artifact_type == "task_schema" and not chances.keys().isdisjoint(_key(guide))
    ]
    return max(
        schemas,
        key=lambda guide: (fit(_key(guide), chances, profile), guide.observed_count, guide.artifact_id),
        default=None,
    )


def _key(guide: Guide) -> list[str]:
    return list(texts(guide.metadata.get("goal_actions")) or texts(guide.content.get("tools_used")))


def _playbooks(running: SessionSummary, guides: Sequence[Guide]) -> list[Guide]:
    """The playbooks for the failure that the session has not answered yet."""
    if not running.ahead.failure:
        return []
    key = failure_key(running.ahead.failure)
    return [
        guide
        for guide in guides
        if guide.artifact_type == "failure_playbook" and guide.metadata.get("failure_key") == key
    ]


def _tools(chances: Mapping[str, float], playbooks: Sequence[Guide]) -> list[tuple[str, float]]:
    """Every tool with its probability, highest first; after a failure, past recoveries are mixed in."""
    helped: defaultdict[str, float] = defaultdict(float)
    for guide in playbooks:
        for tool, times in _recoveries(guide):
            helped[tool] += times + 0.5
    total = sum(helped.values())
    if total:
        share = _PLAYBOOK_SHARE if chances else 1.0
        chances = {
            name: (1 - share) * chances.get(name, 0.0) + share * helped.get(name, 0.0) / total
            for name in sorted(chances.keys() | helped.keys())
        }
    return sorted(
        ((name, round(chance, 4)) for name, chance in chances.items()),
        key=lambda ranked_tool: (-ranked_tool[1], ranked_tool[0]),
    )


def _supporting_artifacts(
    schema: Guide | None, playbooks: Sequence[Guide], guides: Sequence[Guide]
) -> dict[str, list[str]]:
    """For each tool the artifacts that support it: the schema, the playbooks and the policies that recommend it."""
    supporting: defaultdict[str, list[str]] = defaultdict(list)
    if schema is not None:
        for tool in texts(schema.content.get("tools_used")):
            supporting[tool].append(schema.artifact_id)
    for guide in playbooks:
        for tool, _ in _recoveries(guide):
            supporting[tool].append(guide.artifact_id)
    for guide in guides:
        if guide.artifact_type == "decision_policy":
            for tool in texts(guide.metadata.get("tools"))[:1]:
                supporting[tool].append(guide.artifact_id)
    return supporting


def _recoveries(playbook: Guide) -> Iterator[tuple[str, float]]:
    """The tools that helped and how often, from the metadata of a playbook."""
    recoveries = playbook.metadata.get("recoveries")
    for recovery in recoveries if isinstance(recoveries, list) else ():
        match recovery:
            case {"tool": str(tool), "helped": int() | float() as times}:
                yield tool, times


def _ahead(schema: Guide | None, actions: Sequence[str]) -> dict[str, Any]:
    if schema is None:
        return {}
    steps = steps_of(schema.content)
    taken = set(actions)
    current = max((step.order for step in steps if taken.intersection(step.tools)), default=0)
    return {
        "artifact_id": schema.artifact_id,
        "title": schema.title,
        "confidence": schema.confidence,
        "current_step": current,
        "total_steps": len(steps),
        "steps": tuple(SuggestedStep(*step, schema.artifact_id) for step in steps if step.order > current),
    }
