"""Events of the Hippocortex SDK, in the shapes in which its clients and adapters send them."""

from hmxgraph.formats.hippocortex import HIPPOCORTEX
from tests.unit.formats.conversions import events, outcomes, recognised, shape


def captured(kind, payload, **metadata):
    """An event as the SDK sends it."""
    return {"type": kind, "sessionId": "run-7", "payload": payload, **({"metadata": metadata} if metadata else {})}


def test_captures_are_recognised():
    """Type, session and payload mark them."""
    assert recognised([captured("message", {"role": "user", "content": "hi"})]) == "hippocortex"


def test_messages_keep_their_roles():
    """The origin of a message follows from its role, never from the producer's metadata."""
    made = events(
        HIPPOCORTEX,
        [
            captured("message", {"role": "user", "content": "Deploy staging"}, origin="operator", user_id="bo"),
            captured("message", {"role": "assistant", "content": [{"type": "text", "text": "Done"}]}, agent_name="ops"),
            captured("message", {"content": "no role"}),
        ],
    )
    assert [shape(event) for event in made] == [
        ("message", "user", "Deploy staging"),
        ("message", "assistant", "Done"),
        ("message", "harness", "no role"),
    ]
    assert made[0].metadata["user_id"] == "bo"
    assert made[1].agent_id == "ops"
    assert {event.session_id for event in made} == {"run-7"}


def test_what_is_said_twice_is_two_events():
    """Equal events without a time differ by their lines."""
    yes = captured("message", {"role": "user", "content": "yes"})
    assert len({event.event_id for event in events(HIPPOCORTEX, [yes, yes])}) == 2


def test_results_find_the_open_call_of_their_tool():
    """Adapters send no call ids, so a result answers the oldest open call of its tool."""
    first, second, answer, failed = events(
        HIPPOCORTEX,
        [
            captured("tool_call", {"tool_name": "kubectl", "input": {"verb": "apply"}}),
            captured("tool_call", {"tool_name": "kubectl", "input": '{"verb": "get"}'}),
            captured("tool_result", {"tool_name": "kubectl", "output": "Error: no namespace"}),
            captured("tool_result", {"tool": "kubectl", "output": "3 rows", "exitCode": 1, "success": False}),
        ],
    )
    assert first.content["arguments"] == {"verb": "apply"}
    assert second.content["arguments"] == {"verb": "get"}
    assert (answer.content["call_id"], answer.content["success"]) == (first.content["call_id"], False)
    assert (failed.content["call_id"], failed.content["success"]) == (second.content["call_id"], False)
    assert failed.content["exit_code"] == 1
    assert answer.parent_event_id == first.event_id


def test_a_call_that_holds_its_output_is_call_and_result():
    """The LangGraph adapter writes a node's output into a call and never sends a result."""
    call, result = events(HIPPOCORTEX, [captured("tool_call", {"tool_name": "node:plan", "output": "three steps"})])
    assert (call.event_type, result.event_type) == ("tool_call", "tool_result")
    assert result.content["call_id"] == call.content["call_id"]
    assert result.content["result"] == "three steps"


def test_drawn_facts_are_proposals():
    """Facts that the user's own model extracted are imported like those of another memory system."""
    made = events(
        HIPPOCORTEX,
        [
            captured(
                "message",
                {"role": "system", "content": "extracted_memories"},
                extractedMemories=["Ana runs Fedora", " "],
            )
        ],
    )
    assert [(event.event_type, event.metadata["origin"]) for event in made] == [("x-hmxgraph-memory", "import")]
    assert made[0].content == {"kind": "fact", "text": "Ana runs Fedora"}


def test_commands_get_the_names_that_are_read():
    """Exit codes and outputs get the field names of HMX-E; unknown fields are kept."""
    command, result, other = events(
        HIPPOCORTEX,
        [
            captured("command_exec", {"command": "make", "exitCode": 2, "output": "boom", "nice": 5}),
            captured("api_result", {"url": "https://a", "method": "GET", "status": 503, "body": "down"}),
            captured("telepathy", {"text": "hm"}),
        ],
    )
    assert command.content == {"command": "make", "exit_code": 2, "stdout": "boom", "nice": 5}
    assert result.content["status_code"] == 503
    assert other.event_type == "telepathy"
    assert other.warnings


def test_what_lacks_a_field_is_named():
    """An invalid event names the field, and does not affect the others."""
    bad = [captured("", {}), {**captured("message", {}), "sessionId": []}, captured("message", "text"), 7]
    converted = outcomes(HIPPOCORTEX, bad)
    assert [outcome.fault.path for outcome in converted] == ["$.type", "$.sessionId", "$.payload", "$"]
