"""Find the things that the records in an event's content identify, and the links between them.

A record is a JSON object. The name of a field contains the noun for what its value identifies: ``order_id`` identifies
an order, ``items`` lists items. A record belongs to the record that contains it. There is no list of known nouns: all
come from the names of fields and tools.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from hmxgraph.extraction._entity_forms import FIXED_TYPES, NAMING_FIELDS, field_type, is_id
from hmxgraph.extraction.language import BASE_VERBS
from hmxgraph.protocol.parsing import parse_json

# Maximum number of records read per event.
MOST_RECORDS = 60
# Maximum number of characters of a text that is parsed as JSON.
_LONGEST_JSON = 64_000
# Maximum number of texts parsed as JSON per event.
_MOST_JSON = 4
# The words of a field name: "order" and "Id" in "orderId", "URL" and "Path" in "URLPath".
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Maximum length of a noun, in characters.
_LONGEST_NOUN = 40
# Last words of the names of fields that hold ids.
_ID_ENDINGS = frozenset({"id", "ids", "uuid", "uuids", "guid", "guids"})
# Last words of the names of fields that may hold identifying numbers, such as ``order_number``. Their values may also
# be counts, so an identifier must have at least `_SHORTEST_NUMBER` characters, one of them a digit.
_NUMBER_ENDINGS = frozenset({"number", "numbers", "no", "num", "nr"})
# Names of fields that say nothing about the records inside.
_WRAPPERS = frozenset(
    """
    arguments args argument body content contents data entries entry hits input list metadata object objects output
    parameters params payload record records response result results rows spec stdout text value values
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# Verbs in tool names.
_TOOL_VERBS = BASE_VERBS | {"lookup"}
# Words that may follow the noun in a tool name: "details" in get_user_details.
_AFTER_NOUN = frozenset(
    {"by", "detail", "details", "for", "from", "id", "ids", "in", "info", "of", "status", "to", "with"}
)
# Values that identify nothing.
_NO_VALUES = frozenset({"all", "any", "default", "false", "me", "n/a", "na", "none", "null", "self", "true", "unknown"})
# Types of values that need no noun to identify a thing: an e-mail address does, wherever it stands.
_TYPED = frozenset({"email", "file", "host", "person"})
# Fields that hold the name of their record.
_LABELS = frozenset({"name", "title"})
# Words before "name" that do not say what has the name: "full" in "full_name", unlike "host" in "host_name".
_NAME_QUALIFIERS = frozenset({"display", "full", "user"})
# Maximum length of identifiers and names, in characters.
_LONGEST_ID = 80
# A number with fewer digits needs its noun to be unambiguous: order 12, user 12.
_CLEAR_DIGITS = 6
# Shorter values of fields such as ``order_number``, and shorter numbers as keys, are not taken for identifiers.
_SHORTEST_NUMBER = 4


class Thing(NamedTuple):
    """Something that a record identifies: its type and its name."""

    type: str
    name: str


class Link(NamedTuple):
    """*source* refers to *target* or contains it; *relation_type* is the noun of the field that links them."""

    source: Thing
    relation_type: str
    target: Thing


class _Field(NamedTuple):
    """A field whose value identifies a thing: the noun in its name, the thing, and a level of certainty (0 is best).

    Only a field that is ``alone`` (its value is not in a list) can also identify the record that contains it.
    """

    noun: str
    thing: Thing
    level: int
    alone: bool = True


class _Visit(NamedTuple):
    """A JSON node that is still to be read: its noun, the thing that contains it, and the relation between the two.

    ``index_key`` is set if the node is in an index, an object whose keys identify the records in it: the key there.
    """

    node: Any
    noun: str = ""
    owner: Thing | None = None
    relation: str = ""
    index_key: str = ""


Item: TypeAlias = Thing | Link


def records(content: Mapping[str, Any], hint: str = "") -> Iterator[Item]:
    """Yield the things that *content* identifies, and the links between them; outer records come first.

    *hint* is the name of the tool, or the event type. Its noun tells what the outermost record is ("get_order": an
    order), and thus which of several fields identifies that record. The order of keys does not matter.

    >>> order = {"order_id": "#W12", "user_id": "ann_7", "items": [{"item_id": "5501447", "name": "Lamp"}]}
    >>> for item in records(order, "get_order"):
    ...     if isinstance(item, Link):
    ...         print(item.source.name, item.relation_type, item.target.name)
    #W12 user ann_7
    #W12 item 5501447
    5501447 name Lamp
    """
    reader = _Reader(frozenset(_words(hint)))
    pending = deque([_Visit(content, subject(hint))])
    record_count = 0
    while pending and record_count < MOST_RECORDS:
        visit = pending.popleft()
        node = reader.parsed(visit.node)
        if isinstance(node, list):
            pending.extend(visit._replace(node=element) for element in node[: MOST_RECORDS - record_count])
        elif isinstance(node, dict):
            record_count += 1
            yield from reader.record(visit._replace(node=node), pending)


class _Reader:
    """Reads the records of one event."""

    __slots__ = ("_hint", "_texts")

    def __init__(self, hint: frozenset[str]) -> None:
        self._hint = hint
        self._texts = 0

    def parsed(self, node: Any) -> Any:
        """*node*, parsed if it is JSON text: at most four texts per event, none longer than 64,000 characters."""
        if not isinstance(node, str) or node.lstrip()[:1] not in {"{", "["} or len(node) > _LONGEST_JSON:
            return node
        if self._texts >= _MOST_JSON:
            return node
        self._texts += 1
        try:
            return parse_json(node)
        except ValueError:
            return node

    def record(self, visit: _Visit, pending: deque[_Visit]) -> Iterator[Item]:
        """Yield the things and links of one record; append the nodes inside it to *pending*."""
        if _is_index(visit.node):
            pending.extend(visit._replace(node=visit.node[key], index_key=key) for key in sorted(visit.node))
            return
        fields = [
            field for key in sorted(visit.node) for field in _identifying_fields(key, visit.node[key], visit.noun)
        ]
        identity = self._identity(visit, fields)
        # The thing to which the other fields belong.
        holder = identity.thing if identity else visit.owner
        if identity:
            yield identity.thing
            if visit.owner and visit.owner != identity.thing:
                # A record in "order_details" with an "order_id" is an order: the relation is called "order".
                noun_is_name = not visit.relation or visit.relation.startswith(f"{identity.noun}_")
                relation = identity.noun or identity.thing.type if noun_is_name else visit.relation
                yield Link(visit.owner, relation, identity.thing)
        for field in fields:
            if holder is None:
                yield field.thing
            elif field.thing != holder:
                yield field.thing
                yield Link(holder, field.noun, field.thing)
        if identity and identity.level < _NAMED:
            yield from _label(identity.thing, visit.node)
        pending.extend(_children(visit, holder))

    def _identity(self, visit: _Visit, fields: Sequence[_Field]) -> _Field | None:
        """The field that identifies the record itself; a record without one is part of the record around it.

        A record in an index is identified by its key there; any other by the best field about its noun, else by its
        name. The outermost record may also be identified by a field that the hint names, or by any field.
        """
        if visit.index_key:
            matching = [
                field for field in fields if field.thing.name.removeprefix("#") == visit.index_key.removeprefix("#")
            ]
            return matching[0] if matching else _Field(visit.noun, _thing(visit.noun or "id", visit.index_key), 0)
        single = [field for field in fields if field.alone]
        candidates = [field for field in single if _identifies_record_of(field.noun, visit.noun)]
        if not candidates and (person := _person_in(visit.node)):
            candidates = [_Field(visit.relation or "name", person, _NAMED)] if visit.owner or not single else []
        has_id = visit.owner is None and any(field.level < _TYPE for field in single)
        if not candidates and visit.noun and not has_id and (name := _name_of_record(visit)):
            candidates = [name]
        if not candidates and visit.owner is None:
            hinted = [field for field in single if field.noun and set(field.noun.split("_")) <= self._hint]
            candidates = hinted or single
        return min(candidates, key=lambda field: (field.level, field.noun, field.thing), default=None)


# How certainly a value identifies one thing, best first: an id; a number; another typed value, such as an e-mail
# address; a file or host, which contains many things; a name, either of a person, who owns many things, or of the
# record itself.
_ID, _NUMBER, _TYPE, _CONTAINER, _NAMED = range(5)
# The levels of typed values other than ``_TYPE``.
_LEVELS = {"file": _CONTAINER, "host": _CONTAINER, "person": _NAMED}


def _identifying_fields(key: str, value: Any, noun: str) -> Iterator[_Field]:
    """Yield a field for each value that identifies something."""
    if field_type(key) in {"aside", "text", "tool", "command", "error_type"}:
        return
    values = value if isinstance(value, list) else [value]
    if any(isinstance(element, dict | list) for element in values):
        return
    key_noun = _noun_of(key)
    listed = _is_list_of_ids(value)
    for element in values[:MOST_RECORDS]:
        if (field := _identifying_field(key, key_noun, element, noun, listed=listed)) is not None:
            yield field._replace(alone=not isinstance(value, list))


def _is_certain_id(text: str) -> bool:
    """Whether *text* is an identifier by its form; letters alone may just as well be a word."""
    return not text.isalpha() and bool(is_id(text))


def _is_list_of_ids(value: Any) -> bool:
    """Whether all members of a list count as ids: more than half have the form of an id, and all the same length.

    >>> _is_list_of_ids(["JMO1MG", "3RK2T9", "TAMSDK"]), _is_list_of_ids(["JMO1MG", "TAMSDK", "ORLAND"])
    (True, False)
    """
    if not isinstance(value, list) or not all(isinstance(member, str) for member in value):
        return False
    return len({len(member) for member in value}) == 1 and 2 * sum(map(_is_certain_id, value)) > len(value)


class _Noun(NamedTuple):
    """The noun in the name of a field, and the type and the level (`_Field`) of its values.

    If the level is None, a value identifies something only if it has the form of an id.
    """

    noun: str
    type: str
    level: int | None


@lru_cache(maxsize=10_000)
def _noun_of(key: str) -> _Noun:
    """The noun in the name of a field.

    >>> _noun_of("order_id"), _noun_of("shippingStatus")
    (_Noun(noun='order', type='order', level=0), _Noun(noun='shipping_status', type='shipping_status', level=None))
    """
    words = _words(key)
    kind = field_type(key)
    if not words or len("_".join(words)) > _LONGEST_NOUN:
        return _Noun("", "", None)
    stem = "_".join(words[:-1])
    if words[-1] in _ID_ENDINGS:
        return _Noun(stem, stem, _ID)
    if words[-1] in _NUMBER_ENDINGS:
        return _Noun(stem, stem, _NUMBER)
    whole = singular("_".join(words))
    if kind in _TYPED:
        # "file_path" is about a file; "full_name" is just a name.
        stem_is_noun = words[-1] in {"name", "path", "address"} and stem
        noun = "name" if stem in _NAME_QUALIFIERS else stem if stem_is_noun else whole
        return _Noun(noun, kind, _LEVELS.get(kind, _TYPE))
    naming_noun = stem if words[-1] == "name" else whole
    if naming_noun in NAMING_FIELDS:
        return _Noun(naming_noun, naming_noun, _TYPE)
    plain = "" if whole in _WRAPPERS else whole
    return _Noun(plain, plain, None)


def _identifying_field(key: str, key_noun: _Noun, value: Any, noun: str, *, listed: bool = False) -> _Field | None:
    """The field *key* of a record called *noun*, if *value* identifies a thing; *listed*: it is in a list of ids."""
    text = str(value) if type(value) is int and value >= 0 and key_noun.level in {_ID, _NUMBER} else value
    if not isinstance(text, str) or not 0 < len(text) <= _LONGEST_ID or text.lower() in _NO_VALUES:
        return None
    by_form = listed or (key not in _LABELS and _is_certain_id(text))
    if key_noun.level is not None and key_noun.level >= _TYPE:
        level = _ID if by_form and key_noun.type == key_noun.noun else key_noun.level
        return _Field(key_noun.noun, Thing(key_noun.type, text.strip()), level) if _is_name(text) else None
    if any(map(str.isspace, text)) or not any(map(str.isalnum, text)):
        return None
    if key_noun.level == _NUMBER and (len(text) < _SHORTEST_NUMBER or not any(map(str.isdigit, text))):
        return None
    if key_noun.level is None and not by_form:
        return None
    return _Field(key_noun.noun or noun, _thing(key_noun.type or noun or "id", text), key_noun.level or _ID)


def _is_name(text: str) -> bool:
    return "\n" not in text and any(map(str.isalpha, text))


def _thing(noun: str, value: str) -> Thing:
    """The thing with the identifier *value*. Its type is *noun*, or ``id`` if *noun* is a built-in type.

    A short number gets its noun: "order 12".
    """
    if noun in FIXED_TYPES:
        return Thing("id", value)
    if value.isdigit() and len(value) < _CLEAR_DIGITS:
        return Thing(noun, f"{noun.replace('_', ' ')} {value}")
    return Thing(noun, value)


def _identifies_record_of(noun: str, container: str) -> bool:
    """Whether a field with this *noun* identifies a record called *container*: order_id identifies order_details."""
    return bool(container) and (noun == container or noun.endswith(f"_{container}") or container.startswith(f"{noun}_"))


def _person_in(node: Mapping[str, Any]) -> Thing | None:
    """The person whose first and last name are fields of a record; None if it lacks one of them."""
    first, last = node.get("first_name"), node.get("last_name")
    if isinstance(first, str) and isinstance(last, str) and first.strip() and last.strip():
        return Thing("person", f"{first.strip()} {last.strip()}")
    return None


def _name_of_record(visit: _Visit) -> _Field | None:
    """The name of a record, as the field that identifies it: for records in ``services``, each of which has a name."""
    name = visit.node.get("name")
    if isinstance(name, str) and len(name) <= _LONGEST_ID and _is_name(name):
        kind = visit.noun if visit.noun in NAMING_FIELDS else "concept"
        return _Field(visit.noun, Thing(kind, name.strip()), _NAMED)
    return None


def _label(own: Thing, node: Mapping[str, Any]) -> Iterator[Item]:
    """Yield the name of an identified record, and the name of its person, as separate things linked to *own*."""
    for key in sorted(_LABELS & node.keys()):
        name = node[key]
        if isinstance(name, str) and len(name) <= _LONGEST_ID and _is_name(name) and name != own.name:
            label = Thing("concept", name.strip())
            yield label
            yield Link(own, "name", label)
    if person := _person_in(node):
        yield person
        yield Link(own, "name", person)


def _children(visit: _Visit, holder: Thing | None) -> Iterator[_Visit]:
    """Yield the nodes inside a record that may hold further records; texts only from wrappers such as ``result``."""
    for key in sorted(visit.node):
        value = visit.node[key]
        nested = isinstance(value, list) and any(isinstance(element, dict | list) for element in value)
        has_records = nested or isinstance(value, dict)
        if not (has_records or isinstance(value, str)) or field_type(key) == "aside":
            continue
        noun = singular("_".join(_words(key)))[:_LONGEST_NOUN]
        if noun in _WRAPPERS or key.lower() in _WRAPPERS:
            yield _Visit(value, visit.noun, holder, visit.relation)
        elif has_records:
            yield _Visit(value, noun, holder, noun)


def _is_index(node: Mapping[str, Any]) -> bool:
    """Whether all keys of *node* identify the records in it: ``{"credit_card_951": {"brand": ...}}``."""
    if not node or not all(isinstance(value, dict) for value in node.values()):
        return False
    return all(
        (key.isdigit() and len(key) >= _SHORTEST_NUMBER) or bool(is_id(key)) or key in node[key].values()
        for key in sorted(node)[:MOST_RECORDS]
    )


@lru_cache(maxsize=10_000)
def _words(name: str) -> tuple[str, ...]:
    """The words of a name, lower case: ``orderId`` and ``order-id`` give order, id."""
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=1_000)
def subject(tool: str) -> str:
    """The noun in the name of *tool*, if that name starts with a verb; else empty.

    >>> subject("get_user_details"), subject("findUserIdByEmail"), subject("list_orders"), subject("git_show")
    ('user', 'user', 'order', '')
    """
    verb, *rest = _words(tool) or ("",)
    if verb not in _TOOL_VERBS:
        return ""
    nouns = list(takewhile(lambda word: word not in _AFTER_NOUN, rest))
    return singular(nouns[-1]) if nouns else ""


@lru_cache(maxsize=10_000)
def singular(noun: str) -> str:
    """*noun* in the singular, by its ending.

    >>> [singular(noun) for noun in ("items", "addresses", "categories", "status", "databases", "payment_history")]
    ['item', 'address', 'category', 'status', 'database', 'payment_history']
    """
    if noun.endswith("ies") and len(noun) > len("ties"):
        return f"{noun[:-3]}y"
    if noun.endswith(("sses", "xes", "tches", "shes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun
