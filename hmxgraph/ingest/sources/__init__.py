"""Where events come from: files, folders, standard input, open files, iterables. They only read."""

from hmxgraph.ingest.sources.deliveries import Arrival, Broken, Delivery, Lull, Payload
from hmxgraph.ingest.sources.opening import Source, deliveries, reads

__all__ = ["Arrival", "Broken", "Delivery", "Lull", "Payload", "Source", "deliveries", "reads"]
