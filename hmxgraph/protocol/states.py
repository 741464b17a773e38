"""State that an adapter keeps for a framework: bytes that only the framework reads."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class State:
    """Bytes and their *format*, found by the names of what they belong to.

    A *shelf* is what is read and deleted together, such as a thread; *kind*, *place*, *item* and *part* name the state
    on it, and *mark* is another name by which states of a kind are found. *stored_us* is when it was first kept.
    """

    shelf: str
    kind: str
    place: str
    item: str
    part: str
    format: str
    body: bytes
    mark: str | None = None
    stored_us: int = 0

    def names(self) -> tuple[str, ...]:
        """What identifies a state.

        >>> State("thread", "checkpoint", "", "c1", "", "json", b"{}").names()
        ('thread', 'checkpoint', '', 'c1', '')
        """
        return (self.shelf, self.kind, self.place, self.item, self.part)

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "State":
        """The state of stored *properties*."""
        known: dict[str, Any] = {
            field.name: properties[field.name] for field in fields(cls) if field.name in properties
        }
        known["body"] = bytes(known["body"])
        return cls(**known)
