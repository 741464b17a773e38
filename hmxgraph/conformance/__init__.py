"""The conformance kit: cases, examples and vectors as data, and a runner that puts them to any implementation.

``python -m hmxgraph.conformance --command "node my_implementation.js"`` runs it; README.md beside this file is the
contract with an implementation.
"""
