"""Policies from what a lookup says at the end of sessions that went well."""

from hmxgraph.compiler._closing_checks import closing_checks
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import Script


def repair(number, *signals, feedback):
    """A session that checks a network, and resets it in between; each check returns the next of *signals*."""
    script = Script(f"repair-{number}").user("There is no service")
    for signal in signals:
        script.call("check_network", {"value": f"Signal: {signal}"}).call("reset_network")
    return summarise(script.feedback(feedback).events)


def test_a_single_session_that_ended_otherwise_is_counted_like_several():
    """The counts of a policy read as counts, not as a note on a step that was tried once."""
    repaired = [repair(number, "none", "good", feedback="positive") for number in range(20)]
    policy, *others = closing_checks([*repaired, repair(20, "none", "none", feedback="negative")], DEFAULT_PROFILE)
    assert not others
    assert policy.content["recommendation"].endswith(
        "sessions that ended with this went well each of more than 10 times, others 0 of 1 times."
    )
