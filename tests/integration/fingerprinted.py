"""Tenants that have learned something, and helpers that show what their graphs hold."""

import json
from pathlib import Path

import hmxgraph.demo
from hmxgraph.graph import _events, lifecycle
from hmxgraph.graph.checks import verify
from hmxgraph.graph.fingerprint_imports import import_fingerprint, take_back
from hmxgraph.graph.fingerprints import export_fingerprint, in_force, report_pack
from hmxgraph.graph.plan import Tenancy, write
from hmxgraph.ingest.batch import Batch
from hmxgraph.ingest.prepare import prepare
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.timestamps import LAST_US
from tests.artifact_makers import made, policy, schema
from tests.unit.fingerprint.states import playbook_content

COUNTS = """
MATCH (node {tenant_id: $tenant_id})
WITH node
ORDER BY node.key
RETURN labels(node)[0] AS label, count(*) AS nodes
ORDER BY label
"""
EVENT_FILE = Path(hmxgraph.demo.__file__).with_name("deployments.ndjson")


class Learned:
    """One tenant on a connection, with the operations on fingerprints."""

    def __init__(self, connection, tenant_id):
        self.connection = connection
        self.tenancy = Tenancy.of(tenant_id)
        self.tenant_id = tenant_id

    def perform(self, operation, *given, **named):
        """Run a procedure for this tenant and return its result."""
        return self.connection.perform(operation(self.tenancy, *given, **named))

    def ingest_demo(self):
        """Store the demo's events under this tenant."""
        lines = map(json.loads, EVENT_FILE.read_text(encoding="utf-8").splitlines())
        self.store(Event.parse(line | {"tenant_id": self.tenant_id}) for line in lines)

    def store(self, events):
        """Store events of this tenant."""
        prepared = [prepare(event, len) for event in events]
        batch = Batch(tuple(sorted(prepared, key=lambda event: (event.session_key, event.order))))
        self.connection.perform(write(lambda: _events.record(self.tenancy, batch)))

    def learn(self, *artifacts):
        """Record artifacts."""
        for artifact in artifacts:
            self.perform(lifecycle.record_artifact, artifact)

    def learn_three(self):
        """Record a policy, a task schema and a playbook."""
        self.learn(
            policy("p1", "Use an online migration", tags=["database"], observed_count=8),
            schema("t1", tags=["deploy"], observed_count=15, success_rate=0.87, title="Deploy to staging"),
            made("f1", "failure_playbook", playbook_content(), 0, {"tags": ["deploy"], "observed_count": 4}),
        )

    def export(self, *options):
        """Export the tenant's fingerprint as an envelope."""
        return self.perform(export_fingerprint, *options)

    def receive(self, source, **named):
        """Import an envelope and return the report."""
        return self.perform(import_fingerprint, source, **({"now_us": LAST_US} | named))

    def take_back(self, plan):
        """Withdraw an import and return the outcome."""
        return self.perform(take_back, plan)

    def report(self, pack, signal):
        """Report how useful a pack was."""
        return self.perform(report_pack, pack, signal)

    def promote(self, artifact_ids):
        """Make drafts active, as an operator would."""
        for artifact_id in artifact_ids:
            self.perform(lifecycle.transition, artifact_id, "active")

    def in_force(self, as_of_us=None):
        """The imported priors and parameters in force."""
        return self.connection.perform(write(lambda: in_force(self.tenancy, as_of_us)))

    def counts(self):
        """The number of nodes per label."""
        result = self.connection._driver.execute_query(COUNTS, tenant_id=self.tenant_id)
        return {record["label"]: record["nodes"] for record in result.records}

    def rows(self, text, **parameters):
        """The rows that a read query returns."""
        result = self.connection._driver.execute_query(text, tenant_id=self.tenant_id, **parameters)
        return [record.data() for record in result.records]

    def faults(self):
        """The findings of a full verification."""
        return self.perform(verify).findings
