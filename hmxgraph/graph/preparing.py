"""Batches made ready to be written: everything that needs no answer from the server is done before it is asked."""

import threading
from collections.abc import Iterator
from dataclasses import replace

from hmxgraph.graph.plans.ingest import extracted
from hmxgraph.ingest.batch import Batch, Gatherings, readings
from hmxgraph.ingest.intake import Intake
from hmxgraph.ingest.sources import Source, deliveries

# Threads that prepare at once share one interpreter: all their first batches would be ready at the same late time, the
# server idle until then, and whoever holds its locks would wait for the interpreter at each of its answers. One after
# the other, the first batch is written while the second is prepared. Held for one batch, never while a source is read:
# a source may itself wait for another ingest.
_turn = threading.Lock()


def prepared(source: Source, intake: Intake, *, size: int, parts: int) -> Iterator[Batch | None]:
    """The batches of *source*, with what was found in their events; of all that the process prepares one at a time.

    None where the source has nothing at hand: nobody need wait in it until it has.
    """
    gatherings = Gatherings(intake, size=size, parts=parts)
    for reading in readings(deliveries(source), size=size):
        made = gatherings.take(reading)
        while (batch := _next(made)) is not None:
            yield batch
        if reading.lull:
            yield None


def _next(made: Iterator[Batch]) -> Batch | None:
    """The next batch, from its lines to what the rules find in it in one turn: then it can be written."""
    with _turn:
        batch = next(made, None)
        return None if batch is None else replace(batch, found=extracted(batch.events))
