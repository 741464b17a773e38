"""Commands on shared work: tasks, records, memories."""
