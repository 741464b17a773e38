"""hmxgraph passes the conformance kit, and the kit is well formed and complete."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import hmxgraph
import hmxgraph.conformance
from hmxgraph.conformance.adapter import StoreAdapter, documents
from hmxgraph.conformance.kit import built, cases, example, example_names, statements
from hmxgraph.conformance.runner import by_clause, trials
from tests.shared_data import shared

README = Path(hmxgraph.conformance.__file__).with_name("README.md")
TRIALS = trials()
STORE_CASES = sorted(cases(server=True))


@pytest.mark.parametrize("name", [name for name in TRIALS if name not in STORE_CASES])
def test_documents(name):
    """Each example, document case and vector passes without a server."""
    verdict = TRIALS[name](documents)
    assert verdict.outcome == "passed", verdict.detail


@pytest.mark.parametrize("name", STORE_CASES)
def test_store(name, address):
    """Each case that needs a store passes on a real Neo4j, through the public interface."""
    adapter = StoreAdapter(partial(_opened, address))
    try:
        verdict = TRIALS[name](adapter)
    finally:
        adapter.close()
    assert verdict.outcome == "passed", verdict.detail


@pytest.mark.parametrize("name", example_names())
def test_an_example_keeps_its_bytes(name):
    """Reading an example returns the same document each time."""
    document = example(name)
    first, second = (documents({"op": "read", "kind": _kind(name), "text": json.dumps(document)}) for _ in range(2))
    assert first == second
    assert first["accepted"]["document"] == document


@pytest.mark.parametrize("name", STORE_CASES)
def test_a_store_case_is_well_formed(name):
    """A store case has all required parts, and its documents can be built."""
    case = cases(server=True)[name]
    assert case.keys() == {"clause", "level", "rule", "needs", "given", "when", "then", "side_effects"}
    for step in [*case["given"], case["when"]]:
        for described in _described(step):
            request = {"op": "read", "kind": _kind(described["example"]), "text": json.dumps(built(described))}
            assert "accepted" in documents(request)


def test_every_case_is_in_the_table():
    """The README's table lists exactly the cases in the folder."""
    named = re.findall(r"\| `((?:json|hmx|memd)-[a-z0-9-]+)` \|", README.read_text(encoding="utf-8"))
    assert sorted(named) == sorted([*cases(server=False), *cases(server=True)])


def test_every_must_is_quoted_with_its_cases_or_a_reason():
    """Every normative sentence of the specifications is quoted with existing cases, or a reason for having none."""
    names = {*cases(server=False), *cases(server=True)}
    for row in statements():
        assert names.issuperset(row["cases"])
        assert row["cases"] or row["untested"]
    quotes = sorted((_plain(row["says"]) for row in statements()), key=len, reverse=True)
    for path in sorted(shared("spec").glob("*.txt")):
        text = _plain(path.read_text(encoding="utf-8"))
        for quote in quotes:
            text = text.replace(quote, "")
        assert re.findall(r"[^.]{0,80}\b(?:MUST|SHOULD|MAY|RECOMMENDED)\b[^.]{0,40}", text) == []


def test_a_clause_fails_with_one_of_its_cases():
    """A clause gets the worst verdict of its cases, and the table covers every case."""
    results = [trial(documents) for trial in TRIALS.values()]
    bad = [replace(result, outcome="failed") if result.name == "hmx-e-06-4-sequence" else result for result in results]
    sequence = next(row for row in by_clause(bad) if row.clause == "HMX-E 6.4")
    assert (sequence.outcome, len(sequence.cases)) == ("failed", 2)
    table = by_clause(results)
    assert {name for row in table for name in row.cases} == {*cases(server=False), *cases(server=True)}
    assert [row.says for row in table if row.level == "MUST" and not row.cases and not row.untested] == []


def _plain(text):
    return " ".join(text.replace("`", "").split())


def test_a_result_without_the_value_is_a_failure():
    """An implementation that omits a checked value fails that case without stopping the kit."""
    answers = {"begin": {"tenant_id": "t"}, "look": {"is": 1}, "do": {"result": {}}}
    verdict = TRIALS["hmx-a-08-2-dedup"](lambda request: answers[request["op"]])
    assert (verdict.outcome, verdict.detail) == ("failed", "expected a value at /outcome, got {}")


@pytest.mark.parametrize("name", ["hmx-a-07-8-writers-at-once", "hmx-a-07-9-loop-at-once"])
def test_a_store_that_lets_every_writer_through_fails(name):
    """A store that accepts all concurrent writers of one successor fails."""

    def careless(request):
        done = {"result": {}}
        many = request.get("step") == "at_once"
        given = request.get("arguments")
        answers = {"begin": {"tenant_id": "t"}, "look": {"is": 2}}
        return answers.get(request["op"]) or ({"result": {"answers": [done for _ in given]}} if many else done)

    verdict = TRIALS[name](careless)
    assert verdict.outcome == "failed"
    assert "done" in verdict.detail


def _opened(address, tenant_id):
    login = {"user": address.user, "password": address.password, "database": address.database}
    return hmxgraph.connect(address.uri, tenant_id=tenant_id, **login)


def _kind(example_name):
    kinds = ("event", "artifact", "context-pack", "envelope", "fingerprint", "task-record")
    return next(kind for kind in kinds if example_name.startswith(kind))


def _described(step):
    if isinstance(step, dict):
        if "example" in step:
            yield step
        for part in step.values():
            yield from _described(part)
    elif isinstance(step, list):
        for part in step:
            yield from _described(part)


def test_the_page_shows_what_its_example_scores(tmp_path):
    """The adapter in the documentation runs as printed and gets the score the page states."""
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(page.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    command = [sys.executable, "-m", "hmxgraph.conformance", "--adapter", "mine:answer"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert f"The output ends with `{done.stdout.splitlines()[-1].strip().rpartition(', ')[0]}`" in page
    assert re.search(r"read fingerprint: +(\d+)", done.stdout)[0] in page
