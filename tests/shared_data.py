"""Where the external data and conformance files lie, and the reason to skip where they do not."""

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("HMXGRAPH_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """The path of a shared file or folder; skips the calling test where it is absent."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"external test data not found: shared/{'/'.join(parts)} (set HMXGRAPH_SHARED to its folder)")
    return path
