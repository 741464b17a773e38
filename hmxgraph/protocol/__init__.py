"""HMX-1.0 and memd documents as frozen values that know nothing of Neo4j."""
