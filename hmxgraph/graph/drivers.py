"""One driver a process and address, shared by all who connect to it and closed with the last of them."""

import threading
from typing import Any

from neo4j import AsyncDriver, AsyncGraphDatabase, Driver, GraphDatabase

from hmxgraph.graph.address import Address

# Seconds. A busy pool, a deadlock or a leader election is given time.
OPTIONS: dict[str, Any] = {
    "connection_timeout": 5.0,
    "connection_acquisition_timeout": 60.0,
    "max_transaction_retry_time": 30.0,
    "keep_alive": True,
    "user_agent": "hmxgraph/0.1.0",
    # Nobody is told how the driver is used.
    "telemetry_disabled": True,
    # A young database has not seen every label and property that the statements name: no reason for a warning.
    "notifications_disabled_classifications": ["UNRECOGNIZED"],
}
_lock = threading.Lock()
_shared: dict[Address, tuple[Driver, int]] = {}


def acquire(address: Address) -> Driver:
    """The process's driver for *address*; each acquire needs one :func:`release`."""
    with _lock:
        driver, users = _shared.get(address, (None, 0))
        driver = driver or GraphDatabase.driver(address.uri, auth=(address.user, address.password), **OPTIONS)
        _shared[address] = (driver, users + 1)
        return driver


def release(address: Address) -> None:
    """Give the driver back; the last one to do so closes it."""
    with _lock:
        driver, users = _shared.pop(address)
        if users > 1:
            _shared[address] = (driver, users - 1)
    if users == 1:
        driver.close()


def open_async(address: Address) -> AsyncDriver:
    """A driver for the running event loop: asynchronous connections cannot be shared between loops."""
    return AsyncGraphDatabase.driver(address.uri, auth=(address.user, address.password), **OPTIONS)
