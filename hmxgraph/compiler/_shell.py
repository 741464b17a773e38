"""Parse a shell line into its commands, each named after its program and subcommand."""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from hmxgraph.compiler._vocabulary import (
    FEEDERS,
    OPERAND_PROGRAMS,
    PREPARATIONS,
    READ_ONLY_PROGRAMS,
    READ_ONLY_SUBCOMMANDS,
    REQUEST_VERBS,
    SHELLS,
    SUBCOMMANDS,
    TOOL_VERBS,
    WRAPPER_FLAGS_WITH_VALUE,
    WRAPPERS,
)

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# Subcommands that take a subcommand themselves, in programs that usually take only one ("git stash pop").
_DEEPER = {
    ("kubectl", "rollout"), ("kubectl", "config"), ("npm", "run"), ("yarn", "run"), ("pnpm", "run"), ("git", "stash"),
    ("git", "remote"), ("git", "submodule"), ("helm", "repo"), ("kubectl", "auth"), ("terraform", "state"),
    ("terraform", "workspace"),
} | {
    ("docker", kind)
    for kind in (
        "builder", "buildx", "compose", "config", "container", "context", "image", "manifest", "network", "node",
        "plugin", "secret", "service", "stack", "swarm", "system", "trust", "volume",
    )
}  # fmt: skip
# Commands that run the command line after them.
_RUNNERS = {("uv", "run"), ("poetry", "run"), ("npx",), ("pnpm", "exec"), ("bundle", "exec"), ("pipenv", "run")}
# Flags whose value is the next word.
_FLAGS_WITH_VALUE = {
    *("-n", "--namespace", "--context", "--kubeconfig", "-C", "-c", "-f", "--file", "-p"),
    *("--profile", "--region", "--project", "--prefix", "--chdir"),
}
_SSH_FLAGS_WITH_VALUE = frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopQRSWw")
# A variable set for one command: "KUBECONFIG=x".
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
# A word that may be a subcommand: "rollout", "db:migrate".
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:._-]*")
_PARTS = re.compile(r"[a-z]+|[0-9]+")
# An option: "-f", "--apply".
_OPTION = re.compile(r"(?<!\S)--?[a-z][\w-]*")
# Minimum similarity of the replaced words of a command line and their replacement, if it is a corrected spelling.
_SIMILAR_SPELLING = 0.5
# The argument of ``timeout``: "9", "1.5h".
_DURATION = re.compile(r"\d*\.?\d+[smhd]?")
# The flag of a shell that precedes the command line to run: "-c", "-lc", "/C".
_RUNS_LINE = re.compile(r"-[a-z]*c|-[Cc]ommand|/[cC]")
_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?")
# Programs that run a script, which says more about the purpose than the program does.
_INTERPRETERS = frozenset(("bash", "node", "perl", "php", "python", "ruby", "sh", "zsh"))
_SCRIPT = re.compile(r"[A-Za-z_][\w.-]*\.(?:py|sh|js|mjs|cjs|ts|pl|php|rb)")
# Scripts with subcommands.
_SCRIPTS_WITH_SUBCOMMANDS = frozenset(("artisan", "manage.py"))
# Syntax nodes of tree-sitter that run no command.
_NO_COMMANDS = frozenset(
    ("comment", "declaration_command", "file_redirect", "function_definition", "heredoc_redirect",
     "herestring_redirect", "test_command", "unset_command", "variable_assignment")
)  # fmt: skip
# "cd" with one folder, and a folder below the current one.
_CD_WORDS = 2
_RELATIVE_FOLDER = re.compile(r"(?:\./)?\w[\w.-]*(?:/[\w.-]+)*/?")
# Limits: characters read of a line, and depth of command lines inside others (sh -c, ssh).
_LONGEST_LINE = 20_000
_DEEPEST = 4
# The words and source of a simple command, and whether its output is piped.
_Simple: TypeAlias = tuple[list[str], str, bool]


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a shell line.

    ``name`` is the program with its subcommand, ``words`` the unquoted words of the command, ``text`` its source, after
    the change to a relative folder that it runs in ("cd web && npm test"). ``filtered`` is set if its output goes into
    a pipe: its exit status is then unknown, because the shell reports that of the last program in the pipe.
    """

    name: str
    words: tuple[str, ...]
    text: str
    filtered: bool = False


def commands(line: str) -> tuple[Command, ...]:
    """The commands that *line* runs, without wrappers such as ``sudo`` and without preparations such as ``cd``.

    A line of preparations only yields the first of them. A pipeline counts as its first program; programs that merely
    feed it, such as ``echo``, are skipped.

    >>> [command.name for command in commands("cd /srv && git add . && git commit -m 'a; b' 2>&1 | tail -3")]
    ['git add', 'git commit']
    >>> [command.name for command in commands("sudo -E timeout 9 bash -c 'npm ci; npm run build'")]
    ['npm ci', 'npm run build']
    >>> [command.text for command in commands("(cd infra && docker compose up -d); cd /srv && pytest -q")]
    ['cd infra && docker compose up -d', 'pytest -q']
    """
    return _commands_of(line[:_LONGEST_LINE])


@lru_cache(maxsize=10_000)
def _commands_of(line: str) -> tuple[Command, ...]:
    try:
        all_commands = tuple(command for command in _commands(line, 0, filtered=False) if command.name)
    except RecursionError:  # A generated line may have thousands of parts or nested brackets.
        all_commands = tuple(_resolved(line.split(), line, _DEEPEST, filtered=False))
    return tuple(command for command in all_commands if command.name not in PREPARATIONS) or all_commands[:1]


def command_name(line: str) -> str:
    """The program that *line* runs first, with its subcommand if it has any.

    >>> command_name("cd /srv && sudo kubectl apply -f staging.yaml | tee log")
    'kubectl apply'
    >>> command_name("KUBECONFIG=x kubectl rollout status deploy/web"), command_name("python3 -m pytest -q tests")
    ('kubectl rollout status', 'pytest')
    >>> command_name("ssh -p 22 web-1 sudo df -h"), command_name("kubectl exec -it web-1 -- ls /srv")
    ('df', 'ls')
    """
    return next((command.name for command in commands(line)), "")


def tried_again(line: str, later: str) -> bool:
    """Whether the command line *later* repeats *line*, possibly corrected: with words added, omitted or respelled.

    >>> tried_again("kubectl apply -f stagin.yaml", "kubectl apply -f staging.yaml --wait")
    True
    >>> tried_again('mysql -e "ALTER TABLE carts"', 'mysql -e "DROP TABLE carts"')
    False
    """
    before, after = _parts(line), _parts(later)
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return all(
        _similarly_spelled(before[start:end], after[later_start:later_end])
        for kind, start, end, later_start, later_end in changes
        if kind == "replace"
    )


def lacks_options(line: str, other: str) -> bool:
    """Whether the options of the command line *line* are fewer than, and all among, those of *other*.

    >>> lacks_options("deploy web.yaml", "deploy --apply web.yaml"), lacks_options("deploy -f", "deploy --apply")
    (True, False)
    """
    return _options(line) < _options(other)


def has_options(line: str, other: str) -> bool:
    """Whether *line* has all options of the command line *other*."""
    return _options(line) >= _options(other)


def _options(line: str) -> frozenset[str]:
    return frozenset(_OPTION.findall(line.lower()))


def blamed(parts: Sequence[Command], output: str) -> Command | None:
    """The command of a failed line that *output* blames; None if that is unclear.

    It is the one that shares the most words with the output: its program, subcommands and operands. The only command of
    a line is always blamed.

    >>> blamed(commands("git add . && npm test"), "npm ERR! Test failed").name
    'npm test'
    """
    if len(parts) == 1:
        return parts[0]
    output_words = set(_PARTS.findall(output.lower()))
    scores = [len(output_words & _distinctive_parts(part)) for part in parts]
    best = max(scores, default=0)
    return parts[scores.index(best)] if best and scores.count(best) == 1 else None


def _distinctive_parts(command: Command) -> set[str]:
    """The parts of a command that an error message may mention: not its options, and nothing very short."""
    return {
        part
        for word in command.words
        if not word.startswith("-")
        for part in _PARTS.findall(word.lower())
        if len(part) > 2
    }


def _parts(line: str) -> list[str]:
    """The letter groups and numbers of a command line, with all numbers replaced by 0."""
    return ["0" if part.isdecimal() else part for part in _PARTS.findall(line.lower())]


def _similarly_spelled(words: Sequence[str], later_words: Sequence[str]) -> bool:
    return SequenceMatcher(None, " ".join(words), " ".join(later_words), autojunk=False).ratio() >= _SIMILAR_SPELLING


@lru_cache(maxsize=1)
def _parser() -> "Parser":
    import tree_sitter_bash  # noqa: PLC0415 - loaded only when a shell line is parsed
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def _commands(line: str, depth: int, *, filtered: bool) -> Iterator[Command]:
    """Yield the commands of *line*; *filtered* says whether the output of its last command is piped."""
    root = _parser().parse(line.encode()).root_node
    simple_commands = list(_with_folders(_simple_commands(root, filtered=False)))
    if not any(words for words, _, _ in simple_commands) and line.split():
        # After a syntax error, such as an open quote, split the line at spaces. Otherwise it may only assign the output
        # of a command to a variable: "x=$(git log)".
        simple_commands = [(line.split(), line, False)] if root.has_error else list(_substituted(root))
    for number, (words, text, piped) in enumerate(simple_commands, start=1):
        yield from _resolved(words, text, depth, filtered=piped or (filtered and number == len(simple_commands)))


def _with_folders(simple_commands: Iterable[_Simple]) -> Iterator[_Simple]:
    """Yield the commands of one shell, each with the change to a relative folder before it.

    Absolute folders are left out: they differ between machines, and agents begin most lines with the same one.
    """
    folder = ""
    for words, text, filtered in simple_commands:
        if words[:1] == ["cd"]:
            relative = len(words) == _CD_WORDS and _RELATIVE_FOLDER.fullmatch(words[1])
            folder = posixpath.join(folder, words[1]) if relative else ""
            yield words, text, filtered
        else:
            yield words, f"cd {folder} && {text}" if folder and words else text, filtered


def _simple_commands(node: "Node", *, filtered: bool) -> Iterator[_Simple]:
    """Yield the words and the source of each simple command below *node*, in order, and whether its output is piped.

    Of a pipeline only one program is kept, see :func:`commands`.
    """
    if node.type == "command":
        words = [_unquoted(child) for child in node.named_children if child.type not in _NO_COMMANDS]
        yield [word for word in words if word], _source(node), filtered
    elif node.type == "pipeline":
        stages = [list(_simple_commands(child, filtered=True)) for child in node.named_children]
        kept_index = next((index for index, stage in enumerate(stages[:-1]) if not _only_feeds(stage)), len(stages) - 1)
        kept_is_last = kept_index == len(stages) - 1
        kept_stage = stages[kept_index] if stages else []
        yield from (
            (words, text, index == len(kept_stage) - 1 and (filtered or not kept_is_last))
            for index, (words, text, _) in enumerate(kept_stage)
        )
    elif node.type not in _NO_COMMANDS:
        inner = chain.from_iterable(_simple_commands(child, filtered=filtered) for child in node.named_children)
        # A subshell changes the folder of its own commands only.
        subshell = node.type == "subshell"
        yield from (part for part in _with_folders(inner) if part[0][:1] != ["cd"]) if subshell else inner


def _substituted(node: "Node") -> Iterator[_Simple]:
    """Yield the simple commands inside command substitutions, "$(...)", below *node*."""
    for child in node.named_children:
        is_substitution = child.type == "command_substitution"
        yield from _simple_commands(child, filtered=False) if is_substitution else _substituted(child)


def _only_feeds(stage: Sequence[_Simple]) -> bool:
    """Whether a stage of a pipeline only produces input for the next stage."""
    return all(not words or words[0] in FEEDERS for words, _, _ in stage)


def _source(node: "Node") -> str:
    return " ".join((node.text or b"").decode(errors="replace").split())


def _unquoted(node: "Node") -> str:
    """The text of a syntax node as the program receives it, without quotes."""
    text = (node.text or b"").decode(errors="replace")
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
        return text[1:-1].replace('\\"', '"')
    if node.type == "concatenation":
        return "".join(map(_unquoted, node.named_children))
    return text


def _resolved(words: Sequence[str], text: str, depth: int, *, filtered: bool) -> Iterator[Command]:
    """Yield the commands that *words* run, including those inside wrappers, shells, remote hosts and containers."""
    unwrapped = _unwrapped(words)
    if not unwrapped:
        return
    program, arguments = unwrapped[0].replace("\\", "/").rsplit("/", 1)[-1], unwrapped[1:]
    inner = _inner_line(program, arguments) if depth < _DEEPEST else ""
    if inner:
        yield from _commands(inner, depth + 1, filtered=filtered)
        return
    for runner in _RUNNERS:
        words_after_runner = arguments[len(runner) - 1 :]
        if (program, *arguments)[: len(runner)] == runner and words_after_runner and depth < _DEEPEST:
            yield from _resolved(_past_flags(words_after_runner), text, depth + 1, filtered=filtered)
            return
    yield Command(_name(program, arguments), tuple(unwrapped), text, filtered)


def _name(program: str, arguments: Sequence[str]) -> str:
    """The program with its subcommand; for an interpreter, with its script, or the module that it runs instead.

    >>> _name("python3", ["-m", "pytest"]), _name("python", ["manage.py", "migrate"]), _name("python3", ["-c", "x = 1"])
    ('pytest', 'python manage.py migrate', 'python')
    >>> _name("bash", ["-x", "scripts/deploy.sh", "staging"])
    'bash deploy.sh'
    """
    if _PYTHON.fullmatch(program):
        program = "python"
        if module := _module(arguments):
            return module
    if program in _INTERPRETERS:
        return " ".join([program, *_script(arguments)])
    return " ".join([program, *_subcommands(program, arguments)])


def _script(arguments: Sequence[str]) -> list[str]:
    """The file name of the script among the *arguments* of an interpreter, with its subcommand; empty if there is none.

    Flags before it are skipped; code after a flag ("-c") does not look like a file name.
    """
    operands = _past_flags(arguments)
    name = operands[0].rsplit("/", 1)[-1] if operands else ""
    if name not in _SCRIPTS_WITH_SUBCOMMANDS and not _SCRIPT.fullmatch(name):
        return []
    subcommand = operands[1:2] if name in _SCRIPTS_WITH_SUBCOMMANDS else ()
    return [name, *filter(_SUBCOMMAND.fullmatch, subcommand)]


def _past_flags(words: Sequence[str]) -> Sequence[str]:
    """The words after the leading flags; at least the last word."""
    start = 0
    while start < len(words) - 1 and words[start].startswith("-"):
        start += 1
    return words[start:]


def _unwrapped(tokens: Sequence[str]) -> list[str]:
    """The words from the program on, without wrappers, their flags and assignments of variables."""
    words = list(tokens)
    while words and (words[0] in WRAPPERS or _ASSIGNMENT.fullmatch(words[0])):
        wrapper = words.pop(0)
        while wrapper in WRAPPERS and words and (words[0].startswith("-") or _DURATION.fullmatch(words[0])):
            if wrapper == "command" and words[0] in {"-v", "-V"}:  # "command -v" only locates a program.
                return [wrapper, *words]
            takes_value = words.pop(0) in WRAPPER_FLAGS_WITH_VALUE.get(wrapper, ())
            del words[:takes_value]
    return words


def _inner_line(program: str, arguments: Sequence[str]) -> str:
    """The command line that a program runs in a shell, on another host or in a container; "" if there is none."""
    if program in SHELLS:
        flag_indexes = [index for index, word in enumerate(arguments) if _RUNS_LINE.fullmatch(word)]
        return next(iter(arguments[flag_indexes[0] + 1 : flag_indexes[0] + 2]), "") if flag_indexes else ""
    if program == "ssh":
        return " ".join(_after_host(arguments))
    if program == "kubectl" and "exec" in arguments and "--" in arguments:
        return shlex.join(arguments[arguments.index("--") + 1 :])
    return ""


def _after_host(arguments: Sequence[str]) -> Sequence[str]:
    """The command line for the remote host: the arguments of ``ssh`` after its flags and the host."""
    host_index = 0
    while host_index < len(arguments) and arguments[host_index].startswith("-"):
        host_index += 2 if arguments[host_index] in _SSH_FLAGS_WITH_VALUE else 1
    return arguments[host_index + 1 :]


def _module(arguments: Sequence[str]) -> str:
    """The package that "python -m" runs; "" if there is none."""
    if "-m" not in arguments[:3]:
        return ""
    name = arguments[arguments.index("-m") + 1 : arguments.index("-m") + 2]
    return name[0].split(".")[0] if name else ""


def _subcommands(program: str, arguments: Sequence[str]) -> list[str]:
    """The subcommands of *program* among its arguments, as many as it takes."""
    depth = SUBCOMMANDS.get(program, 0)
    names: list[str] = []
    for before, word in zip(["", *arguments], arguments, strict=False):
        if not names and not depth and before == "" and _is_verb(program, word):
            return [word]
        if len(names) == depth:
            break
        if word.startswith("-") or before in _FLAGS_WITH_VALUE:
            continue
        if not _SUBCOMMAND.fullmatch(word):
            break
        names.append(word)
        depth += (program, word) in _DEEPER
    return names


def _is_verb(program: str, word: str) -> bool:
    """Whether *word*, the first argument of an unknown program, is a verb and therefore its subcommand: "bd show"."""
    takes_operands = program in READ_ONLY_PROGRAMS | OPERAND_PROGRAMS | PREPARATIONS
    return not takes_operands and word in REQUEST_VERBS | TOOL_VERBS | READ_ONLY_SUBCOMMANDS
