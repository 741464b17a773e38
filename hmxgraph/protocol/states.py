"""State that an adapter stores for a framework: bytes that only the adapter and its framework interpret."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class State:
    """Bytes (*body*) and their *format*, identified by five names: *shelf*, *kind*, *place*, *item* and *part*.

    The states of a *shelf*, such as a thread, can be dropped together, or read by kind, place and item. *mark* is a
    label that several states may share, by which states of one kind are found on all shelves. *stored_us* is the time
    at which the state was first stored.
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
        """The five names that identify the state.

        >>> State("thread", "checkpoint", "", "c1", "", "json", b"{}").names()
        ('thread', 'checkpoint', '', 'c1', '')
        """
        return (self.shelf, self.kind, self.place, self.item, self.part)

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "State":
        """The state with these stored *properties*."""
        values: dict[str, Any] = {
            field.name: properties[field.name] for field in fields(cls) if field.name in properties
        }
        values["body"] = bytes(values["body"])
        return cls(**values)
