"""Whose words an event holds, beyond its role: ``metadata.origin``, set by importers and read by the rules of trust.

Programs around a model write much in the user's name: reminders, hook output, summaries, instructions for sub-agents.
Those are evidence of what happened, but never a user's rule, preference or fact.
"""

from collections.abc import Mapping
from typing import Any, Final

ORIGIN: Final = "origin"

USER: Final = "user"
"""Typed by a person."""
OPERATOR: Final = "operator"
"""The system or developer prompt of whoever runs the agent."""
ASSISTANT: Final = "assistant"
"""Written by the model."""
AGENT: Final = "agent"
"""Another agent's words in the role of the user, such as the instructions of a sub-agent."""
TOOL: Final = "tool"
"""Returned by a tool."""
HARNESS: Final = "harness"
"""Written by the program that runs the agent: reminders, hook output, command wrappers, compaction summaries."""
IMPORT: Final = "import"
"""Knowledge taken over from another memory system, whose own evidence is not at hand."""

ORIGINS: Final = (USER, OPERATOR, ASSISTANT, AGENT, TOOL, HARNESS, IMPORT)
# Words of these never become a policy or a preference, whatever role they were sent under.
UNHEARD: Final = frozenset({ASSISTANT, AGENT, TOOL, HARNESS})


def origin_of(metadata: Mapping[str, Any]) -> str | None:
    """The origin that *metadata* names; None where it names none that is known.

    >>> origin_of({"origin": "harness"}), origin_of({"origin": "slack"}), origin_of({})
    ('harness', None, None)
    """
    origin = metadata.get(ORIGIN)
    return origin if isinstance(origin, str) and origin in ORIGINS else None


def speaks_for_user(metadata: Mapping[str, Any]) -> bool:
    """Whether an event with this *metadata* may state rules and preferences, as far as its origin tells.

    >>> speaks_for_user({}), speaks_for_user({"origin": "user"}), speaks_for_user({"origin": "harness"})
    (True, True, False)
    """
    return origin_of(metadata) not in UNHEARD
