"""Replace the database of a data home in steps that may be interrupted anywhere, even by a kill.

Until :func:`confirm`, the former database is kept beside the new one, and :func:`undo` brings it back whole.
"""

import shutil
from pathlib import Path

DATABASE = "neo4j"
# A database consists of a folder with its name in each of these folders.
_PARTS = ("databases", "transactions")
_FORMER = "former"
_DISCARDED = "discarded"


def exists(data: Path) -> bool:
    """Whether *data* holds a database, or a former one."""
    return (data / "databases" / DATABASE).exists() or (data / _FORMER).exists()


def replace(data: Path, new: Path) -> None:
    """Put the database in *new* in the place of the one in *data*, which is kept until :func:`confirm`."""
    parts = [part for part in _PARTS if (data / part / DATABASE).exists()]
    # The empty folders of the former database appear in one step: `undo` takes a missing one to mean that the former
    # database lacked that part.
    prepared = data / _DISCARDED
    shutil.rmtree(prepared, ignore_errors=True)
    for part in parts:
        (prepared / part).mkdir(parents=True)
    prepared.mkdir(exist_ok=True)
    prepared.rename(data / _FORMER)
    for part in parts:
        (data / part / DATABASE).rename(data / _FORMER / part / DATABASE)
    for part in _PARTS:
        if (new / part / DATABASE).exists():
            (data / part).mkdir(exist_ok=True)
            (new / part / DATABASE).rename(data / part / DATABASE)


def undo(data: Path) -> bool:
    """Bring the former database back, if there is one; returns whether there was."""
    former = data / _FORMER
    if not former.exists():
        return False
    for part in _PARTS:
        kept = former / part / DATABASE
        # A part whose folder is empty has not been moved yet, or was brought back before an interruption.
        if kept.exists() or not (former / part).exists():
            shutil.rmtree(data / part / DATABASE, ignore_errors=True)
        if kept.exists():
            kept.rename(data / part / DATABASE)
    confirm(data)
    return True


def confirm(data: Path) -> None:
    """Remove the former database."""
    discarded = data / _DISCARDED
    shutil.rmtree(discarded, ignore_errors=True)
    if (data / _FORMER).exists():
        (data / _FORMER).rename(discarded)  # one step: what is removed in part must never be brought back
        shutil.rmtree(discarded, ignore_errors=True)
