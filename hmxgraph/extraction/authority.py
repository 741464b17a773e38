"""Authority: whether the words of an event may be in force, and for whom."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.extraction.language import (
    NAME,
    NOT_THE_USER,
    PARTS,
    UNKNOWN,
    MemoryDraft,
    Terms,
    Voice,
    named_user,
    session_owner,
    speaking_user,
    user_id_of,
    user_key,
)
from hmxgraph.protocol.events import Event, origin_of
from hmxgraph.protocol.trust import OWN_SOURCES, TrustPolicy
from hmxgraph.text.lines import label_of, speaking_source

Level: TypeAlias = Literal["operator", "user", "none"]


class Authority(NamedTuple):
    """The standing of an event's words.

    An ``operator`` speaks for the tenant, a ``user`` for themselves, ``none`` only proposes. ``origin`` is counted when
    independent support is (empty for anonymous speakers); ``owner`` is whom a user's memories are bound to.
    """

    level: Level
    origin: str
    owner: str = ""


# The standing of whoever calls `remember`.
OPERATOR = Authority("operator", "")


def authority_of(event: Event, voice: Voice, trust: TrustPolicy) -> Authority:
    """The authority of *event*, spoken by *voice*, under *trust*.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=0, metadata={"user_id": "Ann"},
    ...     content={"role": "user", "text": "I prefer tea."}, source="user")
    >>> authority_of(event, Voice("", "user", "Ann"), TrustPolicy())
    Authority(level='user', origin='user:ann', owner='ann')
    """
    source = event.source or ""
    role = event.content.get("role")
    label = label_of(event.event_type, source, role if isinstance(role, str) else "")
    name = speaking_user(event) or ""
    outside = bool(label) or origin_of(event.metadata) in NOT_THE_USER
    if trust.distrusts(source) or (outside and not trust.trusts(source)):
        return Authority("none", _outside(source, label))
    if trust.trusts(source) or _speaks_for_operator(event, voice):
        return Authority("operator", source)
    if voice.part in {"system", "none"} or not _speaks_as_user(event, name):
        return Authority("none", _outside(source, label))
    known = name or _named_source(event)
    if trust.single_user and not named_user(event) and not _named_source(event):
        return Authority("operator", source)
    return Authority("user", f"user:{known}" if known else "", name or session_owner(event.session_id))


def _speaks_for_operator(event: Event, voice: Voice) -> bool:
    """Whether a system message comes from the conversation itself, or a state change from the operator."""
    if voice.part == "system":
        return _is_own(event)
    return event.event_type == "state_change" and PARTS.get((event.source or "").lower()) == "system"


def _speaks_as_user(event: Event, name: str) -> bool:
    """Whether the source of a user's message is the user, and not a document or a party that nobody knows."""
    if event.event_type == "feedback":
        return bool(name)
    if _is_own(event):
        return True
    source = event.source or ""
    return user_key(source) in {name, user_key(user_id_of(event) or "")} or speaking_source(event) is not None


def _is_own(event: Event) -> bool:
    """Whether the source is the agent itself, a part of the conversation or a channel that only its users write to."""
    source = event.source or ""
    return not source or source.lower() in OWN_SOURCES or source == event.agent_id


def _named_source(event: Event) -> str:
    """The key of a person whom only the source names; empty if that is the agent itself, as in recorded talk."""
    name = speaking_source(event)
    return "" if name is None or _is_own(event) else user_key(name)


_ADDRESS = re.compile(r"(?:web:|https?:|//|www\.|[^/@\s]*@)+", re.IGNORECASE)
_NOT_IN_HOSTS = re.compile(r"[/?#:\s]")
_ONE_TOOL = "tool"


def _outside(source: str, label: str) -> str:
    """The origin that counts once, however often it speaks: a web site with all its pages, all tools together.

    One page can reach an agent through several tools.

    >>> _outside("https://www.shop.example/a?b", "web"), _outside("web:eu.shop.example", "web")
    ('web:shop.example', 'web:shop.example')
    >>> _outside("mcp:notes", "tool"), _outside("Wiki:security", "")
    ('tool', 'wiki:security')
    """
    name = source.strip().lower()
    if label == _ONE_TOOL:
        return _ONE_TOOL
    if label != "web":
        return name or label
    host = _NOT_IN_HOSTS.split(_ADDRESS.sub("", name, count=1), maxsplit=1)[0]
    return f"web:{'.'.join(host.split('.')[-2:])}"


def bound(draft: MemoryDraft, owner: str) -> MemoryDraft:
    """*draft* bound to *owner*, with a slot of its own, so that it never contradicts what others say."""
    return draft._replace(owner=owner, slot=f"{owner}\0{draft.slot}" if draft.slot else "")


def placed(draft: MemoryDraft, authority: Authority) -> Iterator[MemoryDraft]:
    """*draft* as memories of the right standing.

    Words of the operator are kept as they are. A user's are bound to the user; a rule or a fact about anything else is
    also proposed for the tenant. All other words are only proposed. Only the operator pins and replaces memories.
    """
    if authority.level == "operator":
        # Unnamed users of several sessions may have several names.
        unnamed = draft.subject == UNKNOWN and draft.predicate == NAME
        yield draft._replace(slot="") if unnamed else draft
        return
    draft = draft._replace(terms=Terms(draft.terms.scopes, expires_us=draft.terms.expires_us))
    proposal = draft._replace(unproven=True, slot="", hard=False, origin=authority.origin)
    if authority.level == "none":
        yield proposal
        return
    yield bound(draft, authority.owner)
    if draft.kind == "policy" or (draft.kind == "fact" and not draft.personal):
        yield proposal
