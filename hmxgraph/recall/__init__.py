"""Ranks candidates for a question and assembles the context pack (HMX-C), reproducibly and without database access."""
