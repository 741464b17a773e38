"""What callers may choose to forget, as the criteria of the plan."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import TypedDict

from hmxgraph.errors import InvalidRequest
from hmxgraph.ingest.forgetting import Forgettable
from hmxgraph.knowledge.moments import Moment, as_us

# From the first day of the calendar to its last.
_LONGEST = timedelta(days=date.max.toordinal())


class ForgetChoices(TypedDict, total=False):
    """The keyword arguments of ``forget``."""

    event_id: str | Iterable[str]
    session_id: str
    agent_id: str
    source: str
    before: Moment
    older_than: timedelta
    expired: bool


def forgettable(choices: ForgetChoices) -> Forgettable:
    """The criteria in *choices*.

    Raises:
        InvalidRequest: there is none, or a time span longer than any calendar.

    >>> forgettable({"event_id": "e1", "older_than": timedelta(days=1)}).criteria
    {'event_ids': ('e1',), 'older_than_us': 86400000000}

    """
    given = choices.get("event_id")
    older_than = choices.get("older_than")
    return Forgettable(
        event_ids=(given,) if isinstance(given, str) else None if given is None else tuple(given),
        session_id=choices.get("session_id"),
        agent_id=choices.get("agent_id"),
        source=choices.get("source"),
        before_us=as_us(choices.get("before")),
        older_than_us=None if older_than is None else _microseconds(older_than),
        expired=choices.get("expired", False),
    )


def _microseconds(span: timedelta) -> int:
    if not timedelta(0) <= span <= _LONGEST:
        way_out = f"give one of 0 to {_LONGEST.days:,} days"
        raise InvalidRequest("older_than", str(span), "age that an event can have", way_out)
    return span // timedelta(microseconds=1)
