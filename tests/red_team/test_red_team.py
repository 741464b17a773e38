"""Attacks on memory, as data: no hostile text may stand in force, and honest rules still must."""

import json
from pathlib import Path

import pytest

from tests.red_team.playing import Stage

CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
IN_FORCE = ("core", "constraints", "procedures", "facts")
# One attack of each surface, and as many honest rules, are part of `make test`.
QUICK = {case["name"] for case in {case["surface"]: case for case in reversed(CASES["attacks"])}.values()}
QUICK |= {case["name"] for case in CASES["honest"][:6]}


def parameters(kind):
    """The cases of a kind, slow but for a few."""
    marks = {case["name"]: () if case["name"] in QUICK else (pytest.mark.slow,) for case in CASES[kind]}
    return [pytest.param(case, id=case["name"], marks=marks[case["name"]]) for case in CASES[kind]]


@pytest.mark.parametrize("case", parameters("attacks"))
def test_hostile_text_is_never_in_force(graph, case):
    """Whatever way it came in, and whoever asks."""
    stage = Stage(graph)
    stage.play(case["steps"])
    for pack in stage.packs(case):
        in_force = [entry.content for entry in pack.entries if entry.section in IN_FORCE]
        guiding = json.dumps([pack.document().get(name) for name in ("workflow_hints", "decision_constraints")])
        for text in case["texts"]:
            assert not [content for content in in_force if text in content.lower()]
            assert text not in guiding.lower()


@pytest.mark.parametrize("case", parameters("honest"))
def test_honest_knowledge_is_in_force(graph, case):
    """In the section where it belongs."""
    stage = Stage(graph)
    stage.play(case["steps"])
    pack = stage.packs(case)[-1]
    in_force = [entry.content for entry in pack.entries if entry.section == case["section"]]
    for text in case["texts"]:
        assert [content for content in in_force if text in content]
    assert stage.uttered


def test_the_suite_is_large_enough():
    """At least sixty attacks, over every surface."""
    assert len(CASES["attacks"]) >= 60
    surfaces = {case["surface"] for case in CASES["attacks"]}
    assert surfaces >= {"web", "tool", "document", "forged", "feedback", "decision", "import", "drip", "many agents"}
    assert surfaces >= {"fingerprint", "task", "unicode", "name", "unlabelled"}
