"""Whose memory: 200 packs for other readers contain no preference, fact or rule of a user."""

from collections import Counter

import pytest

import hmxgraph
from tests.unit.ingest.making import document

pytestmark = pytest.mark.bench
PACKS = 200
HELD = ("core", "constraints", "procedures", "facts", "goals")
# One drink for each of ten named and ten unnamed users, who say all four sentences about it.
THINGS = ("tea", "coffee", "cocoa", "cider", "lemonade", "mate", "kombucha", "water", "milk", "juice")
SAYINGS = ("I prefer {}.", "I'm allergic to {}.", "Always offer me {} first.", "My favourite drink is {}.")


def said(tenant_id, number, drink, *, named):
    """The four sentences of one user, in one session."""
    user = f"user_{number}" if named else ""
    for place, saying in enumerate(SAYINGS):
        yield document(
            tenant_id=tenant_id,
            event_id=f"{drink}-{named}-{place}",
            session_id=f"{drink}-{named}",
            sequence=place,
            timestamp=f"2026-03-{1 + number:02}T03:00:0{place}Z",
            content={"role": "user", "text": saying.format(f"{drink} {'hot' if named else 'cold'}")},
            source="user",
            metadata={"user_id": user} if named else {},
        )


def readers(number, drink):
    """The readers of packs: a named user, the session of an unnamed one, and nobody in particular."""
    yield "own", {"user_id": f"user_{number}"}, f"{drink} hot"
    yield "own", {"session_id": f"{drink}-False"}, f"{drink} cold"
    yield "nobody", {}, ""


def test_packs_for_other_users(graph: hmxgraph.KnowledgeGraph):
    """In 200 packs about other users' drinks no reader sees anyone else's statements."""
    events = [
        event
        for number, drink in enumerate(THINGS)
        for named in (True, False)
        for event in said(graph.tenant_id, number, drink, named=named)
    ]
    assert graph.ingest(events).accepted == len(events)
    readings = [
        (topic, *reader) for topic in THINGS for at, drink in enumerate(THINGS) for reader in readers(at, drink)
    ]
    own, foreign = Counter[str](), Counter[str]()
    for topic, kind, reader, mine in readings[:PACKS]:
        pack = graph.pack(f"What should I offer to drink, {topic}?", budget=1024, sections=HELD, **reader)
        texts = [entry.content for entry in pack.entries if any(word in entry.content for word in THINGS)]
        own[kind] += any(bool(mine) and mine in text for text in texts)
        foreign[kind] += sum(not mine or mine not in text for text in texts)
    print(f"\n{PACKS} packs: {foreign.total()} entries of other users, {own['own']} packs with the reader's own")
    assert foreign.total() == 0
    assert own["own"] > 0
