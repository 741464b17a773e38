"""Recall: context packs."""

import gc
from time import perf_counter
from typing import Unpack

from hmxgraph.api._base import Face, WantedPack, pack_request
from hmxgraph.graph import packs
from hmxgraph.recall.pack import Pack
from hmxgraph.text.terms import counter

# Python's cycle collector, held back for a moment.


class HeldBack:
    """No collection of cycles inside: for short work that makes many values, none of which is part of a cycle.

    A pack makes some thousands of them, enough to set off collections of everything the process holds: a third of its
    time, and pauses of 50 ms, for nothing. Counting of references frees what it made all the same. Not a generator:
    one that ends makes an exception, and with it the collection that was put off.

    >>> with HeldBack():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True

    """

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            gc.enable()


# What comes out: context packs.


class Recalling(Face):
    """The part of the front door that answers with the right memory inside a budget."""

    def pack(self, query: str, **wanted: Unpack[WantedPack]) -> Pack:
        """The context pack for *query*: what helps most, ordered, sourced, inside the budget (HMX-C).

        The same query on the same state gives the same pack, byte for byte; only ``assembly_duration_ms`` differs.

        Options: *budget* in tokens (2,048), *strategy* (``"ranked"``, ``"recency_biased"``, ``"breadth_first"``,
        ``"depth_first"``, ``"fingerprint_guided"``), *sections* (all ten), *as_of* (the state of that time),
        *session_id* of the running session (for the current step and blockers), *agent_id* of the reader (for
        validity scopes), *min_confidence* (0.0), *fingerprint* whose priors guide ``"fingerprint_guided"`` (else the
        imported one in force).

        Raises:
            BudgetTooSmall: a budget below one token.
            InvalidRequest: an argument of another type, a budget that JSON cannot write, or an id that is too long.
            UnknownChoice: no such strategy or section, or a confidence outside [0, 1].

        """
        began = perf_counter()
        with HeldBack():
            made = self._perform(packs.pack(self._tenancy, pack_request(query, wanted), counter()))
            return made.taking((perf_counter() - began) * 1000)
