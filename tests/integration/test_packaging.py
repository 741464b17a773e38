"""The Cypher statements ship with the package: inside the wheel, or next to the package in an editable install."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import hmxgraph
from hmxgraph.graph.driver import OPTIONS
from hmxgraph.graph.plan import query_names

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
ASK = "from hmxgraph.graph import plan as c; print(c._folder()); print(*c.query_names()); c.query(c.query_names()[0])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from this checkout with pip."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("hmxgraph-*.whl"))


def asked(folder):
    """The catalogue's folder and query names in a fresh interpreter with *folder* first on its path."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {ASK}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout.splitlines()


def test_editable_install_reads_the_folder_beside_the_package():
    """In a checkout, statements are read from the ``cypher`` folder next to the package."""
    folder, names = asked(ROOT)
    assert Path(folder) == ROOT / "cypher"
    assert tuple(names.split()) == query_names()


def test_wheel_carries_every_statement(wheel, tmp_path):
    """An unpacked wheel finds all statements inside the package and contains all JSON data files."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    folder, names = asked(tmp_path)
    assert Path(folder) == tmp_path / "hmxgraph" / "cypher"
    assert tuple(names.split()) == query_names()
    data = [path for path in (ROOT / "hmxgraph").rglob("*.*json") if "__pycache__" not in path.parts]
    assert data
    assert [path for path in data if not (tmp_path / path.relative_to(ROOT)).is_file()] == []


def test_the_version_is_written_once(wheel):
    """The wheel and the driver's user agent take their version from the package."""
    assert wheel.name.startswith(f"hmxgraph-{hmxgraph.__version__}-")
    assert OPTIONS["user_agent"] == f"hmxgraph/{hmxgraph.__version__}"
    assert f'"{hmxgraph.__version__}"' not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_a_source_distribution_holds_what_the_readme_points_at():
    """Each file the README links to is in a folder of the source distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = {target.split("#")[0] for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", readme)} - {""}
    assert linked
    assert {target.split("/")[0] for target in linked} - set(packed) == set()
