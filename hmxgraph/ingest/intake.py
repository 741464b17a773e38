"""Turn each delivery of a source into a prepared event, or into a rejection that can be corrected and ingested."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from hmxgraph.errors import Fault, IngestRefused, InvalidDocument, MalformedJson
from hmxgraph.ingest.prepare import PreparedEvent, prepare, without_secrets
from hmxgraph.ingest.sources import Broken, Delivery, Payload
from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.lenient import parse_any, storable
from hmxgraph.protocol.parsing import json_faults, parse_json, without_json_faults
from hmxgraph.protocol.reports import BatchReceipt, Rejection, Tally
from hmxgraph.protocol.timestamps import DAY_US, REPRESENTABLE, is_representable
from hmxgraph.text.terms import DEFAULT_ENCODING, TokenCounter

# Rejected lines as NDJSON, to be corrected and ingested again.

# The field that marks a line as a dead letter, and holds the reason for the rejection.
_REASON_FIELD = "dead_letter"


def dead_letter(rejection: Rejection, payload: Payload | None) -> bytes:
    r"""One line: the reason under ``dead_letter``, the event to be corrected under ``event``, or its raw ``text``.

    >>> dead_letter(Rejection("f", 3, "e1", ()), b'{"event_id": "e1"}')
    b'{"dead_letter":{"event_id":"e1","faults":[],"line":3,"source":"f"},"event":{"event_id":"e1"}}\n'
    """
    # The name of a file, or an id that is rejected, may not be valid Unicode.
    return canonical_bytes({_REASON_FIELD: storable(rejection.document())[0]} | _body(payload)) + b"\n"


def corrected_payload(payload: Payload) -> Mapping[str, Any] | str | None:
    """The event, or its text, inside a dead letter; None if *payload* is not a dead letter.

    >>> corrected_payload('{"dead_letter": {}, "event": {"event_id": "e1"}}')
    {'event_id': 'e1'}
    """
    letter = _json(payload) if not isinstance(payload, Event) else None
    if not isinstance(letter, Mapping) or _REASON_FIELD not in letter or len(letter) != 2:
        return None
    inside = letter.get("event", letter.get("text"))
    return inside if isinstance(inside, Mapping | str) else None


def _body(payload: Payload | None) -> dict[str, Any]:
    """The payload of a dead letter: under ``event`` if it is a JSON object, else as text."""
    if payload is not None and (inside := corrected_payload(payload)) is not None:  # a dead letter rejected again
        payload = inside
    value = payload.document() if isinstance(payload, Event) else _json(payload)
    if isinstance(value, Mapping) and not any(json_faults(value)):
        return {"event": value}
    return {"text": _text(payload)}


def _json(payload: Any) -> Any:
    """*payload*, parsed if it is text; None if it is text that is not JSON."""
    try:
        return parse_json(payload) if isinstance(payload, bytes | bytearray | str) else payload
    except MalformedJson:
        return None


def _text(payload: Any) -> str:
    if isinstance(payload, bytes | bytearray):
        return payload.decode("utf-8", "backslashreplace")
    return _printed(payload).encode("utf-8", "backslashreplace").decode() if payload is not None else ""


def _printed(payload: Any) -> str:
    """The value as Python prints it; parts nested too deeply and numbers too long to print are left out."""
    try:
        return str(payload)
    except (RecursionError, ValueError):
        return str(without_json_faults(payload))


# Each delivery becomes a prepared event or a rejection; nothing is lost.

OnError: TypeAlias = Literal["report", "raise"]
ON_ERROR: tuple[str, ...] = get_args(OnError)
Clock: TypeAlias = Callable[[], int]
Refuse: TypeAlias = Callable[[Rejection, Payload | None], None]


class Intake:
    """Checks and prepares the deliveries of one ingest call; rejections and warnings go to *tally*.

    *refuse* is called with each rejection and its payload. With *on_error* ``raise``, the first rejection is then
    raised as an error.

    An event that names another tenant than that of *tally* is rejected. With *rehome*, events may also name the tenant
    of the first event: they are stored under the tenant of *tally* and counted as ``rehomed``. Only major version 1 of
    HMX is accepted, and only times that can be written back in UTC; times more than *skew_us* after *clock* cause a
    warning. With a *mask_key*, secrets in the content (not in metadata) are masked before anything is stored.
    """

    def __init__(  # noqa: PLR0913 - passed by keyword
        self,
        tally: Tally,
        count_tokens: TokenCounter,
        *,
        tokenizer: str = DEFAULT_ENCODING,
        on_error: OnError = "report",
        refuse: Refuse | None = None,
        clock: Clock | None = None,
        rehome: bool = False,
        skew_us: int = DAY_US,
        mask_key: str = "",
    ) -> None:
        self._tally = tally
        self._count_tokens = count_tokens
        self._tokenizer = tokenizer
        self._strict = on_error == "raise"
        self._refuse = refuse
        self._clock = clock
        self._rehome = rehome
        self._skew_us = skew_us
        self._mask_key = mask_key
        self._first_tenant: str | None = None
        self._future_warning = ""

    def take(self, delivery: Delivery | Broken) -> PreparedEvent | None:
        """The event of *delivery*, ready to be written; None if it was rejected.

        Raises:
            IngestRefused: it was rejected, and *on_error* is ``raise``.

        """
        event = self._event(delivery)
        if event is None:
            return None
        if event.warnings:
            self._tally.warn(event.warnings)
        if self._clock and event.time_us > self._clock() + self._skew_us:
            self._warn_of_future(event)
        if self._mask_key:
            event = without_secrets(event, self._mask_key)
        return prepare(event, self._count_tokens, self._tokenizer, (delivery.source, delivery.line))

    def _event(self, delivery: Delivery | Broken) -> Event | None:
        if isinstance(delivery, Broken):
            self._reject(delivery, "", (delivery.fault,))
            return None
        try:
            event, warnings = _parsed(delivery.payload)
            self._tally.warn(warnings)
            return _supported(event) if delivery.converted else self._checked_tenant(_supported(event))
        except InvalidDocument as error:
            self._reject(delivery, error.document_id, error.faults)
        except MalformedJson as error:
            self._reject(delivery, "", (malformed(error),))
        return None

    def _checked_tenant(self, event: Event) -> Event:
        own_tenant = self._tally.tenant_id
        if event.tenant_id != own_tenant and not self._rehome:
            expected = f"{own_tenant!r}; to store it under {own_tenant!r} anyway, ingest with rehome=True (--rehome)"
            raise _fault(event, "tenant_id", "HMX-E 2.1", repr(event.tenant_id), expected)
        if self._first_tenant is None:
            self._first_tenant = event.tenant_id
            if self._first_tenant != own_tenant:
                self._tally.warn((f"events of tenant {self._first_tenant!r} are stored under tenant {own_tenant!r}",))
        if event.tenant_id == own_tenant:
            return event
        if event.tenant_id != self._first_tenant:
            expected = (
                repr(own_tenant)
                if self._first_tenant == own_tenant
                else f"{own_tenant!r} or {self._first_tenant!r}, the tenant of the first event"
            )
            raise _fault(event, "tenant_id", "HMX-E 2.1", repr(event.tenant_id), expected)
        self._tally.rehomed += 1
        return _rehomed(event, own_tenant)

    def _warn_of_future(self, event: Event) -> None:
        """Count a warning about events dated in the future; it quotes the first of them."""
        self._future_warning = self._future_warning or ahead_of_clock(event.event_id, event.timestamp)
        self._tally.warn((self._future_warning,))

    def account(self, receipt: BatchReceipt) -> None:
        """Report as rejections the events of a batch that the graph refused."""
        for rejection, document in receipt.refused:
            self._tally.reject(rejection)
            if self._refuse:
                self._refuse(rejection, document)

    def _reject(self, delivery: Delivery | Broken, event_id: str, faults: Iterable[Fault]) -> None:
        rejection = Rejection(delivery.source, delivery.line, event_id, tuple(faults))
        self._tally.reject(rejection, line=isinstance(delivery, Broken) or delivery.whole)
        if self._refuse:
            self._refuse(rejection, delivery.payload)
        if self._strict:
            reason = "; ".join(map(str, rejection.faults))
            raise IngestRefused(delivery.source or "source", reason, delivery.line)


def ahead_of_clock(event_id: str, timestamp: str) -> str:
    """The warning about events that are dated after the clock; it quotes the first of them."""
    return (
        f"some events are dated after this machine's clock (first: {event_id!r}, {timestamp}): they are stored, but do "
        "not affect memories, expiry or recency until that time; if the time is wrong, forget them and ingest them "
        "again with the right time and new ids (hmxgraph clock lists them)"
    )


def malformed(error: MalformedJson) -> Fault:
    """The fault of a line that is not JSON."""
    place = "" if error.position is None else f" at byte {error.position}"
    return Fault("$", "RFC 8259", f"{error.reason}{place}", "strict JSON")


def _parsed(payload: Payload) -> tuple[Event, Sequence[str]]:
    """The event in *payload*, and a warning for each kind of value that was kept as text."""
    if isinstance(payload, Event):
        return payload, ()
    try:
        return Event.parse(payload), ()
    except (InvalidDocument, MalformedJson):
        inside = corrected_payload(payload)
        lenient = _lenient(payload if inside is None else inside)
        if lenient is None:
            raise
        return lenient


def _lenient(payload: Any) -> tuple[Event, Sequence[str]] | None:
    """The event, with values in content and metadata that are not strict JSON kept as text.

    None if anything else is wrong: the faults of strict parsing are more precise.
    """
    try:
        value, warnings = parse_any(payload) if isinstance(payload, bytes | bytearray | str) else (payload, ())
        if not isinstance(value, Mapping):
            return None
        stored_fields = {name: storable(value[name]) for name in ("content", "metadata") if name in value}
        event = Event.parse({**value, **{name: part for name, (part, _) in stored_fields.items()}})
    except (InvalidDocument, MalformedJson):
        return None
    return event, tuple(
        dict.fromkeys([*warnings, *(warning for _, more in stored_fields.values() for warning in more)])
    )


def _supported(event: Event) -> Event:
    """*event*, if its version is supported and its time can be written back in UTC."""
    if not event.hmx_version.startswith("HMX-1."):
        raise _fault(event, "hmx_version", "HMX-E 6.1", event.hmx_version, "HMX-1.x")
    if not is_representable(event.time_us):
        raise _fault(event, "timestamp", "HMX-E 6.3", event.timestamp, REPRESENTABLE)
    return event


def _rehomed(event: Event, tenant_id: str) -> Event:
    if "event_hash" in event.__dict__:  # a copy would keep the old hash
        return Event.parse({**event.document(), "tenant_id": tenant_id})
    return event.model_copy(update={"tenant_id": tenant_id})


def _fault(event: Event, field: str, clause: str, actual: str, expected: str) -> InvalidDocument:
    return InvalidDocument("event", event.event_id, (Fault(f"$.{field}", clause, actual, expected),))
