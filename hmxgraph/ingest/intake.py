"""Deliveries become prepared events or rejections; nothing in between, nothing lost."""

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias, get_args

from hmxgraph.errors import Fault, IngestRefused, InvalidDocument, MalformedJson
from hmxgraph.ingest.dead_letters import mended
from hmxgraph.ingest.prepare import PreparedEvent, prepare
from hmxgraph.ingest.report import Rejection, Tally
from hmxgraph.ingest.sources.deliveries import Broken, Delivery, Payload
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.timestamps import DAY_US, TELLABLE, tellable
from hmxgraph.text.tokens import DEFAULT_ENCODING, TokenCounter

OnError: TypeAlias = Literal["report", "raise"]
ON_ERROR: tuple[str, ...] = get_args(OnError)
Clock: TypeAlias = Callable[[], int]
Refuse: TypeAlias = Callable[[Rejection, Payload | None], None]

# Clocks of machines differ, and some hold a local time for UTC.
_SKEW_US = DAY_US


class Intake:
    """Takes deliveries of one ingest call for one tenant; refusals and warnings go to *tally*.

    The events of a call may name one foreign tenant: that of the first event. They are stored under the own tenant and
    counted as rehomed. Only the major version 1 of HMX is read, and only times that can be told again; those more than
    a day after *clock* are told.
    """

    def __init__(
        self,
        tally: Tally,
        count_tokens: TokenCounter,
        *,
        tokenizer: str = DEFAULT_ENCODING,
        on_error: OnError = "report",
        refuse: Refuse | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._tally = tally
        self._count_tokens = count_tokens
        self._tokenizer = tokenizer
        self._strict = on_error == "raise"
        self._refuse = refuse
        self._clock = clock
        self._guest: str | None = None
        self._ahead = ""

    def take(self, delivery: Delivery | Broken) -> PreparedEvent | None:
        """The event of *delivery*, ready to be written; None if it was refused.

        Raises:
            IngestRefused: it was refused, and the call is strict.

        """
        event = self._event(delivery)
        if event is None:
            return None
        if event.warnings:
            self._tally.warn(event.warnings)
        if self._clock and event.time_us > self._clock() + _SKEW_US:
            self._warn_of_future(event)
        return prepare(event, self._count_tokens, self._tokenizer, (delivery.source, delivery.line))

    def _event(self, delivery: Delivery | Broken) -> Event | None:
        if isinstance(delivery, Broken):
            self._reject(delivery.source, delivery.line, "", (delivery.fault,), None)
            return None
        try:
            return self._at_home(_parsed(delivery.payload))
        except InvalidDocument as error:
            self._reject(delivery.source, delivery.line, error.document_id, error.faults, delivery.payload)
        except MalformedJson as error:
            place = "" if error.position is None else f" at byte {error.position}"
            fault = Fault("$", "RFC 8259", f"{error.reason}{place}", "strict JSON")
            self._reject(delivery.source, delivery.line, "", (fault,), delivery.payload)
        return None

    def _at_home(self, event: Event) -> Event:
        own = self._tally.tenant_id
        if not event.hmx_version.startswith("HMX-1."):
            raise _fault(event, "hmx_version", "HMX-E 6.1", event.hmx_version, "HMX-1.x")
        if not tellable(event.time_us):
            raise _fault(event, "timestamp", "HMX-E 6.3", event.timestamp, f"a {TELLABLE}")
        if self._guest is None:
            self._guest = event.tenant_id
            if self._guest != own:
                self._tally.warn((f"events of tenant {self._guest!r} are stored under tenant {own!r}",))
        if event.tenant_id == own:
            return event
        if event.tenant_id != self._guest:
            expected = repr(own) if self._guest == own else f"{own!r} or {self._guest!r}, as the first event named"
            raise _fault(event, "tenant_id", "HMX-E 2.1", repr(event.tenant_id), expected)
        self._tally.rehomed += 1
        return _rehomed(event, own)

    def _warn_of_future(self, event: Event) -> None:
        """A tenant's time is that of its latest event: one with a wrong time makes all else look old."""
        self._ahead = self._ahead or (
            f"an event is dated after this machine's clock, {event.event_id!r} first ({event.timestamp}): from then on "
            "memory runs by its time, and all else is old and expired; if that is wrong, forget it before anything "
            "else is written, and feed it in with the right time under a new id"
        )
        self._tally.warn((self._ahead,))

    def _reject(self, source: str, line: int, event_id: str, faults: Iterable[Fault], payload: Payload | None) -> None:
        rejection = Rejection(source, line, event_id, tuple(faults))
        self._tally.rejected.append(rejection)
        if self._refuse:
            self._refuse(rejection, payload)
        if self._strict:
            raise IngestRefused(source or "source", "; ".join(map(str, rejection.faults)), line)


def _parsed(payload: Payload) -> Event:
    if isinstance(payload, Event):
        return payload
    try:
        return Event.parse(payload)
    except (InvalidDocument, MalformedJson):
        inside = mended(payload)
        if inside is None:
            raise
        return Event.parse(inside) if not isinstance(inside, Event) else inside


def _rehomed(event: Event, tenant_id: str) -> Event:
    if "event_hash" in event.__dict__:  # it would be carried over by a copy
        return Event.parse({**event.document(), "tenant_id": tenant_id})
    return event.model_copy(update={"tenant_id": tenant_id})


def _fault(event: Event, field: str, clause: str, found: str, expected: str) -> InvalidDocument:
    return InvalidDocument("event", event.event_id, (Fault(f"$.{field}", clause, found, expected),))
