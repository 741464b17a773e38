"""Learns artifacts (procedures, playbooks, policies, causes, strategies) and suggestions from sessions. Pure."""
