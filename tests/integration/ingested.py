"""What a tenant's graph holds after ingest, in comparable form, and the statements that a call sends."""

from hmxgraph.protocol.canonical import node_key

EVENTS = """
MATCH (event:Event {tenant_id: $tenant_id})-[:IN_SESSION]->(session:Session)
RETURN session.session_id AS session_id, event.event_id AS event_id, event.content AS content,
  event.salience AS salience, event.search_text AS search_text
ORDER BY session_id, event_id
"""
LINKS = """
MATCH (a:Event {tenant_id: $tenant_id})-[link]->(b:Event)
RETURN type(link) AS type, a.event_id AS source, b.event_id AS target
ORDER BY type, source, target
"""
SESSIONS = """
MATCH (session:Session {tenant_id: $tenant_id})
RETURN session {.session_id, .event_count, .first_us, .last_us, .outcome, .head_id, .tail_id} AS session
ORDER BY session.session_id
"""
WAITING = """
MATCH (event:Event {tenant_id: $tenant_id})-[waits:AWAITS]->(awaited:Awaited)
RETURN event.event_id AS event, waits.link AS link
ORDER BY event, link
"""


class Ingested:
    """A tenant's events, links and sessions, read with plain Cypher."""

    def __init__(self, connection, tenant_id):
        self._driver = connection._driver
        self.tenant_id = tenant_id

    def rows(self, text, **parameters):
        """The rows that a read query returns."""
        result = self._driver.execute_query(text, tenant_id=self.tenant_id, **parameters)
        return [record.data() for record in result.records]

    def links(self, kind=None):
        """(type, source, target) of each link between events."""
        links = [(row["type"], row["source"], row["target"]) for row in self.rows(LINKS)]
        return [link for link in links if kind in {None, link[0]}]

    def picture(self):
        """Everything that must not depend on how the events arrived."""
        return {name: self.rows(text) for name, text in (("e", EVENTS), ("l", LINKS), ("s", SESSIONS), ("w", WAITING))}

    def event(self, event_id):
        """The properties of one event."""
        key = node_key(self.tenant_id, event_id)
        return self.rows("MATCH (e:Event {key: $key}) RETURN properties(e) AS p", key=key)[0]["p"]

    def session(self, session_id):
        """The properties of one session."""
        key = node_key(self.tenant_id, session_id)
        return self.rows("MATCH (s:Session {key: $key}) RETURN properties(s) AS p", key=key)[0]["p"]


def statements(graph, call):
    """Run *call*; returns its result and the names of the statements that it sent."""
    sent = []
    stop = graph.trace(lambda line: sent.append(line.split()[0]))
    result = call()
    stop()
    return result, sent
