"""Values of compiler.suggest."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SuggestedTool:
    """One next tool: its chance to be the one that is used next, and the artifacts that speak for it."""

    tool: str
    confidence: float
    artifact_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuggestedStep:
    """One step that lies ahead, from the artifact with this id."""

    order: int
    description: str
    tools: tuple[str, ...]
    optional: bool
    artifact_id: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The next tools, likeliest first, and the steps that lie ahead.

    ``artifact_id`` and ``title`` are those of the task schema that fits (None: none does), ``current_step`` the last of
    its steps that the session has reached (0: none), ``recovery`` what a playbook says to the failure at hand.
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
        """Plain JSON values."""
        return {
            "tools": [
                {"tool": one.tool, "confidence": one.confidence, "artifact_ids": list(one.artifact_ids)}
                for one in self.tools
            ],
            "steps": [
                {
                    "order": one.order,
                    "description": one.description,
                    "tools": list(one.tools),
                    "optional": one.optional,
                    "artifact_id": one.artifact_id,
                }
                for one in self.steps
            ],
            "artifact_id": self.artifact_id,
            "title": self.title,
            "confidence": self.confidence,
            "current_step": self.current_step,
            "total_steps": self.total_steps,
            "recovery": list(self.recovery),
        }
