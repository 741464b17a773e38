"""Prepare an event for storage: keys, readable text, search terms, salience, speaker."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from itertools import groupby, pairwise
from math import hypot
from typing import Any, NamedTuple

from hmxgraph.ingest.rendition import SHOWN, cut, rendition
from hmxgraph.protocol.canonical import node_key
from hmxgraph.protocol.events import IMPORT, MEMORY_EVENT, Event, Position, origin_of, position, went_well
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.timestamps import LAST_US
from hmxgraph.protocol.trust import DEFAULT_TRUST
from hmxgraph.text.lines import PARTS, event_line, label_of, named_speaker, speaking_source
from hmxgraph.text.masking import linked_secrets, masked_fields
from hmxgraph.text.terms import DEFAULT_ENCODING, TokenCounter, scope_token, terms

# Salience of events that do not state their own.

_BY_TYPE = {"error": 0.9, "feedback": 0.85, "decision": 0.8, "tool_call": 0.8, "tool_result": 0.6}
_USER_MESSAGE = 0.7
_OTHER_EVENT = 0.5
# Minimum salience of an event that reports a failure.
_FAILURE_MINIMUM = 0.85
# Added for a signature that is new to the tenant.
_NEW_BONUS = 0.1
# Subtracted for an exact repeat.
_REPEAT_PENALTY = 0.2


def base_salience(event: Event) -> float:
    """The salience of *event* by its type; failures and user messages are raised.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=0, metadata={}, content={"role": "user"})
    >>> base_salience(event)
    0.7
    """
    content = event.content
    if event.event_type == "message" and content.get("role") == "user":
        return _USER_MESSAGE
    minimum = _FAILURE_MINIMUM if went_well(event.event_type, content) is False else 0.0
    return max(_BY_TYPE.get(event.event_type, _OTHER_EVENT), minimum)


def adjusted(base: float, *, new: bool, repeat: bool) -> float:
    """*base*, raised for a signature that is new to the tenant, lowered for an exact repeat in its session.

    >>> adjusted(0.8, new=False, repeat=True)
    0.6
    """
    salience = base + (_NEW_BONUS if new else 0.0) - (_REPEAT_PENALTY if repeat else 0.0)
    return round(min(1.0, max(0.0, salience)), 2)


def signature(event: Event) -> str:
    """A key for the kind of event: its type, a hash of its tool, error type, signal or role, and whether it failed.

    A signature stays in the graph when its events are forgotten, so it must not contain their words.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="tool_call", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=0, metadata={}, content={"tool_name": "gh"})
    >>> signature(event)
    'tool_call:fb2b7fce09401614'
    """
    content = event.content
    names = (content.get(name) for name in ("tool_name", "error_type", "signal", "role"))
    name = next((name for name in names if isinstance(name, str) and name), "")
    failed = ":failed" if went_well(event.event_type, content) is False else ""
    # The type of a producer's own events may be of any length.
    return f"{event.event_type}:{sha256(name.encode()).hexdigest()[:16]}{failed}"[:200]


def mark(event_type: str, text: str) -> int:
    """A number by which exact repeats are found: the same for events with the same type and readable text.

    >>> mark("tool_call", "gh(pr=1)") == mark("tool_call", "gh(pr=1)") != mark("tool_call", "gh(pr=2)")
    True
    """
    digest = sha256(f"{event_type}\0{text}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


# The speaker of a message.


def speaker(event: Event) -> str | None:
    """The speaker of a message: named in content or metadata, else a source spelled like a name, else the role.

    In a conversation of several people, the source of each message names its speaker. Even ``Customer`` or ``Slack`` is
    accepted, because any label is better than none in a context pack. Extraction is stricter: it accepts only the name
    of a person.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="Caroline", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="Caroline",
    ...     content={"role": "user", "text": "Hey Mel!"})
    >>> speaker(event)
    'Caroline'
    """
    if event.event_type != "message":
        return None
    role, name = _role(event), named_speaker(event) or speaking_source(event)
    return role if name is None or _is_other_role(name, role, event) else name


def _is_other_role(name: str, role: str | None, event: Event) -> bool:
    """Whether the *name* of a user is another role than that of the message: a user called "assistant" is none."""
    part = PARTS.get((role or "").lower())
    return part == "user" and PARTS.get(name.lower(), part) != part and not event.metadata.keys().isdisjoint(NAMING)


def _role(event: Event) -> str | None:
    role = event.content.get("role")
    return role if isinstance(role, str) and role else None


# What the engine adds to an event before it is written: keys, readable text, search terms, links, token count.
#
# Tokens are counted for the line that a context pack shows for the event, so that packing need not count again.

LINKS = ("CAUSED_BY", "CORRELATES_WITH", "ANSWERS", "ABOUT")
# Maximum number of terms of one event in the index, so that a huge result does not dominate it.
_MOST_TERMS = 4_000
# Vectors with a norm outside these bounds lose their direction in single precision, in which the server compares them.
_SMALLEST_NORM, _LARGEST_NORM = 1e-15, 1e15
_SECOND_US = 1_000_000
# Fields of the document that every event has and that are stored as they are.
_REQUIRED = ("tenant_id", "event_id", "session_id", "agent_id", "event_type", "hmx_version", "sequence", "timestamp")
# Fields of the document that an event may lack and that are stored as they are.
_OPTIONAL = ("trace_id", "correlation_id", "parent_event_id", "source", "provenance_ref", "ttl_seconds")
_scope = lru_cache(maxsize=1024)(scope_token)


@dataclass(frozen=True, slots=True)
class PreparedEvent:
    """One event ready to be written.

    ``properties`` are stored on its node; if the event states no salience, the engine computes it from
    ``base_salience``, ``signature`` and ``mark``. ``links`` are pairs of a relationship type and the key of the other
    end; ``call_key`` is the second key of a tool call, by which its result finds it. ``place`` is source and line.
    ``user_keys`` are the keys of the users that the event names; erasing a user's data finds the event by them.
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
    user_keys: tuple[str, ...] = ()

    @property
    def order(self) -> Position:
        """The position in the session's total order."""
        return position(self.event)


def without_secrets(event: Event, mask_key: str) -> Event:
    """*event* with the secrets in its content masked, before anything of it is stored."""
    content = masked_fields(event.content, partial(linked_secrets, key=mask_key))
    return event if content == event.content else Event.parse({**event.document(), "content": content})


def prepare(
    event: Event, count_tokens: TokenCounter, tokenizer: str = DEFAULT_ENCODING, place: tuple[str, int] = ("", 0)
) -> PreparedEvent:
    """*event* with everything that can be derived from it alone."""
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
        _user_keys(event),
    )


# The users that an event names: in its metadata and, if it states a memory, in its content.

# Fields that name a user.
NAMING = ("user_id", "userId", "customer_id", "user_name")
_NAMING = frozenset(name.lower() for name in NAMING)
# An event that names more users than this gets one key that all users share; erasure then searches its text for names.
_MOST_NAMED = 20


def named_user_key(tenant_id: str, user_id: str) -> str:
    """The key of the events that name *user_id*, however it is capitalised."""
    return node_key(tenant_id, "named", user_id.lower())


def _user_keys(event: Event) -> tuple[str, ...]:
    documents = [event.metadata, event.content] if event.event_type == MEMORY_EVENT else [event.metadata]
    names = {name.lower() for name in _user_names(documents)}
    if len(names) > _MOST_NAMED:
        return (_scope(event.tenant_id),)
    return tuple(sorted(named_user_key(event.tenant_id, name) for name in names))


def _user_names(value: Any) -> Iterator[str]:
    """The values of all fields in *value*, at any depth, that name a user."""
    if isinstance(value, Mapping):
        yield from (part for name, part in value.items() if isinstance(part, str) and name.lower() in _NAMING)
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _user_names(part)


def traits(event: Event) -> dict[str, str | bool]:
    """The speaker, label and title (300 characters at most) of *event*, if it has them, and ``failed`` if it failed."""
    event_traits: dict[str, str | bool] = {}
    if (said_by := speaker(event)) is not None:
        event_traits["speaker"] = said_by
    if label := _label(event):
        event_traits["label"] = label
    if isinstance(title := event.content.get("title"), str) and title.strip():
        event_traits["title"] = title.strip()[:300]
    if went_well(event.event_type, event.content) is False:
        event_traits["failed"] = True
    return event_traits


def _properties(event: Event, key: str, session_key: str, readable: dict[str, Any]) -> dict[str, Any]:
    values = event.__dict__
    properties = {name: values[name] for name in _REQUIRED}
    properties |= {name: values[name] for name in _OPTIONAL if values[name] is not None}
    properties |= readable
    properties["key"] = key
    properties["session_key"] = session_key
    properties["time_us"] = event.time_us
    properties["content"] = event.content_json
    properties["metadata"] = event.metadata_json
    properties["event_hash"] = event.event_hash
    properties["scope"] = _scope(event.tenant_id)
    properties |= _rare_properties(event)
    return properties


def _rare_properties(event: Event) -> dict[str, Any]:
    """The properties that few events have."""
    properties: dict[str, Any] = {}
    if event.embeddings is not None:
        properties["embeddings"] = list(event.embeddings)
        if _SMALLEST_NORM <= hypot(*event.embeddings) <= _LARGEST_NORM:
            properties["embedding_dimension"] = len(event.embeddings)
    if event.tags is not None:
        properties["tags"] = list(event.tags)
    if event.ttl_seconds is not None:
        properties["expires_us"] = min(event.time_us + event.ttl_seconds * _SECOND_US, LAST_US)
    if event.salience is not None:
        properties |= {"salience": event.salience, "salience_origin": "event"}
    if isinstance(call_id := event.content.get("call_id"), str):
        properties["call_id"] = call_id
    return properties


def _readable(event: Event, full: str, count_tokens: TokenCounter, tokenizer: str) -> dict[str, Any]:
    text = cut(full, SHOWN)
    event_traits = traits(event)
    searchable = f"{full} {' '.join(event.tags)}" if event.tags else full
    line = event_line(text, str(event_traits.get("label", "")), str(event_traits.get("speaker", "")))
    index = _indexed if len(searchable) > _LONGEST_REPEAT else _indexed_repeat
    search_text, token_count = index(searchable, line, count_tokens)
    return {
        "text": text,
        "search_text": search_text,
        "token_count": token_count,
        "tokenizer": tokenizer,
        **event_traits,
    }


def _indexed(searchable: str, line: str, count_tokens: TokenCounter) -> tuple[str, int]:
    """The terms of *searchable* in the full-text index, and the number of tokens of *line*."""
    return " ".join(terms(searchable)[:_MOST_TERMS]), count_tokens(line)


# What is computed from texts of up to this many characters is cached: agents repeat lookups, and get the same results.
_LONGEST_REPEAT = 4_000
_indexed_repeat = lru_cache(maxsize=1_024)(_indexed)


# Event types that hold somebody's words. Such an event from an outside source is labelled ``_UNKNOWN_SOURCE`` if
# neither its type nor its source gives it another label (``label_of``).
_WORDED_TYPES = frozenset({"message", "decision", "state_change"})
_UNKNOWN_SOURCE = "data"
# Prefix of the engine's own event types, to which this does not apply: the engine knows who wrote their text.
_OWN_PREFIX = "x-hmxgraph-"


def _label(event: Event) -> str:
    """The label of an event from an outside source: ``tool``, ``web`` or ``data``; "" for others."""
    role = event.content.get("role") if event.event_type == "message" else None
    label = label_of(event.event_type, event.source or "", role if isinstance(role, str) else "")
    worded = event.event_type in _WORDED_TYPES or (
        event.event_type.startswith("x-") and not event.event_type.startswith(_OWN_PREFIX)
    )
    origin = origin_of(event.metadata)
    is_own = not event.source and origin != IMPORT
    if label or is_own or not worded or speaking_source(event):
        return label
    outside = DEFAULT_TRUST.outside(event.source, event.agent_id, origin, decides=True)
    return _UNKNOWN_SOURCE if outside else ""


def _links(event: Event, answered_key: str | None) -> tuple[tuple[str, str], ...]:
    target_id = event.content.get("target_event_id") if event.event_type == "feedback" else None
    references = (
        ("CAUSED_BY", event.parent_event_id),
        ("CORRELATES_WITH", event.correlation_id),
        ("ABOUT", target_id),
    )
    links = [
        (kind, node_key(event.tenant_id, other))
        for kind, other in references
        if isinstance(other, str) and other != event.event_id
    ]
    return tuple([*links, ("ANSWERS", answered_key)] if answered_key else links)


def loops(causes: Mapping[str, str]) -> list[list[str]]:
    """The loops among events, each a list of keys; *causes* maps the key of each event to that of its cause.

    >>> loops({"a": "b", "b": "c", "c": "b", "d": "a"})
    [['b', 'c']]
    """
    seen: set[str] = set()
    closed_loops: list[list[str]] = []
    for start in causes:
        path: dict[str, None] = {}
        key = start
        while key in causes and key not in seen:
            seen.add(key)
            path[key] = None
            key = causes[key]
        if key in path:
            closed_loops.append(list(path)[list(path).index(key) :])
    return closed_loops


# Embeddings of events: only those with the dimension of the tenant's first usable one can be compared.


def first_dimension(events: Iterable[PreparedEvent]) -> int | None:
    """The dimension of the first embedding with a usable norm, in order of source and line; None if there is none."""
    embedded = [event for event in events if "embedding_dimension" in event.properties]
    return min(embedded, key=lambda event: event.place).properties["embedding_dimension"] if embedded else None


def left_out(events: Iterable[PreparedEvent], dimension: int | None) -> Iterator[str]:
    """A warning for each embedding left out of search: not of the tenant's *dimension*, or with an extreme norm.

    Such an embedding is stored all the same, since the event's hash covers it.
    """
    for event in events:
        size = event.properties.get("embedding_dimension")
        if size is not None and size != dimension:
            yield f"an embedding of {size} numbers is left out of comparisons: this tenant's have {dimension}"
        elif size is None and "embeddings" in event.properties:
            yield "an embedding whose norm is zero, tiny or huge is left out of comparisons"


# Inserting new events into their session's chain: NEXT always follows the total order (HMX-E 7).


class End(NamedTuple):
    """The first or last event of a stored chain: its position and its key."""

    order: Position
    key: str


class Ends(NamedTuple):
    """The two ends of a stored chain: its first event (``head``) and its last (``tail``)."""

    head: End
    tail: End


class Neighbours(NamedTuple):
    """The stored events between which a late event belongs."""

    before: str
    after: str


@dataclass(slots=True)
class ChainChanges:
    """The changes of a batch to the chains: pairs of keys to link and pairs to unlink."""

    linked: list[tuple[str, str]] = field(default_factory=list)
    unlinked: list[tuple[str, str]] = field(default_factory=list)

    def add(self, events: Sequence[PreparedEvent], ends: Ends | None, neighbours: Mapping[str, Neighbours]) -> None:
        """Insert the sorted new *events* of one session into its chain; those inside it need their *neighbours*."""
        if ends is None:
            self._link(events)
            return
        self._link([event for event in events if event.order < ends.head.order], after=ends.head.key)
        self._link([event for event in events if event.order > ends.tail.order], before=ends.tail.key)
        for (before, after), late in groupby(between_ends(events, ends), key=lambda event: neighbours[event.key]):
            self._link(list(late), before=before, after=after)
            self.unlinked.append((before, after))

    def _link(self, events: Sequence[PreparedEvent], *, before: str | None = None, after: str | None = None) -> None:
        if not events:
            return
        keys = [event.key for event in events]
        self.linked.extend(pairwise(([before] if before else []) + keys + ([after] if after else [])))


def between_ends(events: Sequence[PreparedEvent], ends: Ends) -> list[PreparedEvent]:
    """The *events* that belong inside the chain, between its ends."""
    return [event for event in events if ends.head.order < event.order < ends.tail.order]


# From stored events back to documents.

# Properties that are not part of the document; statements return some of them with it.
_ENGINE_FIELDS = ("event_hash", "erased", "salience_origin")


def event_document(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The wire document of a stored event, which its hash covers.

    *properties* must be only those of the document and ``_ENGINE_FIELDS``: any other property of the node would become
    a field of the document.

    Raises:
        KeyError: ``content``, ``metadata`` or the engine's ``salience`` is missing.
        ValueError: ``content`` or ``metadata`` is not JSON.

    """
    document = {name: value for name, value in properties.items() if value is not None and name not in _ENGINE_FIELDS}
    if properties.get("salience_origin") == "engine":
        del document["salience"]
    return document | {name: parse_json(document[name]) for name in ("content", "metadata")}
