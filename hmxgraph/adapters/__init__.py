"""The memory slots of agent frameworks, one module each: import the one that you need.

Each needs its framework, which the extra of the same name installs (``pip install 'hmxgraph[langgraph]'``), and a graph
from :func:`hmxgraph.connect`.
"""
