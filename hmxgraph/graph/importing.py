"""Convert sources in any format to HMX-E events: recognise the format by a sample, convert and count every line."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

from hmxgraph.errors import Fault, MalformedJson, UnknownChoice
from hmxgraph.formats.catalogue import FORMATS, HMX_EVENTS, format_named, recognise
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record
from hmxgraph.ingest.intake import corrected_payload, malformed
from hmxgraph.ingest.sources import Arrival, Broken, Delivery, Lull, Payload, Source, are_paths
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.lenient import parse_any
from hmxgraph.protocol.reports import SourceTally, Tally

# Maximum number of lines from which a format is recognised; a transcript may begin with a dozen bookkeeping lines.
SAMPLE = 64
# A sample of this many bytes is large enough, however few lines it has.
_SAMPLE_BYTES = 4 << 20
# This many lines without a single JSON value mean another kind of file, not a damaged one.
_NOISE_LINES = 16
# Minimum ``Match.score`` of records that name no HMX version but still count as incomplete events.
_LIKE_EVENTS = 0.3
_BEGINS_JSON = re.compile(rb"\s*[{\[]")
# Maximum number of positions tried when looking for a whole record after a torn one.
_MOST_TRIES = 16
UNKNOWN = "unknown"
_UNREAD = "not read: the format is unknown"


def chosen_format(name: str | None) -> Format | None:
    """The format called *name*; None if no name is given, so that the format is recognised.

    Raises:
        UnknownChoice: there is no such format.

    >>> chosen_format("hmx").title
    'HMX-E events'
    """
    if name is None:
        return None
    source_format = format_named(name)
    if source_format is None:
        raise UnknownChoice("format", name, tuple(choice.name for choice in FORMATS))
    return source_format


def is_document(source: Source | Any) -> bool:
    """Whether *source* is read from paths, a file object or bytes, so that its format may be any of the known ones."""
    return isinstance(source, str | Path | bytes | bytearray) or are_paths(source) or hasattr(source, "read")


@dataclass(slots=True)
class Importing:
    """Turns the lines of all sources of one ingest call into events of one tenant.

    ``choice`` overrules recognition. ``origin`` holds what is assumed of records that do not name their session, agent
    or user; ``now_us`` is the time of records without a timestamp, unless their source is a file. ``carried`` is the
    state of the converters by source: pass that of an earlier call to continue a source midway. ``formats`` are the
    names of formats by source; those given are not recognised again.
    """

    tally: Tally
    choice: Format | None = None
    origin: Origin = field(default_factory=Origin)
    now_us: int | None = None
    carried: dict[str, JsonObject] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)

    def events(self, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
        """Deliveries of HMX-E events, and what could not be read, in the order of *arrivals*."""
        for source, group in groupby(arrivals, _SourceOf()):
            yield from self._source(source, group)

    def _source(self, source: str, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
        """The events of one source, and its faults; a source in an unknown format is rejected as a whole."""
        recognised = self.choice or format_named(self.formats.get(source, ""))
        if recognised is None:
            head, sample = _sampled(arrivals)
            if all(isinstance(arrival, Lull) for arrival in head):
                yield from head
                return
            arrivals = chain(head, arrivals)
            recognition = recognise(sample)
            recognised = recognition.format
            like_events = recognition.nearest is HMX_EVENTS and _like_events(recognition.match)
            # A source counts as HMX-E if its records are incomplete events or, in a sample without JSON, if its lines
            # may be damaged ones: then the faults are reported line by line.
            if recognised is None and (not like_events if sample else len(head) >= _NOISE_LINES or _is_prose(head)):
                actual = str(recognition) if sample else "no JSON in the first lines"
                yield from self._unknown(source, actual, arrivals)
                return
        source_format = recognised or HMX_EVENTS
        self.formats[source] = source_format.name
        counts = self.tally.source(source, source_format.title)
        if source_format is HMX_EVENTS:
            yield from _counted_events(counts, arrivals)
        else:
            yield from self._converted(source_format, source, counts, arrivals)

    def _converted(
        self, source_format: Format, source: str, counts: SourceTally, arrivals: Iterable[Arrival]
    ) -> Iterator[Arrival]:
        origin = self._origin(source)
        path = str(Path(source).absolute()) if _is_file(source) else source
        for arrival in arrivals:
            if isinstance(arrival, Lull):
                yield arrival
                continue
            counts.lines += 1
            if isinstance(arrival, Broken):
                counts.with_events += 1
                yield arrival
                continue
            try:
                value, warnings = _record(arrival.payload)
            except MalformedJson as error:
                torn, whole = _split_torn(arrival.payload, error)
                counts.with_events += 1
                yield Broken(malformed(error), arrival.line, arrival.source, torn)
                if whole is None:
                    continue
                counts.lines += 1  # two records on one line count as two lines
                value, warnings = _value(whole)
            self.tally.warn(warnings)
            for outcome in source_format.convert((Record(value, path, arrival.line),), origin):
                yield from self._outcome(outcome, counts, arrival)

    def _outcome(self, outcome: Outcome, counts: SourceTally, arrival: Delivery) -> Iterator[Arrival]:
        """Count the outcome of the line; yield its events, or its fault."""
        self.tally.warn(outcome.warnings)
        counts.left_out.update(outcome.left_out)
        if outcome.skipped is not None:
            counts.skipped[outcome.skipped] += 1
        elif outcome.part_of is not None:
            counts.part_of += 1
        elif outcome.fault is not None:
            counts.with_events += 1
            yield Broken(outcome.fault, arrival.line, arrival.source, arrival.payload)
        else:
            counts.with_events += 1
            counts.events += len(outcome.events)
            whole = len(outcome.events) == 1
            for document in outcome.events:
                event = {**document, "tenant_id": self.tally.tenant_id}
                yield Delivery(event, arrival.line, arrival.source, arrival.receipt, whole=whole, converted=True)

    def _unknown(self, source: str, actual: str, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
        """One rejection for the whole source; its lines are counted, and nothing of them is kept in memory."""
        counts = self.tally.source(source, UNKNOWN)
        for arrival in arrivals:
            if not isinstance(arrival, Lull):
                counts.lines += 1
                counts.skipped[_UNREAD] += 1
        names = ", ".join(known.name for known in FORMATS)
        fault = Fault("$", "known formats", actual, f"one of {names}; format= (--from) overrules recognition")
        counts.skipped[_UNREAD] -= 1
        counts.with_events += 1
        yield Broken(fault, 0, source)

    def _origin(self, source: str) -> Origin:
        carried = self.carried.setdefault(source, {})
        origin = self.origin
        time_us = _modified_us(source) if origin.time_us is None else origin.time_us
        return Origin(
            origin.session_id,
            origin.agent_id,
            origin.user_id,
            self.now_us if time_us is None else time_us,
            origin.key,
            carried,
        )


def _like_events(match: Match) -> bool:
    """Whether records are events that lack some fields: they name the version of HMX, or have several other fields."""
    return "hmx_version" not in match.missing or match.score >= _LIKE_EVENTS


def _is_prose(head: Iterable[Arrival]) -> bool:
    """Whether every line could be read and none begins like JSON; in a log with torn records, some lines would."""
    arrivals = [arrival for arrival in head if not isinstance(arrival, Lull)]
    lines = [arrival.payload for arrival in arrivals if isinstance(arrival, Delivery)]
    readable = len(lines) == len(arrivals)
    return readable and all(isinstance(line, bytes | bytearray) and not _BEGINS_JSON.match(line) for line in lines)


class _SourceOf:
    """The source of an arrival; a lull, which only says that nothing is ready, belongs to the source before it."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, arrival: Arrival) -> str:
        if not isinstance(arrival, Lull):
            self._last = arrival.source
        return self._last


def _sampled(arrivals: Iterable[Arrival]) -> tuple[list[Arrival], list[Any]]:
    """The first arrivals of a source, and the JSON values among them."""
    head: list[Arrival] = []
    sample: list[Any] = []
    size = 0
    for arrival in arrivals:
        head.append(arrival)
        if isinstance(arrival, Lull) and sample:
            break
        if not isinstance(arrival, Delivery):
            continue
        size += len(arrival.payload) if isinstance(arrival.payload, bytes | bytearray | str) else 0
        with suppress(MalformedJson):
            sample.append(_record(arrival.payload)[0])
        if len(head) >= SAMPLE or size >= _SAMPLE_BYTES:
            break
    return head, sample


def _record(payload: Any) -> tuple[Any, Sequence[str]]:
    """The JSON value of *payload*, and warnings about it; for a line of a rejects file, those of the record in it."""
    value, warnings = _value(payload)
    inside = corrected_payload(value) if isinstance(value, Mapping) else None
    return (value, warnings) if inside is None else _value(inside)


def _value(payload: Any) -> tuple[Any, Sequence[str]]:
    if isinstance(payload, bytes | bytearray | str):
        return parse_any(payload)
    return (payload.document() if isinstance(payload, Event) else payload), ()


def _split_torn(payload: Payload, error: MalformedJson) -> tuple[Payload, bytes | None]:
    """A torn record and the whole one after it on the same line, as a killed writer leaves them; else *payload*, None.

    >>> _split_torn(b'{"a": "b{"c": 1}', MalformedJson("unexpected character", 10))
    (b'{"a": "b', b'{"c": 1}')
    """
    if not isinstance(payload, bytes) or error.position is None:
        return payload, None
    for start in _beginnings(payload, error.position):
        with suppress(MalformedJson):
            if isinstance(_value(payload[start:])[0], Mapping):
                return payload[:start], payload[start:]
    return payload, None


def _beginnings(payload: bytes, position: int) -> list[int]:
    """Where another record may begin: at a brace near the error at *position*.

    An error at the end of the line says nothing about the place: then where the first key occurs again.
    """
    if position < len(payload) - 1:
        starts = [payload.rfind(b"{", 0, position + 1), payload.find(b"{", position + 1)]
    else:
        first_key = re.escape(payload[: payload.find(b":") + 1])
        starts = [match.start() for match in islice(re.finditer(first_key, payload), _MOST_TRIES)]
    return [start for start in starts if start > 0]


def _counted_events(counts: SourceTally, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
    """*arrivals*, counted: each line is one event."""
    for arrival in arrivals:
        if not isinstance(arrival, Lull):
            counts.lines += 1
            counts.with_events += 1
            counts.events += isinstance(arrival, Delivery)
        yield arrival


def _is_file(source: str) -> bool:
    try:
        return Path(source).is_file()
    except (OSError, ValueError):
        return False


def _modified_us(source: str) -> int | None:
    """When the file was last written: the time of records without a timestamp."""
    try:
        return Path(source).stat().st_mtime_ns // 1_000
    except (OSError, ValueError):
        return None
