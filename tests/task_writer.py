"""An agent in a process of its own that writes to a task concurrently with others."""

from hmxgraph.api.records import Records
from hmxgraph.api.tasks import Tasks
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy

PATIENCE = 120
STEPS = 12


def write_as_process(address, tenant_id, agent_id, task_id, barrier, results):
    """Write evidence and replies, starting together with the other processes; put their ids into *results*."""
    connection, tenancy = Connection(address), Tenancy.of(tenant_id)
    tasks, records = Tasks(tenancy, connection), Records(tenancy, connection)
    barrier.wait(PATIENCE)
    written = []
    for place in range(STEPS):
        seen = tasks.add_evidence(task_id, summary=f"{agent_id} saw {place}", agent_id=agent_id)
        said = records.review(seen.artifact_id, summary=f"{agent_id} again {place}", agent_id=agent_id)
        written += [seen.artifact_id, said.artifact_id]
    results.put(written)
    connection.close()
