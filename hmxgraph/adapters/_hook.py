"""``hmxgraph hook EVENT``: answer one hook of an agent within a time limit, or print nothing; always succeed."""

import json
import os
import sys
import threading
from collections.abc import Sequence

USAGE = """Usage: hmxgraph hook EVENT [--tenant NAME] [--user NAME] [--within SECONDS]

Reads the JSON of a Claude Code hook from standard input and prints its answer, or nothing. It always succeeds.
UserPromptSubmit prints a context pack, PostToolUseFailure known remedies for the failure; Stop, SubagentStop,
PreCompact and SessionEnd store what is new in the transcript. hmxgraph install claude-code sets up these hooks.
"""
# Default and maximum of ``--within``, in seconds.
WITHIN = 0.3
_LONGEST = 600.0


def run(arguments: Sequence[str]) -> None:
    """Answer one hook; if no warm process answers, start one and stay silent."""
    options = _options(arguments[1:])
    tenant = options.get("--tenant") or os.environ.get("HMXGRAPH_TENANT") or "default"
    if not arguments or arguments[0] in {"--help", "-h"}:
        sys.stdout.write(USAGE)
        return
    timer = threading.Timer(_seconds(options.get("--within")), os._exit, (0,))
    timer.daemon = True
    timer.start()
    try:
        hook_input = json.loads(sys.stdin.buffer.read() or b"{}")
        from hmxgraph.adapters import warm  # noqa: PLC0415 - imported late, so that the timer covers it

        message = {"event": arguments[0], "input": hook_input, "tenant": tenant, "user": options.get("--user")}
        answer = warm.ask(message)
        if answer is None:
            warm.start(message)
    except (OSError, ValueError, RecursionError) as error:
        sys.stderr.write(f"hmxgraph hook {arguments[0]}: {error}\n")
        return
    timer.cancel()
    if answer and (text := answer.get("text")):
        sys.stdout.write(text + "\n")


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """The options by name, given as ``--name value`` or ``--name=value``.

    >>> _options(["--tenant=acme", "--within", "1"])
    {'--tenant': 'acme', '--within': '1'}
    """
    parts = (argument.split("=", 1) if argument.startswith("--") else [argument] for argument in arguments)
    words = [word for part in parts for word in part]
    return dict(zip(words[::2], words[1::2], strict=False))


def _seconds(text: str | None) -> float:
    """The time limit in *text*; a hook must not fail, so an invalid one (only 0 to 600 are valid) means the default."""
    try:
        seconds = float(text) if text else WITHIN
    except ValueError:
        return WITHIN
    return seconds if 0 < seconds <= _LONGEST else WITHIN
