"""How one entry stands in the text of a pack: by whom, whose words, and nothing in it that could pass for structure.

Headings, dates and labels begin at the margin; every line of an entry but its first is set in, and the first begins
with a label, a bullet or a name that this module wrote.
"""

import re

_NOT_IN_NAMES = re.compile(r"[^\w .'@/-]+")
LONGEST_NAME = 60
# The label of what contradicts another entry.
DISPUTED = "disputed"
# What an event's type says about where its words come from.
_LABELS = {
    "tool_result": "tool",
    "command_exec": "tool",
    "test_run": "tool",
    "error": "tool",
    "file_edit": "tool",
    "api_result": "web",
    "browser_action": "web",
    "observation": "data",
}
_TOOLS = ("tool:", "mcp:")
_PAGES = ("web:", "http:", "https:", "www.")
_REPORTED = ("[tool] ", "[web] ", "[data] ")
# Roles under which chats hand over what a tool answered.
_TOOL_ROLES = frozenset({"tool", "function"})


def label_of(event_type: str, source: str, role: str = "") -> str:
    """The label of an event whose words were written by a tool, the web or another outside source; else nothing.

    *role* is that of a message, where it has one.

    >>> label_of("tool_result", "tool:kubectl"), label_of("message", "user"), label_of("message", "", "function")
    ('tool', '', 'tool')

    """
    written_by = source.lower()
    if written_by.startswith(_TOOLS):
        return "" if event_type == "tool_call" else "tool"
    # "webhook" is no person, "Webster" may be one.
    if written_by.startswith(_PAGES) or source.startswith("web"):
        return "web"
    return "tool" if role.lower() in _TOOL_ROLES else _LABELS.get(event_type, "")


def foreign(label: str) -> bool:
    """Whether a label says that the words come from outside.

    >>> foreign("tool"), foreign("web, disputed"), foreign("disputed"), foreign("")
    (True, True, False, False)

    """
    return label not in {"", DISPUTED}


def reported(words: str) -> str:
    r"""What a tool said, as a line inside an entry that is not its own.

    >>> reported("disk\n## full")
    '[tool] disk ## full'

    """
    return f"[tool] {' '.join(words.split())}"


def reports(content: str) -> bool:
    r"""Whether a line inside an entry, below its first, reports what came from outside.

    >>> reports("Recover\n1. Retry\n[tool] disk full"), reports("[tool] is what labels say")
    (True, False)

    """
    return any(line.startswith(_REPORTED) for line in content.splitlines()[1:])


def speaker_name(speaker: str) -> str:
    """A speaker's name without anything that could pass for structure; empty where nothing is left of it.

    >>> speaker_name("Caroline"), speaker_name("## Core")
    ('Caroline', 'Core')

    """
    name = _NOT_IN_NAMES.sub(" ", speaker).strip()[:LONGEST_NAME].strip()
    return name if name[:1].isalpha() else ""


def told(text: str, speaker: str) -> str:
    """The words of an event with the name of who said them, where that is known.

    >>> told("Hey Mel!", "Caroline"), told("Done.", "")
    ('Caroline: Hey Mel!', 'Done.')

    """
    return f"{speaker}: {text}" if speaker else text


def event_line(text: str, label: str, speaker: str) -> str:
    r"""The line of an event with its end, by the speaker as the event names it: what a pack spends its tokens on.

    >>> event_line("Hey Mel!", "", "Caroline"), event_line("a\nb", "tool", "")
    ('Caroline: Hey Mel!\n', '[tool] a\n  b\n')

    """
    name = speaker_name(speaker)
    return written(told(text, name), label, name) + "\n"


def written(content: str, label: str = "", speaker: str = "") -> str:
    r"""One entry as it is written, without the end of its last line.

    >>> written("one\ntwo"), written("## Core", label="web"), written("Ann: hello", speaker="Ann")
    ('- one\n  two', '[web] ## Core', 'Ann: hello')

    """
    mark = f"[{label}] " if label else ("" if speaker else "- ")
    first, *rest = content.splitlines() or [""]
    return "\n".join([mark + first, *(f"  {text}" for text in rest)])
