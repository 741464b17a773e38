"""How far a way out of a failure can be trusted, in words that change only when it matters."""

# A count would make a new version of every session.
ONCE = "tried once, and it helped"
MOSTLY = "this mostly helped"
EVENLY = "this helped as often as not"
AT_TIMES = "this helped at times"
_NOTES = tuple(f" ({words})" for words in (ONCE, MOSTLY, EVENLY, AT_TIMES))


def noted(step: str, words: str) -> str:
    """*step* with what is known of its worth.

    >>> noted("Create the namespace", MOSTLY)
    'Create the namespace (this mostly helped)'
    """
    return f"{step} ({words})" if words else step


def plain(step: str) -> str:
    """*step* without what :func:`noted` added; any other words in brackets stay.

    >>> plain("Create the namespace (this mostly helped)"), plain("Create it (this always helped)")
    ('Create the namespace', 'Create it (this always helped)')
    """
    return next((step.removesuffix(note) for note in _NOTES if step.endswith(note)), step)
