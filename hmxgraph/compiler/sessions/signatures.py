"""Failures under one name each: what kind, and the message without what differs from run to run."""

import json
import re
from collections.abc import Container, Iterable, Mapping
from itertools import pairwise
from typing import Any

from hmxgraph.compiler.sessions.commands import command_name
from hmxgraph.compiler.sessions.telling_lines import telling_line
from hmxgraph.compiler.vocabulary import COUNT_WORDS, REQUEST_VERBS
from hmxgraph.protocol.outcomes import CODES, HTTP_STATES
from hmxgraph.text.masking import mask_ids, mask_secrets
from hmxgraph.text.stop_words import STOP_WORDS

LONGEST_MESSAGE = 160
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


def mask_operands(message: str, command: str) -> str:
    """*message* with what the failing command line names masked; of several words in a row the last is the name.

    >>> mask_operands("Lock wait timeout on table events", 'mysql -e "alter table events add column c"')
    'Lock wait timeout on table <name>'
    >>> mask_operands("timed out on pods/web-a", "kubectl wait pod/web-a")
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
    line = _bared(telling_line(told), keep="\n" in told.strip())
    inner = _inside_words(value for value in given if len(value) > _TOO_SHORT and value not in _LANGUAGE)
    line = _phrases(line, given)
    named = (
        _VALUE.sub(lambda match: _argument(match.group(), given, inner), line[: 4 * LONGEST_MESSAGE]) if given else line
    )
    plain = mask_secrets(named)
    return mask_ids(mask_operands(plain, command) if command else plain)[:LONGEST_MESSAGE].strip()


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
