"""What the engine adds to an event before it is written: keys, readable text, search terms, links, and its tokens.

Tokens are those of the line that a context pack writes for it, so that packing needs to count none.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import hypot
from typing import Any

from hmxgraph.ingest.rendition import SHOWN, cut, rendition
from hmxgraph.ingest.salience import base_salience, mark, signature
from hmxgraph.ingest.speaker import speaker
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.identity import node_key
from hmxgraph.protocol.order import Position, position
from hmxgraph.protocol.outcomes import went_well
from hmxgraph.protocol.timestamps import LAST_US
from hmxgraph.text.lines import event_line, label_of
from hmxgraph.text.scope import scope_token
from hmxgraph.text.terms import terms
from hmxgraph.text.tokens import DEFAULT_ENCODING, TokenCounter

LINKS = ("CAUSED_BY", "CORRELATES_WITH", "ANSWERS", "ABOUT")
# Terms of one event in the index: a huge result must not drown it.
TERMS = 4_000
# Embeddings of these lengths have a direction in single precision, by which the server compares them.
_SHORTEST, _LONGEST = 1e-15, 1e15
_SECOND = 1_000_000
_WIRE = ("tenant_id", "event_id", "session_id", "agent_id", "event_type", "hmx_version", "sequence", "timestamp")
_OPTIONAL = ("trace_id", "correlation_id", "parent_event_id", "source", "provenance_ref", "ttl_seconds")
_scope = lru_cache(maxsize=1024)(scope_token)


@dataclass(frozen=True, slots=True)
class PreparedEvent:
    """One event ready to be written.

    ``properties`` are those of its node, but for the salience where the engine decides it (``signature`` and ``mark``
    say by what). ``links`` are pairs of relationship type and the key that the other end offers; ``call_key`` is what a
    tool call offers to its result besides ``key``. ``place`` is source and line.
    """

    event: Event
    key: str
    session_key: str
    properties: dict[str, Any]
    links: tuple[tuple[str, str], ...]
    call_key: str | None = None
    base_salience: float | None = None
    signature: str = ""
    mark: int = 0
    place: tuple[str, int] = ("", 0)

    @property
    def order(self) -> Position:
        """The place in the session's total order."""
        return position(self.event)


def prepare(
    event: Event, count_tokens: TokenCounter, tokenizer: str = DEFAULT_ENCODING, place: tuple[str, int] = ("", 0)
) -> PreparedEvent:
    """*event* with all that is derived from it alone."""
    call_id = event.content.get("call_id")
    call_key = node_key(event.tenant_id, "call", event.session_id, call_id) if isinstance(call_id, str) else None
    is_call = event.event_type == "tool_call"
    session_key = node_key(event.tenant_id, event.session_id)
    key = node_key(event.tenant_id, event.event_id)
    engine_decides = event.salience is None
    text = rendition(event)
    return PreparedEvent(
        event,
        key,
        session_key,
        _properties(event, key, session_key, _readable(event, text, count_tokens, tokenizer))
        | ({"call_key": call_key} if is_call and call_key else {}),
        _links(event, None if is_call else call_key),
        call_key if is_call else None,
        base_salience(event) if engine_decides else None,
        signature(event) if engine_decides else "",
        mark(event.event_type, text),
        place,
    )


def traits(event: Event) -> dict[str, str | bool]:
    """Who speaks in *event*, its label and title, and whether it failed; the order of its fields is of no account."""
    found: dict[str, str | bool] = {}
    if (said_by := speaker(event)) is not None:
        found["speaker"] = said_by
    if label := _label(event):
        found["label"] = label
    if isinstance(title := event.content.get("title"), str) and title.strip():
        found["title"] = title.strip()[:300]
    if went_well(event.event_type, event.content) is False:
        found["failed"] = True
    return found


def _properties(event: Event, key: str, session_key: str, readable: dict[str, Any]) -> dict[str, Any]:
    values = event.__dict__
    found = {name: values[name] for name in _WIRE}
    found |= {name: values[name] for name in _OPTIONAL if values[name] is not None}
    found |= readable
    found["key"] = key
    found["session_key"] = session_key
    found["time_us"] = event.time_us
    found["content"] = event.content_json
    found["metadata"] = event.metadata_json
    found["event_hash"] = event.event_hash
    found["scope"] = _scope(event.tenant_id)
    found |= _rare(event)
    return found


def _rare(event: Event) -> dict[str, Any]:
    """The properties that few events have."""
    found: dict[str, Any] = {}
    if event.embeddings is not None:
        found["embeddings"] = list(event.embeddings)
        if _SHORTEST <= hypot(*event.embeddings) <= _LONGEST:
            found["embedding_dimension"] = len(event.embeddings)
    if event.tags is not None:
        found["tags"] = list(event.tags)
    if event.ttl_seconds is not None:
        found["expires_us"] = min(event.time_us + event.ttl_seconds * _SECOND, LAST_US)
    if event.salience is not None:
        found |= {"salience": event.salience, "salience_origin": "event"}
    if isinstance(call_id := event.content.get("call_id"), str):
        found["call_id"] = call_id
    return found


def _readable(event: Event, full: str, count_tokens: TokenCounter, tokenizer: str) -> dict[str, Any]:
    text = cut(full, SHOWN)
    told = traits(event)
    words = f"{full} {' '.join(event.tags)}" if event.tags else full
    return {
        "text": text,
        "search_text": " ".join(terms(words)[:TERMS]),
        "token_count": count_tokens(event_line(text, str(told.get("label", "")), str(told.get("speaker", "")))),
        "tokenizer": tokenizer,
        **told,
    }


def _label(event: Event) -> str:
    role = event.content.get("role") if event.event_type == "message" else None
    return label_of(event.event_type, event.source or "", role if isinstance(role, str) else "")


def _links(event: Event, answered_key: str | None) -> tuple[tuple[str, str], ...]:
    about = event.content.get("target_event_id") if event.event_type == "feedback" else None
    named = (
        ("CAUSED_BY", event.parent_event_id),
        ("CORRELATES_WITH", event.correlation_id),
        ("ABOUT", about),
    )
    links = [
        (kind, node_key(event.tenant_id, other))
        for kind, other in named
        if isinstance(other, str) and other != event.event_id
    ]
    return tuple([*links, ("ANSWERS", answered_key)] if answered_key else links)
