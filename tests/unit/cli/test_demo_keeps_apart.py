"""The demo's sample events go to a tenant of their own."""

import pytest
from typer.testing import CliRunner

from hmxgraph.cli import app, demo
from hmxgraph.demo import TENANT


@pytest.mark.parametrize(("words", "tenant"), [((), TENANT), (("--tenant", "mine"), "mine")])
def test_the_demo_takes_no_tenant_from_the_environment(monkeypatch, words, tenant):
    """The demo ignores HMXGRAPH_TENANT, so that its events and hard rules do not enter that tenant's memory."""
    asked = []

    def opened(tenant_id):
        asked.append(tenant_id)
        raise SystemExit(0)

    monkeypatch.setattr(demo, "opened", opened)
    monkeypatch.setenv("HMXGRAPH_TENANT", "my-own-memory")
    CliRunner().invoke(app, ["demo", *words])
    assert asked == [tenant]
