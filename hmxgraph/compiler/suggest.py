"""What to do next in a running session: the habit of sessions like it, and the artifacts that say so."""

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
    """An active artifact as far as suggestions need it."""

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
    """What to do next in *running*, from the tenant's model and its active artifacts."""
    ordered = sorted(guides, key=lambda guide: guide.artifact_id)
    chances = foreseen(running.request, running.actions, model)
    schema = fitting_schema(chances, ordered, profile)
    playbooks = _playbooks(running, ordered)
    # Of a request unlike all that was ever asked nobody knows what comes first, however usual an action is.
    unheard = not chances and bool(telling_words(running.request))
    tools = _tools({} if unheard else dict(model.habits.chances(running)), playbooks)
    speaking = _speaking(schema, playbooks, ordered)
    return Suggestion(
        tools=tuple(SuggestedTool(name, chance, tuple(speaking.get(name, ()))) for name, chance in tools[:_MOST_TOOLS]),
        recovery=tuple(step for guide in playbooks for step in texts(guide.content.get("recovery_steps"))),
        **_ahead(schema, running.actions),
    )


def foreseen(request: str, actions: Iterable[str], model: Model) -> dict[str, float]:
    """For each action the chance that a session with this request takes it; one that it took is certain.

    What has nothing to do with the request and with what was done is left out, however usual it is.
    """
    taken = tuple(actions)
    akin = model.goals.akin(request, taken)
    chances = model.goals.chances(request) if request and akin else {}
    return {name: chance for name, chance in chances.items() if name in akin} | dict.fromkeys(taken, 1.0)


def fitting_schema(chances: Mapping[str, float], guides: Iterable[Guide], profile: CompilerProfile) -> Guide | None:
    """The task schema for a session whose actions have these *chances*; None where nothing tells."""
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
    """The playbooks for the failure that the session stands before."""
    if not running.ahead.failure:
        return []
    key = failure_key(running.ahead.failure)
    return [
        guide
        for guide in guides
        if guide.artifact_type == "failure_playbook" and guide.metadata.get("failure_key") == key
    ]


def _tools(chances: Mapping[str, float], playbooks: Sequence[Guide]) -> list[tuple[str, float]]:
    """Every tool with its chance, likeliest first: the habit's, and after a failure partly what helped before."""
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
    return sorted(((name, round(chance, 4)) for name, chance in chances.items()), key=lambda one: (-one[1], one[0]))


def _speaking(schema: Guide | None, playbooks: Sequence[Guide], guides: Sequence[Guide]) -> dict[str, list[str]]:
    """For each tool the artifacts that name it: the schema, the playbooks at hand, the policies that recommend it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    if schema is not None:
        for tool in texts(schema.content.get("tools_used")):
            found[tool].append(schema.artifact_id)
    for guide in playbooks:
        for tool, _ in _recoveries(guide):
            found[tool].append(guide.artifact_id)
    for guide in guides:
        if guide.artifact_type == "decision_policy":
            for tool in texts(guide.metadata.get("tools"))[:1]:
                found[tool].append(guide.artifact_id)
    return found


def _recoveries(playbook: Guide) -> Iterator[tuple[str, float]]:
    """The tools that helped, with how often, as the compiler keeps them in its playbooks' metadata."""
    told = playbook.metadata.get("recoveries")
    for one in told if isinstance(told, list) else ():
        match one:
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
