"""The state of a tenant that a pack answers from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """Whose state, which version, as of when, how many events, and whether the search was cut off.

    ``unsettled`` tells that others wrote while it was read, as often as it was begun again: it is of no one version.
    """

    tenant_id: str
    state_version: int
    as_of_us: int
    event_count: int
    truncated: bool = False
    unsettled: bool = False
