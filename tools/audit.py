"""Audit the installed dependencies for known vulnerabilities; if no database answers, print how old the lock files are.

``python tools/audit.py`` fails only if it finds a vulnerability: without a network, an audit must not stop work.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_SECONDS_A_DAY = 86_400
_PATIENCE_SECONDS = 120


def audit() -> list[dict[str, Any]]:
    """The dependencies that were audited, each with its vulnerabilities; empty if no database answers in time."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        done = subprocess.run(
            [*command, "--local", "--skip-editable"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE_SECONDS,
        )
        dependencies = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return []
    return [dependency for dependency in dependencies if "vulns" in dependency]


def vulnerability_lines(audited: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each known vulnerability."""
    for dependency in audited:
        for vulnerability in dependency["vulns"]:
            fixed = ", ".join(vulnerability.get("fix_versions", ())) or "no release yet"
            yield f"{dependency['name']} {dependency['version']}: {vulnerability['id']}, fixed in {fixed}"


def lock_age(path: Path) -> int:
    """Days since *path* was last changed in the history, else on disk."""
    command = ["git", "log", "-1", "--format=%ct", "--", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    changed = int(done.stdout) if done.stdout.strip() else int(path.stat().st_mtime)
    return max(0, int(time.time()) - changed) // _SECONDS_A_DAY


def main() -> int:
    """Print the outcome; return 1 if a vulnerability is known."""
    audited = audit()
    faults = list(vulnerability_lines(audited))
    if audited:
        sys.stdout.write(
            "\n".join([*faults, f"{len(audited)} dependencies audited, {len(faults)} known vulnerabilities\n"])
        )
        return 1 if faults else 0
    for lock in sorted(ROOT.glob("hmxgraph/engine/*.lock.json")):
        sys.stdout.write(
            f"Dependencies not audited: no vulnerability database answers. {lock.name} is {lock_age(lock)} days old.\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
