"""Every error has a stable code."""

import pytest

from hmxgraph import errors
from hmxgraph.errors import CODES, HmxGraphError

# What programs rely on: a changed code is a breaking change.
STABLE = {
    "HmxGraphError": "internal",
    "NotFound": "not_found",
    "InvalidTime": "invalid",
    "InvalidTenant": "invalid",
    "PackError": "invalid",
    "BudgetTooSmall": "invalid",
    "UnknownChoice": "invalid",
    "InvalidRequest": "invalid",
    "TaskError": "invalid",
    "ParentLoop": "conflict",
    "DocumentError": "invalid",
    "MalformedJson": "invalid",
    "NotCanonical": "invalid",
    "InvalidDocument": "invalid",
    "IngestRefused": "invalid",
    "NotWritten": "invalid",
    "BackupRefused": "invalid",
    "EmbedderError": "unavailable",
    "InvalidVectors": "invalid",
    "EngineError": "unavailable",
    "JavaMissing": "unavailable",
    "JarsUnavailable": "unavailable",
    "JarDamaged": "unavailable",
    "NotEnoughMemory": "unavailable",
    "PortTaken": "unavailable",
    "PasswordLost": "unavailable",
    "ServerDied": "unavailable",
    "ServerUnresponsive": "unavailable",
    "StoreDamaged": "unavailable",
    "FingerprintError": "invalid",
    "FingerprintRefused": "invalid",
    "HashMismatch": "invalid",
    "SignatureMismatch": "denied",
    "UnsupportedVersion": "unsupported",
    "KeyRefused": "denied",
    "GraphError": "internal",
    "StorageUnavailable": "unavailable",
    "DeadlineExceeded": "unavailable",
    "LocalServerDied": "unavailable",
    "InvalidAddress": "invalid",
    "DatabaseMissing": "unavailable",
    "StorageStopped": "unavailable",
    "GraphNotOpen": "unavailable",
    "AccessDenied": "denied",
    "NotPermitted": "denied",
    "StatementRefused": "internal",
    "StatementMisuse": "invalid",
    "NewerStore": "unsupported",
    "OlderStore": "unsupported",
    "IsolationUnsupported": "unsupported",
    "LifecycleError": "conflict",
    "InvalidTransition": "conflict",
    "SupersessionCycle": "conflict",
    "AlreadySuperseded": "conflict",
    "SuccessorMismatch": "conflict",
    "SuccessorNeeded": "conflict",
    "ImmutableArtifact": "conflict",
    "DuplicateArtifact": "conflict",
    "ConflictClosed": "conflict",
}


def tree(root: type[HmxGraphError]) -> dict[str, type[HmxGraphError]]:
    """The class and all its descendants within the package, by name."""
    below = {name: error for child in root.__subclasses__() for name, error in tree(child).items()}
    return {root.__name__: root} | {name: error for name, error in below.items() if error.__module__ == errors.__name__}


def test_codes_are_stable():
    """A walk through the whole tree finds exactly the codes that are promised."""
    assert {name: error.code for name, error in tree(HmxGraphError).items()} == STABLE
    assert set(STABLE.values()) == set(CODES)


@pytest.mark.parametrize("name", sorted(STABLE))
def test_instances_keep_the_code_of_their_class(name):
    """No field of an error hides the code of its class."""
    error = tree(HmxGraphError)[name]
    made = error(*("x",) * (error.__init__.__code__.co_argcount - 1)) if "__init__" in vars(error) else error("x", "y")
    assert made.code == STABLE[name]


@pytest.mark.parametrize(
    "kind",
    [errors.StorageUnavailable, *sorted(errors.StorageUnavailable.__subclasses__(), key=lambda kind: kind.__name__)],
)
def test_the_way_out_of_an_unavailable_database_ends_the_message(kind):
    """Whoever reads only the way out gets the one of the message."""
    error = kind("bolt://db:7687", "no answer")
    assert str(error).endswith(error.way_out)
