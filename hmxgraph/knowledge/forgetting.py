"""What callers may choose to forget, as the criteria of the plan."""

from collections.abc import Iterable
from datetime import timedelta
from typing import TypedDict

from hmxgraph.ingest.forgetting import Forgettable
from hmxgraph.knowledge.moments import Moment, as_us


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
        UnknownChoice: there is none.

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
        older_than_us=None if older_than is None else older_than // timedelta(microseconds=1),
        expired=choices.get("expired", False),
    )
