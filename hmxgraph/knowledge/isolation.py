"""One database a tenant where the edition allows it; else tenants share one, kept apart by their keys (DESIGN 1)."""

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Literal, TypeAlias

from hmxgraph.errors import IsolationUnsupported, StatementRefused, UnknownChoice
from hmxgraph.graph.address import Address
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Work, ask
from hmxgraph.graph.statement import bind

Isolation: TypeAlias = Literal["key", "database"]
_CHOICES = ("key", "database")


def isolated(where: Address, tenant_id: str, isolation: Isolation) -> Address:
    """The address of *tenant_id*: *where* itself, or a database of its own there, made if need be.

    Raises:
        IsolationUnsupported: the server's edition has only one database.
        UnknownChoice: no such isolation.

    """
    if isolation not in _CHOICES:
        raise UnknownChoice("isolation", isolation, _CHOICES)
    if isolation == "key":
        return where
    database = database_name(tenant_id)
    system = Connection(replace(where, database="system"))
    try:
        system.transact(Work("schema", partial(ask, bind("databases/create", name=database))))
    except StatementRefused as error:
        raise IsolationUnsupported(where.uri, error.reason) from error
    finally:
        system.close()
    return replace(where, database=database)


def database_name(tenant_id: str) -> str:
    """The name of a tenant's own database: legal for every tenant id, and hard to hit by accident.

    >>> database_name("acme")
    'hmx-822b33ad87c148a0a20a'

    """
    return f"hmx-{sha256(tenant_id.encode()).hexdigest()[:20]}"
