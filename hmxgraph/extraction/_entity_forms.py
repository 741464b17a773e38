"""Names recognised by their form or field: addresses, files, hosts, error types, ids, commands."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

# Names recognised by form: addresses, files, hosts, error types, ids, handles, symbols in backticks.

# Endings of file names.
_EXTENSIONS = (
    "bash|bat|bz2|c|cc|cfg|conf|cpp|cs|css|csv|cypher|dart|doc|docx|env|ex|exs|gif|go|gradle|gz|h|hpp|htm|html|ini"
    "|ipynb|jar|java|jpe?g|js|json|jsonl|jsx|kt|lock|log|lua|md|mjs|mov|mp3|mp4|ndjson|odt|orig|parquet|patch|pdf"
    "|php|pkl|png"
    "|ppt|pptx|proto|ps1|py|pyi|r|rb|rs|rst|scala|sh|sql|sqlite|svg|swift|tar|tex|tf|tfvars|tgz|toml|ts|tsv|tsx|txt|vue"
    "|wasm|wav|webp|whl|xls|xlsx|xml|ya?ml|zip|zsh"
)
# Endings of host names.
_DOMAINS = (
    "ai|app|at|biz|ca|ch|cloud|cn|co|com|de|dev|edu|eu|fr|gov"
    "|info|internal|io|it|jp|lan|local|me|net|nl|org|ru|tech|uk|us|xyz"
)
# A cheap test of a text: can it contain names of a certain form? Any truthy result means yes.
Sign: TypeAlias = Callable[[str], object]


def _contains_any(*literals: str) -> Sign:
    """A test for whether a text contains one of *literals*."""
    if len(literals) == 1:
        return partial(_contains, literals[0])
    return lambda text: any(literal in text for literal in literals)


def _contains(literal: str, text: str) -> bool:
    return literal in text


# Tests for characters or words that all names of a form contain: `_DOTTED` for a dot before a letter ("app.py"),
# `_DOTTED_DIGIT` for a dot between digits ("10.0").
_SCHEME = _contains_any("://")
_AT = _contains_any("@")
_SLASH = _contains_any("/")
_BACKTICK = _contains_any("`")
_ERROR_WORD = _contains_any("Error", "Exception", "BackOff", "Timeout", "Failure", "Interrupt", "Warning", "Panic")
_DIGIT = re.compile("[0-9]").search
_DOTTED = re.compile(r"\.(?=[a-zA-Z])(?<=[\w-]\.)").search
_DOTTED_DIGIT = re.compile(r"\.(?=[0-9])(?<=[0-9]\.)").search


class FormMatch(NamedTuple):
    """A name found by its form: its type, the name itself, and the confidence that it is a name."""

    type: str
    name: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of names of *type*. *pattern* is tried only on texts that pass the test *sign*.

    Group 1 of a match is a name if it also passes *accepts*. ``examples`` pair a text with the name in it;
    ``counterexamples`` contain no name of this form.
    """

    type: str
    sign: Sign
    pattern: re.Pattern[str]
    confidence: float
    examples: tuple[tuple[str, str], ...]
    counterexamples: tuple[str, ...] = ()
    accepts: Callable[[str], object] = bool

    def names(self, text: str) -> Iterator[str]:
        """Yield the names of this form in *text*, in order."""
        for match in self.pattern.finditer(text):
            name = match.group(1).rstrip(".,;:!?")
            if self.accepts(name):
                yield name


# Ids, as opposed to numbers with a unit, versions and dates.
is_id = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a UUID
    r"|#[A-Za-z]{0,6}\d[\w-]*"  # after a number sign
    r"|[A-Z]{2,10}-\d{1,7}"  # a ticket: OPS-1234
    r"|(?![A-Z]+\d{1,2}$|\d+[A-Z]{1,4}$)(?=\d*[A-Z])[A-Z0-9]{5,20}"  # capitals and digits: JG7FMM, HAT028
    r"|[a-z][a-z]+(?:_[a-z]+)*_\d{2,}"  # words, underscore, number: omar_davis_3817
    r"|(?=\d*[a-f])[0-9a-f]{7,40}"  # a hash: 1f21869
).fullmatch


FORMS: tuple[_Form, ...] = (
    _Form(
        "url",
        _SCHEME,
        re.compile(
            r"\b((?:https?|ftp|s3|gs|bolt|neo4j|redis|postgres(?:ql)?|kafka|nats|wss?)://[^\s<>\"'`\u201c\u201d\u2019\])}|\\^]++)"
        ),
        1.0,
        (("see https://api.example.com/v1/orders?id=7.", "https://api.example.com/v1/orders?id=7"),),
        ("http: not found", "a://b"),
    ),
    _Form(
        "email",
        _AT,
        re.compile(r"(?<![\w.+@-])([\w.+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)+)"),
        1.0,
        (("mail omar.davis7857@example.com now", "omar.davis7857@example.com"),),
        ("@alice", "a @ b.com", "redis://:secret@2026@db.internal"),
    ),
    _Form(
        "person",
        _AT,
        re.compile(r"(?<![\w.@/])@([A-Za-z][A-Za-z0-9_-]{1,38})(?![\w@/.])"),
        0.8,
        (("ask @alice about it", "alice"),),
        ("mail bob@example.com", "npm i @types/node", "@ home"),
    ),
    _Form(
        "file",
        _DOTTED,
        re.compile(
            rf"(?<![\w./~:@+-])((?:~|\.{{1,2}})?/?(?:[\w@+-][\w.@+-]*/)*[\w@+-][\w.@+-]*\.(?:{_EXTENSIONS}))(?![\w/-]"
            rf"|\.\w)"
        ),
        0.9,
        (
            ("apply -f deploy/staging/cart.yaml now", "deploy/staging/cart.yaml"),
            ("open ./src/App.tsx.", "./src/App.tsx"),
            ("read (report.pdf)", "report.pdf"),
        ),
        ("version 1.2.3", "See you.Then we go", "https://a.example/x.png", "e.g. this"),
    ),
    _Form(
        "file",
        _SLASH,
        re.compile(r"(?<![\w./~:@<-])(~?(?:/[\w@+.-]{2,}+){2,})(?!/[\w@+.-]{2})/?(?![\w/])"),
        0.8,
        (("look into /etc/nginx/sites-enabled", "/etc/nginx/sites-enabled"),),
        ("and/or either/neither", "24/7", "https://a.example/x/y", "see /home/ann/.ssh/x"),
    ),
    _Form(
        "host",
        _DOTTED,
        re.compile(rf"(?<![\w./:@-])((?:[a-z0-9][a-z0-9-]*\.)+(?:{_DOMAINS}))(?::\d+)?(?![\w@-]|\.\w)"),
        0.8,
        (("ping db-7.prod.internal:5432", "db-7.prod.internal"), ("on example.com.", "example.com")),
        ("bob@example.com", "end.It goes on", "1.5.io.3"),
    ),
    _Form(
        "host",
        _DOTTED_DIGIT,
        re.compile(r"(?<![\w.-])((?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d))(?![\w-]|\.\d)"),
        0.9,
        (("connect to 10.0.12.7:8080", "10.0.12.7"),),
        ("version 1.2.3", "1.2.3.4.5", "300.1.1.1"),
    ),
    _Form(
        "error_type",
        _ERROR_WORD,
        re.compile(
            r"(?<![\w.])((?:[a-z_]\w*\.)*[A-Z][a-z]\w*"
            r"(?<=[a-z])(?:Error|Exception|BackOff|Timeout|Failure|Interrupt|Warning|Panic))(?!\w)"
        ),
        0.9,
        (
            ("it raised KubectlError: no", "KubectlError"),
            ("java.lang.NullPointerException at", "java.lang.NullPointerException"),
        ),
        ("Error: user not found", "an Exception", "Runtime Error"),
    ),
    _Form(
        "id",
        _DIGIT,
        re.compile(r"(?<![\w.#@/:$€£+-])(#?[A-Za-z_-]*+\d[\w-]*+)(?!\.?[\w@/]|['\u2019]\w)"),
        0.9,
        (
            ("reservation JG7FMM, please", "JG7FMM"),
            ("order #W2378156.", "#W2378156"),
            ("I am omar_davis_3817", "omar_davis_3817"),
            ("see OPS-1234", "OPS-1234"),
            ("commit 1f21869 broke it", "1f21869"),
            ("8c9f6f4e-0a51-4b5e-9f0e-7f3b1f0c2d11", "8c9f6f4e-0a51-4b5e-9f0e-7f3b1f0c2d11"),
        ),
        (
            "at 10am on the 3rd",
            "COVID19 and 256GB",
            "version v1.10.0",
            "it costs $15000USD",
            "10000000 rows",
            "HTTP2",
            "2024-05-21",
            "10-20",
        ),
        is_id,
    ),
    _Form(
        "symbol",
        _BACKTICK,
        re.compile(r"`([A-Za-z_$][\w.$:-]{1,58}[\w)])(?:\(\))?`"),
        0.8,
        (("call `parse_config()` first", "parse_config"), ("set `DEBUG_LEVEL`", "DEBUG_LEVEL")),
        ("`two words`", "``", "it`s"),
    ),
)


def forms(text: str) -> Iterator[FormMatch]:
    """Yield the names in *text* that are recognised by form, form by form, each in text order.

    >>> [form.name for form in forms("KubectlError in deploy/cart.yaml of https://git.example.com/shop")]
    ['https://git.example.com/shop', 'deploy/cart.yaml', 'KubectlError']
    """
    for sign, forms_with_sign in _BY_SIGN:
        if sign(text):
            for form in forms_with_sign:
                for name in form.names(text):
                    yield FormMatch(form.type, name, form.confidence)


def host_of(url: str) -> str:
    """The host of *url*, without user, port and ``www.``.

    >>> host_of("https://bob@WWW.example.com:8443/x?y=1"), host_of("http://[::1]:80/")
    ('example.com', '::1')
    """
    authority = url.split("://", 1)[-1]
    for delimiter in "/?#":
        authority = authority.split(delimiter, 1)[0]
    host = authority.rsplit("@", 1)[-1].lower()
    if host.startswith("["):  # an IPv6 address (RFC 3986 3.2.2)
        return host[1:].split("]", 1)[0]
    return host.split(":", 1)[0].removeprefix("www.")


# The forms grouped by their test, so that each test runs once per text.
_BY_SIGN = tuple(
    (sign, tuple(form for form in FORMS if form.sign is sign)) for sign in dict.fromkeys(form.sign for form in FORMS)
)


# Names in structured content: the field name determines the type of the value.

# Maximum number of strings and integers examined per event.
MAX_LEAVES = 200
# Maximum length of ids and concepts, in characters.
_LONGEST_ID = 80
# Maximum length of other names, in characters.
_LONGEST_NAME = 200
# Maximum length of command lines, in characters.
_LONGEST_COMMAND = 2_000
# The built-in entity types. Records add others: the nouns in their field names.
FIXED_TYPES = frozenset(
    {
        "agent",
        "command",
        "concept",
        "email",
        "error_type",
        "file",
        "host",
        "id",
        "person",
        "symbol",
        "tag",
        "tool",
        "url",
    }
)
# Fields whose values are names even if they are plain words. The field name is the type of the entity.
NAMING_FIELDS = frozenset(
    """
    branch cluster commit container database deployment environment namespace package pod project repo repository
    service table team test
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Entity type by field name (lower case, without separators). Two entries are not entity types: "text" values are read
# as running text, and "aside" values are ignored, because they refer to other events or say where something ran.
FIELDS: dict[str, str] = {
    field: entity_type
    for entity_type, names in {
        "tool": "tool toolname function functionname",
        "file": "file filename filepath files path paths sourcefile targetfile",
        "url": "url uri href link endpoint webpage pageurl",
        "host": "host hostname domain server servername",
        "email": "email emailaddress mail",
        "command": "command cmd commandline",
        "error_type": "errortype errorclass exception exceptiontype",
        "person": "author assignee owner reviewer speaker username fullname customername contact manager",
        "concept": (
            "name title product productname city country state company organisation organization project repository"
            " repo service team cluster environment database table branch topic category"
        ),
        "id": "id ids uuid sku number reservationid orderid",
        "aside": (
            "callid eventid targeteventid parenteventid correlationid traceid spanid cwd workdir workingdir"
            " workingdirectory"
        ),
        "text": (
            "text message output stdout stderr stack error description comment summary reason body query content change"
        ),
    }.items()
    for field in names.split()
}
_SEPARATORS = str.maketrans("", "", "_- ")


class _Leaf(NamedTuple):
    """A string or integer inside structured content, as text, with its entity type ("text" for running text)."""

    type: str
    value: str


def leaves(value: Any) -> Iterator[_Leaf]:
    """Yield the names and running texts in *value*, in order of field names, from the first 200 strings and integers.

    >>> list(leaves({"order_id": "#W12", "items": [{"name": "Lamp", "price": 3}], "note": "x"}))
    [_Leaf(type='concept', value='Lamp'), _Leaf(type='id', value='#W12')]
    """
    remaining = MAX_LEAVES
    pending: list[tuple[str, Any]] = [("", value)]
    while pending and remaining:
        field, node = pending.pop()
        kind = type(node)
        if kind is str or kind is int:
            remaining -= 1
            leaf = _leaf(field, node) if kind is str else _number(field, node)
            if leaf:
                yield leaf
        elif kind is dict:
            if "first_name" in node:
                yield from _whole_name(node)
            pending.extend([(name, node[name]) for name in sorted(node, reverse=True)])
        elif kind is list:
            pending.extend([(field, element) for element in reversed(node[:remaining])])


@lru_cache(maxsize=10_000)
def field_type(name: str) -> str:
    """The entity type of values of a field called *name*, "text" or "aside" (see `FIELDS`); empty if unknown.

    >>> field_type("File_Path"), field_type("user_id"), field_type("price")
    ('file', 'id', '')
    """
    plain = name.lower()
    known = FIELDS.get(plain.translate(_SEPARATORS), "")
    return known or ("id" if plain.endswith(("_id", "_ids")) else "")


def _number(field: str, value: int) -> _Leaf | None:
    """The integer as an id if *field* is an id field; None below 1,000, since small numbers are more likely counts."""
    return _Leaf("id", str(value)) if value > 999 and field_type(field) == "id" else None


def _leaf(field: str, value: str) -> _Leaf | None:
    """The string as a name or as running text, depending on its field and its form; None if it is neither."""
    entity_type = field_type(field)
    if len(value) < 2 or entity_type == "aside":
        return None
    if not entity_type or entity_type == "text":
        return _unnamed(value)
    if entity_type == "id":
        return _Leaf("id", value) if _may_be_id(value) else None
    return _Leaf(entity_type, value) if _may_be_name(entity_type, value) else None


def _unnamed(value: str) -> _Leaf | None:
    """A string in a text field or an unknown field: running text, an id by its form, or None."""
    if " " in value or "/" in value:
        return _Leaf("text", value)
    return _Leaf("id", value) if not value.isalpha() and is_id(value) else None


def _may_be_id(value: str) -> bool:
    """Whether *value* of an id field can be an id: 3 to 80 characters, at least five if all are letters; no spaces."""
    return 3 <= len(value) <= _LONGEST_ID and " " not in value and (len(value) > 4 or not value.isalpha())


def _may_be_name(entity_type: str, value: str) -> bool:
    """Whether *value* can be a name of this type: it is short enough, and a concept contains a letter."""
    if entity_type == "command":
        return len(value) <= _LONGEST_COMMAND
    if len(value) > _LONGEST_NAME or "\n" in value:
        return False
    return entity_type != "concept" or (len(value) <= _LONGEST_ID and any(map(str.isalpha, value)))


def _whole_name(fields: dict[str, Any]) -> Iterator[_Leaf]:
    """Yield the first and last name of a person as one name."""
    first, last = fields.get("first_name"), fields.get("last_name")
    if isinstance(first, str) and isinstance(last, str) and first and last:
        yield _Leaf("person", f"{first} {last}")


# Programs in command lines.

# Programs with subcommands.
_WITH_SUBCOMMANDS = frozenset(
    """
    alembic ansible apt apt-get argocd aws az brew bundle bun cargo composer conda consul dnf docker
    docker-compose dotnet flux flyctl gcloud gh git glab go gradle hatch heroku helm ip istioctl jj just kind
    kubectl make minikube mvn nomad npm npx pdm pip pip3 pipenv pnpm podman poetry pulumi rails rake redis-cli
    rustup sam serverless snap svn systemctl terraform tox uv vagrant vault yarn yum
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Words that may precede a program: programs that run another program, and keywords of the shell.
_BEFORE_PROGRAM = frozenset(
    {"sudo", "env", "time", "nohup", "exec", "command", "then", "do", "nice", "stdbuf", "xargs"}
)
# Shell builtins and keywords, which run no program.
_NO_PROGRAMS = frozenset({"cd", "echo", "export", "set", "source", "true", "false", "exit", "if", "for", "while"})
# Shell operators between simple commands.
_OPERATORS = re.compile(r"\|\||&&|[|;\n&]")
# A quoted string of the shell.
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
# A program after its folder, if any: "run.sh" in "./run.sh".
_PROGRAM = re.compile(r"(?:[\w.~+-]*/)*([A-Za-z][\w.+-]{0,40})")
# A variable assignment before a program: FOO=1.
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# The form of a subcommand: "apply" in "kubectl apply".
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9_:-]{1,30}")
_MAX_COMMANDS = 4


def commands(line: str) -> Iterator[str]:
    """Yield the first four programs that *line* runs, each once, with their subcommands; shell builtins do not count.

    >>> list(commands("cd shop && sudo kubectl -n prod apply -f a.yaml | tee log; FOO=1 ./run.sh 'a; b'"))
    ['kubectl apply', 'tee', 'run.sh']
    """
    plain = _QUOTED.sub("''", line[:_LONGEST_COMMAND])
    programs = (_command(part.split()) for part in _OPERATORS.split(plain))
    known = dict.fromkeys(name for name in programs if name)
    yield from list(known)[:_MAX_COMMANDS]


def _command(words: list[str]) -> str:
    """The program that a simple command runs, without its folder, with its subcommand; empty if it runs none."""
    while words and (words[0] in _BEFORE_PROGRAM or _ASSIGNMENT.match(words[0])):
        words = words[1:]
    program = _PROGRAM.fullmatch(words[0]) if words else None
    if program is None or program[1] in _NO_PROGRAMS:
        return ""
    return f"{program[1]} {_subcommand(words[1:])}".rstrip() if program[1] in _WITH_SUBCOMMANDS else program[1]


def _subcommand(words: list[str]) -> str:
    """The first plain word among the first six that is not the value of a short option; empty if there is none."""
    for index, word in enumerate(words[:6]):
        if _SUBCOMMAND.fullmatch(word) and (index == 0 or not re.fullmatch("-[A-Za-z]", words[index - 1])):
            return word
    return ""
