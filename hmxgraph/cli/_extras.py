"""A hint on how to install the optional extra that a command needs."""

from importlib.util import find_spec

import typer


def need(extra: str, *modules: str) -> None:
    """Exit with an install hint unless all *modules* of *extra* can be imported.

    >>> need("server", "json")
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise typer.BadParameter(f"not installed: {', '.join(missing)}; pip install 'hmxgraph[{extra}]'")
