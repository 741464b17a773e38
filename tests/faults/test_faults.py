"""The planted faults still fit the code, so that ``python -m tests.faults`` can plant each of them."""

import ast
import json

import pytest

from tests.faults.faults import ROOT, faults

KIT, SUITE = faults("kit"), faults("suite")


@pytest.mark.parametrize("fault", [*KIT, *SUITE], ids=lambda fault: f"{fault.file}: {fault.breaks}"[:100])
def test_a_fault_can_be_planted(fault):
    """Its place is in the file, once; the text changes, and still has the syntax of its language."""
    text = fault.text()
    assert text != (ROOT / fault.file).read_text(encoding="utf-8")
    if fault.file.endswith(".py"):
        ast.parse(text)
    if fault.file.endswith(".json"):
        json.loads(text)


def test_as_many_faults_as_promised():
    """Sixty for the kit; a hundred for the suite, of which twenty are bugs that once were."""
    assert len(KIT) >= 60
    assert len(SUITE) >= 100
    assert sum(bool(fault.commit) for fault in SUITE) >= 20
    assert len({(fault.file, fault.old, fault.new) for fault in (*KIT, *SUITE)}) == len(KIT) + len(SUITE)
