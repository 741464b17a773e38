"""HMX-E events themselves (NDJSON or an array), so that one catalogue holds all that hmxgraph reads."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record

# All that HMX-E 2.1 requires; tenant and metadata come last, since the caller often adds them.
_REQUIRED = ("hmx_version", "event_id", "event_type", "agent_id", "session_id", "timestamp", "sequence", "content")


def recognise(sample: Sequence[Any]) -> Match:
    """How many of the required fields (HMX-E 2.1) most of the records have: a damaged line does not hide the others.

    >>> recognise([{"role": "user", "content": "hi"}]).score
    0.1
    """
    records = [value for value in sample if isinstance(value, dict)]
    if not records:
        return Match(0.0, _REQUIRED)
    missing = tuple(name for name in _REQUIRED if sum(name in value for value in records) * 2 <= len(records))
    present_fields = len(_REQUIRED) - len(missing)
    if "hmx_version" in missing or len(missing) > 2:
        return Match(min(0.45, 0.1 * present_fields), missing)
    return Match(1.0 - 0.1 * len(missing), missing)


def convert(records: Iterable[Record], _origin: Origin) -> Iterator[Outcome]:
    """Each record unchanged: events are validated on ingest."""
    for record in records:
        if isinstance(record.value, dict):
            yield Outcome(record, events=(record.value,))
        else:
            json_type = type(record.value).__name__
            yield Outcome(record, fault=Fault("$", "HMX-E 5", json_type, "an object"))


HMX_EVENTS = Format("hmx", "HMX-E events", recognise, convert)
