"""Items of a LangGraph store, and search over them. Each item is a session; its latest put event holds the value."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Self, TypeVar
from urllib.parse import quote, unquote

from langgraph.store.base import Item, SearchItem, get_text_at_path  # pyright: ignore[reportMissingImports]

from hmxgraph.errors import InvalidRequest
from hmxgraph.text.terms import terms

T = TypeVar("T")
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
Namespace = tuple[str, ...]
# Types of events: an item was stored, deleted, or read in a way that restarts its time to live.
PUT, DELETE, TOUCH = "x-langgraph-put", "x-langgraph-delete", "x-langgraph-touch"
_ROOT = "langgraph-store/"


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item, read from the latest put event of its session; ``ttl`` is its time to live in minutes."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created: datetime
    updated: datetime
    ttl: float | None
    expires: datetime | None
    index: Any

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self | None:
        """The item in a row of the statement ``events/latest``; None if it was deleted or erased."""
        if row["event_type"] != PUT or row["content"] is None:
            return None
        metadata = json.loads(row["metadata"])
        verbatim = metadata.get("verbatim")
        value = json.loads(verbatim) if verbatim else json.loads(row["content"])["value"]
        updated = datetime.fromisoformat(row["timestamp"])
        created = datetime.fromisoformat(metadata.get("created_at", row["timestamp"]))
        ttl = metadata.get("ttl_minutes")
        expires = None if ttl is None else datetime.fromisoformat(row["touched"]) + timedelta(minutes=ttl)
        namespace, key = _address(row["session_id"])
        return cls(namespace, key, value, created, updated, ttl, expires, metadata.get("index"))

    def words(self) -> list[str]:
        """The terms by which a search finds the item; none if it was put with ``index=False``."""
        paths = ["$"] if self.index is None else self.index or []
        return [term for path in paths for text in get_text_at_path(self.value, path) for term in terms(text)]

    def item(self) -> Item:
        """The item in LangGraph's form."""
        return Item(**self._fields())

    def hit(self, score: float | None) -> SearchItem:
        """The item as a search result."""
        return SearchItem(**self._fields(), score=score)

    def _fields(self) -> dict[str, Any]:
        fields = {"namespace": self.namespace, "key": self.key, "value": self.value}
        return fields | {"created_at": self.created, "updated_at": self.updated}


# Items as sessions.


def session_of(namespace: Namespace, key: str | None = None) -> str:
    """The session of an item; without *key*, the prefix of the sessions of all items in and below *namespace*.

    >>> session_of(("users", "a/b"), "k"), session_of(("users",)), session_of(())
    ('langgraph-store/users/a%2Fb//k', 'langgraph-store/users/', 'langgraph-store/')
    """
    path = "".join(f"{quote(label, safe='')}/" for label in namespace)
    return _ROOT + path + ("" if key is None else f"/{quote(key, safe='')}")


def _address(session_id: str) -> tuple[Namespace, str]:
    """The namespace and key of the item whose session is *session_id*.

    >>> _address("langgraph-store/users/a%2Fb//k")
    (('users', 'a/b'), 'k')
    """
    path, _, key = session_id.removeprefix(_ROOT).partition("//")
    return tuple(map(unquote, path.split("/"))), unquote(key)


# Filters, namespaces and words.


def matches(value: Any, condition: Any) -> bool:
    """Whether *value* meets *condition*: a value that it must equal, comparisons, or an object of conditions by field.

    Raises:
        InvalidRequest: *condition* has an unknown comparison.

    >>> matches({"age": 3, "tag": "x"}, {"age": {"$gte": 3, "$ne": 4}, "tag": "x"}), matches({}, {"age": {"$gt": 1}})
    (True, False)
    """
    if not isinstance(condition, Mapping):
        return bool(value == condition)
    if any(name.startswith("$") for name in condition):
        return all(_holds(value, name, bound) for name, bound in condition.items())
    return isinstance(value, Mapping) and all(matches(value.get(name), part) for name, part in condition.items())


def _holds(value: Any, name: str, bound: Any) -> bool:
    if name in {"$eq", "$ne"}:
        return bool((eq if name == "$eq" else ne)(value, bound))
    if name not in _COMPARISONS:
        raise InvalidRequest("filter", repr(name), "a comparison", f"choose $eq, $ne, {', '.join(_COMPARISONS)}")
    try:
        return _COMPARISONS[name](float(value), float(bound))
    except (TypeError, ValueError):
        return False  # only numbers can be compared


def fits(namespace: Namespace, condition: Any) -> bool:
    """Whether a namespace begins or ends with the path of *condition*, in which ``*`` stands for any label."""
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :] if path else ()
    return len(part) == len(path) and all(pattern in {"*", label} for pattern, label in zip(path, part, strict=True))


def ranked(items: Sequence[T], words: Callable[[T], list[str]], query: str) -> list[tuple[T, float | None]]:
    """The items that share words with *query*, best first, with their scores.

    The score is the fraction of the query's words that an item has. Words in few items weigh more, by an inverse
    document frequency as in BM25.

    >>> [(text, score) for text, score in ranked(["red tea", "tea", "ale"], terms, "a red tea")]
    [('red tea', 1.0), ('tea', 0.423769)]
    """
    item_terms = [set(words(item)) for item in items]
    query_terms = set(terms(query))
    item_counts = Counter(term for terms_of_item in item_terms for term in terms_of_item & query_terms)
    weights = {term: log(1 + (len(items) + 1) / (item_counts[term] + 0.5)) for term in sorted(query_terms)}
    maximum = sum(weights.values())
    scores = [sum(weights[term] for term in sorted(terms_of_item & query_terms)) for terms_of_item in item_terms]
    best = sorted(zip(items, scores, strict=True), key=lambda pair: -pair[1])
    return [(item, round(score / maximum, 6)) for item, score in best if score > 0]
