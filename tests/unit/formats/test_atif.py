"""ATIF trajectories: the steps of one run, with the calls, results and sub-agents in them."""

import pytest

from hmxgraph.formats.atif import ATIF
from tests.unit.formats.conversions import events, outcomes, recognised, shape

CALL = {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "make"}}


def trajectory(*steps, **fields):
    """A trajectory of these steps."""
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]
    agent = {"name": "builder", "version": "1.0", "model_name": "m-1"}
    return {"schema_version": "ATIF-v1.6", "session_id": "run-1", "agent": agent, "steps": numbered, **fields}


def step(source, message="", **fields):
    """A step."""
    return {"source": source, "message": message, **fields}


RUN = trajectory(
    step("system", "You build software."),
    step("user", "Build it", timestamp="2026-03-14T03:00:00Z"),
    step(
        "agent",
        "I run make.",
        timestamp="2026-03-14T03:00:05Z",
        reasoning_content="There is a Makefile.",
        tool_calls=[CALL],
        observation={"results": [{"source_call_id": "c1", "content": "Error: no rule", "is_error": True}]},
    ),
    step("agent", "It cannot be built.", model_name="m-2"),
)


def test_steps_become_messages_calls_and_results():
    """A step's reasoning, text and calls come in order, then its observations."""
    made = events(ATIF, [RUN])
    assert [shape(event) for event in made] == [
        ("message", "operator", "You build software."),
        ("message", "user", "Build it"),
        ("x-hmxgraph-reasoning", "assistant", "There is a Makefile."),
        ("message", "assistant", "I run make."),
        ("tool_call", "assistant", "bash"),
        ("tool_result", "tool", "bash"),
        ("message", "assistant", "It cannot be built."),
    ]
    assert [event.sequence for event in made] == sorted(event.sequence for event in made)
    assert {(event.session_id, event.agent_id) for event in made} == {("run-1", "builder")}
    call, result = made[4], made[5]
    assert call.content["arguments"] == {"command": "make"}
    assert (result.content["success"], result.parent_event_id) == (False, call.event_id)
    assert (made[3].metadata["model"], made[6].metadata["model"]) == ("m-1", "m-2")
    assert made[1].timestamp.startswith("2026-03-14T03:00:00")
    assert recognised([RUN]) == "atif"


def test_a_result_that_names_no_call_is_that_of_the_only_one():
    """An observation without a call becomes a result of its own."""
    observed = {"results": [{"content": "built"}]}
    made = events(ATIF, [trajectory(step("agent", tool_calls=[CALL], observation=observed))])
    assert made[1].content["call_id"] == "c1"
    two = [CALL, {**CALL, "tool_call_id": "c2"}]
    made = events(ATIF, [trajectory(step("agent", tool_calls=two, observation=observed))])
    assert [event.event_type for event in made] == ["tool_call", "tool_call", "tool_result"]
    assert "call_id" not in made[2].content


def test_a_sub_agent_has_a_session_of_its_own():
    """A sub-agent's session is named by its trajectory or its position, and refers to its parent session."""
    named = trajectory(step("user", "Search"), trajectory_id="search-7")
    unnamed = trajectory(step("user", "Count"))
    whole = trajectory(step("user", "Do both"), subagent_trajectories=[named, unnamed])
    made = events(ATIF, [whole])
    assert [(event.session_id, event.content["text"]) for event in made] == [
        ("run-1", "Do both"),
        ("search-7", "Search"),
        ("run-1/2", "Count"),
    ]
    assert [event.metadata.get("parent_session_id") for event in made] == [None, "run-1", "run-1"]


def test_a_trajectory_that_grew_is_continued():
    """A file that is read again, or a later line of the same run, adds what is new."""
    longer = trajectory(*RUN["steps"], step("user", "Thanks"))
    first, second = outcomes(ATIF, [RUN, longer])
    assert len(first.events) == 7
    assert [event["content"]["text"] for event in second.events] == ["Thanks"]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"schema_version": "ATIF-v1.4"}, "$"),
        ({"schema_version": "ATIF-v2.0", "steps": []}, "$"),
        (trajectory(step("user", "a"), step("robot", "b")), "$.steps[1].source"),
        (trajectory(step("user"), subagent_trajectories=[{"schema_version": "x"}]), "$"),
    ],
)
def test_what_is_no_trajectory_is_rejected_whole(value, place):
    """An invalid trajectory is rejected with the path of the fault, and nothing of it is stored."""
    (rejected,) = outcomes(ATIF, [value])
    assert rejected.fault.path == place
