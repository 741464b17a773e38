"""What to do next and what to hold to: workflow hints and decision constraints (HMX-C 6, 7)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.protocol.packs import MAX_CONSTRAINTS, MAX_NEXT_STEPS
from hmxgraph.protocol.procedures import Step, steps_of, texts
from hmxgraph.recall.known.values import Known, KnownArtifact, KnownMemory, RunningSession

MOST_BLOCKERS = 5
LONGEST_BLOCKER = 200


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running session is in a task schema: the last step it reached, 0 for none."""

    schema: KnownArtifact
    steps: tuple[Step, ...]
    current: int

    @property
    def next_step(self) -> Step | None:
        """The step after the current one."""
        return self.steps[self.current] if self.current < len(self.steps) else None


def progress(schema: KnownArtifact, done: Sequence[str], session: RunningSession) -> Progress:
    """Where *session* stands in *schema* after the actions *done*: steps are reached in order, by one of their tools.

    Where no actions are told, those that the session began count.
    """
    steps = steps_of(schema.content)
    current = 0
    for action in done or _begun(session):
        reached = next((n for n in range(current, len(steps)) if action in steps[n].tools), None)
        current = current if reached is None else reached + 1
    return Progress(schema, steps, current)


def workflow_hints(
    best: Progress | None, session: RunningSession, remedy: KnownArtifact | None = None
) -> dict[str, Any] | None:
    """The hints as a document; None where no procedure fits and nothing stands in the way.

    What a playbook says of the failure at hand, the *remedy*, comes before the steps of the procedure.
    """
    blocked = blockers(session)
    steps = [*_remedies(remedy), *(_ahead(best) if best is not None else ())]
    hints: dict[str, Any] = {"suggested_next_steps": steps[:MAX_NEXT_STEPS], "blockers": blocked}
    if best is None:
        return hints if steps or blocked else None
    schema = {"active_task_schema": best.schema.artifact_id, "total_steps": len(best.steps)}
    return hints | schema | {"current_step": best.current}


def _ahead(of: Progress) -> Iterator[dict[str, Any]]:
    return (_suggested(step, of.schema) for step in of.steps[of.current :])


def recovery_steps(remedy: KnownArtifact | None) -> list[str]:
    """What a playbook says to do, in order."""
    return list(texts(remedy.content.get("recovery_steps"))) if remedy is not None else []


def _remedies(remedy: KnownArtifact | None) -> list[dict[str, Any]]:
    if remedy is None:
        return []
    of = {"artifact_id": remedy.artifact_id, "confidence": remedy.confidence, "tools": []}
    return [{"description": step} | of for step in recovery_steps(remedy)]


def blockers(session: RunningSession) -> list[str]:
    """The last failures of the session that no later success of the same action made good, latest first."""
    open_failures: dict[str, str] = {}
    for each in session.events:
        if each.failed:
            open_failures.pop(each.action, None)
            open_failures[each.action] = each.text[:LONGEST_BLOCKER]
        elif each.ends:
            open_failures.pop(each.action, None)
    return list(open_failures.values())[::-1][:MOST_BLOCKERS]


def decision_constraints(known: Known, chosen: Iterable[str]) -> list[dict[str, Any]]:
    """Hard policies always, then the policies among the *chosen* ids; at most 20."""
    wanted = set(chosen)
    hard = [
        _rule(memory.memory_id, "", memory.text, memory.confidence) for memory in known.memories if _in_force(memory)
    ]
    soft = [
        _rule(memory.memory_id, "", memory.text, memory.confidence, override=True)
        for memory in known.memories
        if memory.kind == "policy" and not memory.hard and memory.memory_id in wanted
    ]
    policies = [
        _rule(
            artifact.artifact_id,
            "; ".join((str(artifact.content.get("condition") or artifact.title), *artifact.conditions)),
            str(artifact.content.get("recommendation") or artifact.title),
            artifact.confidence,
            override=True,
        )
        for artifact in known.artifacts
        if artifact.artifact_type == "decision_policy" and artifact.artifact_id in wanted
    ]
    by_confidence = sorted(soft + policies, key=lambda rule: (-rule["confidence"], rule["artifact_id"]))
    return (sorted(hard, key=lambda rule: rule["artifact_id"]) + by_confidence)[:MAX_CONSTRAINTS]


def _in_force(memory: KnownMemory) -> bool:
    return memory.kind == "policy" and memory.hard and memory.held and memory.sound


def _rule(
    artifact_id: str, condition: str, constraint: str, confidence: float, *, override: bool = False
) -> dict[str, Any]:
    return {
        "artifact_id": artifact_id,
        "condition": condition or "always",
        "constraint": constraint,
        "confidence": confidence,
        "override_allowed": override,
    }


def _suggested(step: Step, schema: KnownArtifact) -> dict[str, Any]:
    return {
        "description": step.description,
        "artifact_id": schema.artifact_id,
        "confidence": schema.confidence,
        "tools": list(step.tools),
    }


def _begun(session: RunningSession) -> list[str]:
    return [each.action for each in session.events if each.begins]
