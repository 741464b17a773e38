"""ATIF, the Agent Trajectory Interchange Format: one run of an agent as steps of system, user and agent.

Harbor, terminal-bench and several agents write it, one trajectory per file or line. A step of the agent holds its text,
reasoning, calls and their results. The trajectory of a sub-agent may be inside that of its parent.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from hmxgraph.errors import Fault
from hmxgraph.formats._conversations import Talk, talks
from hmxgraph.formats._values import fields_of, listed, mapping, name, present, text
from hmxgraph.formats.conversion import Format, JsonObject, Match, Origin, Outcome, Record

Fields: TypeAlias = Mapping[str, Any]
_ROLES = {"system": "system", "user": "user", "agent": "assistant"}
# Trajectories inside trajectories are read to this depth.
_DEEPEST = 8


def recognise(sample: Sequence[Any]) -> Match:
    """The share of records that are trajectories.

    >>> recognise([{"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a"}, "steps": []}]).score
    1.0
    """
    fitting = [isinstance(value, Mapping) and _is_trajectory(value) for value in sample]
    score = sum(fitting) / len(fitting) if fitting else 0.0
    return Match(round(score, 2), () if score == 1.0 else ("schema_version ATIF-v1", "steps"))


def _is_trajectory(value: Fields) -> bool:
    return name(value.get("schema_version")).startswith("ATIF-v1") and isinstance(value.get("steps"), list)


def convert(records: Iterable[Record], origin: Origin) -> Iterator[Outcome]:
    """One outcome per record: the events of its trajectory and of the trajectories inside it."""
    for record in records:
        if not isinstance(record.value, Mapping):
            yield from talks((record,), origin, _unwrap)
            continue
        parts = [replace(record, value=trajectory) for trajectory in _trajectories(record.value)]
        yield _together(record, list(talks(parts, origin, _unwrap)))


def _trajectories(value: Fields, parent: str = "", depth: int = 0) -> Iterator[JsonObject]:
    """The trajectory *value*, and those of its sub-agents, each with the session of its parent."""
    yield dict(value) | present(parent=parent)
    inner = listed(value.get("subagent_trajectories")) if depth < _DEEPEST else []
    for number, trajectory in enumerate(filter(None, map(mapping, inner)), start=1):
        session_id = name(trajectory.get("trajectory_id")) or f"{_session(value)}/{number}"
        # A sub-agent may have the session id of its parent, but becomes a separate session here.
        yield from _trajectories({**trajectory, "session_id": session_id}, _session(value), depth + 1)


def _session(trajectory: Fields) -> str:
    return name(trajectory.get("session_id")) or name(trajectory.get("trajectory_id"))


def _together(record: Record, outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of a record, merged from those of its trajectories; a fault in one is a fault of the record."""
    faulty = next((outcome for outcome in outcomes if outcome.fault is not None), None)
    if faulty is not None:
        return replace(faulty, record=record)
    first_with_events = next((outcome for outcome in outcomes if outcome.events), outcomes[0])
    return replace(
        first_with_events,
        record=record,
        events=tuple(event for outcome in outcomes for event in outcome.events),
        left_out=tuple(reason for outcome in outcomes for reason in outcome.left_out),
        warnings=tuple(dict.fromkeys(warning for outcome in outcomes for warning in outcome.warnings)),
    )


def _unwrap(value: Fields) -> Talk | Fault:
    """The messages of a trajectory's steps."""
    if not _is_trajectory(value):
        return Fault("$", "ATIF", fields_of(value), 'a trajectory: schema_version "ATIF-v1..." and steps')
    agent = mapping(value.get("agent"))
    messages: list[JsonObject] = []
    time = _first_time(value)
    for index, step in enumerate(map(mapping, value["steps"])):
        if name(step.get("source")) not in _ROLES:
            return Fault(f"$.steps[{index}].source", "ATIF", repr(step.get("source"))[:80], "system, user or agent")
        # A step without a time gets the time of the step before it; steps before the first time get that time.
        time = step.get("timestamp") or time
        model = name(step.get("model_name")) or name(agent.get("model_name"))
        messages += (message | present(timestamp=time, model=model) for message in _messages(step))
    envelope = present(session_id=_session(value), agent_id=name(agent.get("name")))
    metadata = present(version=name(agent.get("version")), parent_session_id=value.get("parent"))
    return Talk(tuple(messages), whole=True, envelope=envelope, metadata={"format": "atif"} | metadata)


def _first_time(trajectory: Fields) -> Any:
    """The first timestamp in the list of steps; None if no step has one."""
    return next((step["timestamp"] for step in map(mapping, trajectory["steps"]) if step.get("timestamp")), None)


def _messages(step: Fields) -> Iterator[JsonObject]:
    """The message of a step, with its calls, and a message for each result of these calls."""
    message = step.get("message")
    thought = text(step.get("reasoning_content"))
    blocks = [{"type": "thinking", "thinking": thought}] if thought else []
    blocks += [{"type": "text", "text": message}] if isinstance(message, str) else listed(message)
    calls = [_call(mapping(call)) for call in listed(step.get("tool_calls"))]
    only_call = calls[0]["id"] if len(calls) == 1 else ""
    yield {"role": _ROLES[name(step["source"])], "content": blocks, "tool_calls": calls}
    for result in map(mapping, listed(mapping(step.get("observation")).get("results"))):
        if result.get("content") is not None:
            yield _result(result, only_call)


def _call(call: Fields) -> JsonObject:
    function = {"name": name(call.get("function_name")), "arguments": call.get("arguments")}
    return {"id": name(call.get("tool_call_id")), "function": function}


def _result(result: Fields, only_call: str) -> JsonObject:
    """The result as a message; if it names no call, it belongs to the only call of the step, if there is just one."""
    failed = result.get("is_error")
    return {"role": "tool", "content": result["content"]} | present(
        tool_call_id=name(result.get("source_call_id")) or only_call,
        status=("error" if failed else "success") if isinstance(failed, bool) else None,
    )


ATIF = Format("atif", "ATIF trajectories", recognise, convert)
