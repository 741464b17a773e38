"""Compiles sessions to artifacts (procedures, playbooks, policies, causes, strategies) by counting. Pure."""
