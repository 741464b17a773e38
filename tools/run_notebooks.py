"""Run the notebooks and keep their outputs: ``make notebooks``.

A notebook makes a tenant of its own with ``uuid4``, so that readers can run it again. Here ``uuid4`` returns a fixed id
for each notebook, and the data home is new, so that the outputs change only when the project does.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
# The first cell; its parameter is the number with which the notebook's name begins.
_FIXED_UUID4 = "import uuid; uuid.uuid4 = lambda: uuid.UUID(int=int(%r, 16), version=4)"
# Metadata of a cell that changes with each run.
_VOLATILE = {"execution", "widgets"}


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook at *path* with the outputs of all cells, run in *folder*."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=1800,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
    )
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_FIXED_UUID4 % path.stem[:2]))
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
    """Run the notebooks whose names start with one of *names*, or all if there are none.

    ``HMXGRAPH_URI`` names a server to use, which must be empty; otherwise one is started for the purpose.
    """
    home = Path(tempfile.mkdtemp(prefix="hmxgraph-notebooks-"))
    os.environ.pop("HMXGRAPH_TENANT", None)
    os.environ["HMXGRAPH_HOME"] = str(home)
    for name, seconds in (("HMXGRAPH_TIMEOUT", "900"), ("HMXGRAPH_START_SECONDS", "600")):
        os.environ.setdefault(name, seconds)  # a fresh server is slow at first
    from hmxgraph import engine  # noqa: PLC0415 - after its environment is set

    try:
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            if not names or path.name.startswith(tuple(names)):
                nbformat.write(executed(path, home), path)
                print(f"{path.name}: {path.stat().st_size // 1024} KB", flush=True)
    finally:
        engine.stop(home)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
