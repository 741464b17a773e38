"""What a caller may choose about an exported fingerprint, as keyword arguments."""

from collections.abc import Sequence
from typing import TypedDict

from hmxgraph.fingerprint.options import PUBLIC_TYPES, ExportOptions
from hmxgraph.knowledge.moments import Moment, as_us


class ExportChoices(TypedDict, total=False):
    """The choices of an export; see :class:`hmxgraph.fingerprint.options.ExportOptions`."""

    tier: str
    agent_id: str | None
    tags: Sequence[str]
    expires_at: Moment | None
    public_types: Sequence[str]


def export_options(choices: ExportChoices) -> ExportOptions:
    """The options that *choices* describe.

    >>> export_options({"tier": "compact", "tags": ["team"]}).tags
    ('team',)

    """
    return ExportOptions(
        tier=choices.get("tier", "full"),
        agent_id=choices.get("agent_id"),
        tags=tuple(choices.get("tags", ())),
        expires_us=as_us(choices.get("expires_at")),
        public_types=tuple(choices.get("public_types", PUBLIC_TYPES)),
    )
