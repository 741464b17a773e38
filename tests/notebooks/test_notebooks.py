"""Every notebook runs from top to bottom against the real server, and is kept with outputs of the same kinds."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.session_makers import repaired_deployment

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
OWN_MEMORY = [path for path in NOTEBOOKS if "To see your own memory" in path.read_text(encoding="utf-8")]
PICTURES = {"image/png", "image/svg+xml"}


def code_cells(notebook):
    """The cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell):
    """What a cell shows, without what it says: streams by name, values by their representations."""
    return [sorted(output.get("data", {output.get("name", output.output_type): ""})) for output in cell.outputs]


@pytest.fixture
def surroundings(address, tmp_path, monkeypatch):
    """The environment variables that a reader would set."""
    monkeypatch.setenv("HMXGRAPH_URI", address.uri)
    monkeypatch.setenv("HMXGRAPH_USER", address.user)
    monkeypatch.setenv("HMXGRAPH_PASSWORD", address.password)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
# The notebook's kernel talks over sockets that its client library leaves to the garbage collector.
@pytest.mark.filterwarnings("default")
def test_notebook_runs(path, surroundings):
    """All cells run without an error, and show what the kept ones show: text, tables and pictures."""
    kept, notebook = (nbformat.read(path, as_version=4) for _ in range(2))
    resources = {"metadata": {"path": str(surroundings)}}
    NotebookClient(notebook, timeout=120, resources=resources, coalesce_streams=True).execute()
    assert [kinds(cell) for cell in code_cells(notebook)] == [kinds(cell) for cell in code_cells(kept)]


@pytest.mark.slow
@pytest.mark.parametrize("path", OWN_MEMORY, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")
def test_notebook_runs_on_a_memory_of_your_own(path, surroundings, graph, tenant_id):
    """A notebook that promises it runs on the reader's tenant, whatever the failures in it."""
    for number in range(2):
        graph.ingest(repaired_deployment(f"s{number}", tenant=tenant_id))
    notebook = nbformat.read(path, as_version=4)
    for cell in code_cells(notebook):
        cell.source = cell.source.replace('f"notebook-{uuid.uuid4()}"', repr(tenant_id), 1)
        cell.source = re.sub(r"(?m)^graph\.ingest.*$", "", cell.source)
    resources = {"metadata": {"path": str(surroundings)}}
    NotebookClient(notebook, timeout=120, resources=resources, coalesce_streams=True).execute()
    assert not [kind for cell in code_cells(notebook) for kind in kinds(cell) if "error" in kind]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_with_its_outputs(path):
    """A reader sees results and a picture without running it, and nothing of the machine that ran it."""
    cells = code_cells(nbformat.read(path, as_version=4))
    shown = [kind for cell in cells for output in kinds(cell) for kind in output]
    assert PICTURES & set(shown), "make notebooks"
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert "error" not in shown
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"(?:/tmp|/home|/root|/work|/Users)/\w+", text) == []
    assert len(text) < 500_000
