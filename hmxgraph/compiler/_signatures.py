"""Error signatures: a failure's kind and the telling line of its output, without what varies between runs."""

import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hmxgraph.compiler._vocabulary import COUNT_WORDS, FAILURE_PHRASES, FAILURE_WORDS, REPORT_WORDS, REQUEST_VERBS
from hmxgraph.compiler.actions import command_name
from hmxgraph.protocol.events import CODES, HTTP_STATES
from hmxgraph.text.masking import mask_ids, mask_secrets
from hmxgraph.text.terms import STOP_WORDS

# The one line of a longer output that says what went wrong, whatever program wrote it.
#
# Outputs are told apart by shape alone. What names the failure stands at the end of a Python traceback, behind ``E`` in
# a report of pytest, behind the last ``Caused by:`` of a Java trace, before the frames of most others, and else in the
# first line with a word of failure. Headers, rules, counts and frames say nothing while another line does.

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


def _telling_line(text: str) -> str:
    r"""The line of *text* that says what went wrong; "" of nothing.

    >>> _telling_line('Traceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: \'currency\'')
    "KeyError: 'currency'"
    >>> _telling_line("compiling\nmain.c:3:5: error: unknown type name 'nt'\nmake: *** [all] Error 1")
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


# Failures under one name each: what kind, and the message without what differs from run to run.

_LONGEST_MESSAGE = 160
_PREFIX = re.compile(r"^(?:\w*(?:error|exception|failure|failed|fatal)\s*:\s*)+", re.IGNORECASE)
_ERROR = re.compile(r"^(?:error|exception|failure|failed|fatal)\s*:\s*(?=\S)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"(?<!\w)[-+]?\d+(?:[.,]\d+)*(?!\w)")
_CODE = re.compile(r"(?:http|status|code|error|exit|errno|port)\W*$", re.IGNORECASE)
_VALUE = re.compile(r"\S+")
_QUOTED = re.compile(r"(?<![A-Za-z]{2})(['\"`])[^'\"`]{1,80}\1")
_OPERAND_GAPS = re.compile(r"[\s'\"`=,;()<>|&]+")
# A thing with its kind before it, as kubectl writes it.
_THING = re.compile(r"[A-Za-z][\w.-]*/([A-Za-z0-9][\w.-]+)")
# Words of a command line that are no names, whatever is run.
_LANGUAGE = STOP_WORDS | REQUEST_VERBS | COUNT_WORDS
_GENERIC = frozenset({"", "error", "toolerror", "exception", "failure", "runtimeerror", "unknown", "unknownerror"})
_NAMED = ("error", "exception")
# Where tools, programs and web interfaces say what went wrong, what tells most first.
_TEXT_FIELDS = (
    "message", "msg", "error_message", "error_description", "faultstring", "fault", "error", "errors", "failures",
    "failed", "stderr", "reason", "detail", "details", "description", "value", "output", "stdout", "text", "content",
    "body", "response", "result", "title", "code",
)  # fmt: skip
_CODES = dict.fromkeys(CODES, "exit code") | dict.fromkeys(HTTP_STATES, "HTTP")
_FAULT_FIELDS = ("error", "errors")
_TEST_FIELDS = ("failed", "failures")
_TEST_NAMES = ("test", "name", "title", "nodeid")
_DEEPEST = 6
_TOO_SHORT = 3
_PAGE = re.compile(r"\s*<(?:!doctype html|html)\b.*?<title>\s*(.*?)\s*</title>", re.IGNORECASE | re.DOTALL)


def error_message(content: Mapping[str, Any], given: Mapping[str, str] | None = None, command: str = "") -> str:
    """The line of *content* that says what went wrong, masked; "" where nothing does.

    A value that was *given* to the failing call stands under its argument's name, what its *command* names as a name.

    >>> error_message({"result": {"value": "Error: user ann_lee_1234 not found"}})
    'user <id> not found'
    >>> error_message({"message": "Order BXQPTL not found"}, {"bxqptl": "order_id"})
    'Order <order_id> not found'
    """
    return _line(_text(content) or _count(content), given or {}, command)


def error_type(content: Mapping[str, Any]) -> str:
    """The type that an error names for itself, or "".

    >>> error_type({"error_type": "KubectlError"})
    'KubectlError'
    """
    named = content.get("error_type") or content.get("type") or ""
    return mask_ids(str(named))[:60]


def signature(kind: str, message: str) -> str:
    """The name under which equal failures meet: type where it tells something, then the message, numbers masked.

    >>> signature("ToolError", "payment does not add up, total price is 375, but paid 299")
    'payment does not add up, total price is <n>, but paid <n>'
    >>> signature("KubectlError", "Namespace 'staging' not found")
    "kubectlerror: namespace '<name>' not found"
    """
    text = " ".join(mask_numbers(mask_quoted(message)).lower().split())
    if kind.lower().endswith(_NAMED):
        text = text.removeprefix(f"{kind.lower()}: ")
    if kind.lower() in _GENERIC:
        return text or kind.lower() or "error"
    return f"{kind.lower()}: {text}" if text else kind.lower()


def mask_quoted(message: str) -> str:
    """*message* with what it quotes masked: names differ from run to run."""
    return _QUOTED.sub(r"\1<name>\1", message)


def mask_numbers(message: str) -> str:
    """*message* with its numbers masked, codes (HTTP 404, exit code 1) left as they are."""
    return _NUMBER.sub(_masked_number, message).replace("<number>", "<n>")


def _mask_operands(message: str, command: str) -> str:
    """*message* with what the failing command line names masked; of several words in a row the last is the name.

    >>> _mask_operands("Lock wait timeout on table events", 'mysql -e "alter table events add column c"')
    'Lock wait timeout on table <name>'
    >>> _mask_operands("timed out on pods/web-a", "kubectl wait pod/web-a")
    'timed out on pods/<name>'
    """
    words = [word for word in _OPERAND_GAPS.split(command) if word]
    runs, names = set(pairwise(words)), set(filter(_is_name, words)) - set(command_name(command).split())
    things = {match.group(1) for word in words if (match := _THING.fullmatch(word))}
    spoken = [_of_thing(word, things) for word in message.split(" ")]
    bare = [_bare(word) for word in spoken]
    return " ".join(
        written.replace(word, "<name>") if word in names and not (after in names and (word, after) in runs) else written
        for written, word, after in zip(spoken, bare, [*bare[1:], ""], strict=True)
    )


def _of_thing(word: str, things: Container[str]) -> str:
    """A word like "pods/web-a" without the name, where the command names something so."""
    found = _THING.fullmatch(_bare(word))
    return word.replace(f"/{found.group(1)}", "/<name>") if found and found.group(1) in things else word


def _is_name(word: str) -> bool:
    return len(word) > 2 and word[0].isalnum() and word.lower() not in _LANGUAGE


def _text(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and depth < _DEEPEST:
        fields = {str(name).lower(): part for name, part in value.items() if part}
        told = [name for name in _TEXT_FIELDS if name in fields]
        return next((text for name in told if (text := _told(name, fields[name], depth))), "")
    if isinstance(value, list) and value:
        return _text(value[0], depth + 1)
    return ""


def _told(name: str, value: Any, depth: int) -> str:
    """The text under a field; of faults that are told input by input ({"email": ["is taken"]}) the first.

    Tests that failed may be listed by name, which says nothing of what went wrong.
    """
    by_input = value.items() if name in _FAULT_FIELDS and isinstance(value, Mapping) else ()
    found = _text(value, depth + 1)
    if name in _TEST_FIELDS and isinstance(value, list):
        return _of_test(value[0], found)
    return found or next((f"{given} {text}" for given, part in by_input if (text := _text(part, depth + 2))), "")


def _of_test(told: Any, found: str) -> str:
    """What a failed test says; where that is no more than values, with the name of the test."""
    if " " not in found:
        return ""
    name = next((told[field] for field in _TEST_NAMES if told.get(field)), "") if isinstance(told, Mapping) else ""
    return found if not name or _LETTERS.search(_PREFIX.sub("", found)) else f"{name}: {_PREFIX.sub('', found)}"


def _count(content: Mapping[str, Any]) -> str:
    """What numbers alone say of a failure."""
    inner = [part for name in ("response", "result") if isinstance(part := content.get(name), Mapping)]
    told = {name: value for part in (content, *inner) for name, value in part.items()}
    tests = [told[name] for name in _TEST_FIELDS if type(told.get(name)) in {int, list} and told[name]]
    if tests:
        return f"{len(tests[0]) if isinstance(tests[0], list) else tests[0]} tests failed"
    found = ((name, told[name]) for name in _CODES if isinstance(told.get(name), int) and told[name])
    return next((f"{_CODES[name]} {code}" for name, code in found), "")


def _line(text: str, given: Mapping[str, str], command: str) -> str:
    told = _of_document(text)
    line = _bared(_telling_line(told), keep="\n" in told.strip())
    inner = _inside_words(value for value in given if len(value) > _TOO_SHORT and value not in _LANGUAGE)
    line = _phrases(line, given)
    named = (
        _VALUE.sub(lambda match: _argument(match.group(), given, inner), line[: 4 * _LONGEST_MESSAGE])
        if given
        else line
    )
    plain = mask_secrets(named)
    return mask_ids(_mask_operands(plain, command) if command else plain)[:_LONGEST_MESSAGE].strip()


def _of_document(text: str) -> str:
    """What a JSON document says went wrong, and the title of a web page; any other *text* as it is."""
    if page := _PAGE.match(text):
        return page.group(1)
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _text(document) or text


def _bared(line: str, *, keep: bool) -> str:
    """*line* without the type before its words; it stays where told to *keep* it and the words alone say little."""
    bare = _PREFIX.sub("", line)
    return bare if not keep or len(_LETTERS.findall(mask_quoted(bare))) > 1 else _ERROR.sub("", line)


def _argument(word: str, given: Mapping[str, str], inner: re.Pattern[str] | None) -> str:
    """*word* with the value that it is, or that a path or an identifier in it is made of, under its argument's name."""
    bare = _bare(word)
    if name := given.get(bare.lower()):
        return word.replace(bare, f"<{name}>")
    return inner.sub(lambda match: _known(match, given), word) if inner else word


def _known(match: re.Match[str], given: Mapping[str, str]) -> str:
    """The name of what was found; a pattern takes letters for alike that lower case does not, such as the long s."""
    name = given.get(match.group(1).lower())
    return f"<{name}>" if name else match.group()


def _phrases(line: str, given: Mapping[str, str]) -> str:
    """*line* with given values of several words under their arguments' names."""
    for value in sorted((value for value in given if " " in value), key=lambda value: (-len(value), value)):
        line = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", f"<{given[value]}>", line, flags=re.IGNORECASE)
    return line


def _inside_words(values: Iterable[str]) -> re.Pattern[str] | None:
    """Any of *values* inside a word, with the rest of the identifier that it begins or goes on: "orders_pkey"."""
    spelt = "|".join(re.escape(value) for value in sorted(values, key=lambda value: (-len(value), value)))
    return re.compile(rf"(?<![^\W_])({spelt})(?![^\W_])\w*", re.IGNORECASE) if spelt else None


def _bare(word: str) -> str:
    return word.strip(".,:;!?'\"()[]")


def _masked_number(match: re.Match[str]) -> str:
    return match.group() if _CODE.search(match.string[: match.start()]) else "<n>"
