"""A pack as text for a prompt: sections, dates, one entry a line, and what came from outside marked as such.

Nothing that an entry contains can pass for structure: headings, dates and labels begin at the margin, and every line of
an entry but its first is set in; the first begins with a label, a bullet or a name that this module wrote.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.layout import DATED, NOTICE, date_line, day, heading

_NOT_IN_NAMES = re.compile(r"[^\w .'@/-]+")
LONGEST_NAME = 60
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


@dataclass(frozen=True, slots=True)
class Line:
    """One entry as it is to be written; of events also when, in which session and place, and by whom."""

    section: str
    content: str
    time_us: int = 0
    session_id: str = ""
    place: int = 0
    label: str = ""
    speaker: str = ""


def line_of(candidate: Candidate) -> Line:
    """A candidate as a line."""
    return Line(
        candidate.section,
        candidate.content,
        candidate.time_us,
        candidate.session_id,
        candidate.place,
        candidate.label,
        candidate.speaker,
    )


def label_of(event_type: str, source: str) -> str:
    """The label of an event whose words were written by a tool, the web or another outside source; else nothing.

    >>> label_of("tool_result", "tool:kubectl"), label_of("message", "user")
    ('tool', '')

    """
    if source.startswith("tool:"):
        return "" if event_type == "tool_call" else "tool"
    if source.startswith(("web", "http")):
        return "web"
    return _LABELS.get(event_type, "")


def speaker_name(speaker: str) -> str:
    """A speaker's name without anything that could pass for structure; empty where nothing is left of it.

    >>> speaker_name("Caroline"), speaker_name("## Core")
    ('Caroline', 'Core')

    """
    name = _NOT_IN_NAMES.sub(" ", speaker).strip()[:LONGEST_NAME].strip()
    return name if name[:1].isalpha() else ""


def _beginnings(lines: Sequence[Line]) -> dict[str, int]:
    beginnings: dict[str, int] = {}
    for line in lines:
        beginnings[line.session_id] = min(line.time_us, beginnings.get(line.session_id, line.time_us))
    return beginnings


def rendered(lines: Sequence[Line]) -> str:
    """The text of a pack: its sections in their order, events by session and time; empty without entries."""
    return "".join(f"{part}\n" for part in parts_of(lines))


def parts_of(lines: Sequence[Line]) -> list[str]:
    """The headings, dates and entries of the text, one after the other.

    Each begins with a letter, a digit or a mark and ends a line. The tokenizers never join what stands on both sides
    of such a line end, so that the tokens of the text are those of its parts.
    """
    parts: list[str] = []
    for section, grouped in groupby(lines, key=lambda line: line.section):
        entries = list(grouped)
        parts.append(heading(section))
        parts += _dated(entries) if section in DATED else [written(line) for line in entries]
    if any(line.label for line in lines):
        parts.insert(0, NOTICE)
    return parts


def _dated(lines: Sequence[Line]) -> Iterator[str]:
    """Sessions in the order of time, each line under the date on which it was said."""
    before = date.min
    begins = _beginnings(lines)
    told_in_order = sorted(lines, key=lambda line: (begins[line.session_id], line.session_id, line.time_us, line.place))
    for _, session in groupby(told_in_order, key=lambda line: line.session_id):
        for told, turns in groupby(session, key=lambda line: day(line.time_us)):
            yield date_line(told, before)
            yield from (written(line) for line in turns)
            before = told


def written(line: Line) -> str:
    """One entry as it is written, without the end of its last line."""
    mark = f"[{line.label}] " if line.label else ("" if line.speaker else "- ")
    first, *rest = line.content.splitlines() or [""]
    return "\n".join([mark + first, *(f"  {text}" for text in rest)])
