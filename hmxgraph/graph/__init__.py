"""The only room that knows Neo4j: packaged statements, rows and values, plans, runners."""
