"""State that an adapter stores for a framework: bytes that only the adapter and its framework interpret."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class State:
    """Bytes (*body*) and their *format*, identified by five names, from the widest to the narrowest.

    *shelf* is a group of states that can be dropped together, such as a thread. *kind*, *place* and *item* select
    states in it: for LangGraph, a checkpoint, its namespace and its id. *part* tells apart the states of one item.
    *mark* is a label that several states may share; it finds states of one kind on all shelves. *stored_us* is the time
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
