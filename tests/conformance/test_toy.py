"""A second implementation, in JavaScript, passes the cases it covers, and the kit finds every fault planted in it."""

import shutil
from pathlib import Path

import pytest

from hmxgraph.conformance.__main__ import Program
from hmxgraph.conformance.kit import cases
from hmxgraph.conformance.runner import trials

TOY = Path(__file__).with_name("toy") / "hmx.mjs"
NODE = shutil.which("node")
FAULTS = {
    "duplicate names": ('if (name in object) throw new Malformed("duplicate_key");', ""),
    "one level too many": ("depth >= 64", "depth >= 65"),
    "infinite numbers": ('if (!Number.isFinite(value)) throw new Malformed("not_finite");', ""),
    "lone surrogates": ('if (!value.isWellFormed()) throw new Malformed("lone_surrogate");', ""),
    "names in order of arrival": ("Object.keys(value).sort()", "Object.keys(value)"),
    "minus zero": ("JSON.stringify(value === 0 ? 0 : value)", 'Object.is(value, -0) ? "-0" : JSON.stringify(value)'),
    "version at the start only": ("^HMX-[0-9]+\\.[0-9]+$/", "^HMX-[0-9]+\\.[0-9]+/"),
    "leap second at any minute": ("% 1440 === 1439", "% 1440 >= 0"),
    "29 February": ("date.getUTCMonth() !== month - 1 || ", "false && "),
    "salience above one": ("value >= 0 && value <= 1],", "value >= 0 && value <= 2],"),
    "unknown fields": ('fault(`$.${name}`, "HMX-E 5")', "undefined"),
    "empty embeddings": ("Array.isArray(value) && value.length > 0", "Array.isArray(value)"),
    "one tag too many": ("isText, 64]", "isText, 65]"),
    "content one byte too large": ("content: 512 * 1024", "content: 512 * 1024 + 1"),
    "first fault only": ("refused.length ? { refused }", "refused.length ? { refused: refused.slice(0, 1) }"),
    "custom types warned of": ("&& !CUSTOM.test(event.event_type)", ""),
    "hash of the whole fingerprint": ('of !== "fingerprint_hash"', "true"),
    "signature over the signature": ("canonical(rest)", "canonical(envelope)"),
}

pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed: the toy implementation is JavaScript")


def failed(source):
    """The failed document cases and vectors of the toy at *source*, and the number passed."""
    with_store = cases(server=True)
    program = Program(f"{NODE} {source}")
    try:
        verdicts = [trial(program) for name, trial in trials().items() if name not in with_store]
    finally:
        program.close()
    passed = sum(verdict.outcome == "passed" for verdict in verdicts)
    return {verdict.name: verdict.detail for verdict in verdicts if verdict.outcome == "failed"}, passed


def test_the_toy_passes():
    """The toy passes every case about events, JSON, hashes and signatures; other cases count as untested."""
    wrong, passed = failed(TOY)
    assert wrong == {}
    assert 40 <= passed < len(trials())


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault, tmp_path):
    """Each fault planted in the toy fails at least one case."""
    right, wrong = FAULTS[fault]
    source = TOY.read_text(encoding="utf-8")
    assert source.count(right) == 1
    planted = tmp_path / "hmx.mjs"
    planted.write_text(source.replace(right, wrong), encoding="utf-8")
    assert failed(planted)[0]
