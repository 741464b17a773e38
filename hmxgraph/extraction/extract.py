"""Everything worth finding in one event."""

from hmxgraph.extraction.entities.reading import read
from hmxgraph.extraction.memories.reading import memories
from hmxgraph.extraction.values import Extraction, MemoryDraft, Mention
from hmxgraph.extraction.voice import voice_of
from hmxgraph.protocol.events import Event

# Entities that one memory is linked to.
MOST_ABOUT = 8


def extract(event: Event) -> Extraction:
    """The entities that *event* mentions, their relations, and the memories it gives rise to.

    Depends on nothing but the event: at most 32 mentions (16 of a result), 12 relations and 8 memories, each in a fixed
    order.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2026-03-14T03:00:00Z", sequence=4, metadata={}, source="user",
    ...     content={"role": "user", "text": "Always verify the rollout of deploy/cart.yaml."})
    >>> [mention.name for mention in extract(event).mentions]
    ['deploy/cart.yaml']
    >>> extract(event).memories[0].kind, extract(event).memories[0].text
    ('policy', 'Always verify the rollout of deploy/cart.yaml.')
    """
    voice = voice_of(event)
    gathered, relations = read(event, voice)
    drafts = memories(event, voice, gathered)
    mentions = gathered.mentions()
    return Extraction(mentions, gathered.settled(relations), tuple(_about(draft, mentions) for draft in drafts))


def _about(draft: MemoryDraft, mentions: tuple[Mention, ...]) -> MemoryDraft:
    """*draft* with the entities that its text names."""
    named = [mention.ref for mention in mentions if mention.name in draft.text]
    return draft._replace(about=tuple(sorted({*draft.about, *named}))[:MOST_ABOUT]) if named else draft
