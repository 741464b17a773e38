"""Compiles sessions to artifacts (procedures, playbooks, policies, causes, strategies) by counting (DESIGN 6). Pure."""
