"""From sessions to artifacts: procedures, playbooks, policies, causes and strategies, by counting (DESIGN 6). Pure."""
