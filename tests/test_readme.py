"""The README's examples run, in order, against the real server."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def surroundings(address, tenant_id, tmp_path, monkeypatch):
    """An empty folder and the environment variables that a reader would set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HMXGRAPH_URI", address.uri)
    monkeypatch.setenv("HMXGRAPH_USER", address.user)
    monkeypatch.setenv("HMXGRAPH_PASSWORD", address.password)
    return {"__name__": "readme", "tenant": tenant_id}


def test_python_examples_run(surroundings):
    """Every Python block of the README runs in one go, as a reader would type them."""
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert blocks
    for block in blocks:
        exec(compile(block.replace('tenant_id="acme"', "tenant_id=tenant"), str(README), "exec"), surroundings)  # noqa: S102
