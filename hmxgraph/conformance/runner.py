"""Run every case and vector against an implementation, and judge its answers.

An implementation is a function from a request to an answer, both JSON objects (README.md). It may answer
``{"unsupported": true}``: the case is then untested, which is neither passed nor failed.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from hmxgraph.conformance.kit import (
    SECTIONS,
    at,
    built,
    cases,
    changed,
    digest,
    example,
    example_names,
    statements,
    vectors,
)

Answer: TypeAlias = Mapping[str, Any]
Implementation: TypeAlias = Callable[[dict[str, Any]], Answer]
# A `CaseRun` sends the requests of one case to an implementation, and raises `Wrong` or `Unsupported` unless the case
# passes. A `Trial` calls a `CaseRun` and returns the verdict.
CaseRun: TypeAlias = Callable[[Implementation], None]
Trial: TypeAlias = Callable[[Implementation], "Verdict"]
Outcome: TypeAlias = Literal["passed", "failed", "untested"]
# The kinds of documents.
KINDS = ("event", "artifact", "context-pack", "envelope", "fingerprint", "task-record")
# Maximum number of characters of an expected or actual value in the detail of a verdict.
_LONGEST_DETAIL = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one example, case or vector, with its clause and rule; ``detail`` is what was wrong or missing."""

    name: str
    clause: str
    level: str
    rule: str
    outcome: Outcome
    detail: str = ""

    def document(self) -> dict[str, str]:
        """The verdict as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a specification: its cases, their outcome, and why parts are untested."""

    clause: str
    level: str
    says: str
    cases: tuple[str, ...]
    outcome: Outcome
    untested: str = ""


class Wrong(Exception):
    """An answer differs from what the case expects."""


class Unsupported(Exception):
    """The implementation does not support a request of the case."""


def verdicts(implementation: Implementation) -> Iterator[Verdict]:
    """The verdict on each example, document case, vector and store case, in this order."""
    return (trial(implementation) for trial in trials().values())


def by_clause(results: Iterable[Verdict]) -> tuple[Statement, ...]:
    """Every statement that `statements` lists and every other rule that a case tests, sorted by clause.

    A statement fails if one of its cases fails, and is untested if none of its cases was tested.
    """
    judged = {verdict.name: verdict for verdict in results if verdict.clause}
    specified = [
        Statement(
            row["clause"],
            row["level"],
            row["says"],
            tuple(row["cases"]),
            _combined(judged[name].outcome for name in row["cases"] if name in judged),
            row.get("untested", ""),
        )
        for row in statements()
    ]
    covered = {name for statement in specified for name in statement.cases}
    other_rules = [
        Statement(verdict.clause, verdict.level, verdict.rule, (name,), verdict.outcome)
        for name, verdict in judged.items()
        if name not in covered
    ]
    return tuple(sorted([*specified, *other_rules], key=lambda statement: _clause_order(statement.clause)))


def _combined(outcomes: Iterable[Outcome]) -> Outcome:
    distinct = set(outcomes)
    return "failed" if "failed" in distinct else "passed" if "passed" in distinct else "untested"


def _clause_order(clause: str) -> tuple[str, tuple[int, ...]]:
    """The sort key of a clause: HMX-E 6.10 comes after HMX-E 6.9."""
    document, _, section = clause.partition(" ")
    return document, tuple(int(part) for part in section.split(".") if part.isdigit())


def trials() -> dict[str, Trial]:
    """Each example, document case, vector and store case by name, to be run one by one."""
    case_runs = [(name, "example", partial(_example, name)) for name in example_names()]
    case_runs += [(name, case, partial(_document_case, case)) for name, case in cases(server=False).items()]
    case_runs += [
        (f"{kind} {vector.get('name') or vector['example']}", "vector", partial(_vector, kind, vector))
        for kind, vectors_of_kind in vectors().items()
        for vector in vectors_of_kind
    ]
    case_runs += [(name, case, partial(_store_case, case)) for name, case in cases(server=True).items()]
    return {name: partial(_verdict, name, case, run_case) for name, case, run_case in case_runs}


def _verdict(name: str, case: Mapping[str, Any] | str, run_case: CaseRun, implementation: Implementation) -> Verdict:
    """The verdict on *implementation*; examples and vectors have no clause, so *case* is a text for them."""
    described = {"clause": "", "level": "rule", "rule": case} if isinstance(case, str) else case
    clause, level, rule = (described[part] for part in ("clause", "level", "rule"))
    try:
        run_case(implementation)
    except Wrong as wrong:
        return Verdict(name, clause, level, rule, "failed", str(wrong))
    except Unsupported as missing:
        return Verdict(name, clause, level, rule, "untested", str(missing))
    return Verdict(name, clause, level, rule, "passed")


def _ask(implementation: Implementation, **request: Any) -> Answer:
    answer = implementation(request)
    if answer.get("unsupported"):
        raise Unsupported(" ".join(str(request[part]) for part in ("op", "kind", "of", "step") if part in request))
    return answer


def _expect(condition: object, expected: object, answer: object) -> None:
    if not condition:
        raise Wrong(f"expected {_short(expected)}, got {_short(answer)}")


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str, sort_keys=True)
    return text if len(text) <= _LONGEST_DETAIL else f"{text[: _LONGEST_DETAIL - 1]}…"


# Documents and vectors: nothing is stored.


def _example(name: str, implementation: Implementation) -> None:
    kind = next(kind for kind in KINDS if name.startswith(kind))
    _accepted(implementation, kind, json.dumps(example(name)), {})


def _document_case(case: Mapping[str, Any], implementation: Implementation) -> None:
    """Check that each document is accepted, refused or malformed as stated; streams and mappings have other checks."""
    for check in case["checks"]:
        when, then = check["when"], check["then"]
        if case["given"]["kind"] in _SPECIAL_CHECKS:
            _SPECIAL_CHECKS[case["given"]["kind"]](case["given"], check, implementation)
            continue
        text = when["text"] if "text" in when else json.dumps(changed(example(case["given"]["example"]), when))
        kind = case["given"]["kind"].removeprefix("fingerprint-")  # the kit calls an envelope "fingerprint-envelope"
        if "malformed" in then or "refused" in then:
            _refused(implementation, kind, text, then)
        else:
            _accepted(implementation, kind, text, then)


def _refused(implementation: Implementation, kind: str, text: str, then: Mapping[str, Any]) -> None:
    answer = _ask(implementation, op="read", kind=kind, text=text)
    if "malformed" in then:
        _expect(answer.get("malformed") == then["malformed"], then, answer)
        return
    faults = {(fault["path"], fault["clause"]) for fault in answer.get("refused", ())}
    _expect({(fault["path"], fault["clause"]) for fault in then["refused"]} <= faults, then, answer)


def _accepted(implementation: Implementation, kind: str, text: str, then: Mapping[str, Any]) -> None:
    answer = _ask(implementation, op="read", kind=kind, text=text)
    accepted = answer.get("accepted")
    _expect(isinstance(accepted, Mapping) and accepted.get("document") == json.loads(text), "accepted", answer)
    assert isinstance(accepted, Mapping)
    if "warned" in then:
        _expect(sorted(accepted.get("warnings", ())) == sorted(then["warned"]), then, accepted.get("warnings"))
    for pointer, value in then.get("kept", {}).items():
        _expect(at(accepted["document"], pointer) == value, value, accepted["document"])
    if "hashes_match" in then:
        _expect(accepted.get("hashes_match") is then["hashes_match"], then, accepted)


def _stream_check(_given: Mapping[str, Any], check: Mapping[str, Any], implementation: Implementation) -> None:
    """Check that a reorder window releases events in the stated order, and none later than its length allows."""
    when = check["when"]
    arrivals = [{"at": seconds, "event": built(event)} for seconds, event in when["arrivals"]]
    answer = _ask(implementation, op="release", seconds=when["seconds"], arrivals=arrivals)
    released = answer.get("released", [])
    _expect([event["event_id"] for event in released] == check["then"]["released"], check["then"], answer)
    latest = {arrival["event"]["event_id"]: arrival["at"] + when["seconds"] for arrival in arrivals}
    in_time = all(event["at"] <= latest[event["event_id"]] for event in released)
    _expect(in_time, f"each within {when['seconds']} s", answer)


def _mapping_check(given: Mapping[str, Any], check: Mapping[str, Any], implementation: Implementation) -> None:
    """Check that a document maps to the fields of its internal type, and back without a difference."""
    document = changed(example(given["example"]), check["when"])
    internal = _ask(implementation, op="map", kind=given["of"], document=document).get("internal")
    for pointer, value in check["then"]["internal"].items():
        _expect(_value_at(internal, pointer) == value, {pointer: value}, internal)
    answer = _ask(implementation, op="unmap", kind=given["of"], internal=internal)
    _expect(answer.get("document") == document, "the document as it was", answer)


_SPECIAL_CHECKS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any], Implementation], None]] = {
    "stream": _stream_check,
    "mapping": _mapping_check,
}


def _vector(kind: str, vector: Mapping[str, Any], implementation: Implementation) -> None:
    """Check that the implementation computes the hash or the signature of a vector."""
    if kind == "signature":
        signature = {"algorithm": "Ed25519", "public_key": vector["public_key"], "value": vector["value"]}
        request = {
            "envelope": example(vector["example"]) | {"signature": signature},
            "private_key": vector["private_key"],
        }
        answer = _ask(implementation, op="sign", **request)
        expected = {"value": vector["value"], "signed_sha256": vector["signed_sha256"]}
        _expect(all(answer.get(name) == value for name, value in expected.items()), expected, answer)
        return
    answer = _ask(implementation, op="hash", of=kind, value=_hashed_value(kind, vector))
    _expect(answer.get("hash") == vector["sha256"], vector["sha256"], answer)


def _hashed_value(kind: str, vector: Mapping[str, Any]) -> Any:
    if "value" in vector:
        return vector["value"]
    document = example(vector["example"])
    if kind == "content_hash":
        return document["content"]
    return document.get("fingerprint", document) if kind == "integrity_hash" else document


# Cases that need a store: steps on an empty tenant, then the result and the side effects of one step.


def _store_case(case: Mapping[str, Any], implementation: Implementation) -> None:
    tenant_id = _ask(implementation, op="begin")["tenant_id"]
    earlier: Any = None
    for step in case["given"]:
        earlier = _result(implementation, tenant_id, step)
    before = _ask(implementation, op="look", at="version")["is"]
    _judge_step(implementation, tenant_id, case, earlier)
    for effect in case["side_effects"]:
        for name, value in effect.items():
            _judge_effect(implementation, name, value, before)


def _judge_step(implementation: Implementation, tenant_id: str, case: Mapping[str, Any], earlier: Any) -> None:
    """Take the tested step, and check its result, its error or, for simultaneous steps, their outcomes."""
    then = case["then"]
    if "at_once" in case["when"]:
        _judge_race(_result(implementation, tenant_id, case["when"]), then)
        return
    if "error" not in then:
        _judge_result(_result(implementation, tenant_id, case["when"]), earlier, then)
        return
    answer = _step(implementation, tenant_id, case["when"])
    fields = answer.get("fields", {})
    same = all(fields.get(name) == value for name, value in then.get("fields", {}).items())
    _expect(answer.get("error") == then["error"] and same, then, answer)


def _judge_race(result: Any, then: Mapping[str, Any]) -> None:
    """Check the number of simultaneous steps with each outcome: "done", or the code with which a step was refused.

    *then* states exact numbers, upper limits, or both.
    """
    count = Counter("done" if "result" in answer else answer.get("error") for answer in _value_at(result, "/answers"))
    if "outcomes" in then:
        _expect(count == then["outcomes"], then["outcomes"], dict(count))
    for outcome, limit in then.get("at_most", {}).items():
        _expect(count[outcome] <= limit, f"at most {limit} {outcome}", count)


def _step(implementation: Implementation, tenant_id: str, step: Mapping[str, Any]) -> Answer:
    ((name, arguments),) = step.items()
    return _ask(implementation, op="do", step=name, arguments=_filled(arguments, tenant_id))


def _result(implementation: Implementation, tenant_id: str, step: Mapping[str, Any]) -> Any:
    answer = _step(implementation, tenant_id, step)
    _expect("result" in answer, "a result", answer)
    return answer["result"]


def _filled(described: Any, tenant_id: str) -> Any:
    """*described*, with each description of a document replaced by the document, under the tenant of this case."""
    if isinstance(described, list):
        return [_filled(part, tenant_id) for part in described]
    if not isinstance(described, Mapping):
        return described
    if "$list" in described:
        numbered = (json.dumps(described["$list"]).replace("#", str(index)) for index in range(described["times"]))
        return [_filled(json.loads(line), tenant_id) for line in numbered]
    if "$ndjson" in described:
        lines = (_filled(part, tenant_id) for part in described["$ndjson"])
        return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    if "example" not in described:
        return {name: _filled(part, tenant_id) for name, part in described.items()}
    document = built(described)
    has_tenant = "tenant_id" in document and not described["example"].startswith("envelope")
    return document | {"tenant_id": tenant_id} if has_tenant else document


def _judge_result(result: Any, earlier: Any, then: Mapping[str, Any]) -> None:
    """Check a result against every expectation in *then*; *earlier* is the result of the last step of ``given``."""
    for pointer, value in then.get("result", {}).items():
        actual = _value_at(result, pointer)
        _expect(actual == value, {pointer: value}, actual)
    for pointer, limit in then.get("at_most", {}).items():
        actual = _value_at(result, pointer)
        _expect(actual <= limit, f"{pointer} at most {limit}", actual)
    for pointer, limit in then.get("at_least", {}).items():
        actual = _value_at(result, pointer)
        _expect(actual >= limit, f"{pointer} at least {limit}", actual)
    for pointer, length in then.get("lengths", {}).items():
        actual = len(_value_at(result, pointer))
        _expect(actual == length, f"{pointer} of length {length}", actual)
    for pointer, ending in then.get("ends", {}).items():
        actual = _value_at(result, pointer)
        _expect(actual.endswith(ending), f"{pointer} ends with {ending}", actual)
    for pointer, ids in then.get("sources", {}).items():
        sources = sorted(entry["source_id"] for entry in _value_at(result, pointer))
        _expect(sources == sorted(ids), {pointer: sorted(ids)}, sources)
    if "ordered" in then:
        entries = _value_at(result, then["ordered"])
        _expect(entries == sorted(entries, key=_sort_key), "entries in the order of HMX-C 3.3", "another order")
    if "same_as_before" in then:
        compared = then["same_as_before"]
        _expect(
            _compared_part(result, compared) == _compared_part(earlier, compared),
            "the same as before",
            "another result",
        )


def _value_at(result: Any, pointer: str) -> Any:
    """The value at *pointer* in a result; raises `Wrong` if it is missing."""
    try:
        return at(result, pointer)
    except (LookupError, TypeError) as error:
        raise Wrong(f"expected a value at {pointer}, got {_short(result)}") from error


def _sort_key(entry: Mapping[str, Any]) -> tuple[int, float, int, str]:
    """The sort key of an entry (HMX-C 3.3)."""
    section = SECTIONS.index(entry["section"])
    return section, -entry["relevance_score"], entry["token_estimate"], entry["source_id"]


def _compared_part(result: Any, compared: Mapping[str, Any]) -> Any:
    """The part of a result that is compared: the values at ``only``, or a digest of all except those at ``except``."""
    if "only" in compared:
        return [_value_at(result, pointer) for pointer in compared["only"]]
    document = json.loads(json.dumps(result))
    for pointer in compared.get("except", ()):
        parent, _, name = pointer.rpartition("/")
        at(document, parent).pop(name, None)
    return digest(document)


def _judge_effect(implementation: Implementation, name: str, value: Any, before: Any) -> None:
    """Check one side effect of a step; *before* is the state version of the tenant before the step."""
    if name == "none":
        return
    if name == "unchanged":
        _expect(_ask(implementation, op="look", at="version")["is"] == before, "nothing written", "a write")
        return
    if name == "active":
        statuses = [_ask(implementation, op="look", at="status", of=artifact_id)["is"] for artifact_id in value["of"]]
        _expect(statuses.count("active") >= value["at_least"], {name: value}, statuses)
        return
    if name == "versions":
        chain = _ask(implementation, op="look", at="chain", of=value["of"])["is"]
        _expect(len(chain) == value["is"], {name: value}, chain)
        return
    subject = next(value[key] for key in ("artifact_id", "of", "session_id") if key in value)
    answer = _ask(implementation, op="look", at=name, of=subject)
    _expect(answer.get("is") == value["is"], {name: value}, answer)
