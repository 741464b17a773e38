"""Drivers: synchronous connections share one per process and address; an asynchronous one belongs to an event loop."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from neo4j import AsyncDriver, AsyncGraphDatabase, Driver, GraphDatabase
from neo4j.exceptions import ConfigurationError

import hmxgraph
from hmxgraph.errors import InvalidAddress
from hmxgraph.graph.deadlines import limited
from hmxgraph.text.masking import public_address

# The address of a Neo4j and the login.


@dataclass(frozen=True, slots=True)
class Address:
    """A Bolt address with credentials and the database to use."""

    uri: str
    user: str
    password: str
    database: str = "neo4j"

    def __repr__(self) -> str:
        return f"Address(uri={self.uri!r}, user={self.user!r}, database={self.database!r})"


# One driver per process and address, shared by all synchronous connections and closed with the last one.

# Errors are raised; without this handler, a program that configures no logging would also print the driver's messages.
logging.getLogger("neo4j").addHandler(logging.NullHandler())
OPTIONS: dict[str, Any] = {
    "connection_timeout": 5.0,
    # Transactions are retried by the connection, within their deadline.
    "max_transaction_retry_time": 0.0,
    "keep_alive": True,
    "user_agent": f"hmxgraph/{hmxgraph.__version__}",
    # No usage data leaves the machine.
    "telemetry_disabled": True,
    # A new database lacks labels and properties that the statements use: not worth a warning.
    "notifications_disabled_classifications": ["UNRECOGNIZED"],
}
# Bolt only: over HTTP the driver has no managed transactions.
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_lock = threading.Lock()
_shared: dict[Address, tuple[Driver, int]] = {}
_parent_drivers: list[Driver] = []


def acquire(address: Address) -> Driver:
    """The process's driver for *address*; each acquire needs one :func:`release`.

    Raises:
        InvalidAddress: the URI cannot be a Neo4j address.

    """
    check(address.uri)
    with _lock, _invalid_address(address.uri):
        driver, users = _shared.get(address, (None, 0))
        driver = driver or limited(GraphDatabase.driver(address.uri, auth=(address.user, address.password), **OPTIONS))
        _shared[address] = (driver, users + 1)
        return driver


def release(address: Address) -> None:
    """Release the driver; the last release closes it."""
    with _lock:
        driver, users = _shared.pop(address)
        if users > 1:
            _shared[address] = (driver, users - 1)
    if users == 1:
        driver.close()


def is_shared(address: Address) -> bool:
    """Whether several connections use the driver for *address*."""
    with _lock:
        return _shared[address][1] > 1


def _leave_to_parent() -> None:
    """In a forked child, neither use nor close the drivers, but keep them: the parent still uses their sockets."""
    global _lock  # noqa: PLW0603 - a thread that does not exist here may hold it
    _lock = threading.Lock()
    _parent_drivers.extend(driver for driver, _ in _shared.values())
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def open_async(address: Address) -> AsyncDriver:
    """A driver for the running event loop: asynchronous connections cannot be shared between loops.

    Raises:
        InvalidAddress: the URI cannot be a Neo4j address.

    """
    check(address.uri)
    with _invalid_address(address.uri):
        return AsyncGraphDatabase.driver(address.uri, auth=(address.user, address.password), **OPTIONS)


def check(uri: str) -> None:
    """Refuse a URI that cannot be a Neo4j address.

    Raises:
        InvalidAddress: the URI is malformed, its scheme or port is invalid, or it contains a login.

    """
    with _invalid_address(uri):
        if fault := _fault(uri):
            raise InvalidAddress(public_address(uri), fault)


@contextmanager
def _invalid_address(uri: str) -> Iterator[None]:
    """Translate the errors that the driver or Python raises for *uri* into :class:`InvalidAddress`."""
    try:
        yield
    except (ConfigurationError, ValueError) as error:  # such as a bracket that is not closed
        raise InvalidAddress(public_address(uri), str(error)) from error


def _fault(uri: str) -> str | None:
    """A fault of *uri* that the driver would accept, find too late, or report with the password; else None."""
    parts = urlsplit(uri)
    if parts.scheme not in _SCHEMES:
        return f"it must begin with one of {', '.join(f'{scheme}://' for scheme in _SCHEMES)}"
    if "@" in parts.netloc:
        return "the login belongs in HMXGRAPH_USER and HMXGRAPH_PASSWORD"
    _ = parts.port  # raises ValueError if it is not a number
    return None
