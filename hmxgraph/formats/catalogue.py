"""All formats that hmxgraph reads, and the function that recognises the format of a sample."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.formats.anthropic import ANTHROPIC
from hmxgraph.formats.atif import ATIF
from hmxgraph.formats.chatgpt import CHATGPT
from hmxgraph.formats.claude_code import CLAUDE_CODE
from hmxgraph.formats.cloudevents import CLOUDEVENTS
from hmxgraph.formats.codex import CODEX
from hmxgraph.formats.conversion import Format, Match, Origin, Outcome, Record
from hmxgraph.formats.gemini_cli import GEMINI_CLI
from hmxgraph.formats.graphiti import GRAPHITI
from hmxgraph.formats.hippocortex import HIPPOCORTEX
from hmxgraph.formats.langchain import LANGCHAIN
from hmxgraph.formats.mem0 import MEM0
from hmxgraph.formats.openai_chat import OPENAI_CHAT
from hmxgraph.formats.openai_responses import OPENAI_RESPONSES
from hmxgraph.formats.opentelemetry import OPENTELEMETRY
from hmxgraph.formats.plain_messages import PLAIN_MESSAGES

# hmxgraph's own format: HMX-E events, as JSON lines or an array.

# The fields that HMX-E 2.1 requires, except tenant and metadata, which the caller often adds.
_REQUIRED = ("hmx_version", "event_id", "event_type", "agent_id", "session_id", "timestamp", "sequence", "content")


def _like_events(sample: Sequence[Any]) -> Match:
    """The match by the number of required fields (HMX-E 2.1) that more than half of the records have.

    Some bad lines are thus tolerated.

    >>> _like_events([{"role": "user", "content": "hi"}]).score
    0.1
    """
    records = [value for value in sample if isinstance(value, dict)]
    if not records:
        return Match(0.0, _REQUIRED)
    missing = tuple(name for name in _REQUIRED if sum(name in value for value in records) * 2 <= len(records))
    present_fields = len(_REQUIRED) - len(missing)
    if "hmx_version" in missing or len(missing) > 2:
        return Match(min(0.45, 0.1 * present_fields), missing)  # below _LEAST_SCORE
    return Match(1.0 - 0.1 * len(missing), missing)


def _unchanged(records: Iterable[Record], _origin: Origin) -> Iterator[Outcome]:
    """Each record unchanged: events are validated on ingest."""
    for record in records:
        if isinstance(record.value, dict):
            yield Outcome(record, events=(record.value,))
        else:
            yield Outcome(record, fault=Fault("$", "HMX-E 5", type(record.value).__name__, "an object"))


HMX_EVENTS = Format("hmx", "HMX-E events", _like_events, _unchanged)

# If several formats match equally well, the first is chosen, so more specific formats come first.
FORMATS: tuple[Format, ...] = (
    HMX_EVENTS,
    HIPPOCORTEX,
    CLAUDE_CODE,
    CODEX,
    GEMINI_CLI,
    ATIF,
    CHATGPT,
    CLOUDEVENTS,
    OPENTELEMETRY,
    MEM0,
    GRAPHITI,
    LANGCHAIN,
    OPENAI_RESPONSES,
    ANTHROPIC,
    OPENAI_CHAT,
    PLAIN_MESSAGES,
)

# Minimum score of a recognised format.
_LEAST_SCORE = 0.5


@dataclass(frozen=True, slots=True)
class Recognition:
    """The format that fits a sample best, and how well it fits."""

    nearest: Format
    match: Match

    @property
    def format(self) -> Format | None:
        """The format of the sample; None if even the nearest format does not fit."""
        return self.nearest if self.match.score >= _LEAST_SCORE else None

    def __str__(self) -> str:
        if self.format:
            return self.nearest.title
        missing = ", ".join(self.match.missing) or "the fields that identify it"
        return f"no known format; the nearest is {self.nearest.title}, without {missing}"


def recognise(sample: Sequence[Any]) -> Recognition:
    """The format nearest to *sample*, the first few records of a source as parsed JSON.

    >>> print(recognise([{"hmx_version": "HMX-1.0", "event_id": "e1", "content": {}}]))
    no known format; the nearest is HMX-E events, without event_type, agent_id, session_id, timestamp, sequence
    """
    nearest = Recognition(FORMATS[0], FORMATS[0].recognise(sample))
    for candidate in FORMATS[1:]:
        if nearest.match.score >= 1.0:
            break
        match = candidate.recognise(sample)
        if match.score > nearest.match.score:
            nearest = Recognition(candidate, match)
    return nearest


def format_named(name: str) -> Format | None:
    """The format called *name*, or None.

    >>> format_named("hmx").title
    'HMX-E events'
    """
    return next((candidate for candidate in FORMATS if candidate.name == name), None)
