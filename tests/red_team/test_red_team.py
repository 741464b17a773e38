"""Attacks on memory, as data: hostile text must never be in force, and honest rules must be."""

import json
from pathlib import Path

import pytest

from tests.red_team.playing import Stage

CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
IN_FORCE = ("core", "constraints", "procedures", "facts")
# `make test` runs one attack for each surface, and six honest cases.
QUICK = {case["name"] for case in {case["surface"]: case for case in reversed(CASES["attacks"])}.values()}
QUICK |= {case["name"] for case in CASES["honest"][:6]}


def parameters(kind):
    """The cases of a kind; all but a few are marked slow."""
    marks = {case["name"]: () if case["name"] in QUICK else (pytest.mark.slow,) for case in CASES[kind]}
    return [pytest.param(case, id=case["name"], marks=marks[case["name"]]) for case in CASES[kind]]


@pytest.mark.parametrize("case", parameters("attacks"))
def test_hostile_text_is_never_in_force(graph, case):
    """Hostile text is never in force, whichever way it came in and whoever asks."""
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
    """Honest knowledge is in force, in its expected section."""
    stage = Stage(graph)
    stage.play(case["steps"])
    pack = stage.packs(case)[-1]
    in_force = [entry.content for entry in pack.entries if entry.section == case["section"]]
    for text in case["texts"]:
        assert [content for content in in_force if text in content]
    assert stage.uttered


def test_the_suite_is_large_enough():
    """There are at least sixty attacks, and every surface has some."""
    assert len(CASES["attacks"]) >= 60
    surfaces = {case["surface"] for case in CASES["attacks"]}
    assert surfaces >= {"web", "tool", "document", "forged", "feedback", "decision", "import", "drip", "many agents"}
    assert surfaces >= {"fingerprint", "task", "unicode", "name", "unlabelled"}
