"""Rows of ``cypher/recall`` as what recall ranks, and what the compiler's models say to it."""
