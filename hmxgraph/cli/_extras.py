"""A check that the optional extra that a command needs is installed."""

from importlib.util import find_spec

import typer


def need(extra: str, *modules: str) -> None:
    """Check that all *modules* of the optional *extra* are installed.

    Raises:
        typer.BadParameter: one of them is not; the message says how to install the extra.

    >>> need("draw", "json", "no_such_module")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    typer.BadParameter: not installed: no_such_module; pip install 'hmxgraph[draw]'
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise typer.BadParameter(f"not installed: {', '.join(missing)}; pip install 'hmxgraph[{extra}]'")
