"""The class archive: written by a server that stops, used by the next starts."""

from pathlib import Path

import pytest

from hmxgraph.engine import _class_archive
from hmxgraph.engine._jars import Distribution


@pytest.fixture
def flags(tmp_path):
    """The last of the flags for a server of a data home, with a Java that brings an archive of its own classes."""
    java = tmp_path / "jdk" / "bin" / "java"
    for file in (java, tmp_path / "jdk" / "lib" / "server" / "classes.jsa"):
        file.parent.mkdir(parents=True)
        file.touch()
    jars = Distribution(tmp_path / "jars", "5.26.31", "Main")
    return lambda home: _class_archive.flags(tmp_path / "cache", java, jars, home)[-1].split("=")


def test_the_next_server_uses_what_the_first_has_written(tmp_path, flags):
    """The first server writes an archive under a name of its own; once it has stopped, all homes use it."""
    first, other = tmp_path / "first", tmp_path / "other"
    flag, written = flags(first)
    assert flag == "-XX:ArchiveClassesAtExit"
    assert flags(other)[1] != written
    _class_archive.keep(tmp_path / "cache", first)
    assert flags(first) == [flag, written]
    (tmp_path / "cache" / "classes-of-another-java.jsa").touch()
    (tmp_path / "cache" / written.rpartition("/")[2]).write_bytes(b"\xa8\xba\x0b\xf0 classes")
    _class_archive.keep(tmp_path / "cache", other)
    assert flags(other)[0] == flag
    _class_archive.keep(tmp_path / "cache", first)
    assert flags(first) == flags(other)
    assert flags(first)[0] == "-XX:SharedArchiveFile"
    [archive] = (tmp_path / "cache").iterdir()
    assert flags(first)[1] == str(archive)


def test_an_archive_without_its_end_is_not_used(tmp_path, flags):
    """Java crashes if the end of an archive is missing; the next one replaces it."""
    for content in (b"\xa8\xba\x0b\xf0 all classes", b"\xa8\xba\x0b\xf0 more classes"):
        flag, written = flags(tmp_path)
        assert flag == "-XX:ArchiveClassesAtExit"
        Path(written).write_bytes(content)
        _class_archive.keep(tmp_path / "cache", tmp_path)
        [archive] = (tmp_path / "cache").iterdir()
        assert flags(tmp_path) == ["-XX:SharedArchiveFile", str(archive)]
        archive.write_bytes(content[:10])


def test_a_cache_that_cannot_be_made_is_no_obstacle(tmp_path):
    """A server with jars of its own starts without a cache, and without an archive."""
    (tmp_path / "file").touch()
    jars = Distribution(tmp_path / "jars", "5.26.31", "Main")
    (tmp_path / "java").touch()
    assert _class_archive.flags(tmp_path / "file" / "cache", tmp_path / "java", jars, tmp_path / "home") == ()


def test_an_incomplete_archive_is_removed(tmp_path, flags):
    """Java writes the beginning of the file last: without it, the archive was cut off and is removed."""
    _, written = flags(tmp_path)
    (tmp_path / "cache" / written.rpartition("/")[2]).write_bytes(bytes(100))
    _class_archive.keep(tmp_path / "cache", tmp_path)
    assert not list((tmp_path / "cache").iterdir())
