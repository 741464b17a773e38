"""Recall: context packs."""

import gc
from time import perf_counter
from typing import Unpack

from hmxgraph.api._base import Face, PackOptions, pack_request
from hmxgraph.graph import packs
from hmxgraph.recall.pack import Pack

# Suspending Python's cycle collector.


class CollectorPaused:
    """Suspends cycle collection for short work that creates many objects without cycles.

    Building a pack creates thousands of objects, enough to trigger full collections, which took a third of the time of
    a pack, in pauses of 50 ms. Reference counting still frees the objects. This is a class because a generator-based
    context manager ends with an exception (StopIteration), and that would trigger the deferred collection.

    >>> with CollectorPaused():
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


# Context packs.


class Recalling(Face):
    """The part of the public API that builds context packs."""

    def pack(self, query: str, **options: Unpack[PackOptions]) -> Pack:
        """Return the context pack for *query*: the most useful entries with their sources, within the budget (HMX-C).

        The same query on the same state returns the same pack, byte for byte, except for ``assembly_duration_ms``.

        Options:

        - *budget*: in tokens; default 2,048.
        - *strategy*: ``"ranked"`` (default), ``"recency_biased"``, ``"breadth_first"``, ``"depth_first"`` or
          ``"fingerprint_guided"``.
        - *sections*: default all ten.
        - *as_of*: use the state of the memory at that time.
        - *session_id*: the running session, for the current step and blockers.
        - *agent_id*: the agent that reads the pack; artifacts whose validity scope excludes it stay out.
        - *user_id*: the user whom the pack is for; memories bound to other users stay out. Default: the users of the
          session or, without *session_id*, the users whom the query names.
        - *scope*: one name or several, to which the work belongs; memories of other scopes stay out. Default: any
          scope.
        - *min_confidence*: default 0.0.
        - *encoding*: how the tokens of the budget are counted: ``"o200k_base"`` (default), ``"cl100k_base"``, or a
          function from a text to its number of tokens.
        - *fingerprint*: the one whose priors guide ``"fingerprint_guided"``. Default: the latest import that is neither
          withdrawn nor expired.

        Raises:
            BudgetTooSmall: the budget is below one token.
            InvalidRequest: an option is unknown or has the wrong type, the budget is larger than the largest integer of
                JSON (2^53 - 1), or an id is longer than 1,024 characters.
            UnknownChoice: the strategy, section or encoding is unknown, or the confidence is outside [0, 1].
            NotCanonical: *fingerprint* is a mapping with values that JSON cannot hold.
            EmbedderError: the graph was connected with an embedder, which failed.

        Example::

            memory = graph.remember("The staging cluster is named juniper")
            pack = graph.pack("What is the staging cluster named?", budget=512)
            assert [(entry.section, entry.source_id) for entry in pack.entries] == [("facts", memory.memory_id)]
            assert "named juniper" in pack.text
            assert 0 < pack.token_budget.used <= 512

        """
        started = perf_counter()
        request = pack_request(query, options)
        with CollectorPaused():
            embeds = self._connection.terms.embedding is not None
            result = self._perform(packs.pack(self._tenancy, request, request.count_tokens, embeds=embeds))
            return result.taking((perf_counter() - started) * 1000)
