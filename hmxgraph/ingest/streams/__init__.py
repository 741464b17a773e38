"""Event streams (HMX-E 8), one small module each.

A message is acknowledged only after its event is committed, or was rejected and reported.
"""

from hmxgraph.ingest.streams.stream import Stream, open_stream

__all__ = ["Stream", "open_stream"]
