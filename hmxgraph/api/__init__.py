"""The public API: ``KnowledgeGraph`` and its asynchronous twin, one module per subject."""
