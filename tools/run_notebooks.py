"""Run the notebooks and keep their outputs: ``make notebooks``.

A notebook makes a tenant of its own with ``uuid4``, so that readers can run it again. Here that is a fixed id, in a
data home of its own, so that the outputs change only when the project does.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
_FIXED = "import uuid; uuid.uuid4 = lambda: uuid.UUID(int=int(%r, 16), version=4)"
# Of what a kernel notes about its run, only what readers see is kept.
_VOLATILE = {"execution", "widgets"}


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook at *path* with the outputs of all cells, run in *folder*."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}, record_timing=False)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_FIXED % path.stem[:2]))
    client.execute()
    del notebook.cells[0]
    for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), start=1):
        cell.execution_count = number
        cell.metadata = {name: value for name, value in cell.metadata.items() if name not in _VOLATILE}
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    return notebook


def main(names: list[str]) -> None:
    """Run the notebooks whose names start with one of *names*; all without any."""
    home = Path(tempfile.mkdtemp(prefix="hmxgraph-notebooks-"))
    for name in ("HMXGRAPH_URI", "HMXGRAPH_TENANT"):
        os.environ.pop(name, None)
    os.environ |= {"HMXGRAPH_HOME": str(home), "HMXGRAPH_TIMEOUT": "120"}  # a fresh server is slow at first
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # matplotlib's
    from hmxgraph import engine  # noqa: PLC0415 - after its environment is set

    try:
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            if not names or path.name.startswith(tuple(names)):
                nbformat.write(executed(path, home), path)
                sys.stdout.write(f"{path.name}: {path.stat().st_size // 1024} KB\n")
    finally:
        engine.stop(home)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
