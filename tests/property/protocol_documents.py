"""Documents generated from their JSON Schemas, and ways to corrupt them."""

import copy
import json

from hypothesis import strategies as st

from hmxgraph.protocol.document import schema
from hmxgraph.protocol.timestamps import iso

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
UNSAFE = 2**53, 1e21  # canonical JSON prints floats in this range as integers that readers must reject
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | FLOATS.filter(lambda x: not UNSAFE[0] <= abs(x) < UNSAFE[1])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)
MOMENTS = st.integers(0, 4_102_444_800_000_000).map(iso) | st.sampled_from(
    ["1998-12-31T23:59:60Z", "2026-03-14T08:30:00.123456789+05:30", "0000-01-01t00:00:00z"]
)
ODD = (
    *(None, True, False, 0, 1, -1, 1.0, 0.5, 1.5, 1e300, -0.0),
    *("", "x", "HMX-1.0", "HMX-\u0661.\u0660", "HMX-1.0\n", "draft", "digest", "x-acme-note", "0" * 64, "\xe9" * 64),
    *("2026-03-14T03:00:00", "2026-02-30T00:00:00Z"),
    *([], [1], ["a", "b"], [None], {}, {"a": 1}),
)


def documents(name):
    """A strategy for mostly valid documents of the named schema."""
    whole = schema(name)
    return _of(whole, whole)


def spoiled(document, random):
    """A copy of *document* with one to three random changes."""
    changed = copy.deepcopy(document)
    for _ in range(random.randint(1, 3)):
        places = list(_places(changed))
        if not places:
            break
        whole, key = random.choice(places)
        _spoil(whole, key, random)
    return changed


def _spoil(whole, key, random):
    kind = random.randrange(5)
    if kind == 0:
        del whole[key]
    elif kind == 1 and isinstance(whole, dict):
        name = random.choice(["mood", "é", "", key + "s", "tags", "salience", "superseded_by"])
        whole[name] = copy.deepcopy(random.choice(ODD))
    elif kind == 2 and isinstance(whole, list):
        whole.extend([copy.deepcopy(whole[key])] * random.choice([1, 12, 70]))
    elif kind == 3 and isinstance(whole[key], int | float) and not isinstance(whole[key], bool):
        whole[key] = random.choice([-whole[key], whole[key] + 1, whole[key] / 2, float(whole[key])])
    else:
        whole[key] = copy.deepcopy(random.choice(ODD))


def _places(value):
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(pairs):
        yield value, key
        yield from _places(part)


def _of(node, root):
    if "$ref" in node:
        return _of(root["$defs"][node["$ref"].removeprefix("#/$defs/")], root)
    if "enum" in node or "const" in node:
        return st.sampled_from(node.get("enum", [node.get("const")]))
    if "anyOf" in node:
        return st.one_of([_of({**part, "type": part.get("type", node.get("type"))}, root) for part in node["anyOf"]])
    kind = node.get("type")
    if isinstance(kind, list):
        return st.one_of([_of({**node, "type": alternative}, root) for alternative in kind])
    return MAKERS[kind](node, root)


def _text(node, _root):
    if node.get("format") == "date-time":
        return MOMENTS
    if "pattern" in node:
        return st.from_regex(node["pattern"].replace(r"\d", "[0-9]").removesuffix("$") + r"\Z")
    return TEXTS.filter(lambda text: len(text) >= node.get("minLength", 0))


def _integer(node, _root):
    return st.integers(node.get("minimum", -(2**53) + 1), 2**53 - 1)


def _number(node, _root):
    floats = st.floats(node.get("minimum"), node.get("maximum", UNSAFE[0] - 1), allow_nan=False, allow_infinity=False)
    return floats | st.sampled_from([0, 1])


def _array(node, root):
    return st.lists(_of(node["items"], root), max_size=2)


def _object(node, root):
    names = node.get("properties", {})
    if not names:
        further_values = node.get("additionalProperties")
        keys = st.sampled_from(node["propertyNames"]["enum"]) if "propertyNames" in node else TEXTS
        return (
            st.dictionaries(keys, _of(further_values, root), max_size=2)
            if isinstance(further_values, dict)
            else OBJECTS
        )
    parts = {name: _of(part, root) for name, part in names.items()}
    needed = {name: parts.pop(name) for name in node.get("required", ())}
    return st.fixed_dictionaries(needed, optional=parts)


MAKERS = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "array": _array,
    "object": _object,
    "boolean": lambda _node, _root: st.booleans(),
    "null": lambda _node, _root: st.none(),
    None: lambda _node, _root: VALUES,
}


def as_json(document):
    """The document as ordinary, not canonical, JSON text."""
    return json.dumps(document, indent=1)
