"""Load the kit's files (examples, cases, vectors, statements) and apply a case's changes to an example.

Some changes compute a value from the changed document, so they are applied last: ``{"$fill": pointer, "bytes": n}`` is
a string of "x" that brings the value at the JSON pointer to n bytes of canonical JSON; ``{"$hash_of": pointer}`` and
``{"$fingerprint_hash_of": pointer}`` are hashes. README.md lists all kinds of changes.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import rfc8785

DATA = Path(__file__).resolve().parent / "data"
# The fields that ``fingerprint_hash`` covers (HMX-F 10).
HASHED = (
    "hmx_version",
    "fingerprint_version",
    "artifact_summaries",
    "behavioral_patterns",
    "graph_digest",
    "semantic_summary",
    "context_priors",
    "compression_tier",
    "source_event_count",
    "source_artifact_count",
    "compiler_state",
)
# The sections of a pack in the order in which its entries are sorted (HMX-C 3.3).
SECTIONS = (
    "core",
    "constraints",
    "goals",
    "procedures",
    "facts",
    "episodes",
    "graph_relations",
    "workflow",
    "conflicts",
    "evidence",
)


def example(name: str) -> Any:
    """A fresh copy of an example document.

    >>> example("event-error")["event_type"]
    'error'
    """
    return json.loads((DATA / "examples" / f"{name}.json").read_text(encoding="utf-8"))


def example_names() -> list[str]:
    """The names of all example documents."""
    return sorted(path.stem for path in (DATA / "examples").glob("*.json"))


def cases(*, server: bool) -> dict[str, Any]:
    """The cases that need a store, or with ``server=False`` those that do not, by name."""
    return {name: case for name, case in _all_cases().items() if ("needs" in case) is server}


@cache
def _all_cases() -> dict[str, Any]:
    paths = sorted((DATA / "cases").glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


@cache
def vectors() -> dict[str, Any]:
    """The hash and signature vectors, by kind."""
    loaded: dict[str, Any] = json.loads((DATA / "vectors" / "hashes.json").read_text(encoding="utf-8"))
    return loaded


@cache
def statements() -> tuple[dict[str, Any], ...]:
    """The statements of the specifications with a MUST, SHOULD or MAY, and four other rules.

    Each statement names its cases; if these do not test it completely, it also says why.

    >>> statements()[0]["clause"], statements()[0]["cases"]
    ('HMX-A 3', ['hmx-a-03-2-custom-types'])
    """
    loaded = json.loads((DATA / "clauses.json").read_text(encoding="utf-8"))
    return tuple(loaded)


def built(description: Mapping[str, Any]) -> Any:
    """The document that ``{"example": ..., "set": ..., "remove": ...}`` describes."""
    return changed(example(description["example"]), description)


def changed(document: Any, change: Mapping[str, Any]) -> Any:
    """*document*, changed in place: first removals, then values that the case states, then ``$fill``, then hashes."""
    for pointer in change.get("remove", ()):
        parent, last = _parent(document, pointer)
        del parent[last]
    values = change.get("set", {})
    for round_number in range(3):
        for pointer, value in values.items():
            if _round(value) == round_number:
                _put(document, pointer, _directive_value(value, document, pointer))
    return document


def at(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer.

    >>> at({"a": [1, 2]}, "/a/1")
    2
    """
    if not pointer:
        return document
    parent, last = _parent(document, pointer)
    return parent[last]


def digest(value: Any) -> str:
    """Hex SHA-256 of the canonical value, by the rfc8785 library."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def _round(value: Any) -> int:
    """The round, of three, in which `changed` sets *value*: 0 for a stated value, 1 for ``$fill``, 2 for a hash."""
    keys = value.keys() if isinstance(value, dict) else ()
    if "$fill" in keys:
        return 1
    return 2 if {"$hash_of", "$fingerprint_hash_of"} & set(keys) else 0


def _directive_value(value: Any, document: Any, pointer: str) -> Any:
    """The value that a change puts at *pointer*: *value*, or what it describes by a directive such as ``$fill``."""
    if not isinstance(value, dict):
        return value
    if "$list" in value:
        template = json.dumps(value["$list"])
        return [json.loads(template.replace("#", str(index))) for index in range(value["times"])]
    if "$fill" in value:
        _put(document, pointer, "")
        return "x" * (value["bytes"] - len(rfc8785.dumps(at(document, value["$fill"]))))
    if "$hash_of" in value:
        return digest(at(document, value["$hash_of"]))
    if "$fingerprint_hash_of" in value:
        fingerprint = at(document, value["$fingerprint_hash_of"])
        return digest({name: fingerprint[name] for name in HASHED if name in fingerprint})
    return value


def _put(document: Any, pointer: str, value: Any) -> None:
    parent, last = _parent(document, pointer)
    parent[last] = value


def _parent(document: Any, pointer: str) -> tuple[Any, Any]:
    *path, last = pointer.removeprefix("/").split("/")
    for step in path:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document, int(last) if isinstance(document, list) else last
