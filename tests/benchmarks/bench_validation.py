"""The cost of reading and checking an event, compared with plain pydantic and plain jsonschema."""

import gzip
from collections.abc import Callable, Sequence
from itertools import chain
from time import process_time_ns
from typing import Annotated, Any

import jsonschema
import orjson
import pytest
import rfc8785
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from hmxgraph.protocol.canonical import canonical_bytes
from hmxgraph.protocol.document import schema
from hmxgraph.protocol.events import Event
from tests.shared_data import shared

pytestmark = pytest.mark.bench
GOAL_US = 15.0
ROUNDS = 7
Text = Annotated[str, Field(min_length=1)]


class PlainEvent(BaseModel):
    """The printed schema written plainly with pydantic: no sizes, repeated keys or clauses are checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hmx_version: Annotated[str, Field(pattern=r"^HMX-\d+\.\d+$")]
    event_id: Text
    event_type: Text
    agent_id: Text
    tenant_id: Text
    session_id: Text
    timestamp: AwareDatetime
    sequence: Annotated[int, Field(ge=0)]
    content: dict[str, Any]
    metadata: dict[str, Any]
    trace_id: str | None = None
    correlation_id: str | None = None
    parent_event_id: str | None = None
    embeddings: list[float] | None = None
    salience: Annotated[float, Field(ge=0, le=1)] | None = None
    source: str | None = None
    provenance_ref: str | None = None
    tags: list[str] | None = None
    ttl_seconds: Annotated[int, Field(ge=0)] | None = None


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    """Every tenth line of the shared events."""
    data = shared("data")
    files = sorted(chain(data.glob("agent-runs/*.ndjson.gz"), data.glob("conversations/*.ndjson.gz")))
    return [line for path in files for line in gzip.decompress(path.read_bytes()).splitlines()[::10]]


def test_validation(lines: list[bytes]) -> None:
    """Reading and checking an average event takes at most 15 microseconds."""
    plain = jsonschema.Draft202012Validator(schema("event"))
    rivals: dict[str, Callable[[bytes], object]] = {
        "Event.parse": Event.parse,
        "orjson alone (floor, checks nothing)": orjson.loads,
        "plain pydantic, from text": PlainEvent.model_validate_json,
        "plain pydantic, from orjson": lambda line: PlainEvent.model_validate(orjson.loads(line)),
        "plain jsonschema, from orjson": lambda line: plain.is_valid(orjson.loads(line)),
    }
    costs = {name: _microseconds(check, lines) for name, check in rivals.items()}
    print(
        f"\n{len(lines)} events of {sum(map(len, lines)) / len(lines):.0f} bytes on average; microseconds of CPU each:"
    )
    _show(costs, costs["Event.parse"])
    assert costs["Event.parse"] <= GOAL_US


def test_hashing(lines: list[bytes]) -> None:
    """For ordinary documents canonical text is made faster than by the rfc8785 library."""
    documents = [orjson.loads(line) for line in lines[::4]]
    costs = {
        "canonical_bytes": _microseconds(canonical_bytes, documents),
        "rfc8785 library": _microseconds(rfc8785.dumps, documents),
    }
    print(f"\ncanonical text of {len(documents)} events; microseconds of CPU each:")
    _show(costs, costs["canonical_bytes"])
    assert costs["canonical_bytes"] < costs["rfc8785 library"]


def _microseconds(work: Callable[[Any], object], inputs: Sequence[object]) -> float:
    """Processor time for each input, in the best of several rounds."""
    best = min(_round(work, inputs) for _ in range(ROUNDS))
    return best / len(inputs) / 1000


def _round(work: Callable[[Any], object], inputs: Sequence[object]) -> int:
    began = process_time_ns()
    for value in inputs:
        work(value)
    return process_time_ns() - began


def _show(costs: dict[str, float], ours: float) -> None:
    for name, cost in costs.items():
        print(f"  {name:<40}{cost:>10.2f}   {cost / ours:>8.2f} times ours")
