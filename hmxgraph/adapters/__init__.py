"""Memory adapters for agent frameworks; import the module that you need, such as ``hmxgraph.adapters.langgraph``.

An adapter gets a graph from :func:`hmxgraph.connect` and needs its framework, which an extra installs (``pip install
'hmxgraph[langgraph]'``); ``docs/adapters.md`` lists module and extra for each. The hooks of Claude Code, installed by
``hmxgraph install claude-code``, need no extra and connect by themselves.
"""
