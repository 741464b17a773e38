"""Names in structured content: what a field holds is known by what it is called."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from hmxgraph.extraction.entities.forms import is_id

MOST_LEAVES = 200
# Field names, lower case and without separators, by the type of entity that they hold; "text" is to be read as such,
# what stands "aside" leads to other events or tells where something ran, which nothing was done to.
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


class Leaf(NamedTuple):
    """A string inside structured content, with the type of what it names ("text" for running text)."""

    type: str
    value: str


def leaves(value: Any) -> Iterator[Leaf]:
    """The strings in *value* that name something, fields in order of their names; at most 200 are looked at.

    >>> list(leaves({"order_id": "#W12", "items": [{"name": "Lamp", "price": 3}], "note": "x"}))
    [Leaf(type='concept', value='Lamp'), Leaf(type='id', value='#W12')]
    """
    left = MOST_LEAVES
    pending: list[tuple[str, Any]] = [("", value)]
    while pending and left:
        field, found = pending.pop()
        kind = type(found)
        if kind is str or kind is int:
            left -= 1
            leaf = _leaf(field, found) if kind is str else _number(field, found)
            if leaf:
                yield leaf
        elif kind is dict:
            if "first_name" in found:
                yield from _whole_name(found)
            pending.extend([(name, found[name]) for name in sorted(found, reverse=True)])
        elif kind is list:
            pending.extend([(field, element) for element in reversed(found[:left])])


@lru_cache(maxsize=10_000)
def field_type(name: str) -> str:
    """The type of entity that a field called *name* holds; empty where its name does not say.

    >>> field_type("File_Path"), field_type("user_id"), field_type("price")
    ('file', 'id', '')
    """
    plain = name.lower()
    known = FIELDS.get(plain.translate(_SEPARATORS), "")
    return known or ("id" if plain.endswith(("_id", "_ids")) else "")


def _number(field: str, value: int) -> Leaf | None:
    return Leaf("id", str(value)) if value > 999 and field_type(field) == "id" else None


def _leaf(field: str, value: str) -> Leaf | None:
    entity_type = field_type(field)
    if len(value) < 2 or entity_type == "aside":
        return None
    if not entity_type or entity_type == "text":
        return _unnamed(value)
    if entity_type == "id":
        return Leaf("id", value) if _idlike(value) else None
    return Leaf(entity_type, value) if _namelike(entity_type, value) else None


def _unnamed(value: str) -> Leaf | None:
    """A string whose field says nothing: running text, an id by its form, or nothing."""
    if " " in value or "/" in value:
        return Leaf("text", value)
    return Leaf("id", value) if not value.isalpha() and is_id(value) else None


def _idlike(value: str) -> bool:
    return 3 <= len(value) <= 80 and " " not in value and (len(value) > 4 or not value.isalpha())


def _namelike(entity_type: str, value: str) -> bool:
    if entity_type == "command":
        return len(value) <= 2_000
    if len(value) > 200 or "\n" in value:
        return False
    return entity_type != "concept" or (len(value) <= 80 and any(map(str.isalpha, value)))


def _whole_name(found: dict[str, Any]) -> Iterator[Leaf]:
    first, last = found.get("first_name"), found.get("last_name")
    if isinstance(first, str) and isinstance(last, str) and first and last:
        yield Leaf("person", f"{first} {last}")
