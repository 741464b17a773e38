"""The graph does not depend on the order in which events arrive."""

import itertools
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hmxgraph
from tests.integration.ingested import Ingested
from tests.unit.ingest.making import document

IDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=3)


@st.composite
def arrivals(draw):
    """Events of two sessions with ties, repeats and acyclic links, in any order and split into any batches."""
    names = draw(st.lists(IDS, min_size=2, max_size=14, unique=True))
    events = [
        document(
            event_id=name,
            session_id=draw(st.sampled_from(["s1", "s2"])),
            sequence=draw(st.integers(0, 6)),
            timestamp=f"2026-03-14T03:00:0{draw(st.integers(0, 2))}Z",
            parent_event_id=draw(st.sampled_from([*names[:place], "missing"])),
        )
        for place, name in enumerate(names)
    ]
    repeats = draw(st.lists(st.sampled_from(events), max_size=5))
    order = draw(st.permutations(events + repeats))
    cuts = sorted(draw(st.sets(st.integers(0, len(order)), max_size=5)) | {0, len(order)})
    return events, [order[a:b] for a, b in itertools.pairwise(cuts)]


def links(events):
    """The expected links between the events."""
    links = [("CAUSED_BY", e["event_id"], e["parent_event_id"]) for e in events]
    stored = {e["event_id"] for e in events}
    links = [link for link in links if link[2] in stored]
    for session in ("s1", "s2"):
        own = sorted(
            (e for e in events if e["session_id"] == session),
            key=lambda e: (e["sequence"], e["timestamp"], e["event_id"]),
        )
        links += [("NEXT", a["event_id"], b["event_id"]) for a, b in itertools.pairwise(own)]
    return sorted(links)


def check(address, connection, case):
    """Ingest the batches one by one into a fresh tenant and compare the links."""
    events, batches = case
    tenant_id = f"order-{uuid.uuid4()}"
    with hmxgraph.connect(address.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph:
        accepted = sum(graph.ingest(batch, rehome=True).accepted for batch in batches)
    assert accepted == len(events)
    assert Ingested(connection, tenant_id).links() == links(events)


@pytest.fixture(scope="module")
def connection(address):
    """One connection for all examples."""
    from hmxgraph.graph.connection import Connection  # noqa: PLC0415 - only with a server

    opened = Connection(address)
    yield opened
    opened.close()


@settings(max_examples=25)
@given(case=arrivals())
def test_chain_and_links_do_not_depend_on_arrival(address, connection, case):
    """Shuffled, repeated and split into batches, events get the chains and links of their sorted order."""
    check(address, connection, case)


@pytest.mark.fuzz
@given(case=arrivals())
def test_chain_and_links_long(address, connection, case):
    """The same with more examples."""
    check(address, connection, case)
