"""Addresses of streams: the error says what is wrong with one."""

import pytest

from hmxgraph.errors import IngestRefused
from hmxgraph.ingest.streams.stream import open_stream


def test_kafka_refuses_a_login():
    """Its client would take the login for part of the host; the error does not quote it."""
    with pytest.raises(IngestRefused, match="takes no login") as refused:
        open_stream("kafka://ana:secret@host:9092/events")
    assert "secret" not in str(refused.value)
