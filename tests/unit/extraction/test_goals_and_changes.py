"""Requests, aims and state changes."""

import pytest

from hmxgraph.extraction._facts import change
from hmxgraph.extraction.extract import aim, extract, request
from hmxgraph.extraction.language import sentences
from tests.unit.extraction.events import said


@pytest.mark.parametrize(
    ("sentence", "goal"),
    [
        ("Deploy the staging environment", "Deploy the staging environment"),
        ("Hi there! I'd like to change my flight reservation.", "change my flight reservation"),
        ("Can you ship checkout v1.2 to staging?", "ship checkout v1.2 to staging"),
        ("I need help with my upcoming flight.", "my upcoming flight"),
        ("We're trying to migrate the orders table", "migrate the orders table"),
        ("I'm having trouble with my mobile data.", "trouble with my mobile data"),
        ("Back up the orders", "Back up the orders"),
        ("Check who is on call", "Check who is on call"),
    ],
)
def test_a_request_says_what_is_wanted(sentence, goal):
    """The object of a request is its text after the polite opening."""
    assert request(sentence).object == goal


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello!",
        "Can you help me with that?",
        "I need some help.",
        "My name is Anna.",
        "Order number: W5061109",
        "I need help with two things:",
        "I need to talk to someone about this.",
        "Sure, my user ID is emma_kim_9957.",
        "Back from Lisbon!",
        "Work was exhausting today.",
        "Order arrived on time.",
        "Test results look good so far.",
        "Support told me to reboot.",
        "Deploy of cart-service failed: ImagePullBackOff",
        "Release 1.4 crashed on start.",
        "Request to /orders times out.",
    ],
)
def test_a_request_that_leaves_it_open_is_none(sentence):
    """A request that does not say what is wanted is not a goal."""
    assert request(sentence) is None


def test_an_aim_is_stated_about_oneself():
    """Stated aims are goals; wishes of the moment are not."""
    assert aim("My goal is to give kids a loving home.").object == "give kids a loving home"
    assert aim("I'm planning to open a dance studio next year, so wish me luck").text == (
        "I'm planning to open a dance studio next year."
    )
    assert aim("I'm working hard to make everything just right.") is None
    assert aim("What is your goal?") is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            {"subject": "staging cluster", "field": "version", "from": "1.29", "to": "1.30"},
            ("staging cluster", "version", "1.30", "1.29"),
        ),
        ({"entity": "order 7", "new_state": "shipped"}, ("order 7", "state", "shipped", "")),
        ({"key": "region", "old": "a", "new": "b"}, ("region", "value", "b", "a")),
        ({"component": "cache", "attribute": "enabled", "to": False}, ("cache", "enabled", "false", "")),
        ({"from": "planning", "to": "executing"}, None),
        ({"subject": "x"}, None),
        ({}, None),
    ],
)
def test_a_state_change_is_a_fact(content, expected):
    """Field names vary between producers; subject and new value are required."""
    assert change(content) == expected


@pytest.mark.parametrize(
    "pasted",
    [
        'Traceback (most recent call last):\n  File "/a.py", line 10, in run\n    start()\nValueError: Use a key.',
        'File "/app/main.py", line 10, in run\nFile "/app/main.py", line 3, in start',
        "openai.OpenAIError: The api_key option must always be set. Never leave it out.",
        "Error: Ship it to staging first.",
        "at start (/app/main.js:10:3)",
    ],
)
def test_what_a_program_printed_is_neither_a_wish_nor_a_rule(pasted):
    """Errors pasted into messages are not the user's words."""
    drafts = extract(said(f"{pasted}\nPlease deploy the staging environment.", sequence=0)).memories
    assert [draft.kind for draft in drafts] == ["goal"]
    assert "staging environment" in drafts[0].text


@pytest.mark.parametrize("said_of_errors", ["Error handling: always log the cause.", "Exception: never on Fridays."])
def test_what_is_said_of_errors_is_no_error(said_of_errors):
    """A rule may begin with such words."""
    assert sentences(f"Deploy staging.\n{said_of_errors}") == ["Deploy staging.", said_of_errors]
