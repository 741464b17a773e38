"""An agent as a process of its own, writing to a task beside others."""

from hmxgraph.api.records import Records
from hmxgraph.api.tasks import Tasks
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy

PATIENCE = 120
STEPS = 12


def write_as_process(address, tenant_id, agent_id, task_id, barrier, results):
    """Evidence and replies to it, from the same instant as the others; the ids of what was written."""
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
