"""A database is replaced whole, whatever interrupts it: either the old or the new one is there, never a mixture."""

import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from hmxgraph import engine
from hmxgraph.engine import _swap
from hmxgraph.errors import EngineError

PARTS = {"databases", "transactions"}


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def killed_at(monkeypatch):
    """Makes the process end at the given step that changes a folder, counted from 0."""
    originals = {name: getattr(Path, name) for name in ("rename", "mkdir")} | {"rmtree": shutil.rmtree}

    def kill(moment):
        steps = count()

        def dying(name):
            def step(*arguments, **options):
                if next(steps) == moment:
                    if name == "rmtree":  # killed while it was under way
                        originals["rmtree"](arguments[0] / "store", ignore_errors=True)
                        originals["rmtree"](arguments[0] / "databases", ignore_errors=True)
                    raise Killed
                return originals[name](*arguments, **options)

            return step

        monkeypatch.setattr(Path, "rename", dying("rename"))
        monkeypatch.setattr(Path, "mkdir", dying("mkdir"))
        monkeypatch.setattr(shutil, "rmtree", dying("rmtree"))

    return kill


def database(folder, name, parts=PARTS):
    """A database whose files say that they belong to *name*."""
    for part in PARTS:
        (folder / part / "system").mkdir(parents=True)
        if part in parts:
            (folder / part / "neo4j" / "store").mkdir(parents=True)
            (folder / part / "neo4j" / "file").write_text(name)
            (folder / part / "neo4j" / "store" / "file").write_text(name)


def stored(folder):
    """Which database is stored: the files of each part."""
    return {
        part: {str(file.relative_to(folder / part)): file.read_text() for file in (folder / part).rglob("file")}
        for part in PARTS
    }


@pytest.mark.parametrize("parts", [PARTS, {"databases"}, set()])
@pytest.mark.parametrize("moment", range(14))
@pytest.mark.parametrize("again", range(8))
def test_killed_anywhere(tmp_path, killed_at, monkeypatch, parts, moment, again):
    """Killed at any moment, and again while it is undone, a replacement leaves the old database, or the new one."""
    data, new = tmp_path / "data", tmp_path / "loading"
    database(data, "old", parts)
    database(new, "new")
    old, other = stored(data), stored(new)
    for kill, act in ((moment, _replaced_and_confirmed), (again, lambda data, _: _swap.undo(data))):
        killed_at(kill)
        with suppress(Killed):
            act(data, new)
        monkeypatch.undo()
    _swap.undo(data)
    assert stored(data) in (old, other)
    assert {each.name for each in data.iterdir()} - {"discarded"} == PARTS


def _replaced_and_confirmed(data, new):
    _swap.replace(data, new)
    _swap.confirm(data)


def test_undone(tmp_path):
    """A replacement can be undone until it is confirmed."""
    data = tmp_path / "data"
    database(data, "old")
    database(tmp_path / "loading", "new")
    before = stored(data)
    _swap.replace(data, tmp_path / "loading")
    assert stored(data) != before
    assert _swap.undo(data)
    assert stored(data) == before
    assert not _swap.undo(data)


@pytest.mark.parametrize(("lock", "work"), [("restore.lock", engine.load), ("server.lock", engine.dump)])
def test_a_data_home_that_cannot_be_written_is_named(tmp_path, lock, work):
    """A restore or dump is refused with the folder's name if the data home cannot be written, as a start is."""
    database(tmp_path / "home" / "data", "old")
    (tmp_path / "all.dump").write_bytes(b"")
    (tmp_path / "home" / lock).mkdir()
    with pytest.raises(EngineError, match=r"the data home .*home cannot be used"):
        work(tmp_path / "all.dump", tmp_path / "home")
