"""``KnowledgeGraph`` and ``connect``: one tenant's memory, for synchronous code."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib import import_module
from types import TracebackType
from typing import Literal, NamedTuple, Self, TypeAlias
from uuid import uuid4

from hmxgraph import engine
from hmxgraph.api._base import untraced
from hmxgraph.api.access import Keys
from hmxgraph.api.artifacts import Artifacts
from hmxgraph.api.backups import Backups
from hmxgraph.api.exploring import Exploring
from hmxgraph.api.fingerprints import Fingerprints
from hmxgraph.api.learning import Learning
from hmxgraph.api.memory import MemoryOperations
from hmxgraph.api.packs import Recalling
from hmxgraph.api.recording import LiveSessions, Recorder, Recording
from hmxgraph.api.records import Records
from hmxgraph.api.sessions import RecordedSession
from hmxgraph.api.states import States
from hmxgraph.api.tasks import Tasks
from hmxgraph.api.usage import Usage
from hmxgraph.errors import (
    DatabaseMissing,
    EngineError,
    InvalidRequest,
    IsolationUnsupported,
    StatementRefused,
    UnknownChoice,
)
from hmxgraph.graph import deadlines, embeddings
from hmxgraph.graph.connection import DEFAULT_TERMS, Connection, ConnectionTerms, Revive
from hmxgraph.graph.driver import Address
from hmxgraph.graph.embeddings import Embedder, Embedding
from hmxgraph.graph.metering import Meter
from hmxgraph.graph.plan import Tenancy, Work, ask, bind
from hmxgraph.graph.schema import migrate
from hmxgraph.protocol.trust import DEFAULT_TRUST, MaskSecrets, TrustPolicy, with_masking

# Which Neo4j server to use: that of the arguments, else of the environment, else a local one started on demand.

# The name of the database in which Neo4j itself keeps users and databases.
_SYSTEM = "system"


class Login(NamedTuple):
    """Server address and credentials; missing values come from the environment."""

    uri: str | None = None
    user: str | None = None
    password: str | None = None
    database: str | None = None


def address(login: Login, *, progress: bool = False, environment: Mapping[str, str] = os.environ) -> Address:
    """The address to use; starts the local server if neither *login* nor ``HMXGRAPH_URI`` names one.

    Raises:
        DatabaseMissing: the chosen database is Neo4j's ``system``, which cannot hold a graph.
        EngineError: the local server could not be fetched or started.

    >>> address(Login("bolt://db:7687", "neo4j", "secret"), environment={}).database
    'neo4j'

    """
    database = login.database or environment.get("HMXGRAPH_DATABASE") or "neo4j"
    uri = login.uri or environment.get("HMXGRAPH_URI")
    if database.casefold() == _SYSTEM:
        raise DatabaseMissing(uri or "localhost", f"{database!r} holds users and databases, not a graph")
    if not uri:
        # If the local server runs but does not answer yet, each call waits for it within the call's own deadline.
        server = engine.reachable() or engine.ensure(progress=progress)
        return Address(server.uri, server.user, server.password, database)
    user = login.user or environment.get("HMXGRAPH_USER") or "neo4j"
    return Address(uri, user, login.password or environment.get("HMXGRAPH_PASSWORD") or "", database)


def chosen_timeout(seconds: float | None, *, environment: Mapping[str, str] = os.environ) -> float | None:
    """*seconds*, else the value of ``HMXGRAPH_TIMEOUT``; None if neither is set, so that the defaults apply.

    Raises:
        InvalidRequest: the timeout is not a number above 0, or longer than a year.

    >>> chosen_timeout(None, environment={"HMXGRAPH_TIMEOUT": "30"})
    30.0

    """
    stated = environment.get("HMXGRAPH_TIMEOUT")
    if seconds is None and stated:
        with suppress(ValueError):
            return deadlines.checked_timeout(float(stated))
        raise InvalidRequest("HMXGRAPH_TIMEOUT", stated, "a time to wait", "give seconds above 0")
    return deadlines.checked_timeout(seconds)


def chosen_masking(
    trust: TrustPolicy, mask_secrets: MaskSecrets | None, *, environment: Mapping[str, str] = os.environ
) -> TrustPolicy:
    """*trust* with the masking mode *mask_secrets*, else that of ``HMXGRAPH_MASK_SECRETS``, else its own.

    The environment does not override a *trust* whose masking mode is not the default.

    Raises:
        UnknownChoice: an unknown masking mode.

    >>> chosen_masking(DEFAULT_TRUST, None, environment={"HMXGRAPH_MASK_SECRETS": "ingest"}).mask_secrets
    'ingest'

    """
    from_environment = mask_secrets is None and trust.mask_secrets == DEFAULT_TRUST.mask_secrets
    return with_masking(trust, (environment.get("HMXGRAPH_MASK_SECRETS") or None) if from_environment else mask_secrets)


def revival(login: Login, *, environment: Mapping[str, str] = os.environ) -> Revive | None:
    """A function that restarts the local server if it died; None if the server is not the local one.

    The function returns the new address, or None while the server runs. It raises `EngineError` if the server was
    stopped on purpose or does not start.
    """
    if login.uri or environment.get("HMXGRAPH_URI"):
        return None

    def revive() -> Address | None:
        if engine.died():
            return address(login, environment=environment)
        if not engine.runs():
            raise EngineError("the local server was stopped", "start it with hmxgraph server start")
        return None

    return revive


def settling_check(login: Login, *, environment: Mapping[str, str] = os.environ) -> Callable[[], bool] | None:
    """A function that says whether the local server started recently; None if the server is not the local one.

    A server that has just started is slow, so that calls get longer timeouts.
    """
    if login.uri or environment.get("HMXGRAPH_URI"):
        return None
    return partial(deadlines.settling, engine.state_file())


def chosen_embedding(embed: Embedder | str | None, *, environment: Mapping[str, str] = os.environ) -> Embedding | None:
    """The embedder *embed*, or the one that ``HMXGRAPH_EMBED`` names as ``module:function``; None if neither is set.

    Raises:
        InvalidRequest: there is no such module or function, or the embedder cannot be called.

    >>> chosen_embedding(None, environment={}) is None
    True

    """
    embedder = embed if embed is not None else environment.get("HMXGRAPH_EMBED") or None
    if isinstance(embedder, str):
        embedder = _import_embedder(embedder)
    if embedder is not None and not callable(embedder):
        raise InvalidRequest("embed", f"{embedder!r:.60}", "a function from texts to vectors", "give a callable")
    return None if embedder is None else Embedding(embedder)


def _import_embedder(name: str) -> Embedder:
    module, _, attribute = name.partition(":")
    try:
        embedder: Embedder = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidRequest("embed", name, "module:function", f"check the name ({error})") from error
    return embedder


# Isolation: one database for all tenants, in which keys keep them apart, or one database per tenant.

Isolation: TypeAlias = Literal["key", "database"]
_ISOLATIONS = ("key", "database")


def tenant_address(server_address: Address, tenant_id: str, isolation: Isolation) -> Address:
    """*server_address*, or with ``isolation="database"`` that of the tenant's own database, created if missing.

    Raises:
        IsolationUnsupported: the server cannot create a separate database.
        UnknownChoice: no such isolation.

    """
    if isolation not in _ISOLATIONS:
        raise UnknownChoice("isolation", isolation, _ISOLATIONS)
    if isolation == "key":
        return server_address
    database = _database_name(tenant_id)
    system = Connection(replace(server_address, database=_SYSTEM))
    try:
        system.transact(Work("schema", partial(ask, bind("databases/create", name=database))))
    except StatementRefused as error:
        raise IsolationUnsupported(server_address.uri, error.reason) from error
    finally:
        system.close()
    return replace(server_address, database=database)


def _database_name(tenant_id: str) -> str:
    """The name of a tenant's separate database: legal in Neo4j for every tenant id, and unlikely to collide.

    >>> _database_name("acme")
    'hmx-822b33ad87c148a0a20a'

    """
    return f"hmx-{sha256(tenant_id.encode()).hexdigest()[:20]}"


# The graph itself.


class KnowledgeGraph(Recording, Learning, Recalling, Artifacts, Exploring, Fingerprints, Backups):
    """One tenant's memory in Neo4j; created by :func:`connect`, closed by the ``with`` block.

    Its methods are in ``hmxgraph.api``, one file per subject. All of them raise subclasses of `GraphError` when the
    database refuses a request or does not answer; a failed transaction leaves nothing half-written. Times are ISO 8601
    text with an offset, or aware datetimes; anything else raises `InvalidTime`.

    A graph is thread-safe: any number of threads may call it at once, each call in its own transactions. Close it when
    no thread uses it any more.
    """

    def __init__(
        self,
        server_address: Address,
        tenant_id: str,
        trust: TrustPolicy = DEFAULT_TRUST,
        isolation: Isolation = "key",
        connection: Connection | None = None,
        terms: ConnectionTerms = DEFAULT_TERMS,
    ) -> None:
        self._tenancy = Tenancy.of(tenant_id, trust)
        self._server_address = server_address
        self._isolation: Isolation = isolation
        self._meter = Meter()
        self._live = LiveSessions()
        self._connection = connection or Connection(tenant_address(server_address, tenant_id, isolation), terms)
        if connection is None:
            self._prepare()

    def _prepare(self) -> None:
        """Check that the database answers, bring its schema up to date, and prepare it for the embedder, if any."""
        try:
            self._connection.verify()
            self._connection.perform(migrate())
            if self._connection.terms.embedding is not None:
                self._connection.perform(embeddings.prepare())
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the graph cannot be used afterwards. A second call does nothing."""
        self._connection.close()

    def timeout(self, seconds: float) -> AbstractContextManager[None]:
        """Limit each transaction of the calls in the block to *seconds*: ``with graph.timeout(5): ...``.

        The limit applies to the thread or asynchronous task that runs the block, and overrides ``connect(timeout=)``.

        Raises:
            InvalidRequest: *seconds* is not a number above 0, or longer than a year.

        """
        return deadlines.timeout(seconds)

    def untraced(self) -> AbstractContextManager[None]:
        """Create no spans for the calls in the block, for use in a span exporter: ``with graph.untraced(): ...``."""
        return untraced()

    @property
    def tasks(self) -> Tasks:
        """Tasks, their runs and evidence."""
        return Tasks(self._tenancy, self._connection, own_database=self._isolation == "database")

    @property
    def records(self) -> Records:
        """Task records: create, reply, search."""
        return Records(self._tenancy, self._connection, own_database=self._isolation == "database")

    @property
    def memory(self) -> MemoryOperations:
        """Operations on semantic memories."""
        return MemoryOperations(self._tenancy, self._connection, self._meter)

    @property
    def keys(self) -> Keys:
        """API keys that open this tenant's memory through a server."""
        return Keys(self._tenancy, self._connection)

    @property
    def usage(self) -> Usage:
        """Usage by hour, and stored compilations."""
        return Usage(self._tenancy, self._connection)

    @property
    def states(self) -> States:
        """State that adapters keep for frameworks, such as checkpoints; nothing is learned from it."""
        return States(self._tenancy, self._connection)

    def session(
        self, session_id: str | None = None, *, agent_id: str | None = None, user_id: str | None = None
    ) -> RecordedSession:
        """A session to record, new unless *session_id* names one: ``with graph.session() as session``."""
        recorder = Recorder(session_id or str(uuid4()), agent_id, user_id)
        return RecordedSession(self._tenancy, self._connection, recorder)

    def for_tenant(self, tenant_id: str) -> Self:
        """The graph of another tenant at the same server, with the same trust and isolation.

        With ``isolation="key"`` all these graphs share one driver, and opening one costs no round trip, so that a
        server may open a graph for each request. With ``isolation="database"`` the tenant's database is created and
        prepared if missing. Close each graph, in any order; a driver is closed with the last graph that uses it.

        Raises:
            InvalidTenant: *tenant_id* is empty, contains a NUL, or is not valid Unicode.
            GraphNotOpen: this graph is closed, or was opened by another process.

        """
        self._connection.check_open()
        trust = Tenancy.of(tenant_id, self._tenancy.trust).trust  # reject an invalid id before taking the driver
        terms = self._connection.terms
        connection = Connection(self._connection.address, terms) if self._isolation == "key" else None
        return type(self)(self._server_address, tenant_id, trust, self._isolation, connection, terms)

    @property
    def tenant_id(self) -> str:
        """The tenant of this graph."""
        return self._tenancy.tenant_id


def connect(  # noqa: PLR0913 - every setting by name
    uri: str | None = None,
    *,
    tenant_id: str = "default",
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    isolation: Isolation = "key",
    trust: TrustPolicy = DEFAULT_TRUST,
    mask_secrets: MaskSecrets | None = None,
    progress: bool = False,
    timeout: float | None = None,
    embed: Embedder | str | None = None,
) -> KnowledgeGraph:
    """The memory of *tenant_id* in Neo4j: at *uri*, else ``HMXGRAPH_URI``, else on a local server started on demand.

    Missing values come from ``HMXGRAPH_USER``, ``HMXGRAPH_PASSWORD`` and ``HMXGRAPH_DATABASE``. The schema is brought
    up to date. With ``isolation="key"``, tenants share one database and are kept apart by their keys; ``"database"``
    gives the tenant a database of its own, for which the edition of Neo4j must support several databases. *trust*
    decides which sources may state rules, preferences and facts that take effect (:class:`TrustPolicy`). *mask_secrets*
    says where keys, tokens and passwords are masked: in packs (``"packs"``, the default), before anything is stored
    (``"ingest"``), or nowhere (``"off"``); if omitted, ``HMXGRAPH_MASK_SECRETS`` decides. A masked secret has the same
    mark everywhere in a tenant. With *progress*, the progress of fetching and starting a local server is shown on
    stderr.

    No transaction takes longer than *timeout* seconds (``HMXGRAPH_TIMEOUT``) with all its retries. The default is 15 s
    for reads, 60 s for writes such as a batch of events (120 s for both in the first two minutes of a local server),
    and 600 s for calls that read or rewrite a whole tenant, such as ``compile``, ``verify``, ``digest``, ``forget``,
    ``backup``, saved queries and fingerprints. ``graph.timeout(seconds)`` sets the timeout for the calls in a block. A
    local server that died is noticed at once and started again.

    *embed* is a function from a list of texts to a vector for each, or its name (``module:function``,
    ``HMXGRAPH_EMBED``). With it, events get vectors when they are written, and packs also find text with the same
    meaning in other words. Without it no vector is computed or read.

    Raises:
        InvalidTenant: *tenant_id* is empty, contains a NUL, or is not valid Unicode.
        EngineError: the local server could not be fetched or started; the message ends with what to do about it.
        StorageUnavailable: nothing answers at the address.
        DatabaseMissing: the server has no such *database*, or it is ``system``, which cannot hold a graph.
        AccessDenied: the login was refused.
        NewerStore: a newer release prepared the database.
        OlderStore: the database was prepared by a release too old to upgrade from.
        InvalidRequest: *timeout* is not above 0 or longer than a year, or *embed* is neither a function nor the name of
            one.
        UnknownChoice: no such *isolation* or *mask_secrets*.
        IsolationUnsupported: the server cannot create a separate database.

    """
    Tenancy.of(tenant_id)  # reject an invalid id before starting a server
    login = Login(uri, user, password, database)
    terms = ConnectionTerms(chosen_timeout(timeout), revival(login), settling_check(login), chosen_embedding(embed))
    return KnowledgeGraph(
        address(login, progress=progress), tenant_id, chosen_masking(trust, mask_secrets), isolation, terms=terms
    )
