"""Packaged statements, plans (generators that describe I/O and do none), and the tenant that a plan is for."""

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Literal, LiteralString, TypeAlias, TypeVar, cast

from hmxgraph.errors import InvalidTenant, StatementMisuse
from hmxgraph.protocol.canonical import node_key
from hmxgraph.protocol.parsing import checked_text
from hmxgraph.protocol.trust import DEFAULT_TRUST, TrustPolicy
from hmxgraph.text.terms import scope_token

# Every statement ever sent: the files of ``cypher/``, read once, checked and named by path.
#
# A file is sent byte for byte. Its leading comment says what it is for and carries two facts the engine relies
# on: ``mode`` (read, write or schema) and ``row`` (the columns it returns, ``-`` for none). The schema and its upgrades
# are scripts: files with several statements, each with a name such as ``schema:event_key``.

Mode: TypeAlias = Literal["read", "write", "schema"]
_MODES = ("read", "write", "schema")
# A header line with one of the two facts, such as ``// mode: read``.
_FIELD = re.compile(r"^//\s*(mode|row):\s*(.+?)\s*$", re.MULTILINE)
# Comments, and everything in quotes or backticks.
_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
# The name of a file, such as ``events/record``, and of a script, such as ``schema_upgrades/005_states``.
_NAME = re.compile(r"\w+(?:/\w+)*")
_SCRIPT = re.compile(r"schema|schema_upgrades/\w+")
# The name of what a statement creates or drops: ``by_x`` in ``CREATE INDEX by_x``.
_SCHEMA_NAME = re.compile(r"\b(?:CONSTRAINT|INDEX)\s+(\w+)")
# The name of a parameter: ``tenant_id`` in ``$tenant_id``.
_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Query:
    """One packaged statement: its name (``events/record``), text, mode, parameters, columns and description."""

    name: str
    text: str
    mode: Mode
    parameters: frozenset[str]
    row: tuple[str, ...]
    description: str

    @property
    def code(self) -> str:
        """The text with spaces for comments and for everything in quotes or backticks; its length stays the same."""
        return _code(self.text)


@cache
def query(name: str) -> Query:
    """The packaged statement called *name*.

    Raises:
        StatementMisuse: there is no such statement.

    >>> query("tenants/state").mode
    'read'

    """
    file, _, part = name.partition(":")
    if not part and not _SCRIPT.fullmatch(file):
        return parse(name, _file_text(name))
    for statement in script(file):
        if statement.name == name:
            return statement
    raise StatementMisuse(name)


@cache
def script(name: str) -> tuple[Query, ...]:
    """The statements of the script called *name*, in the order in which they are sent.

    Raises:
        StatementMisuse: there is no such file.

    >>> script("schema")[0].name
    'schema:schema_version_name'

    """
    return parse_script(name, _file_text(name))


@cache
def query_names(subject: str = "") -> tuple[str, ...]:
    """The names of all statements, or of those of one subject (a folder or a script), sorted by file.

    >>> query_names("tenants")[0]
    'tenants/bump'

    """
    names = (
        tuple(statement.name for statement in script(name)) if _SCRIPT.fullmatch(name) else (name,)
        for name in _file_names(subject)
    )
    return tuple(chain.from_iterable(names))


@cache
def script_names(subject: str) -> tuple[str, ...]:
    """The names of the scripts of one subject (a folder or a script), sorted.

    >>> script_names("schema")
    ('schema',)

    """
    return tuple(name for name in _file_names(subject) if _SCRIPT.fullmatch(name))


def _file_names(subject: str) -> list[str]:
    return sorted(name for name in _walk(_folder(), "") if not subject or name.partition("/")[0] == subject)


def parse(name: str, text: str) -> Query:
    """The statement in *text*; its parameters are those that the code uses, outside comments and strings.

    Raises:
        ValueError: the header has no valid ``mode`` or no ``row`` line.

    """
    fields = dict(_FIELD.findall(text))
    if fields.get("mode") not in _MODES or "row" not in fields:
        raise ValueError(f"cypher/{name}.cypher: the header needs '// mode: read|write|schema' and '// row: columns'")
    code = _code(text)
    columns = () if fields["row"] == "-" else tuple(column.strip() for column in fields["row"].split(","))
    return Query(
        name, text, cast("Mode", fields["mode"]), frozenset(_PARAMETER.findall(code)), columns, _description(text)
    )


def parse_script(name: str, text: str) -> tuple[Query, ...]:
    r"""The statements in *text*, split at the semicolons; mode and columns in the header apply to all of them.

    A statement is named after the constraint or index that it creates or drops, or else by its position: ``upgrade:2``.

    >>> script = "// mode: schema\n// row:  -\nCREATE INDEX by_x FOR (n:A) ON (n.x);\nMATCH (n:A) SET n.x = ';';\n"
    >>> [statement.name for statement in parse_script("upgrade", script)]
    ['upgrade:by_x', 'upgrade:2']
    """
    whole = parse(name, text)
    code = _code(text)
    ends = [match.start() for match in re.finditer(r";|\Z", code)]
    spans = [slice(start, end) for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]
    statements: list[Query] = []
    for span in spans:
        if code[span].strip():
            schema_object = _SCHEMA_NAME.search(code[span])
            part = schema_object[1] if schema_object else str(len(statements) + 1)
            parameters = frozenset(_PARAMETER.findall(code[span]))
            statements.append(replace(whole, name=f"{name}:{part}", text=text[span], parameters=parameters))
    return tuple(statements)


def _code(text: str) -> str:
    return _NOT_CODE.sub(lambda match: " " * len(match[0]), text)


def _file_text(name: str) -> str:
    file = _folder().joinpath(*f"{name}.cypher".split("/"))
    if not _NAME.fullmatch(name) or not file.is_file():
        raise StatementMisuse(name)
    return file.read_text(encoding="utf-8")


def _description(text: str) -> str:
    lines = (line for line in text.splitlines() if line.startswith("//") and not _FIELD.match(line))
    return "\n".join(line[2:].strip() for line in lines).strip()


def _walk(folder: Traversable, prefix: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".cypher"):
            yield prefix + entry.name.removesuffix(".cypher")


@cache
def _folder() -> Traversable:
    # A wheel has the folder inside the package; in a checkout it is next to the package.
    inside = files("hmxgraph").joinpath("cypher")
    return inside if inside.is_dir() else Path(__file__).resolve().parents[2] / "cypher"


# A packaged statement with its parameters bound.


@dataclass(frozen=True, slots=True)
class Statement:
    """A packaged statement and one dict of parameters, as sent to the server."""

    query: Query
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """The statement's name: its path below ``cypher/`` without ``.cypher``; in a script, with ``:`` and a part."""
        return self.query.name

    @property
    def text(self) -> LiteralString:
        """The statement's text, byte for byte as packaged."""
        # The driver requires literal text, and a packaged file is that.
        return self.query.text  # pyright: ignore[reportReturnType]


def bind(name: str, /, **parameters: Any) -> Statement:
    """The statement *name* with exactly the parameters that its text uses.

    Raises:
        StatementMisuse: unknown statement, or a parameter is missing or never used.

    >>> bind("tenants/state", tenant_id="acme", tenant_key="k").parameters["tenant_id"]
    'acme'

    """
    packaged = query(name)
    if packaged.parameters != parameters.keys():
        missing = tuple(sorted(packaged.parameters - parameters.keys()))
        raise StatementMisuse(name, missing, tuple(sorted(parameters.keys() - packaged.parameters)))
    return Statement(packaged, parameters)


# Plans and procedures: all logic between round trips, written once for the synchronous and the asynchronous API.
#
# A *plan* is a generator that yields bound statements and receives their rows; it runs inside one transaction. To send
# a statement before its rows are needed, a plan first yields it inside :class:`Ahead`, and later the statement itself.
# A *procedure* is a generator that yields :class:`Work` (a transaction mode and a plan factory) and receives the values
# of the plans: several transactions in a row. Between them it may ask for the vectors of texts (:class:`Embed`).

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ahead:
    """A statement to be sent at once, without waiting for its rows: the server works while the plan continues.

    The plan receives the rows when it yields the statement itself. It must do so before it sends another statement: a
    failure is noticed only when rows are read, and is attributed to the last statement sent or read.
    """

    statement: Statement


Plan: TypeAlias = Generator[Statement | Ahead, list[Row], T]
PlanFactory: TypeAlias = Callable[[], Plan[T]]


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """A transaction to be run: its mode and a plan factory, so that a retry starts with a fresh plan."""

    mode: Mode
    factory: PlanFactory[T]


@dataclass(frozen=True, slots=True)
class Embed:
    """Texts whose vectors a procedure needs; ``kept`` texts never change, so their vectors are computed once."""

    texts: tuple[str, ...]
    kept: bool = False


Procedure: TypeAlias = Generator[Work[Any] | Embed, Any, T]


def read(factory: PlanFactory[T]) -> Procedure[T]:
    """The value of the plan from *factory*, run in one read transaction."""
    value: T = yield Work("read", factory)
    return value


def write(factory: PlanFactory[T]) -> Procedure[T]:
    """The value of the plan from *factory*, run in one write transaction."""
    value: T = yield Work("write", factory)
    return value


def ask(statement: Statement) -> Plan[list[Row]]:
    """The rows of one statement, as a plan."""
    rows = yield statement
    return rows


# The tenant that a plan is for: the keys of its nodes.


@dataclass(frozen=True, slots=True)
class Tenancy:
    """One tenant: its id, the key of its ``Tenant`` node, its token in the full-text indexes, and whom it trusts."""

    tenant_id: str
    key: str
    scope: str
    trust: TrustPolicy = DEFAULT_TRUST

    @classmethod
    def of(cls, tenant_id: str, trust: TrustPolicy = DEFAULT_TRUST) -> "Tenancy":
        """The tenancy of *tenant_id*.

        Raises:
            InvalidTenant: *tenant_id* is not a string, is empty, or contains a NUL or a lone surrogate.

        >>> Tenancy.of("acme").tenant_id
        'acme'

        """
        _check(tenant_id)
        return cls(tenant_id, node_key(tenant_id, "tenant"), scope_token(tenant_id), trust)

    def node_key(self, *parts: str) -> str:
        """The key of the node with these *parts* as its id: hex SHA-256 of tenant id and parts, joined by NUL.

        Raises:
            InvalidRequest: a part is not text, or not valid Unicode.

        """
        try:
            return node_key(self.tenant_id, *parts)
        except (TypeError, UnicodeEncodeError):
            for part in parts:
                checked_text("id", part)
            raise


def stored_mask_key(tenancy: Tenancy) -> str:
    """The key under which secrets are masked before they are stored; empty if they are stored unmasked."""
    return tenancy.key if tenancy.trust.mask_secrets == "ingest" else ""


def shown_mask_key(tenancy: Tenancy) -> str:
    """The key under which secrets are masked in what models get; empty if they are shown."""
    return "" if tenancy.trust.mask_secrets == "off" else tenancy.key


def _check(tenant_id: object) -> None:
    if not isinstance(tenant_id, str):
        raise InvalidTenant(tenant_id, f"it is of type {type(tenant_id).__name__}")
    if not tenant_id:
        raise InvalidTenant(tenant_id, "it is empty")
    if "\0" in tenant_id:
        # In every key a NUL ends the tenant id: if ids could contain it, two tenants could share a key.
        raise InvalidTenant(tenant_id, "it contains a NUL")
    try:
        tenant_id.encode()
    except UnicodeEncodeError as error:
        raise InvalidTenant(tenant_id, "it contains a lone surrogate") from error


def model_key(tenancy: Tenancy) -> str:
    """The key of the node with the tenant's compiler model: learned statistics from which actions are suggested."""
    return tenancy.node_key("compiler-model")


# The tenant's state: the version, which rises with each transaction that changes what packs may show, and the logical
# clock.


def bump(tenancy: Tenancy, logical_us: int) -> Plan[int]:
    """Raise the tenant's state version and return it; the logical clock advances to *logical_us*, if that is later.

    Usually sent last, because all writers of the tenant wait for the lock that it takes.
    """
    rows = yield bind("tenants/bump", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, logical_us=logical_us)
    version: int = rows[0]["state_version"]
    return version


def open_batch(tenancy: Tenancy, batch: Row) -> Plan[Row]:
    """Lock the sessions of *batch* and the stored memories in its slots; return the row of ``events/open``.

    A slot is a question with one answer at a time, such as where somebody lives; ``answers`` are the new ones by slot.
    Fields that *batch* omits count as empty.
    """
    defaults: Row = {"sessions": [], "event_keys": [], "slot_keys": [], "answers": {}}
    rows = yield bind("events/open", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key, batch=defaults | batch)
    return rows[0]


def state(tenancy: Tenancy) -> Plan[Row]:
    """The row of ``tenants/state``; before the first write, its counts and versions are 0 and the rest is None."""
    rows = yield bind("tenants/state", tenant_id=tenancy.tenant_id, tenant_key=tenancy.key)
    counts: Row = dict.fromkeys(("state_version", "event_count", "compiled_version"), 0)
    return rows[0] if rows else counts | dict.fromkeys(("logical_us", "compiled_summaries", "compared_policies"))
