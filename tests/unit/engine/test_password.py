import pytest

from hmxgraph.engine._jars import Distribution
from hmxgraph.engine._lifecycle import ensure_password, stored_password
from hmxgraph.errors import PasswordLost, ServerDied


@pytest.fixture
def jars(jar_folder):
    """Jars that are never read."""
    return Distribution(jar_folder, "5.99.0", "a.Main")


def test_password_is_made_once(tmp_path, java, jars):
    """The first start generates a long password; later ones keep it."""
    first = ensure_password(tmp_path, java(), jars)
    assert len(first) == 32
    assert ensure_password(tmp_path, java(), jars) == first == stored_password(tmp_path)


def test_each_home_has_its_own(tmp_path, java, jars):
    """Two data homes have two passwords."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    assert ensure_password(tmp_path / "a", java(), jars) != ensure_password(tmp_path / "b", java(), jars)


@pytest.mark.parametrize("left", [None, b"", b"cut\n", b"\xff\xfe\x00"])
def test_database_without_its_password(tmp_path, java, jars, left):
    """If the password file of a database is lost or truncated, the error says how to go on; no new one is generated."""
    (tmp_path / "data" / "databases" / "system").mkdir(parents=True)
    if left is not None:
        (tmp_path / "password").write_bytes(left)
    with pytest.raises(PasswordLost, match=r"restore .*password, or move"):
        ensure_password(tmp_path, java(), jars)


def test_admin_tool_that_fails(tmp_path, jars, java):
    """If the password cannot be set, the error quotes the tool's output."""
    program = tmp_path / "failing"
    program.write_text("#!/bin/sh\necho 'no such thing' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(ServerDied, match="no such thing"):
        ensure_password(tmp_path, program, jars)
