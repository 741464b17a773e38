"""The demo's invented events go where nobody keeps their own."""

import pytest
from typer.testing import CliRunner

from hmxgraph.cli import app, demo
from hmxgraph.demo import TENANT


@pytest.mark.parametrize(("words", "tenant"), [((), TENANT), (("--tenant", "mine"), "mine")])
def test_the_demo_takes_no_tenant_from_the_environment(monkeypatch, words, tenant):
    """Whoever works with HMXGRAPH_TENANT gets no invented events and hard rules into that memory."""
    asked = []

    def opened(tenant_id):
        asked.append(tenant_id)
        raise SystemExit(0)

    monkeypatch.setattr(demo, "opened", opened)
    monkeypatch.setenv("HMXGRAPH_TENANT", "my-own-memory")
    CliRunner().invoke(app, ["demo", *words])
    assert asked == [tenant]
