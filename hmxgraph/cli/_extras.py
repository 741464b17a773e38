"""Commands that need an extra: one clear line where it is not installed."""

from importlib.util import find_spec

import typer


def need(extra: str, *modules: str) -> None:
    """Refuse to go on without the modules of an extra.

    >>> need("server", "json")
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise typer.BadParameter(f"{', '.join(missing)} is not installed: pip install 'hmxgraph[{extra}]'")
