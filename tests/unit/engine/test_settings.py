from pathlib import Path

import pytest

from hmxgraph.engine._settings import read
from hmxgraph.errors import EngineError


def test_argument_wins_over_environment(tmp_path):
    """The home of the caller takes precedence over HMXGRAPH_HOME."""
    assert read(tmp_path, {"HMXGRAPH_HOME": "/elsewhere"}).home == tmp_path.resolve()


def test_home_of_environment(tmp_path):
    """HMXGRAPH_HOME is the data home if the caller gives none."""
    assert read(None, {"HMXGRAPH_HOME": str(tmp_path)}).home == tmp_path.resolve()


def test_default_home_is_the_users_own():
    """The default data home is the platform's user data folder, that of jars its cache folder."""
    settings = read(None, {})
    assert settings.home.name == settings.cache.name == "hmxgraph"
    assert settings.home != settings.cache
    assert settings.home.is_relative_to(Path.home())


def test_links_lead_to_one_home(tmp_path):
    """Two paths to one folder are one data home, so that only one server runs on it."""
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read(tmp_path / "link", {}).home == read(tmp_path / "real", {}).home


def test_unresolvable_paths_are_refused(tmp_path):
    """Circular links and the home of an unknown user are errors with the path."""
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for path in (str(tmp_path / "round"), "~nobody-of-this-name/data"):
        with pytest.raises(EngineError, match=f"{path} is not a folder.*give another"):
            read(None, {"HMXGRAPH_HOME": path})


@pytest.mark.parametrize(
    ("text", "mebibytes"), [("512m", 512), ("2g", 2048), ("2GB", 2048), ("1GiB", 1024), ("1t", 1048576)]
)
def test_sizes(text, mebibytes):
    """Sizes are read with their unit, in MiB."""
    assert read("/x", {"HMXGRAPH_HEAP": text}).heap == mebibytes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("HEAP", "much"),
        ("HEAP", "512"),
        ("PAGECACHE", "-1g"),
        ("BOLT_PORT", "bolt"),
        ("HTTP_PORT", "-1"),
        ("BOLT_PORT", "65536"),
    ],
)
def test_nonsense_is_refused_by_name(name, text):
    """An invalid size, number or port is rejected with the name of its variable."""
    with pytest.raises(EngineError, match=f"HMXGRAPH_{name}"):
        read("/x", {f"HMXGRAPH_{name}": text})
