"""Check that the optional packages of a command are installed."""

from importlib.util import find_spec

import typer


def need(extra: str, *modules: str) -> None:
    """Check that the *modules* that *extra* installs are available.

    Raises:
        typer.BadParameter: one of them is not; the message states how to install the extra.

    >>> need("draw", "json", "no_such_module")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    typer.BadParameter: not installed: no_such_module; pip install 'hmxgraph[draw]'
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise typer.BadParameter(f"not installed: {', '.join(missing)}; pip install 'hmxgraph[{extra}]'")
