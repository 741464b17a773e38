"""Driver errors become ours here and nowhere else."""

from neo4j.exceptions import (
    ClientError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ResultFailedError,
    ServiceUnavailable,
    SessionExpired,
)

from hmxgraph.errors import (
    AccessDenied,
    DatabaseMissing,
    GraphError,
    NotPermitted,
    StatementRefused,
    StorageStopped,
    StorageUnavailable,
)

_LOST_RACES = frozenset(
    (
        "Neo.ClientError.Schema.ConstraintValidationFailed",
        # IF NOT EXISTS does not see an index that another client is making at that moment.
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
        "Neo.ClientError.Schema.ConstraintWithNameAlreadyExists",
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.IndexWithNameAlreadyExists",
    )
)
_NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"
_STOPPED = (
    "Neo.DatabaseError.Transaction.TransactionLogError",
    "Neo.DatabaseError.Transaction.TransactionStartFailed",
    "Neo.DatabaseError.Transaction.TransactionCommitFailed",
)
_SECURITY = "Neo.ClientError.Security."
_NOT_PERMITTED = (
    "Neo.ClientError.Security.Forbidden",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
)


def translated(error: Neo4jError | DriverError, uri: str, statement: str) -> GraphError:
    """The error of ours that says what *error* means: no answer, no access, or a refused statement."""
    error = origin(error)
    reason = _reason(error)
    if isinstance(error, ServiceUnavailable | SessionExpired | ConfigurationError | DriverError):
        return StorageUnavailable(uri, reason)
    code = error.code or "unknown"
    if code == _NO_DATABASE:
        return DatabaseMissing(uri, reason)
    if code in _STOPPED:
        return StorageStopped(uri, reason)
    if code in _NOT_PERMITTED:
        return NotPermitted(uri, reason)
    if code.startswith(_SECURITY):
        return AccessDenied(uri, reason)
    return StatementRefused(statement or "(none)", code, reason)


def origin(error: Neo4jError | DriverError) -> Neo4jError | DriverError:
    """The server's own error, where the driver in rolling back only says that a result had failed."""
    cause = error.__cause__
    return cause if isinstance(error, ResultFailedError) and isinstance(cause, Neo4jError | DriverError) else error


def worth_repeating(error: Neo4jError | DriverError) -> bool:
    """Whether doing it again helps: two clients made the same key or index at once, or the error passes."""
    known = origin(error)
    return lost_race(known) or (known is not error and known.is_retryable())


def lost_race(error: Exception) -> bool:
    """Whether two clients created the same key or index at once, so that doing it again will find it there."""
    return isinstance(error, ClientError) and error.code in _LOST_RACES


def _reason(error: Exception) -> str:
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]
