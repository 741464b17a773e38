"""The command line on the real server."""

import sys

import pytest

from hmxgraph.cli import main


@pytest.fixture
def run(address, tenant_id, monkeypatch, capsys):
    """Runs the command line; gives back exit code, output and errors."""
    settings = {"URI": address.uri, "USER": address.user, "PASSWORD": address.password, "DATABASE": address.database}
    for name, value in settings.items():
        monkeypatch.setenv(f"HMXGRAPH_{name}", value)
    monkeypatch.setenv("HMXGRAPH_TENANT", tenant_id)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hmxgraph", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return (code, *capsys.readouterr())

    return run
