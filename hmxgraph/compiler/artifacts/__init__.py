"""From summaries to artifacts: schemas, playbooks, policies, causes, strategies, by kinds of requests and failures."""
