"""Learns artifacts (procedures, playbooks, policies, causes, strategies) and suggestions from sessions, without I/O."""
