"""What is to be forgotten, and the proof that it was."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from hmxgraph.errors import InvalidRequest

CHOICES = ("event_id", "session_id", "agent_id", "source", "before", "older_than", "expired")


@dataclass(frozen=True, slots=True)
class Forgettable:
    """Which events: those that meet every criterion given; at least one must be.

    ``before_us`` chooses events older than that instant, ``older_than_us`` those that much older than the tenant's
    logical now, ``expired`` those whose ttl has run out by then.
    """

    event_ids: tuple[str, ...] | None = None
    session_id: str | None = None
    agent_id: str | None = None
    source: str | None = None
    before_us: int | None = None
    older_than_us: int | None = None
    expired: bool = False

    def __post_init__(self) -> None:
        if not self.criteria:
            raise InvalidRequest(
                "forget", "without a criterion", "choice of events", f"give one of {', '.join(CHOICES)}"
            )

    @property
    def criteria(self) -> dict[str, Any]:
        """The criteria given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None and value is not False}


class Erased(NamedTuple):
    """An event that keeps its id and hash and nothing else."""

    event_id: str
    event_hash: str


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was forgotten, or in a dry run what would be.

    ``events`` keep id and hash, and so do ``records``, the task records that they told. ``artifacts``, ``memories``,
    ``relations`` and ``entities`` lost their last evidence with them and are deprecated. So are the artifacts compiled
    from sessions that lost an event, whatever evidence is left: they keep id and hash, and the next compilation learns
    anew from what is left. ``remaining`` counts chosen events that still hold content: 0 proves a forget.
    """

    tenant_id: str
    criteria: dict[str, Any]
    dry_run: bool
    events: tuple[Erased, ...] = ()
    sessions: int = 0
    records: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    remaining: int = 0

    def document(self) -> dict[str, Any]:
        """The report as JSON values."""
        return asdict(self) | {"events": [event._asdict() for event in self.events]}
