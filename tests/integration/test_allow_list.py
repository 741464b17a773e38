"""Fingerprints by allow list contain only tool names, the compiler's own wording and words from several users."""

import json

import pytest

from tests.session_makers import repaired_deployment

USERS = ("ana", "bo", "cy", "di")


@pytest.fixture
def learned(graph):
    """Four users whose deployments fail and are repaired; only one of them names a customer."""
    for number in range(12):
        user = USERS[number % 4]
        events = repaired_deployment(f"s{number}")
        documents = [event.document() | {"metadata": {"user_id": user}} for event in events]
        if user == "ana":
            documents = json.loads(json.dumps(documents).replace("staging.yaml", "zeppelin-industries.yaml"))
        graph.ingest(documents, rehome=True)
    graph.remember("The zeppelin account is 4711")
    graph.compile()
    return graph


def texts(envelope):
    """The artifact summaries of an envelope, as text."""
    return json.dumps(envelope.fingerprint["artifact_summaries"])


def test_only_what_several_users_said_travels(learned):
    """Words of a single user are left out, shared words and tool names stay, and exports are byte-identical."""
    open_, closed = learned.export_fingerprint(), learned.export_fingerprint(allow_list=True)
    assert "namespace" in texts(closed)
    assert "kubectl" in texts(closed)
    assert "zeppelin" not in closed.to_json()
    assert closed.to_json() == learned.export_fingerprint(allow_list=True).to_json()
    counts = [[len(part) for part in each.fingerprint["artifact_summaries"].values()] for each in (open_, closed)]
    assert counts[0] == counts[1]


def test_a_word_of_one_user_is_not_allowed(graph, run):
    """If all sessions come from one user, none of that user's words are exported, also on the command line."""
    for number in range(4):
        events = repaired_deployment(f"s{number}")
        graph.ingest([event.document() | {"metadata": {"user_id": "ana"}} for event in events], rehome=True)
    graph.compile()
    assert "namespace" in texts(graph.export_fingerprint())
    code, printed, _ = run("fingerprint", "export", "--allow-list", "--tenant", graph.tenant_id)
    assert (code, "namespace" in printed, "[...]" in printed) == (0, False, True)
