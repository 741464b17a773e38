"""The location of external data and conformance files, and skips for tests that lack them."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(os.environ.get("HMXGRAPH_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """The path of a shared file or folder; skips the calling test if it is missing."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(_absent(*parts))
    return path


def cases(values: Iterable[Any], *parts: str) -> list[Any]:
    """Parameters from a shared file or folder; if there are none, one that is skipped with the reason."""
    return list(values) or [pytest.param(None, marks=pytest.mark.skip(reason=_absent(*parts)))]


def _absent(*parts: str) -> str:
    return f"external test data not found: shared/{'/'.join(parts)} (set HMXGRAPH_SHARED to its folder)"
