"""The kit's files as values: examples, cases, and the few words in which cases change an example (see README.md)."""

import hashlib
import json
from pathlib import Path

import rfc8785

HERE = Path(__file__).resolve().parent
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


def example(name):
    """One example document, fresh."""
    return json.loads((HERE / "examples" / f"{name}.json").read_text(encoding="utf-8"))


def example_names():
    """The names of all example documents."""
    return sorted(path.stem for path in (HERE / "examples").glob("*.json"))


def cases(*, server):
    """Each case with its name: those that need a server, or those that do not."""
    loaded = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / "cases").glob("*.json"))
    }
    return {name: case for name, case in loaded.items() if ("needs" in case) is server}


def built(given):
    """The document that ``{"example": ..., "set": ..., "remove": ...}`` describes."""
    return changed(example(given["example"]), given)


def changed(document, change):
    """*document* with the change applied: removals, then plain values, then fillings, then hashes."""
    for pointer in change.get("remove", ()):
        parent, last = _parent(document, pointer)
        del parent[last]
    values = change.get("set", {})
    for rank in range(3):
        for pointer, value in values.items():
            if _rank(value) == rank:
                _put(document, pointer, _made(value, document, pointer))
    return document


def at(document, pointer):
    """The value at a JSON pointer."""
    if not pointer:
        return document
    parent, last = _parent(document, pointer)
    return parent[last]


def digest(value):
    """Hex SHA-256 of the canonical value, by the rfc8785 library."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def _rank(value):
    keys = value.keys() if isinstance(value, dict) else ()
    if "$fill" in keys:
        return 1
    return 2 if {"$hash_of", "$fingerprint_hash_of"} & set(keys) else 0


def _made(value, document, pointer):
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
        whole = at(document, value["$fingerprint_hash_of"])
        return digest({name: whole[name] for name in HASHED if name in whole})
    return value


def _put(document, pointer, value):
    parent, last = _parent(document, pointer)
    parent[last] = value


def _parent(document, pointer):
    *path, last = pointer.removeprefix("/").split("/")
    for step in path:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document, int(last) if isinstance(document, list) else last
