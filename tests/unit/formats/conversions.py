"""Shared by tests of formats: records in, outcomes and validated events out."""

from collections.abc import Iterable
from typing import Any

from hmxgraph.formats.catalogue import recognise
from hmxgraph.formats.conversion import Format, Origin, Outcome, Record
from hmxgraph.protocol.events import Event

# Why a test against a client library is skipped where it is not installed.
NEEDED = "needs the client libraries: pip install 'hmxgraph[formats-test]' (make test does)"
NOW_US = 1_773_457_200_000_000
ORIGIN = Origin(session_id="s1", user_id="ana", time_us=NOW_US)


def records(values: Iterable[Any], source: str = "") -> list[Record]:
    """The values as the lines of a source."""
    return [Record(value, source, line) for line, value in enumerate(values, 1)]


def outcomes(form: Format, values: Iterable[Any], origin: Origin | None = None) -> list[Outcome]:
    """One outcome per value, each with exactly one kind of ending."""
    origin = origin or Origin(session_id="s1", user_id="ana", time_us=NOW_US)
    given = records(values)
    converted = list(form.convert(given, origin))
    assert [outcome.record for outcome in converted] == given
    for outcome in converted:
        endings = (bool(outcome.events), outcome.part_of, outcome.skipped, outcome.fault)
        assert sum(ending not in {None, False} for ending in endings) == 1, outcome
    return converted


def events(form: Format, values: Iterable[Any], origin: Origin | None = None) -> list[Event]:
    """The events of all values, each accepted by the protocol, with an id of its own."""
    documents = [document for outcome in outcomes(form, values, origin) for document in outcome.events]
    made = [Event.parse({**document, "tenant_id": "acme"}) for document in documents]
    assert len({event.event_id for event in made}) == len(made)
    return made


def shape(event: Event) -> tuple[str, str, Any]:
    """The type, origin and main text of an event."""
    content = event.content
    main = next((content[name] for name in ("text", "tool_name", "message", "command") if content.get(name)), "")
    return event.event_type, event.metadata["origin"], main


def recognised(values: list[Any]) -> str:
    """The name of the recognised format; empty for none."""
    form = recognise(values).format
    return form.name if form else ""
