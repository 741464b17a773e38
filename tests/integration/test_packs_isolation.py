"""No question can bring another tenant's text into a pack."""

import random

import pytest

import hmxgraph
from tests.session_makers import Script, deployment

SECRET = "zanzibar"
WORDS = ("staging", "deploy", "kubectl", "the", "user", "namespace", "rollout", "ann", "example", "com", "tool")


@pytest.fixture
def pair(graph, address):
    """A tenant, and another one with the same subjects and a secret in each of its texts."""
    with hmxgraph.connect(
        address.uri, user=address.user, password=address.password, tenant_id=f"{graph.tenant_id}-secret"
    ) as other:
        graph.ingest([*deployment("s1", tenant=graph.tenant_id), *deployment("s2", tenant=graph.tenant_id)])
        script = Script("s1", tenant=other.tenant_id)
        for number in range(30):
            script.user(f"{SECRET} deploy staging with kubectl, namespace {number}")
            script.call(f"{SECRET}_tool", {"rollout": f"{SECRET} staging"}, namespace="staging")
        other.ingest(script.events)
        other.remember(f"Always tell {SECRET} before you deploy staging", kind="policy")
        other.compile()
        graph.compile()
        yield graph, other


def probe(chance, other):
    """A random question and options crafted to reach beyond the tenant."""
    scope, name = other._tenancy.scope, other.tenant_id
    pieces = (
        *WORDS,
        SECRET,
        name,
        scope,
        f'+scope:"{scope}"',
        f"scope:{scope}",
        f'" scope:"{scope}',
        f'\\" OR scope:"{scope}" OR "',
        f"tenant_id:{name}",
        "*",
        ") OR (*:*",
        "yesterday",
        "on 14 March 2026",
        chr(chance.randrange(0x20, 0xD7FF)),
        "'}) MATCH (n) RETURN n //",
    )
    query = " ".join(chance.choice(pieces) for _ in range(chance.randrange(1, 8)))
    options = {"budget": chance.choice((40, 300, 3000)), "strategy": chance.choice(("ranked", "recency_biased"))}
    if chance.random() < 0.3:
        options["session_id"] = chance.choice(("s1", f"{SECRET}", name, "\0", ""))
    if chance.random() < 0.1:
        options["agent_id"] = name
    return query, options


def leaks(graph, other, probes, seed):
    """The probes whose packs contained text of the other tenant outside the quoted question."""
    chance, leaking = random.Random(seed), []
    for _ in range(probes):
        query, options = probe(chance, other)
        pack = graph.pack(query, **options)
        texts = [entry.content for entry in pack.entries] + [entry.source_id for entry in pack.entries]
        texts += [drop.source_id for drop in pack.dropped_entries] + [str(pack.workflow_hints), str(pack.metadata)]
        texts += [str(pack.decision_constraints), pack.text]
        if any(SECRET in text or other.tenant_id in text for text in texts):
            leaking.append((query, options))
    return leaking


def test_no_text_of_another_tenant_is_packed(pair):
    """Random probes made of the other tenant's words, names, scope token and search syntax leak nothing."""
    graph, other = pair
    assert SECRET in other.pack("deploy staging").text
    assert leaks(graph, other, 150, seed=1) == []


@pytest.mark.fuzz
def test_no_text_of_another_tenant_is_packed_in_a_long_run(pair):
    """A hundred thousand random probes leak nothing."""
    assert leaks(*pair, 100_000, seed=2) == []


PLACES = ("staging", "production", "canary", "sandbox", "edge", "archive")
DEEDS = ("deploy", "restart", "scale", "drain", "migrate", "inspect", "backup", "restore")
THINGS = ("cart", "search", "billing", "ledger", "gateway", "mailer", "queue")


def talk(tenant, chance, number, *, rare=""):
    """Return one session of a tenant: a random choice of the same words, in texts of very different lengths."""
    script = Script(f"s{number}", tenant=tenant)
    for turn in range(8):
        words = [chance.choice(part) for part in (DEEDS, PLACES, THINGS, DEEDS, PLACES)]
        filler = " ".join(chance.choice(THINGS) for _ in range(chance.choice((0, 2, 40))))
        script.user(f"{' '.join(words)} {filler} number{turn} {rare}")
    return script.events


def questions(chance):
    """Return 200 questions, most of which match more than a pack considers."""
    for _ in range(200):
        kinds = chance.sample((DEEDS, PLACES, THINGS), chance.choice((1, 2, 3)))
        yield " ".join(["How did we", *(chance.choice(kind) for kind in kinds), f"number{chance.randrange(9)}?"])


@pytest.mark.slow
def test_other_tenants_have_no_say(graph, address):
    """Data stored by twenty other tenants changes no byte of 200 packs, even where the search was truncated.

    Full-text search scores hits by word frequencies and text lengths across all tenants.
    """
    chance = random.Random(31)
    for number in range(60):
        graph.ingest(talk(graph.tenant_id, chance, number))
    deeds = [(deed, place, subject) for deed in DEEDS for place in PLACES for subject in THINGS[:3]]
    graph.remember_all([{"text": f"To {d} {t} in {p} takes a ticket", "kind": "fact"} for d, p, t in deeds])
    asked = list(questions(chance))
    before = [graph.pack(question).metadata for question in asked]
    assert sum(metadata["pool"]["truncated"] for metadata in before) > 100
    for other in range(20):
        with hmxgraph.connect(
            address.uri, user=address.user, password=address.password, tenant_id=f"{graph.tenant_id}-{other}"
        ) as beside:
            rare = " ".join((PLACES * 9)[other : other + 9])
            beside.ingest([event for n in range(8) for event in talk(beside.tenant_id, chance, n, rare=rare)])
            beside.remember_all([{"text": f"{DEEDS[other % 8]} {word}", "kind": "fact"} for word in PLACES])
    after = [graph.pack(question).metadata for question in asked]
    # The hash covers everything except the assembly time.
    hashes = ([metadata["pack_hash"] for metadata in packs] for packs in (before, after))
    assert [
        question for question, hash_before, hash_after in zip(asked, *hashes, strict=True) if hash_before != hash_after
    ] == []
