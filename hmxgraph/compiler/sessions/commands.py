"""Command lines by what they do: the program and its subcommand."""

import re
import shlex
from collections.abc import Sequence
from difflib import SequenceMatcher

from hmxgraph.compiler.vocabulary import PREPARATIONS, SHELLS, SUBCOMMANDS, WRAPPERS

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
    """The program that *line* runs, with its subcommand where the program has such.

    Directory changes, assignments and wrappers are passed over, other hosts and containers too; of a pipeline the first
    program counts.

    >>> command_name("cd /srv && sudo kubectl apply -f staging.yaml | tee log")
    'kubectl apply'
    >>> command_name("KUBECONFIG=x kubectl rollout status deploy/web"), command_name("python3 -m pytest -q tests")
    ('kubectl rollout status', 'pytest')
    >>> command_name("ssh -p 22 web-1 sudo df -h"), command_name("kubectl exec -it web-1 -- ls /srv")
    ('df', 'ls')
    """
    segments = [found for segment in _segments(line) if (found := _named(segment))]
    telling = [name for name in segments if name not in PREPARATIONS]
    return (telling or segments or [""])[0]


def tried_again(line: str, later: str) -> bool:
    """Whether *later* is *line* once more, corrected at most: with words added, left out or spelt otherwise.

    >>> tried_again("kubectl apply -f stagin.yaml", "kubectl apply -f staging.yaml --wait")
    True
    >>> tried_again('mysql -e "ALTER TABLE carts"', 'mysql -e "DROP TABLE carts"')
    False
    """
    before, after = _parts(line), _parts(later)
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return all(_alike(before[i:j], after[k:m]) for kind, i, j, k, m in changes if kind == "replace")


def _parts(line: str) -> list[str]:
    """The words of a command line, all numbers alike."""
    return ["0" if part.isdecimal() else part for part in _PARTS.findall(line.lower())]


def _alike(words: Sequence[str], others: Sequence[str]) -> bool:
    return SequenceMatcher(None, " ".join(words), " ".join(others), autojunk=False).ratio() >= _SPELT_ALIKE


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
    """The command line that a program runs on another host or in a container; "" where it opens a shell, or is none."""
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
    found: list[str] = []
    for before, word in zip(["", *rest], rest, strict=False):
        if len(found) == depth:
            break
        if word.startswith("-") or before in _FLAGS_WITH_VALUE:
            continue
        if not _WORD.fullmatch(word):
            break
        found.append(word)
        depth += (program, word) in _DEEPER
        depth -= (program, word) in _SHALLOW
    return found
