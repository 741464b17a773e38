"""The password of the local server: made at the first start, kept in a private file of the data home."""

import os
import re
import secrets
import subprocess
from pathlib import Path

from hmxgraph.engine import refusals
from hmxgraph.engine.files import write_private
from hmxgraph.engine.jars import Distribution
from hmxgraph.engine.java import LOCALE

USER = "neo4j"


def read(home: Path) -> str | None:
    """The stored password, None where the file is missing or was cut."""
    path = home / "password"
    text = path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    return text if re.fullmatch(r"\S{8,}", text) else None


def settle(home: Path, java: Path, jars: Distribution) -> str:
    """The password to log in with; makes one and gives it to the server before its first start.

    Raises:
        PasswordLost: there is a database, but no longer its password.

    """
    known = read(home)
    if (home / "data" / "databases" / "system").exists():
        if known is None:
            raise refusals.password_lost(home)
        return known
    password = known or secrets.token_hex(16)
    write_private(home / "password", password + "\n")
    _set_initial(home, java, jars)
    return password


def _set_initial(home: Path, java: Path, jars: Distribution) -> None:
    """The admin tool reads the password from its file: a command line would show it to every user."""
    command = [str(java), "-cp", f"{jars.folder}/*", "org.neo4j.cli.AdminTool", "dbms", "set-initial-password"]
    environment = {**os.environ, **LOCALE, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    said = subprocess.run(  # noqa: S603
        [*command, f"@{home / 'password'}"], env=environment, capture_output=True, text=True, check=False
    )
    if said.returncode != 0:
        raise refusals.died(home / "logs" / "neo4j.log", said.stderr)
