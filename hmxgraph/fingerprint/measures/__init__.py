"""What is counted of a tenant: how its agents behave, and how its graph is built."""
