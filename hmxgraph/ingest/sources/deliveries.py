"""What a source hands over: payloads with their place, or the news that it broke off or has nothing at hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hmxgraph.errors import Fault
from hmxgraph.protocol.events import Event

Payload: TypeAlias = bytes | bytearray | str | Mapping[str, Any] | Event


@dataclass(frozen=True, slots=True)
class Delivery:
    """One payload, where it stood, and for streams what must be acknowledged once it is stored."""

    payload: Payload
    line: int
    source: str = ""
    receipt: Any = None


@dataclass(frozen=True, slots=True)
class Broken:
    """The source ended before its time, or a part of it cannot be a payload; what came before is good."""

    fault: Fault
    line: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class Lull:
    """Nothing more is at hand: what came until now need not wait for the rest."""


Arrival: TypeAlias = Delivery | Broken | Lull
