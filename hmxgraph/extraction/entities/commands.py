"""Command lines: which programs they run."""

import re
from collections.abc import Iterator

# Programs whose first plain argument says what they do.
WITH_SUBCOMMANDS = frozenset(
    """
    alembic ansible apt apt-get argocd aws az brew bundle bun cargo composer conda consul dnf docker
    docker-compose dotnet flux flyctl gcloud gh git glab go gradle hatch heroku helm ip istioctl jj just kind
    kubectl make minikube mvn nomad npm npx pdm pip pip3 pipenv pnpm podman poetry pulumi rails rake redis-cli
    rustup sam serverless snap svn systemctl terraform tox uv vagrant vault yarn yum
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
_PREFIXES = frozenset({"sudo", "env", "time", "nohup", "exec", "command", "then", "do", "nice", "stdbuf", "xargs"})
_JOINTS = re.compile(r"\|\||&&|[|;\n&]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_PROGRAM = re.compile(r"(?:[\w.~+-]*/)*([A-Za-z][\w.+-]{0,40})")
_SETTING = re.compile(r"[A-Za-z_]\w*=")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9_:-]{1,30}")
MOST_COMMANDS = 4


def commands(line: str) -> Iterator[str]:
    """The programs that *line* runs, with their subcommand where they have some; at most four.

    >>> list(commands("cd shop && sudo kubectl -n prod apply -f a.yaml | tee log; FOO=1 ./run.sh 'a; b'"))
    ['kubectl apply', 'tee', 'run.sh']
    """
    plain = _QUOTED.sub("''", line[:2_000])
    found = (_command(part.split()) for part in _JOINTS.split(plain))
    known = dict.fromkeys(name for name in found if name)
    yield from list(known)[:MOST_COMMANDS]


def _command(words: list[str]) -> str:
    while words and (words[0] in _PREFIXES or _SETTING.match(words[0])):
        words = words[1:]
    program = _PROGRAM.fullmatch(words[0]) if words else None
    if program is None or program[1] in {
        "cd",
        "echo",
        "export",
        "set",
        "source",
        "true",
        "false",
        "exit",
        "if",
        "for",
        "while",
    }:
        return ""
    return f"{program[1]} {_subcommand(words[1:])}".rstrip() if program[1] in WITH_SUBCOMMANDS else program[1]


def _subcommand(words: list[str]) -> str:
    """The first plain word; one that follows a short option is that option's value."""
    for at, word in enumerate(words[:6]):
        if _SUBCOMMAND.fullmatch(word) and (at == 0 or not re.fullmatch("-[A-Za-z]", words[at - 1])):
            return word
    return ""
