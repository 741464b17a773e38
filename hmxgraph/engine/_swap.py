"""Replace the database of a data home, so that an interruption at any point, even a kill, can be undone.

Until :func:`confirm`, the former database is kept beside the new one, and :func:`undo` restores it completely.
"""

import shutil
from pathlib import Path

DATABASE = "neo4j"
# A database consists of two folders: ``databases/neo4j`` and ``transactions/neo4j``.
_PARTS = ("databases", "transactions")
# Folders that exist only during a replacement: the former database, and what is about to be deleted.
_FORMER = "former"
_DISCARDED = "discarded"


def exists(data: Path) -> bool:
    """Whether *data* holds a database, or the former one of an interrupted replacement."""
    return (data / "databases" / DATABASE).exists() or (data / _FORMER).exists()


def replace(data: Path, new: Path) -> None:
    """Replace the database in *data* with the one in *new*; the former one is kept until :func:`confirm`."""
    parts = [part for part in _PARTS if (data / part / DATABASE).exists()]
    # The empty folders for the former database are prepared under another name, so that they appear in one step: if one
    # is missing, `undo` concludes that the former database lacked that part.
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
    """Bring the former database back; returns False if there is none."""
    former = data / _FORMER
    if not former.exists():
        return False
    for part in _PARTS:
        kept = former / part / DATABASE
        # If the folder exists but is empty, its part was not moved yet, or an interrupted `undo` has moved it back.
        if kept.exists() or not (former / part).exists():
            shutil.rmtree(data / part / DATABASE, ignore_errors=True)
        if kept.exists():
            kept.rename(data / part / DATABASE)
    confirm(data)
    return True


def confirm(data: Path) -> None:
    """Delete the former database."""
    discarded = data / _DISCARDED
    shutil.rmtree(discarded, ignore_errors=True)
    if (data / _FORMER).exists():
        (data / _FORMER).rename(discarded)  # one step: what is removed in part must never be brought back
        shutil.rmtree(discarded, ignore_errors=True)
