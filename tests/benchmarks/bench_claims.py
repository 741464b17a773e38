"""The claim set and the scripted day on a server: how many verdicts are right, how many questions a resume answers."""

import pytest

from tests.claims.working_day import DAY, TASK, is_answered, work
from tests.claims.worlds import CASES, WORLDS, fields_of

pytestmark = pytest.mark.bench
GOAL = 0.95


@pytest.fixture
def project_worlds(graph):
    """A graph with every world of the claim set as a project."""
    for world in WORLDS:
        for place in range(len(world["records"])):
            fields = fields_of(world, place) | {"project_id": world["name"]}
            at_ms = fields.pop("timestamp_created")
            at = f"1970-01-01T{at_ms // 3_600_000:02}:{at_ms // 60_000 % 60:02}:00Z"
            graph.records.create(fields.pop("artifact_kind"), at=at, **fields)
    return graph


def test_claims(project_worlds):
    """Print how many verdicts are right: in all, for adversarial claims, and for held-out worlds."""
    right = {
        (world["name"], case["claim"]): project_worlds.records.find_related(
            case["claim"], project_id=world["name"]
        ).grounding_status
        == case["verdict"]
        for world, case in CASES
    }
    groups = {
        "all claims": CASES,
        "adversarial": [pair for pair in CASES if "trap" in pair[1]],
        "worlds held out": [pair for pair in CASES if pair[0]["held_out"]],
    }
    print()
    for name, cases in groups.items():
        count = sum(right[world["name"], case["claim"]] for world, case in cases)
        print(f"{name}: {count} of {len(cases)} verdicts right ({100 * count / len(cases):.1f} %)")
    print("wrong:", [claim for claim, is_right in right.items() if not is_right])
    assert sum(right.values()) >= GOAL * len(right)


def test_handoff(graph):
    """Print the resume after the scripted day, and the next agent's questions that it does not answer."""
    work(graph)
    text = graph.tasks.resume(TASK).text
    wrong = [question["asks"] for question in DAY["question"] if not is_answered(question, text)]
    count = len(DAY["question"])
    print(f"\n{text}\n\n{count - len(wrong)} of {count} questions answered from the resume; not: {wrong}")
    assert len(wrong) <= (1 - GOAL) * count
