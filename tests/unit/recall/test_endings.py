import pytest

from hmxgraph.compiler._verbs import is_action
from hmxgraph.recall._endings import Turn, adds_a_remark, is_carried_out

DONE = Turn("tool_result", None, failed=False, text="bash -> deployed depot 2.3.1")
FAILED = Turn("tool_result", None, failed=True, text="bash failed: exit code 2")
FOUND = Turn("tool_result", None, failed=False, text="find_tables -> A, B, C")
CALL = Turn("tool_call", "assistant", failed=False, text="bash(command=make deploy)")
REPORT = Turn("message", "assistant", failed=False, text="Deployed depot 2.3.1 after a rollback of the stuck release.")


def said(text: str) -> Turn:
    """Return a message of a user."""
    return Turn("message", "piet", failed=False, text=text)


def answered(text: str) -> Turn:
    """Return a message of the assistant."""
    return Turn("message", "assistant", failed=False, text=text)


@pytest.mark.parametrize(
    "ending",
    [
        [REPORT, DONE, CALL],
        [REPORT, Turn("tool_result", None, failed=False, text="from a tool without a name")],
        [answered("It is back on 2.3.0."), REPORT, DONE],
        [said("Thanks, that's all"), REPORT, DONE],
        [answered("The order is cancelled. Is there anything else I can help you with?"), DONE],
        [answered("You're welcome, have a nice day!"), said("Thanks!"), REPORT, DONE],
        [said("Perfect, thank you so much for the quick help! Have a great day!"), REPORT, DONE],
        [said("No, that's all I need. ###STOP###"), REPORT, FOUND, DONE],
    ],
)
def test_a_report_after_a_result_without_failure_ends_what_was_asked_for(ending):
    """Whatever was in its way before, and whether the user says thanks."""
    assert is_carried_out(ending, is_action)


@pytest.mark.parametrize(
    "ending",
    [
        [],
        [REPORT],
        [REPORT, FAILED, DONE],
        [REPORT, CALL, DONE],
        [DONE, CALL],
        [CALL, REPORT, DONE],
        [said("no that's wrong, roll it back"), REPORT, DONE],
        [said("Thanks, but it still does not work"), REPORT, DONE],
        [said("and now eta"), REPORT, DONE],
        [answered("Which version do you want?"), DONE],
        [answered("I could not deploy it."), DONE],
        [answered("Now I run the tests:"), DONE],
        [answered("There are three free tables: A, B and C."), FOUND],
        [answered("The third is free."), FOUND, FAILED],
        [said("Ok, the second one."), REPORT, DONE],
        [said("Great, that is the wrong day."), REPORT, DONE],
        [said("Thanks, but I wanted Friday."), REPORT, DONE],
        [said("Thanks for the table, instead of the room"), REPORT, DONE],
        [said("Ok. Refund it then."), REPORT, DONE],
        [said("Yes."), REPORT, DONE],
        [answered("You're welcome, what is the number?"), said("Thanks!"), REPORT, DONE],
    ],
)
def test_what_the_end_of_a_session_leaves_open_is_still_to_be_done(ending):
    """What failed, awaits an answer, was interrupted or rejected is not done; nor is talk or what only looks up."""
    assert not is_carried_out(ending, is_action)


@pytest.mark.parametrize(
    ("farewell", "adds"),
    [
        ("Good. The long-term fix is ticket 882, replay in batches of 500.", True),
        ("Their contact is Frau Petersen by the way, 040 5551 8890.", True),
        ("Thanks. Team Heron owns the gateway now.\nSee the catalogue.", True),
        ("Thank you so much for the quick help with this order!", False),
        ("I'll keep an eye out for the two emails with the labels.", False),
        ("Great, all set. Have a wonderful rest of the day!", False),
        ("Can the invoice go to the office in Leiden as well?", False),
        ("perfect, exactly", False),
    ],
)
def test_a_farewell_that_adds_a_remark_says_something_about_the_matter(farewell, adds):
    """Thanks, what users will do themselves, and questions are no remarks."""
    assert adds_a_remark(farewell) is adds
