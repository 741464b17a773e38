"""hmxgraph and other agent memories on the same data, with the same questions, in one run: ``python -m benchmarks``."""
