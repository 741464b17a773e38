"""Error signatures: the kind of a failure and the informative line of its output, without varying parts."""

import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hmxgraph.compiler._shell import command_name
from hmxgraph.compiler._vocabulary import COUNT_WORDS, FAILURE_PHRASES, FAILURE_WORDS, REPORT_WORDS, REQUEST_VERBS
from hmxgraph.protocol.events import EXIT_CODE_FIELDS, HTTP_STATUS_FIELDS, went_well
from hmxgraph.text.error_texts import opens_with_error
from hmxgraph.text.instructions import without_instructions
from hmxgraph.text.masking import mask_ids, mask_secrets
from hmxgraph.text.terms import STOP_WORDS

# Find the one line of an output that says what went wrong, for any program, by the shape of the output alone.
#
# The message is at the end of a Python traceback, after ``E`` in a pytest report, after the last ``Caused by:`` of a
# Java trace, before the frames of most other traces, and otherwise in the first line with a failure word. Headers,
# separator lines, counts and frames are used only if there is nothing else.

# Characters read of an output.
_MOST_CHARS = 8000
# A line that only counts the errors listed after it ("2 validation errors for Payment"), and the details in brackets at
# the end of a listed error ("[type=missing, ...").
_COUNTS_ERRORS = re.compile(r"\b\d+ (?:\w+ )?errors? (?:for|in) \S+$", re.IGNORECASE)
_DETAILS = re.compile(r"\s*\[\w+=.*$")
# Terminal colours, and bullets, box characters and other signs at the start of a line.
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_DECORATION = re.compile(r"^(?:[\s\u2500-\u257f\u25a0-\u27bf|>*#=!\u00d7-]+(?=\s)\s*)+")
# Prefixes that a program writes before every line of a report: "npm ERR! ".
_ECHO = re.compile(r"^(?!(?:[Aa]n?|[Tt]he) )\w+ (?:ERR!|error)\s+")
# What may precede the message on its line, repeatedly: "npm ERR! ", "Caused by: ", "Exception in thread "main" ",
# "[ERROR] ", "app: 2024-05-01 10:00:00 ", "10:00:00 ".
_PREFIXES = re.compile(
    r"^(?:(?!(?:[Aa]n?|[Tt]he) )\w+ (?:ERR!|error)\s+|Caused by:\s*|--->\s*|Uncaught\s+"
    r"|(?:Unhandled|Uncaught) \w+[.:]\s+|Exception in thread \S+\s+|\[(?:ERROR|FATAL)\]\s*"
    r"|(?:[\w./-]+: )?\d{4}-\d\d-\d\d\S*\s+(?:\d\d:\S+\s+)?"
    r"|\d\d:\d\d:\d\d\S*\s+)+"
)
_TRACE_BEGINS = re.compile(r"^\s*Traceback \(most recent call last\):", re.IGNORECASE)
# An exception name at the start of a line: "KeyError: ", "java.io.IOException", "Error (".
_EXCEPTION = re.compile(r"^(?:[\w$]+[.:]+)*(?:[A-Z]\w*)?(?:Error|Exception|Panic|Fault)\b(?=\s*(?:[:(\[]|$))")
# The package before an exception name: "java.io." in "java.io.IOException".
_PACKAGE = re.compile(r"^(?:[A-Za-z_$][\w$]*(?:\.|::))+(?=[A-Z]\w*(?:Error|Exception|Panic|Fault|Timeout)\b)")
# An exception of Elixir or Erlang: "** (KeyError) key not found", "** exception error: bad match".
_MARKED = re.compile(r"^\s*\*\* \((?:[A-Z]\w*\.)*[A-Z]\w*\) \S|^\s*\*\* exception error: \S")
# The line of a failed assertion in a pytest report: "E   assert 1 == 2".
_ASSERTION = re.compile(r"^E\s{2,}\S")
# The source line above it (">       assert tax(1) == 2"), and a comparison that names nothing ("assert 1 == 2").
_ASSERTED_SOURCE = re.compile(r"^>\s+(assert\b.*\S)")
_BARE_COMPARISON = re.compile(
    r"(?:AssertionError: )?assert (?:not |in\b|is\b|and\b|or\b|True\b|False\b|None\b|'[^']*'|\"[^\"]*\"|[^A-Za-z'\"])*"
)
# The heading of a failed Go test.
_GO_HEADING = re.compile(r"^\s*--- FAIL: ")
# The line of a cause in a Java or .NET trace.
_CAUSE = re.compile(r"^\s*(?:Caused by:|--->)\s*\S")
# A frame of a stack trace: "  at f (a.js:3)", "  File "a.py", line 3", "#1 0x40", "... 3 more", "from a.rb:3:in ",
# "goroutine 1", a line of "^~~~", "--> a.rs:3".
_FRAME = re.compile(
    r"^\s*(?:at |File \"|#\d+:? +(?:0x|/|\{|\S+\()|\.\.\. \d+ more|from \S+:\d+:in |goroutine \d+|\^[\s~^]*$"
    r"|--> \S+:\d+)"
)
_SEPARATOR = re.compile(r"^[\W_]*$")
# The heading of a section of a report: a tag alone on its line.
_HEADING = re.compile(r"\[[\w -]+\]")
# A line that tells where to read more: "For more information, ...", "hint: ...", "A complete log ...".
_POINTER = re.compile(
    r"^(?:see|for (?:more|further)|hint|help|note|tip|try|run|visit|https?:)\b|^A complete log", re.IGNORECASE
)
# Paths, file names with line numbers, and masks: parts of a line that say where, not what.
_PLACE = re.compile(r"\S*[/\\]\S*|\b[\w-]+\.\w{1,5}(?::\d+)*\b|<[^<>]*>")
_WORD = re.compile(r"[^\W\d_]{2,}(?:'t)?")
_FAILURE_PATTERN = "|".join(re.escape(word) for word in sorted({*FAILURE_WORDS, *FAILURE_PHRASES}, reverse=True))
_FAILURE = re.compile(rf"(?<![\w-])(?:{_FAILURE_PATTERN})(?!\w)", re.IGNORECASE)
# Counted failures ("3 failed", "1 syntax error"), and reports of none ("no errors", "0 failed", "failures: 0").
_COUNTED = re.compile(r"\b[1-9]\d* (?:\w+ )?(?:failed|failures?|errors?)\b", re.IGNORECASE)
_NONE_FAILED = re.compile(
    r"\b(?:no|0|zero|without) (?:\w+ )?(?:errors?|failures?|failed|problems?)\b"
    r"|\b(?:errors?|failures?|failed)\W{1,3}0\b",
    re.IGNORECASE,
)


def _informative_line(text: str) -> str:
    r"""The line of *text* that says what went wrong; "" for an empty text.

    A heading is put after the line that introduces it; the first listed error, after the line that counts the errors.

    >>> _informative_line('Traceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: \'currency\'')
    "KeyError: 'currency'"
    >>> _informative_line("compiling\nmain.c:3:5: error: unknown type name 'nt'\nmake: *** [all] Error 1")
    "main.c:3:5: error: unknown type name 'nt'"
    """
    ends = text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS // 2]}\n{text[-_MOST_CHARS // 2 :]}"
    lines = [
        line.rstrip() for line in _COLOURS.sub("", ends).splitlines() if line.strip() and not _GO_HEADING.match(line)
    ]
    if len(lines) < 2:
        return _without_prefixes("".join(lines)) or text.strip()
    place = next((place for shape in _SHAPES if (place := shape(lines)) is not None), 0)
    following = _introduced_line(lines, place)
    # A heading alone says little without the line before it.
    introduction = (
        f"{_without_prefixes(lines[place])} "
        if following != place and _HEADING.fullmatch(_without_prefixes(lines[following]))
        else ""
    )
    return introduction + _without_prefixes(lines[following]) + _listed_first(lines[following : following + 3])


def _listed_first(lines: Sequence[str]) -> str:
    """The first error listed under a line that counts errors: its field and message; "" if none.

    >>> _listed_first(["1 validation error for Payment", "id", "  Field required [type=missing]"])
    ': id Field required'
    """
    if len(lines) < 2 or not _COUNTS_ERRORS.search(lines[0]):
        return ""
    following = [lines[1], *(line for line in lines[2:] if line[:1].isspace())]
    return ": " + " ".join(_DETAILS.sub("", line).strip() for line in following)


def is_informative(line: str) -> bool:
    """Whether a line says more than that something failed, where, or how often.

    >>> is_informative("3 failed, 1 passed in 0.2s"), is_informative("ERROR in ./src/a.js"), is_informative("disk full")
    (False, False, True)
    """
    words = {word.lower() for word in _WORD.findall(_PLACE.sub(" ", line))}
    return bool(words - REPORT_WORDS - STOP_WORDS - FAILURE_WORDS)


def _after_traceback(lines: Sequence[str]) -> int | None:
    """The place of the first line after the last Python traceback header that is indented no more than this header."""
    headers = [place for place, line in enumerate(lines) if _TRACE_BEGINS.match(line)]
    if not headers:
        return None
    margin = len(lines[headers[-1]]) - len(lines[headers[-1]].lstrip())
    later = range(headers[-1] + 1, len(lines))
    return next((place for place in later if len(lines[place]) - len(lines[place].lstrip()) <= margin), None)


def _assertion_line(lines: Sequence[str]) -> int | None:
    """The place of the first failed assertion of a pytest report, or of its source if the values alone say nothing."""
    place = next((place for place, line in enumerate(lines) if _ASSERTION.match(line)), None)
    if place and _BARE_COMPARISON.fullmatch(_without_prefixes(lines[place])):
        return place - 1 if _ASSERTED_SOURCE.match(lines[place - 1]) else place
    return place


def _cause_line(lines: Sequence[str]) -> int | None:
    """The place of the innermost cause."""
    return next((place for place in reversed(range(len(lines))) if _CAUSE.match(lines[place])), None)


def _exception_line(lines: Sequence[str]) -> int | None:
    """The place of the first line that begins with an exception name and has frames below it."""
    for place, line in enumerate(lines):
        if _EXCEPTION.match(_without_prefixes(line)) and any(map(_FRAME.match, lines[place + 1 :])):
            return place
    return None


def _marked_exception_line(lines: Sequence[str]) -> int | None:
    """The place of the first exception marked as Elixir and Erlang mark them."""
    return next((place for place, line in enumerate(lines) if _MARKED.match(line)), None)


def _failure_line(lines: Sequence[str]) -> int | None:
    """The place of the first informative line with a failure word."""
    return next((place for place, line in enumerate(lines) if _is_message_line(line) and _names_failure(line)), None)


def _any_message_line(lines: Sequence[str]) -> int | None:
    return next((place for place, line in enumerate(lines) if _is_message_line(line)), None)


# How to find the line in an output of each shape, in the order in which they are tried.
_SHAPES: tuple[Callable[[Sequence[str]], int | None], ...] = (
    _assertion_line,
    _after_traceback,
    _cause_line,
    _marked_exception_line,
    _exception_line,
    _failure_line,
    _any_message_line,
)


def _is_message_line(line: str) -> bool:
    """Whether a line is informative and neither a separator, a frame, a pointer nor a trace header."""
    message = _without_prefixes(line)
    return not (
        _SEPARATOR.match(message) or _FRAME.match(line) or _POINTER.match(message) or _TRACE_BEGINS.match(line)
    ) and is_informative(message)


def _names_failure(line: str) -> bool:
    text = _PLACE.sub(" ", _ECHO.sub("", line))
    return bool(_FAILURE.search(_NONE_FAILED.sub(" ", text)) or _EXCEPTION.match(_without_prefixes(line)))


def _introduced_line(lines: Sequence[str], place: int) -> int:
    """The place of the first informative line after *place*, if the line there ends in a colon; else *place*."""
    if not lines[place].endswith(":"):
        return place
    return next((later for later in range(place + 1, len(lines)) if _is_message_line(lines[later])), place)


def _without_prefixes(line: str) -> str:
    """A line without what precedes its message, such as bullets, box characters, levels, times and package names."""
    text = _DECORATION.sub("", line.strip())
    if _ASSERTION.match(text):
        text = text[1:].lstrip()
    return _PACKAGE.sub("", _PREFIXES.sub("", text))


# The name of a failure: its kind, and the message without parts that vary between runs.

# Characters of a message, and of an error type.
_LONGEST_MESSAGE, _LONGEST_TYPE = 160, 60
# Error types at the start of a message ("KeyError: "), and those that say nothing ("Error: ").
_TYPES = re.compile(r"^(?:\w*(?:error|exception|failure|failed|fatal)\s*:\s*)+", re.IGNORECASE)
_GENERIC_TYPE = re.compile(r"^(?:error|exception|failure|failed|fatal)\s*:\s*(?=\S)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# A number that is not part of a word: "375", "-1.5", "1,250".
_NUMBER = re.compile(r"(?<!\w)[-+]?\d+(?:[.,]\d+)*(?!\w)")
# The words before a number that is a code, which is not masked.
_BEFORE_CODE = re.compile(r"(?:http|status|code|error|exit|errno|port)\W*$", re.IGNORECASE)
_CHUNK = re.compile(r"\S+")
# A name in quotation marks, but not what is between two apostrophes: "can't ... won't".
_QUOTED = re.compile(r"(?<![A-Za-z]{2})(['\"`])[^'\"`]{1,80}\1")
# What separates the operands of a command line.
_OPERAND_GAPS = re.compile(r"[\s'\"`=,;()<>|&]+")
# A resource with its kind, as kubectl writes it.
_RESOURCE = re.compile(r"[A-Za-z][\w.-]*/([A-Za-z0-9][\w.-]+)")
# Words of a command line that are never names.
_NEVER_NAMES = STOP_WORDS | REQUEST_VERBS | COUNT_WORDS
# Error types that say nothing.
_GENERIC_KINDS = frozenset(
    {"", "error", "toolerror", "exception", "failure", "runtimeerror", "unknown", "unknownerror"}
)
_TYPE_SUFFIXES = ("error", "exception")
# Fields in which tools, programs and web APIs report errors, the most informative first.
_TEXT_FIELDS = (
    "message", "msg", "error_message", "error_description", "faultstring", "fault", "error", "errors", "failures",
    "failed", "stderr", "reason", "detail", "details", "description", "value", "output", "stdout", "text", "content",
    "body", "response", "result", "title", "code",
)  # fmt: skip
# The fields of codes, each with the words that introduce its code in a message.
_CODES = dict.fromkeys(EXIT_CODE_FIELDS, "exit code") | dict.fromkeys(HTTP_STATUS_FIELDS, "HTTP")
# Fields for errors, which may hold one for each input field; fields of failed tests, and fields of a test's name.
_FAULT_FIELDS = ("error", "errors")
_TEST_FIELDS = ("failed", "failures")
# Fields that identify a record, besides those ending with "_id".
_IDENTIFIERS = frozenset({"id", "key", "number", "uuid"})
_TEST_NAMES = ("test", "name", "title", "nodeid")
# Maximum nesting depth of a result.
_DEEPEST = 6
# Argument values of at most this length are not masked inside words.
_TOO_SHORT = 3
# A web page, with its title.
_PAGE = re.compile(r"\s*<(?:!doctype html|html)\b.*?<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)
# A value as an interpreter session shows it: ``result = "..."``.
_ASSIGNED = re.compile(r"\s*(?:# ?)?[A-Za-z_]\w* = (['\"])(.*)\1\s*", re.DOTALL)


def error_message(content: Mapping[str, Any], arguments: Mapping[str, str] | None = None, command: str = "") -> str:
    """The line of *content* that says what went wrong, masked; "" if there is none.

    *arguments* maps lower-case values of the failing call to the argument names that replace them; operands of its
    *command* become ``<name>``. Instructions to the reader are removed: tool output is quoted, not obeyed.

    >>> error_message({"result": {"value": "Error: user ann_lee_1234 not found"}})
    'user <id> not found'
    >>> error_message({"message": "Order BXQPTL not found"}, {"bxqptl": "order_id"})
    'Order <order_id> not found'
    """
    return without_instructions(_masked_line(_text(content) or _count_message(content), arguments or {}, command))


def raw_line(content: Mapping[str, Any]) -> str:
    """The informative line of *content* as it was printed, with its prefix; else the start of the text."""
    text = _document_message(_text(content) or _count_message(content))
    line = _informative_line(text)
    return next((raw for raw in text.splitlines() if line and line in raw), text[:_LONGEST_MESSAGE])


def mentions_failure(content: Mapping[str, Any]) -> bool:
    """Whether the output of a result contains a failure word, apart from phrases such as "no errors"."""
    return bool(_FAILURE.search(_NONE_FAILED.sub(" ", _text(content)[:_MOST_CHARS])))


def is_error(content: Mapping[str, Any]) -> bool:
    """Whether a result is an error even if it claims success: frameworks pass errors to the model as results.

    >>> is_error({"success": True, "result": 'answer = "ValueError: no such order"'})
    True
    >>> is_error({"success": True, "result": {"value": "", "error": "no such order", "success": False}})
    True

    A record about an error, such as a ticket, is none:

    >>> is_error({"success": True, "result": {"ticket_id": 7, "title": "TypeError: cart is undefined"}})
    False
    """
    result = content.get("result")
    if isinstance(result, Mapping) and went_well("tool_result", {"result": result}) is False:
        return True
    return opens_with_error(_document_message(_text(content)[:_MOST_CHARS])) and not _is_record(result)


def _is_record(result: object) -> bool:
    """Whether *result*, or the first entry of a list, is a record with an identifier and without a field for errors."""
    document = _parsed(result[:_MOST_CHARS]) if isinstance(result, str) else result
    record = document[0] if isinstance(document, list) and document else document
    if not isinstance(record, Mapping):
        return False
    names = {str(name).lower() for name in record}
    return names.isdisjoint(_FAULT_FIELDS) and any(name in _IDENTIFIERS or name.endswith("_id") for name in names)


def counts_failures(content: Mapping[str, Any]) -> bool:
    """Whether the output of a test run counts failures."""
    return bool(_COUNTED.search(_text(content)[-_MOST_CHARS:]))


def error_type(content: Mapping[str, Any]) -> str:
    """The error type stated by the event, or "".

    >>> error_type({"error_type": "KubectlError"})
    'KubectlError'
    """
    kind = content.get("error_type") or content.get("type") or ""
    return mask_ids(str(kind))[:_LONGEST_TYPE]


def signature(kind: str, message: str) -> str:
    """The name shared by equal failures: the type if informative, then the message; numbers and quotations are masked.

    >>> signature("ToolError", "payment does not add up, total price is 375, but paid 299")
    'payment does not add up, total price is <n>, but paid <n>'
    >>> signature("KubectlError", "Namespace 'staging' not found")
    "kubectlerror: namespace '<name>' not found"
    """
    text = " ".join(mask_numbers(mask_quoted(message)).lower().split())
    if kind.lower().endswith(_TYPE_SUFFIXES):
        text = text.removeprefix(f"{kind.lower()}: ")
    if kind.lower() in _GENERIC_KINDS:
        return text or kind.lower() or "error"
    return f"{kind.lower()}: {text}" if text else kind.lower()


def mask_quoted(message: str) -> str:
    """*message* with quoted names masked."""
    return _QUOTED.sub(r"\1<name>\1", message)


def mask_numbers(message: str) -> str:
    """*message* with numbers masked, except codes (HTTP 404, exit code 1)."""
    return _NUMBER.sub(_masked_number, message).replace("<number>", "<n>")


def _mask_operands(message: str, command: str) -> str:
    """*message* with the operands of the failing *command* masked; of several operands in a row, only the last.

    >>> _mask_operands("Lock wait timeout on table events", 'mysql -e "alter table events add column c"')
    'Lock wait timeout on table <name>'
    >>> _mask_operands("timed out on pods/web-a", "kubectl wait pod/web-a")
    'timed out on pods/<name>'
    """
    words = [word for word in _OPERAND_GAPS.split(command) if word]
    runs, names = set(pairwise(words)), set(filter(_is_name, words)) - set(command_name(command).split())
    operand_names = {match.group(1) for word in words if (match := _RESOURCE.fullmatch(word))}
    tokens = [_mask_resource(word, operand_names) for word in message.split(" ")]
    bare = [_without_punctuation(token) for token in tokens]
    return " ".join(
        token.replace(word, "<name>") if word in names and not (after in names and (word, after) in runs) else token
        for token, word, after in zip(tokens, bare, [*bare[1:], ""], strict=True)
    )


def _mask_resource(word: str, operand_names: Container[str]) -> str:
    """A word such as "pods/web-a" with its name masked, if that name is among *operand_names*."""
    operand = _RESOURCE.fullmatch(_without_punctuation(word))
    return word.replace(f"/{operand.group(1)}", "/<name>") if operand and operand.group(1) in operand_names else word


def _is_name(word: str) -> bool:
    return len(word) > 2 and word[0].isalnum() and word.lower() not in _NEVER_NAMES


def _text(value: Any, depth: int = 0) -> str:
    """The text of *value*: of its most informative field that has one, or of the first entry of a list; else ""."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and depth < _DEEPEST:
        fields = {str(name).lower(): part for name, part in value.items() if part}
        names = [name for name in _TEXT_FIELDS if name in fields]
        return next((text for name in names if (text := _field_text(name, fields[name], depth))), "")
    if isinstance(value, list) and value:
        return _text(value[0], depth + 1)
    return ""


def _field_text(name: str, value: Any, depth: int) -> str:
    """The text of a field; for errors keyed by input field ({"email": ["is taken"]}), the first one.

    Failed tests listed only by name are ignored: a name does not say what went wrong.
    """
    by_input = value.items() if name in _FAULT_FIELDS and isinstance(value, Mapping) else ()
    message = _text(value, depth + 1)
    if name in _TEST_FIELDS and isinstance(value, list):
        return _test_message(value[0], message)
    return message or next((f"{field} {text}" for field, part in by_input if (text := _text(part, depth + 2))), "")


def _test_message(test: Any, text: str) -> str:
    """The message of a failed test, after the test's name if the message has no words; "" if *text* is one word."""
    if " " not in text:
        return ""
    name = next((test[field] for field in _TEST_NAMES if test.get(field)), "") if isinstance(test, Mapping) else ""
    return text if not name or _LETTERS.search(_TYPES.sub("", text)) else f"{name}: {_TYPES.sub('', text)}"


def _count_message(content: Mapping[str, Any]) -> str:
    """A message built from the number of failed tests, else from a code; "" if there is neither."""
    inner = [part for name in ("response", "result") if isinstance(part := content.get(name), Mapping)]
    fields = {name: value for part in (content, *inner) for name, value in part.items()}
    tests = [fields[name] for name in _TEST_FIELDS if type(fields.get(name)) in {int, list} and fields[name]]
    if tests:
        return f"{len(tests[0]) if isinstance(tests[0], list) else tests[0]} tests failed"
    codes = ((name, fields[name]) for name in _CODES if isinstance(fields.get(name), int) and fields[name])
    return next((f"{_CODES[name]} {code}" for name, code in codes), "")


def _masked_line(text: str, arguments: Mapping[str, str], command: str) -> str:
    """The informative line of *text* without its error type, with arguments, operands, secrets and ids masked."""
    report = _unescaped(_document_message(text))
    line = _without_type(_informative_line(report), keep="\n" in report.strip())
    inner = _inside_words(value for value in arguments if len(value) > _TOO_SHORT and value not in _NEVER_NAMES)
    line = _mask_phrases(line, arguments)
    if arguments:
        line = _CHUNK.sub(lambda match: _mask_arguments(match.group(), arguments, inner), line[: 4 * _LONGEST_MESSAGE])
    plain = mask_secrets(line)
    return mask_ids(_mask_operands(plain, command) if command else plain)[:_LONGEST_MESSAGE].strip()


def _unescaped(text: str) -> str:
    r"""*text* with each literal ``\n`` turned into a line break, if it is a single line with several of them.

    Also if two of them stand in a row, in any text.

    >>> _unescaped(r"failed:\n\nnot formatted").splitlines(), _unescaped(r"C:\new")
    (['failed:', '', 'not formatted'], 'C:\\new')
    """
    printed = "\\n\\n" in text or ("\n" not in text.strip() and text.count("\\n") > 1)
    return text.replace("\\n", "\n") if printed else text


def _document_message(text: str) -> str:
    """The message in a JSON document, the title of a web page, the string in an assignment; else *text* unchanged."""
    if page := _PAGE.match(text[:_MOST_CHARS]):
        return page.group(1).strip()
    if assigned := _ASSIGNED.fullmatch(text[:_MOST_CHARS]):
        return assigned.group(2)
    return _text(_parsed(text)) or text


def _parsed(text: str) -> object:
    """The JSON document in *text*; None if it holds none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _without_type(line: str, *, keep: bool) -> str:
    """*line* without a leading type; a specific one stays if *keep* is set and the rest is uninformative."""
    rest = _TYPES.sub("", line)
    return rest if not keep or len(_LETTERS.findall(mask_quoted(rest))) > 1 else _GENERIC_TYPE.sub("", line)


def _mask_arguments(word: str, arguments: Mapping[str, str], inner: re.Pattern[str] | None) -> str:
    """*word* with argument values, also inside paths and identifiers, replaced by their argument's name."""
    bare = _without_punctuation(word)
    if name := arguments.get(bare.lower()):
        return word.replace(bare, f"<{name}>")
    return inner.sub(lambda match: _argument_name(match, arguments), word) if inner else word


def _argument_name(match: re.Match[str], arguments: Mapping[str, str]) -> str:
    """The argument name of a match, or the match itself if it has none.

    Case-insensitive regular expressions also match letters that ``lower()`` keeps distinct, such as the long s.
    """
    name = arguments.get(match.group(1).lower())
    return f"<{name}>" if name else match.group()


def _mask_phrases(line: str, arguments: Mapping[str, str]) -> str:
    """*line* with argument values of several words replaced by their argument's name."""
    for value in sorted((value for value in arguments if " " in value), key=lambda value: (-len(value), value)):
        name = f"<{arguments[value]}>".replace("\\", r"\\")  # a template: a backslash would begin an escape
        line = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", name, line, flags=re.IGNORECASE)
    return line


def _inside_words(values: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern for any of *values* inside a word, and for the rest of the word: "orders_pkey" for "orders"."""
    pattern = "|".join(re.escape(value) for value in sorted(values, key=lambda value: (-len(value), value)))
    return re.compile(rf"(?<![^\W_])({pattern})(?![^\W_])\w*", re.IGNORECASE) if pattern else None


def _without_punctuation(word: str) -> str:
    return word.strip(".,:;!?'\"()[]")


def _masked_number(match: re.Match[str]) -> str:
    return match.group() if _BEFORE_CODE.search(match.string[: match.start()]) else "<n>"
