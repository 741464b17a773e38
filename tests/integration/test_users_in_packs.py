"""Packs in a tenant of several users say whose words they show."""

from functools import partial

import pytest

from hmxgraph.graph.plan import write
from hmxgraph.graph.schema import packaged_schema, send_all
from tests.integration.ingested import Ingested

MOVED = "my address changed, I live at Kanaalweg 12 in Utrecht now"


@pytest.fixture
def stored(connection, tenant_id):
    """Direct access to what the graph holds for the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def clinic(graph):
    """A graph with messages of two users, and one of nobody."""

    def say(text, session, user=None, role="user"):
        named = {"user_id": user} if user else {}
        graph.append("message", {"role": role, "text": text}, session_id=session, at="2026-10-13T09:00:00Z", **named)

    say(MOVED, "a", "piet")
    say("Your address is updated: Kanaalweg 12.", "a", role="assistant")
    say("hello, is the branch in Utrecht open?", "b", "omar")
    say("The branch in Utrecht is open, you live near it.", "c")
    return graph


def test_another_users_address_is_not_the_askers(clinic):
    """A user who never said where they live gets nobody else's address as their own; whoever did gets it."""
    assert MOVED not in clinic.pack("Where do I live?", user_id="omar").text
    assert f"user: {MOVED}" in clinic.pack("Where do I live?", user_id="piet").text
    assert f"user piet: {MOVED}" in clinic.pack("Where does Piet live?", user_id="omar").text
    assert "assistant to piet: " in clinic.pack("Which address was updated?", user_id="omar").text
    assert clinic.verify().ok


def test_messages_of_an_older_release_name_their_users_after_the_upgrade(clinic, connection, stored):
    """The upgrade adds the user to the rows of messages that name one, once."""
    asked = partial(clinic.pack, "Where does Piet live?", user_id="omar")
    before = asked().text
    stored.rows(
        "MATCH (n:Event {tenant_id: $tenant_id}) WHERE n.recall_row IS NOT NULL "
        "SET n.recall_row = split(n.recall_row, ',null')[0] + ',null]'"
    )
    assert f"user: {MOVED}" in asked().text
    [upgrade] = [step for step in packaged_schema().upgrades if step.version == 29]
    for _ in range(2):
        connection.perform(write(partial(send_all, upgrade.statements)))
    assert asked().text == before
    assert clinic.verify().ok
