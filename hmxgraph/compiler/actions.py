"""What an agent did in an event, under one name: a tool, a program with its subcommand, a web request."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Protocol

from hmxgraph.compiler._vocabulary import (
    BROWSER,
    BROWSER_LOOKUPS,
    BROWSER_WAYS,
    PREPARATIONS,
    SHELL_WORDS,
    SHELLS,
    SUBCOMMANDS,
    WEB_METHODS,
    WRAPPERS,
)
from hmxgraph.protocol.canonical import indexable
from hmxgraph.protocol.events import WORK, went_well
from hmxgraph.text.masking import mask_ids, mask_secrets, public_address

# The program and subcommand of a command line.

_DEEPER = {
    ("docker", "compose"), ("kubectl", "rollout"), ("kubectl", "config"), ("npm", "run"), ("yarn", "run"),
    ("pnpm", "run"), ("git", "stash"), ("git", "remote"), ("git", "submodule"), ("helm", "repo"), ("kubectl", "auth"),
    ("terraform", "state"), ("terraform", "workspace"),
}  # fmt: skip
_SHALLOW = {
    ("docker", word)
    for word in ("build", "exec", "images", "inspect", "logs", "ps", "pull", "push", "restart", "rm", "run", "stop")
}
_RUNNERS = {("uv", "run"), ("poetry", "run"), ("npx",), ("pnpm", "exec"), ("bundle", "exec"), ("pipenv", "run")}
_FLAGS_WITH_VALUE = {
    *("-n", "--namespace", "--context", "--kubeconfig", "-C", "-c", "-f", "--file", "-p"),
    *("--profile", "--region", "--project", "--prefix", "--chdir"),
}
_SSH_FLAGS_WITH_VALUE = frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopQRSWw")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
_SEPARATOR = re.compile(r"^(?:&&|\|\||;|\||&|\n)+$")
_WORD = re.compile(r"[a-z][a-z0-9:_-]*")
_PARTS = re.compile(r"[a-z]+|[0-9]+")
_SPELT_ALIKE = 0.5
_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?")


def command_name(line: str) -> str:
    """The program that *line* runs, with its subcommand if it has any.

    Directory changes, assignments, wrappers, remote hosts and containers are skipped; the first program of a pipeline
    counts.

    >>> command_name("cd /srv && sudo kubectl apply -f staging.yaml | tee log")
    'kubectl apply'
    >>> command_name("KUBECONFIG=x kubectl rollout status deploy/web"), command_name("python3 -m pytest -q tests")
    ('kubectl rollout status', 'pytest')
    >>> command_name("ssh -p 22 web-1 sudo df -h"), command_name("kubectl exec -it web-1 -- ls /srv")
    ('df', 'ls')
    """
    segments = [program for segment in _segments(line) if (program := _named(segment))]
    telling = [name for name in segments if name not in PREPARATIONS]
    return (telling or segments or [""])[0]


def tried_again(line: str, later: str) -> bool:
    """Whether *later* repeats *line*, possibly corrected: with words added, omitted or respelt.

    >>> tried_again("kubectl apply -f stagin.yaml", "kubectl apply -f staging.yaml --wait")
    True
    >>> tried_again('mysql -e "ALTER TABLE carts"', 'mysql -e "DROP TABLE carts"')
    False
    """
    before, after = _parts(line), _parts(later)
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return all(_alike(before[i:j], after[k:m]) for kind, i, j, k, m in changes if kind == "replace")


def _parts(line: str) -> list[str]:
    """The words of a command line, with all numbers equal."""
    return ["0" if part.isdecimal() else part for part in _PARTS.findall(line.lower())]


def _alike(words: Sequence[str], later_words: Sequence[str]) -> bool:
    return SequenceMatcher(None, " ".join(words), " ".join(later_words), autojunk=False).ratio() >= _SPELT_ALIKE


def _segments(line: str) -> list[list[str]]:
    segments: list[list[str]] = [[]]
    for token in _tokens(line):
        if _SEPARATOR.match(token):
            segments.append([])
        else:
            segments[-1].append(token)
    return segments


def _tokens(line: str) -> list[str]:
    lexer = shlex.shlex(line.strip().replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # an open quote: words are all there is to go by
        return line.split()


def _named(tokens: Sequence[str]) -> str:
    words = _unwrapped(tokens)
    if not words:
        return ""
    program = words[0].replace("\\", "/").rsplit("/", 1)[-1]
    rest = words[1:]
    if program in SHELLS:
        return _inside_shell(program, rest)
    if elsewhere := _elsewhere(program, rest):
        return command_name(elsewhere) or program
    if _PYTHON.fullmatch(program):
        return _module(rest) or "python"
    for runner in _RUNNERS:
        if (program, *rest)[: len(runner)] == runner:
            inner = rest[len(runner) - 1 :]
            return _named(inner) or " ".join(runner)
    return " ".join([program, *_subcommands(program, rest)])


def _unwrapped(tokens: Sequence[str]) -> list[str]:
    words = list(tokens)
    while words and (words[0] in WRAPPERS or _ASSIGNMENT.fullmatch(words[0]) or words[0] in {"(", ")", "!"}):
        wrapper = words.pop(0)
        while wrapper in WRAPPERS and words and (words[0].startswith("-") or words[0].rstrip("smh").isdigit()):
            words.pop(0)
    return words


def _inside_shell(program: str, rest: Sequence[str]) -> str:
    flags = [index for index, word in enumerate(rest) if word.startswith("-") and "c" in word]
    inner = rest[flags[0] + 1 : flags[0] + 2] if flags else []
    return (command_name(inner[0]) if inner else "") or program


def _elsewhere(program: str, rest: Sequence[str]) -> str:
    """The command line that a program runs on another host or in a container; "" if there is none."""
    if program == "ssh":
        return " ".join(_behind_host(rest))
    if program == "kubectl" and "exec" in rest and "--" in rest:
        return " ".join(rest[rest.index("--") + 1 :])
    return ""


def _behind_host(rest: Sequence[str]) -> Sequence[str]:
    place = 0
    while place < len(rest) and rest[place].startswith("-"):
        place += 2 if rest[place] in _SSH_FLAGS_WITH_VALUE else 1
    return rest[place + 1 :]


def _module(rest: Sequence[str]) -> str:
    if "-m" not in rest[:3]:
        return ""
    name = rest[rest.index("-m") + 1 : rest.index("-m") + 2]
    return name[0].split(".")[0] if name else ""


def _subcommands(program: str, rest: Sequence[str]) -> list[str]:
    depth = SUBCOMMANDS.get(program, 0)
    names: list[str] = []
    for before, word in zip(["", *rest], rest, strict=False):
        if len(names) == depth:
            break
        if word.startswith("-") or before in _FLAGS_WITH_VALUE:
            continue
        if not _WORD.fullmatch(word):
            break
        names.append(word)
        depth += (program, word) in _DEEPER
        depth -= (program, word) in _SHALLOW
    return names


# Web requests: the method and the address.

PATH_ID = "<id>"
_ADDRESS_FIELDS = ("url", "path", "endpoint", "uri")
_REQUEST_FIELDS = frozenset(("method", *_ADDRESS_FIELDS))
_LONGEST = 120
_HAS_DIGIT = re.compile(r"\d")
_VERSION = re.compile(r"v\d{1,3}")


def request_name(given: Mapping[str, Any]) -> str:
    """The web request made by a call with these arguments, without ids that vary between runs; "" if it is none.

    Logins, queries and secrets in the address are omitted.

    >>> request_name({"method": "get", "url": "https://api.shop.example/v2/orders/4711?full=1"})
    'GET api.shop.example/v2/orders/<id>'
    >>> request_name({"method": "express", "url": "x"})
    ''
    """
    method = str(given.get("method") or "").upper()
    address = public_address(next((given[field] for field in _ADDRESS_FIELDS if isinstance(given.get(field), str)), ""))
    if method not in WEB_METHODS or not address:
        return ""
    host, *parts = address.partition("://")[2].split("/") if "://" in address else ("", *address.split("/")[1:])
    path = [PATH_ID if _HAS_DIGIT.search(part) and not _VERSION.fullmatch(part) else part for part in parts]
    return mask_secrets(f"{method} {'/'.join((host, *path))}")[:_LONGEST]


# Events that hold both the action and its end: what was done, with which inputs, and how it went. HMX-E defines no
# fields for them.

_COMMAND_FIELDS = ("command", "cmd", "command_line", "script")
_PATH_FIELDS = ("path", "file_path", "filepath", "file", "filename")
_VERB_FIELDS = ("action", "action_type", "type")
_NAME_FIELDS = ("tool_name", "operation", "api_name", "api", "service")
_VERB = re.compile(r"(?:browser[_. -]+)?([A-Za-z][A-Za-z_. -]{0,40})", re.IGNORECASE)
# Input fields by event type. Whether a text is typed or read depends on the verb.
_GIVEN = {
    "browser_action": (
        "url", "href", "selector", "xpath", "element", "index", "ref", "target", "value", "text", "key", "keys",
        "option", "query", "coordinate", "coordinates", "x", "y", "username", "password",
    ),
    "api_result": ("request_body", "params", "payload", "query"),
}  # fmt: skip
# Fields in which some producers bundle all inputs.
_BUNDLES = ("params", "parameters", "arguments", "args")
# Fields that identify the target of a browser action.
TARGET_FIELDS = ("selector", "element", "xpath", "url", "href")
_DEED = {
    "command_exec": (*_COMMAND_FIELDS, "cwd"),
    "test_run": (*_COMMAND_FIELDS, "cwd", "suite", "framework"),
    "file_edit": (*_PATH_FIELDS, "operation", "content", "diff", "patch", "old_string", "new_string"),
    "browser_action": (*_VERB_FIELDS, *_BUNDLES),
    "api_result": (*_REQUEST_FIELDS, *_NAME_FIELDS, "request"),
}


def _browser_verb(content: Mapping[str, Any]) -> str:
    """The browser action as its agent names it, or "".

    >>> _browser_verb({"action": "click"}), _browser_verb({"type": "browser_input_text"})
    ('click', 'input_text')
    >>> _browser_verb({"action": "#"})
    ''
    """
    named = next((content[name] for name in _VERB_FIELDS if isinstance(content.get(name), str)), "")
    match = _VERB.fullmatch(named.strip())
    return (match[1].lower() if match[1].isupper() else match[1]) if match else ""


def interface(content: Mapping[str, Any]) -> object:
    """The interface or operation named by an API result, or None."""
    return next((content[name] for name in _NAME_FIELDS if isinstance(content.get(name), str) and content[name]), None)


def _edited_path(content: Mapping[str, Any]) -> str:
    """The file named by an edit, or ""."""
    return next((content[name] for name in _PATH_FIELDS if isinstance(content.get(name), str)), "")


def _inputs_of(event_type: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of the action, by field name.

    >>> _inputs_of("browser_action", {"action": "fill", "selector": "#name", "text": "Ann", "success": True})
    {'selector': '#name', 'text': 'Ann'}
    >>> _inputs_of("browser_action", {"action": "extract", "selector": "#name", "text": "Ann"})
    {'selector': '#name'}
    """
    bundle = next((content[name] for name in _BUNDLES if isinstance(content.get(name), Mapping)), None)
    if event_type == "browser_action" and bundle is not None:
        return dict(bundle)
    names = [name for name in _GIVEN.get(event_type, ()) if content.get(name) not in (None, "", {}, [])]
    reads = event_type == "browser_action" and _finds(_browser_verb(content))
    given = {name: content[name] for name in names if not (reads and name == "text")}
    return _opened(given) if event_type == "api_result" else given


def _browser_target(content: Mapping[str, Any]) -> str:
    """The element or the address of a browser action, or "".

    >>> _browser_target({"action": "click", "selector": "#buy", "url": "https://shop.example/cart"})
    '#buy'
    >>> _browser_target({"action": "navigate", "url": "https://ann@shop.example/cart?id=7"})
    'https://shop.example/cart'
    """
    inputs = _inputs_of("browser_action", content)
    targets = {name: inputs[name] for name in TARGET_FIELDS if isinstance(inputs.get(name), str)}
    inside = next((targets[name] for name in TARGET_FIELDS[:3] if name in targets), "")
    led = _first_word(_browser_verb(content)) in BROWSER_WAYS
    return inside or (public_address(next(iter(targets.values()), "")) if led else "")


def _opened(bundles: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of bundled inputs."""
    opened: dict[str, Any] = {}
    for name, value in bundles.items():
        opened |= value if isinstance(value, Mapping) else {name: value}
    return opened


def ending(event_type: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of *content* that describes the result: everything but the action and its inputs.

    >>> ending("command_exec", {"command": "make", "exit_code": 2, "stderr": "no rule"})
    {'exit_code': 2, 'stderr': 'no rule'}
    """
    aside = {"type", *_DEED.get(event_type, ()), *_GIVEN.get(event_type, ())}
    if event_type == "browser_action" and "text" not in _inputs_of(event_type, content):
        aside.discard("text")
    return {name: part for name, part in content.items() if name not in aside}


def _finds(verb: str) -> bool:
    return _first_word(verb) in BROWSER_LOOKUPS


def _first_word(verb: str) -> str:
    return re.split(r"[_. -]+|(?<=[a-z])(?=[A-Z])", verb)[0].lower()


# The action of one event under one name: a tool, a program with its subcommand, or a kind of work.

# Longest command line kept in an artifact.
_LONGEST_COMMAND = 120
_NAME_PARTS = re.compile(r"[A-Za-z][a-z]*")
_GAPS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


class SessionEvent(Protocol):
    """The fields of an event that the compiler reads; :class:`hmxgraph.protocol.events.Event` has them all."""

    @property
    def event_id(self) -> str: ...  # noqa: D102
    @property
    def event_type(self) -> str: ...  # noqa: D102
    @property
    def agent_id(self) -> str: ...  # noqa: D102
    @property
    def session_id(self) -> str: ...  # noqa: D102
    @property
    def sequence(self) -> int: ...  # noqa: D102
    @property
    def time_us(self) -> int: ...  # noqa: D102
    @property
    def content(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def source(self) -> str | None: ...  # noqa: D102
    @property
    def correlation_id(self) -> str | None: ...  # noqa: D102
    @property
    def parent_event_id(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class _Action:
    """One action: its name, its inputs, and its result if known.

    ``command`` is the command line, the file of an edit, or the target of a browser action.
    """

    name: str
    arguments: Mapping[str, Any]
    command: str = ""
    ok: bool | None = None
    finished: bool = False


def action_of(event: SessionEvent) -> _Action | None:
    """The action of *event*, or None if it is not an action.

    A tool call is finished by its result; commands, edits, test runs and browser actions contain their own result.
    """
    if event.event_type == "tool_call":
        return _tool_call(event.content)
    return _work(event.event_type, event.content) if event.event_type in WORK else None


def _work(event_type: str, content: Mapping[str, Any]) -> _Action:
    """An action that contains its own result; its event type is its name if it has no other."""
    match event_type:
        case "file_edit":
            name, line = "", _kept(_edited_path(content))
        case "api_result":
            name, line = _request(content) or tool_name(interface(content)), ""
        case "browser_action":
            verb = _browser_verb(content)
            name, line = (tool_name(f"{BROWSER}{verb}") if verb else ""), _kept(_browser_target(content))
        case _:
            run = _command_line(content) or ""
            name, line = command_name(run), _shown(run)
    ok = went_well(event_type, content)
    return _Action(name or event_type, _inputs_of(event_type, content), line, ok, finished=True)


def _request(content: Mapping[str, Any]) -> str:
    """The web request of an API result, also from its "request" field."""
    inner = content.get("request")
    return request_name(content) or (request_name(inner) if isinstance(inner, Mapping) else "")


def tool_name(value: object) -> str:
    r"""The name of a tool on one line, short enough for an index; "" if it is empty.

    >>> tool_name("restart\nserver"), tool_name(None)
    ('restart server', '')
    """
    return indexable(_GAPS.sub(" ", str(value or "")).strip())


def _tool_call(content: Mapping[str, Any]) -> _Action:
    tool = tool_name(content.get("tool_name") or content.get("name")) or "tool"
    arguments = content.get("arguments")
    given: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
    line = _command_line(given) if _is_shell(tool) else None
    if line is not None and (name := command_name(line)):
        return _Action(name, {}, _shown(line))
    if request := request_name(given):
        return _Action(request, {name: value for name, value in given.items() if name not in _REQUEST_FIELDS})
    return _Action(tool, given)


def _is_shell(tool: str) -> bool:
    return not SHELL_WORDS.isdisjoint(part.lower() for part in _NAME_PARTS.findall(tool))


def _command_line(content: Mapping[str, Any]) -> str | None:
    for field in _COMMAND_FIELDS:
        value = content.get(field)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            return " ".join(str(part) for part in value)
    return None


def _kept(target: str) -> str:
    return mask_ids(mask_secrets(" ".join(target.split())))[:_LONGEST_COMMAND]


def _shown(line: str) -> str:
    """*line* masked for storage, except for the program name."""
    if not line:
        return ""
    said, text = command_name(line), mask_secrets(" ".join(line.split()))
    before, separator, after = text.partition(said) if said else ("", "", "")
    return (f"{mask_ids(before)}{said}{mask_ids(after)}" if separator else mask_ids(text))[:_LONGEST_COMMAND]
