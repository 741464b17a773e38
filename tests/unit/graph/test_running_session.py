"""The running session as packs see it: what was called, and what of it failed."""

from hmxgraph.graph.rows.packs.running_session import happened

CALL = ["tool_call", "bash(ls)", '{"tool_name": "bash"}', "c1", False]


def test_what_came_of_a_call_stands_under_its_action():
    """A result by its call id, one without under its tool's last call, an error without under what was done last."""
    told = list(
        happened(
            [
                ["error", "no space left", "{}", None, True],
                ["test_run", "$ make test -> exit 2", '{"command": "make test", "exit_code": 2}', None, True],
                ["tool_result", "bash -> failed: 0", "{}", "c1", False],
                ["tool_result", "bash failed: denied", "{}", None, True],
                CALL,
            ]
        )
    )
    assert [each.action for each in told] == ["bash", "bash", "bash", "make test", "make test"]
    assert [each.failed for each in told] == [False, True, False, True, True]


def test_a_deed_too_long_to_be_fetched_goes_by_its_text():
    """Its content is left out then."""
    [told] = happened([["tool_call", "write_file(text=" + "x" * 300, "{}", None, False]])
    assert told.action == "write_file"
