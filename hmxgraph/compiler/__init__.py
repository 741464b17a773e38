"""Compiles sessions into artifacts (procedures, playbooks, policies, causes, strategies) by counting, without I/O."""
