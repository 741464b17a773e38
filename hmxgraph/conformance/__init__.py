"""The conformance kit: cases, examples and vectors as data, and a runner for any implementation.

``python -m hmxgraph.conformance --command "node my_implementation.js"`` runs it. README.md next to this file specifies
what an implementation must answer.
"""
