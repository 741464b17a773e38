"""The one line of a longer output that says what went wrong, whatever program wrote it.

Outputs are told apart by shape alone. What names the failure stands at the end of a Python traceback, behind ``E`` in
a report of pytest, behind the last ``Caused by:`` of a Java trace, before the frames of most others, and else in the
first line with a word of failure. Headers, rules, counts and frames say nothing while another line does.
"""

import re
from collections.abc import Callable, Sequence

from hmxgraph.compiler.vocabulary import FAILURE_PHRASES, FAILURE_WORDS, REPORT_WORDS
from hmxgraph.text.stop_words import STOP_WORDS

# Of a long output the beginning and the end: what went wrong is hardly told in between.
_MOST_CHARS = 8000
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_DECORATION = re.compile(r"^(?:[\s\u2500-\u257f\u25a0-\u27bf|>*#=!\u00d7-]+(?=\s)\s*)+")
# What a program writes before every line of a report, whatever the line says.
_ECHO = re.compile(r"^(?!(?:[Aa]n?|[Tt]he) )\w+ (?:ERR!|error)\s+")
_PREFIXES = re.compile(
    r"^(?:(?!(?:[Aa]n?|[Tt]he) )\w+ (?:ERR!|error)\s+|Caused by:\s*|--->\s*|Uncaught\s+"
    r"|(?:Unhandled|Uncaught) \w+[.:]\s+|Exception in thread \S+\s+|\[(?:ERROR|FATAL)\]\s*"
    r"|(?:[\w./-]+: )?\d{4}-\d\d-\d\d\S*\s+(?:\d\d:\S+\s+)?"
    r"|\d\d:\d\d:\d\d\S*\s+)+"
)
_TRACE_BEGINS = re.compile(r"^\s*Traceback \(most recent call last\):", re.IGNORECASE)
_EXCEPTION = re.compile(r"^(?:[\w$]+[.:]+)*(?:[A-Z]\w*)?(?:Error|Exception|Panic|Fault)\b(?=\s*(?:[:(\[]|$))")
_PACKAGE = re.compile(r"^(?:[A-Za-z_$][\w$]*(?:\.|::))+(?=[A-Z]\w*(?:Error|Exception|Panic|Fault|Timeout)\b)")
_ASSERTION = re.compile(r"^E\s{2,}\S")
_CAUSE = re.compile(r"^\s*(?:Caused by:|--->)\s*\S")
_FRAME = re.compile(
    r"^\s*(?:at |File \"|#\d+:? +(?:0x|/|\{|\S+\()|\.\.\. \d+ more|from \S+:\d+:in |goroutine \d+|\^[\s~^]*$"
    r"|--> \S+:\d+)"
)
_RULE = re.compile(r"^[\W_]*$")
_POINTER = re.compile(
    r"^(?:see|for (?:more|further)|hint|help|note|tip|try|run|visit|https?:)\b|^A complete log", re.IGNORECASE
)
_PLACE = re.compile(r"\S*[/\\]\S*|\b[\w-]+\.\w{1,5}(?::\d+)*\b|<[^<>]*>")
_WORD = re.compile(r"[^\W\d_]{2,}(?:'t)?")
_SAID = "|".join(re.escape(word) for word in sorted({*FAILURE_WORDS, *FAILURE_PHRASES}, reverse=True))
_FAILED = re.compile(rf"(?<![\w-])(?:{_SAID})(?!\w)", re.IGNORECASE)
_NONE_FAILED = re.compile(
    r"\b(?:no|0|zero|without) (?:\w+ )?(?:errors?|failures?|failed|problems?)\b"
    r"|\b(?:errors?|failures?|failed)\W{1,3}0\b",
    re.IGNORECASE,
)


def telling_line(text: str) -> str:
    r"""The line of *text* that says what went wrong; "" of nothing.

    >>> telling_line('Traceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: \'currency\'')
    "KeyError: 'currency'"
    >>> telling_line("compiling\nmain.c:3:5: error: unknown type name 'nt'\nmake: *** [all] Error 1")
    "main.c:3:5: error: unknown type name 'nt'"
    """
    shown = text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS // 2]}\n{text[-_MOST_CHARS // 2 :]}"
    lines = [line.rstrip() for line in _COLOURS.sub("", shown).splitlines() if line.strip()]
    if len(lines) < 2:
        return _stripped("".join(lines)) or text.strip()
    place = next((place for shape in _SHAPES if (place := shape(lines)) is not None), 0)
    return _stripped(lines[_introduced(lines, place)])


def tells(line: str) -> bool:
    """Whether a line says more than that something failed, where, and how often.

    >>> tells("3 failed, 1 passed in 0.2s"), tells("ERROR in ./src/a.js"), tells("disk full")
    (False, False, True)
    """
    words = {word.lower() for word in _WORD.findall(_PLACE.sub(" ", line))}
    return bool(words - REPORT_WORDS - STOP_WORDS - FAILURE_WORDS)


def _after_traceback(lines: Sequence[str]) -> int | None:
    """Where the last Python traceback ends: the first line behind its frames that is not set in."""
    headers = [place for place, line in enumerate(lines) if _TRACE_BEGINS.match(line)]
    if not headers:
        return None
    margin = len(lines[headers[-1]]) - len(lines[headers[-1]].lstrip())
    later = range(headers[-1] + 1, len(lines))
    return next((place for place in later if len(lines[place]) - len(lines[place].lstrip()) <= margin), None)


def _asserted(lines: Sequence[str]) -> int | None:
    return next((place for place, line in enumerate(lines) if _ASSERTION.match(line)), None)


def _cause(lines: Sequence[str]) -> int | None:
    """The innermost cause."""
    return next((place for place in reversed(range(len(lines))) if _CAUSE.match(lines[place])), None)


def _exception(lines: Sequence[str]) -> int | None:
    """The first line that begins with the name of an exception, with frames somewhere below it."""
    for place, line in enumerate(lines):
        if _EXCEPTION.match(_stripped(line)) and any(map(_FRAME.match, lines[place + 1 :])):
            return place
    return None


def _failed(lines: Sequence[str]) -> int | None:
    """The first line with a word of failure that says more than that."""
    return next((place for place, line in enumerate(lines) if _speaks(line) and _names_failure(line)), None)


def _anything(lines: Sequence[str]) -> int | None:
    return next((place for place, line in enumerate(lines) if _speaks(line)), None)


_SHAPES: tuple[Callable[[Sequence[str]], int | None], ...] = (
    _asserted,
    _after_traceback,
    _cause,
    _exception,
    _failed,
    _anything,
)


def _speaks(line: str) -> bool:
    bare = _stripped(line)
    return not (_RULE.match(bare) or _FRAME.match(line) or _POINTER.match(bare) or _TRACE_BEGINS.match(line)) and tells(
        bare
    )


def _names_failure(line: str) -> bool:
    told = _PLACE.sub(" ", _ECHO.sub("", line))
    return bool(_FAILED.search(_NONE_FAILED.sub(" ", told)) or _EXCEPTION.match(_stripped(line)))


def _introduced(lines: Sequence[str], place: int) -> int:
    """The line that a line ending in a colon introduces, where that says anything."""
    if not lines[place].endswith(":"):
        return place
    return next((later for later in range(place + 1, len(lines)) if _speaks(lines[later])), place)


def _stripped(line: str) -> str:
    """A line without what programs put before their words: bullets, frames of boxes, levels, times, package names."""
    bare = _DECORATION.sub("", line.strip())
    if _ASSERTION.match(bare):
        bare = bare[1:].lstrip()
    return _PACKAGE.sub("", _PREFIXES.sub("", bare))
