"""The only package that knows Neo4j: packaged statements, rows and values, plans, runners."""
