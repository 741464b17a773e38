"""The hooks of hmxgraph in Claude Code's settings: added after others, and removed without a trace."""

import copy
import json
import shutil
import stat
import sys
from pathlib import Path

import pytest

from hmxgraph.adapters.claude_code_settings import EVENTS, installed, read_settings, uninstalled, write_settings
from hmxgraph.cli import main
from hmxgraph.cli.install import program
from hmxgraph.errors import InvalidRequest

LINT = {"type": "command", "command": "~/.claude/lint.sh", "timeout": 30}
MENTION = {"type": "command", "command": "notify 'run hmxgraph hooks later'"}
FOREIGN = {
    "model": "opus",
    "permissions": {"allow": ["Bash(hmxgraph hook:*)"]},
    "hooks": {
        "PostToolUse": [{"matcher": "Edit|Write", "hooks": [LINT]}],
        "Stop": [{"hooks": [MENTION]}, {"matcher": "", "hooks": []}],
        "Notification": [],
    },
}
SETTINGS = [{}, {"hooks": {}}, FOREIGN, {"hooks": {"Stop": [{"hooks": [LINT, MENTION]}]}, "x": None}]
PROGRAMS = ["hmxgraph", "/opt/my tools/bin/hmxgraph", "C:\\Tools\\hmxgraph.exe"]


@pytest.fixture
def file(tmp_path):
    """A settings file with foreign hooks."""
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(FOREIGN), encoding="utf-8")
    path.chmod(0o640)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command line; returns exit code, output and errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hmxgraph", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return (stop.value.code or 0, *capsys.readouterr())

    return run


def meaning(settings):
    """*settings* without empty lists of hooks, which mean nothing."""
    return {name: value for name, value in settings.items() if name != "hooks" or value}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_uninstalling_takes_out_what_installing_put_in(settings, program):
    """Uninstalling removes what installing added, for any settings; the input is not changed."""
    before = copy.deepcopy(settings)
    after = installed(settings, [program], "my team")
    assert settings == before
    assert all(len(after["hooks"][event]) >= 1 for event in EVENTS)
    assert meaning(uninstalled(after)) == meaning(before)
    assert installed(after, [program], "my team") == after


def test_foreign_hooks_stay_untouched_and_come_first():
    """Other hooks are kept unchanged and come first, even if they mention hmxgraph."""
    after = installed(FOREIGN, ["hmxgraph"], "default")
    for event, groups in FOREIGN["hooks"].items():
        assert after["hooks"][event][: len(groups)] == groups
    assert {name: after[name] for name in ("model", "permissions")} == {
        name: FOREIGN[name] for name in ("model", "permissions")
    }


def test_a_hook_that_somebody_moved_beside_others_is_taken_out_alone():
    """If one of our hooks was moved into another group, only that hook is removed."""
    ours = installed({}, ["hmxgraph"], "default")["hooks"]["Stop"][0]["hooks"][0]
    mixed = {"hooks": {"Stop": [{"matcher": "x", "hooks": [LINT, ours]}]}}
    assert uninstalled(mixed) == {"hooks": {"Stop": [{"matcher": "x", "hooks": [LINT]}]}}


def test_another_tenant_replaces_the_first():
    """Installing for another tenant replaces the first, so that no event is answered twice."""
    after = installed(installed({}, ["hmxgraph"], "one"), ["/usr/bin/hmxgraph"], "two")
    commands = [entry["command"] for groups in after["hooks"].values() for group in groups for entry in group["hooks"]]
    assert len(commands) == len(EVENTS)
    assert all(command.endswith("--tenant two") for command in commands)


def test_hooks_name_the_user():
    """Each hook passes the user on; installing without a user takes the name out again."""
    named = installed({}, ["hmxgraph"], "shop", "Tomasz K")
    for event in EVENTS:
        (entry,) = named["hooks"][event][0]["hooks"]
        assert entry["command"] == f"hmxgraph hook {event} --tenant shop --user 'Tomasz K'"
    assert installed(named, ["hmxgraph"], "shop") == installed({}, ["hmxgraph"], "shop")


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_a_settings_file_of_unknown_structure_is_refused(tmp_path, text):
    """The file stays unchanged."""
    path = tmp_path / "settings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRequest, match="fix the file"):
        read_settings(path)
    assert path.read_text(encoding="utf-8") == text


def test_a_missing_file_is_made_and_a_link_stays_a_link(tmp_path):
    """A missing settings file is created, and a symbolic link stays a link."""
    target, link = tmp_path / "dotfiles" / "claude.json", tmp_path / "settings.json"
    link.symlink_to(target)
    write_settings(link, {"a": "é"})
    assert link.is_symlink()
    assert read_settings(target) == {"a": "é"}


def test_settings_are_read_by_whom_they_were_before(tmp_path, monkeypatch):
    """Settings may hold keys: only the owner can read a new one, even during writing; an old one keeps its mode."""
    path, modes = tmp_path / "settings.json", []
    replacing = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, to: modes.append(mode(self)) or replacing(self, to))
    write_settings(path, {"env": {"TOKEN": "t"}})
    path.chmod(0o640)
    write_settings(path, {})
    assert (modes, mode(path)) == ([0o600, 0o640], 0o640)


def mode(path):
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_installing_shows_first_and_changes_only_with_yes(file, run):
    """Installing and uninstalling only show the change without --yes; the file keeps its mode."""
    original = file.read_text(encoding="utf-8")
    code, shown, said = run("install", "claude-code", "--settings", file)
    assert (code, file.read_text(encoding="utf-8")) == (0, original)
    assert "hook UserPromptSubmit --tenant default" in shown
    assert "repeat with --yes" in said
    assert run("install", "claude-code", "--settings", file, "--tenant", "shop", "--yes")[0] == 0
    assert "hook Stop --tenant shop" in file.read_text(encoding="utf-8")
    assert run("install", "claude-code", "--settings", file, "--user", "tomasz", "--yes")[0] == 0
    assert "hook Stop --tenant default --user tomasz" in file.read_text(encoding="utf-8")
    assert run("install", "claude-code", "--settings", file, "--tenant", "shop", "--yes")[0] == 0
    assert "nothing to change" in run("install", "claude-code", "--settings", file, "--tenant", "shop", "--yes")[2]
    assert run("uninstall", "claude-code", "--settings", file, "--yes")[0] == 0
    assert read_settings(file) == FOREIGN
    assert file.stat().st_mode & 0o777 == 0o640


def test_an_unknown_agent_is_named(file, run):
    """The error for an unknown agent lists the choices."""
    code, _, said = run("install", "emacs", "--settings", file)
    assert code != 0
    assert "claude-code" in said


def test_a_module_is_a_program():
    """Without a script on the path, Python runs the module; the hook is still recognised."""
    program = ["/opt/my python/bin/python", "-m", "hmxgraph"]
    once = installed({}, program, "default")
    assert once["hooks"]["Stop"][0]["hooks"][0]["command"].startswith(
        "'/opt/my python/bin/python' -m hmxgraph hook Stop"
    )
    assert installed(once, program, "default") == once
    assert uninstalled(once) == {}


def test_hooks_are_found_from_any_folder(monkeypatch):
    """A script called by a relative path is recorded with its absolute path."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "argv", [".venv/bin/hmxgraph", "install"])
    assert program() == [str(Path.cwd() / ".venv/bin/hmxgraph")]
    monkeypatch.setattr(sys, "argv", ["/somewhere/hmxgraph/__main__.py", "install"])
    assert program() == [sys.executable, "-m", "hmxgraph"]
