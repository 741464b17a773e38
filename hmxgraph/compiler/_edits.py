"""Short descriptions of file edits: "`mix.exs`, adding “{:lazy_html, only: :test}”"."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hmxgraph.compiler.actions import PATH_FIELDS
from hmxgraph.text.lines import plain_quotes
from hmxgraph.text.masking import mask_ids, mask_secrets

# Names that tools use for the text to replace and for its replacement.
_OLD = ("old_string", "old_str", "old_text", "oldString", "oldText", "search", "find")
_NEW = ("new_string", "new_str", "new_text", "newString", "newText", "replace", "replacement")
# An edit is described only if it adds, and removes, at most this many lines and characters.
_MOST_LINES, _MOST_CHARACTERS = 2, 100
# Path separators of any operating system.
_PATH_SEPARATOR = re.compile(r"[/\\]")


def describe_edit(arguments: Mapping[str, Any]) -> str:
    r"""The file that a call edits, and the lines that it adds or removes; "" if it edits nothing or too much.

    >>> describe_edit({"file_path": "/app/page_test.exs", "old_string": "use Live", "new_string": "use Live\nuse Conn"})
    '`page_test.exs`, adding “use Conn”'
    >>> describe_edit({"path": "setup.cfg", "old_str": "line = 88", "new_str": "line = 120"})
    '`setup.cfg`, changing “line = 88” to “line = 120”'
    >>> describe_edit({"filePath": "setup.cfg", "oldString": "", "newString": "line = 120"})
    '`setup.cfg`, adding “line = 120”'
    >>> describe_edit({"path": "setup.cfg", "content": "line = 120"})
    ''
    """
    path, old, new = (_first_text(arguments, names) for names in (PATH_FIELDS, _OLD, _NEW))
    if not path or old is None or new is None:
        return ""
    old_lines, new_lines = ([line.strip() for line in text.splitlines() if line.strip()] for text in (old, new))
    added = [line for line in new_lines if line not in old_lines]
    removed = [line for line in old_lines if line not in new_lines]
    new_text, old_text = _quoted(added), _quoted(removed)
    if not (added or removed) or new_text is None or old_text is None:
        return ""
    file = f"`{mask_ids(mask_secrets(_PATH_SEPARATOR.split(path)[-1]))}`"
    if added and removed:
        return f"{file}, changing {old_text} to {new_text}"
    return f"{file}, adding {new_text}" if added else f"{file}, removing {old_text}"


def _first_text(arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first text among the arguments called *names*; None if there is none."""
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), None)


def _quoted(lines: Sequence[str]) -> str | None:
    """The lines in quotation marks; None if there are too many or they are too long."""
    text = mask_ids(mask_secrets(" … ".join(lines)))
    return None if len(lines) > _MOST_LINES or len(text) > _MOST_CHARACTERS else f"“{plain_quotes(text)}”"
