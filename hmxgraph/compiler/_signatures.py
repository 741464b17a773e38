"""Error signatures: texts that are equal for equal failures, made from the error type and the error message."""

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

# Find the one line of an output that says what went wrong. Programs are not distinguished, only layouts of output.
#
# The message is at the end of a Python traceback, after ``E`` in a pytest report, after the last ``Caused by:`` of a
# Java trace, before the frames of most other traces, and otherwise in the first line with a failure word. Headings,
# separator lines, counts and frames are used only if there is nothing else.

# Characters read of an output: half from its start, half from its end.
_MOST_CHARS = 8000
# A line that only counts the errors listed after it ("2 validation errors for Payment"), and the details in brackets at
# the end of a listed error ("[type=missing, ...").
_COUNTS_ERRORS = re.compile(r"\b\d+ (?:\w+ )?errors? (?:for|in) \S+$", re.IGNORECASE)
_DETAILS = re.compile(r"\s*\[\w+=.*$")
# Terminal colours, and bullets, box-drawing characters and other symbols at the start of a line.
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_DECORATION = re.compile(r"^(?:[\s\u2500-\u257f\u25a0-\u27bf|>*#=!\u00d7-]+(?=\s)\s*)+")
# A prefix that a program writes before every line of a report: "npm ERR! ".
_REPORT_PREFIX = re.compile(r"^(?!(?:[Aa]n?|[Tt]he) )\w+ (?:ERR!|error)\s+")
# What may precede the message on its line, repeatedly: "npm ERR! ", "Caused by: ", "Exception in thread "main" ",
# "[ERROR] ", "app: 2024-05-01 10:00:00 ", "10:00:00 ".
_PREFIXES = re.compile(
    r"^(?:(?!(?:[Aa]n?|[Tt]he) )\w+ (?:ERR!|error)\s+|Caused by:\s*|--->\s*|Uncaught\s+"
    r"|(?:Unhandled|Uncaught) \w+[.:]\s+|Exception in thread \S+\s+|\[(?:ERROR|FATAL)\]\s*"
    r"|(?:[\w./-]+: )?\d{4}-\d\d-\d\d\S*\s+(?:\d\d:\S+\s+)?"
    r"|\d\d:\d\d:\d\d\S*\s+)+"
)
_TRACE_BEGINS = re.compile(r"^\s*Traceback \(most recent call last\):", re.IGNORECASE)
# An exception name at the start of a line, before a colon, a bracket or the end: "KeyError: ", "java.io.IOException".
_EXCEPTION = re.compile(r"^(?:[\w$]+[.:]+)*(?:[A-Z]\w*)?(?:Error|Exception|Panic|Fault)\b(?=\s*(?:[:(\[]|$))")
# The package before an exception name: "java.io." in "java.io.IOException".
_PACKAGE = re.compile(r"^(?:[A-Za-z_$][\w$]*(?:\.|::))+(?=[A-Z]\w*(?:Error|Exception|Panic|Fault|Timeout)\b)")
# An exception of Elixir or Erlang: "** (KeyError) key not found", "** exception error: bad match".
_MARKED_EXCEPTION = re.compile(r"^\s*\*\* \((?:[A-Z]\w*\.)*[A-Z]\w*\) \S|^\s*\*\* exception error: \S")
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
# The heading of a section of a report: words in square brackets that fill the line.
_HEADING = re.compile(r"\[[\w -]+\]")
# A line that gives a hint or says where to read more: "For more information, ...", "hint: ...", "A complete log ...".
_HINT = re.compile(
    r"^(?:see|for (?:more|further)|hint|help|note|tip|try|run|visit|https?:)\b|^A complete log", re.IGNORECASE
)
# Parts of a line that say where, not what: paths, file names with line numbers, and masked values.
_LOCATION = re.compile(r"\S*[/\\]\S*|\b[\w-]+\.\w{1,5}(?::\d+)*\b|<[^<>]*>")
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

    If that line counts errors listed below it, the first listed error is appended. If it is a heading such as
    "[DIALYZER]" after a line that ends in a colon, that line is put before it.

    >>> _informative_line('Traceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: \'currency\'')
    "KeyError: 'currency'"
    >>> _informative_line("compiling\nmain.c:3:5: error: unknown type name 'nt'\nmake: *** [all] Error 1")
    "main.c:3:5: error: unknown type name 'nt'"
    """
    read_text = text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS // 2]}\n{text[-_MOST_CHARS // 2 :]}"
    all_lines = (line.rstrip() for line in _COLOURS.sub("", read_text).splitlines() if line.strip())
    lines = [line for line in all_lines if not _GO_HEADING.match(line)]
    if len(lines) < 2:
        return _without_prefixes("".join(lines)) or text.strip()
    index = next((index for finder in _LINE_FINDERS if (index := finder(lines)) is not None), 0)
    message_index = _introduced_line(lines, index)
    # A heading alone says little without the line that introduces it.
    introduction = (
        f"{_without_prefixes(lines[index])} "
        if message_index != index and _HEADING.fullmatch(_without_prefixes(lines[message_index]))
        else ""
    )
    message = _without_prefixes(lines[message_index])
    return introduction + message + _first_listed_error(lines[message_index : message_index + 3])


def _first_listed_error(lines: Sequence[str]) -> str:
    """The first error listed under a line that counts errors, as ": <field> <message>"; "" if there is none.

    >>> _first_listed_error(["1 validation error for Payment", "id", "  Field required [type=missing]"])
    ': id Field required'
    """
    if len(lines) < 2 or not _COUNTS_ERRORS.search(lines[0]):
        return ""
    following = [lines[1], *(line for line in lines[2:] if line[:1].isspace())]
    return ": " + " ".join(_DETAILS.sub("", line).strip() for line in following)


def is_informative(line: str) -> bool:
    """Whether *line* says what went wrong: more than that something failed, where, or how often.

    >>> is_informative("3 failed, 1 passed in 0.2s"), is_informative("ERROR in ./src/a.js"), is_informative("disk full")
    (False, False, True)
    """
    words = {word.lower() for word in _WORD.findall(_LOCATION.sub(" ", line))}
    return bool(words - REPORT_WORDS - STOP_WORDS - FAILURE_WORDS)


def _after_traceback(lines: Sequence[str]) -> int | None:
    """The index of the line that ends the last Python traceback: the first one indented no more than its header."""
    headers = [index for index, line in enumerate(lines) if _TRACE_BEGINS.match(line)]
    if not headers:
        return None
    margin = len(lines[headers[-1]]) - len(lines[headers[-1]].lstrip())
    later = range(headers[-1] + 1, len(lines))
    return next((index for index in later if len(lines[index]) - len(lines[index].lstrip()) <= margin), None)


def _assertion_line(lines: Sequence[str]) -> int | None:
    """The index of the first failed assertion of pytest, or of its source line if the compared values say nothing."""
    index = next((index for index, line in enumerate(lines) if _ASSERTION.match(line)), None)
    if index and _BARE_COMPARISON.fullmatch(_without_prefixes(lines[index])):
        return index - 1 if _ASSERTED_SOURCE.match(lines[index - 1]) else index
    return index


def _cause_line(lines: Sequence[str]) -> int | None:
    """The index of the innermost cause in a Java or .NET trace: the last one."""
    return next((index for index in reversed(range(len(lines))) if _CAUSE.match(lines[index])), None)


def _exception_line(lines: Sequence[str]) -> int | None:
    """The index of the first line that begins with an exception name and has frames below it."""
    for index, line in enumerate(lines):
        if _EXCEPTION.match(_without_prefixes(line)) and any(map(_FRAME.match, lines[index + 1 :])):
            return index
    return None


def _marked_exception_line(lines: Sequence[str]) -> int | None:
    """The index of the first exception in the notation of Elixir or Erlang."""
    return next((index for index, line in enumerate(lines) if _MARKED_EXCEPTION.match(line)), None)


def _failure_line(lines: Sequence[str]) -> int | None:
    """The index of the first informative line with a failure word."""
    return next((index for index, line in enumerate(lines) if _is_message_line(line) and _names_failure(line)), None)


def _any_message_line(lines: Sequence[str]) -> int | None:
    """The index of the first informative line."""
    return next((index for index, line in enumerate(lines) if _is_message_line(line)), None)


# Functions that find the line in outputs of different layouts, in the order in which they are tried.
_LINE_FINDERS: tuple[Callable[[Sequence[str]], int | None], ...] = (
    _assertion_line,
    _after_traceback,
    _cause_line,
    _marked_exception_line,
    _exception_line,
    _failure_line,
    _any_message_line,
)


def _is_message_line(line: str) -> bool:
    """Whether a line is informative and is not a separator, a frame, a hint or a traceback header."""
    message = _without_prefixes(line)
    return not (
        _SEPARATOR.match(message) or _FRAME.match(line) or _HINT.match(message) or _TRACE_BEGINS.match(line)
    ) and is_informative(message)


def _names_failure(line: str) -> bool:
    text = _LOCATION.sub(" ", _REPORT_PREFIX.sub("", line))
    return bool(_FAILURE.search(_NONE_FAILED.sub(" ", text)) or _EXCEPTION.match(_without_prefixes(line)))


def _introduced_line(lines: Sequence[str], index: int) -> int:
    """The index of the first informative line after the one at *index*, if that ends in a colon; else *index*."""
    if not lines[index].endswith(":"):
        return index
    return next((later for later in range(index + 1, len(lines)) if _is_message_line(lines[later])), index)


def _without_prefixes(line: str) -> str:
    """*line* without what precedes its message, such as bullets, log levels, times and package names."""
    text = _DECORATION.sub("", line.strip())
    if _ASSERTION.match(text):
        text = text[1:].lstrip()
    return _PACKAGE.sub("", _PREFIXES.sub("", text))


# The signature of a failure: its error type, and its message without parts that vary between runs.

# Characters kept of a message, and of an error type.
_LONGEST_MESSAGE, _LONGEST_TYPE = 160, 60
# Error types at the start of a message ("KeyError: "), and those that say nothing specific ("Error: ").
_TYPES = re.compile(r"^(?:\w*(?:error|exception|failure|failed|fatal)\s*:\s*)+", re.IGNORECASE)
_GENERIC_TYPE = re.compile(r"^(?:error|exception|failure|failed|fatal)\s*:\s*(?=\S)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# A number that is not part of a word: "375", "-1.5", "1,250".
_NUMBER = re.compile(r"(?<!\w)[-+]?\d+(?:[.,]\d+)*(?!\w)")
# A word before a number that makes it a code. Codes are not masked, because they tell failures apart.
_BEFORE_CODE = re.compile(r"(?:http|status|code|error|exit|errno|port)\W*$", re.IGNORECASE)
_NON_SPACES = re.compile(r"\S+")
# A name in quotation marks, but not what is between two apostrophes: "can't ... won't".
_QUOTED = re.compile(r"(?<![A-Za-z]{2})(['\"`])[^'\"`]{1,80}\1")
# Separators of the operands of a command line.
_OPERAND_SEPARATORS = re.compile(r"[\s'\"`=,;()<>|&]+")
# The same name on both sides of an arrow.
_ENDS = re.compile(r"(?<!\S)(\S{1,80}) -> \1(?!\S)")
# A Kubernetes resource with its kind: "pods/web-a".
_RESOURCE = re.compile(r"[A-Za-z][\w.-]*/([A-Za-z0-9][\w.-]+)")
# Common words, which are never taken for the name of an operand.
_NEVER_NAMES = STOP_WORDS | REQUEST_VERBS | COUNT_WORDS
# Error types that say nothing specific.
_GENERIC_KINDS = frozenset(
    {"", "error", "toolerror", "exception", "failure", "runtimeerror", "unknown", "unknownerror"}
)
_TYPE_SUFFIXES = ("error", "exception")
# Fields in which tools, programs and web APIs report errors; the most informative come first.
_TEXT_FIELDS = (
    "message", "msg", "error_message", "error_description", "faultstring", "fault", "error", "errors", "failures",
    "failed", "stderr", "reason", "detail", "details", "description", "value", "output", "stdout", "text", "content",
    "body", "response", "result", "title", "code",
)  # fmt: skip
# The fields that hold an exit code or HTTP status, each with the words that precede the code in a message.
_CODES = dict.fromkeys(EXIT_CODE_FIELDS, "exit code") | dict.fromkeys(HTTP_STATUS_FIELDS, "HTTP")
# Fields that may hold an object of errors by input field ({"email": ["is taken"]}), fields that list failed tests, and
# fields with the name of a test.
_FIELD_ERRORS = ("error", "errors")
_TEST_FIELDS = ("failed", "failures")
# Fields that identify a record, besides those ending with "_id".
_IDENTIFIERS = frozenset({"id", "key", "number", "uuid"})
_TEST_NAMES = ("test", "name", "title", "nodeid")
# Maximum nesting depth of a result.
_DEEPEST = 6
# Argument values of at most this length are not masked inside words: they may occur there by chance.
_TOO_SHORT = 3
# A web page, with its title.
_PAGE = re.compile(r"\s*<(?:!doctype html|html)\b.*?<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)
# A value as an interpreter session shows it: ``result = "..."``.
_ASSIGNED = re.compile(r"\s*(?:# ?)?[A-Za-z_]\w* = (['\"])(.*)\1\s*", re.DOTALL)


def error_message(content: Mapping[str, Any], arguments: Mapping[str, str] | None = None, command: str = "") -> str:
    """The line of an event's *content* that says what went wrong, masked; "" if there is none.

    Ids and secrets are masked, and so are the values of the failing call: *arguments* maps them, in lower case, to the
    argument names that replace them; operands of its *command* become ``<name>``. Sentences that instruct the reader
    are removed, because an agent may read the message and must not obey it.

    >>> error_message({"result": {"value": "Error: user ann_lee_1234 not found"}})
    'user <id> not found'
    >>> error_message({"message": "Order BXQPTL not found"}, {"bxqptl": "order_id"})
    'Order <order_id> not found'
    """
    return without_instructions(_masked_line(_text(content) or _count_message(content), arguments or {}, command))


def raw_line(content: Mapping[str, Any]) -> str:
    """The line of *content* that says what went wrong, unmasked and with its prefix; else the start of the text."""
    text = _document_message(_text(content) or _count_message(content))
    line = _informative_line(text)
    return next((raw for raw in text.splitlines() if line and line in raw), text[:_LONGEST_MESSAGE])


def mentions_failure(content: Mapping[str, Any]) -> bool:
    """Whether the output of a result contains a failure word, apart from phrases such as "no errors"."""
    return bool(_FAILURE.search(_NONE_FAILED.sub(" ", _text(content)[:_MOST_CHARS])))


def is_error(content: Mapping[str, Any]) -> bool:
    """Whether a result is an error even if it claims success: frameworks return some errors as ordinary results.

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
    return names.isdisjoint(_FIELD_ERRORS) and any(name in _IDENTIFIERS or name.endswith("_id") for name in names)


def counts_failures(content: Mapping[str, Any]) -> bool:
    """Whether the output of a test run reports a number of failures above zero: "3 failed"."""
    return bool(_COUNTED.search(_text(content)[-_MOST_CHARS:]))


def error_type(content: Mapping[str, Any]) -> str:
    """The error type that *content* states, masked; "" if it states none.

    >>> error_type({"error_type": "KubectlError"})
    'KubectlError'
    """
    kind = content.get("error_type") or content.get("type") or ""
    return mask_ids(str(kind))[:_LONGEST_TYPE]


def signature(kind: str, message: str) -> str:
    """The text shared by equal failures: the error type *kind* if it is specific, then the message.

    Numbers and quoted names are masked.

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


def _mask_ends(message: str) -> str:
    """*message* with a name masked that stands on both sides of an arrow, as git writes branches.

    >>> _mask_ends("! [rejected] main -> main (fetch first)")
    '! [rejected] <name> -> <name> (fetch first)'
    """
    return _ENDS.sub("<name> -> <name>", message)


def mask_numbers(message: str) -> str:
    """*message* with numbers masked, except codes (HTTP 404, exit code 1)."""
    return _NUMBER.sub(_masked_number, message).replace("<number>", "<n>")


def _mask_operands(message: str, command: str) -> str:
    """*message* with the operands of the failing *command* masked.

    Of several words that follow each other in the command, only the last is masked: in "table events", "table" is
    rather a keyword.

    >>> _mask_operands("Lock wait timeout on table events", 'mysql -e "alter table events add column c"')
    'Lock wait timeout on table <name>'
    >>> _mask_operands("timed out on pods/web-a", "kubectl wait pod/web-a")
    'timed out on pods/<name>'
    """
    words = [word for word in _OPERAND_SEPARATORS.split(command) if word]
    word_pairs, names = set(pairwise(words)), set(filter(_is_name, words)) - set(command_name(command).split())
    operand_names = {match.group(1) for word in words if (match := _RESOURCE.fullmatch(word))}
    tokens = [_mask_resource(word, operand_names) for word in message.split(" ")]
    bare = [_without_punctuation(token) for token in tokens]
    return " ".join(
        token.replace(word, "<name>")
        if word in names and not (after in names and (word, after) in word_pairs)
        else token
        for token, word, after in zip(tokens, bare, [*bare[1:], ""], strict=True)
    )


def _mask_resource(word: str, operand_names: Container[str]) -> str:
    """*word* with the name in it masked if it is a resource such as "pods/web-a", named in *operand_names*."""
    operand = _RESOURCE.fullmatch(_without_punctuation(word))
    return word.replace(f"/{operand.group(1)}", "/<name>") if operand and operand.group(1) in operand_names else word


def _is_name(word: str) -> bool:
    return len(word) > 2 and word[0].isalnum() and word.lower() not in _NEVER_NAMES


def _text(value: Any, depth: int = 0) -> str:
    """The text of *value*, of its most informative field that has one, or of the first entry of a list; "" if none."""
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
    """The text of the field *name*; of errors by input field ({"email": ["is taken"]}), the first: "email is taken".

    Failed tests that are listed only by name are ignored, because a name does not say what went wrong.
    """
    by_input = value.items() if name in _FIELD_ERRORS and isinstance(value, Mapping) else ()
    message = _text(value, depth + 1)
    if name in _TEST_FIELDS and isinstance(value, list):
        return _test_message(value[0], message)
    return message or next((f"{field} {text}" for field, part in by_input if (text := _text(part, depth + 2))), "")


def _test_message(test: Any, text: str) -> str:
    """The message *text* of a failed test; "" if it is a single word.

    If it has no words besides an error type ("AssertionError: 1 != 2"), the name of the test replaces the type.
    """
    if " " not in text:
        return ""
    name = next((test[field] for field in _TEST_NAMES if test.get(field)), "") if isinstance(test, Mapping) else ""
    return text if not name or _LETTERS.search(_TYPES.sub("", text)) else f"{name}: {_TYPES.sub('', text)}"


def _count_message(content: Mapping[str, Any]) -> str:
    """A message made from the number of failed tests, else from an exit code or HTTP status; "" if there is none."""
    nested = [part for name in ("response", "result") if isinstance(part := content.get(name), Mapping)]
    fields = {name: value for part in (content, *nested) for name, value in part.items()}
    tests = [fields[name] for name in _TEST_FIELDS if type(fields.get(name)) in {int, list} and fields[name]]
    if tests:
        return f"{len(tests[0]) if isinstance(tests[0], list) else tests[0]} tests failed"
    codes = ((name, fields[name]) for name in _CODES if isinstance(fields.get(name), int) and fields[name])
    return next((f"{_CODES[name]} {code}" for name, code in codes), "")


def _masked_line(text: str, arguments: Mapping[str, str], command: str) -> str:
    """The line of *text* that says what went wrong, without its error type; arguments, secrets and ids are masked."""
    report = _unescaped(_document_message(text))
    line = _without_type(_informative_line(report), keep="\n" in report.strip())
    in_words = _pattern_in_words(value for value in arguments if len(value) > _TOO_SHORT and value not in _NEVER_NAMES)
    line = _mask_ends(_mask_phrases(line, arguments))
    if arguments:
        start = line[: 4 * _LONGEST_MESSAGE]
        line = _NON_SPACES.sub(lambda match: _mask_arguments(match.group(), arguments, in_words), start)
    line = mask_secrets(line)
    return mask_ids(_mask_operands(line, command) if command else line)[:_LONGEST_MESSAGE].strip()


def _unescaped(text: str) -> str:
    r"""*text* with each escape ``\n`` turned into a line break, if they are escaped line breaks and not parts of paths.

    They are if the text is a single line with several of them, or if two follow each other.

    >>> _unescaped(r"failed:\n\nnot formatted").splitlines(), _unescaped(r"C:\new")
    (['failed:', '', 'not formatted'], 'C:\\new')
    """
    is_escaped = "\\n\\n" in text or ("\n" not in text.strip() and text.count("\\n") > 1)
    return text.replace("\\n", "\n") if is_escaped else text


def _document_message(text: str) -> str:
    """The message in a JSON document, the title of a web page, or the string in an assignment; else *text* itself."""
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
    """*line* without the error types at its start.

    With *keep*, only a generic type is removed if the message itself says little: of "KeyError: 'rate'", all is kept.
    """
    message = _TYPES.sub("", line)
    return message if not keep or len(_LETTERS.findall(mask_quoted(message))) > 1 else _GENERIC_TYPE.sub("", line)


def _mask_arguments(word: str, arguments: Mapping[str, str], in_words: re.Pattern[str] | None) -> str:
    """*word* with argument values replaced by the names of their arguments.

    *in_words* matches the values that are also replaced inside a longer word, such as a path.
    """
    bare = _without_punctuation(word)
    if name := arguments.get(bare.lower()):
        return word.replace(bare, f"<{name}>")
    return in_words.sub(lambda match: _argument_name(match, arguments), word) if in_words else word


def _argument_name(match: re.Match[str], arguments: Mapping[str, str]) -> str:
    """The name of the argument whose value was matched, in angle brackets; the match itself if there is none.

    There may be none, because case-insensitive regular expressions also match letters that ``lower()`` keeps distinct,
    such as the long s.
    """
    name = arguments.get(match.group(1).lower())
    return f"<{name}>" if name else match.group()


def _mask_phrases(line: str, arguments: Mapping[str, str]) -> str:
    """*line* with argument values that contain spaces replaced by the names of their arguments."""
    for value in sorted((value for value in arguments if " " in value), key=lambda value: (-len(value), value)):
        name = f"<{arguments[value]}>".replace("\\", r"\\")  # In a replacement template, a backslash begins an escape.
        line = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", name, line, flags=re.IGNORECASE)
    return line


def _pattern_in_words(values: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern that matches any of *values* inside a word, up to the end of the word: "orders_pkey" for "orders"."""
    pattern = "|".join(re.escape(value) for value in sorted(values, key=lambda value: (-len(value), value)))
    return re.compile(rf"(?<![^\W_])({pattern})(?![^\W_])\w*", re.IGNORECASE) if pattern else None


def _without_punctuation(word: str) -> str:
    return word.strip(".,:;!?'\"()[]")


def _masked_number(match: re.Match[str]) -> str:
    return match.group() if _BEFORE_CODE.search(match.string[: match.start()]) else "<n>"
