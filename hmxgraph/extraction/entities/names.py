"""When two names are the same name: one normalisation for what texts, titles and questions call things."""

import re
from functools import lru_cache

from hmxgraph.text.terms import words

# What is written by machines is told apart by every sign; only people write one name in many ways.
EXACT = frozenset({"agent", "command", "email", "error_type", "file", "host", "id", "symbol", "tag", "tool", "url"})
# Types that one and the same name may seem to have, the surest last: a word in capitals may turn out to be a person or
# an id, a symbol in backticks a tool.
FAMILIES = {"name": ("concept", "person", "id"), "tool": ("symbol", "tool")}
TYPES = tuple(sorted(EXACT | {"concept", "person"}))
LONGEST_NAME = 200
_FAMILY = {member: name for name, members in FAMILIES.items() for member in members}
_RANK = {member: rank for members in FAMILIES.values() for rank, member in enumerate(members)}
_ARTICLES = frozenset({"the", "a", "an"})
_QUALIFIED = re.compile(r"^(?P<bare>[^(]*[^(\s])\s*\([^()]*\)$|^(?P<place>[^,]+), (?:[^,]+)$")


def family(entity_type: str) -> str:
    """The part of an entity's key that stands for its type: one for all types that the same name may seem to have.

    >>> family("person"), family("concept"), family("symbol"), family("file")
    ('name', 'name', 'tool', 'file')
    """
    return _FAMILY.get(entity_type, entity_type)


def surest(one: str, other: str) -> str:
    """Of two types of one family, the one that says more.

    >>> surest("concept", "person"), surest("tool", "symbol")
    ('person', 'tool')
    """
    return max(one, other, key=lambda entity_type: _RANK.get(entity_type, 0))


def normalise(entity_type: str, name: str) -> str:
    """The form under which spellings of one name meet; empty for what is no name.

    >>> normalise("concept", "The Beatles'"), normalise("person", "  Zoë  O'Neal's ")
    ('beatles', 'zoe o neal')
    >>> normalise("tool", "Get_Order"), normalise("file", "./src/App.py"), normalise("id", "#W2378156")
    ('get_order', 'src/app.py', 'w2378156')
    """
    if entity_type not in EXACT:
        return _plain(name)
    trimmed = name.strip()
    if entity_type in {"id", "tag"}:
        trimmed = trimmed.lstrip("#")
    elif entity_type == "file":
        trimmed = trimmed.removeprefix("./")
    return trimmed.lower()[:LONGEST_NAME]


def bare(title: str) -> str:
    """*title* without what only tells it from its namesakes; empty where there is nothing to take away.

    >>> bare("Lilu (mythology)"), bare("Hunt Valley, Maryland"), bare("Metallica")
    ('Lilu', 'Hunt Valley', '')
    """
    found = _QUALIFIED.match(title)
    return (found["bare"] or found["place"]) if found else ""


@lru_cache(maxsize=50_000)
def _plain(name: str) -> str:
    found = words(name.replace("&", " and ") if "&" in name else name)
    if len(found) > 1 and found[0] in _ARTICLES:
        del found[0]
    return " ".join(found)[:LONGEST_NAME]
