"""Every notebook runs from top to bottom against the real server, and is kept without outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow
NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.fixture
def surroundings(address, tmp_path, monkeypatch):
    """The environment variables that a reader would set, and a plotting library that opens no window."""
    monkeypatch.setenv("HMXGRAPH_URI", address.uri)
    monkeypatch.setenv("HMXGRAPH_USER", address.user)
    monkeypatch.setenv("HMXGRAPH_PASSWORD", address.password)
    monkeypatch.setenv("MPLBACKEND", "agg")
    return tmp_path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
# The notebook's kernel talks over sockets that its client library leaves to the garbage collector.
@pytest.mark.filterwarnings("default")
def test_notebook_runs(path, surroundings):
    """All cells run without an error."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(surroundings)}}).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_clean(path):
    """A notebook is stored without outputs and counts, so that its history shows what people changed."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert [cell for cell in cells if cell.outputs or cell.execution_count] == []
