"""Secrets are masked in packs by default, before storage on request, or not at all; budgets hold either way."""

import json
import random
import re

import pytest

import hmxgraph
from hmxgraph.errors import UnknownChoice
from hmxgraph.text.terms import counter
from tests.unit.ingest.making import document

KEY = "ghp_" + "a1B2c3D4e5" * 4
PASSWORD = "hunter2-and-more"
TEXTS = (
    f"The deploy key of staging is {KEY} for now.",
    f"Log in to staging with password={PASSWORD} today.",
    f"Again: staging needs password={PASSWORD} to deploy.",
)


@pytest.fixture
def opened(address, tenant_id):
    """Opens graphs of one tenant with a given masking mode."""

    def connect(**how):
        login = {"user": address.user, "password": address.password}
        return hmxgraph.connect(address.uri, tenant_id=tenant_id, **login, **how)

    return connect


def ingest_texts(graph, tenant_id):
    """Ingest the texts."""
    return graph.ingest(
        [
            document(tenant_id=tenant_id, event_id=f"e{n}", sequence=n, content={"role": "user", "text": text})
            for n, text in enumerate(TEXTS)
        ]
    )


def test_packs_mask_secrets_by_default(opened, tenant_id):
    """Packs and explanations mask secrets alike, within the budget; storage is unchanged, and "off" shows them."""
    with opened() as graph:
        ingest_texts(graph, tenant_id)
        for budget in (40, 60, 90, 2048):
            pack = graph.pack("How do I log in to staging?", budget=budget)
            assert counter()(pack.text) <= budget
            for secret in (KEY, PASSWORD):
                assert secret not in pack.to_json()
                assert secret not in pack.text
        assert len(re.findall(r"\[password(?: \w{4})?\]", pack.text)) == 2
        explanation = graph.explain("e1")
        (mark,) = re.findall(r"\[password \w{4}\]", explanation.text)
        assert PASSWORD not in json.dumps(explanation.document())
        assert graph.masked({"password": PASSWORD})["password"] == mark
        stored = graph.query("explore/session_story", session_id="s1").rows
        assert PASSWORD in str([dict(row) for row in stored])
    with opened(mask_secrets="off") as graph:
        assert PASSWORD in graph.pack("How do I log in to staging?").text
        assert PASSWORD in graph.explain("e1").text
        assert graph.masked(TEXTS[1]) == TEXTS[1]


def test_explanations_mask_all_that_rests_on_a_secret(opened, tenant_id):
    """The secret of a fact is masked in the explanations of the fact and of its event."""
    fact = f"The staging password is {PASSWORD}."
    with opened() as graph:
        memory = graph.remember(fact)
        (event,) = graph.explain(memory.memory_id).events
        for name in (memory.memory_id, event.event_id):
            document = json.dumps(graph.explain(name).document())
            assert PASSWORD not in document
            assert "[password " in document


def test_nothing_of_a_secret_is_stored_where_ingest_masks(opened, tenant_id):
    """Masking at ingest keeps secrets out of all stored texts, whether ingested, appended or recorded."""
    with opened(mask_secrets="ingest") as graph:
        assert ingest_texts(graph, tenant_id).accepted == 3
        graph.append(
            "tool_call",
            {"tool_name": "login", "arguments": {"line": f"--password {PASSWORD}", "password": PASSWORD}},
            session_id="l",
        )
        graph.record([{"role": "user", "content": f"my key: {KEY}"}], session_id="r")
        columns = graph._connection._driver.execute_query(
            "MATCH (n {tenant_id: $tenant_id}) RETURN collect(toString(properties(n).content)) AS content, "
            "collect(n.text) AS texts, collect(n.search_text) AS words",
            tenant_id=tenant_id,
        ).records[0]
        stored = [part for parts in columns.values() for part in parts if part]
        assert not [part for part in stored if KEY in part or PASSWORD in part]
        marks = [re.search(r"\[password \w{4}\]", graph.explain(name).text)[0] for name in ("e1", "e2")]
        assert marks[0] == marks[1]


def test_a_way_of_masking_is_named(opened):
    """An unknown masking mode is refused, listing the choices."""
    with pytest.raises(UnknownChoice, match="packs"):
        opened(mask_secrets="everything")


def test_budgets_hold_however_many_secrets_there_are(opened, tenant_id):
    """Packs stay within budget although a mark may be longer than the secret it hides."""
    chance = random.Random(5)
    lines = [" ".join(f"pwd=a{chance.randrange(10)}b" for _ in range(30)) for _ in range(20)]
    with opened() as graph:
        graph.ingest(
            [
                document(
                    tenant_id=tenant_id,
                    event_id=f"e{n}",
                    sequence=n,
                    content={"role": "user", "text": f"staging {line}"},
                )
                for n, line in enumerate(lines)
            ]
        )
        for budget in (50, 200, 700):
            assert counter()(graph.pack("staging", budget=budget).text) <= budget


def test_the_environment_and_the_command_line_say_how(run, opened, tenant_id, address, monkeypatch):
    """The command-line option overrides the environment variable, which is the default everywhere else."""
    with opened() as graph:
        ingest_texts(graph, tenant_id)
    for name, value in (("URI", address.uri), ("USER", address.user), ("PASSWORD", address.password)):
        monkeypatch.setenv(f"HMXGRAPH_{name}", value)
    ask = ("pack", "How do I log in to staging?", "--tenant", tenant_id)
    assert PASSWORD not in run(*ask)[1]
    assert PASSWORD in run(*ask, "--mask-secrets", "off")[1]
    monkeypatch.setenv("HMXGRAPH_MASK_SECRETS", "off")
    assert PASSWORD in run(*ask)[1]
    assert PASSWORD not in run(*ask, "--mask-secrets", "packs")[1]
    with opened() as graph:
        assert PASSWORD in graph.pack("How do I log in to staging?").text
    code, _, said = run(*ask, "--mask-secrets", "everything")
    assert (code, "packs, ingest, off" in said) == (2, True)
