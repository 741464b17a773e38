"""A pack as text for a prompt: sections, dates, one entry a line, and what came from outside marked as such.

Nothing that an entry contains can pass for structure (``text.lines``).
"""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple, TypeAlias

from hmxgraph.recall.asking.days import day
from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.rendering.layout import DATED, NOTICE, date_line, heading, noticed, said_on, tells_when
from hmxgraph.text.lines import written as as_written
from hmxgraph.text.tokens import TokenCounter


class Line(NamedTuple):
    """One entry as it is to be written; of events also when, in which session and place, and by whom.

    Of what somebody said, which another word may have overtaken, also when; of what always holds no time is told.

    ``timed`` tells whether it is known when: a section with an event of unknown time has no dates.
    """

    section: str
    content: str
    time_us: int = 0
    session_id: str = ""
    place: int = 0
    label: str = ""
    speaker: str = ""
    timed: bool = True


# Something of the text that stands on lines of its own: a heading, a date or notice, or an entry.
Part: TypeAlias = str | Line


def line_of(candidate: Candidate) -> Line:
    """A candidate as a line."""
    return Line(
        candidate.section,
        candidate.content,
        candidate.time_us if candidate.section in DATED or tells_when(candidate) else 0,
        candidate.session_id,
        candidate.place,
        candidate.label,
        candidate.speaker,
    )


def _beginnings(lines: Sequence[Line]) -> dict[str, int]:
    beginnings: dict[str, int] = {}
    for line in lines:
        beginnings[line.session_id] = min(line.time_us, beginnings.get(line.session_id, line.time_us))
    return beginnings


def rendered(lines: Sequence[Line]) -> str:
    """The text of a pack: its sections in their order, events by session and time; empty without entries."""
    return "".join(f"{part if isinstance(part, str) else written(part)}\n" for part in parts_of(lines))


def parts_of(lines: Sequence[Line]) -> list[Part]:
    """The headings, dates and entries of the text, one after the other.

    Each begins with a letter, a digit or a mark and ends a line. The tokenizers never join what stands on both sides
    of such a line end, so that the tokens of the text are those of its parts.
    """
    parts: list[Part] = []
    for section, grouped in groupby(lines, key=lambda line: line.section):
        parts.append(heading(section))
        entries = list(grouped)
        parts += _dated(entries) if section in DATED and all(line.timed for line in entries) else entries
    if any(noticed(line.section, line.content, line.label) for line in lines):
        parts.insert(0, NOTICE)
    return parts


def _dated(lines: Sequence[Line]) -> Iterator[Part]:
    """Sessions in the order of time, each as it was told (HMX-E 7), each line under the date on which it was said.

    A clock that was set back does not turn what was said around; the date then stands there again.
    """
    before = date.min
    begins = _beginnings(lines)
    told_in_order = sorted(lines, key=lambda line: (begins[line.session_id], line.session_id, line.place, line.time_us))
    for _, session in groupby(told_in_order, key=lambda line: line.session_id):
        for told, turns in groupby(session, key=lambda line: day(line.time_us)):
            yield date_line(told, before)
            yield from turns
            before = told


def written(line: Line) -> str:
    """One entry as it is written, without the end of its last line; what somebody said once with the day it was last.

    >>> written(Line("facts", "Ann looks after staging.", 1_678_000_000_000_000))
    '- Ann looks after staging. (said 5 March 2023)'

    """
    said = line.content if line.section in DATED or not line.time_us else f"{line.content} ({said_on(line.time_us)})"
    return as_written(said, line.label, line.speaker)


def tokens_of(line: Line, count_tokens: TokenCounter) -> int:
    """What an entry takes as it is written, with the end of its last line."""
    return count_tokens(f"{written(line)}\n")
