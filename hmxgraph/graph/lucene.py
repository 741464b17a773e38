"""Search terms as a Lucene query: user text never becomes syntax."""

from collections.abc import Collection, Iterable

MOST_TERMS = 64
# What a name weighs beside other words: in a talk the names of those who talk stand everywhere.
NAME = 0.5


def term_query(scope: str, terms: Iterable[str], names: Collection[str] = ()) -> str:
    r"""The query for nodes of one tenant's *scope* that have any of *terms*; it finds nothing without terms.

    Each term is quoted and the two signs that mean something inside quotes are escaped, so the text of a question can
    neither widen the search nor break it. At most 64 terms are asked for: the rest is left out. Those in *names* weigh
    half.

    >>> term_query("t1t", ["deploy", 'a"b'])
    '+scope:"t1t" +(search_text:"deploy" search_text:"a\\"b")'
    >>> term_query("t1t", ["ann", "deploy"], {"ann"})
    '+scope:"t1t" +(search_text:"ann"^0.5 search_text:"deploy")'
    >>> term_query("t1t", [])
    '+scope:"t1t" -scope:"t1t"'

    """
    asked = list(dict.fromkeys(term for term in terms if term))[:MOST_TERMS]
    if not asked:
        return f"+scope:{_quoted(scope)} -scope:{_quoted(scope)}"
    weighed = (f"search_text:{_quoted(term)}{f'^{NAME}' if term in names else ''}" for term in asked)
    return f"+scope:{_quoted(scope)} +({' '.join(weighed)})"


def record_query(
    scope: str,
    terms: Iterable[str],
    required: Iterable[str] = (),
    any_of: Iterable[str] = (),
    preferred: Iterable[str] = (),
    without: Iterable[str] = (),
) -> str:
    """The query for task records of one tenant's *scope* with all *required* words, one of *any_of*, none of *without*.

    These choose and do not rank (weight 0). The *terms* rank, and *preferred* words lift those that carry them; without
    terms everything chosen is found.

    >>> record_query("t1t", ["leak"], ["f2"], [], ["f3"], ["hidden"])
    '+scope:"t1t"^0 +scope:"f2"^0 +(search_text:"leak") scope:"f3" -scope:"hidden"'

    """
    asked = list(dict.fromkeys(term for term in terms if term))[:MOST_TERMS]
    chosen = [f"+scope:{_quoted(word)}^0" for word in (scope, *required)]
    either = " ".join(f"scope:{_quoted(word)}" for word in any_of)
    found = " ".join(f"search_text:{_quoted(term)}" for term in asked)
    lifted = [f"scope:{_quoted(word)}" for word in preferred]
    barred = [f"-scope:{_quoted(word)}" for word in without]
    groups = [*([f"+({either})^0"] if either else []), *([f"+({found})"] if asked else [])]
    return " ".join([*chosen, *groups, *lifted, *barred])


def _quoted(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
