"""The only package that uses Neo4j's driver: packaged statements, rows and values, plans, and what runs them."""
