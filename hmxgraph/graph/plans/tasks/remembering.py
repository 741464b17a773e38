"""Memories given by hand: an event that says what to remember, and the memory it is evidence for."""

from functools import partial
from typing import NamedTuple

from hmxgraph.errors import InvalidRequest
from hmxgraph.graph.plan import Procedure, read
from hmxgraph.graph.plans import memories
from hmxgraph.graph.plans.tasks import memory_operations
from hmxgraph.graph.plans.tasks.memory_operations import Remembered
from hmxgraph.graph.plans.tenants import state
from hmxgraph.graph.rows.memories import Memory
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.timestamps import LAST_US
from hmxgraph.tasks.memory_events import Doing


class Telling(NamedTuple):
    """Who tells it, under which event id, and when: *at_us*, else just after all the tenant knows, else *now_us*."""

    agent_id: str
    event_id: str
    now_us: int
    at_us: int | None = None


def remember(
    tenancy: Tenancy, text: str, telling: Telling, *, kind: str = "fact", hard: bool = False
) -> Procedure[Memory]:
    """The memory that *text* becomes; the same words again are the same memory, observed once more.

    It takes the place of what was said before about the same question. A *hard* policy stands in every context pack.

    Raises:
        UnknownChoice: no such kind.
        InvalidRequest: no text, or *hard* for anything but a policy.

    """
    if hard and kind != "policy":
        raise InvalidRequest("hard", kind, "hard policy", 'say kind="policy", or leave "hard" out')
    tenant = yield from read(partial(state, tenancy))
    known_us = tenant["logical_us"]
    after_us = min(known_us + 1, LAST_US) if known_us else telling.now_us
    doing = Doing(telling.agent_id, after_us if telling.at_us is None else telling.at_us, telling.event_id)
    made = yield from memory_operations.add(tenancy, Remembered(kind, text, hard=hard), doing)
    return (yield from read(partial(memories.stored, tenancy, made.memory_id)))
