"""Slots of messages: the places at which they differ."""

from hmxgraph.compiler._slots import template


def test_a_slot_takes_the_place_of_punctuation():
    """Where the usual message has only punctuation, the slot replaces it."""
    messages = ["the job failed ...", "the job failed ...", "the job failed build"]
    assert template(messages).text == "the job failed <job>"
