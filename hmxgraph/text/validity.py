"""Where an artifact applies (HMX-A 6): for whom, when, in which situations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.protocol.timestamps import microseconds


@dataclass(frozen=True, slots=True)
class Validity:
    """A validity scope that can be asked; None, like an absent or empty list, restricts nothing.

    The free-text ``conditions`` of a scope are for the reader: no rule can decide them, so they restrict nothing here.
    """

    tenants: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    from_us: int | None = None
    to_us: int | None = None


ANYWHERE = Validity()


def validity(scope: Mapping[str, Any] | None) -> Validity:
    """The scope of a document's ``validity_scope``.

    Raises: ValueError for a bound of ``time_range`` that is no time.

    >>> validity({"agent_ids": ["a"], "time_range": {"start": "1970-01-01T00:00:01Z"}}).from_us
    1000000
    """
    if not scope:
        return ANYWHERE
    span = scope.get("time_range") or {}
    return Validity(
        _list(scope.get("tenant_ids")),
        _list(scope.get("agent_ids")),
        _list(scope.get("tags")),
        _time(span.get("start")),
        _time(span.get("end")),
    )


def applies(
    scope: Validity, *, tenant_id: str, moment_us: int, agent_id: str | None = None, tags: Sequence[str] = ()
) -> bool:
    """Whether nothing that is known of the reader lies outside *scope*; both ends of its time belong to it.

    >>> applies(Validity(agents=("deployer",)), tenant_id="acme", moment_us=0, agent_id="reviewer")
    False
    >>> applies(Validity(agents=("deployer",)), tenant_id="acme", moment_us=0)
    True
    """
    return (
        (scope.tenants is None or tenant_id in scope.tenants)
        and (scope.agents is None or agent_id is None or agent_id in scope.agents)
        and (scope.tags is None or not tags or not set(tags).isdisjoint(scope.tags))
        and (scope.from_us is None or scope.from_us <= moment_us)
        and (scope.to_us is None or moment_us <= scope.to_us)
    )


def overlap(one: Validity, other: Validity) -> bool:
    """Whether some reader at some time is inside both.

    >>> overlap(Validity(to_us=5), Validity(from_us=6)), overlap(Validity(tags=("a",)), ANYWHERE)
    (False, True)
    """
    return (
        _meet(one.tenants, other.tenants)
        and _meet(one.agents, other.agents)
        and _meet(one.tags, other.tags)
        and (one.to_us is None or other.from_us is None or other.from_us <= one.to_us)
        and (other.to_us is None or one.from_us is None or one.from_us <= other.to_us)
    )


def _meet(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    return one is None or other is None or not set(one).isdisjoint(other)


def _list(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None


def _time(text: str | None) -> int | None:
    return None if text is None else microseconds(text)
