"""Which user the words of an event are bound to, and when they only propose."""

import pytest

from hmxgraph.errors import InvalidRequest
from hmxgraph.extraction.extract import extract
from hmxgraph.protocol.events import UNHEARD
from hmxgraph.protocol.trust import TrustPolicy
from tests.unit.extraction.events import by_person, event, said

WISH = "I prefer short answers."
SESSION = "session\0session-1"


@pytest.mark.parametrize(
    ("event", "owners"),
    [
        (said(WISH), {SESSION}),
        (said(WISH, source="Customer"), {SESSION}),
        (said(WISH, metadata={"user_id": "Ann"}), {"ann"}),
        (said(WISH, metadata={"user_name": "Ann Lee"}), {"ann lee"}),
        (by_person(WISH), {"caroline"}),
    ],
)
def test_what_a_user_wishes_is_bound_to_the_user_or_the_session(event, owners):
    """A source may be a channel for many people, so it is not a name."""
    assert {memory.owner for memory in extract(event).memories} == owners


def test_in_a_tenant_of_one_person_an_unnamed_user_speaks_for_the_tenant():
    """A named user still speaks for themselves."""
    personal = TrustPolicy(single_user=True)
    assert {memory.owner for memory in extract(said(WISH), personal).memories} == {""}
    named = said(WISH, metadata={"user_id": "Ann"})
    assert {memory.owner for memory in extract(named, personal).memories} == {"ann"}


@pytest.mark.parametrize("name", ["sessions", "origins"])
def test_a_proposal_needs_somebody_who_made_it(name):
    """Limits of zero sessions or origins would put any proposal into force."""
    with pytest.raises(InvalidRequest, match="at least 1"):
        TrustPolicy(**{name: 0})


def test_sources_may_come_from_any_iterable():
    """Generators are accepted; anything but a list of names is rejected."""
    assert TrustPolicy(trusted=(source for source in ["web:"])).trusts("web:example.org")
    for sources in (None, "web:", [""], [5]):
        with pytest.raises(InvalidRequest, match="event sources"):
            TrustPolicy(untrusted=sources)


@pytest.mark.parametrize("origin", ["assistant", "agent", "tool", "harness"])
def test_text_that_programs_write_as_the_user_has_no_authority(origin):
    """Reminders, hook output and sub-agent instructions arrive as user messages and only propose."""
    assert origin in UNHEARD
    wishes = extract(said(WISH, metadata={"origin": origin, "user_id": "Ann"})).memories
    assert all(wish.unproven for wish in wishes)


def test_feedback_from_outside_has_no_authority_whoever_it_names():
    """A web page or tool may send a comment under a user's id; it only proposes."""
    comment = {"signal": "correction", "comment": "Never use npm."}
    for source, unproven in (("web:shop.example", True), ("mcp:notes", True), ("user", False)):
        extracted = extract(event("feedback", comment, source=source, metadata={"user_id": "Ann"}))
        assert bool(extracted.memories) is not unproven
        assert extracted.proposals
