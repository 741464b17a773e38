"""Suggestions: the next tools and steps of a running session, as ``suggest`` returns them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SuggestedTool:
    """A candidate for the next tool: its probability, and the artifacts that support it."""

    tool: str
    confidence: float
    artifact_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuggestedStep:
    """A remaining step of the task schema ``artifact_id``; if that is None, a usual step of similar requests."""

    order: int
    description: str
    tools: tuple[str, ...]
    optional: bool
    artifact_id: str | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The next tools, most likely first, and the remaining steps.

    If a task schema fits the session, ``artifact_id``, ``title`` and ``confidence`` are those of the schema,
    ``current_step`` is the last of its steps that the session has reached (0 if none), and ``total_steps`` is the
    number of its steps. If no schema fits, ``artifact_id`` and ``title`` are None, and ``steps`` are those of similar
    requests, in their usual order. ``recovery`` holds the steps of the playbooks for the current failure.
    """

    tools: tuple[SuggestedTool, ...] = ()
    steps: tuple[SuggestedStep, ...] = ()
    artifact_id: str | None = None
    title: str | None = None
    confidence: float = 0.0
    current_step: int = 0
    total_steps: int = 0
    recovery: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The suggestion as a JSON-able dict."""
        return {
            "tools": [
                {"tool": tool.tool, "confidence": tool.confidence, "artifact_ids": list(tool.artifact_ids)}
                for tool in self.tools
            ],
            "steps": [
                {
                    "order": step.order,
                    "description": step.description,
                    "tools": list(step.tools),
                    "optional": step.optional,
                    "artifact_id": step.artifact_id,
                }
                for step in self.steps
            ],
            "artifact_id": self.artifact_id,
            "title": self.title,
            "confidence": self.confidence,
            "current_step": self.current_step,
            "total_steps": self.total_steps,
            "recovery": list(self.recovery),
        }
