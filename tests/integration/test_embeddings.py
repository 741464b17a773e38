"""Optional embeddings: packs find other words for the same thing, and tenants stay separate."""

import asyncio
import json
import warnings
from contextlib import ExitStack

import pytest

import hmxgraph
from hmxgraph.errors import EmbedderError, InvalidRequest, InvalidVectors
from hmxgraph.graph import packs
from tests.embedders import async_embedder, embedder, wider
from tests.integration.ingested import Ingested, statements

CELLO = "My daughter Mia plays the cello"
DISK = "The build box ran out of disk space after the nightly job"
QUESTION = "Which musical instrument does my kid practise?"


@pytest.fixture
def connected(address):
    """Opens graphs of tenants on the test server."""
    with ExitStack() as closing:

        def connect(tenant_id, embed=None, **more):
            where = {"user": address.user, "password": address.password, "database": address.database}
            return closing.enter_context(
                hmxgraph.connect(address.uri, tenant_id=tenant_id, embed=embed, **where, **more)
            )

        yield connect


@pytest.fixture
def vectors(connection, tenant_id):
    """Returns the ids of the tenant's events that have a vector."""
    stored = Ingested(connection, tenant_id)
    return lambda: {
        row["id"]
        for row in stored.rows(
            "MATCH (e:Event {tenant_id: $t}) WHERE e.vector IS NOT NULL RETURN e.event_id AS id", t=tenant_id
        )
    }


def say(graph, *texts, session_id="s"):
    """Record *texts* as user messages."""
    return graph.record([{"role": "user", "content": text} for text in texts], session_id=session_id)


def body(pack):
    """A pack as JSON, without its id, hash, state version and duration."""
    document = pack.document()
    document["assembly_metadata"]["assembly_duration_ms"] = document["pack_id"] = None
    document["metadata"] |= {"state_version": None, "pack_hash": None}
    return json.dumps(document, sort_keys=True)


def test_other_words_find_what_means_the_same(connected, tenant_id):
    """With an embedder, a question finds a memory and an event with which it shares no word."""
    graph = connected(tenant_id, embedder)
    graph.remember(CELLO)
    graph.remember("The staging cluster runs in Frankfurt")
    say(graph, DISK)
    assert CELLO in graph.pack(QUESTION).text
    assert "Frankfurt" not in graph.pack(QUESTION).text
    assert DISK in graph.pack("no storage left on the machine").text
    plain = connected(tenant_id)
    assert CELLO not in plain.pack(QUESTION).text
    assert DISK not in plain.pack("no storage left on the machine").text


def test_a_question_about_nothing_stored_finds_nothing(connected, tenant_id):
    """A question unrelated to anything stored finds nothing, although some vector is always the nearest."""
    graph = connected(tenant_id, embedder)
    graph.remember(CELLO)
    say(graph, DISK, "The pipeline is green")
    assert graph.pack("Who won the football world cup in 1990?").entries == ()


def test_without_an_embedder_nothing_changes(connected, tenant_id):
    """Without an embedder, statements and packs are the same whether or not the tenant has vectors."""
    graph = connected(tenant_id)
    say(graph, DISK, CELLO, "I use Biome for linting")
    before, sent = statements(graph, lambda: graph.pack("What do I use for linting on the box?"))
    assert sent == ["recall/events", "recall/knowledge", "recall/surroundings"]
    _, writes = statements(graph, lambda: graph.remember("Tabs are four spaces wide"))
    assert not [name for name in writes if name.startswith("embeddings/")]
    reference = graph.pack("What do I use for linting on the box?")
    assert connected(tenant_id, embedder).embed() == 4
    after, sent_after = statements(graph, lambda: graph.pack("What do I use for linting on the box?"))
    assert sent_after == sent
    assert "Biome" in before.text
    assert body(after) == body(reference)


def test_packs_with_an_embedder_are_deterministic(connected, tenant_id):
    """The same question on the same state gives the same bytes, also over another connection."""
    graph = connected(tenant_id, embedder)
    say(graph, DISK, CELLO, *(f"Note {number} about the machine" for number in range(30)))
    texts = {body(connected(tenant_id, embedder).pack(QUESTION)) for _ in range(3)} | {body(graph.pack(QUESTION))}
    assert len(texts) == 1


@pytest.mark.parametrize("few", [1_000, 0])
def test_vectors_of_other_tenants_are_not_seen(connected, tenant_id, monkeypatch, few):
    """Vectors of other tenants are never found, by full comparison or through the shared index."""
    monkeypatch.setattr(packs, "_FEW_VECTORS", few)
    own, other = connected(tenant_id, embedder), connected(f"{tenant_id}-other", embedder)
    say(own, "Mia sold her violin")
    say(other, "Ann bought a violin")
    assert "Mia sold" in own.pack(QUESTION).text
    assert "Ann bought" not in own.pack(QUESTION).text
    assert "Ann bought" in other.pack(QUESTION).text


def test_memories_of_other_users_and_scopes_stay_out(connected, tenant_id):
    """Search by meaning respects users and scopes."""
    graph = connected(tenant_id, embedder)
    graph.remember("Plays the cello every evening", user_id="ann")
    graph.remember("The orchestra tunes to 442 Hz", scope="concerts")
    assert "cello" not in graph.pack(QUESTION, user_id="bob").text
    assert "cello" in graph.pack(QUESTION, user_id="ann").text
    assert "442" not in graph.pack(QUESTION, scope="kitchen").text
    assert "442" in graph.pack(QUESTION, scope="concerts").text


def test_packs_of_the_past_know_no_later_events(connected, tenant_id):
    """A pack as of an earlier time does not find later events by meaning."""
    graph = connected(tenant_id, embedder)
    graph.append("message", {"role": "user", "text": "Hello"}, session_id="s", at="2026-01-01T00:00:00Z")
    graph.append("message", {"role": "user", "text": CELLO}, session_id="s", at="2026-01-02T00:00:00Z")
    assert CELLO in graph.pack(QUESTION).text
    assert CELLO not in graph.pack(QUESTION, as_of="2026-01-01T12:00:00Z").text


def test_what_was_stored_before_gets_vectors_once(connected, tenant_id, vectors):
    """``embed`` embeds only texts without a vector, or all texts with ``replace=True``."""
    asked = []

    def counting(texts):
        asked.extend(texts)
        return embedder(texts)

    say(connected(tenant_id), DISK, CELLO)
    connected(tenant_id).remember("Tabs are four spaces wide")
    graph = connected(tenant_id, counting)
    assert (graph.embed(), graph.embed(), len(vectors())) == (3, 0, 3)
    say(graph, "One more", session_id="t")
    assert [text for text in asked if "One more" in text] == ["user: One more"]
    assert len(asked) == 4
    assert graph.embed(replace=True) == 4
    assert len(asked) == 8


def test_many_events_are_embedded_page_by_page(connected, tenant_id, vectors):
    """``embed`` covers more sessions, and longer sessions, than fit on one page."""
    plain = connected(tenant_id)
    for session in range(60):
        say(plain, f"Hello number {session}", session_id=f"s{session}")
    say(plain, *(f"Line {number}" for number in range(700)), session_id="long")
    assert connected(tenant_id, embedder).embed() == len(vectors()) == 760


def test_a_forgotten_event_has_no_vector(connected, tenant_id, vectors):
    """Erasing an event removes its vector together with its words."""
    graph = connected(tenant_id, embedder)
    first, _ = say(graph, CELLO, DISK).receipts
    assert first.event_id in vectors()
    graph.forget(event_id=first.event_id)
    assert first.event_id not in vectors()
    assert len(vectors()) == 1
    assert "cello" not in graph.pack(QUESTION).text


def test_a_backup_carries_vectors(connected, tenant_id, tmp_path):
    """A backup replayed under another tenant has no vectors until ``embed`` makes them."""
    say(connected(tenant_id, embedder), CELLO, DISK)
    connected(tenant_id).backup(tmp_path / "all.ndjson")
    copy = connected(f"{tenant_id}-copy", embedder)
    copy.restore(tmp_path / "all.ndjson")
    assert copy.embed() == 2
    assert CELLO in copy.pack(QUESTION).text


@pytest.mark.parametrize(
    ("broken", "error", "fault"),
    [
        (lambda texts: embedder(texts)[1:], InvalidVectors, "vectors for"),
        (lambda texts: [[float("nan")]] * len(texts), InvalidVectors, "not finite"),
        (lambda texts: 1 // len(texts[:0]), EmbedderError, "ZeroDivisionError"),
        (async_embedder, InvalidVectors, "connect_async"),
    ],
)
def test_an_embedder_that_fails_loses_nothing(connected, tenant_id, vectors, broken, error, fault):
    """If the embedder fails, events are stored with a warning and packs are refused until another embedder works."""
    graph = connected(tenant_id, broken)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(say(graph, CELLO).receipts) == 1
    assert fault in str(caught[0].message)
    event = {"event_id": "e2", "session_id": "s2", "event_type": "message", "timestamp": "2026-01-01T00:00:00Z"}
    fields = {"content": {"role": "user", "text": DISK}, "tenant_id": tenant_id, "hmx_version": "1.0", "sequence": 1}
    report = graph.ingest([event | fields])
    assert fault in report.warnings[0]
    with pytest.raises(error, match=fault):
        graph.pack(QUESTION)
    assert vectors() == set()
    repaired = connected(tenant_id, embedder)
    assert repaired.embed() == report.accepted + 1
    assert CELLO in repaired.pack(QUESTION).text


def test_vectors_of_another_size_are_refused(connected, tenant_id):
    """Vectors of another size are refused; the error names both sizes and a remedy, which works."""
    say(connected(tenant_id, embedder), CELLO)
    graph = connected(tenant_id, wider)
    connected(tenant_id).record([{"role": "user", "content": DISK}], session_id="t")
    with pytest.raises(InvalidVectors, match=r"129 numbers, expected 128.*embed\(replace=True\)"):
        graph.embed()
    assert graph.embed(replace=True) == 2
    assert CELLO in graph.pack(QUESTION).text


def test_an_embedder_sees_no_secrets(connected, tenant_id):
    """Secrets that packs mask are masked for the embedder too, which may be an external service."""
    seen = []

    def watching(texts):
        seen.extend(texts)
        return embedder(texts)

    graph = connected(tenant_id, watching)
    say(graph, "Log in with password=hunter2hunter2")
    graph.pack("Why is password=hunter2hunter2 refused?")
    assert len(seen) > 2
    assert not [text for text in seen if "hunter2" in text]


def test_both_kinds_of_embedders_serve_the_asynchronous_graph(address, tenant_id):
    """The asynchronous graph accepts both a coroutine function and a plain function as embedder."""

    async def asked(embed, session_id):
        where = {"user": address.user, "password": address.password, "database": address.database}
        async with hmxgraph.connect_async(address.uri, tenant_id=tenant_id, embed=embed, **where) as graph:
            await graph.record([{"role": "user", "content": CELLO}], session_id=session_id)
            await graph.ingest([])
            return (await graph.pack(QUESTION)).text, await graph.embed()

    for number, embed in enumerate((async_embedder, embedder)):
        text, missing = asyncio.run(asked(embed, f"s{number}"))
        assert (CELLO in text, missing) == (True, 0)


def test_an_embedder_is_given_by_name(run, tenant_id, connected, monkeypatch):
    """On the command line and in the environment, an embedder is given as ``module:function``."""
    say(connected(tenant_id), CELLO)
    code, out, _ = run("embed", "--embedder", "tests.embedders:embedder", "--json")
    assert (code, json.loads(out)) == (0, {"embedded": 1})
    assert CELLO not in run("pack", QUESTION)[1]
    monkeypatch.setenv("HMXGRAPH_EMBED", "tests.embedders:embedder")
    assert CELLO in run("pack", QUESTION)[1]
    monkeypatch.setenv("HMXGRAPH_EMBED", "tests.embedders:nothing")
    code, _, err = run("pack", QUESTION)
    assert (code, "module:function" in err) == (2, True)


def test_embed_needs_an_embedder(connected, tenant_id):
    """``embed`` without an embedder is a clear error; an embedder that is not callable is refused at once."""
    with pytest.raises(InvalidRequest, match="connect with embed="):
        connected(tenant_id).embed()
    with pytest.raises(InvalidRequest, match="give a callable"):
        connected(tenant_id, embed=3)
