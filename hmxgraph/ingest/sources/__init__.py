"""Where events come from: files, folders, standard input, open files, iterables. They only read."""

from hmxgraph.ingest.sources.deliveries import Broken, Delivery, Payload
from hmxgraph.ingest.sources.opening import Source, deliveries, reads

__all__ = ["Broken", "Delivery", "Payload", "Source", "deliveries", "reads"]
