"""Every case of the kit that needs no server."""

import json
import re

import pytest

from hmxgraph.errors import InvalidDocument, MalformedJson
from hmxgraph.protocol.artifacts import Artifact
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.fingerprints import Envelope, Fingerprint
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.protocol.records import TaskRecord
from tests.conformance.kit import HERE, at, built, cases, changed, example, example_names

KINDS = {
    "event": Event,
    "artifact": Artifact,
    "context-pack": ContextPack,
    "fingerprint-envelope": Envelope,
    "envelope": Envelope,
    "fingerprint": Fingerprint,
    "task-record": TaskRecord,
}
CHECKS = [
    pytest.param(case["given"], check, id=f"{name}-{number}")
    for name, case in cases(server=False).items()
    for number, check in enumerate(case["checks"], start=1)
]


@pytest.mark.parametrize(("given", "check"), CHECKS)
def test_case(given, check):
    """The document is accepted, refused or warned of exactly as the case says, with path and clause."""
    document, then = _subject(given, check["when"]), check["then"]
    kind = KINDS[given["kind"]]
    if "malformed" in then:
        with pytest.raises(MalformedJson, match=re.escape(then["malformed"])):
            kind.parse(document)
    elif "refused" in then:
        _assert_refused(kind, document, then["refused"])
    else:
        _assert_accepted(kind.parse(document), json.loads(document), then)


@pytest.mark.parametrize("name", example_names())
def test_example(name):
    """An example document is accepted, comes back as it was, and keeps its bytes."""
    document = example(name)
    kind = next(kind for prefix, kind in KINDS.items() if name.startswith(prefix))
    parsed = kind.parse(json.dumps(document))
    assert parsed.document() == document
    assert kind.parse(parsed.to_json()) == parsed
    assert kind.parse(document).to_json() == parsed.to_json()


@pytest.mark.parametrize("name", sorted(cases(server=True)))
def test_server_case_is_well_formed(name):
    """A case for a server says what is given, done, expected and left behind, with documents that can be built."""
    case = cases(server=True)[name]
    assert case.keys() == {"clause", "level", "rule", "needs", "given", "when", "then", "side_effects"}
    for step in [*case["given"], case["when"]]:
        for described in _documents(step):
            kind = next(kind for prefix, kind in KINDS.items() if described["example"].startswith(prefix))
            assert kind.faults(built(described)) == ()


def test_every_case_is_in_the_table():
    """The README's table and the folder list the same cases."""
    named = re.findall(r"\| `((?:json|hmx|memd)-[a-z0-9-]+)` \|", (HERE / "README.md").read_text(encoding="utf-8"))
    assert sorted(named) == sorted([*cases(server=False), *cases(server=True)])


def _subject(given, when):
    return when["text"] if "text" in when else json.dumps(changed(example(given["example"]), when))


def _assert_refused(kind, document, expected):
    with pytest.raises(InvalidDocument) as refusal:
        kind.parse(document)
    found = {(fault.path, fault.clause) for fault in refusal.value.faults}
    assert {(fault["path"], fault["clause"]) for fault in expected} <= found


def _assert_accepted(parsed, document, then):
    assert parsed.document() == document
    if "warned" in then:
        assert sorted(warning.partition(":")[0] for warning in parsed.warnings) == sorted(then["warned"])
    for pointer, value in then.get("kept", {}).items():
        assert at(parsed.document(), pointer) == value
    if "hashes_match" in then:
        both = parsed.hash_matches and Fingerprint.parse(parsed.fingerprint).hash_matches
        assert both is then["hashes_match"]


def _documents(step):
    if isinstance(step, dict):
        if "example" in step:
            yield step
        for part in step.values():
            yield from _documents(part)
    elif isinstance(step, list):
        for part in step:
            yield from _documents(part)
