"""Bring a database to the schema of this release: the baseline for a new one, upgrades for an older one.

One ``SchemaVersion`` node holds the version. Clients check it when they connect: a database that a newer release
prepared is refused, and so is one that is too old to be upgraded. A release that computes stored properties in another
way also raises the version, even by a step without statements: otherwise two releases that use one database would
overwrite each other's values.
"""

import re
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import hmxgraph
from hmxgraph.errors import NewerStore, OlderStore
from hmxgraph.graph.plan import (
    Plan,
    Procedure,
    Query,
    Statement,
    Work,
    bind,
    query,
    query_names,
    read,
    script,
    script_names,
)

# The packaged schema: ``schema.cypher`` makes a new database, the steps of ``schema_upgrades/`` change an older one.

# The header line ``// version: 12``, and the 5 in ``schema_upgrades/005_states``.
_VERSION = re.compile(r"^//\s*version:\s*(\d+)\s*$", re.MULTILINE)
_STEP_NUMBER = re.compile(r"schema_upgrades/(\d+)_")


class Upgrade(NamedTuple):
    """One step: statements of one mode that bring a database to *version*, sent in one transaction."""

    version: int
    statements: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """The statements for a new database, and the steps that bring an older one to the same version.

    Raises:
        ValueError: the steps do not lead, one version at a time, to the version of the baseline.

    """

    version: int
    baseline: tuple[Query, ...]
    upgrades: tuple[Upgrade, ...] = ()

    def __post_init__(self) -> None:
        numbers = [step.version for step in self.upgrades]
        if numbers != list(range(self.oldest + 1, self.version + 1)):
            raise ValueError(
                f"cypher/schema_upgrades/ leads to versions {numbers}, cypher/schema.cypher is {self.version}"
            )

    @property
    def oldest(self) -> int:
        """The oldest version from which a database can be upgraded."""
        return self.version - len(self.upgrades)


@cache
def packaged_schema() -> Schema:
    """The schema of this release.

    >>> packaged_schema().version >= 1
    True
    """
    baseline = script("schema")
    steps = [Upgrade(_step_number(name), script(name)) for name in script_names("schema_upgrades")]
    return Schema(_stated_version(baseline[0].text), baseline, tuple(steps))


def _stated_version(text: str) -> int:
    stated = _VERSION.search(text)
    if stated is None:
        raise ValueError("cypher/schema.cypher: the header needs '// version: number'")
    return int(stated[1])


def _step_number(name: str) -> int:
    numbered = _STEP_NUMBER.match(name)
    if numbered is None:
        raise ValueError(f"cypher/{name}.cypher: the name must begin with the version that it leads to, as in 002_")
    return int(numbered[1])


# Names that the planner should know, read from the statements themselves.

# A relationship's types, in a pattern: ``[:CAUSED_BY|ANSWERS]`` or ``[r:NEXT*0..3]``.
_TYPES = re.compile(r"\[\s*\w*\s*:\s*(\w+(?:\s*\|\s*\w+)*)")
# A property that is read or set: ``event.sequence``. Fields of parameters (``$batch.sessions``) and names of procedures
# (``db.awaitIndexes()``) are not properties.
_PROPERTY = re.compile(r"(?<![\w$.])([a-zA-Z_]\w*)\.([a-z_]\w*)\b(?!\s*[.(])")
# A property that is projected: ``event {.sequence}``.
_PROJECTED = re.compile(r"[{,]\s*\.([a-z_]\w*)")
# The properties that a pattern matches, ``key: row.key`` in ``(event:Event {key: row.key})``, and the name of each.
_PATTERN_MAP = re.compile(r"[(\[]\w*(?::[\w|]+)?\s*\{([^{}]*)\}")
_MAP_KEY = re.compile(r"(\w+)\s*:")
# A variable for the elements of a list in the parameters, whose fields are not properties either: ``row`` in
# ``UNWIND $batch.sessions AS row``, or ``other`` in ``any(other IN $batch.answers ...)``.
_ROW = re.compile(r"\bUNWIND\s+(?:\$\w+|\w+\.)[\w.]*\s+AS\s+(\w+)|\b(\w+)\s+IN\s+(?:\$\w+|\w+\.)[\w.]*")


class Names(NamedTuple):
    """Relationship types and property keys, each sorted."""

    relationship_types: tuple[str, ...]
    property_keys: tuple[str, ...]


@cache
def packaged_names() -> Names:
    """Every relationship type and property key that a packaged statement uses.

    >>> names = packaged_names()
    >>> "IN_SESSION" in names.relationship_types, "sequence" in names.property_keys
    (True, True)
    """
    texts = [query(name).code for name in query_names()]
    types = {name.strip() for text in texts for group in _TYPES.findall(text) for name in group.split("|")}
    keys = {key for text in texts for key in _property_keys(text)}
    return Names(tuple(sorted(types)), tuple(sorted(keys)))


def _property_keys(code: str) -> set[str]:
    rows = {name for pair in _ROW.findall(code) for name in pair if name}
    read_or_set = {key for variable, key in _PROPERTY.findall(code) if variable not in rows}
    return read_or_set.union(
        _PROJECTED.findall(code), *(_MAP_KEY.findall(pattern) for pattern in _PATTERN_MAP.findall(code))
    )


# Preparing a database when a client connects.


class _Stored(NamedTuple):
    """The schema version and release that a database records; ``used``: it has tenants, but records no version."""

    version: int | None
    release: str | None
    used: bool


def migrate(schema: Schema | None = None) -> Procedure[tuple[int, ...]]:
    """Bring the database up to date and return the versions of the steps taken, none if it was up to date.

    A new database takes three transactions: one reads its version, one makes all constraints and indexes, one registers
    names and records the version. Neo4j does not allow data to be written in a transaction that changed the schema.
    Statements that create or drop a schema object use ``IF NOT EXISTS`` or ``IF EXISTS``, so clients may prepare one
    database concurrently: a client whose statement is refused retries and finds the work done.

    Each step may rewrite the whole database, and new indexes are built from all of it, so every transaction that writes
    has the time limit of a schema transaction. If that is too short for the indexes, the server goes on building them:
    the next client that connects waits again.

    Raises:
        NewerStore: a newer release prepared the database.
        OlderStore: the database is older than any version that can be upgraded.

    """
    target = schema or packaged_schema()
    stored = yield from read(_stored_version)
    steps = _steps(target, stored)
    for step in steps:
        if step.statements:
            yield Work("schema", partial(send_all, step.statements))
    if steps:
        yield Work("schema", partial(register, steps[-1].version))
    return tuple(step.version for step in steps)


def _steps(target: Schema, stored: _Stored) -> tuple[Upgrade, ...]:
    """The steps that a database in the state *stored* needs."""
    if stored.version is None and not stored.used:
        return (Upgrade(target.version, target.baseline),)
    if stored.version is None or stored.version < target.oldest:
        raise OlderStore(stored.version, target.oldest)
    if stored.version > target.version:
        raise NewerStore(stored.version, stored.release or "unknown", target.version)
    return tuple(step for step in target.upgrades if step.version > stored.version)


def _stored_version() -> Plan[_Stored]:
    rows = yield bind("schema_version/get")
    return _Stored(**rows[0])


def send_all(statements: tuple[Query, ...]) -> Plan[None]:
    """Send the statements in one transaction."""
    for statement in statements:
        yield Statement(statement, {})


def register(version: int) -> Plan[None]:
    """Register names, wait until every index is online, and record *version*."""
    yield from register_names()
    yield bind("schema_version/set", version=version, release=hmxgraph.__version__)


def register_names() -> Plan[None]:
    """Let the planner know all relationship types and property keys, and wait until every index is online."""
    names = packaged_names()
    yield bind(
        "schema_version/register_names",
        relationship_types=list(names.relationship_types),
        property_keys=list(names.property_keys),
    )
