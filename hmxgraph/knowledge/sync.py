"""``KnowledgeGraph``: one tenant's memory, for plain code."""

from types import TracebackType
from typing import Self

from hmxgraph.graph.address import Address
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.metering import Meter
from hmxgraph.graph.schema import migrate
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.knowledge.isolation import Isolation, isolated
from hmxgraph.knowledge.plain.artifacts import Artifacts
from hmxgraph.knowledge.plain.exploring import Exploring
from hmxgraph.knowledge.plain.fingerprints import Fingerprints
from hmxgraph.knowledge.plain.learning import Learning
from hmxgraph.knowledge.plain.memory_operations import MemoryOperations
from hmxgraph.knowledge.plain.recalling import Recalling
from hmxgraph.knowledge.plain.recording import Recording
from hmxgraph.knowledge.plain.records import Records
from hmxgraph.knowledge.plain.tasks import Tasks
from hmxgraph.knowledge.settings import Login, address


class KnowledgeGraph(Recording, Learning, Recalling, Artifacts, Exploring, Fingerprints):
    """One tenant's memory on a Neo4j; made by :func:`connect`, closed with the ``with`` block.

    Its methods stand in ``hmxgraph.knowledge.plain``, one file per subject. All of them raise `GraphError` leaves when
    the database refuses or does not answer, and leave nothing half-written.
    """

    def __init__(self, where: Address, tenant_id: str) -> None:
        self._tenancy = Tenancy.of(tenant_id)
        self._connection = Connection(where)
        self._meter = Meter()
        try:
            self._connection.verify()
            self._connection.perform(migrate())
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
        """Give the connection back; the graph cannot be asked any more. A second time does nothing."""
        self._connection.close()

    @property
    def tasks(self) -> Tasks:
        """Tasks, their runs and evidence."""
        return Tasks(self._tenancy, self._connection)

    @property
    def records(self) -> Records:
        """Task records as the unit of exchange: created, replied to, found."""
        return Records(self._tenancy, self._connection)

    @property
    def memory(self) -> MemoryOperations:
        """Operations on semantic memories."""
        return MemoryOperations(self._tenancy, self._connection, self._meter)

    @property
    def tenant_id(self) -> str:
        """Whose memory this is."""
        return self._tenancy.tenant_id


def connect(
    uri: str | None = None,
    *,
    tenant_id: str = "default",
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    isolation: Isolation = "key",
    progress: bool = False,
) -> KnowledgeGraph:
    """The memory of *tenant_id* on a Neo4j: at *uri*, else ``HMXGRAPH_URI``, else a local server started on demand.

    What is not given comes from ``HMXGRAPH_USER``, ``HMXGRAPH_PASSWORD`` and ``HMXGRAPH_DATABASE``. The schema is
    brought up to date. ``isolation="database"`` gives the tenant a database of its own where the edition has more
    than one; otherwise tenants share one and are kept apart by their keys. With *progress*, fetching and starting a
    local server draws a bar on stderr.

    Raises:
        InvalidTenant: *tenant_id* is empty, has a NUL, or is no text that UTF-8 can write.
        EngineError: the local server could not be fetched or started; the message ends with the way out.
        StorageUnavailable: nothing answers at the address.
        AccessDenied: the login was refused.
        NewerStore: a newer release prepared the database.
        IsolationUnsupported: a database of its own was asked of a server that has only one.

    """
    Tenancy.of(tenant_id)  # a slip is told before a server is started for it
    where = address(Login(uri, user, password, database), progress=progress)
    return KnowledgeGraph(isolated(where, tenant_id, isolation), tenant_id)
