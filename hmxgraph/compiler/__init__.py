"""Learn artifacts (procedures, playbooks, policies, causes, strategies) from sessions, and make suggestions. No I/O."""
