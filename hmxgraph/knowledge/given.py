"""Documents as callers give them: a value, or the mapping it is made from."""

from collections.abc import Mapping
from typing import Any

from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.events import Event


def as_artifact(given: Artifact | Mapping[str, Any] | str | bytes) -> Artifact:
    """*given* as an artifact.

    Raises:
        InvalidDocument: it breaks HMX-A; every fault is listed.

    """
    return given if isinstance(given, Artifact) else Artifact.parse(given)


def as_event(given: Event | Mapping[str, Any] | str | bytes) -> Event:
    """*given* as an event.

    Raises:
        InvalidDocument: it breaks HMX-E; every fault is listed.

    """
    return given if isinstance(given, Event) else Event.parse(given)
