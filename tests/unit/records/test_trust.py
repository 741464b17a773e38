"""Trust tiers and promotion states, derived from replies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.protocol.records import PROMOTION_STATES, TRUST_TIERS
from hmxgraph.records.trust import Reply, promotion, rejecting_agents, tier

COUNTERSIGNING = ("review", "revision", "verification", "decision")


def reply(kind="verification", agent="bo", *, supports=True, at=1, name="v", status=None):
    """A reply by another agent."""
    return Reply(name, kind, agent, supports, status, at)


@pytest.mark.parametrize("kind", COUNTERSIGNING)
def test_each_countersigning_kind_verifies(kind):
    """Review, revision, verification and decision by another agent each countersign."""
    assert tier("evidence", "ana", [reply(kind)]) == "verified_record"


@pytest.mark.parametrize(
    "replies",
    [
        [],
        [reply(agent="ana")],
        [reply(agent=None)],
        [reply(agent="")],
        [reply(agent=" ")],
        [reply(agent=" ana\n")],
        [reply(supports=None)],
        [reply("evidence")],
        [reply("review", supports=False)],
        [reply(supports=True, status="rejected")],
    ],
)
def test_what_does_not_verify(replies):
    """Replies that are the author's own, unsigned, without verdict, negative or of another kind leave it canonical."""
    assert tier("evidence", "ana", replies) == "canonical_record"


def test_an_unsigned_record_cannot_be_verified():
    """A record without an author cannot be verified, because no reply is known to be by another agent."""
    for author in (None, "", " "):
        assert tier("evidence", author, [reply()]) == "canonical_record"


def test_a_digest_stays_a_hint():
    """No countersignature turns a digest into evidence."""
    assert tier("digest", "hmxgraph", [reply()]) == "compiled_digest_hint"


def test_a_rejection_takes_the_tier_away_and_withdrawing_it_gives_it_back():
    """A rejecting verification outweighs countersignatures until its agent withdraws it."""
    signed, refused = reply(at=1), reply(agent="cy", supports=False, at=2, name="w")
    assert tier("evidence", "ana", [signed, refused]) == "canonical_record"
    assert rejecting_agents("ana", [signed, refused]) == ("cy",)
    again = reply(agent="cy", at=3, name="x")
    assert tier("evidence", "ana", [signed, refused, again]) == "verified_record"


def test_one_agent_has_one_last_word_however_it_is_spelled():
    """White space around a name does not make it another agent."""
    later = {"agent": "bo ", "at": 2, "name": "w"}
    assert tier("evidence", "ana", [reply(), reply(supports=False, **later)]) == "canonical_record"
    assert tier("evidence", "ana", [reply(supports=False), reply(**later)]) == "verified_record"


def test_the_author_cannot_reject_a_countersignature_away():
    """The author's own rejection does not undo another agent's countersignature."""
    assert tier("evidence", "ana", [reply(), reply(agent="ana", supports=False, at=2, name="w")]) == "verified_record"


replies = st.lists(
    st.builds(
        Reply,
        st.sampled_from("uvwxyz"),
        st.sampled_from((*COUNTERSIGNING, "evidence")),
        st.sampled_from([None, "ana", "bo", "cy"]),
        st.sampled_from([None, True, False]),
        st.sampled_from([None, "verified", "rejected"]),
        st.integers(0, 3),
    ),
    max_size=6,
    unique_by=lambda record: record.artifact_id,
)


@given(replies, st.randoms(use_true_random=False))
def test_trust_does_not_depend_on_the_order_of_arrival(records, shuffler):
    """The same replies give the same tier, in whatever order they are read."""
    shuffled = list(records)
    shuffler.shuffle(shuffled)
    assert tier("evidence", "ana", shuffled) == tier("evidence", "ana", records)


@given(replies)
def test_no_agent_raises_its_own_trust(records):
    """No reply by the author changes the tier of its own record."""
    own = Reply("own", "verification", "ana", True, "verified", 9)  # noqa: FBT003 - a tuple of values
    assert tier("evidence", "ana", [*records, own]) == tier("evidence", "ana", records)


@given(replies, st.sampled_from(["evidence", "digest", "decision"]), st.sampled_from([None, "raw", "verified"]))
def test_tiers_and_states_are_those_of_the_specification(records, kind, stated):
    """Every tier and state is one of the specification's, and a verified tier goes with a verified state."""
    trust_tier = tier(kind, "ana", records)
    state = promotion(stated, kind, trust_tier)
    assert trust_tier in TRUST_TIERS
    assert state in PROMOTION_STATES
    assert (state == "verified") == (trust_tier == "verified_record")
