"""The contents that the specifications describe by type: static shapes, and what deviates from them.

Deviations never refuse a document: unknown fields are legal (HMX-E 4), and the documents' own schemas, which ask for
no more than an object, decide what is accepted.
"""

import functools
from typing import Any, TypedDict

from hmxgraph.errors import Fault
from hmxgraph.protocol.schemas import schema
from hmxgraph.protocol.validation import Structure

_CLAUSES = {
    "message": "HMX-E 4.1",
    "tool_call": "HMX-E 4.2",
    "tool_result": "HMX-E 4.3",
    "decision": "HMX-E 4.4",
    "error": "HMX-E 4.5",
    "feedback": "HMX-E 4.6",
    "task_schema": "HMX-A 4.1",
    "failure_playbook": "HMX-A 4.2",
    "decision_policy": "HMX-A 4.3",
    "causal_pattern": "HMX-A 4.4",
    "strategy_template": "HMX-A 4.5",
}


class Attachment(TypedDict, total=False):
    """Something attached to a message (HMX-E 4.1)."""

    type: str
    url: str


class Message(TypedDict, total=False):
    """What somebody said (HMX-E 4.1)."""

    role: str
    text: str
    attachments: list[Attachment]


class ToolCall(TypedDict, total=False):
    """A tool and what it was called with (HMX-E 4.2)."""

    tool_name: str
    arguments: dict[str, Any]
    call_id: str


class ToolResult(TypedDict, total=False):
    """What a tool returned (HMX-E 4.3)."""

    tool_name: str
    call_id: str
    result: dict[str, Any]
    success: bool
    duration_ms: float


class Decision(TypedDict, total=False):
    """A choice and why it was made (HMX-E 4.4)."""

    question: str
    chosen_option: str
    alternatives: list[str]
    reasoning: str
    confidence: float


class ErrorContent(TypedDict, total=False):
    """What went wrong (HMX-E 4.5)."""

    error_type: str
    message: str
    stack: str
    recoverable: bool


class Feedback(TypedDict, total=False):
    """What somebody thought of it (HMX-E 4.6)."""

    signal: str
    target_event_id: str
    comment: str


class Step(TypedDict, total=False):
    """One step of a task schema (HMX-A 4.1)."""

    order: int
    description: str
    tools_used: list[str]
    optional: bool


class TaskSchema(TypedDict, total=False):
    """A reusable procedure (HMX-A 4.1)."""

    steps: list[Step]
    preconditions: list[str]
    postconditions: list[str]
    tools_used: list[str]
    estimated_complexity: str


class FailurePlaybook(TypedDict, total=False):
    """A failure and the ways out of it (HMX-A 4.2)."""

    failure_pattern: str
    trigger_conditions: list[str]
    symptoms: list[str]
    recovery_steps: list[str]
    prevention_strategies: list[str]
    severity: str


class Alternative(TypedDict, total=False):
    """What was or could be chosen instead (HMX-A 4.3)."""

    description: str
    outcome: str
    chosen_count: int
    success_rate: float


class Outcome(TypedDict, total=False):
    """How one decision turned out (HMX-A 4.3)."""

    decision: str
    outcome: str
    positive: bool
    source_memory_id: str


class DecisionPolicy(TypedDict, total=False):
    """A rule for a decision (HMX-A 4.3)."""

    condition: str
    recommendation: str
    alternatives: list[Alternative]
    outcomes: list[Outcome]
    scope: list[str]


class CausalPattern(TypedDict, total=False):
    """What leads to what (HMX-A 4.4)."""

    cause: str
    effect: str
    direction: str
    strength: float
    conditions: list[str]
    counterexamples: list[str]


class Phase(TypedDict, total=False):
    """One phase of a strategy (HMX-A 4.5)."""

    order: int
    name: str
    description: str
    tools_used: list[str]
    success_criteria: list[str]


class StrategyTemplate(TypedDict, total=False):
    """A reusable approach (HMX-A 4.5)."""

    goal: str
    phases: list[Phase]
    applicability_conditions: list[str]
    estimated_complexity: str


def content_faults(kind: str, of_type: str, content: Any) -> tuple[Fault, ...]:
    """How the *content* of an "event" or "artifact" deviates from what its type describes; nothing for other types.

    >>> [str(fault) for fault in content_faults("event", "message", {"role": "robot", "text": "hi", "mood": 1})]
    ["$.content.role: found 'robot', expected one of user, assistant, system (HMX-E 4.1)"]
    """
    structure = _structures(kind).get(of_type)
    if structure is None or structure.validator.is_valid(content):
        return ()
    return tuple(structure.faults(content, ("content",)))


@functools.cache
def _structures(kind: str) -> dict[str, Structure]:
    name = f"{kind}-content"
    return {of_type: Structure(name, {"": _CLAUSES[of_type]}, definition=of_type) for of_type in schema(name)["$defs"]}
