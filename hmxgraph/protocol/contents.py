"""What deviates from the contents that the specifications describe by type.

Deviations never refuse a document: unknown fields are legal (HMX-E 4), and the documents' own schemas, which ask for
no more than an object, decide what is accepted.
"""

import functools
from typing import Any

from hmxgraph.errors import Fault
from hmxgraph.protocol.schemas import schema
from hmxgraph.protocol.validation import Structure

_CLAUSES = {
    "message": "HMX-E 4.1",
    "tool_call": "HMX-E 4.2",
    "tool_result": "HMX-E 4.3",
    "decision": "HMX-E 4.4",
    "error": "HMX-E 4.5",
    "feedback": "HMX-E 4.6",
    "task_schema": "HMX-A 4.1",
    "failure_playbook": "HMX-A 4.2",
    "decision_policy": "HMX-A 4.3",
    "causal_pattern": "HMX-A 4.4",
    "strategy_template": "HMX-A 4.5",
}


def content_faults(kind: str, of_type: str, content: Any) -> tuple[Fault, ...]:
    """How the *content* of an "event" or "artifact" deviates from what its type describes; nothing for other types.

    >>> [str(fault) for fault in content_faults("event", "message", {"role": "robot", "text": "hi", "mood": 1})]
    ["$.content.role: found 'robot', expected one of user, assistant, system (HMX-E 4.1)"]
    """
    structure = _structures(kind).get(of_type)
    if structure is None or structure.validator.is_valid(content):
        return ()
    return tuple(structure.faults(content, ("content",)))


@functools.cache
def _structures(kind: str) -> dict[str, Structure]:
    name = f"{kind}-content"
    return {of_type: Structure(name, {"": _CLAUSES[of_type]}, definition=of_type) for of_type in schema(name)["$defs"]}
