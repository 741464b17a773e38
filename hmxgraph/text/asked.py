"""What callers ask with: texts and whole numbers, told apart from what only looks like them."""

from hmxgraph.errors import InvalidRequest
from hmxgraph.protocol.canonical import MAX_INTEGER

# What an error quotes of a value that is refused.
LONGEST_QUOTE = 60


def checked_text(name: str, value: object, way_out: str = "give it as the records spell it") -> str:
    """*value*, if it is text that can be looked for.

    Raises:
        InvalidRequest: no text, or none that UTF-8 can write; names the argument.

    >>> checked_text("artifact_id", 5)
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: artifact_id 5 is no text; give it as the records spell it
    """
    if not isinstance(value, str):
        raise InvalidRequest(name, quoted(value), "text", way_out)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidRequest(name, quoted(value), "valid Unicode", "leave out the lone surrogates")
    return value


def checked_whole(name: str, value: object, rule: str, least: int, most: int | None = None) -> int:
    """*value*, if it is a whole number from *least* to *most*.

    Raises:
        InvalidRequest: another type, or outside; names the argument.

    >>> checked_whole("limit", "3", "number of hits", 1, 500)
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: limit '3' is no number of hits; give 1 to 500
    """
    way_out = f"give {least} or more" if most is None else f"give {least} to {most}"
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        raise InvalidRequest(name, quoted(value), rule, way_out)
    return value


def checked_texts(name: str, value: object) -> list[str]:
    """*value* as a list, if it is one; a text alone would fall into its letters. None is an empty one.

    Raises:
        InvalidRequest: a text, or no sequence at all; names the argument.

    >>> checked_texts("inputs", "src/main.c")
    Traceback (most recent call last):
    hmxgraph.errors.InvalidRequest: inputs 'src/main.c' is no list of texts; give one, as in inputs=['...']
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise InvalidRequest(name, quoted(value), "list of texts", f"give one, as in {name}=['...']")
    return list(value)


def quoted(value: object) -> str:
    """*value* as an error quotes it, its beginning where it is long; Python writes no huge number in decimals.

    >>> quoted("ana"), quoted(10**5_000)[:6]
    ("'ana'", '0x31e2')
    """
    shown = hex(value) if isinstance(value, int) and abs(value) > MAX_INTEGER else repr(value)
    return shown if len(shown) <= LONGEST_QUOTE else f"{shown[:LONGEST_QUOTE]}\u2026"
