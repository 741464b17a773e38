"""Translation of driver errors, for server states that no test can produce on a shared server."""

import re

import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from hmxgraph.errors import (
    AccessDenied,
    DatabaseMissing,
    NotPermitted,
    StatementRefused,
    StorageStopped,
    StorageUnavailable,
)
from hmxgraph.graph.connection import Attempts, translated, worth_repeating
from hmxgraph.graph.deadlines import Patience

URI = "bolt://db:7687"


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        ("Security.Unauthorized", AccessDenied, "HMXGRAPH_PASSWORD"),
        ("Security.AuthenticationRateLimit", AccessDenied, "HMXGRAPH_PASSWORD"),
        ("Security.CredentialsExpired", AccessDenied, "must be changed"),
        ("Security.Forbidden", NotPermitted, "a user who may read, write"),
        ("General.WriteOnReadOnlyAccessDatabase", NotPermitted, "not read-only"),
        ("General.ForbiddenOnReadOnlyDatabase", NotPermitted, "not read-only"),
        ("Database.DatabaseNotFound", DatabaseMissing, "HMXGRAPH_DATABASE"),
        ("Statement.SyntaxError", StatementRefused, "cypher/events/record.cypher"),
    ],
)
def test_each_refusal_has_its_error(code, kind, advice):
    """Each refusal is translated to an error that states the way out and the server's own reason."""
    refused = Neo4jError._hydrate_neo4j(code=f"Neo.ClientError.{code}", message="it must be changed")
    error = translated(refused, URI, "events/record")
    assert type(error) is kind
    assert "it must be changed" in str(error)
    assert advice in str(error)
    assert (URI in str(error)) is (kind is not StatementRefused)


@pytest.mark.parametrize("code", ["TransactionLogError", "TransactionStartFailed", "TransactionCommitFailed"])
def test_a_database_that_can_no_longer_write_names_the_way_out(code):
    """A server that ran out of disk is distinguished from a refused statement: free space, then restart it."""
    refused = Neo4jError._hydrate_neo4j(code=f"Neo.DatabaseError.Transaction.{code}", message="needs to be restarted")
    error = translated(refused, URI, "events/record")
    assert type(error) is StorageStopped
    assert re.search(rf"{URI}.*needs to be restarted.*free some disk space.*server stop", str(error))


@pytest.mark.parametrize(("committing", "outcome"), [(True, "unknown"), (False, "not stored")])
def test_a_commit_that_could_not_be_written_is_unknown(committing, outcome):
    """The outcome is unknown: the restarted server may recover the commit from the transaction log."""
    refused = Neo4jError._hydrate_neo4j(code="Neo.DatabaseError.Transaction.TransactionCommitFailed", message="full")
    attempts = Attempts(Patience("write", None), URI, ())
    attempts.patience.committing = committing
    with pytest.raises(StorageStopped) as failed:
        attempts.pause(refused)
    assert failed.value.outcome == outcome


@pytest.mark.parametrize("code", ["LockClientStopped", "Terminated"])
def test_a_transaction_that_the_server_ended_is_no_refused_statement(code):
    """A stopping server terminates open transactions: nothing is stored, and the call can be repeated."""
    refused = Neo4jError._hydrate_neo4j(code=f"Neo.TransientError.Transaction.{code}", message="it was terminated")
    error = Attempts(Patience("write", None), URI, ()).error(refused)
    assert (type(error), error.outcome) == (StorageUnavailable, "not stored")


@pytest.mark.parametrize(
    ("code", "again"),
    [
        ("Schema.ConstraintValidationFailed", True),
        ("Schema.ConstraintAlreadyExists", True),
        ("Schema.ConstraintWithNameAlreadyExists", True),
        ("Schema.EquivalentSchemaRuleAlreadyExists", True),
        ("Schema.IndexAlreadyExists", True),
        ("Schema.IndexWithNameAlreadyExists", True),
        ("Schema.IndexNotFound", False),
        ("Statement.SyntaxError", False),
    ],
)
def test_what_another_client_made_at_the_same_time_is_asked_for_again(code, again):
    """If two clients create the same key, constraint or index at once, the second retries and finds it."""
    refused = Neo4jError._hydrate_neo4j(code=f"Neo.ClientError.{code}", message="it is there already")
    assert worth_repeating(refused) is again


def test_what_the_system_said_is_named():
    """An unreachable address is named once, with the reason of the operating system."""
    unreachable = ServiceUnavailable("Couldn't connect to localhost:1 (resolved to ('127.0.0.1:1',)):\nfailed")
    unreachable.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert translated(unreachable, URI, "events/record").reason == "Couldn't connect to localhost:1: Connection refused"
