"""The commands ``hmxgraph install`` and ``uninstall``, which set up the hooks of a coding agent, and ``hook``."""

import difflib
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from hmxgraph.adapters import claude_code_settings as claude_code
from hmxgraph.cli._terminal import Tenant, err
from hmxgraph.errors import UnknownChoice

_Agent = Annotated[str, typer.Argument(help="The agent: claude-code.")]
_Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Change the settings file, instead of only showing what would change.")
]
_User = Annotated[
    str | None,
    typer.Option("--user", help="User of the agent: packs contain this user's rules, and sessions name the user."),
]
_File = Annotated[Path | None, typer.Option("--settings", help="Settings file; default: ~/.claude/settings.json.")]


def install(
    agent: _Agent, tenant: Tenant = "default", user: _User = None, yes: _Yes = False, settings: _File = None
) -> None:
    """Show or install the memory's hooks in a coding agent.

    Prints what would change in the settings file; --yes changes it. Other hooks stay untouched.
    """
    path = _settings_of(agent, settings)
    before = claude_code.read_settings(path)
    _change(path, before, claude_code.installed(before, program(), tenant, user), yes=yes)


def uninstall(agent: _Agent, yes: _Yes = False, settings: _File = None) -> None:
    """Show or remove the memory's hooks in a coding agent.

    Prints what would change in the settings file; --yes changes it. Other hooks stay untouched.
    """
    path = _settings_of(agent, settings)
    before = claude_code.read_settings(path)
    _change(path, before, claude_code.uninstalled(before), yes=yes)


def program() -> list[str]:
    """The command line, with full paths, that runs this program from any folder."""
    if path := shutil.which("hmxgraph"):
        return [path]
    script = Path(sys.argv[0]).absolute()
    return [str(script)] if script.name.startswith("hmxgraph") else [sys.executable, "-m", "hmxgraph"]


def _settings_of(agent: str, settings: Path | None) -> Path:
    if agent != "claude-code":
        raise UnknownChoice("agent", agent, ("claude-code",))
    return settings or claude_code.default_path()


def _change(path: Path, before: claude_code.Settings, after: claude_code.Settings, *, yes: bool) -> None:
    """Print how *after* differs from *before*; with *yes*, also write *after* to *path*."""
    if before == after:
        err.print(f"nothing to change in {path}", highlight=False, soft_wrap=True)
        return
    old, new = (claude_code.rendered(settings).splitlines(keepends=True) for settings in (before, after))
    sys.stdout.write("".join(difflib.unified_diff(old, new, str(path), str(path))))
    if yes:
        claude_code.write_settings(path, after)
    outcome = "changed" if yes else "nothing changed yet; repeat with --yes to apply"
    err.print(f"{outcome}: {path}", highlight=False, soft_wrap=True)


def hook() -> None:
    """Answer one hook of a coding agent within its time limit, or stay silent."""
    from hmxgraph.adapters._hook import run  # noqa: PLC0415 - __main__ does the same without importing the commands

    run(sys.argv[2:])
