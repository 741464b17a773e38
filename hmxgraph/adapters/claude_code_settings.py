"""Add, show and remove the hooks of hmxgraph in a Claude Code settings file.

Only hooks whose command is ``hmxgraph hook`` ("our hooks") are changed; the rest of the file is left as it is.
"""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hmxgraph.errors import InvalidRequest

Settings = dict[str, Any]
EVENTS = ("UserPromptSubmit", "PostToolUseFailure", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
# Timeout in seconds after which Claude Code ends a hook. Hooks usually take at most 0.3 s; this allows for heavy load.
_TIMEOUT = 5
# The command of our hooks, however the program is started: "hmxgraph hook Stop", "python -m hmxgraph hook Stop",
# "'/opt/my tools/hmxgraph' hook Stop".
_HOOK = re.compile(r"(?:^|[/\\\s'\"])hmxgraph(?:\.exe)?['\"]? hook (?:" + "|".join(EVENTS) + r")\b")


def default_path() -> Path:
    """The settings file of the user, for all projects."""
    return Path("~/.claude/settings.json").expanduser()


def read_settings(path: Path) -> Settings:
    """The settings in *path*; empty if there is no such file.

    Raises:
        InvalidRequest: the file is not a JSON object, or its hooks are not in Claude Code's form.

    """
    if not path.exists():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8") or "{}")
    except ValueError as error:
        raise InvalidRequest("settings", f"{path} ({error})", "JSON", "fix the file; nothing was changed") from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise InvalidRequest(
            "settings", str(path), "an object with lists of hooks", "fix the file; nothing was changed"
        )
    return settings


def write_settings(path: Path, settings: Settings) -> None:
    """Write *settings* to *path* atomically. Its permissions are kept, and a symbolic link stays a link."""
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.hmxgraph")
    # Settings may contain keys: until the permissions are copied, only the owner can read the new file.
    temporary.unlink(missing_ok=True)
    temporary.touch(mode=0o600)
    temporary.write_text(rendered(settings), encoding="utf-8")
    if target.exists():
        temporary.chmod(target.stat().st_mode & 0o777)
    temporary.replace(target)


def rendered(settings: Settings) -> str:
    """*settings* as the text of the file."""
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def installed(settings: Settings, program: Sequence[str], tenant: str, user: str | None = None) -> Settings:
    """*settings* with our hooks for *tenant* and *user*, after all other hooks.

    Installing twice changes nothing; installing for another tenant or user replaces our earlier hooks.

    >>> settings = installed({"model": "opus"}, ["hmxgraph"], "default")
    >>> settings["hooks"]["Stop"]
    [{'hooks': [{'type': 'command', 'command': 'hmxgraph hook Stop --tenant default', 'timeout': 5}]}]
    >>> installed(settings, ["hmxgraph"], "default") == settings, uninstalled(settings)
    (True, {'model': 'opus'})
    """
    cleared = uninstalled(settings)
    hooks = dict(cleared.get("hooks", {}))
    options = ["--tenant", tenant, *(["--user", user] if user else [])]
    for event in EVENTS:
        command = shlex.join([*program, "hook", event, *options])
        entry = {"type": "command", "command": command, "timeout": _TIMEOUT}
        hooks[event] = [*hooks.get(event, []), {"hooks": [entry]}]
    return {**cleared, "hooks": hooks}


def uninstalled(settings: Settings) -> Settings:
    """*settings* without our hooks, and without groups and lists that contained no other hooks."""
    if "hooks" not in settings:
        return settings
    hooks = {}
    for event, groups in settings["hooks"].items():
        kept = [rest for group in groups if (rest := _without_ours(group)) is not None]
        if kept or not groups:
            hooks[event] = kept
    if hooks or not settings["hooks"]:
        return {**settings, "hooks": hooks}
    return {name: value for name, value in settings.items() if name != "hooks"}


def _without_ours(group: Any) -> Any:
    """A group of hooks without ours; None if it contained no others."""
    entries = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(entries, list) or not any(map(_is_ours, entries)):
        return group
    foreign = [entry for entry in entries if not _is_ours(entry)]
    return {**group, "hooks": foreign} if foreign else None


def _is_ours(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(command := entry.get("command"), str) and bool(_HOOK.search(command))
