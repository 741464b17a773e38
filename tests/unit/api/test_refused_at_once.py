"""Invalid arguments are refused before any server is looked for."""

from datetime import timedelta

import pytest

import hmxgraph
from hmxgraph.api._base import pack_request
from hmxgraph.api.recording import forgettable
from hmxgraph.errors import InvalidRequest, InvalidTenant


@pytest.mark.parametrize("connect", [hmxgraph.connect, hmxgraph.connect_async])
def test_an_empty_tenant(connect, monkeypatch):
    """An empty tenant id is refused before a server is located or started."""
    monkeypatch.delenv("HMXGRAPH_URI", raising=False)
    for search in ("reachable", "ensure"):
        monkeypatch.setattr(f"hmxgraph.engine.{search}", lambda **_: pytest.fail("a server was looked for"))
    with pytest.raises(InvalidTenant, match="it is empty"):
        connect(tenant_id="")


@pytest.mark.parametrize("span", [timedelta.max, timedelta.min, timedelta(seconds=-1), timedelta(days=4_000_000)])
def test_an_age_beyond_the_calendar(span):
    """An age beyond the calendar, or a negative one, is refused."""
    with pytest.raises(InvalidRequest, match="older_than"):
        forgettable({"older_than": span})


def test_a_misspelt_option_without_a_value():
    """None means that an option is left out, but only for options that exist."""
    assert pack_request("Deploy", {"budget": None}) == pack_request("Deploy", {})
    with pytest.raises(InvalidRequest, match="bugdet"):
        pack_request("Deploy", {"bugdet": None})
