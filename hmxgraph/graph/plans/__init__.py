"""Every public operation as a procedure: what is asked of the graph, in which order, and what comes of it."""
