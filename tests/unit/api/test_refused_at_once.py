"""Invalid arguments are refused before any server is looked for."""

from datetime import timedelta

import pytest

import hmxgraph
from hmxgraph.api._base import pack_request
from hmxgraph.api.memory import new_memory
from hmxgraph.api.recording import event_draft, forget_criteria, memory_request
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
        forget_criteria({"older_than": span})


@pytest.mark.parametrize("span", [30, "30 days"])
def test_an_age_that_is_no_timedelta(span):
    """An age is a timedelta: a number does not say of which unit, and is refused."""
    with pytest.raises(InvalidRequest, match="expected timedelta; write timedelta"):
        forget_criteria({"older_than": span})


def test_metadata_that_are_no_mapping():
    """Metadata that are no mapping are refused, as content is."""
    with pytest.raises(InvalidRequest, match="metadata"):
        event_draft("message", {"role": "user", "text": "hi"}, "s1", {"metadata": ["urgent"]})


@pytest.mark.parametrize("flag", ["expired", "now"])
def test_forgetting_with_a_word_for_a_flag(flag):
    """The word "no" never counts as True: it would select events to erase."""
    with pytest.raises(InvalidRequest, match=f"{flag} 'no': expected True or False"):
        forget_criteria({"session_id": "s1", flag: "no"})


@pytest.mark.parametrize("flag", ["hard", "pinned"])
def test_remembering_with_a_word_for_a_flag(flag):
    """The word "yes" is refused, as it would not make the memory hard or pinned."""
    with pytest.raises(InvalidRequest, match=f"{flag} 'yes': expected True or False"):
        memory_request("Use Biome", {flag: "yes"})


def test_adding_a_memory_with_a_word_for_a_flag():
    """The word "yes" is refused: it would not make the policy hard."""
    with pytest.raises(InvalidRequest, match="hard 'yes': expected True or False"):
        new_memory("policy", "Never push to main", {"hard": "yes"})


def test_flags_that_are_left_out():
    """None leaves a flag out, as it does any other option."""
    assert memory_request("Use Biome", {"hard": None, "pinned": None})[0] == memory_request("Use Biome", {})[0]
    assert forget_criteria({"session_id": "s1", "expired": None, "now": None}) == forget_criteria({"session_id": "s1"})


def test_a_misspelt_option_without_a_value():
    """None means that an option is left out, but only for options that exist."""
    assert pack_request("Deploy", {"budget": None}) == pack_request("Deploy", {})
    with pytest.raises(InvalidRequest, match="bugdet"):
        pack_request("Deploy", {"bugdet": None})
