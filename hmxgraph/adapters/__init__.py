"""Memory adapters for agent frameworks, one module per framework; import the one you need.

Each needs its framework, which the extra of the same name installs (``pip install 'hmxgraph[langgraph]'``), and a graph
from :func:`hmxgraph.connect`.
"""
