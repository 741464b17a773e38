"""The running session as packs see it: its actions, and which of them failed."""

from hmxgraph.graph.packs import session_actions

CALL = ["tool_call", "bash(ls)", '{"tool_name": "bash"}', "c1", False]


def test_outcomes_are_assigned_to_the_action_of_their_call():
    """A result by its call id, one without an id to its tool's last call, an error without an id to the last action."""
    actions = list(
        session_actions(
            [
                ["error", "no space left", "{}", None, True],
                ["test_run", "$ make test -> exit 2", '{"command": "make test", "exit_code": 2}', None, True],
                ["tool_result", "bash -> failed: 0", "{}", "c1", False],
                ["tool_result", "bash failed: denied", "{}", None, True],
                CALL,
            ]
        )
    )
    assert [each.action for each in actions] == ["bash", "bash", "bash", "make test", "make test"]
    assert [each.failed for each in actions] == [False, True, False, True, True]


def test_an_action_too_long_to_fetch_is_named_by_its_text():
    """The name of an action whose content was too long to fetch is taken from its text."""
    long = "x" * 300
    rows = [
        ["tool_call", f"write_file(text={long}", "{}", None, False],
        ["command_exec", f"$ cd /srv && git push (-> exit 1) -> exit 1 stderr: {long}", "{}", None, True],
        ["test_run", f"$ pytest -q -> failures: {long}", "{}", None, True],
        ["file_edit", f"edit a.py: diff: {long}", "{}", None, False],
        ["api_result", f"GET https://shop.example/orders/17 -> 200: body: {long}", "{}", None, False],
        ["browser_action", f"extract #all at https://shop.example: text: {long}", "{}", None, False],
    ]
    assert [each.action for each in session_actions(rows[::-1])] == [
        "write_file",
        "git push",
        "pytest",
        "file_edit",
        "GET shop.example/orders/<id>",
        "browser extract",
    ]
